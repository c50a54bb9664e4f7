/* Reads pieces of sound from standard input, each after its length; a length of 65535 ends a recording.
   Writes row, state, scores and class after each frame. */
#include "model.h"
#include <stdio.h>

static model_audio audio;

static void report(void)
{
    int32_t scores[MODEL_OUTPUTS];
    uint8_t confidence;
    uint16_t best = model_classify(&audio.state, scores, &confidence);
    fwrite(audio.row, sizeof audio.row, 1, stdout);
    fwrite(&audio.state, sizeof audio.state, 1, stdout);
    fwrite(scores, sizeof scores, 1, stdout);
    fwrite(&best, sizeof best, 1, stdout);
}

int main(void)
{
    static int16_t pcm[65535];
    uint16_t n;
    model_audio_init(&audio);
    while (fread(&n, sizeof n, 1, stdin) == 1) {
        const int16_t *at = pcm;
        if (n == 65535) {
            if (model_finish(&audio)) {
                report();
            }
            model_audio_reset(&audio);
            continue;
        }
        if (fread(pcm, sizeof *pcm, n, stdin) != n) {
            return 1;
        }
        while ((at = model_push(&audio, at, pcm + n)) != 0) {
            report();
        }
    }
    return 0;
}
