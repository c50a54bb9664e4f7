/* Golden vectors of @name@: windows of counts and the scores that the host computed from them.
 * Origin: @origin@. Generated; do not edit. Only @name@_selftest.c includes it. */
#ifndef @NAME@_GOLDEN_H
#define @NAME@_GOLDEN_H

#include <stdint.h>

#if defined(__AVR__)
#include <avr/pgmspace.h>
#define @NAME@_GOLDEN_FLASH PROGMEM
#else
#define @NAME@_GOLDEN_FLASH
#endif

#define @NAME@_GOLDEN_WINDOWS @windows@
/* FNV-1a of the scores after every step of every window, four bytes each, the lowest first. */
#define @NAME@_GOLDEN_HASH @hash@
/* The largest error of a score that is accepted: 0 for integers. With floats, class 65535 means any. */
#define @NAME@_GOLDEN_TOLERANCE @tolerance@UL

/* Steps of each window. */
static const uint16_t @name@_golden_steps[] @NAME@_GOLDEN_FLASH = {
@steps@};

/* Frames of all windows, one after the other. */
static const int16_t @name@_golden_counts[] @NAME@_GOLDEN_FLASH = {
@counts@};

/* Scores after the last step of each window. */
static const int32_t @name@_golden_scores[] @NAME@_GOLDEN_FLASH = {
@scores@};

static const uint16_t @name@_golden_classes[] @NAME@_GOLDEN_FLASH = {
@classes@};

static const uint8_t @name@_golden_confidences[] @NAME@_GOLDEN_FLASH = {
@confidences@};
@text@
#endif
