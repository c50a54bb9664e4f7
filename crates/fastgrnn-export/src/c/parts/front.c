/* The audio front end. docs/integer-features.md of fastgrnn defines what it computes. */

/* Multiplies n complex numbers, which are `apart` entries from each other, with twiddle factors, which
   are `next` entries of the table from each other. */
FG_ALONE void front_turn(int32_t *z, uint16_t apart, const fg_turn *turn, uint16_t next, uint16_t n)
{
    const int32_t *const end = z + n * apart;
#if defined(FRONT_ASM)
    /* The same as the C below. r4 and r5: real and imaginary part, then their high halves; r6 and r7: low halves.
       The constants arrive in registers that the loop needs and are moved to r8 to r10. */
    uint32_t c = (uint32_t)end, s = (uint32_t)(4 * apart - 8) | (uint32_t)(4 * next) << 16;
    __asm__ volatile(
        ".syntax unified"           "\n\t"
        "mov r10, %[c]"             "\n\t"
        "lsrs r4, %[s], #16"        "\n\t"
        "mov r9, r4"                "\n\t"
        "uxth r4, %[s]"             "\n\t"
        "mov r8, r4"                "\n\t"
        ".p2align 3"                "\n"
        "1:"                        "\n\t"
        "ldr %[c], [%[turn]]"       "\n\t"
        "add %[turn], r9"           "\n\t"
        "asrs %[s], %[c], #16"      "\n\t"
        "sxth %[c], %[c]"           "\n\t"
        "ldr r4, [%[z]]"            "\n\t"
        "ldr r5, [%[z], #4]"        "\n\t"
        "lsls r6, r4, #17"          "\n\t"
        "lsrs r6, r6, #17"          "\n\t"
        "lsls r7, r5, #17"          "\n\t"
        "lsrs r7, r7, #17"          "\n\t"
        "asrs r4, r4, #15"          "\n\t"
        "asrs r5, r5, #15"          "\n\t"
        "mov r11, r6"               "\n\t"
        "mov r12, r7"               "\n\t"
        "muls r6, %[s]"             "\n\t"
        "muls r7, %[c]"             "\n\t"
        "adds r6, r6, r7"           "\n\t"
        "asrs r6, r6, #15"          "\n\t"
        "mov r7, r4"                "\n\t"
        "muls r7, %[s]"             "\n\t"
        "adds r6, r6, r7"           "\n\t"
        "mov r7, r5"                "\n\t"
        "muls r7, %[c]"             "\n\t"
        "adds r6, r6, r7"           "\n\t"
        "muls r4, %[c]"             "\n\t"
        "muls r5, %[s]"             "\n\t"
        "subs r4, r4, r5"           "\n\t"
        "mov r5, r11"               "\n\t"
        "muls r5, %[c]"             "\n\t"
        "mov r7, r12"               "\n\t"
        "muls r7, %[s]"             "\n\t"
        "subs r5, r5, r7"           "\n\t"
        "asrs r5, r5, #15"          "\n\t"
        "adds r4, r4, r5"           "\n\t"
        "stmia %[z]!, {r4, r6}"     "\n\t"
        "add %[z], r8"              "\n\t"
        "cmp %[z], r10"             "\n\t"
        "bne 1b"                    "\n\t"
        : [z] "+l"(z), [turn] "+l"(turn), [c] "+l"(c), [s] "+l"(s)
        :
        : "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "cc", "memory");
#else
    do {
        const int32_t c = turn->c, s = turn->s;
        const int32_t re = shift_right(z[0], 15), im = shift_right(z[1], 15);
        const int32_t re_low = z[0] & 0x7fff, im_low = z[1] & 0x7fff;
        z[0] = re * c - im * s + shift_right(re_low * c - im_low * s, 15);
        z[1] = re * s + im * c + shift_right(re_low * s + im_low * c, 15);
        z += apart;
        turn += next;
    } while (z != end);
#endif
}

/* n butterflies of four numbers each, which are `apart` entries from each other; the butterflies are
   `next` entries from each other. */
FG_ALONE void front_fours(int32_t *z, uint16_t apart, uint16_t next, uint16_t n)
{
    int32_t *const end = z + n * next;
    int32_t *b = z + apart;
#if defined(FRONT_ASM)
    /* The same as the C below. In r10 to r12: odd_re, odd_im, rest_re. The constants arrive in the registers of c and d
       and are moved to r8 and r9. */
    uint32_t c = (uint32_t)end, d = (uint32_t)(4 * next - 8);
    __asm__ volatile(
        ".syntax unified"           "\n\t"
        "mov r8, %[d]"              "\n\t"
        "mov r9, %[c]"              "\n\t"
        "subs r4, %[b], %[z]"       "\n\t"
        "adds %[c], %[b], r4"       "\n\t"
        "adds %[d], %[c], r4"       "\n\t"
        ".p2align 3"                "\n"
        "1:"                        "\n\t"
        "ldr r4, [%[z]]"            "\n\t"
        "ldr r5, [%[c]]"            "\n\t"
        "subs r6, r4, r5"           "\n\t"
        "adds r4, r4, r5"           "\n\t"
        "mov r10, r6"               "\n\t"
        "ldr r5, [%[b]]"            "\n\t"
        "ldr r6, [%[d]]"            "\n\t"
        "subs r7, r5, r6"           "\n\t"
        "adds r5, r5, r6"           "\n\t"
        "mov r12, r7"               "\n\t"
        "subs r6, r4, r5"           "\n\t"
        "adds r7, r4, r5"           "\n\t"
        "ldr r4, [%[c], #4]"        "\n\t"
        "stmia %[c]!, {r6}"         "\n\t"
        "ldr r5, [%[z], #4]"        "\n\t"
        "stmia %[z]!, {r7}"         "\n\t"
        "subs r6, r5, r4"           "\n\t"
        "adds r4, r4, r5"           "\n\t"
        "mov r11, r6"               "\n\t"
        "ldr r5, [%[b], #4]"        "\n\t"
        "ldr r7, [%[d], #4]"        "\n\t"
        "subs r6, r5, r7"           "\n\t"
        "adds r5, r5, r7"           "\n\t"
        "adds r7, r4, r5"           "\n\t"
        "subs r4, r4, r5"           "\n\t"
        "stmia %[z]!, {r7}"         "\n\t"
        "stmia %[c]!, {r4}"         "\n\t"
        "mov r4, r10"               "\n\t"
        "adds r5, r4, r6"           "\n\t"
        "subs r4, r4, r6"           "\n\t"
        "mov r6, r11"               "\n\t"
        "mov r7, r12"               "\n\t"
        "subs r6, r6, r7"           "\n\t"
        "lsls r7, r7, #1"           "\n\t"
        "adds r7, r7, r6"           "\n\t"
        "stmia %[b]!, {r5, r6}"     "\n\t"
        "stmia %[d]!, {r4, r7}"     "\n\t"
        "add %[z], r8"              "\n\t"
        "add %[b], r8"              "\n\t"
        "add %[c], r8"              "\n\t"
        "add %[d], r8"              "\n\t"
        "cmp %[z], r9"              "\n\t"
        "bne 1b"                    "\n\t"
        : [z] "+l"(z), [b] "+l"(b), [c] "+l"(c), [d] "+l"(d)
        :
        : "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "cc", "memory");
#else
    int32_t *c = b + apart, *d = c + apart;
    do {
        const int32_t odd_re = z[0] - c[0], odd_im = z[1] - c[1];
        const int32_t even_re = z[0] + c[0], even_im = z[1] + c[1];
        const int32_t rest_re = b[0] - d[0], rest_im = b[1] - d[1];
        const int32_t sum_re = b[0] + d[0], sum_im = b[1] + d[1];
        z[0] = even_re + sum_re;
        z[1] = even_im + sum_im;
        b[0] = odd_re + rest_im;
        b[1] = odd_im - rest_re;
        c[0] = even_re - sum_re;
        c[1] = even_im - sum_im;
        d[0] = odd_re - rest_im;
        d[1] = odd_im + rest_re;
        z += next;
        b += next;
        c += next;
        d += next;
    } while (z != end);
#endif
}

/* Writes n complex numbers, each of two windowed samples, to the positions that the transform expects. The sample
   before x is the one before the first; the table is read from w on, in steps of `way` for each sample. */
FG_ALONE void front_pairs(const int16_t *x, const fg_window *w, int8_t way, const FRONT_PLACE *place, int32_t *z, uint16_t n)
{
    const int16_t *const end = x + 2 * n;
#if defined(FRONT_ASM)
    /* The same as the C below. In r8 z, in r9 the end, in r10 half a unit, in r11 the sample before, in r12 the way;
       `now` is the lower half of a word of the table. Constants arrive in registers that the loop needs. */
    uint32_t t = (uint32_t)end, k = (uint32_t)z, u = (uint32_t)(4 * way);
    __asm__ volatile(
        ".syntax unified"                       "\n\t"
        "mov r8, %[k]"                          "\n\t"
        "mov r9, %[t]"                          "\n\t"
        "mov r12, %[u]"                         "\n\t"
        "movs r4, #1"                           "\n\t"
        "lsls r4, r4, #14 - " FRONT_BITS        "\n\t"
        "mov r10, r4"                           "\n\t"
        "movs %[t], #0"                         "\n\t"
        "ldrsh r4, [%[x], %[t]]"                "\n\t"
        "mov r11, r4"                           "\n\t"
        "movs %[k], #2"                         "\n\t"
        ".p2align 3"                            "\n"
        "1:"                                    "\n\t"
        "ldr r4, [%[w]]"                        "\n\t"
        "add %[w], r12"                         "\n\t"
        "asrs r5, r4, #16"                      "\n\t"
        "sxth r4, r4"                           "\n\t"
        "mov %[u], r11"                         "\n\t"
        "muls r5, %[u]"                         "\n\t"
        "ldrsh %[u], [%[x], %[k]]"              "\n\t"
        "muls r4, %[u]"                         "\n\t"
        "subs r4, r4, r5"                       "\n\t"
        "add r4, r10"                           "\n\t"
        "asrs r4, r4, #15 - " FRONT_BITS        "\n\t"
        "ldr r5, [%[w]]"                        "\n\t"
        "add %[w], r12"                         "\n\t"
        "asrs %[t], r5, #16"                    "\n\t"
        "sxth r5, r5"                           "\n\t"
        "muls %[t], %[u]"                       "\n\t"
        "adds %[x], #2"                         "\n\t"
        "ldrsh %[u], [%[x], %[k]]"              "\n\t"
        "mov r11, %[u]"                         "\n\t"
        "muls r5, %[u]"                         "\n\t"
        "subs r5, r5, %[t]"                     "\n\t"
        "add r5, r10"                           "\n\t"
        "asrs r5, r5, #15 - " FRONT_BITS        "\n\t"
        FRONT_THUMB_PLACE                       "\n\t"
        "lsls %[t], %[t], #3"                   "\n\t"
        "add %[t], r8"                          "\n\t"
        "stmia %[t]!, {r4, r5}"                 "\n\t"
        "adds %[x], #2"                         "\n\t"
        "cmp %[x], r9"                          "\n\t"
        "bne 1b"                                "\n\t"
        : [x] "+l"(x), [w] "+l"(w), [place] "+l"(place), [t] "+l"(t), [k] "+l"(k), [u] "+l"(u)
        :
        : "r4", "r5", "r8", "r9", "r10", "r11", "r12", "cc", "memory");
#else
    for (; x != end; x += 2, w += 2 * way) {
        int32_t *const p = z + 2 * *place++;
        const int32_t a = x[0], b = x[1], c = x[2];
        p[0] = round_shift((int32_t)w[0].now * b - (int32_t)w[0].before * a, 15 - FRONT_FRACTION);
        p[1] = round_shift((int32_t)w[way].now * c - (int32_t)w[way].before * b, 15 - FRONT_FRACTION);
    }
#endif
}

/* Applies the window. The table holds only its first half; the second mirrors it. */
static void front_load(const int16_t *x, int32_t *z)
{
    const FRONT_PLACE *place = front_places + FRONT_LEN / 4;
    uint16_t k;
    front_pairs(x, front_window, 1, front_places, z, FRONT_LEN / 4);
    x += FRONT_LEN / 4 * 2;
#if FRONT_LEN % 4 != 0
    front_pairs(x, front_window + FRONT_LEN / 4 * 2, FRONT_MIDDLE - FRONT_LEN / 4 * 2, place++, z, 1);
    x += 2;
#endif
    front_pairs(x, front_window + FRONT_MIDDLE - 1, -1, place, z, (FRONT_MIDDLE - FRONT_LEN % 2) / 2);
    place += (FRONT_MIDDLE - FRONT_LEN % 2) / 2;
#if FRONT_LEN % 2 != 0
    x += (FRONT_MIDDLE - 1) / 2 * 2;
    z[2 * *place] = round_shift((int32_t)front_window->now * x[1] - (int32_t)front_window->before * x[0], 15 - FRONT_FRACTION);
    z[2 * *place++ + 1] = 0;
#endif
    for (k = (FRONT_LEN + 1) / 2; k < FRONT_POINTS; k++) {
        int32_t *const p = z + 2 * *place++;
        p[0] = 0;
        p[1] = 0;
    }
}

/* Stores the power of a point: low word, high word. */
FG_INLINE void front_power(uint32_t *power, int32_t re, int32_t im)
{
    uint32_t a = (uint32_t)(re < 0 ? -re : re), b = (uint32_t)(im < 0 ? -im : im), p;
    const uint32_t both = a | b;
    if (both >> 15 == 0) {
        p = a * a + b * b;
        FRONT_CUT_0;
    } else if (both >> 19 == 0) {
        a >>= 4;
        b >>= 4;
        p = a * a + b * b;
        FRONT_CUT_4;
    } else if (both >> 23 == 0) {
        a >>= 8;
        b >>= 8;
        p = a * a + b * b;
        FRONT_CUT_8;
    } else if (both >> 27 == 0) {
        a >>= 12;
        b >>= 12;
        p = a * a + b * b;
        FRONT_CUT_12;
    } else {
        a >>= 16;
        b >>= 16;
        p = a * a + b * b;
        FRONT_CUT_16;
    }
}

/* Separates the doubled spectra of the even and the odd samples. The odd one is multiplied with i and
   must still be multiplied with its twiddle factor. */
FG_ALONE void front_apart(int32_t *z)
{
    int32_t *mirror = z + FRONT_FFT - 2;
    z += 2;
    do {
        const int32_t re = z[0], im = z[1], re2 = mirror[0], im2 = mirror[1];
        z[0] = re + re2;
        z[1] = im - im2;
        mirror[0] = re - re2;
        mirror[1] = im + im2;
        z += 2;
        mirror -= 2;
    } while (z != mirror);
}

/* The powers of the real window's spectrum, each in the place of a complex number. */
FG_ALONE void front_powers(@name@_spectrum *work)
{
    int32_t *z = work->z, *mirror = z + FRONT_FFT - 2;
    uint32_t *p = work->power, *q = p + FRONT_FFT - 2;
    front_power(p, 2 * (z[0] + z[1]), 0);
    for (;;) {
        int32_t even_re, even_im, odd_re, odd_im;
        z += 2;
        p += 2;
        if (p == q) {
            break;
        }
        even_re = z[0], even_im = z[1], odd_re = mirror[0], odd_im = mirror[1];
        front_power(p, even_re + odd_im, even_im - odd_re);
        front_power(q, even_re - odd_im, even_im + odd_re);
        mirror -= 2;
        q -= 2;
    }
    front_power(p, 2 * z[0], 2 * z[1]);
}

/* value * n, without a call of the compiler's routine for 64 bits. */
FG_INLINE uint64_t front_times(uint64_t value, uint16_t n)
{
    const uint32_t low = (uint32_t)value;
    const uint32_t a = (low & 0xffffu) * n, b = (low >> 16) * n + (a >> 16);
    const uint32_t high = (uint32_t)(value >> 32) * n + (b >> 16);
    return (uint64_t)high << 32 | (b << 16 | (a & 0xffffu));
}

/* The count of a filter: the logarithm of its sum, minus its offset. */
FG_ALONE int16_t front_count(uint64_t value, int32_t offset)
{
    uint32_t high = (uint32_t)(value >> 32), low = (uint32_t)value;
    uint8_t whole = 63, at;
    int32_t log, rest;
    if (high == 0) {
        if (low == 0) {
            return FRONT_FLOOR;
        }
        high = low;
        low = 0;
        whole = 31;
    }
#define FRONT_NORMALISE(cut)                            \
    if (high >> (32 - (cut)) == 0) {                    \
        high = high << (cut) | low >> (32 - (cut));     \
        low <<= (cut);                                  \
        whole = (uint8_t)(whole - (cut));               \
    }
    FRONT_NORMALISE(16)
    FRONT_NORMALISE(8)
    FRONT_NORMALISE(4)
    FRONT_NORMALISE(2)
    FRONT_NORMALISE(1)
#undef FRONT_NORMALISE
    at = (uint8_t)((high >> 26) & 31u);
    rest = (int32_t)((high >> 16) & 1023u);
    log = (int32_t)whole * 45426 + front_logs[at];
    log += round_shift((int32_t)(front_logs[at + 1] - front_logs[at]) * rest, 10);
    log = round_shift(log - offset, 8);
    return log < FRONT_FLOOR ? FRONT_FLOOR : (int16_t)log;
}

/* Filters and logarithms. */
FG_ALONE void front_filters(const uint32_t *power, int16_t *row)
{
    uint64_t rising = 0;
    uint16_t i, width = 0;
    power += 2 * front_edges[0];
    for (i = 0; i <= FRONT_FILTERS; i++) {
        const uint16_t wide = (uint16_t)(front_edges[i + 1] - front_edges[i]);
        const uint32_t *const end = power + 2 * wide;
        uint64_t sum = 0, falling = 0;
        do {
            sum += (uint64_t)power[1] << 32 | power[0];
            falling += sum;
            power += 2;
        } while (power != end);
        if (i > 0) {
            row[i - 1] = front_count(front_times(rising, wide) + front_times(falling, width), front_offsets[i - 1]);
        }
        rising = front_times(sum, wide) - falling;
        width = wide;
    }
}

/* Transforms the numbers that front_load wrote. */
static void front_transform(int32_t *z)
{
    const fg_turn *turn = front_turns;
    uint16_t q = FRONT_FIRST, blocks = FRONT_POINTS / (4 * FRONT_FIRST), at, k, leg;
#if FRONT_FIRST == 2
    for (at = 0; at < FRONT_FFT; at = (uint16_t)(at + 4)) {
        int32_t *const p = z + at;
        const int32_t re = p[2], im = p[3];
        p[2] = p[0] - re;
        p[3] = p[1] - im;
        p[0] += re;
        p[1] += im;
    }
#endif
    /* The first stages have many blocks of few numbers, so one twiddle factor is used for all blocks. */
    for (; q <= 4; q = (uint16_t)(4 * q), blocks >>= 2) {
        const uint16_t block = (uint16_t)(8 * q);
        for (leg = 1; leg < 4; leg++) {
            for (k = 1; k < q; k++) {
                front_turn(z + 2 * (leg * q + k), block, turn++, 0, blocks);
            }
        }
        for (k = 0; k < q; k++) {
            front_fours(z + 2 * k, (uint16_t)(2 * q), block, blocks);
        }
    }
    for (; q < FRONT_POINTS; q = (uint16_t)(4 * q)) {
        for (at = 0; at < FRONT_FFT; at = (uint16_t)(at + 8 * q)) {
            const fg_turn *t = turn;
            for (leg = 1; leg < 4; leg++, t += q - 1) {
                front_turn(z + at + 2 * leg * q + 2, 2, t, 1, (uint16_t)(q - 1));
            }
            front_fours(z + at, (uint16_t)(2 * q), 2, q);
        }
        turn += 3 * (q - 1);
    }
    front_apart(z);
    front_turn(z + FRONT_POINTS + 2, 2, turn, 1, FRONT_POINTS / 2 - 1);
}
