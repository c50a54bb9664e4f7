/* The application whose size is reported for a language model that writes text. */
#include "model.h"

model_state state;
model_sampler sampler;
int32_t scores[MODEL_OUTPUTS];
volatile int16_t written;

int main(void)
{
    int16_t token = MODEL_END_OF_LINE;
    model_init(&state);
    model_sampler_init(&sampler, 1, 256, 0);
    for (;;) {
        model_step(&state, &token);
        (void)model_classify(&state, scores, 0);
        token = (int16_t)model_sample(&sampler, scores);
        written = token;
    }
}
