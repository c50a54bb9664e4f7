/* e^-d with 15 fraction bits, where d has 11. */
static uint32_t exponential(uint32_t d)
{
    uint32_t t, y;
    if (d > 65535u) {
        d = 65535u;
    }
    t = (d * 1477u + 512u) >> 10;
    if (t >= 32768u) {
        return 0;
    }
    y = t & 2047u;
    return (32768u - ((y * 22006u) >> 11) + ((((y * y) >> 11) * 5622u) >> 11)) >> (t >> 11);
}

/* e^-d with 15 fraction bits, where d is a difference of scores. */
static uint32_t falling(uint32_t d)
{
    @SCALE@
    return exponential(d);
}
