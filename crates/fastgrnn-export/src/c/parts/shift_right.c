/* floor(v / 2^s). C does not define how a negative number is shifted. If the compiler does not do it
   arithmetically, a form that shifts only positive numbers is used instead. */
FG_INLINE int32_t shift_right(int32_t v, uint8_t s)
{
    if ((((int32_t)-1) >> 1) != -1) {
        return s == 0 ? v
                      : (int32_t)(((uint32_t)v + 0x80000000u) >> s) - (int32_t)(0x80000000u >> s);
    }
#if defined(__AVR__) && defined(__GNUC__) && !defined(FG_NO_ASM)
    /* The same as `v >> s`, which would become a loop: an AVR shifts by one bit or by whole bytes. */
    if (s >= 24) {
        v >>= 24;
    } else if (s >= 16) {
        v >>= 16;
    } else if (s >= 8) {
        v >>= 8;
    }
    FG_KEEP(v);
    if ((s & 7) == 7) {
        uint8_t top;
        /* One to the left, then a byte to the right. */
        __asm__("lsl %A0\n\trol %B0\n\trol %C0\n\trol %D0\n\tsbc %1, %1\n\t"
                "mov %A0, %B0\n\tmov %B0, %C0\n\tmov %C0, %D0\n\tmov %D0, %1"
                : "+r"(v), "=&r"(top));
    } else if ((s & 7) == 6) {
        uint8_t top;
        __asm__("lsl %A0\n\trol %B0\n\trol %C0\n\trol %D0\n\tsbc %1, %1\n\t"
                "lsl %A0\n\trol %B0\n\trol %C0\n\trol %D0\n\trol %1\n\t"
                "mov %A0, %B0\n\tmov %B0, %C0\n\tmov %C0, %D0\n\tmov %D0, %1"
                : "+r"(v), "=&r"(top));
    } else {
        if ((s & 7) > 0) { v >>= 1; FG_KEEP(v); }
        if ((s & 7) > 1) { v >>= 1; FG_KEEP(v); }
        if ((s & 7) > 2) { v >>= 1; FG_KEEP(v); }
        if ((s & 7) > 3) { v >>= 1; FG_KEEP(v); }
        if ((s & 7) > 4) { v >>= 1; FG_KEEP(v); }
    }
    return v;
#else
    return v >> s;
#endif
}
