/* The self-test as a program for a computer. Its exit code is 0 if everything agrees. */
#include "@name@_selftest.h"
#include <stdio.h>

static void put(char c)
{
    if (c != '\r')
        putchar(c);
}

int main(void)
{
    return @name@_selftest(put) == 0 ? 0 : 1;
}
