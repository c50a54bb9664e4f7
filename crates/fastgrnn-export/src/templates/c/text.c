/* Text without a library; see @name@_text.h. Generated; do not edit. */
#include "@name@_text.h"
#include "@name@.h"

#if defined(__AVR__)
#define FLASH PROGMEM
#define CHARACTER(p) ((char)pgm_read_byte(p))
#else
#define FLASH
#define CHARACTER(p) ((char)*(p))
#endif

@labels@
void @name@_put_text(const char *text, void (*put)(char))
{
    char c;
    while ((c = CHARACTER(text++)) != 0)
        put(c);
}

void @name@_put_number(int32_t number, void (*put)(char))
{
    char digits[10];
    uint8_t n = 0;
    uint32_t rest = (uint32_t)number;
    if (number < 0) {
        put('-');
        rest = 0UL - rest;
    }
    do {
        digits[n++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    while (n > 0)
        put(digits[--n]);
}

void @name@_put_hex(uint32_t number, void (*put)(char))
{
    int8_t shift;
    for (shift = 28; shift >= 0; shift = (int8_t)(shift - 4)) {
        uint8_t digit = (uint8_t)((number >> shift) & 15);
        put((char)(digit < 10 ? '0' + digit : 'a' + digit - 10));
    }
}

void @name@_put_label(uint16_t index, void (*put)(char))
{
@put_label@}

void @name@_put_result(uint16_t index, const int32_t *scores, uint8_t confidence, void (*put)(char))
{
    uint16_t k;
@put_class@    @name@_put_text(@NAME@_TEXT("scores"), put);
    for (k = 0; k < @NAME@_OUTPUTS; k++) {
        put(' ');
        @name@_put_number(scores[k], put);
    }
    put('\r');
    put('\n');
}
