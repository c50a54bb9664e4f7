/* The files of whoever started the emulator. */
#ifndef HOST_H
#define HOST_H

#include <stdint.h>

void host_open(void);
/* The bytes that were read: fewer than `bytes` only at the end. */
uint32_t host_read(void *to, uint32_t bytes);
void host_write(const void *from, uint32_t bytes);
void host_exit(int code);

#endif
