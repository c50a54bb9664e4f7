/* Runs the self-test, times a step, then listens.
 *
 * One thing to fill in: read_microphone(). */
#include <zephyr/kernel.h>
#include <zephyr/sys/printk.h>

#include "@name@.h"
#include "@name@_selftest.h"
#include "@name@_text.h"

#define FEATURES @NAME@_FEATURES
/* Milliseconds of sound that are read at once, and its samples. */
#define PERIOD 20
#define PIECE (PERIOD * @NAME@_RATE / 1000)
#define TIMED_STEPS 64

static @name@_audio audio;
static int16_t piece[PIECE];

K_TIMER_DEFINE(piece_timer, NULL, NULL);

/* FILL IN: waits for the microphone's next samples, of 16 bits, @rate@ a second, and returns how many
 * there are, at most PIECE: what dmic_read() or i2s_read() of your board's driver gives. Here it is
 * silence, at the right pace. */
static uint16_t read_microphone(int16_t *samples)
{
    uint16_t i;
    if (k_timer_status_sync(&piece_timer) > 1)
        printk("too slow: sound was missed\n");
    for (i = 0; i < PIECE; i++)
        samples[i] = 0;
    return PIECE;
}

static void put(char c)
{
    printk("%c", c);
}

@hear@
static void time_steps(void)
{
    int16_t counts[FEATURES];
    uint32_t start, taken;
    uint16_t i;
    @name@_golden_frame(0, 0, counts);
    @name@_init(&audio.state);
    start = k_cycle_get_32();
    for (i = 0; i < TIMED_STEPS; i++)
        @name@_step(&audio.state, counts);
    taken = k_cycle_get_32() - start;
    printk("%u microseconds a step\n", (unsigned int)(k_cyc_to_us_floor32(taken) / TIMED_STEPS));
}

int main(void)
{
    (void)@name@_selftest(put);
    time_steps();
    k_timer_start(&piece_timer, K_MSEC(PERIOD), K_MSEC(PERIOD));
    @name@_audio_init(&audio);
    for (;;) {
        const int16_t *at = piece;
        const int16_t *end = piece + read_microphone(piece);
        while ((at = @name@_push(&audio, at, end)) != 0)
            hear();
    }
    return 0;
}
