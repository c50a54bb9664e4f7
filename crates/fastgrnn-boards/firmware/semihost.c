/* Access to files through semihosting: a call with an operation and a block of arguments, which the
   debugger (here the emulator) answers. */
#include "host.h"

#define SYS_OPEN 0x01
#define SYS_WRITE 0x05
#define SYS_READ 0x06
#define SYS_EXIT_EXTENDED 0x20
#define APPLICATION_EXIT 0x20026
#define READ_BINARY 1
#define WRITE_BINARY 5

static uintptr_t windows, results;

static uintptr_t call(uintptr_t operation, const void *arguments)
{
#ifdef __arm__
    register uintptr_t a __asm__("r0") = operation;
    register const void *b __asm__("r1") = arguments;
    __asm__ volatile("bkpt 0xab" : "+r"(a) : "r"(b) : "memory");
#elif defined(__aarch64__)
    register uintptr_t a __asm__("x0") = operation;
    register const void *b __asm__("x1") = arguments;
    __asm__ volatile("hlt 0xf000" : "+r"(a) : "r"(b) : "memory");
#else
    register uintptr_t a __asm__("a0") = operation;
    register const void *b __asm__("a1") = arguments;
    /* The three instructions must be 4 bytes each and on one page. */
    __asm__ volatile(".balign 16\n.option push\n.option norvc\n"
                     "slli zero, zero, 0x1f\nebreak\nsrai zero, zero, 7\n.option pop"
                     : "+r"(a) : "r"(b) : "memory");
#endif
    return a;
}

static uintptr_t opened(const char *name, uintptr_t length, uintptr_t mode)
{
    uintptr_t arguments[3], file;
    arguments[0] = (uintptr_t)name;
    arguments[1] = mode;
    arguments[2] = length;
    file = call(SYS_OPEN, arguments);
    if (file == (uintptr_t)-1)
        host_exit(4);
    return file;
}

void host_open(void)
{
    windows = opened("windows", 7, READ_BINARY);
    results = opened("results", 7, WRITE_BINARY);
}

uint32_t host_read(void *to, uint32_t bytes)
{
    uintptr_t arguments[3];
    arguments[0] = windows;
    arguments[1] = (uintptr_t)to;
    arguments[2] = bytes;
    return bytes - (uint32_t)call(SYS_READ, arguments);
}

void host_write(const void *from, uint32_t bytes)
{
    uintptr_t arguments[3];
    arguments[0] = results;
    arguments[1] = (uintptr_t)from;
    arguments[2] = bytes;
    if (call(SYS_WRITE, arguments) != 0)
        host_exit(5);
}

void host_exit(int code)
{
    uintptr_t arguments[2];
    arguments[0] = APPLICATION_EXIT;
    arguments[1] = (uintptr_t)code;
    call(SYS_EXIT_EXTENDED, arguments);
    for (;;) {
    }
}

/* What the start-up code's vectors lead to when something went wrong. */
void fault(void);
void fault(void)
{
    host_exit(3);
}
