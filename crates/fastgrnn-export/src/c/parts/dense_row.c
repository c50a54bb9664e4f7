/* A row of n weights. */
FG_INLINE fg_row dense_row(const int8_t *p, const int16_t *v, uint16_t n)
{
    fg_row row;
    int32_t s = 0;
#if defined(FG_AVR_ASM)
    /* The same as the C below, with the method of a sparse row. r18 weight, r19 low, r20 high, r21 sign, r22 and r23 weights left. */
    __asm__(
        "movw r26, %[v]"    "\n\t"
        "movw r22, %[n]"    "\n"
        "1:"                "\n\t"
        "lpm r18, Z+"       "\n\t"
        "ld r19, X+"        "\n\t"
        "ld r20, X+"        "\n\t"
        "muls r18, r20"     "\n\t"
        "sbc r21, r21"      "\n\t"
        "add %B[s], r0"     "\n\t"
        "adc %C[s], r1"     "\n\t"
        "adc %D[s], r21"    "\n\t"
        "mulsu r18, r19"    "\n\t"
        "sbc r21, r21"      "\n\t"
        "add %A[s], r0"     "\n\t"
        "adc %B[s], r1"     "\n\t"
        "adc %C[s], r21"    "\n\t"
        "adc %D[s], r21"    "\n\t"
        "subi r22, 1"       "\n\t"
        "sbci r23, 0"       "\n\t"
        "brne 1b"           "\n\t"
        "clr __zero_reg__"  "\n\t"
        : [s] "+r"(s), [p] "+z"(p)
        : [v] "r"(v), [n] "r"(n)
        : "r0", "r18", "r19", "r20", "r21", "r22", "r23", "r26", "r27", "memory");
#elif defined(FG_THUMB_ASM)
    int32_t at = -(int32_t)n, twice = 2 * at, weight, factor;
    const int16_t *v_end = v + n;
    p += n;
    __asm__(
        ".syntax unified"                       "\n"
        "1:"                                    "\n\t"
        "ldrsb %[weight], [%[p], %[at]]"        "\n\t"
        "ldrsh %[factor], [%[v], %[twice]]"     "\n\t"
        "muls %[weight], %[factor]"             "\n\t"
        "adds %[s], %[s], %[weight]"            "\n\t"
        "adds %[twice], #2"                     "\n\t"
        "adds %[at], #1"                        "\n\t"
        "bne 1b"                                "\n\t"
        : [s] "+l"(s), [at] "+l"(at), [twice] "+l"(twice), [factor] "=&l"(factor), [weight] "=&l"(weight)
        : [p] "l"(p), [v] "l"(v_end)
        : "cc", "memory");
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
    row.sum = s;
    row.next = p;
    return row;
}
