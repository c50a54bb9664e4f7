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
/* Adds a weight in r22 times the number in r20 and r21: w·v = w·high·2^8 + w·low, the carry after the
   second multiplication being the sign of its product. */
#define FG_NIBBLE(sum)          \
    "andi r22, 15"      "\n\t"  \
    "mul r22, r20"      "\n\t"  \
    "clr r23"           "\n\t"  \
    "add %A[" sum "], r0"  "\n\t"  \
    "adc %B[" sum "], r1"  "\n\t"  \
    "adc %C[" sum "], r23" "\n\t"  \
    "adc %D[" sum "], r23" "\n\t"  \
    "mulsu r21, r22"    "\n\t"  \
    "sbc r23, r23"      "\n\t"  \
    "add %B[" sum "], r0"  "\n\t"  \
    "adc %C[" sum "], r1"  "\n\t"  \
    "adc %D[" sum "], r23" "\n\t"
FG_ALONE
#else
FG_INLINE
#endif
const uint32_t *four_rows(const uint32_t *p, const int16_t *v, uint16_t n, int32_t eight, int32_t *sums)
{
#if defined(FG_AVR_ASM)
    /* The same as the C below, a column at a time. r18 and r19 weights, r20 low, r21 high, r22 weight, r23 sign. */
    int32_t a = 0, b = 0, c = 0, d = 0;
    const uint32_t *const after = p + (uint16_t)((n + 1u) / 2);
    __asm__(
        "1:"                "\n\t"
        "lpm r18, Z+"       "\n\t"
        "lpm r19, Z+"       "\n\t"
        "ld r20, X+"        "\n\t"
        "ld r21, X+"        "\n\t"
        "mov r22, r18"      "\n\t"
        FG_NIBBLE("a")
        "mov r22, r18"      "\n\t"
        "swap r22"          "\n\t"
        FG_NIBBLE("b")
        "mov r22, r19"      "\n\t"
        FG_NIBBLE("c")
        "mov r22, r19"      "\n\t"
        "swap r22"          "\n\t"
        FG_NIBBLE("d")
        "sbiw %[n], 1"      "\n\t"
        "brne 1b"           "\n\t"
        "clr __zero_reg__"  "\n\t"
        : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [p] "+z"(p), [v] "+x"(v), [n] "+w"(n)
        :
        : "r0", "r18", "r19", "r20", "r21", "r22", "r23", "memory");
    p = after;
#elif defined(FG_THUMB_ASM)
    /* The same as the C below, with numbers that wrap: the sum of a row is taken with all rows above it, times
       16 for each, so that a weight is one shift away. They are subtracted at the end. */
    uint32_t a = 0, b = 0, c = 0, d = 0;
    int32_t at = -2 * (int32_t)(n & ~1u);
    v += n & ~1u;
    if (at != 0) {
        uint32_t two, half, weight, number;
        __asm__(
            ".syntax unified"                       "\n"
            "1:"                                    "\n\t"
            "ldmia %[p]!, {%[two]}"                 "\n\t"
            "ldrsh %[number], [%[v], %[at]]"        "\n\t"
            "uxth %[half], %[two]"                  "\n\t"
            "adds %[at], #2"                        "\n\t"
            "lsrs %[weight], %[half], #12"          "\n\t"
            "muls %[weight], %[number]"             "\n\t"
            "add %[d], %[weight]"                   "\n\t"
            "lsrs %[weight], %[half], #8"           "\n\t"
            "muls %[weight], %[number]"             "\n\t"
            "add %[c], %[weight]"                   "\n\t"
            "lsrs %[weight], %[half], #4"           "\n\t"
            "muls %[weight], %[number]"             "\n\t"
            "add %[b], %[weight]"                   "\n\t"
            "muls %[half], %[number]"               "\n\t"
            "add %[a], %[half]"                     "\n\t"
            "ldrsh %[number], [%[v], %[at]]"        "\n\t"
            "lsrs %[weight], %[two], #28"           "\n\t"
            "muls %[weight], %[number]"             "\n\t"
            "add %[d], %[weight]"                   "\n\t"
            "lsrs %[weight], %[two], #24"           "\n\t"
            "muls %[weight], %[number]"             "\n\t"
            "add %[c], %[weight]"                   "\n\t"
            "lsrs %[weight], %[two], #20"           "\n\t"
            "muls %[weight], %[number]"             "\n\t"
            "add %[b], %[weight]"                   "\n\t"
            "lsrs %[two], %[two], #16"              "\n\t"
            "muls %[two], %[number]"                "\n\t"
            "add %[a], %[two]"                      "\n\t"
            "adds %[at], #2"                        "\n\t"
            "bne 1b"                                "\n\t"
            : [a] "+h"(a), [b] "+h"(b), [c] "+h"(c), [d] "+h"(d), [p] "+l"(p), [at] "+l"(at),
              [two] "=&l"(two), [half] "=&l"(half), [weight] "=&l"(weight), [number] "=&l"(number)
            : [v] "l"(v)
            : "cc", "memory");
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
}
