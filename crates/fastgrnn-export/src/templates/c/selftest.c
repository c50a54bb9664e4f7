/* The self-test of @name@; see @name@_selftest.h. Generated; do not edit. */
#include "@name@_selftest.h"
#include "@name@_golden.h"
#include "@name@_text.h"

#define FEATURES @NAME@_FEATURES
#define OUTPUTS @NAME@_OUTPUTS
#define WINDOWS @NAME@_GOLDEN_WINDOWS

#if defined(__AVR__)
#define WORD(p) pgm_read_word(p)
#define LONG(p) pgm_read_dword(p)
#define BYTE(p) pgm_read_byte(p)
#else
#define WORD(p) (*(p))
#define LONG(p) (*(p))
#define BYTE(p) (*(p))
#endif

/* Keeps compilers from replacing a loop with a call of memset or memcpy, which a board may not have. */
#if defined(__GNUC__)
#define FENCE() __asm__ volatile("" ::: "memory")
#else
#define FENCE() ((void)0)
#endif

/* FNV-1a. */
static void add_to_hash(uint32_t *hash, int32_t score)
{
    uint32_t rest = (uint32_t)score;
    uint8_t i;
    for (i = 0; i < 4; i++) {
        *hash = (*hash ^ (rest & 255)) * 16777619UL;
        rest >>= 8;
    }
}

static uint16_t steps_of(uint16_t window)
{
    return WORD(&@name@_golden_steps[window]);
}

void @name@_golden_frame(uint16_t window, uint16_t step, int16_t *counts)
{
    const int16_t *at = @name@_golden_counts;
    uint16_t w, d;
    for (w = 0; w < window; w++)
        at += steps_of(w) * (uint16_t)FEATURES;
    at += step * (uint16_t)FEATURES;
    for (d = 0; d < FEATURES; d++) {
        counts[d] = (int16_t)WORD(&at[d]);
        FENCE();
    }
}

/* Makes one step of a golden window and computes the new scores. */
static void step(@name@_state *state, uint16_t window, uint16_t at, int32_t *scores)
{
    int16_t counts[FEATURES];
    @name@_golden_frame(window, at, counts);
    @name@_step(state, counts);
    (void)@name@_classify(state, scores, 0);
}

static uint8_t differs(int32_t a, int32_t b)
{
    uint32_t distance = a > b ? (uint32_t)a - (uint32_t)b : (uint32_t)b - (uint32_t)a;
    return distance > @NAME@_GOLDEN_TOLERANCE;
}

/* Counts the differences between the results of a state and those of a golden window. */
static uint16_t compare(const @name@_state *state, uint16_t window)
{
    int32_t scores[OUTPUTS];
    uint8_t confidence;
    uint16_t k, wrong = 0;
    uint16_t found = @name@_classify(state, scores, &confidence);
    uint16_t expected = WORD(&@name@_golden_classes[window]);
    for (k = 0; k < OUTPUTS; k++)
        wrong = (uint16_t)(wrong + differs(scores[k], (int32_t)LONG(&@name@_golden_scores[window * OUTPUTS + k])));
    if (found != expected && !(@NAME@_GOLDEN_TOLERANCE > 0 && expected == 65535U))
        wrong++;
    if (@NAME@_GOLDEN_TOLERANCE == 0 && confidence != BYTE(&@name@_golden_confidences[window]))
        wrong++;
    return wrong;
}

static void put_verdict(uint16_t wrong, void (*put)(char))
{
    if (wrong == 0) {
        @name@_put_text(@NAME@_TEXT("ok\r\n"), put);
    } else {
        @name@_put_number(wrong, put);
        @name@_put_text(@NAME@_TEXT(" wrong\r\n"), put);
    }
}

/* Fills a state with garbage, which must not matter, then initialises it. */
static void start(@name@_state *state)
{
    unsigned char *bytes = (unsigned char *)state;
    uint16_t i;
    for (i = 0; i < sizeof(@name@_state); i++) {
        bytes[i] = 0xA5;
        FENCE();
    }
    @name@_init(state);
}

/* Runs each window from a reset state and computes the hash of all scores. */
static uint16_t test_windows(@name@_state *state, void (*put)(char))
{
    int32_t scores[OUTPUTS];
    uint32_t hash = 2166136261UL;
    uint16_t w, t, k, wrong = 0;
    for (w = 0; w < WINDOWS; w++) {
        uint16_t own;
        @name@_reset(state);
        for (t = 0; t < steps_of(w); t++) {
            step(state, w, t, scores);
            for (k = 0; k < OUTPUTS; k++)
                add_to_hash(&hash, scores[k]);
        }
        own = compare(state, w);
        wrong = (uint16_t)(wrong + own);
        @name@_put_text(@NAME@_TEXT("window "), put);
        @name@_put_number((int32_t)w + 1, put);
        @name@_put_text(@NAME@_TEXT(": scores"), put);
        for (k = 0; k < OUTPUTS; k++) {
            put(' ');
            @name@_put_number(scores[k], put);
        }
        @name@_put_text(@NAME@_TEXT(": "), put);
        put_verdict(own, put);
    }
    @name@_put_text(@NAME@_TEXT("hash of all scores "), put);
    @name@_put_hex(hash, put);
    put(' ');
    if (@NAME@_GOLDEN_TOLERANCE > 0) {
        @name@_put_text(@NAME@_TEXT("(not compared)\r\n"), put);
        return wrong;
    }
    k = hash != @NAME@_GOLDEN_HASH;
    put_verdict(k, put);
    return (uint16_t)(wrong + k);
}

/* Runs two recordings at once: a network must remember nothing outside its state. */
static uint16_t test_side_by_side(@name@_state *one, @name@_state *other)
{
    int32_t scores[OUTPUTS];
    uint16_t last = WINDOWS - 1, t;
    @name@_init(one);
    @name@_init(other);
    for (t = 0; t < steps_of(0) || t < steps_of(last); t++) {
        if (t < steps_of(0))
            step(one, 0, t, scores);
        if (t < steps_of(last))
            step(other, last, t, scores);
    }
    return (uint16_t)(compare(one, 0) + compare(other, last));
}

/* Checks that a used state behaves like a new one after a reset. */
static uint16_t test_reset(@name@_state *state)
{
    int32_t scores[OUTPUTS];
    uint16_t t;
    @name@_reset(state);
    for (t = 0; t < steps_of(0); t++)
        step(state, 0, t, scores);
    return compare(state, 0);
}

@text_test@uint16_t @name@_selftest(void (*put)(char))
{
    @name@_state one, other;
    uint16_t wrong, own;
    start(&one);
    start(&other);
    @name@_put_text(@NAME@_TEXT("self-test of @name@\r\n"), put);
    wrong = test_windows(&one, put);
    own = test_side_by_side(&one, &other);
    wrong = (uint16_t)(wrong + own);
    @name@_put_text(@NAME@_TEXT("two states side by side: "), put);
    put_verdict(own, put);
    own = test_reset(&other);
    wrong = (uint16_t)(wrong + own);
    @name@_put_text(@NAME@_TEXT("reset: "), put);
    put_verdict(own, put);
@run_text_test@    @name@_put_text(wrong == 0 ? @NAME@_TEXT("PASS\r\n") : @NAME@_TEXT("FAIL\r\n"), put);
    return wrong;
}
