/* Runs the model on the windows that the host's file `windows` holds and writes every result to
   `results`.
   windows: for each window its number of frames (32 bits), then the frames, 16 bits a count.
   results: for each window the scores (32 bits), the class (16), the confidence (8), a zero and a
   hash of the states after every frame (32 bits: FNV-1a); after the last window the deepest stack of any call (32 bits).
   All numbers are little-endian, as are all processors that this runs on. */
#include "host.h"
#include "marks.h"
#include "stack.h"

#define PAINT 0xA5A5A5A5u
#define PAINTED_WINDOWS 2

static model_state state;
static int16_t frame[MODEL_FEATURES];
static struct {
    int32_t scores[MODEL_OUTPUTS];
    uint16_t decided;
    uint8_t confidence;
    uint8_t zero;
    uint32_t states;
} result;
static uint32_t deepest;
static uint32_t painted_left = PAINTED_WINDOWS;

/* Paints what lies below the stack pointer, whose value it returns. */
INLINED uintptr_t paint(void)
{
    uintptr_t top = stack_pointer();
    volatile uint32_t *at = (volatile uint32_t *)stack_limit(top);
    if (painted_left) {
        for (; (uintptr_t)at < top; at++)
            *at = PAINT;
    }
    return top;
}

INLINED void look(uintptr_t top)
{
    volatile uint32_t *at = (volatile uint32_t *)stack_limit(top);
    if (painted_left) {
        while ((uintptr_t)at < top && *at == PAINT)
            at++;
        if (top - (uintptr_t)at > deepest)
            deepest = (uint32_t)(top - (uintptr_t)at);
    }
}

ALONE static void init(model_state *s)
{
    uintptr_t top = paint();
    model_init(s);
    look(top);
}

ALONE static void reset(model_state *s)
{
    uintptr_t top = paint();
    MARK(mark_reset_on);
    model_reset(s);
    MARK(mark_reset_off);
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

ALONE static uint16_t classify(const model_state *s, int32_t *scores, uint8_t *confidence)
{
    uint16_t decided;
    uintptr_t top = paint();
    MARK(mark_classify_on);
    decided = model_classify(s, scores, confidence);
    MARK(mark_classify_off);
    look(top);
    return decided;
}

/* Adds the state to the hash: no step in between goes unseen. */
ALONE static void trace(void)
{
    const uint8_t *at = (const uint8_t *)&state;
    uint32_t i;
    for (i = 0; i < sizeof state; i++)
        result.states = (result.states ^ at[i]) * 16777619u;
}

int main(void)
{
    uint32_t frames;
    host_open();
    init(&state);
    while (host_read(&frames, sizeof frames) == sizeof frames) {
        reset(&state);
        result.states = 2166136261u;
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
