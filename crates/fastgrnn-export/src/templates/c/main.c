/* Classifies recordings from standard input. A line is a frame of @NAME@_FEATURES counts; an empty line
 * ends a recording. This program is for a computer; on a board, call the same functions in its loop. */
#include "@name@.h"
#include "@name@_text.h"
#include <stdio.h>
#include <stdlib.h>

static void put(char c)
{
    if (c != '\r')
        putchar(c);
}

/* Reads the counts of a line. Returns their number, or -1 if the line holds anything else. */
static int read_frame(char *line, int16_t *counts)
{
    char *at = line, *end;
    int n = 0;
    for (;;) {
        long value = strtol(at, &end, 10);
        if (end == at)
            break;
        if (n == @NAME@_FEATURES || value < -32768 || value > 32767)
            return -1;
        counts[n++] = (int16_t)value;
        at = end;
        while (*at == ' ' || *at == ',' || *at == '\t')
            at++;
    }
    return *at == 0 || *at == '\n' || *at == '\r' ? n : -1;
}

static void report(const @name@_state *state)
{
    int32_t scores[@NAME@_OUTPUTS];
    uint8_t confidence;
    uint16_t winner = @name@_classify(state, scores, &confidence);
    @name@_put_result(winner, scores, confidence, put);
}

int main(void)
{
    static char line[16 * @NAME@_FEATURES + 64];
    static @name@_state state;
    int16_t counts[@NAME@_FEATURES];
    unsigned long number = 0, steps = 0;
    @name@_init(&state);
    while (fgets(line, sizeof line, stdin)) {
        int n = read_frame(line, counts);
        number++;
        if (n == 0 && steps > 0) {
            report(&state);
            @name@_reset(&state);
            steps = 0;
        } else if (n == @NAME@_FEATURES) {
            @name@_step(&state, counts);
            steps++;
        } else if (n != 0) {
            fprintf(stderr, "line %lu: not %d counts between -32768 and 32767\n", number, @NAME@_FEATURES);
            return 1;
        }
    }
    if (steps > 0)
        report(&state);
    return 0;
}
