/* Cycles of a Cortex-M3 (ARM DDI 0337, "Processor instruction timings" and "Load/store timings")
   and of a Cortex-M4 (ARM DDI 0439, the same sections). Where the manuals give a range, the choice
   is on the side of more cycles: a pipeline refill P is 2 for branches whose target the instruction
   tells (3 where a 32-bit instruction straddles two words there) and 3 for others, a division takes
   12, long multiplications of the M3 take 5 and 7, an IT is never folded, a load that updates its
   base takes 2. One choice is on the other side: a load relative to the program counter, which
   "might add a cycle", does not. */
#include "core.h"

enum { DIRECT = 2, OTHER = 3, NO_REGISTER = 255 };

/* A load or store of one register as its neighbours see it. */
struct single {
    uint8_t load, store, updates, indexed;
    uint8_t rt, rn, rm;
};

/* The registers, a bit each, that a data-processing instruction of 16 bits writes. */
static uint32_t narrow_writes(uint32_t op)
{
    if (op < 0x2000)
        return 1u << (op & 7);
    if (op < 0x4000)
        return (op & 0x1800) == 0x0800 ? 0 : 1u << (op >> 8 & 7); /* not CMP */
    if (op < 0x4400) {
        uint32_t what = op >> 6 & 15; /* not TST, CMP, CMN */
        return what == 8 || what == 10 || what == 11 ? 0 : 1u << (op & 7);
    }
    if (op < 0x4700)
        return (op & 0x0300) == 0x0100 ? 0 : 1u << ((op & 7) | (op >> 4 & 8));
    if ((op & 0xf000) == 0xa000)
        return 1u << (op >> 8 & 7);
    if ((op & 0xff00) == 0xb000)
        return 1u << 13;
    if ((op & 0xff00) == 0xb200 || (op & 0xff00) == 0xba00)
        return 1u << (op & 7);
    return 0;
}

/* The registers that a data-processing instruction of 32 bits writes. */
static uint32_t wide_writes(uint32_t a, uint32_t b)
{
    uint32_t first = 1u << (b >> 8 & 15);
    int processes = (a & 0xfe00) == 0xea00 || ((a & 0xf800) == 0xf000 && !(b & 0x8000)) || (a & 0xff00) == 0xfa00 ||
                    (a & 0xff00) == 0xfb00;
    if (!processes)
        return 0;
    if ((a & 0xff80) == 0xfb80)
        first |= 1u << (b >> 12);
    return first & 0x7fff;
}

static uint32_t bits(uint32_t value)
{
    return (uint32_t)__builtin_popcount(value);
}

static void set(struct insn *insn, uint32_t cycles, uint32_t taken, uint8_t flags)
{
    insn->cycles = (uint8_t)cycles;
    insn->taken = (uint8_t)taken;
    insn->flags |= flags;
}

static struct single single_of(uint32_t load, uint32_t rt, uint32_t rn, uint32_t rm)
{
    struct single s = { load != 0, load == 0, 0, rm != NO_REGISTER, (uint8_t)rt, (uint8_t)rn, (uint8_t)rm };
    return s;
}

/* Returns the load or store that the instruction is, if it is one. */
static struct single narrow(struct insn *insn, uint32_t op)
{
    struct single none = { 0 };
    set(insn, 1, 0, 0);
    if ((op & 0xfc00) == 0x4400) {
        if ((op & 0x0300) == 0x0300 || ((op & 0x0300) != 0x0100 && (op & 0x87) == 0x87))
            set(insn, 1, OTHER, 0); /* BX, BLX, ADD and MOV to the program counter */
    } else if ((op & 0xf800) == 0x4800) {
        return single_of(1, op >> 8 & 7, 15, NO_REGISTER);
    } else if ((op & 0xf000) == 0x5000) {
        /* STR STRH STRB LDRSB LDR LDRH LDRB LDRSH */
        return single_of((op >> 9 & 7) >= 3, op & 7, op >> 3 & 7, op >> 6 & 7);
    } else if (op >= 0x6000 && op < 0x9000) {
        return single_of(op & 0x0800, op & 7, op >> 3 & 7, NO_REGISTER);
    } else if ((op & 0xf000) == 0x9000) {
        return single_of(op & 0x0800, op >> 8 & 7, 13, NO_REGISTER);
    } else if ((op & 0xf600) == 0xb400) {
        set(insn, 1 + bits(op & 0x1ff), (op & 0x0900) == 0x0900 ? OTHER : 0, 0);
    } else if ((op & 0xf500) == 0xb100) {
        set(insn, 1, DIRECT, BRANCH); /* CBZ, CBNZ */
    } else if ((op & 0xf000) == 0xc000) {
        set(insn, 1 + bits(op & 0xff), 0, 0);
    } else if ((op & 0xf000) == 0xd000 || (op & 0xf800) == 0xe000) {
        set(insn, 1, DIRECT, BRANCH);
    }
    return none;
}

static struct single wide(struct insn *insn, uint32_t a, uint32_t b, int m4)
{
    struct single none = { 0 };
    set(insn, 1, 0, 0);
    if ((a & 0xfe40) == 0xe800) {
        set(insn, 1 + bits(b), (a & 0x10) && (b & 0x8000) ? OTHER : 0, 0); /* LDM, STM */
    } else if ((a & 0xfff0) == 0xe8d0 && (b & 0xffe0) == 0xf000) {
        set(insn, 3, OTHER, 0); /* TBB, TBH */
    } else if ((a & 0xfe40) == 0xe840) {
        set(insn, 3, 0, 0); /* LDRD, STRD, exclusive accesses */
    } else if ((a & 0xf800) == 0xf000 && (b & 0x8000)) {
        if ((b & 0x5000) || (a & 0x0380) != 0x0380)
            set(insn, 1, DIRECT, BRANCH); /* B, BL; the rest of this group are hints and MSR, MRS */
    } else if ((a & 0xfe00) == 0xf800) {
        uint32_t rt = b >> 12, rn = a & 15, load = a & 0x10;
        int immediate = (a & 0x80) || (b & 0x800) || rn == 15;
        struct single s;
        if (load && rt == 15 && (a & 0x60) != 0x40)
            return none; /* PLD */
        s = single_of(load, rt, rn, immediate ? NO_REGISTER : b & 15);
        s.updates = !(a & 0x80) && rn != 15 && (b & 0x900) == 0x900;
        return s;
    } else if ((a & 0xff80) == 0xfb00) {
        int adds = (a & 0x70) == 0 && (b & 0xf000) != 0xf000; /* MLA, MLS */
        set(insn, adds && !m4 ? 2 : 1, 0, 0);
    } else if ((a & 0xff80) == 0xfb80) {
        int divides = (a & 0x50) == 0x10;
        set(insn, divides ? 12 : m4 ? 1 : a & 0x40 ? 7 : 5, 0, 0);
    }
    return none;
}

static int addresses_with(const struct single *s, uint8_t reg)
{
    return s->rn == reg || (s->indexed && s->rm == reg);
}

/* A load takes 2 cycles, of which the second overlaps with a load or store that follows and does
   not need its result for an address. A store takes 1 when it reads at most two registers, else 2.
   An address that the data-processing instruction just before has made costs 1 more. */
static uint32_t single_cycles(const struct single *s, const struct single *before, uint32_t written)
{
    int overlaps = before->load && !before->updates && !s->updates && !addresses_with(s, before->rt);
    uint32_t addressed = 1u << s->rn | (s->indexed ? 1u << s->rm : 0);
    uint32_t stall = (addressed & written) != 0;
    if (s->store && !s->indexed)
        return 1 + stall;
    return (overlaps ? 1 : 2) + stall;
}

/* What must be known about an instruction when the next one is decoded. */
struct context {
    uint32_t address; /* of the one behind it */
    struct single before;
    uint32_t written;
    uint32_t conditional; /* instructions that an IT still governs */
};

static void decode(struct block *block, int m4)
{
    /* QEMU also ends blocks at the end of a page; the next block is then decoded next and continues. */
    static struct context last;
    struct context c = { 0 };
    if (last.address == block->insn[0].address)
        c = last;
    for (uint32_t i = 0; i < block->count; i++) {
        struct insn *insn = &block->insn[i];
        uint32_t op = code(insn->address);
        struct single s = insn->size == 2 ? narrow(insn, op) : wide(insn, op, code(insn->address + 2), m4);
        if (s.load || s.store) {
            insn->cycles = (uint8_t)single_cycles(&s, &c.before, c.written);
            if (s.load && s.rt == 15)
                insn->taken = OTHER;
            if (c.conditional)
                insn->flags |= MAY_BE_SKIPPED;
        }
        c.before = s;
        c.written = insn->size == 2 ? narrow_writes(op) : wide_writes(op, code(insn->address + 2));
        if (c.conditional)
            c.conditional--;
        if ((op & 0xff00) == 0xbf00 && (op & 15)) /* IT: the lowest bit set tells how many follow */
            c.conditional = 4 - (uint32_t)__builtin_ctz(op & 15);
    }
    c.address = block->end;
    last = c;
}

void m3_decode(struct block *block)
{
    decode(block, 0);
}

void m4_decode(struct block *block)
{
    decode(block, 1);
}
