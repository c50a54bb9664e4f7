/* The code that feeding frames (feed.c), sound (feed_sound.c) and texts (feed_text.c) shares: the result
   of a window, the deepest stack of any call, the calls that reset and classify. The file that includes
   this one defines STATE, the network's state; RESET_TYPE and RESET, what is reset and the function that
   does it; and PAINTED_WINDOWS, the number of windows for which the stack is painted. */
#include "host.h"
#include "stack.h"

#define PAINT 0xA5A5A5A5u
#define FIRST_HASH 2166136261u

static struct {
    int32_t scores[MODEL_OUTPUTS];
    uint16_t decided;
    uint8_t confidence;
    uint8_t zero;
    uint32_t states;
} result;
static uint32_t deepest;
static uint32_t painted_left = PAINTED_WINDOWS;

/* Paints the memory below the stack pointer, whose value it returns. */
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

/* Finds how much of the painted memory was used. */
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

ALONE static void reset(RESET_TYPE *s)
{
    uintptr_t top = paint();
    MARK(mark_reset_on);
    RESET(s);
    MARK(mark_reset_off);
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

/* Adds the state to the hash, so that a difference in any step is seen. */
ALONE static void trace(void)
{
    const uint8_t *at = (const uint8_t *)&STATE;
    uint32_t i;
    for (i = 0; i < sizeof STATE; i++)
        result.states = (result.states ^ at[i]) * 16777619u;
}
