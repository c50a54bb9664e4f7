/* Adds a row of n weights to *sum and returns the next row. */
FG_INLINE const int8_t *dense_row(const int8_t *p, const int16_t *v, uint16_t n, int32_t *sum)
{
    int32_t s = *sum;
#if defined(__AVR_HAVE_MUL__) && !defined(FG_NO_ASM)
    const int16_t *at = v;
    uint8_t weight, low, high, sign;
    __asm__(
        "1:"                    "\n\t"
        "lpm %[w], Z+"          "\n\t"
        "ld %[low], X+"         "\n\t"
        "ld %[high], X+"        "\n\t"
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
        "sbiw %[n], 1"          "\n\t"
        "brne 1b"               "\n\t"
        "clr __zero_reg__"      "\n\t"
        : [s] "+r"(s), [p] "+z"(p), [at] "+x"(at), [n] "+w"(n), [w] "=&a"(weight),
          [low] "=&a"(low), [high] "=&a"(high), [sign] "=&r"(sign)
        :
        : "r0", "memory");
#else
#define FG_TERM(i) s += (int32_t)(int8_t)FG_BYTE(p + (i)) * v[i]
    for (; n >= 4; n = (uint16_t)(n - 4), p += 4, v += 4) {
        FG_TERM(0);
        FG_TERM(1);
        FG_TERM(2);
        FG_TERM(3);
    }
    for (; n != 0; n--, p++, v++) {
        FG_TERM(0);
    }
#undef FG_TERM
#endif
    *sum = s;
    return p;
}
