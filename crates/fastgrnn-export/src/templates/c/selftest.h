/* The self-test of @name@: does this board compute what the host computed? Generated; do not edit. */
#ifndef @NAME@_SELFTEST_H
#define @NAME@_SELFTEST_H

#include "@name@.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs the golden vectors, two states side by side, and a reset; tells of it through put, ending
 * with PASS or FAIL. Returns the number of mismatches. Needs two states, a frame and the scores on
 * the stack. */
uint16_t @name@_selftest(void (*put)(char));

/* Frame `step` of golden window `window`, for timing a step on real counts. */
void @name@_golden_frame(uint16_t window, uint16_t step, int16_t *counts);

#ifdef __cplusplus
}
#endif

#endif
