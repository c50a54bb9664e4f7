/* Writes text: generate [SEED [LENGTH [TEMPERATURE [MOST]]]], by default 0 200 1 0. The temperature is 0 or
 * between 0.0625 and 16; MOST is how many of the most probable tokens may be drawn, 0 for all. This program is
 * for a computer; on a board, call the same functions. */
#include "@name@.h"
#include "@name@_text.h"
#include <stdio.h>
#include <stdlib.h>

static void put(char c)
{
    putchar(c);
}

int main(int count, char **arguments)
{
    static @name@_state state;
    static int32_t scores[@NAME@_OUTPUTS];
    @name@_sampler sampler;
    unsigned long seed = count > 1 ? strtoul(arguments[1], 0, 10) : 0;
    long length = count > 2 ? strtol(arguments[2], 0, 10) : 200;
    double temperature = count > 3 ? strtod(arguments[3], 0) : 1;
    long most = count > 4 ? strtol(arguments[4], 0, 10) : 0;
    int16_t token = @NAME@_END_OF_LINE;
    int apart = 0;
    if (length < 0 || most < 0 || most > 65535 || !(temperature == 0 || (temperature >= 0.0625 && temperature <= 16))) {
        fprintf(stderr, "usage: generate [SEED [LENGTH [TEMPERATURE [MOST]]]]\n");
        return 2;
    }
    @name@_init(&state);
    @name@_sampler_init(&sampler, (uint32_t)seed, (uint16_t)(temperature == 0 ? 0 : 256 / temperature + 0.5), (uint16_t)most);
    @name@_step(&state, &token);
    for (; length > 0; length--) {
        uint16_t next;
        (void)@name@_classify(&state, scores, 0);
        next = @name@_sample(&sampler, scores);
        if (next == @NAME@_END_OF_LINE) {
            put('\n');
            apart = 0;
        } else {
            if (apart)
                put(' ');
            @name@_put_label(next, put);
            apart = @apart@;
        }
        token = (int16_t)next;
        @name@_step(&state, &token);
    }
    put('\n');
    return 0;
}
