// Keyed random numbers: the streams of fastgrnn_core::rng, to the bit in their integers.
#pragma once

#include "common.cuh"

// The first keys of the streams that kernels draw from.
#define STREAM_AUGMENT 4
#define STREAM_MIXUP 11

// A stream of random numbers (xoshiro256++).
struct alignas(16) Rng {
    uint64_t a, b, c, d;
};

DEVICE uint64_t splitmix(uint64_t *x) {
    *x += 0x9E3779B97F4A7C15ull;
    uint64_t z = *x;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

// A key begins with the seed, is extended by one number after the other, and then gives a stream.
DEVICE uint64_t key_of_seed(uint64_t seed) { return splitmix(&seed); }

DEVICE uint64_t extend_key(uint64_t key, uint64_t number) {
    uint64_t x = key ^ number * 0xD1B54A32D192ED03ull;
    return splitmix(&x);
}

DEVICE Rng stream_of_key(uint64_t key) {
    Rng rng;
    rng.a = splitmix(&key);
    rng.b = splitmix(&key);
    rng.c = splitmix(&key);
    rng.d = splitmix(&key);
    return rng;
}

DEVICE uint64_t rotate_left(uint64_t value, int by) { return value << by | value >> (64 - by); }

// Goes to the next draw without making this one.
DEVICE void skip_draw(Rng *rng) {
    uint64_t t = rng->b << 17;
    rng->c ^= rng->a;
    rng->d ^= rng->b;
    rng->b ^= rng->c;
    rng->a ^= rng->d;
    rng->c ^= t;
    rng->d = rotate_left(rng->d, 45);
}

// 64 uniform bits.
DEVICE uint64_t draw(Rng *rng) {
    uint64_t out = rotate_left(rng->a + rng->d, 23) + rng->a;
    skip_draw(rng);
    return out;
}

// Uniform in [0, 1), from 64 uniform bits.
DEVICE double uniform_of(uint64_t bits) { return double(bits >> 11) * (1.0 / 9007199254740992.0); }

DEVICE double uniform(Rng *rng) { return uniform_of(draw(rng)); }

// A uniform number below `n`, which is at least 1.
DEVICE uint32_t below(uint32_t n, Rng *rng) {
    uint64_t bits = draw(rng);
    return uint32_t(((bits >> 32) * n + ((bits & 0xffffffffu) * n >> 32)) >> 32);
}

// The sine and the cosine of an angle in turns.
DEVICE void sine_and_cosine(double turns, double *sine, double *cosine) {
#ifdef FASTGRNN_EMULATED
    *sine = sin(6.283185307179586 * turns);
    *cosine = cos(6.283185307179586 * turns);
#else
    sincospi(2.0 * turns, sine, cosine);
#endif
}

// Two independent standard normal values, from two draws (Box-Muller).
DEVICE void normal_pair_of(uint64_t radius_bits, uint64_t angle_bits, double *first, double *second) {
    double radius = sqrt(-2.0 * log(1.0 - uniform_of(radius_bits)));
    double sine, cosine;
    sine_and_cosine(uniform_of(angle_bits), &sine, &cosine);
    *first = radius * cosine;
    *second = radius * sine;
}

DEVICE void normal_pair(Rng *rng, double *first, double *second) {
    uint64_t radius_bits = draw(rng), angle_bits = draw(rng);
    normal_pair_of(radius_bits, angle_bits, first, second);
}

// A standard normal value: the first of a pair.
DEVICE double normal(Rng *rng) {
    double first, second;
    normal_pair(rng, &first, &second);
    return first;
}
