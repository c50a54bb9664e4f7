/* A long row: the number of its entries (two bytes, the lower one first), then for each entry the
   distance of its factor from the previous one, in entries of v, and its weight. */
FG_INLINE fg_row sparse_far_row(const int8_t *p, const int16_t *v)
{
    fg_row row;
    int32_t s = 0;
    uint16_t n = (uint16_t)((uint8_t)FG_BYTE(p) + 256u * (uint8_t)FG_BYTE(p + 1));
    p += 2;
    for (; n != 0; n--, p += 2) {
        v += (uint8_t)FG_BYTE(p);
        s += (int32_t)(int8_t)FG_BYTE(p + 1) * *v;
    }
    row.sum = s;
    row.next = p;
    return row;
}
