/* S(v) */
FG_INLINE int16_t saturate(int32_t v)
{
    return v > 32767 ? 32767 : v < -32768 ? -32768 : (int16_t)v;
}
