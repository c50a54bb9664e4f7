/* S(R(v, 15)), for |v| < 2^31 - 2^14. */
FG_INLINE int16_t saturate_state(int32_t v)
{
    v += 16384;
    if (v >= (int32_t)0x40000000) {
        return 32767;
    }
    if (v < -(int32_t)0x40000000) {
        return -32768;
    }
#if defined(__AVR__)
    /* 2·v fits, and its upper two bytes are the quotient: no loop of shifts. */
    v *= 2;
    FG_KEEP(v);
    return (int16_t)(v >> 16);
#else
    return (int16_t)shift_right(v, 15);
#endif
}
