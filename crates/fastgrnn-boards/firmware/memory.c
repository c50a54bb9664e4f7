/* Functions that compilers call to copy and clear memory even if no C library is used. */
#include <stddef.h>

void *memset(void *to, int value, size_t bytes);
void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);

void *memset(void *to, int value, size_t bytes)
{
    unsigned char *at = to;
    while (bytes-- > 0)
        *at++ = (unsigned char)value;
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    unsigned char *at = to;
    const unsigned char *source = from;
    while (bytes-- > 0)
        *at++ = *source++;
    return to;
}

void *memmove(void *to, const void *from, size_t bytes)
{
    unsigned char *at = to;
    const unsigned char *source = from;
    if (at <= source)
        return memcpy(to, from, bytes);
    while (bytes-- > 0)
        at[bytes] = source[bytes];
    return to;
}
