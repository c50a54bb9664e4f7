#define FEATURES @NAME@_FEATURES
/* Samples that are read at once. */
#define PIECE (PERIOD * @NAME@_RATE / 1000)
#define TIMED_STEPS 64

static @name@_audio audio;
static int16_t piece[PIECE];

/* FILL IN: waits for the microphone's next samples, of 16 bits, @rate@ a second, and returns how many
 * there are, at most PIECE: what @driver@ gives. Here it is silence, at the right pace. */
static uint16_t read_microphone(int16_t *samples)
{
    uint16_t i;
    wait_for_period();
    for (i = 0; i < PIECE; i++)
        samples[i] = 0;
    return PIECE;
}

@hear@
@timing@
static void run(void)
{
    (void)@name@_selftest(put);
    time_steps(&audio.state);
    @name@_audio_init(&audio);
    for (;;) {
        const int16_t *at = piece;
        const int16_t *end = piece + read_microphone(piece);
        while ((at = @name@_push(&audio, at, end)) != 0)
            hear();
    }
}
