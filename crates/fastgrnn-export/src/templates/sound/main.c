/* Reads sound from standard input: mono samples of 16 bits, little-endian, @NAME@_RATE per second,
 * without a header. This program is for a computer; on a board, the microphone's driver gives samples. */
#include "@name@.h"
#include "@name@_text.h"
#include <stdio.h>
#include <string.h>

#define PIECE 256 /* samples that are read at once */

static @name@_audio audio;
static unsigned long taken; /* samples so far */

/* Starts a line with the time in the sound. */
static void put(char c)
{
    static int within;
    if (c == '\r')
        return;
    if (!within)
        printf("%.2f s: ", (double)taken / @NAME@_RATE);
    within = c != '\n';
    putchar(c);
}

@hear@
int main(void)
{
    static unsigned char bytes[2 * PIECE];
    static int16_t pcm[PIECE];
    size_t n, i;
    @name@_audio_init(&audio);
    while ((n = fread(bytes, 2, PIECE, stdin)) > 0) {
        const unsigned long before = taken;
        const int16_t *at = pcm;
        if (before == 0 && n > 1 && memcmp(bytes, "RIFF", 4) == 0) {
            fprintf(stderr, "this is a WAV file; samples without its header are needed: tail -c +45 FILE\n");
            return 1;
        }
        for (i = 0; i < n; i++) {
            const long value = bytes[2 * i] | (long)bytes[2 * i + 1] << 8;
            pcm[i] = (int16_t)(value < 32768 ? value : value - 65536);
        }
        while ((at = @name@_push(&audio, at, pcm + n)) != 0) {
            taken = before + (unsigned long)(at - pcm);
            hear();
        }
        taken = before + (unsigned long)n;
    }
    if (@name@_finish(&audio))
        hear();
@at_end@    return 0;
}
