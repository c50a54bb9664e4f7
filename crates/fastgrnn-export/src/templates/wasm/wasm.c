/* The functions that JavaScript calls: one network with its frame and its scores at fixed addresses.
 * Generated. */
#include "@name@.h"

static @name@_state state;
static int16_t frame[@NAME@_FEATURES];
static int32_t results[@NAME@_OUTPUTS];
static uint8_t sure;

int16_t *counts(void);
int32_t *scores(void);
uint8_t confidence(void);
void init(void);
uint8_t step(void);
uint16_t classify(void);

int16_t *counts(void)
{
    return frame;
}

int32_t *scores(void)
{
    return results;
}

uint8_t confidence(void)
{
    return sure;
}

void init(void)
{
    @name@_init(&state);
}

uint8_t step(void)
{
#ifdef @NAME@_STRIDE
    return @name@_step(&state, frame);
#else
    @name@_step(&state, frame);
    return 1;
#endif
}

uint16_t classify(void)
{
    return @name@_classify(&state, results, &sure);
}
