/* Cycles of a Cortex-M0+ with the single-cycle multiplier: ARM DDI 0484, table "Cortex-M0+
   instruction summary". */
#include "core.h"

static uint32_t bits(uint32_t value)
{
    return (uint32_t)__builtin_popcount(value);
}

static void decode(struct insn *insn)
{
    uint32_t op = code(insn->address);
    uint32_t cycles = 1, taken = 0;
    if (insn->size == 4)
        cycles = 3; /* BL, MRS, MSR, DMB, DSB, ISB */
    else if ((op & 0xfc00) == 0x4400)
        /* ADD and MOV to the program counter, BX, BLX */
        cycles = (op & 0x0300) == 0x0300 || ((op & 0x0300) != 0x0100 && (op & 0x87) == 0x87) ? 2 : 1;
    else if (op >= 0x4800 && op < 0xa000)
        cycles = 2; /* LDR, STR and similar */
    else if ((op & 0xf600) == 0xb400)
        cycles = ((op & 0x0900) == 0x0900 ? 3 : 1) + bits(op & 0x1ff); /* PUSH, POP */
    else if ((op & 0xf000) == 0xc000)
        cycles = 1 + bits(op & 0xff); /* STM, LDM */
    else if ((op & 0xf000) == 0xd000)
        taken = 1;
    else if ((op & 0xf800) == 0xe000)
        cycles = 2; /* B */
    insn->cycles = (uint8_t)cycles;
    insn->taken = (uint8_t)taken;
}

void armv6m_decode(struct block *block)
{
    for (uint32_t i = 0; i < block->count; i++)
        decode(&block->insn[i]);
}
