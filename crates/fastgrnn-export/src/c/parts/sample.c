/* Whether token a comes before token b: it has a larger score, or the same one and a lower number. */
static uint8_t comes_before(const int32_t *scores, uint16_t a, uint16_t b)
{
    return (uint8_t)(scores[a] > scores[b] || (scores[a] == scores[b] && a < b));
}

/* The first token after `last`, or the first of all if that is 0. Token 0 is not among them: it stands for
   unknown tokens, and as a result it means that there is none. */
static uint16_t next_best(const int32_t *scores, uint16_t last)
{
    uint16_t k, best = 0;
    for (k = 1; k < @OUTPUTS@; k++) {
        if ((last == 0 || comes_before(scores, last, k)) && (best == 0 || comes_before(scores, k, best))) {
            best = k;
        }
    }
    return best;
}

/* How probable a token is, 32768 for the best one; 0 for a token after `last`, unless that is 0. */
static uint32_t weight(uint16_t sharpness, const int32_t *scores, uint16_t best, uint16_t last, uint16_t token)
{
    uint32_t d = (uint32_t)scores[best] - (uint32_t)scores[token];
    if (last != 0 && comes_before(scores, last, token)) {
        return 0;
    }
    @WIDE_SCALE@
    if (d > 524287u) {
        d = 524287u;
    }
    return exponential((d * sharpness + 128u) >> 8);
}

/* The upper half of a product of 64 bits. */
static uint32_t high_product(uint32_t a, uint32_t b)
{
    const uint32_t ah = a >> 16, al = a & 65535u, bh = b >> 16, bl = b & 65535u;
    const uint32_t left = ah * bl, right = al * bh;
    const uint32_t middle = (left & 65535u) + (right & 65535u) + ((al * bl) >> 16);
    return ah * bh + (left >> 16) + (right >> 16) + (middle >> 16);
}

void @NAME@_sampler_init(@NAME@_sampler *sampler, uint32_t seed, uint16_t sharpness, uint16_t most)
{
    sampler->random = seed;
    sampler->sharpness = (uint16_t)(sharpness == 0 ? 0 : sharpness < 16 ? 16 : sharpness > 4096 ? 4096 : sharpness);
    sampler->most = most;
}

uint16_t @NAME@_sample(@NAME@_sampler *sampler, const int32_t *scores)
{
    const uint16_t best = next_best(scores, 0);
    uint16_t k, last = 0;
    uint32_t a, sum = 0;
    if (best == 0 || sampler->sharpness == 0) {
        return best;
    }
    if (sampler->most != 0 && sampler->most < @OUTPUTS@ - 1) {
        last = best;
        for (k = 1; k < sampler->most; k++) {
            last = next_best(scores, last);
        }
    }
    for (k = 1; k < @OUTPUTS@; k++) {
        sum += weight(sampler->sharpness, scores, best, last, k);
    }
    sampler->random += 0x9E3779B9u;
    a = sampler->random;
    a = (a ^ (a >> 16)) * 0x7FEB352Du;
    a = (a ^ (a >> 15)) * 0x846CA68Bu;
    a = high_product(a ^ (a >> 16), sum);
    sum = 0;
    for (k = 1; k < @OUTPUTS@; k++) {
        sum += weight(sampler->sharpness, scores, best, last, k);
        if (sum > a) {
            return k;
        }
    }
    return best;
}
