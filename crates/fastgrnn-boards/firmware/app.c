/* The application whose size is reported: the model, one frame, the state and the results. */
#include "model.h"

model_state state;
int16_t frame[MODEL_FEATURES];
int32_t scores[MODEL_OUTPUTS];
uint8_t confidence;
volatile uint16_t decided;

int main(void)
{
    model_init(&state);
    for (;;) {
        model_step(&state, frame);
        decided = model_classify(&state, scores, &confidence);
    }
}
