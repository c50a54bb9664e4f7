/* Text without a library: numbers, labels and results of @name@, a character at a time. Whoever
 * calls says where characters go: to a serial port, to putchar. Generated; do not edit. */
#ifndef @NAME@_TEXT_H
#define @NAME@_TEXT_H

#include <stdint.h>

#if defined(__AVR__)
#include <avr/pgmspace.h>
#define @NAME@_TEXT(s) PSTR(s)
#else
#define @NAME@_TEXT(s) (s)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Puts a text that was written as @NAME@_TEXT("..."), so that on AVR it stays in flash. */
void @name@_put_text(const char *text, void (*put)(char));

void @name@_put_number(int32_t number, void (*put)(char));

void @name@_put_hex(uint32_t number, void (*put)(char));

/* The name of a class; its number if it has no name. */
void @name@_put_label(uint16_t index, void (*put)(char));

/* A line with what @name@_classify said: label, confidence in percent, all scores. */
void @name@_put_result(uint16_t index, const int32_t *scores, uint8_t confidence, void (*put)(char));

#ifdef __cplusplus
}
#endif

#endif
