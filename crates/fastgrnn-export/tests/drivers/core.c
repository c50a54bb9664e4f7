/* Reads frames from standard input, writes state, scores, class and confidence after each. */
#include "model.h"
#include <stdio.h>

int main(void)
{
    static model_state state;
    int16_t counts[MODEL_FEATURES];
    int32_t scores[MODEL_OUTPUTS];
    model_init(&state);
    while (fread(counts, sizeof counts, 1, stdin) == 1) {
        uint8_t confidence;
        uint16_t best;
        model_step(&state, counts);
        best = model_classify(&state, scores, &confidence);
        fwrite(&state, sizeof state, 1, stdout);
        fwrite(scores, sizeof scores, 1, stdout);
        fwrite(&best, sizeof best, 1, stdout);
        fwrite(&confidence, 1, 1, stdout);
    }
    return 0;
}
