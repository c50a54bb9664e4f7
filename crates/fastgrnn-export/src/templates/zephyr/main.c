/* Runs the self-test, times a step, then classifies window after window.
 *
 * Two things to fill in: read_sensor(), and PERIOD. */
#include <zephyr/kernel.h>
#include <zephyr/sys/printk.h>

#include "@name@.h"
#include "@name@_selftest.h"
#include "@name@_text.h"

#define FEATURES @NAME@_FEATURES
/* Milliseconds from frame to frame: the rate of the recordings that the network learnt from. */
#define PERIOD 20
/* Frames in a window: the longest recording that it learnt from. */
#define STEPS @steps@
#define TIMED_STEPS 64

static @name@_state state;

K_TIMER_DEFINE(frame_timer, NULL, NULL);

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
    printk("%c", c);
}

static void time_steps(void)
{
    int16_t counts[FEATURES];
    uint32_t start, taken;
    uint16_t i;
    @name@_golden_frame(0, 0, counts);
    @name@_init(&state);
    start = k_cycle_get_32();
    for (i = 0; i < TIMED_STEPS; i++)
        @name@_step(&state, counts);
    taken = k_cycle_get_32() - start;
    printk("%u microseconds a step\n", (unsigned int)(k_cyc_to_us_floor32(taken) / TIMED_STEPS));
}

int main(void)
{
    (void)@name@_selftest(put);
    time_steps();
    k_timer_start(&frame_timer, K_MSEC(PERIOD), K_MSEC(PERIOD));
    for (;;) {
        int32_t scores[@NAME@_OUTPUTS];
        uint8_t confidence;
        uint16_t t, winner;
        @name@_reset(&state);
        for (t = 0; t < STEPS; t++) {
            int16_t counts[FEATURES];
            /* From frame to frame, however long a step takes. */
            if (k_timer_status_sync(&frame_timer) > 1)
                printk("too slow: a frame was missed\n");
            read_frame(counts);
            @name@_step(&state, counts);
        }
        winner = @name@_classify(&state, scores, &confidence);
        @name@_put_result(winner, scores, confidence, put);
    }
    return 0;
}
