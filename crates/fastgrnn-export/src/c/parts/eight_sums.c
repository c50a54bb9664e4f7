/* 8 times the sum of n numbers: what weights that are stored with 8 more add to a row. */
FG_ALONE int32_t eight_sums(const int16_t *v, uint16_t n)
{
    int32_t sum = 0;
    for (; n != 0; n--) {
        sum += *v++;
    }
    return sum * 8;
}
