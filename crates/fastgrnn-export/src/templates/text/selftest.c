/* Draws tokens after the end of a line and counts those that the host did not draw. */
static uint16_t test_text(@name@_state *state)
{
    @name@_sampler sampler;
    int32_t scores[OUTPUTS];
    int16_t token = @NAME@_END_OF_LINE;
    uint16_t t, wrong = 0;
    @name@_sampler_init(&sampler, @NAME@_GOLDEN_SEED, @NAME@_GOLDEN_SHARPNESS, @NAME@_GOLDEN_MOST);
    @name@_reset(state);
    for (t = 0; t < @NAME@_GOLDEN_TOKENS; t++) {
        @name@_step(state, &token);
        (void)@name@_classify(state, scores, 0);
        token = (int16_t)@name@_sample(&sampler, scores);
        if ((uint16_t)token != (uint16_t)WORD(&@name@_golden_tokens[t]))
            wrong++;
    }
    return wrong;
}

