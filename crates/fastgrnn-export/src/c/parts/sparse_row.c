/* A row: the number of its entries, then for each entry the byte offset of its factor in v and its
   weight. */
FG_INLINE fg_row sparse_row(const int8_t *p, const int16_t *v)
{
    fg_row row;
    int32_t s = 0;
#if defined(FG_AVR_ASM)
    /* The same as the C below: w·v = w·high·2^8 + w·low, the carry after a multiplication being the
       sign of its product. r18 weight, r19 low, r20 high, r21 sign, r22 entries left, r23 zero. */
    __asm__(
        "lpm r22, Z+"       "\n\t"
        "tst r22"           "\n\t"
        "breq 2f"           "\n\t"
        "clr r23"           "\n"
        "1:"                "\n\t"
        "lpm r18, Z+"       "\n\t"
        "movw r26, %[v]"    "\n\t"
        "add r26, r18"      "\n\t"
        "adc r27, r23"      "\n\t"
        "lpm r18, Z+"       "\n\t"
        "ld r19, X+"        "\n\t"
        "ld r20, X"         "\n\t"
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
        "dec r22"           "\n\t"
        "brne 1b"           "\n"
        "2:"                "\n\t"
        "clr __zero_reg__"  "\n\t"
        : [s] "+r"(s), [p] "+z"(p)
        : [v] "r"(v)
        : "r0", "r18", "r19", "r20", "r21", "r22", "r23", "r26", "r27", "memory");
#elif defined(FG_THUMB_ASM)
    /* The same as the C below, in a loop that is small enough for the caches of slow flash. An offset
       that runs up to 0 counts the entries, so that no pointer moves. The weights' address is a number: as a pointer it would lie two past
       the end of the table of the last row. */
    int32_t at = -2 * (int32_t)(uint8_t)*p;
    const int8_t *end = p + 1 - at;
    if (at != 0) {
        int32_t factor, weight;
        __asm__(
            ".syntax unified"                       "\n"
            "1:"                                    "\n\t"
            "ldrb %[factor], [%[places], %[at]]"    "\n\t"
            "ldrsb %[weight], [%[weights], %[at]]"  "\n\t"
            "ldrsh %[factor], [%[v], %[factor]]"    "\n\t"
            "muls %[weight], %[factor]"             "\n\t"
            "adds %[s], %[s], %[weight]"            "\n\t"
            "adds %[at], #2"                        "\n\t"
            "bne 1b"                                "\n\t"
            : [s] "+l"(s), [at] "+l"(at), [factor] "=&l"(factor), [weight] "=&l"(weight)
            : [places] "l"(end), [weights] "l"((uintptr_t)end + 1), [v] "l"(v)
            : "cc", "memory");
    }
    p = end;
#else
#define FG_TERM(i) \
    s += (int32_t)(int8_t)FG_BYTE(p + 2 * (i) + 1) * \
         *(const int16_t *)(const void *)((const uint8_t *)v + (uint8_t)FG_BYTE(p + 2 * (i)))
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
#endif
    row.sum = s;
    row.next = p;
    return row;
}
