/* Runs the model in simavr. At the label `mark_feed` the harness writes a command and, with STEP, a
   frame to RAM; after a classification it reads the results from RAM. */
#include "marks.h"

enum { RESET = 1, STEP = 2, CLASSIFY = 3 };

model_state state;
int16_t frame[MODEL_FEATURES];
int32_t scores[MODEL_OUTPUTS];
uint8_t confidence;
uint16_t decided;
volatile uint8_t command;

ALONE static void feed(void)
{
    MARK(mark_feed);
}

ALONE static void init(model_state *s)
{
    MARK(mark_init_on);
    model_init(s);
    MARK(mark_init_off);
}

ALONE static void reset(model_state *s)
{
    MARK(mark_reset_on);
    model_reset(s);
    MARK(mark_reset_off);
}

ALONE static void step(model_state *s, const int16_t *counts)
{
    MARK(mark_step_on);
    model_step(s, counts);
    MARK(mark_step_off);
}

ALONE static uint16_t classify(const model_state *s, int32_t *to, uint8_t *sure)
{
    uint16_t class;
    MARK(mark_classify_on);
    class = model_classify(s, to, sure);
    MARK(mark_classify_off);
    return class;
}

int main(void)
{
    init(&state);
    for (;;) {
        feed();
        if (command == RESET)
            reset(&state);
        else if (command == STEP)
            step(&state, frame);
        else if (command == CLASSIFY)
            decided = classify(&state, scores, &confidence);
    }
}
