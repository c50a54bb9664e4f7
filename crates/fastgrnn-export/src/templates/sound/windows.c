/* Frames in a window: the longest recording in the training data. */
#define STEPS @steps@

static uint16_t frames; /* in this window */

/* Prints the result of the window and starts the next one. */
static void report(void)
{
    int32_t scores[@NAME@_OUTPUTS];
    uint8_t confidence;
    uint16_t winner = @name@_classify(&audio.state, scores, &confidence);
    @name@_put_result(winner, scores, confidence, put);
    @name@_audio_reset(&audio);
    frames = 0;
}

/* Called after every frame. */
static void hear(void)
{
    if (++frames == STEPS)
        report();
}
