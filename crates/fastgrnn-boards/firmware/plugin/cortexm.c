/* Cycles of a Cortex-M: instructions by their table, code fetched in words of 32 bits, flash. */
#include "core.h"

static uint32_t fetched;

static void fetch(uint32_t word)
{
    fetched = word;
    if (word - flash.start >= flash.end - flash.start)
        return;
    now.own += flash.fetch(word, now.own);
    now.uncached += flash.wait;
}

static void read(const struct access *access)
{
    if (access->address - flash.start >= flash.end - flash.start)
        return;
    for (uint32_t at = 0; at < access->bytes; at += 4) {
        now.own += flash.read(access->address + at, now.own);
        now.uncached += flash.wait;
    }
}

/* An access that crosses its own size's boundary is made in two or three parts (Cortex-M3 and M4;
   Cortex-M0+ has none). One of two words, which QEMU may tell as one of 8 bytes, never does. */
static uint32_t parts(const struct access *access)
{
    if (access->bytes > 4 || (access->address & (access->bytes - 1)) == 0)
        return 0;
    return access->bytes == 4 && (access->address & 1) ? 2 : 1;
}

static void spend(uint32_t cycles)
{
    now.zero += cycles;
    now.own += cycles;
    now.uncached += cycles;
}

uint32_t thumb_size(uint32_t half)
{
    return (half & 0xf800) >= 0xe800 ? 4 : 2;
}

/* Whether a 32-bit instruction begins in the upper half of a word: the core needs two words of
   code to go on there. */
static int straddles(uint32_t address)
{
    return (address & 2) && thumb_size(code(address)) == 4;
}

void cortexm_walk(const struct block *block, uint32_t from, uint32_t to, uint32_t next)
{
    const struct access *access = accesses, *last = accesses + accesses_len;
    if (now.insns == 0)
        fetched = 1;
    now.insns += to - from;
    for (uint32_t i = from; i < to; i++) {
        const struct insn *insn = &block->insn[i];
        uint32_t end = insn->address + insn->size, cycles = insn->cycles;
        int accessed = 0;
        for (uint32_t word = insn->address & ~3u; word < end; word += 4)
            if (word != fetched)
                fetch(word);
        for (; access < last && access->insn <= i; access++) {
            cycles += parts(access);
            accessed = 1;
            if (!access->store)
                read(access);
        }
        if ((insn->flags & MAY_BE_SKIPPED) && !accessed)
            cycles = 1;
        if (i + 1 == block->count && next != block->end) {
            cycles += insn->taken;
            if (insn->flags & BRANCH)
                cycles += (uint32_t)straddles(next);
            /* The code behind a branch is fetched before it is known that the branch is taken. */
            if ((end & ~3u) != fetched)
                fetch(end & ~3u);
            fetched = 1;
        }
        spend(cycles);
    }
}
