/* Four rows of n weights of 4 bits. A word holds two columns, the first in its lower half. Four bits of a
   half are a weight plus 8, those of the first row the lowest; the byte of a weight is 16 times the weight.
   eight is what eight_sums gives for v. */
#if defined(__AVR__)
#define FG_LONG(p) ((uint32_t)pgm_read_dword(p))
#else
#define FG_LONG(p) (*(p))
#endif
#if defined(__GNUC__) && defined(__OPTIMIZE__) && !defined(FG_NO_ASM) && defined(__ARM_FEATURE_DSP) && \
    defined(__ARM_FEATURE_UNALIGNED) && defined(__thumb2__) && defined(__ARMEL__)
#define FG_PACKED_ASM
#endif
#if defined(FG_AVR_ASM)
/* Adds the weight in r19 times the number in r20 and r21: w·v = w·high·2^8 + w·low, the carry after the
   second multiplication being the sign of its product. */
#define FG_NIBBLE(sum)             \
    "andi r19, 15"         "\n\t"  \
    "mul r19, r20"         "\n\t"  \
    "clr r22"              "\n\t"  \
    "add %A[" sum "], r0"  "\n\t"  \
    "adc %B[" sum "], r1"  "\n\t"  \
    "adc %C[" sum "], r22" "\n\t"  \
    "adc %D[" sum "], r22" "\n\t"  \
    "mulsu r21, r19"       "\n\t"  \
    "sbc r22, r22"         "\n\t"  \
    "add %B[" sum "], r0"  "\n\t"  \
    "adc %C[" sum "], r1"  "\n\t"  \
    "adc %D[" sum "], r22" "\n\t"
FG_ALONE
#else
FG_INLINE
#endif
const uint32_t *four_rows(const uint32_t *p, const int16_t *v, uint16_t n, int32_t eight, int32_t *sums)
{
#if defined(FG_AVR_ASM)
    /* The same as the C below for two rows, whose weights are a byte of each column. r18 byte, r19 weight,
       r20 low, r21 high, r22 sign. */
    const uint32_t *const after = p + (uint16_t)((n + 1u) / 2);
    uint8_t two;
    for (two = 0; two < 4; two = (uint8_t)(two + 2)) {
        int32_t a = 0, b = 0;
        const uint8_t *q = (const uint8_t *)p + two / 2;
        uint16_t left = n;
        __asm__(
            "movw r26, %[v]"    "\n"
            "1:"                "\n\t"
            "lpm r18, Z"        "\n\t"
            "adiw r30, 2"       "\n\t"
            "ld r20, X+"        "\n\t"
            "ld r21, X+"        "\n\t"
            "mov r19, r18"      "\n\t"
            FG_NIBBLE("a")
            "mov r19, r18"      "\n\t"
            "swap r19"          "\n\t"
            FG_NIBBLE("b")
            "sbiw %[left], 1"   "\n\t"
            "brne 1b"           "\n\t"
            "clr __zero_reg__"  "\n\t"
            : [a] "+r"(a), [b] "+r"(b), [q] "+z"(q), [left] "+w"(left)
            : [v] "r"(v)
            : "r0", "r18", "r19", "r20", "r21", "r22", "r26", "r27", "memory");
        sums[two] = (a - eight) * 16;
        sums[two + 1] = (b - eight) * 16;
    }
    return after;
#else
#if defined(FG_THUMB_ASM)
    /* The same as the C below, with numbers that wrap: the sum of a row is taken with all rows above it, times
       16 for each, so that a weight is one shift away. They are subtracted at the end. */
    uint32_t a = 0, b = 0, c = 0, d = 0;
    const int16_t *const end = v + (n & ~1u);
    if (v != end) {
        uint32_t number = (uint32_t)(uintptr_t)end;
        /* Two sums are in registers that only add; c and d get them at the end. Seven low registers are all that
           there are where r7 points to the frame, so the end of v is in r8. It is kept on the stack meanwhile,
           because compilers that save space do not save it. */
        __asm__(
            ".syntax unified"                       "\n\t"
            "mov %[two], r8"                        "\n\t"
            "push {%[two]}"                         "\n\t"
            "mov r8, %[number]"                     "\n\t"
            "movs %[two], #0"                       "\n\t"
            "mov ip, %[two]"                        "\n\t"
            "mov lr, %[two]"                        "\n"
            "1:"                                    "\n\t"
            "ldmia %[p]!, {%[two]}"                 "\n\t"
            "ldrh %[number], [%[v], #2]"            "\n\t"
            "sxth %[number], %[number]"             "\n\t"
            "lsrs %[weight], %[two], #28"           "\n\t"
            "muls %[weight], %[number]"             "\n\t"
            "add lr, %[weight]"                     "\n\t"
            "lsrs %[weight], %[two], #24"           "\n\t"
            "muls %[weight], %[number]"             "\n\t"
            "add ip, %[weight]"                     "\n\t"
            "lsrs %[weight], %[two], #20"           "\n\t"
            "muls %[weight], %[number]"             "\n\t"
            "add %[b], %[weight]"                   "\n\t"
            "lsrs %[weight], %[two], #16"           "\n\t"
            "muls %[weight], %[number]"             "\n\t"
            "add %[a], %[weight]"                   "\n\t"
            "ldrh %[number], [%[v], #0]"            "\n\t"
            "sxth %[number], %[number]"             "\n\t"
            "uxth %[two], %[two]"                   "\n\t"
            "lsrs %[weight], %[two], #12"           "\n\t"
            "muls %[weight], %[number]"             "\n\t"
            "add lr, %[weight]"                     "\n\t"
            "lsrs %[weight], %[two], #8"            "\n\t"
            "muls %[weight], %[number]"             "\n\t"
            "add ip, %[weight]"                     "\n\t"
            "lsrs %[weight], %[two], #4"            "\n\t"
            "muls %[weight], %[number]"             "\n\t"
            "add %[b], %[weight]"                   "\n\t"
            "muls %[two], %[number]"                "\n\t"
            "add %[a], %[two]"                      "\n\t"
            "adds %[v], #4"                         "\n\t"
            "cmp %[v], r8"                          "\n\t"
            "bne 1b"                                "\n\t"
            "pop {%[number]}"                       "\n\t"
            "mov r8, %[number]"                     "\n\t"
            "mov %[two], ip"                        "\n\t"
            "mov %[weight], lr"                     "\n\t"
            : [a] "+l"(a), [b] "+l"(b), [two] "=&l"(c), [weight] "=&l"(d), [p] "+l"(p), [v] "+l"(v),
              [number] "+l"(number)
            :
            : "ip", "lr", "cc", "memory");
    }
    if ((n & 1) != 0) {
        const uint32_t last = *p++ & 65535u, number = (uint32_t)(int32_t)*v;
        a += last * number;
        b += (last >> 4) * number;
        c += (last >> 8) * number;
        d += (last >> 12) * number;
    }
    a -= 16 * b;
    b -= 16 * c;
    c -= 16 * d;
#else
#define FG_ROWS(shift, number) \
    a += (int32_t)((two >> (shift)) & 15) * (number); \
    b += (int32_t)((two >> ((shift) + 4)) & 15) * (number); \
    c += (int32_t)((two >> ((shift) + 8)) & 15) * (number); \
    d += (int32_t)((two >> ((shift) + 12)) & 15) * (number)
    int32_t a = 0, b = 0, c = 0, d = 0;
    uint32_t two;
    for (; n >= 2; n = (uint16_t)(n - 2)) {
        two = FG_LONG(p);
        p++;
#if defined(FG_PACKED_ASM)
        {
            /* The same as the C below: two products in an instruction. */
            uint32_t numbers, weights;
            __asm__("ldr %0, [%1], #4" : "=r"(numbers), "+r"(v) : : "memory");
            weights = two & 0x000F000Fu;
            __asm__("smlad %0, %1, %2, %0" : "+r"(a) : "r"(weights), "r"(numbers));
            weights = (two >> 4) & 0x000F000Fu;
            __asm__("smlad %0, %1, %2, %0" : "+r"(b) : "r"(weights), "r"(numbers));
            weights = (two >> 8) & 0x000F000Fu;
            __asm__("smlad %0, %1, %2, %0" : "+r"(c) : "r"(weights), "r"(numbers));
            weights = (two >> 12) & 0x000F000Fu;
            __asm__("smlad %0, %1, %2, %0" : "+r"(d) : "r"(weights), "r"(numbers));
        }
#else
        FG_ROWS(0, v[0]);
        FG_ROWS(16, v[1]);
        v += 2;
#endif
    }
    if (n != 0) {
        two = FG_LONG(p);
        p++;
        FG_ROWS(0, v[0]);
    }
#undef FG_ROWS
#endif
    sums[0] = ((int32_t)a - eight) * 16;
    sums[1] = ((int32_t)b - eight) * 16;
    sums[2] = ((int32_t)c - eight) * 16;
    sums[3] = ((int32_t)d - eight) * 16;
    return p;
#endif
}
