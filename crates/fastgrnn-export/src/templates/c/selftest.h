/* The self-test of @name@: it checks that this board computes what the host computed. Generated; do
 * not edit. */
#ifndef @NAME@_SELFTEST_H
#define @NAME@_SELFTEST_H

#include "@name@.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs the golden vectors, two states at the same time, and a reset. Reports through put and ends with
 * PASS or FAIL. Returns the number of mismatches. Needs two states, a frame and the scores on the
 * stack. */
uint16_t @name@_selftest(void (*put)(char));

/* Copies frame `step` of golden window `window`, to time a step with real counts. */
void @name@_golden_frame(uint16_t window, uint16_t step, int16_t *counts);

#ifdef __cplusplus
}
#endif

#endif
