/* The self-test on an Arduino Uno without Arduino: characters go to the serial port. */
#include "model_selftest.h"
#include <avr/io.h>

static void put(char c)
{
    while (!(UCSR0A & _BV(UDRE0)))
        ;
    UDR0 = (uint8_t)c;
}

int main(void)
{
    UBRR0 = 0;
    UCSR0B = _BV(TXEN0);
    (void)model_selftest(put);
    for (;;)
        ;
}
