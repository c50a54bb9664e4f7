/* S(v) */
FG_INLINE int16_t saturate(int32_t v)
{
#if defined(__GNUC__)
    /* This compiler defines the conversion: it keeps the lower bits. */
    return (int16_t)v == v ? (int16_t)v : v < 0 ? -32767 - 1 : 32767;
#else
    return v > 32767 ? 32767 : v < -32768 ? -32767 - 1 : (int16_t)v;
#endif
}
