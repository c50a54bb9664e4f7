/* Reads frames of counts from standard input. Writes, after each, what was heard, its confidence, the
   detector's sums and the network's state. */
#include "model.h"
#include <stdio.h>

int main(void)
{
    model_state state;
    model_detector detector;
    int16_t counts[MODEL_FEATURES];
    model_init(&state);
    model_detector_init(&detector);
    while (fread(counts, sizeof counts, 1, stdin) == 1) {
        uint16_t confidence = 0;
        int32_t heard = model_listen(&state, &detector, counts, &confidence);
        fwrite(&heard, sizeof heard, 1, stdout);
        fwrite(&confidence, sizeof confidence, 1, stdout);
        fwrite(detector.sums, sizeof detector.sums, 1, stdout);
        fwrite(&state, sizeof state, 1, stdout);
    }
    return model_listen(&state, &detector, counts, 0) >= MODEL_OUTPUTS + 2;
}
