/* sum += w·v and sum -= w·v, where w is a constant from 3 to 128. */
#if defined(FG_THUMB_ASM)
/* The same as the C below, with the constant in the instruction. Compilers prefer to shift and add, or
   to move constants through registers, and both take longer. */
#define FG_MULTIPLY(sum, operation, w, v) \
    do { \
        int32_t product; \
        __asm__(".syntax unified\n\tmovs %1, %3\n\tmuls %1, %2\n\t" operation " %0, %0, %1" \
                : "+l"(sum), "=&l"(product) : "l"(v), "I"(w) : "cc"); \
    } while (0)
#define FG_MAC_ADD(sum, w, v) FG_MULTIPLY(sum, "adds", w, v)
#define FG_MAC_SUB(sum, w, v) FG_MULTIPLY(sum, "subs", w, v)
#elif defined(__GNUC__) && defined(__arm__)
/* One multiplication. Compilers prefer to shift and add, which takes longer. */
FG_INLINE int32_t multiply(int32_t w, int32_t v)
{
    __asm__ volatile("" : "+r"(w));
    return w * v;
}
#define FG_MAC_ADD(sum, w, v) ((sum) += multiply(w, v))
#define FG_MAC_SUB(sum, w, v) ((sum) -= multiply(w, v))
#else
#define FG_MAC_ADD(sum, w, v) ((sum) += (int32_t)(w) * (v))
#define FG_MAC_SUB(sum, w, v) ((sum) -= (int32_t)(w) * (v))
#endif
