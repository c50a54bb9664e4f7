/* What the files of the plugin share: decoded instructions, memory accesses, the flash, counts. */
#ifndef CORE_H
#define CORE_H

#include <stdint.h>
#include <stddef.h>

enum {
    /* An IT before it may skip it; it was skipped if it did not access memory. */
    MAY_BE_SKIPPED = 1,
    /* A branch whose target is in the instruction. */
    BRANCH = 2,
    RETURN = 4,
    INDIRECT = 8,
};

struct insn {
    uint32_t address;
    uint8_t size;
    uint8_t flags;
    uint8_t cycles; /* if execution continues behind it; on RISC-V, until its result is available */
    uint8_t taken;  /* additional cycles if it jumps */
    uint8_t rd, rs1, rs2;
};

/* Consecutive instructions: execution enters at the first and leaves behind the last. */
struct block {
    uint32_t end; /* address behind the last */
    uint32_t count;
    struct insn insn[];
};

/* A read or write of memory by an instruction of the current block. */
struct access {
    uint32_t insn;
    uint32_t address;
    uint8_t bytes;
    uint8_t store;
};

struct tally {
    uint64_t calls, insns;
    uint64_t zero;     /* cycles without wait states */
    uint64_t own;      /* with the board's flash */
    uint64_t uncached; /* with the wait states of every access */
    uint64_t most;     /* `own` of the longest call */
};

struct flash {
    uint32_t start, end;
    uint32_t wait; /* wait states of an access that misses the buffers */
    void (*forget)(void);
    /* Wait states of fetching or reading at `address` when `now` cycles have passed. */
    uint32_t (*fetch)(uint32_t address, uint64_t now);
    uint32_t (*read)(uint32_t address, uint64_t now);
};

struct core {
    /* Bytes of the instruction that begins with these 16 bits. */
    uint32_t (*size)(uint32_t half);
    void (*decode)(struct block *block);
    /* Counts instructions `from` to `to` of a block, after which execution continues at `next`. */
    void (*walk)(const struct block *block, uint32_t from, uint32_t to, uint32_t next);
};

extern struct flash flash;
extern struct tally now;
extern struct access accesses[];
extern uint32_t accesses_len;

/* 16 bits of the code at an address; 0 outside the code. */
uint32_t code(uint32_t address);
/* Sets the memory between the core and its flash: `none`, `cache:SETS:WAYS:LINE:HOLDS_DATA` or
   `prefetch:LINE`, where LINE is in bytes and HOLDS_DATA is 0 or 1. Returns 0 for anything else. */
int flash_choose(const char *description);

uint32_t thumb_size(uint32_t half);
void cortexm_walk(const struct block *block, uint32_t from, uint32_t to, uint32_t next);
void armv6m_decode(struct block *block);
void m3_decode(struct block *block);
void m4_decode(struct block *block);
uint32_t rv32_size(uint32_t half);
void rv32_decode(struct block *block);
void rv32_walk(const struct block *block, uint32_t from, uint32_t to, uint32_t next);

#endif
