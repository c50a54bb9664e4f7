/* The product of two unsigned 16-bit numbers. */
#if defined(FG_AVR_ASM)
/* The same as the C below, for which this compiler would multiply 32 bits. */
FG_INLINE uint32_t multiply_uu(uint16_t a, uint16_t b)
{
    uint32_t product;
    __asm__(
        "mul %B[b], %B[a]"          "\n\t"
        "movw %C[p], r0"            "\n\t"
        "mul %A[a], %A[b]"          "\n\t"
        "movw %A[p], r0"            "\n\t"
        "mul %B[b], %A[a]"          "\n\t"
        "add %B[p], r0"             "\n\t"
        "adc %C[p], r1"             "\n\t"
        "adc %D[p], %[zero]"        "\n\t"
        "mul %B[a], %A[b]"          "\n\t"
        "add %B[p], r0"             "\n\t"
        "adc %C[p], r1"             "\n\t"
        "adc %D[p], %[zero]"        "\n\t"
        "clr __zero_reg__"          "\n\t"
        : [p] "=&r"(product)
        : [a] "r"(a), [b] "r"(b), [zero] "r"((uint8_t)0)
        : "r0");
    return product;
}
#else
#define multiply_uu(a, b) ((uint32_t)(a) * (uint32_t)(b))
#endif
