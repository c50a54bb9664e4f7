/* Adds a row to *sum and returns the next row: the number of its entries, then for each the byte
   offset of its factor in v and its weight. */
FG_INLINE const int8_t *sparse_row(const int8_t *p, const int16_t *v, int32_t *sum)
{
#if defined(__AVR_HAVE_MUL__) && !defined(FG_NO_ASM)
    int32_t s = *sum;
    const int16_t *at;
    uint8_t n, weight, low, high, sign;
    /* What the C below says: w·v = w·high·2^8 + w·low, the carry after a multiplication being the
       sign of its product. */
    __asm__(
        "lpm %[n], Z+"          "\n\t"
        "tst %[n]"              "\n\t"
        "breq 2f"               "\n"
        "1:"                    "\n\t"
        "lpm %[w], Z+"          "\n\t"
        "movw %[at], %[v]"      "\n\t"
        "add %A[at], %[w]"      "\n\t"
        "adc %B[at], %[zero]"   "\n\t"
        "lpm %[w], Z+"          "\n\t"
        "ld %[low], X+"         "\n\t"
        "ld %[high], X"         "\n\t"
        "muls %[w], %[high]"    "\n\t"
        "sbc %[sign], %[sign]"  "\n\t"
        "add %B[s], r0"         "\n\t"
        "adc %C[s], r1"         "\n\t"
        "adc %D[s], %[sign]"    "\n\t"
        "mulsu %[w], %[low]"    "\n\t"
        "sbc %[sign], %[sign]"  "\n\t"
        "add %A[s], r0"         "\n\t"
        "adc %B[s], r1"         "\n\t"
        "adc %C[s], %[sign]"    "\n\t"
        "adc %D[s], %[sign]"    "\n\t"
        "dec %[n]"              "\n\t"
        "brne 1b"               "\n"
        "2:"                    "\n\t"
        "clr __zero_reg__"      "\n\t"
        : [s] "+r"(s), [p] "+z"(p), [at] "=&x"(at), [n] "=&r"(n), [w] "=&a"(weight),
          [low] "=&a"(low), [high] "=&a"(high), [sign] "=&r"(sign)
        : [v] "r"(v), [zero] "r"((uint8_t)0)
        : "r0", "memory");
    *sum = s;
    return p;
#else
#define FG_TERM(i) \
    s += (int32_t)(int8_t)FG_BYTE(p + 2 * (i) + 1) * \
         *(const int16_t *)(const void *)((const uint8_t *)v + (uint8_t)FG_BYTE(p + 2 * (i)))
    int32_t s = *sum;
    uint8_t n = (uint8_t)FG_BYTE(p);
    p++;
    for (; n >= 4; n = (uint8_t)(n - 4), p += 8) {
        FG_TERM(0);
        FG_TERM(1);
        FG_TERM(2);
        FG_TERM(3);
    }
    if (n & 2) {
        FG_TERM(0);
        FG_TERM(1);
        p += 4;
    }
    if (n & 1) {
        FG_TERM(0);
        p += 2;
    }
#undef FG_TERM
    *sum = s;
    return p;
#endif
}
