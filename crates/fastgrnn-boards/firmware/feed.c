/* Runs the model on the windows in the host's file `windows` and writes every result to
   `results`.
   windows: for each window its number of frames (32 bits), then the frames, 16 bits a count.
   results: for each window the scores (32 bits), the class (16), the confidence (8), a zero and a
   hash of the states after every frame (32 bits: FNV-1a); after the last window the deepest stack of any call (32 bits).
   All numbers are little-endian, as are all processors that this runs on. */
#include "marks.h"

static model_state state;
static int16_t frame[MODEL_FEATURES];

#define STATE state
#define RESET_TYPE model_state
#define RESET model_reset
#define PAINTED_WINDOWS 2
#include "feed.h"

ALONE static void init(model_state *s)
{
    uintptr_t top = paint();
    model_init(s);
    look(top);
}

ALONE static void step(model_state *s, const int16_t *counts)
{
    uintptr_t top = paint();
    MARK(mark_step_on);
    model_step(s, counts);
    MARK(mark_step_off);
    look(top);
}

int main(void)
{
    uint32_t frames;
    host_open();
    init(&state);
    while (host_read(&frames, sizeof frames) == sizeof frames) {
        reset(&state);
        result.states = FIRST_HASH;
        for (; frames > 0; frames--) {
            if (host_read(frame, sizeof frame) != sizeof frame)
                host_exit(2);
            step(&state, frame);
            trace();
        }
        result.decided = classify(&state, result.scores, &result.confidence);
        host_write(&result, sizeof result);
        if (painted_left)
            painted_left--;
    }
    host_write(&deepest, sizeof deepest);
    host_exit(0);
    return 0;
}
