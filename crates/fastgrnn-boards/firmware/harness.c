/* Runs an AVR in simavr on the file `windows` and writes `results` (see feed.c) and `counts`: for
   init, reset, step and classify the number of calls, instructions and cycles, the cycles of the
   longest call and the deepest stack.
   Arguments: ELF, MCU and its clock in Hz, FEATURES, OUTPUTS and the state's bytes, the RAM addresses
   of state, command, frame, scores, decided and confidence, the flash address of mark_feed, then on
   and off of the four functions. */
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESET = 1, STEP = 2, CLASSIFY = 3, KINDS = 4, SP_LOW = 0x5d, SP_HIGH = 0x5e, ARGUMENTS = 22 };

static avr_t *avr;
static FILE *windows, *results;
static uint32_t features, outputs, state_bytes;
static uint32_t state, hash, command, frame, scores, decided, confidence, feed, on[KINDS], off[KINDS];
static struct {
    unsigned long long calls, insns, cycles, most, stack;
} tally[KINDS];

static int failed(const char *what)
{
    fprintf(stderr, "simavr harness: %s\n", what);
    return 1;
}

static uint16_t stack_pointer(void)
{
    return (uint16_t)(avr->data[SP_LOW] | avr->data[SP_HIGH] << 8);
}

static void write_result(void)
{
    fwrite(&avr->data[scores], 4, outputs, results);
    fwrite(&avr->data[decided], 2, 1, results);
    fwrite(&avr->data[confidence], 1, 1, results);
    fputc(0, results);
    fwrite(&hash, 4, 1, results);
}

/* Adds the state to the hash, as feed.c does. */
static void trace(void)
{
    for (uint32_t i = 0; i < state_bytes; i++)
        hash = (hash ^ avr->data[state + i]) * 16777619u;
}

/* The instruction at the program counter is `out address, register`. */
static int writes(uint8_t address)
{
    uint16_t word = (uint16_t)(avr->flash[avr->pc] | avr->flash[avr->pc + 1] << 8);
    return (word & 0xfe0f) == (0xb800 | (address & 0x30) << 5 | (address & 0x0f));
}

/* Tells the firmware what to do next. Returns 1, or 0 at the end, or -1 if the file is broken. */
static int feed_next(void)
{
    static uint32_t left;
    static int inside;
    if (inside && left == 0) {
        inside = 0;
        avr->data[command] = CLASSIFY;
        return 1;
    }
    if (!inside) {
        uint8_t bytes[4];
        if (fread(bytes, 1, 4, windows) != 4)
            return 0;
        left = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
        inside = 1;
        hash = 2166136261u;
        avr->data[command] = RESET;
        return 1;
    }
    left--;
    avr->data[command] = STEP;
    return fread(&avr->data[frame], 2, features, windows) == features ? 1 : -1;
}

static int run(void)
{
    int kind = -1, last = 0, half_written = 0;
    unsigned long long insns = 0, cycles = 0, deepest = 0;
    uint16_t top = 0;
    for (;;) {
        if (kind >= 0 && avr->pc == off[kind]) {
            tally[kind].calls++;
            tally[kind].insns += insns;
            tally[kind].cycles += avr->cycle - cycles;
            if (avr->cycle - cycles > tally[kind].most)
                tally[kind].most = avr->cycle - cycles;
            if (deepest > tally[kind].stack)
                tally[kind].stack = deepest;
            kind = -1;
        }
        for (int k = 0; kind < 0 && k < KINDS; k++)
            if (avr->pc == on[k]) {
                kind = k;
                insns = deepest = 0;
                cycles = avr->cycle;
                top = stack_pointer();
            }
        if (kind < 0 && avr->pc == feed) {
            int next;
            if (last == CLASSIFY)
                write_result();
            if (last == STEP)
                trace();
            next = feed_next();
            if (next < 0)
                return failed("`windows` ends within a frame");
            if (next == 0)
                return 0;
            last = avr->data[command];
        }
        /* The stack pointer is not valid between its two writes. */
        if (writes(SP_HIGH - 0x20))
            half_written = 1;
        else if (writes(SP_LOW - 0x20))
            half_written = 0;
        int ran = avr_run(avr);
        if (ran == cpu_Done || ran == cpu_Crashed)
            return failed("the firmware crashed");
        if (kind >= 0) {
            uint16_t sp = stack_pointer();
            insns++;
            if (!half_written && top > sp && (unsigned)(top - sp) > deepest)
                deepest = top - sp;
        }
    }
}

static void quiet(avr_t *from, const int level, const char *format, va_list arguments)
{
    (void)from;
    if (level <= LOG_ERROR)
        vfprintf(stderr, format, arguments);
}

int main(int argc, char **argv)
{
    static elf_firmware_t firmware;
    uint32_t number[ARGUMENTS] = { 0 };
    FILE *counts;
    int code;
    if (argc != ARGUMENTS)
        return failed("wrong number of arguments");
    for (int i = 3; i < argc; i++)
        number[i] = (uint32_t)strtoul(argv[i], NULL, 0);
    features = number[4];
    outputs = number[5];
    state_bytes = number[6];
    state = number[7];
    command = number[8];
    frame = number[9];
    scores = number[10];
    decided = number[11];
    confidence = number[12];
    feed = number[13];
    for (int k = 0; k < KINDS; k++) {
        on[k] = number[14 + 2 * k];
        off[k] = number[15 + 2 * k];
    }
    avr_global_logger_set(quiet);
    if (elf_read_firmware(argv[1], &firmware) != 0)
        return failed("cannot read the firmware");
    avr = avr_make_mcu_by_name(argv[2]);
    if (!avr || avr_init(avr) != 0)
        return failed("simavr does not know this microcontroller");
    avr->frequency = number[3];
    avr_load_firmware(avr, &firmware);
    /* One instruction at a time. */
    avr->run_cycle_count = avr->run_cycle_limit = 1;
    windows = fopen("windows", "rb");
    results = fopen("results", "wb");
    counts = fopen("counts", "w");
    if (!windows || !results || !counts)
        return failed("cannot open `windows`, `results` or `counts`");
    code = run();
    for (int k = 0; k < KINDS; k++)
        fprintf(counts, "%llu %llu %llu %llu %llu\n", tally[k].calls, tally[k].insns, tally[k].cycles,
                tally[k].most, tally[k].stack);
    if (fclose(results) != 0 || fclose(counts) != 0)
        return failed("cannot write `results` or `counts`");
    return code;
}
