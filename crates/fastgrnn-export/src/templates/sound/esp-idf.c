/* Runs the self-test, times a step, then listens.
 *
 * One thing to fill in: read_microphone(). */
#include <stdio.h>

#include "esp_timer.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"

#include "@name@.h"
#include "@name@_selftest.h"
#include "@name@_text.h"

#define FEATURES @NAME@_FEATURES
/* Milliseconds of sound that are read at once, and its samples. */
#define PERIOD 20
#define PIECE (PERIOD * @NAME@_RATE / 1000)
#define TIMED_STEPS 64

/* Does not compile where PERIOD is less than a tick: raise CONFIG_FREERTOS_HZ. */
typedef char period_is_at_least_one_tick[pdMS_TO_TICKS(PERIOD) >= 1 ? 1 : -1];

static @name@_audio audio;
static int16_t piece[PIECE];

/* FILL IN: waits for the microphone's next samples, of 16 bits, @rate@ a second, and returns how many
 * there are, at most PIECE: what i2s_channel_read() gives. Here it is silence, at the right pace. */
static uint16_t read_microphone(int16_t *samples)
{
    static TickType_t last;
    uint16_t i;
    if (last == 0)
        last = xTaskGetTickCount();
    vTaskDelayUntil(&last, pdMS_TO_TICKS(PERIOD));
    for (i = 0; i < PIECE; i++)
        samples[i] = 0;
    return PIECE;
}

static void put(char c)
{
    putchar(c);
}

@hear@
static void time_steps(void)
{
    int16_t counts[FEATURES];
    int64_t start, taken;
    uint16_t i;
    @name@_golden_frame(0, 0, counts);
    @name@_init(&audio.state);
    start = esp_timer_get_time();
    for (i = 0; i < TIMED_STEPS; i++)
        @name@_step(&audio.state, counts);
    taken = esp_timer_get_time() - start;
    printf("%ld microseconds a step\n", (long)(taken / TIMED_STEPS));
}

void app_main(void)
{
    (void)@name@_selftest(put);
    time_steps();
    @name@_audio_init(&audio);
    for (;;) {
        const int16_t *at = piece;
        const int16_t *end = piece + read_microphone(piece);
        while ((at = @name@_push(&audio, at, end)) != 0)
            hear();
    }
}
