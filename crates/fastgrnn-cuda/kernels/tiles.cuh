// A layer forward and backward through time for many sequences: a block owns TILE sequences of one network and multiplies
// with matrix instructions. A chain warp owns 16 units and holds its rows of U, split into two 16-bit parts, in registers.
// Other warps do what need not wait for the step before: one brings x into block memory on the way forward; on the way
// back, as many as there are chain warps add up the gradients of W and U.
//
// With g = lane / 4 and q = lane % 4, a thread of a chain warp owns the units 16 · warp + g and + 8 of the sequences 2q and
// 2q + 1, in all blocks of the cell, so that the rule of the cell needs no exchange. The state goes through block memory as
// pairs of units: pair p holds the units 16 · (p / 8) + p % 8 and + 8, which one thread owns. The columns of U are ordered
// likewise.
//
// The way forward uses the format with more digits, the way back the one with the range of gradients.
#pragma once

#include "matrix.cuh"
#include "rows.cuh"

// Values that a thread owns: unit g of the sequences 2q and 2q + 1, then unit g + 8 of both.
#define OWN 4
// Time steps of the rings in block memory, forward and backward.
#define FEED_RING 8
#define TILE_RING 4
// Steps of x in block memory on the way forward.
#define X_RING 4

// Sizes of a tile in numbers, and its threads.
template <class Cell, int HIDDEN, int INPUT>
struct TileShape {
    static constexpr int CHAIN = 2 * HIDDEN, FORWARD = CHAIN + LANES, BACKWARD = 2 * CHAIN;
    // What the way back reads of a step: SAVED + 1 values of each chain thread, four at a time.
    static constexpr int KEPT = (Cell::SAVED + 1) * CHAIN * OWN;
    static constexpr int STATES = HIDDEN / 2 * TILE * 2, INPUTS = INPUT / 2 * TILE * 2;
};

// The unit at the place `place` of the order of pairs.
DEVICE int unit_at(int place) { return place / 16 * 16 + place % 16 / 2 + place % 2 * 8; }

// Rows of a matrix times columns in the order of pairs, as fragments.
template <int TILES>
struct SplitRows {
    uint32_t high[TILES][4], low[TILES][4];
};

// What a thread reads of the vectors of a tile, [pair of places][sequence]: fragments of TILES · 16 columns. `own` is the
// place of the pair q of sequence g.
template <int TILES>
struct SplitVectors {
    uint2 first[TILES], second[TILES];

    DEVICE SplitVectors read(Place own) {
        SplitVectors vectors;
#pragma unroll
        for (int k = 0; k < TILES; k++) {
            vectors.first[k] = read_pair_at(own + 8 * k * TILE * 8);
            vectors.second[k] = read_pair_at(own + (8 * k + 4) * TILE * 8);
        }
        return vectors;
    }
};

// Adds rows times a vector of each sequence, in SUMS sums, 1 or 3: the products of columns from 16 · FIRST on.
template <Format FORMAT, int FIRST, int SUMS, int ALL, int TILES>
DEVICE void add_split_product(float (&sums)[SUMS][OWN], const SplitRows<ALL> &rows, const SplitVectors<TILES> &vectors) {
#pragma unroll
    for (int k = 0; k < TILES; k++) {
        multiply_16<FORMAT>(sums[0], rows.high[FIRST + k], vectors.first[k].x, vectors.second[k].x);
        multiply_16<FORMAT>(sums[1 % SUMS], rows.high[FIRST + k], vectors.first[k].y, vectors.second[k].y);
        multiply_16<FORMAT>(sums[2 % SUMS], rows.low[FIRST + k], vectors.first[k].x, vectors.second[k].x);
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

// Brings x into block memory, for the threads of some warps with the numbers 0 to THREADS - 1. A thread copies the two
// numbers of each of its pairs some steps ahead and splits them when they have arrived. Pairs are of two features of a
// sequence, [pair][sequence], or of two sequences, [feature][pair].
template <int INPUT, int THREADS, bool OF_FEATURES>
struct InputFeed {
    static constexpr int ITEMS = INPUT / 2 * TILE, EACH = (ITEMS + THREADS - 1) / THREADS;
    static constexpr int RING = FEED_RING * EACH * 2 * THREADS;
    float *ring;
    const float *x;
    int input;
    // Where the numbers lie in the first step, and how many steps there are; none beyond the input.
    int places[EACH][2], steps[EACH][2];

    DEVICE InputFeed begin(const LayerArguments &args, int network, int first, const int *lengths, float *ring, int thread) {
        InputFeed feed;
        feed.ring = ring + thread;
        feed.input = args.places.input;
        feed.x = args.x + first_step(args, network, first) * feed.input;
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const int item = thread + i * THREADS;
#pragma unroll
            for (int which = 0; which < 2; which++) {
                const int feature = OF_FEATURES ? item / TILE * 2 + which : item % INPUT;
                const int sequence = (OF_FEATURES ? item % TILE : item / INPUT * 2 + which) % TILE;
                feed.places[i][which] = sequence * args.steps * feed.input + feature;
                feed.steps[i][which] = item < ITEMS && feature < feed.input ? lengths[sequence] : 0;
            }
        }
        return feed;
    }

    // The slot of a number of a pair, for a step.
    __device__ __forceinline__ float *slot(int step, int i, int which) const {
        return ring + (((step & (FEED_RING - 1)) * EACH + i) * 2 + which) * THREADS;
    }

    __device__ __forceinline__ void copy(int step) const {
        const float *from = x + step * input;
#pragma unroll
        for (int i = 0; i < EACH; i++) {
#pragma unroll
            for (int which = 0; which < 2; which++) {
                bool is_there = unsigned(step) < unsigned(steps[i][which]);
                copy_ahead_if(is_there, slot(step, i, which), is_there ? from + places[i][which] : x);
            }
        }
        commit_copies();
    }

    template <Format FORMAT>
    __device__ __forceinline__ void store(int step, SplitPair *to, int thread) const {
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const int item = thread + i * THREADS;
            const int place = OF_FEATURES ? item : item % INPUT * (TILE / 2) + item / INPUT;
            if (item < ITEMS) to[place] = split<FORMAT>(*slot(step, i, 0), *slot(step, i, 1));
        }
    }
};

// Two pairs, each split: the order in which they lie in block memory.
template <Format FORMAT>
DEVICE uint4 split_pairs(float even_first, float even_second, float odd_first, float odd_second) {
    SplitPair even = split<FORMAT>(even_first, even_second), odd = split<FORMAT>(odd_first, odd_second);
    return make_uint4(even.high, even.low, odd.high, odd.low);
}

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

// Forward. Grid: tiles × networks; TileShape::FORWARD threads. INPUT is a multiple of 16 and at least the features. Block
// memory: 8 bytes for each of HIDDEN · TILE and X_RING / 2 · INPUT · TILE, a number for each sequence and the ring of the
// feed.
template <class Cell, int HIDDEN, int INPUT>
DEVICE void tiles_forward(const LayerArguments &args) {
    using Shape = TileShape<Cell, HIDDEN, INPUT>;
    constexpr int U_TILES = HIDDEN / 16, X_TILES = INPUT / 16, SUMS = Cell::PRE == 1 ? 3 : 1;
    constexpr Format FORMAT = Format::Half;
    const LayerPlaces &places = args.places;
    const int network = blockIdx.y, first = blockIdx.x * TILE;
    const int warp = thread_number() / LANES, lane = thread_number() % LANES, g = lane / 4, q = lane % 4;
    const float *weights = args.weights + size_t(network) * args.weight_stride;
    SplitPair *h = static_cast<SplitPair *>(block_memory()), *x = h + HIDDEN * TILE;
    int *lengths = reinterpret_cast<int *>(x + X_RING / 2 * INPUT * TILE);
    if (thread_number() < TILE) lengths[thread_number()] = length_of(args, network, first + thread_number());
    block_barrier();
    const int steps = most_steps(lengths);

    if (thread_number() >= Shape::CHAIN) {
        float *feed_ring = reinterpret_cast<float *>(lengths + TILE);
        const auto feed = InputFeed<INPUT, LANES, true>::begin(args, network, first, lengths, feed_ring, lane);
        for (int t = 0; t < FEED_RING - 1; t++) feed.copy(t);
        wait_for_copies<FEED_RING - 4>();
        for (int t = 0; t < 3; t++) feed.template store<FORMAT>(t, x + t * (INPUT / 2 * TILE), lane);
        named_barrier(1, Shape::FORWARD);
        for (int t = 0; t < steps; t++) {
            feed.copy(t + FEED_RING - 1);
            wait_for_copies<FEED_RING - 4>();
            feed.template store<FORMAT>(t + 3, x + ((t + 3) & (X_RING - 1)) * (INPUT / 2 * TILE), lane);
            named_barrier(1, Shape::FORWARD);
        }
        wait_for_copies<0>();
        return;
    }

    SplitRows<U_TILES> u[Cell::U_BLOCKS];
    SplitRows<X_TILES> w[Cell::W_BLOCKS];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int unit = 16 * warp + g + i % 2 * 8, place = 2 * q + i / 2 * 8;
#pragma unroll
        for (int b = 0; b < Cell::U_BLOCKS; b++) {
#pragma unroll
            for (int k = 0; k < U_TILES; k++) {
                const float *row = weights + places.u + b * HIDDEN + unit;
                SplitPair pair = split<FORMAT>(row[unit_at(16 * k + place) * Cell::U_BLOCKS * HIDDEN],
                                               row[unit_at(16 * k + place + 1) * Cell::U_BLOCKS * HIDDEN]);
                u[b].high[k][i] = pair.high;
                u[b].low[k][i] = pair.low;
            }
        }
#pragma unroll
        for (int b = 0; b < Cell::W_BLOCKS; b++) {
#pragma unroll
            for (int k = 0; k < X_TILES; k++) {
                const float *row = weights + places.w + b * HIDDEN + unit;
                const int column = 16 * k + place;
                float even = column < places.input ? row[column * Cell::W_BLOCKS * HIDDEN] : 0.0f;
                float odd = column + 1 < places.input ? row[(column + 1) * Cell::W_BLOCKS * HIDDEN] : 0.0f;
                SplitPair pair = split<FORMAT>(even, odd);
                w[b].high[k][i] = pair.high;
                w[b].low[k][i] = pair.low;
            }
        }
    }
    UnitParameters p[2] = {unit_parameters<Cell>(args, weights, 16 * warp + g),
                           unit_parameters<Cell>(args, weights, 16 * warp + g + 8)};
    p[0].gate = p[1].gate = kept_curve(args.gate);
    p[0].update = p[1].update = kept_curve(args.update);
    const bool is_smooth = kept_in_register(int(args.gate.is_smooth && args.update.is_smooth));
    Memory states[OWN];
    int own_lengths[2];
    float *to_h[2];
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const int sequence = first + 2 * q + j;
        own_lengths[j] = lengths[2 * q + j];
        to_h[j] = args.h + first_step(args, network, sequence) * HIDDEN + 16 * warp + g;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            float old = own_lengths[j] > 0 ? initial_state(args, network, sequence, 16 * warp + g + 8 * i) : 0.0f;
            states[2 * i + j] = {old, 0.0f};
        }
    }
    const size_t tile = size_t(network) * gridDim.x + blockIdx.x;
    float *to_saved = args.saved + tile * args.steps * Shape::KEPT + thread_number() * OWN;
    const bool saves = kept_in_register(int(args.saved != nullptr));
    const bool writes_all = kept_in_register(int(args.writes_all_states));
    const int last_step = kept_in_register(steps);
    const Place own = place_of(h + (8 * warp + g) * TILE + 2 * q);
    const Place h_from = place_of(h + q * TILE + g), x_from = place_of(x + q * TILE + g);
    constexpr int OTHER = HIDDEN / 2 * TILE * 8, X_STEP = INPUT / 2 * TILE * 8;
    write_four_at(own, split_pairs<FORMAT>(states[0].h, states[2].h, states[1].h, states[3].h));
    named_barrier(1, Shape::FORWARD);

    // The sums of a step begin with its product with x, which needs no state.
    float sums[Cell::PRE][SUMS][OWN] = {};
    {
        const auto of_x = SplitVectors<X_TILES>::read(x_from);
#pragma unroll
        for (int b = 0; b < Cell::W_BLOCKS; b++) add_split_product<FORMAT, 0>(sums[b], w[b], of_x);
    }
    for (int t = 0; t < last_step; t++) {
        const auto of_h = SplitVectors<U_TILES>::read(h_from + (t & 1 ? OTHER : 0));
        const auto of_x = SplitVectors<X_TILES>::read(x_from + ((t + 1) & (X_RING - 1)) * X_STEP);
#pragma unroll
        for (int b = 0; b < Cell::U_BLOCKS; b++) add_split_product<FORMAT, 0>(sums[Cell::u_place(b)], u[b], of_h);
        float pre[Cell::PRE][OWN], saved[Cell::SAVED + 1][OWN];
#pragma unroll
        for (int b = 0; b < Cell::PRE; b++) {
#pragma unroll
            for (int i = 0; i < OWN; i++) {
                pre[b][i] = total_of(sums[b], i);
#pragma unroll
                for (int k = 0; k < SUMS; k++) sums[b][k][i] = 0.0f;
            }
        }
#pragma unroll
        for (int b = 0; b < Cell::W_BLOCKS; b++) add_split_product<FORMAT, 0>(sums[b], w[b], of_x);
        const bool is_on[2] = {t < own_lengths[0], t < own_lengths[1]};
        if (is_smooth) tile_rule<Cell>(smooth(p[0]), smooth(p[1]), pre, is_on, states, saved);
        else tile_rule<Cell>(p[0], p[1], pre, is_on, states, saved);
        write_four_at(own + (t & 1 ? 0 : OTHER), split_pairs<FORMAT>(states[0].h, states[2].h, states[1].h, states[3].h));
#pragma unroll
        for (int b = 0; b <= Cell::SAVED; b++) {
            float4 values = make_float4(saved[b][0], saved[b][1], saved[b][2], saved[b][3]);
            if (saves) *reinterpret_cast<float4 *>(to_saved + b * Shape::CHAIN * OWN) = values;
        }
        to_saved += Shape::KEPT;
        if (writes_all) {
#pragma unroll
            for (int i = 0; i < OWN; i++) {
                if (is_on[i % 2]) to_h[i % 2][size_t(t) * HIDDEN + i / 2 * 8] = states[i].h;
            }
        }
        named_barrier(1, Shape::FORWARD);
    }
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        const int length = own_lengths[i % 2];
        if (length > 0) to_h[i % 2][size_t(length - 1) * HIDDEN + i / 2 * 8] = states[i].h;
    }
}

// Backward, with the gradients of all parameters of the layer; a part is a tile. Grid: as forward; TileShape::BACKWARD
// threads. Writes the gradient by `pre` where there is room for it. Block memory in bytes: for two steps, 4 · TILE times
// (U_BLOCKS + PRE + 1) · HIDDEN + INPUT; TILE_RING · 4 · (KEPT + CHAIN · OWN); the ring of the feed; a number for each
// sequence and each warp. IS_SMALL leaves out what takes registers to make a step shorter, for blocks that share a
// multiprocessor.
template <class Cell, int HIDDEN, int INPUT, bool IS_SMALL>
DEVICE void tiles_backward(const LayerArguments &args) {
    using Shape = TileShape<Cell, HIDDEN, INPUT>;
    constexpr int U_TILES = HIDDEN / 16, ROWS = Cell::U_BLOCKS * HIDDEN, CHAIN = Shape::CHAIN, KEPT = Shape::KEPT;
    constexpr int UNITS_SIZE = Cell::U_BLOCKS * HIDDEN / 2 * TILE, PAIRS_SIZE = Cell::PRE * HIDDEN * TILE / 2;
    constexpr int H_SIZE = HIDDEN * TILE / 2, X_SIZE = INPUT * TILE / 2;
    constexpr int EARLY = (U_TILES + 1) / 2;
    constexpr Format FORMAT = Format::Brain;
    const LayerPlaces &places = args.places;
    const int network = blockIdx.y, first = blockIdx.x * TILE;
    const bool is_chain = thread_number() < CHAIN;
    const int member = is_chain ? thread_number() : thread_number() - CHAIN;
    const int warp = member / LANES, lane = member % LANES, g = lane / 4, q = lane % 4;
    const float *weights = args.weights + size_t(network) * args.weight_stride;
    float *kept = static_cast<float *>(block_memory()), *outer = kept + TILE_RING * KEPT;
    // The gradient by `pre` as pairs of units, [block of U][pair][sequence], and as pairs of sequences, [block][unit][pair].
    SplitPair *d_units = reinterpret_cast<SplitPair *>(outer + TILE_RING * CHAIN * OWN);
    SplitPair *d_pairs = d_units + 2 * UNITS_SIZE, *h_pairs = d_pairs + 2 * PAIRS_SIZE, *x_pairs = h_pairs + 2 * H_SIZE;
    int *lengths = reinterpret_cast<int *>(x_pairs + 2 * X_SIZE);
    float *scratch = reinterpret_cast<float *>(lengths + TILE);
    float *feed_ring = scratch + LANES;
    float *part = args.parts + (size_t(network) * args.part_count + blockIdx.x) * args.part_length;
    if (thread_number() < TILE) lengths[thread_number()] = length_of(args, network, first + thread_number());
    block_barrier();
    const int steps = most_steps(lengths);
    UnitGradients gradients[2];

    if (is_chain) {
        // Rows are the own units as columns of U; columns are the rows of a block of U.
        SplitRows<U_TILES> u[Cell::U_BLOCKS];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int unit = 16 * warp + g + i % 2 * 8, place = 2 * q + i / 2 * 8;
#pragma unroll
            for (int b = 0; b < Cell::U_BLOCKS; b++) {
#pragma unroll
                for (int k = 0; k < U_TILES; k++) {
                    const float *rows = weights + places.u_rows + b * HIDDEN * HIDDEN + unit;
                    SplitPair pair =
                        split<FORMAT>(rows[unit_at(16 * k + place) * HIDDEN], rows[unit_at(16 * k + place + 1) * HIDDEN]);
                    u[b].high[k][i] = pair.high;
                    u[b].low[k][i] = pair.low;
                }
            }
        }
        const UnitParameters p[2] = {unit_parameters<Cell>(args, weights, 16 * warp + g),
                                     unit_parameters<Cell>(args, weights, 16 * warp + g + 8)};
        const bool is_smooth = kept_in_register(int(args.gate.is_smooth && args.update.is_smooth));
        int own_lengths[2];
        float all[OWN];
        Memory d[OWN];
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            const int sequence = first + 2 * q + i % 2, unit = 16 * warp + g + i / 2 * 8;
            own_lengths[i % 2] = lengths[2 * q + i % 2];
            const size_t at = (size_t(network) * args.sequences + sequence) * HIDDEN + unit;
            all[i] = args.d_all && own_lengths[i % 2] > 0 ? args.d_all[at] : 0.0f;
            // It waits there until the last step of the sequence.
            d[i] = {args.d_last && own_lengths[i % 2] > 0 ? args.d_last[at] : 0.0f, 0.0f};
        }
        const size_t tile = size_t(network) * gridDim.x + blockIdx.x;
        const float *saved = args.saved + tile * args.steps * KEPT + member * OWN;
        const Place d_from = place_of(d_units + q * TILE + g);
        typename Cell::Factors factors[OWN];
        const bool has_each = kept_in_register(int(args.d_each != nullptr));
        const bool writes_d_pre = kept_in_register(int(args.d_pre != nullptr));
        const Place kept_to = place_of(kept + member * OWN);
#define COPY_TILE_STEP(step)                                                                                          \
    {                                                                                                                 \
        const bool is_there = (step) >= 0;                                                                            \
        const float *from = saved + size_t(max(step, 0)) * KEPT;                                                      \
        _Pragma("unroll") for (int b = 0; b <= Cell::SAVED; b++) {                                                    \
            copy_four_ahead_if(is_there, kept_to + (((step) & (TILE_RING - 1)) * KEPT + b * CHAIN * OWN) * 4,         \
                               from + b * CHAIN * OWN);                                                               \
        }                                                                                                             \
        if (has_each) {                                                                                               \
            _Pragma("unroll") for (int i = 0; i < OWN; i++) {                                                         \
                if (is_there && (step) < own_lengths[i % 2]) {                                                        \
                    copy_ahead(outer + (((step) & (TILE_RING - 1)) * CHAIN + member) * OWN + i,                       \
                               args.d_each + (first_step(args, network, first + 2 * q + i % 2) + (step)) * HIDDEN +   \
                                   16 * warp + g + i / 2 * 8);                                                        \
                }                                                                                                     \
            }                                                                                                         \
        }                                                                                                             \
        commit_copies();                                                                                              \
    }
#define READ_TILE_STEP(step)                                                                                          \
    {                                                                                                                 \
        const int slot = (step) & (TILE_RING - 1);                                                                    \
        float values[Cell::SAVED + 1][OWN];                                                                           \
        _Pragma("unroll") for (int b = 0; b <= Cell::SAVED; b++) {                                                    \
            float4 v = four_at(kept + slot * KEPT + (b * CHAIN + member) * OWN);                                      \
            values[b][0] = v.x, values[b][1] = v.y, values[b][2] = v.z, values[b][3] = v.w;                           \
        }                                                                                                             \
        if (is_smooth) tile_factors<Cell>(smooth(p[0]), smooth(p[1]), values, factors);                               \
        else tile_factors<Cell>(p[0], p[1], values, factors);                                                         \
    }
        for (int t = steps - 1; t > steps - TILE_RING; t--) {
            COPY_TILE_STEP(t)
        }
        wait_for_copies<TILE_RING - 2>();
        if (steps > 0 && !IS_SMALL) READ_TILE_STEP(steps - 1)
        named_barrier(1, Shape::BACKWARD);
        for (int t = steps - 1; t >= 0; t--) {
            if (IS_SMALL) READ_TILE_STEP(t)
            float d_pre[Cell::PRE][OWN], outside[OWN];
#pragma unroll
            for (int i = 0; i < OWN; i++) outside[i] = all[i];
            if (has_each) {
#pragma unroll
                for (int i = 0; i < OWN; i++) outside[i] += outer[((t & (TILE_RING - 1)) * CHAIN + member) * OWN + i];
            }
#pragma unroll
            for (int i = 0; i < OWN; i++) {
                const bool is_on = t < own_lengths[i % 2];
                Memory now = {is_on ? d[i].h + outside[i] : 0.0f, is_on ? d[i].c : 0.0f};
                float of_pre[Cell::PRE];
                Cell::backward(p[i / 2], factors[i], now, of_pre, gradients[i / 2]);
                d[i] = is_on ? now : d[i];
#pragma unroll
                for (int b = 0; b < Cell::PRE; b++) d_pre[b][i] = is_on ? of_pre[b] : 0.0f;
            }
            if (writes_d_pre) {
#pragma unroll
                for (int i = 0; i < OWN; i++) {
                    const size_t start = first_step(args, network, first + 2 * q + i % 2);
                    float *to = args.d_pre + (start + t) * Cell::PRE * HIDDEN + 16 * warp + g + i / 2 * 8;
#pragma unroll
                    for (int b = 0; b < Cell::PRE; b++) {
                        if (t < own_lengths[i % 2]) to[b * HIDDEN] = d_pre[b][i];
                    }
                }
            }
#pragma unroll
            for (int b = 0; b < Cell::PRE; b++) {
                const SplitPair even = split<FORMAT>(d_pre[b][0], d_pre[b][2]), odd = split<FORMAT>(d_pre[b][1], d_pre[b][3]);
#pragma unroll
                for (int of = 0; of < Cell::U_BLOCKS; of++) {
                    if (Cell::u_place(of) == b) {
                        SplitPair *to = d_units + (t & 1) * UNITS_SIZE + (of * HIDDEN / 2 + 8 * warp + g) * TILE + 2 * q;
                        *reinterpret_cast<uint4 *>(to) = make_uint4(even.high, even.low, odd.high, odd.low);
                    }
                }
                SplitPair *to = d_pairs + (t & 1) * PAIRS_SIZE + (b * HIDDEN + 16 * warp + g) * (TILE / 2) + q;
                to[0] = {lower_halves(even.high, odd.high), lower_halves(even.low, odd.low)};
                to[8 * (TILE / 2)] = {upper_halves(even.high, odd.high), upper_halves(even.low, odd.low)};
            }
            COPY_TILE_STEP(t - TILE_RING + 1)
            wait_for_copies<TILE_RING - 2>();
            named_barrier(1, Shape::BACKWARD);
            float sums[3][OWN] = {};
#pragma unroll
            for (int b = 0; b < Cell::U_BLOCKS; b++) {
                const Place from = d_from + (t & 1 ? UNITS_SIZE * 8 : 0) + b * HIDDEN / 2 * TILE * 8;
                // In two parts, so that fewer registers are needed at a time.
                const auto early = SplitVectors<EARLY>::read(from);
                add_split_product<FORMAT, 0>(sums, u[b], early);
                if constexpr (U_TILES > EARLY) {
                    const auto late = SplitVectors<U_TILES - EARLY>::read(from + 8 * EARLY * TILE * 8);
                    add_split_product<FORMAT, EARLY>(sums, u[b], late);
                }
            }
            if (!IS_SMALL) READ_TILE_STEP(t - 1)
#pragma unroll
            for (int i = 0; i < OWN; i++) d[i].h += total_of(sums, i);
        }
        wait_for_copies<0>();
#undef COPY_TILE_STEP
#undef READ_TILE_STEP
    } else {
        const auto feed = InputFeed<INPUT, CHAIN, false>::begin(args, network, first, lengths, feed_ring, member);
        for (int t = steps - 1; t > steps - FEED_RING; t--) feed.copy(t);
        float d_u[Cell::U_BLOCKS][HIDDEN / 8][OWN] = {}, d_w[Cell::W_BLOCKS][INPUT / 8][OWN] = {};
        named_barrier(1, Shape::BACKWARD);
        for (int t = steps - 1; t >= 0; t--) {
            SplitPair *h_now = h_pairs + (t & 1) * H_SIZE, *x_now = x_pairs + (t & 1) * X_SIZE;
            // The state before the step, of the same units and sequences as the chain thread has.
            float4 old = four_at(kept + (t & (TILE_RING - 1)) * KEPT + (Cell::SAVED * CHAIN + member) * OWN);
            h_now[(16 * warp + g) * (TILE / 2) + q] = split<FORMAT>(old.x, old.y);
            h_now[(16 * warp + g + 8) * (TILE / 2) + q] = split<FORMAT>(old.z, old.w);
            wait_for_copies<FEED_RING - 2>();
            feed.template store<FORMAT>(t, x_now, member);
            feed.copy(t - FEED_RING + 1);
            named_barrier(1, Shape::BACKWARD);
            const SplitPair *d_now = d_pairs + (t & 1) * PAIRS_SIZE + (16 * warp + g) * (TILE / 2) + q;
#pragma unroll
            for (int b = 0; b < Cell::U_BLOCKS; b++) {
                const SplitPair *of = d_now + Cell::u_place(b) * HIDDEN * (TILE / 2);
                const SplitPair a0 = of[0], a1 = of[8 * (TILE / 2)];
#pragma unroll
                for (int k = 0; k < HIDDEN / 8; k++) {
                    SplitPair v = h_now[(8 * k + g) * (TILE / 2) + q];
                    multiply_8<FORMAT>(d_u[b][k], a0.high, a1.high, v.high);
                    multiply_8<FORMAT>(d_u[b][k], a0.high, a1.high, v.low);
                    multiply_8<FORMAT>(d_u[b][k], a0.low, a1.low, v.high);
                }
            }
#pragma unroll
            for (int b = 0; b < Cell::W_BLOCKS; b++) {
                const SplitPair a0 = d_now[b * HIDDEN * (TILE / 2)], a1 = d_now[(b * HIDDEN + 8) * (TILE / 2)];
#pragma unroll
                for (int k = 0; k < INPUT / 8; k++) {
                    if (8 * k < places.input) {
                        SplitPair v = x_now[(8 * k + g) * (TILE / 2) + q];
                        multiply_8<FORMAT>(d_w[b][k], a0.high, a1.high, v.high);
                        multiply_8<FORMAT>(d_w[b][k], a0.high, a1.high, v.low);
                        multiply_8<FORMAT>(d_w[b][k], a0.low, a1.low, v.high);
                    }
                }
            }
        }
        wait_for_copies<0>();
        // The entry i of a fragment is row g + 8 · (i / 2), the own unit, and column 2q + i % 2.
        float *u_part = part + places.u - places.w;
#pragma unroll
        for (int i = 0; i < OWN; i++) {
            const int unit = 16 * warp + g + i / 2 * 8;
#pragma unroll
            for (int b = 0; b < Cell::U_BLOCKS; b++) {
#pragma unroll
                for (int k = 0; k < HIDDEN / 8; k++) {
                    u_part[(8 * k + 2 * q + i % 2) * ROWS + b * HIDDEN + unit] = d_u[b][k][i];
                }
            }
#pragma unroll
            for (int b = 0; b < Cell::W_BLOCKS; b++) {
#pragma unroll
                for (int k = 0; k < INPUT / 8; k++) {
                    const int column = 8 * k + 2 * q + i % 2;
                    if (column < places.input) part[(column * Cell::W_BLOCKS + b) * HIDDEN + unit] = d_w[b][k][i];
                }
            }
        }
    }
    block_barrier();
#pragma unroll
    for (int i = 0; i < 2; i++) {
#pragma unroll
        for (int v = 0; v < Cell::VECTORS; v++) {
            float sum = share_sum<4>(gradients[i].vectors[v]);
            if (is_chain && q == 0) part[places.vectors - places.w + v * HIDDEN + 16 * warp + g + 8 * i] = sum;
        }
    }
    for (int i = 0; i < SCALARS; i++) {
        float sum = block_sum(gradients[0].scalars[i] + gradients[1].scalars[i], scratch);
        if (thread_number() == 0) part[places.scalars - places.w + i] = sum;
    }
}

#define TILE_KERNELS(name, Cell, hidden, input)                                                                    \
    KERNEL(forward_tiles_##name##_##hidden##_##input, LayerArguments, (TileShape<Cell, hidden, input>::FORWARD)) { \
        tiles_forward<Cell, hidden, input>(args);                                                                  \
    }                                                                                                              \
    KERNEL(backward_tiles_##name##_##hidden##_##input, LayerArguments,                                             \
           (TileShape<Cell, hidden, input>::BACKWARD)) {                                                           \
        tiles_backward<Cell, hidden, input, false>(args);                                                          \
    }
// The way back for more tiles than there are multiprocessors: `blocks` of them share one.
#define SMALL_TILE_KERNEL(name, Cell, hidden, input, blocks)                                                       \
    KERNEL_OF_BLOCKS(backward_small_tiles_##name##_##hidden##_##input, LayerArguments,                             \
                     (TileShape<Cell, hidden, input>::BACKWARD), blocks) {                                         \
        tiles_backward<Cell, hidden, input, true>(args);                                                           \
    }

#ifndef NO_TILE_TABLE
// Width and most features.
TILE_KERNELS(fastgrnn, FastGrnn, 16, 16)
TILE_KERNELS(fastgrnn, FastGrnn, 16, 32)
TILE_KERNELS(fastgrnn, FastGrnn, 32, 16)
TILE_KERNELS(fastgrnn, FastGrnn, 32, 32)
TILE_KERNELS(fastgrnn, FastGrnn, 48, 16)
TILE_KERNELS(fastgrnn, FastGrnn, 48, 32)
TILE_KERNELS(fastgrnn, FastGrnn, 64, 16)
TILE_KERNELS(fastgrnn, FastGrnn, 64, 32)
TILE_KERNELS(fastgrnn, FastGrnn, 80, 16)
TILE_KERNELS(fastgrnn, FastGrnn, 80, 32)
TILE_KERNELS(fastgrnn, FastGrnn, 96, 16)
TILE_KERNELS(fastgrnn, FastGrnn, 96, 32)
TILE_KERNELS(fastgrnn, FastGrnn, 112, 16)
TILE_KERNELS(fastgrnn, FastGrnn, 112, 32)
TILE_KERNELS(fastgrnn, FastGrnn, 128, 16)
TILE_KERNELS(fastgrnn, FastGrnn, 128, 32)
TILE_KERNELS(gru, Gru, 32, 32)
TILE_KERNELS(gru, Gru, 64, 32)
TILE_KERNELS(gru, Gru, 80, 16)
TILE_KERNELS(lstm, Lstm, 32, 32)
TILE_KERNELS(lstm, Lstm, 64, 32)
TILE_KERNELS(lstm, Lstm, 80, 16)
TILE_KERNELS(ugrnn, Ugrnn, 32, 32)
TILE_KERNELS(ugrnn, Ugrnn, 64, 32)
TILE_KERNELS(ugrnn, Ugrnn, 80, 32)
TILE_KERNELS(rnn, Rnn, 32, 32)
TILE_KERNELS(rnn, Rnn, 64, 32)
TILE_KERNELS(rnn, Rnn, 128, 32)
TILE_KERNELS(fastrnn, FastRnn, 32, 32)
TILE_KERNELS(fastrnn, FastRnn, 64, 32)
TILE_KERNELS(fastrnn, FastRnn, 80, 32)
TILE_KERNELS(fastrnn, FastRnn, 128, 32)
TILE_KERNELS(fastrnn_vector, FastRnnVector, 32, 32)
TILE_KERNELS(fastrnn_vector, FastRnnVector, 64, 32)
TILE_KERNELS(fastrnn_vector, FastRnnVector, 128, 32)
SMALL_TILE_KERNEL(fastgrnn, FastGrnn, 32, 32, 5)
SMALL_TILE_KERNEL(fastgrnn, FastGrnn, 64, 32, 2)
SMALL_TILE_KERNEL(fastgrnn, FastGrnn, 80, 16, 2)
#endif
