/* The product of an unsigned 16-bit number with a signed one. */
#if defined(FG_AVR_ASM)
/* As in the C below, which makes this compiler multiply 32 bits. */
FG_INLINE int32_t multiply_us(uint16_t a, int16_t b)
{
    int32_t product;
    __asm__(
        "mulsu %B[b], %B[a]"        "\n\t"
        "movw %C[p], r0"            "\n\t"
        "mul %A[a], %A[b]"          "\n\t"
        "movw %A[p], r0"            "\n\t"
        "mulsu %B[b], %A[a]"        "\n\t"
        "sbc %D[p], %[zero]"        "\n\t"
        "add %B[p], r0"             "\n\t"
        "adc %C[p], r1"             "\n\t"
        "adc %D[p], %[zero]"        "\n\t"
        "mul %B[a], %A[b]"          "\n\t"
        "add %B[p], r0"             "\n\t"
        "adc %C[p], r1"             "\n\t"
        "adc %D[p], %[zero]"        "\n\t"
        "clr __zero_reg__"          "\n\t"
        : [p] "=&r"(product)
        : [a] "a"(a), [b] "a"(b), [zero] "r"((uint8_t)0)
        : "r0");
    return product;
}
#else
#define multiply_us(a, b) ((int32_t)(a) * (int32_t)(b))
#endif
