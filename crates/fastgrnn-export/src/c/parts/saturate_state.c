/* S(R(v, 15)), for |v| < 2^31 - 2^14 and half = 2^14. */
FG_INLINE int16_t saturate_state(int32_t v, int32_t half)
{
    v += half;
#if defined(__AVR__)
    {
        /* The quotient fits 16 bits if the two upper bits of v are equal. */
        const uint8_t top = (uint8_t)((uint32_t)v >> 24);
        if (((uint8_t)(top ^ (uint8_t)(top << 1)) & 128) != 0) {
            return v < 0 ? -32767 - 1 : 32767;
        }
    }
    /* 2·v fits, and its upper two bytes are the quotient: no loop of shifts. */
    v *= 2;
    FG_KEEP(v);
    return (int16_t)(v >> 16);
#else
    if ((((uint32_t)v ^ ((uint32_t)v << 1)) & 0x80000000u) != 0) {
        return v < 0 ? -32767 - 1 : 32767;
    }
    return (int16_t)shift_right(v, 15);
#endif
}
