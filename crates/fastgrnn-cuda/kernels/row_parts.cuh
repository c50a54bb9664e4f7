// What the kernels of rows (rows.cuh) are made of.
#pragma once

#include <string.h>

#include "layer.cuh"

// Time steps of a chunk, an even number. Block memory holds two chunks of what helpers and chain exchange.
#define ROW_CHUNK 8

// How the chain threads of a block divide the work.
template <int HIDDEN, int ROWS, int GROUP>
struct RowThreads {
    static constexpr int COLUMNS = HIDDEN / GROUP;
    static constexpr int CHAIN = (HIDDEN / ROWS * GROUP + LANES - 1) / LANES * LANES;
    static_assert(COLUMNS % 4 == 0 && HIDDEN % ROWS == 0 && GROUP % ROWS == 0, "a thread reads four numbers at a time");
};

DEVICE float4 four_at(const float *numbers) { return *reinterpret_cast<const float4 *>(numbers); }

// The sum over the first threads that differ in the lowest bits of their number.
template <int COUNT>
DEVICE float share_sum(float value) {
#pragma unroll
    for (int mask = 1; mask < COUNT; mask *= 2) value += shuffle_xor(value, mask);
    return value;
}

// The sum over a group of the sums of one of ROWS units: of the unit lane % ROWS.
template <int ROWS, int GROUP>
DEVICE float group_sum(const float *sums, int lane) {
    float left[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) left[r] = sums[r];
#pragma unroll
    for (int mask = 1; mask < ROWS; mask *= 2) {
        const bool is_odd = lane & mask;
#pragma unroll
        for (int j = 0; j < ROWS / 2 / mask; j++) {
            float kept = is_odd ? left[2 * j + 1] : left[2 * j], given = is_odd ? left[2 * j] : left[2 * j + 1];
            left[j] = kept + shuffle_xor(given, mask);
        }
    }
#pragma unroll
    for (int mask = ROWS; mask < GROUP; mask *= 2) left[0] += shuffle_xor(left[0], mask);
    return left[0];
}

// The products of ROWS rows, each in several sums, so that fewer additions wait for each other.
template <int ROWS>
struct RowSums {
    static constexpr int COUNT = ROWS == 4 ? 2 : 4;
    float sums[COUNT][ROWS] = {};

    __device__ __forceinline__ void add(int r, float4 a, float4 b) {
        sums[0][r] += a.x * b.x;
        sums[1][r] += a.y * b.y;
        sums[2 % COUNT][r] += a.z * b.z;
        sums[3 % COUNT][r] += a.w * b.w;
    }
    __device__ __forceinline__ void total(float *to) const {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            to[r] = sums[0][r] + sums[1][r];
            if (COUNT == 4) to[r] += sums[2 % COUNT][r] + sums[3 % COUNT][r];
        }
    }
};

// Adds the products of `old` with what a thread has of a vector.
template <int ROWS, int COLUMNS>
DEVICE void add_outer(float (*sums)[COLUMNS], const float *old, const float4 *v) {
#pragma unroll
    for (int j = 0; j < COLUMNS / 4; j++) {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            sums[r][4 * j] += old[r] * v[j].x;
            sums[r][4 * j + 1] += old[r] * v[j].y;
            sums[r][4 * j + 2] += old[r] * v[j].z;
            sums[r][4 * j + 3] += old[r] * v[j].w;
        }
    }
}

// ROWS neighbouring numbers.
template <int ROWS>
DEVICE void read_rows(Place from, float *to) {
    if constexpr (ROWS == 4) {
        float4 v = read_four_at(from);
        to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    } else {
#pragma unroll
        for (int r = 0; r < ROWS; r++) to[r] = read_at(from + 4 * r);
    }
}

// Waits for the chain warps.
template <int CHAIN>
DEVICE void chain_barrier() {
    if constexpr (CHAIN == LANES) warp_barrier();
    else named_barrier(1, CHAIN);
}

// Waits for all THREADS threads of the block.
template <int THREADS>
DEVICE void whole_barrier() {
    meeting_barrier(2, THREADS);
}

// Adds up the gradients of scalars that the threads of the chain warps have, in an order that is fixed, and writes them.
// All THREADS threads of the block take part. `scratch` holds SCALARS numbers for each chain warp.
template <int CHAIN, int THREADS>
DEVICE void write_scalars(const float *scalars, float *scratch, float *to) {
    const int thread = thread_number();
    if (thread < CHAIN) {
#pragma unroll
        for (int i = 0; i < SCALARS; i++) {
            const float sum = warp_sum(scalars[i]);
            if (thread % LANES == 0) scratch[thread / LANES * SCALARS + i] = sum;
        }
    }
    whole_barrier<THREADS>();
    if (thread < SCALARS) {
        float sum = 0.0f;
        for (int warp = 0; warp < CHAIN / LANES; warp++) sum += scratch[warp * SCALARS + thread];
        to[thread] = sum;
    }
}

DEVICE Curve kept_curve(const Curve &curve) {
    return {kept_in_register(curve.is_smooth), kept_in_register(curve.size),  kept_in_register(curve.exponent),
            kept_in_register(curve.factor),    kept_in_register(curve.shift), kept_in_register(curve.low),
            kept_in_register(curve.high),      curve.slope,                   curve.bend};
}

// Copies the numbers x of the steps of a chunk into rows of INPUT numbers, by HELPERS threads.
template <int INPUT, int HELPERS>
struct ChunkCopy {
    int input, member, row, column, row_step, column_step;

    DEVICE ChunkCopy begin(int input, int member) {
        return {input, member, member / input, member % input, HELPERS / input, HELPERS % input};
    }

    __device__ __forceinline__ void run(const float *x, int steps, float *rows) const {
        int r = row, c = column;
#pragma unroll 1
        for (int j = member; j < steps * input; j += HELPERS) {
            copy_ahead(rows + r * INPUT + c, x + j);
            c += column_step;
            r += row_step;
            if (c >= input) {
                c -= input;
                r++;
            }
        }
        commit_copies();
    }
};

// Sets the entries of `count` rows from the column `first` on to 0, by HELPERS threads.
template <int INPUT, int HELPERS>
DEVICE void clear_columns(float *rows, int count, int first, int member) {
    const int width = INPUT - first;
#pragma unroll 1
    for (int j = member; j < count * width; j += HELPERS) rows[j / width * INPUT + first + j % width] = 0.0f;
}

// The parameters where both curves are known to be smooth, so that the compiler leaves the rest out.
DEVICE UnitParameters smooth(UnitParameters p) {
    p.gate.is_smooth = p.update.is_smooth = 1;
    return p;
}

// Computes the factors of a unit in some steps, `stride` numbers apart, and writes them, the gradient from outside and the
// state before the step.
template <class Cell, int HIDDEN, int STEPS>
DEVICE void write_factors(const UnitParameters &p, const float (*values)[Cell::SAVED + 1], const float *outside, float *to,
                          int stride) {
    constexpr int FACTORS = sizeof(typename Cell::Factors) / 4;
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
        float numbers[FACTORS];
        const typename Cell::Factors factors = Cell::factors(p, values[step], values[step][Cell::SAVED]);
        memcpy(numbers, &factors, sizeof factors);
#pragma unroll
        for (int f = 0; f < FACTORS; f++) to[step * stride + f * HIDDEN] = numbers[f];
        to[step * stride + FACTORS * HIDDEN] = outside[step];
        to[step * stride + (FACTORS + 1) * HIDDEN] = values[step][Cell::SAVED];
    }
}
