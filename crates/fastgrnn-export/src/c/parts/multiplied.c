/* P(v, m): v times a multiplier of 15 fraction bits, rounded. */
FG_INLINE int32_t multiplied(int32_t v, int32_t m)
{
#if defined(__GNUC__) && !defined(FG_NO_ASM) && !defined(__AVR__) && (!defined(__thumb__) || defined(__thumb2__))
    /* The same as the C below with a product of 64 bits, whose shift these compilers define. */
    return (int32_t)(((int64_t)v * m + 16384) >> 15);
#else
    return shift_right(v, 15) * m + round_shift((v & 32767) * m, 15);
#endif
}
