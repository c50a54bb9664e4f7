/* Frames in a window: the longest recording that the network learnt from. */
#define STEPS @steps@

static uint16_t frames; /* of this window */

/* Says what the window was, and begins another one. */
static void report(void)
{
    int32_t scores[@NAME@_OUTPUTS];
    uint8_t confidence;
    uint16_t winner = @name@_classify(&audio.state, scores, &confidence);
    @name@_put_result(winner, scores, confidence, put);
    @name@_audio_reset(&audio);
    frames = 0;
}

/* After every frame. */
static void hear(void)
{
    if (++frames == STEPS)
        report();
}
