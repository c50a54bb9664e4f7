/* Runs the self-test, times a step, then classifies window after window.
 *
 * Two things to fill in: read_sensor(), and PERIOD. */
#include <stdio.h>

#include "esp_timer.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"

#include "@name@.h"
#include "@name@_selftest.h"
#include "@name@_text.h"

#define FEATURES @NAME@_FEATURES
/* Milliseconds from frame to frame: the rate of the recordings that the network learnt from. */
#define PERIOD 20
/* Frames in a window: the longest recording that it learnt from. */
#define STEPS @steps@
#define TIMED_STEPS 64

/* Does not compile where PERIOD is less than a tick: raise CONFIG_FREERTOS_HZ. */
typedef char period_is_at_least_one_tick[pdMS_TO_TICKS(PERIOD) >= 1 ? 1 : -1];

static @name@_state state;

/* FILL IN: the raw reading of a feature, in counts (README.md says what a count is worth). */
static int16_t read_sensor(uint16_t feature)
{
    (void)feature;
    return 0;
}

static void read_frame(int16_t *counts)
{
@readings@}

static void put(char c)
{
    putchar(c);
}

static void time_steps(void)
{
    int16_t counts[FEATURES];
    int64_t start, taken;
    uint16_t i;
    @name@_golden_frame(0, 0, counts);
    @name@_init(&state);
    start = esp_timer_get_time();
    for (i = 0; i < TIMED_STEPS; i++)
        @name@_step(&state, counts);
    taken = esp_timer_get_time() - start;
    printf("%ld microseconds a step\n", (long)(taken / TIMED_STEPS));
}

void app_main(void)
{
    TickType_t last;
    (void)@name@_selftest(put);
    time_steps();
    last = xTaskGetTickCount();
    for (;;) {
        int32_t scores[@NAME@_OUTPUTS];
        uint8_t confidence;
        uint16_t t, winner;
        @name@_reset(&state);
        for (t = 0; t < STEPS; t++) {
            int16_t counts[FEATURES];
            /* From frame to frame, however long a step takes. */
            vTaskDelayUntil(&last, pdMS_TO_TICKS(PERIOD));
            read_frame(counts);
            @name@_step(&state, counts);
        }
        winner = @name@_classify(&state, scores, &confidence);
        @name@_put_result(winner, scores, confidence, put);
    }
}
