/* A QEMU plugin that counts instructions and model cycles between pairs of addresses.
   Arguments: core=NAME flash=DESCRIPTION (see core.h) wait=N flash-start=A flash-end=A code=FILE
   code-at=A out=FILE on0=A off0=A on1=A off1=A ...; `out` gets a line for each pair.
   QEMU's header is not needed: its few functions that are used are declared here. They did not
   change from API version 1 (QEMU 7.2) to 4 (10.0); API_VERSION must be one that QEMU accepts.

   A block of instructions is entered as a whole, so work is done once a block: when the next one
   begins, the one before is walked through, with the reads of memory that were noted meanwhile. */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef uint64_t plugin_id;
enum { NO_REGISTERS = 0, READS_AND_WRITES = 3 };

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, void (*)(unsigned, void *), int, void *);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, void (*)(unsigned, void *), int, void *);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, void (*)(unsigned, uint32_t, uint64_t, void *), int, int, void *);
void qemu_plugin_register_atexit_cb(plugin_id, void (*)(plugin_id, void *), void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
unsigned qemu_plugin_mem_size_shift(uint32_t);
_Bool qemu_plugin_mem_is_store(uint32_t);

__attribute__((visibility("default"))) int qemu_plugin_version = API_VERSION;

enum { PAIRS = 8, MOST_ACCESSES = 16384 };

struct tally now;
struct flash flash;
struct access accesses[MOST_ACCESSES];
uint32_t accesses_len;

static struct core core;
static struct tally totals[PAIRS];
static uint32_t on[PAIRS], off[PAIRS];
static int pairs, current = -1;
static const struct block *block;
static uint32_t from;
static uint8_t *code_bytes;
static uint32_t code_at, code_len;
static const char *out;

uint32_t code(uint32_t address)
{
    uint32_t at = address - code_at;
    return at + 1 < code_len ? code_bytes[at] | (uint32_t)code_bytes[at + 1] << 8 : 0;
}

static void entered(unsigned cpu, void *data)
{
    struct block *next = data;
    (void)cpu;
    if (current >= 0)
        core.walk(block, from, block->count, next->insn[0].address);
    block = next;
    from = 0;
    accesses_len = 0;
}

static void switched_on(unsigned cpu, void *data)
{
    const struct insn *at = data;
    (void)cpu;
    for (int pair = 0; pair < pairs; pair++)
        if (on[pair] == at->address)
            current = pair;
    from = (uint32_t)(at - block->insn);
    accesses_len = 0;
    memset(&now, 0, sizeof now);
    if (flash.forget)
        flash.forget();
}

static void switched_off(unsigned cpu, void *data)
{
    const struct insn *at = data;
    uint32_t to = (uint32_t)(at - block->insn);
    struct tally *total;
    (void)cpu;
    if (current < 0)
        return;
    if (to > from)
        core.walk(block, from, to, at->address);
    total = &totals[current];
    total->calls++;
    total->insns += now.insns;
    total->zero += now.zero;
    total->own += now.own;
    total->uncached += now.uncached;
    if (now.own > total->most)
        total->most = now.own;
    current = -1;
}

static void accessed(unsigned cpu, uint32_t info, uint64_t address, void *data)
{
    (void)cpu;
    if (current < 0 || accesses_len == MOST_ACCESSES)
        return;
    struct access *access = &accesses[accesses_len++];
    access->insn = (uint32_t)((const struct insn *)data - block->insn);
    access->address = (uint32_t)address;
    access->bytes = (uint8_t)(1u << qemu_plugin_mem_size_shift(info));
    access->store = qemu_plugin_mem_is_store(info);
}

static void translated(plugin_id id, struct qemu_plugin_tb *tb)
{
    size_t count = qemu_plugin_tb_n_insns(tb);
    struct block *b = calloc(1, sizeof *b + count * sizeof b->insn[0]);
    (void)id;
    if (!b)
        abort();
    b->count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        b->insn[i].address = (uint32_t)qemu_plugin_insn_vaddr(insn);
        /* QEMU 7.2 reports 4 bytes for a shorter instruction at the end of a page. */
        b->insn[i].size = core.size ? (uint8_t)core.size(code(b->insn[i].address)) : 4;
    }
    b->end = b->insn[count - 1].address + b->insn[count - 1].size;
    if (core.decode)
        core.decode(b);
    qemu_plugin_register_vcpu_tb_exec_cb(tb, entered, NO_REGISTERS, b);
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        for (int pair = 0; pair < pairs; pair++) {
            if (b->insn[i].address == off[pair])
                qemu_plugin_register_vcpu_insn_exec_cb(insn, switched_off, NO_REGISTERS, &b->insn[i]);
            if (b->insn[i].address == on[pair])
                qemu_plugin_register_vcpu_insn_exec_cb(insn, switched_on, NO_REGISTERS, &b->insn[i]);
        }
        /* QEMU 7.2 reports writes even if only reads are requested. */
        if (core.decode)
            qemu_plugin_register_vcpu_mem_cb(insn, accessed, NO_REGISTERS, READS_AND_WRITES, &b->insn[i]);
    }
}

static void ended(plugin_id id, void *data)
{
    FILE *file = fopen(out, "w");
    (void)id;
    (void)data;
    if (!file)
        return;
    for (int pair = 0; pair < pairs; pair++) {
        const struct tally *t = &totals[pair];
        fprintf(file, "%llu %llu %llu %llu %llu %llu\n", (unsigned long long)t->calls,
                (unsigned long long)t->insns, (unsigned long long)t->zero, (unsigned long long)t->own,
                (unsigned long long)t->uncached, (unsigned long long)t->most);
    }
    fclose(file);
}

static void plain_walk(const struct block *b, uint32_t first, uint32_t to, uint32_t next)
{
    (void)b;
    (void)next;
    now.insns += to - first;
}

static int read_code(const char *path)
{
    FILE *file = fopen(path, "rb");
    long length;
    if (!file)
        return 0;
    fseek(file, 0, SEEK_END);
    length = ftell(file);
    rewind(file);
    code_bytes = malloc((size_t)length + 1);
    code_len = code_bytes ? (uint32_t)fread(code_bytes, 1, (size_t)length, file) : 0;
    fclose(file);
    return code_len > 0;
}

static int choose_core(const char *name)
{
    static const struct {
        const char *name;
        struct core core;
    } known[] = {
        { "count", { NULL, NULL, plain_walk } },
        { "m0plus", { thumb_size, armv6m_decode, cortexm_walk } },
        { "m3", { thumb_size, m3_decode, cortexm_walk } },
        { "m4", { thumb_size, m4_decode, cortexm_walk } },
        { "rv32", { rv32_size, rv32_decode, rv32_walk } },
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, name) == 0) {
            core = known[i].core;
            return 1;
        }
    return 0;
}

static int understood(const char *key, const char *value)
{
    uint32_t number = (uint32_t)strtoul(value, NULL, 0);
    size_t length = strlen(key);
    int pair = key[length - 1] - '0';
    if (strcmp(key, "core") == 0)
        return choose_core(value);
    if (strcmp(key, "flash") == 0)
        return flash_choose(value);
    if (strcmp(key, "code") == 0)
        return read_code(value);
    if (strcmp(key, "out") == 0)
        return (out = strdup(value)) != NULL;
    if (strcmp(key, "wait") == 0)
        return flash.wait = number, 1;
    if (strcmp(key, "flash-start") == 0)
        return flash.start = number, 1;
    if (strcmp(key, "flash-end") == 0)
        return flash.end = number, 1;
    if (strcmp(key, "code-at") == 0)
        return code_at = number, 1;
    if (pair < 0 || pair >= PAIRS)
        return 0;
    pairs = pair + 1 > pairs ? pair + 1 : pairs;
    if (strncmp(key, "on", 2) == 0)
        return on[pair] = number, 1;
    if (strncmp(key, "off", 3) == 0)
        return off[pair] = number, 1;
    return 0;
}

__attribute__((visibility("default"))) int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
    (void)info;
    choose_core("count");
    for (int i = 0; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (value)
            *value++ = 0;
        if (!value || !argv[i][0] || !understood(argv[i], value)) {
            fprintf(stderr, "counting plugin: '%s' is not understood\n", argv[i]);
            return -1;
        }
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
