static void time_steps(@name@_state *state)
{
    int16_t counts[FEATURES];
    moment start;
    uint16_t i;
    @name@_golden_frame(0, 0, counts);
    @name@_init(state);
    start = now();
    for (i = 0; i < TIMED_STEPS; i++)
        @name@_step(state, counts);
    @name@_put_number(microseconds_since(start) / TIMED_STEPS, put);
    @name@_put_text(@NAME@_TEXT(" microseconds a step\r\n"), put);
}
