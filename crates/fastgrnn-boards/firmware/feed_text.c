/* Like feed.c, but the model writes texts. windows: for each text the seed of the random numbers (32 bits),
   sharpness and most (16 bits each), the number of tokens to read (32 bits, at least 1), then these tokens, 16 bits
   each. results: as in feed.c, with the first MODEL_OUTPUTS tokens that are drawn in the place of the scores. A step
   that is counted reads a token and draws the next one. */
#include "marks.h"

static model_state state;
static model_sampler sampler;
static int32_t scores[MODEL_OUTPUTS];

#define STATE state
#define RESET_TYPE model_state
#define RESET model_reset
#define PAINTED_WINDOWS 1
#include "feed.h"

ALONE static uint16_t draw(model_state *s, const int16_t *token)
{
    uint16_t drawn;
    uintptr_t top = paint();
    MARK(mark_step_on);
    model_step(s, token);
    (void)model_classify(s, scores, 0);
    drawn = model_sample(&sampler, scores);
    MARK(mark_step_off);
    look(top);
    return drawn;
}

int main(void)
{
    struct {
        uint32_t seed;
        uint16_t sharpness;
        uint16_t most;
        uint32_t tokens;
    } text;
    int16_t token;
    uint32_t k;
    host_open();
    model_init(&state);
    while (host_read(&text, sizeof text) == sizeof text) {
        reset(&state);
        model_sampler_init(&sampler, text.seed, text.sharpness, text.most);
        result.states = FIRST_HASH;
        for (; text.tokens > 0; text.tokens--) {
            if (host_read(&token, sizeof token) != sizeof token)
                host_exit(2);
            if (text.tokens > 1) {
                model_step(&state, &token);
                trace();
            }
        }
        for (k = 0; k < MODEL_OUTPUTS; k++) {
            token = (int16_t)draw(&state, &token);
            trace();
            result.scores[k] = (uint16_t)token;
        }
        result.decided = classify(&state, scores, &result.confidence);
        host_write(&result, sizeof result);
        if (painted_left)
            painted_left--;
    }
    host_write(&deepest, sizeof deepest);
    host_exit(0);
    return 0;
}
