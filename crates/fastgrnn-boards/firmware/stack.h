/* The stack pointer, and how far below it the use of the stack is watched. The functions are inlined,
   because a call would use the memory that is painted. */
#ifndef STACK_H
#define STACK_H

#include <stdint.h>

#define STACK_SEEN 8192
#define INLINED static inline __attribute__((always_inline))

INLINED uintptr_t stack_pointer(void)
{
    uintptr_t sp;
#ifdef __riscv
    __asm__ volatile("mv %0, sp" : "=r"(sp));
#else
    __asm__ volatile("mov %0, sp" : "=r"(sp));
#endif
    return sp & ~(uintptr_t)3;
}

INLINED uintptr_t stack_limit(uintptr_t sp)
{
#ifdef __linux__
    return sp - STACK_SEEN;
#else
    extern char __end[];
    uintptr_t low = ((uintptr_t)__end + 7) & ~(uintptr_t)7;
    return sp - low > STACK_SEEN ? sp - STACK_SEEN : low;
#endif
}

#endif
