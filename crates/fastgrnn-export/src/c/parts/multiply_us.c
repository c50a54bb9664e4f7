/* The product of an unsigned 16-bit number with a signed one. */
#if defined(FG_AVR_ASM)
/* The same as the C below, for which this compiler would multiply 32 bits. */
FG_INLINE int32_t multiply_us(uint16_t a, int16_t b)
{
    int32_t product;
    __asm__(
        "movw r20, %[a]"        "\n\t"
        "movw r22, %[b]"        "\n\t"
        "mulsu r23, r21"        "\n\t"
        "movw %C[p], r0"        "\n\t"
        "mul r20, r22"          "\n\t"
        "movw %A[p], r0"        "\n\t"
        "mulsu r23, r20"        "\n\t"
        "sbc %D[p], %[zero]"    "\n\t"
        "add %B[p], r0"         "\n\t"
        "adc %C[p], r1"         "\n\t"
        "adc %D[p], %[zero]"    "\n\t"
        "mul r21, r22"          "\n\t"
        "add %B[p], r0"         "\n\t"
        "adc %C[p], r1"         "\n\t"
        "adc %D[p], %[zero]"    "\n\t"
        "clr __zero_reg__"      "\n\t"
        : [p] "=&r"(product)
        : [a] "r"(a), [b] "r"(b), [zero] "r"((uint8_t)0)
        : "r0", "r20", "r21", "r22", "r23");
    return product;
}
#else
#define multiply_us(a, b) ((int32_t)(a) * (int32_t)(b))
#endif
