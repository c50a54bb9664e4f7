/* R(v, s): halves round up. */
FG_INLINE int32_t round_shift(int32_t v, uint8_t s)
{
    return s == 0 ? v : shift_right(v + ((int32_t)1 << (s - 1)), s);
}
