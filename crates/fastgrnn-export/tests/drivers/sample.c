/* Reads draws from standard input: a seed, sharpness, most and the scores. Writes the token and the new state of
   the random numbers. */
#include "model.h"
#include <stdio.h>

int main(void)
{
    uint32_t seed;
    uint16_t how[2];
    int32_t scores[MODEL_OUTPUTS];
    while (fread(&seed, sizeof seed, 1, stdin) == 1) {
        model_sampler sampler;
        uint16_t token;
        if (fread(how, sizeof how, 1, stdin) != 1 || fread(scores, sizeof scores, 1, stdin) != 1)
            return 1;
        model_sampler_init(&sampler, seed, how[0], how[1]);
        token = model_sample(&sampler, scores);
        fwrite(&token, sizeof token, 1, stdout);
        fwrite(&sampler.random, sizeof sampler.random, 1, stdout);
    }
    return 0;
}
