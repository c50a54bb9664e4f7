/* The application whose size is reported for a model with an audio front end: the front end, the
   network, a hop of samples and the results. */
#include "model.h"

model_audio audio;
int16_t pcm[MODEL_HOP];
int32_t scores[MODEL_OUTPUTS];
uint8_t confidence;
volatile uint16_t decided;

int main(void)
{
    model_audio_init(&audio);
    for (;;) {
        const int16_t *at = pcm;
        while ((at = model_push(&audio, at, pcm + MODEL_HOP)) != 0)
            decided = model_classify(&audio.state, scores, &confidence);
    }
}
