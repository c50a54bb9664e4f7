/* Files on the computer that runs the emulator. */
#ifndef HOST_H
#define HOST_H

#include <stdint.h>

void host_open(void);
/* Returns the number of bytes that were read, which is less than `bytes` only at the end of the file. */
uint32_t host_read(void *to, uint32_t bytes);
void host_write(const void *from, uint32_t bytes);
void host_exit(int code);

#endif
