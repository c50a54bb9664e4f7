/* Like feed.c, but the file `windows` contains sound: for each recording the number of samples (32
   bits), then the samples, 16 bits each. Calls of push are counted as steps: front end and network. */
#include "marks.h"

static model_audio audio;
static int16_t pcm[MODEL_HOP];

#define STATE audio.state
#define RESET_TYPE model_audio
#define RESET model_audio_reset
#define PAINTED_WINDOWS 1
#include "feed.h"

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

int main(void)
{
    uint32_t left;
    host_open();
    model_audio_init(&audio);
    while (host_read(&left, sizeof left) == sizeof left) {
        reset(&audio);
        result.states = FIRST_HASH;
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
