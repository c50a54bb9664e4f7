/* Cycles of an in-order RISC-V with a five-stage pipeline, after the SiFive FE310-G002 manual's
   chapter on its E31 core: one instruction a cycle; a result can be used after 2 cycles (LW), 3
   (LH, LB), 5 (MUL), up to 33 (DIV); a wrongly predicted branch costs 3. The predictor is 512
   two-bit counters; returns are always predicted. Code and constants come without wait states. */
#include "core.h"

enum { LINK = 1, DIVISION = 33, REFILL = 3, COUNTERS = 512 };

static uint8_t counters[COUNTERS];
static uint64_t ready[32];

uint32_t rv32_size(uint32_t half)
{
    return (half & 3) == 3 ? 4 : 2;
}

static void set(struct insn *insn, uint32_t cycles, uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    insn->cycles = (uint8_t)cycles;
    insn->rd = (uint8_t)rd;
    insn->rs1 = (uint8_t)rs1;
    insn->rs2 = (uint8_t)rs2;
}

static void wide(struct insn *insn, uint32_t op)
{
    uint32_t rd = op >> 7 & 31, rs1 = op >> 15 & 31, rs2 = op >> 20 & 31, what = op >> 12 & 7;
    switch (op & 0x7f) {
    case 0x03:
        set(insn, what == 2 ? 2 : 3, rd, rs1, 0);
        break;
    case 0x13:
        set(insn, 1, rd, rs1, 0);
        break;
    case 0x23:
        set(insn, 1, 0, rs1, rs2);
        break;
    case 0x33:
        set(insn, op >> 25 != 1 ? 1 : what < 4 ? 5 : DIVISION, rd, rs1, rs2);
        break;
    case 0x63:
        set(insn, 1, 0, rs1, rs2);
        insn->flags = BRANCH;
        break;
    case 0x67:
        set(insn, 1, rd, rs1, 0);
        insn->flags = rd == 0 && rs1 == LINK ? RETURN : INDIRECT;
        break;
    case 0x73:
        set(insn, 3, rd, rs1, 0);
        break;
    default: /* LUI, AUIPC, JAL, FENCE */
        set(insn, 1, rd, 0, 0);
    }
}

static void narrow(struct insn *insn, uint32_t op)
{
    uint32_t full = op >> 7 & 31, second = op >> 2 & 31, high = 8 + (op >> 7 & 7), low = 8 + (op >> 2 & 7);
    switch ((op & 3) << 3 | op >> 13) {
    case 0: /* C.ADDI4SPN */
        set(insn, 1, low, 2, 0);
        break;
    case 2: /* C.LW */
        set(insn, 2, low, high, 0);
        break;
    case 6: /* C.SW */
        set(insn, 1, 0, high, low);
        break;
    case 9: /* C.JAL */
        set(insn, 1, LINK, 0, 0);
        break;
    case 8: /* C.ADDI */
        set(insn, 1, full, full, 0);
        break;
    case 11: /* C.LUI, C.ADDI16SP */
        set(insn, 1, full, full == 2 ? 2 : 0, 0);
        break;
    case 12: /* C.SRLI, C.SRAI, C.ANDI, C.SUB ... */
        set(insn, 1, high, high, (op >> 10 & 3) == 3 ? low : 0);
        break;
    case 14: /* C.BEQZ, C.BNEZ */
    case 15:
        set(insn, 1, 0, high, 0);
        insn->flags = BRANCH;
        break;
    case 16: /* C.SLLI */
        set(insn, 1, full, full, 0);
        break;
    case 18: /* C.LWSP */
        set(insn, 2, full, 2, 0);
        break;
    case 20: /* C.JR, C.MV, C.JALR, C.ADD */
        if (second != 0) {
            set(insn, 1, full, op & 0x1000 ? full : 0, second);
        } else {
            set(insn, 1, op & 0x1000 ? LINK : 0, full, 0);
            insn->flags = !(op & 0x1000) && full == LINK ? RETURN : INDIRECT;
        }
        break;
    case 22: /* C.SWSP */
        set(insn, 1, 0, 2, second);
        break;
    default: /* C.LI, C.J */
        set(insn, 1, op >> 13 == 2 ? full : 0, 0, 0);
    }
}

void rv32_decode(struct block *block)
{
    for (uint32_t i = 0; i < block->count; i++) {
        struct insn *insn = &block->insn[i];
        uint32_t low = code(insn->address);
        if (insn->size == 4)
            wide(insn, low | code(insn->address + 2) << 16);
        else
            narrow(insn, low);
    }
}

static int mispredicted(const struct insn *insn, int taken)
{
    uint8_t *counter = &counters[(insn->address >> 1) % COUNTERS];
    int predicted = *counter >= 2;
    if (taken && *counter < 3)
        ++*counter;
    if (!taken && *counter > 0)
        --*counter;
    return predicted != taken;
}

void rv32_walk(const struct block *block, uint32_t from, uint32_t to, uint32_t next)
{
    uint64_t time = now.zero;
    if (now.insns == 0)
        for (int r = 0; r < 32; r++)
            ready[r] = 0;
    now.insns += to - from;
    for (uint32_t i = from; i < to; i++) {
        const struct insn *insn = &block->insn[i];
        if (ready[insn->rs1] > time)
            time = ready[insn->rs1];
        if (ready[insn->rs2] > time)
            time = ready[insn->rs2];
        if (insn->rd)
            ready[insn->rd] = time + insn->cycles;
        time++;
        if ((insn->flags & BRANCH) && mispredicted(insn, next != block->end))
            time += REFILL;
        if (insn->flags & INDIRECT)
            time += REFILL;
    }
    now.zero = now.own = now.uncached = time;
}
