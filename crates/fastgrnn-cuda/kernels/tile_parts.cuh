// What the kernels of tiles (tiles.cuh) are made of: rows of split numbers in block memory, products with them, and copies
// that run ahead of the steps.
#pragma once

#include "matrix.cuh"
#include "rows.cuh"

// Values that a thread owns: unit g of the sequences 2q and 2q + 1, then unit g + 8 of both.
#define OWN 4
// Steps of x that are under way to block memory or in it, forward; and those of x as split rows.
#define FEED_RING 8
#define X_RING 4
// Steps that are under way or in block memory, backward.
#define TILE_RING 8

// Rows of COLUMNS numbers, one for each sequence of a tile, split. No two rows share a bank.
template <int COLUMNS>
struct SplitTile {
    // In bytes: a row; the high or low parts of all rows; everything.
    static constexpr int ROW = 2 * COLUMNS + 16, PLANE = TILE * ROW, SIZE = 2 * PLANE;

    // Where a lane finds its row for read_matrices: four squares of 8 rows and 8 columns, high, high, low and low.
    DEVICE Place squares(Place start, int lane) {
        return start + lane / 16 * PLANE + lane % 8 * ROW + lane / 8 % 2 * 16;
    }

    // Where a thread of a chain warp writes the pair of its units: in the rows 2q and 2q + 1.
    DEVICE Place own_pair(Place start, int warp, int g, int q) { return start + 2 * q * ROW + (8 * warp + g) * 4; }

    // Writes what a thread owns.
    template <Format FORMAT>
    DEVICE void write_own(Place own, const float *values) {
        const SplitPair even = split<FORMAT>(values[0], values[2]), odd = split<FORMAT>(values[1], values[3]);
        write_word_at(own, even.high);
        write_word_at(own + PLANE, even.low);
        write_word_at(own + ROW, odd.high);
        write_word_at(own + ROW + PLANE, odd.low);
    }
};

// Sizes of a tile in numbers, and its threads.
template <class Cell, int HIDDEN, int INPUT>
struct TileShape {
    static constexpr int CHAIN = 2 * HIDDEN, FORWARD = CHAIN + LANES, BACKWARD = 2 * CHAIN;
    // A value of each chain thread.
    static constexpr int OF_CHAIN = CHAIN * OWN;
    // What the way back reads of a step: SAVED + 1 values of each chain thread, four at a time.
    static constexpr int KEPT = (Cell::SAVED + 1) * OF_CHAIN;
};

// The unit at a place of a row.
DEVICE int unit_at(int place) { return place / 16 * 16 + place % 16 / 2 + place % 2 * 8; }

// Rows of a matrix times columns in the order of a row, as fragments.
template <int TILES>
struct SplitRows {
    uint32_t high[TILES][4], low[TILES][4];
};

// Adds rows times a vector of each sequence, in SUMS sums, 1 or 3. `from` is that of SplitTile::squares.
template <Format FORMAT, int SUMS, int TILES>
DEVICE void add_split_product(float (&sums)[SUMS][OWN], const SplitRows<TILES> &rows, Place from) {
#pragma unroll
    for (int k = 0; k < TILES; k++) {
        const uint4 vectors = read_matrices(from + 32 * k);
        multiply_16<FORMAT>(sums[0], rows.high[k], vectors.x, vectors.y);
        multiply_16<FORMAT>(sums[1 % SUMS], rows.high[k], vectors.z, vectors.w);
        multiply_16<FORMAT>(sums[2 % SUMS], rows.low[k], vectors.x, vectors.y);
    }
}

// The sum of the sums.
template <int SUMS>
DEVICE float total_of(const float (&sums)[SUMS][OWN], int i) {
    if constexpr (SUMS == 3) return sums[0][i] + (sums[1][i] + sums[2][i]);
    else return sums[0][i];
}

// The most steps of the sequences of a tile.
DEVICE int most_steps(const int *lengths) {
    int most = 0;
    for (int s = 0; s < TILE; s++) most = max(most, lengths[s]);
    return most;
}

// Brings x into block memory, for the threads of some warps with the numbers 0 to THREADS - 1: step by step, forward or
// backward. A thread copies the two features of each of its pairs some steps ahead, up to RING - 1, and splits them when
// they have arrived.
template <int INPUT, int THREADS, int RING>
struct InputFeed {
    static constexpr int ITEMS = INPUT / 2 * TILE, EACH = (ITEMS + THREADS - 1) / THREADS, SLOT = EACH * 2 * THREADS * 4;
    // The own place in the ring, and the one in the first rows of split x.
    Place ring, row;
    int thread, input;
    // The next step to copy, and from it to the one that follows: 1 or -1.
    int step, direction;
    // Where the next step of each pair lies, its steps, and those of its second feature; none beyond the input.
    const float *from[EACH];
    int steps[EACH][2];

    DEVICE InputFeed begin(const LayerArguments &args, int network, int first, const int *lengths, Place ring, int thread,
                           int step, int direction) {
        const int input = args.places.input;
        InputFeed feed = {ring + thread * 4, Place(thread % TILE * SplitTile<INPUT>::ROW + thread / TILE * 4), thread, input,
                          step,              direction};
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const int item = thread + i * THREADS, sequence = item % TILE, feature = item / TILE * 2;
            feed.from[i] = args.x + (ptrdiff_t(first_step(args, network, first + sequence)) + step) * input + feature;
#pragma unroll
            for (int which = 0; which < 2; which++) {
                feed.steps[i][which] = item < ITEMS && feature + which < input ? lengths[sequence] : 0;
            }
        }
        return feed;
    }

    // Begins to copy the next step, as part of the open group of copies.
    __device__ __forceinline__ void copy() {
        const Place slot = ring + (step & (RING - 1)) * SLOT;
#pragma unroll
        for (int i = 0; i < EACH; i++) {
#pragma unroll
            for (int which = 0; which < 2; which++) {
                const bool is_there = unsigned(step) < unsigned(steps[i][which]);
                copy_ahead_if(is_there, slot + (2 * i + which) * THREADS * 4, from[i] + which);
            }
            from[i] += direction * input;
        }
        step += direction;
    }

    struct Numbers {
        float values[EACH][2];
    };

    // What a thread has copied of a step.
    __device__ __forceinline__ Numbers read(int step) const {
        const Place slot = ring + (step & (RING - 1)) * SLOT;
        Numbers numbers;
#pragma unroll
        for (int i = 0; i < 2 * EACH; i++) numbers.values[i / 2][i % 2] = read_at(slot + i * THREADS * 4);
        return numbers;
    }

    // Splits the numbers of a step into rows.
    template <Format FORMAT>
    __device__ __forceinline__ void store(const Numbers &numbers, Place to) const {
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            if (thread + i * THREADS < ITEMS) {
                const SplitPair pair = split<FORMAT>(numbers.values[i][0], numbers.values[i][1]);
                const Place place = to + row + i * THREADS / TILE * 4;
                write_word_at(place, pair.high);
                write_word_at(place + SplitTile<INPUT>::PLANE, pair.low);
            }
        }
    }
};

// The rule of the cell for the values of a thread.
template <class Cell>
DEVICE void tile_rule(const UnitParameters &first, const UnitParameters &second, const float (*pre)[OWN], const bool *is_on,
                      Memory *states, float (*saved)[OWN]) {
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        float own_pre[Cell::PRE], of_unit[Cell::SAVED];
        Memory next = states[i];
#pragma unroll
        for (int b = 0; b < Cell::PRE; b++) own_pre[b] = pre[b][i];
        Cell::forward(i / 2 ? second : first, own_pre, next, of_unit);
#pragma unroll
        for (int b = 0; b < Cell::SAVED; b++) saved[b][i] = of_unit[b];
        saved[Cell::SAVED][i] = states[i].h;
        states[i].h = is_on[i % 2] ? next.h : states[i].h;
        states[i].c = is_on[i % 2] ? next.c : states[i].c;
    }
}

// The factors of the way back for the values of a thread.
template <class Cell>
DEVICE void tile_factors(const UnitParameters &first, const UnitParameters &second, const float (*values)[OWN],
                         typename Cell::Factors *factors) {
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        float of_unit[Cell::SAVED];
#pragma unroll
        for (int b = 0; b < Cell::SAVED; b++) of_unit[b] = values[b][i];
        factors[i] = Cell::factors(i / 2 ? second : first, of_unit, values[Cell::SAVED][i]);
    }
}

// Values of a thread in block memory, `stride` bytes apart.
template <int COUNT>
DEVICE void read_own(Place from, int stride, float (*values)[OWN]) {
#pragma unroll
    for (int b = 0; b < COUNT; b++) {
        const float4 v = read_four_at(from + b * stride);
        values[b][0] = v.x, values[b][1] = v.y, values[b][2] = v.z, values[b][3] = v.w;
    }
}

// Copies what the way back reads of the steps to block memory, from the last one on, for the threads of the helper warps:
// each what the thread of the chain with the same number needs.
template <class Cell, int HIDDEN, int INPUT, bool IS_PLAIN>
struct TileCopy {
    using Shape = TileShape<Cell, HIDDEN, INPUT>;
    // The next step to copy, all steps, and what the way forward saved of the next one.
    int step, steps;
    const float *saved;
    // The gradients by the states of step 0 of the sequences 2q and 2q + 1; null if there are none.
    const float *each[2];
    int lengths[2];
    Place kept, outer;

    // Begins to copy the next step, the one with this number, as part of the open group of copies. There may be none.
    __device__ __forceinline__ void run(int number) {
        const int slot = number & (TILE_RING - 1);
        const Place to = kept + slot * Shape::KEPT * 4;
#pragma unroll
        for (int b = 0; b <= Cell::SAVED; b++) {
            copy_four_ahead_if(unsigned(step) < unsigned(steps), to + b * Shape::OF_CHAIN * 4, saved + b * Shape::OF_CHAIN);
        }
        if (!IS_PLAIN && each[0]) {
#pragma unroll
            for (int k = 0; k < OWN; k++) {
                const bool is_there = unsigned(step) < unsigned(lengths[k % 2]);
                const float *from = each[k % 2] + ptrdiff_t(step) * HIDDEN + k / 2 * 8;
                copy_ahead_if(is_there, outer + (slot * Shape::OF_CHAIN + k) * 4, from);
            }
        }
        saved -= Shape::KEPT;
        step--;
    }
};

// Gradients of W and U as fragments, of which a helper warp adds up the rows of 16 units.
template <class Cell, int HIDDEN, int INPUT>
struct TileGradients {
    float u[Cell::U_BLOCKS][HIDDEN / 8][OWN] = {}, w[Cell::W_BLOCKS][INPUT / 8][OWN] = {};

    // Adds the products of a step. The places are those of SplitTile::squares; `d` is that of the own 16 rows.
    template <Format FORMAT>
    __device__ __forceinline__ void add(Place d, Place h, Place x, int input) {
        uint4 rows[Cell::PRE];
#pragma unroll
        for (int b = 0; b < Cell::PRE; b++) rows[b] = read_matrices_turned(d + b * HIDDEN * 2);
#pragma unroll
        for (int k = 0; k < HIDDEN / 16; k++) {
            const uint4 v = read_matrices_turned(h + 32 * k);
#pragma unroll
            for (int b = 0; b < Cell::U_BLOCKS; b++) {
                add_squares<FORMAT>(u[b][2 * k], rows[Cell::u_place(b)], v.x, v.z);
                add_squares<FORMAT>(u[b][2 * k + 1], rows[Cell::u_place(b)], v.y, v.w);
            }
        }
#pragma unroll
        for (int k = 0; k < INPUT / 16; k++) {
            const uint4 v = read_matrices_turned(x + 32 * k);
#pragma unroll
            for (int b = 0; b < Cell::W_BLOCKS; b++) {
                add_squares<FORMAT>(w[b][2 * k], rows[b], v.x, v.z);
                if (16 * k + 8 < input) add_squares<FORMAT>(w[b][2 * k + 1], rows[b], v.y, v.w);
            }
        }
    }

    // Adds the product of 16 rows and 8 columns over the sequences.
    template <Format FORMAT>
    DEVICE void add_squares(float *sums, const uint4 &rows, uint32_t high, uint32_t low) {
        multiply_8<FORMAT>(sums, rows.x, rows.y, high);
        multiply_8<FORMAT>(sums, rows.x, rows.y, low);
        multiply_8<FORMAT>(sums, rows.z, rows.w, high);
    }

    // The entry i of a fragment is place g + 8 · (i / 2) of the own rows, and place 2q + i % 2 of the columns.
    __device__ __forceinline__ void write(const LayerPlaces &places, float *part, int warp, int g, int q) const {
        float *u_part = part + places.u - places.w;
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            const int unit = unit_at(16 * warp + g + i / 2 * 8);
#pragma unroll
            for (int b = 0; b < Cell::U_BLOCKS; b++) {
#pragma unroll
                for (int k = 0; k < HIDDEN / 8; k++) {
                    const int column = unit_at(8 * k + 2 * q + i % 2);
                    u_part[(column * Cell::U_BLOCKS + b) * HIDDEN + unit] = u[b][k][i];
                }
            }
#pragma unroll
            for (int b = 0; b < Cell::W_BLOCKS; b++) {
#pragma unroll
                for (int k = 0; k < INPUT / 8; k++) {
                    const int column = 8 * k + 2 * q + i % 2;
                    if (column < places.input) part[(column * Cell::W_BLOCKS + b) * HIDDEN + unit] = w[b][k][i];
                }
            }
        }
    }
};
