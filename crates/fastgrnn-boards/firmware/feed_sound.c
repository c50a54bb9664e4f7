/* As feed.c, but the file `windows` holds sound: for each recording its number of samples (32 bits),
   then the samples, 16 bits each. What is counted as a step is a call of push that completes a
   frame: front end and network. */
#include "host.h"
#include "marks.h"
#include "stack.h"

#define PAINT 0xA5A5A5A5u
#define PAINTED_WINDOWS 1

static model_audio audio;
static int16_t pcm[MODEL_HOP];
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

ALONE static void reset(model_audio *a)
{
    uintptr_t top = paint();
    MARK(mark_reset_on);
    model_audio_reset(a);
    MARK(mark_reset_off);
    look(top);
}

ALONE static const int16_t *push(model_audio *a, const int16_t *samples, const int16_t *end)
{
    const int16_t *at;
    uintptr_t top = paint();
    MARK(mark_step_on);
    at = model_push(a, samples, end);
    MARK(mark_step_off);
    look(top);
    return at;
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

/* Adds the state to the hash: no frame in between goes unseen. */
ALONE static void trace(void)
{
    const uint8_t *at = (const uint8_t *)&audio.state;
    uint32_t i;
    for (i = 0; i < sizeof audio.state; i++)
        result.states = (result.states ^ at[i]) * 16777619u;
}

int main(void)
{
    uint32_t left;
    host_open();
    model_audio_init(&audio);
    while (host_read(&left, sizeof left) == sizeof left) {
        reset(&audio);
        result.states = 2166136261u;
        while (left > 0) {
            uint32_t n = left < MODEL_HOP ? left : MODEL_HOP;
            const int16_t *at = pcm, *end = pcm + n;
            if (host_read(pcm, n * sizeof *pcm) != n * sizeof *pcm)
                host_exit(2);
            left -= n;
            while (at != 0 && at != end) {
                at = push(&audio, at, end);
                if (at != 0)
                    trace();
            }
        }
        result.decided = classify(&audio.state, result.scores, &result.confidence);
        host_write(&result, sizeof result);
        if (painted_left)
            painted_left--;
    }
    host_write(&deepest, sizeof deepest);
    host_exit(0);
    return 0;
}
