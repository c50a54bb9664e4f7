#define FEATURES @NAME@_FEATURES
/* Frames in a window: the longest recording in the training data. */
#define STEPS @steps@
#define TIMED_STEPS 64

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

@timing@
static void run(void)
{
    (void)@name@_selftest(put);
    time_steps(&state);
    for (;;) {
        int32_t scores[@NAME@_OUTPUTS];
        uint8_t confidence;
        uint16_t t, winner;
        @name@_reset(&state);
        for (t = 0; t < STEPS; t++) {
            int16_t counts[FEATURES];
            wait_for_period();
            read_frame(counts);
            @name@_step(&state, counts);
        }
        winner = @name@_classify(&state, scores, &confidence);
        @name@_put_result(winner, scores, confidence, put);
    }
}
