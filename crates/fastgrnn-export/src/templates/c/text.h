/* Prints numbers, labels and results of @name@ without a library. The caller passes a function that
 * prints one character, for example to a serial port. Generated; do not edit. */
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

/* Prints a text that is written as @NAME@_TEXT("..."), so that on an AVR it stays in flash. */
void @name@_put_text(const char *text, void (*put)(char));

void @name@_put_number(int32_t number, void (*put)(char));

void @name@_put_hex(uint32_t number, void (*put)(char));

/* Prints the name of a class, or its number if it has no name. */
void @name@_put_label(uint16_t index, void (*put)(char));

/* Prints a line with the results of @name@_classify: label, confidence in percent, all scores. */
void @name@_put_result(uint16_t index, const int32_t *scores, uint8_t confidence, void (*put)(char));

#ifdef __cplusplus
}
#endif

#endif
