// A layer forward and backward through time for many sequences: a block owns TILE sequences of one network and multiplies
// with matrix instructions. A chain warp owns 16 units and holds its rows of U, split into two 16-bit parts, in registers;
// it does what has to wait for the step before, and in the time that its products take, what the next step needs. Helper
// warps do the rest: one brings x into block memory on the way forward; on the way back, as many as there are chain warps
// read what the way forward saved, and add up the gradients of W and U.
//
// With g = lane / 4 and q = lane % 4, a thread of a chain warp owns the units 16 · warp + g and + 8 of the sequences 2q and
// 2q + 1, in all blocks of the cell, so that the rule of the cell needs no exchange. Vectors that are multiplied lie in
// block memory as rows of 16-bit numbers, a row for each sequence, first the high parts and then the low ones. Two
// neighbours of a row are the units that one thread owns: place 2p is the unit 16 · (p / 8) + p % 8, and 2p + 1 the unit
// 8 further on. The columns of U are ordered likewise.
//
// The way forward uses the format with more digits, the way back the one with the range of gradients.
#pragma once

#include "tile_parts.cuh"

// Forward. Grid: tiles × networks; TileShape::FORWARD threads. INPUT is a multiple of 16 and at least the features. Block
// memory: two SplitTile of HIDDEN and X_RING of INPUT, a number for each sequence and the ring of the feed. IS_SMOOTH and
// IS_PLAIN say at compile time what would cost branches in each step: whether the curves are smooth, and whether the states
// of all steps are not wanted.
template <class Cell, int HIDDEN, int INPUT, bool IS_SMOOTH, bool IS_PLAIN>
DEVICE void tiles_forward_as(const LayerArguments &args) {
    using Shape = TileShape<Cell, HIDDEN, INPUT>;
    using HTile = SplitTile<HIDDEN>;
    using XTile = SplitTile<INPUT>;
    constexpr int U_TILES = HIDDEN / 16, X_TILES = INPUT / 16, SUMS = Cell::PRE == 1 ? 3 : 1;
    constexpr Format FORMAT = Format::Half;
    const LayerPlaces &places = args.places;
    const int network = blockIdx.y, first = blockIdx.x * TILE;
    const int warp = thread_number() / LANES, lane = thread_number() % LANES, g = lane / 4, q = lane % 4;
    const float *weights = args.weights + size_t(network) * args.weight_stride;
    unsigned char *memory = static_cast<unsigned char *>(block_memory());
    const Place h = place_of(memory), x = h + 2 * HTile::SIZE;
    int *lengths = reinterpret_cast<int *>(memory + 2 * HTile::SIZE + X_RING * XTile::SIZE);
    if (thread_number() < TILE) lengths[thread_number()] = length_of(args, network, first + thread_number());
    block_barrier();
    // Two at a time.
    const int steps = most_steps(lengths), rounded_steps = round_up(steps, 2);

    if (thread_number() >= Shape::CHAIN) {
        // It stores the steps up to t + 3 before the chain begins step t + 1.
        const Place feed_ring = place_of(lengths + TILE);
        auto feed = InputFeed<INPUT, LANES, FEED_RING>::begin(args, network, first, lengths, feed_ring, lane, 0, 1);
        for (int t = 0; t < FEED_RING - 1; t++) {
            feed.copy();
            commit_copies();
        }
        wait_for_copies<FEED_RING - 4>();
        for (int t = 0; t < 3; t++) feed.template store<FORMAT>(feed.read(t), x + t * XTile::SIZE);
        meeting_barrier(1, Shape::FORWARD);
        for (int t = 0; t < rounded_steps; t++) {
            feed.copy();
            commit_copies();
            wait_for_copies<FEED_RING - 4>();
            feed.template store<FORMAT>(feed.read(t + 3), x + ((t + 3) & (X_RING - 1)) * XTile::SIZE);
            meeting_barrier(1, Shape::FORWARD);
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
#pragma unroll
    for (int i = 0; i < 2; i++) {
        p[i].gate = kept_curve(args.gate);
        p[i].update = kept_curve(args.update);
        if (IS_SMOOTH) p[i] = smooth(p[i]);
    }
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
    const int last_step = kept_in_register(steps);
    const Place own = HTile::own_pair(h, warp, g, q), h_from = HTile::squares(h, lane), x_from = XTile::squares(x, lane);
    {
        const float values[OWN] = {states[0].h, states[1].h, states[2].h, states[3].h};
        HTile::template write_own<FORMAT>(own, values);
    }
    meeting_barrier(1, Shape::FORWARD);

    // The sums of a step begin with its product with x, which needs no state.
    float sums[Cell::PRE][SUMS][OWN] = {};
#pragma unroll
    for (int b = 0; b < Cell::W_BLOCKS; b++) add_split_product<FORMAT>(sums[b], w[b], x_from);
    // Two steps of the ring of x from the one of step t on, and back.
    Place x_half = 0;
    for (int t0 = 0; t0 < last_step; t0 += 2) {
#pragma unroll
        for (int odd = 0; odd < 2; odd++) {
            const int t = t0 + odd;
#pragma unroll
            for (int b = 0; b < Cell::U_BLOCKS; b++) {
                add_split_product<FORMAT>(sums[Cell::u_place(b)], u[b], h_from + odd * HTile::SIZE);
            }
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
            const Place next_x = odd ? x_from + 2 * XTile::SIZE - x_half : x_from + XTile::SIZE + x_half;
#pragma unroll
            for (int b = 0; b < Cell::W_BLOCKS; b++) add_split_product<FORMAT>(sums[b], w[b], next_x);
            const bool is_on[2] = {t < own_lengths[0], t < own_lengths[1]};
            tile_rule<Cell>(p[0], p[1], pre, is_on, states, saved);
            const float values[OWN] = {states[0].h, states[1].h, states[2].h, states[3].h};
            HTile::template write_own<FORMAT>(own + (1 - odd) * HTile::SIZE, values);
#pragma unroll
            for (int b = 0; b <= Cell::SAVED; b++) {
                float4 values = make_float4(saved[b][0], saved[b][1], saved[b][2], saved[b][3]);
                if (saves && t < last_step) *reinterpret_cast<float4 *>(to_saved + b * Shape::OF_CHAIN) = values;
            }
            to_saved += Shape::KEPT;
            if (!IS_PLAIN && args.writes_all_states) {
#pragma unroll
                for (int i = 0; i < OWN; i++) {
                    if (is_on[i % 2]) to_h[i % 2][size_t(t) * HIDDEN + i / 2 * 8] = states[i].h;
                }
            }
            meeting_barrier(1, Shape::FORWARD);
        }
        x_half ^= 2 * XTile::SIZE;
    }
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        const int length = own_lengths[i % 2];
        if (length > 0) to_h[i % 2][size_t(length - 1) * HIDDEN + i / 2 * 8] = states[i].h;
    }
}

template <class Cell, int HIDDEN, int INPUT>
DEVICE void tiles_forward(const LayerArguments &args) {
    const bool is_smooth = args.gate.is_smooth && args.update.is_smooth, is_plain = !args.writes_all_states;
    if (is_smooth && is_plain) tiles_forward_as<Cell, HIDDEN, INPUT, true, true>(args);
    else if (is_smooth && Cell::PRE == 1) tiles_forward_as<Cell, HIDDEN, INPUT, true, false>(args);
    else tiles_forward_as<Cell, HIDDEN, INPUT, false, false>(args);
}

// Exchanges the vectors of a unit for those of another one. The sums of scalars are of both.
DEVICE void exchange_vectors(UnitGradients &gradients, float *vectors) {
#pragma unroll
    for (int v = 0; v < MAX_VECTORS; v++) {
        const float other = vectors[v];
        vectors[v] = gradients.vectors[v];
        gradients.vectors[v] = other;
    }
}

// Backward, with the gradients of all parameters of the layer; a part is a tile. Grid: as forward; TileShape::BACKWARD
// threads. Writes the gradient by `pre` where there is room for it. Block memory: TILE_RING · KEPT numbers; two SplitTile
// of PRE · HIDDEN, two of HIDDEN and two of INPUT; a number for each sequence and SCALARS for each of 32 warps; the ring of
// the feed; and TILE_RING · OF_CHAIN numbers if there are gradients by each state. IS_SMOOTH and IS_PLAIN say at compile time
// what would cost branches in each step: whether the curves are smooth, and whether gradients come from the last states
// alone and those by `pre` are not wanted.
template <class Cell, int HIDDEN, int INPUT, bool IS_SMOOTH, bool IS_PLAIN>
DEVICE void tiles_backward_as(const LayerArguments &args) {
    using Shape = TileShape<Cell, HIDDEN, INPUT>;
    using HTile = SplitTile<HIDDEN>;
    using XTile = SplitTile<INPUT>;
    using DTile = SplitTile<Cell::PRE * HIDDEN>;
    using Feed = InputFeed<INPUT, Shape::CHAIN, TILE_RING>;
    // Cells with several blocks have no registers to spare.
    constexpr int U_TILES = HIDDEN / 16, CHAIN = Shape::CHAIN, UNROLLED = Cell::PRE == 1 ? 2 : 1;
    constexpr Format FORMAT = Format::Brain;
    const LayerPlaces &places = args.places;
    const int network = blockIdx.y, first = blockIdx.x * TILE;
    const bool is_chain = thread_number() < CHAIN;
    const int member = is_chain ? thread_number() : thread_number() - CHAIN;
    const int warp = member / LANES, lane = member % LANES, g = lane / 4, q = lane % 4;
    const float *weights = args.weights + size_t(network) * args.weight_stride;
    float *kept = static_cast<float *>(block_memory()), *split_tiles = kept + TILE_RING * Shape::KEPT;
    const Place d_tiles = place_of(split_tiles), h_tiles = d_tiles + 2 * DTile::SIZE, x_tiles = h_tiles + 2 * HTile::SIZE;
    int *lengths = reinterpret_cast<int *>(split_tiles) + (2 * DTile::SIZE + 2 * HTile::SIZE + 2 * XTile::SIZE) / 4;
    float *scratch = reinterpret_cast<float *>(lengths + TILE), *feed_ring = scratch + SCALARS * LANES;
    float *outer = feed_ring + TILE_RING * Feed::SLOT / 4;
    float *part = args.parts + (size_t(network) * args.part_count + blockIdx.x) * args.part_length;
    if (thread_number() < TILE) lengths[thread_number()] = length_of(args, network, first + thread_number());
    block_barrier();
    // Two at a time: where their number is odd, there is one after the end, whose gradients are 0.
    const int steps = round_up(most_steps(lengths), 2), own_lengths[2] = {lengths[2 * q], lengths[2 * q + 1]};
    UnitGradients gradients;
    float second_vectors[MAX_VECTORS] = {};

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
        UnitParameters p[2] = {unit_parameters<Cell>(args, weights, 16 * warp + g),
                               unit_parameters<Cell>(args, weights, 16 * warp + g + 8)};
        if (IS_SMOOTH) p[0] = smooth(p[0]), p[1] = smooth(p[1]);
        // The gradients by the last states wait for the last steps of their sequences. Until then all gradients are 0.
        Memory d[OWN] = {};
        float last[OWN];
        // Where the gradients by the states of the own units lie.
        const int of_states = (network * args.sequences + first + 2 * q) * HIDDEN + 16 * warp + g;
#pragma unroll
        for (int k = 0; k < OWN; k++) {
            const bool is_there = args.d_last && own_lengths[k % 2] > 0;
            last[k] = is_there ? args.d_last[of_states + k % 2 * HIDDEN + k / 2 * 8] : 0.0f;
        }
        const Place own_kept = place_of(kept + member * OWN), own_outer = place_of(outer + member * OWN);
        const Place own_d = DTile::own_pair(d_tiles, warp, g, q), d_from = DTile::squares(d_tiles, lane);
        float values[Cell::SAVED + 1][OWN];
        typename Cell::Factors factors[OWN];
        meeting_barrier(1, Shape::BACKWARD);
        read_own<Cell::SAVED + 1>(own_kept, Shape::OF_CHAIN * 4, values);
        tile_factors<Cell>(p[0], p[1], values, factors);
        for (int i0 = 0; i0 < steps; i0 += 2) {
#pragma unroll UNROLLED
            for (int odd = 0; odd < 2; odd++) {
                const int i = i0 + odd, t = steps - 1 - i;
                if (!IS_PLAIN && args.d_each) {
                    float of_each[1][OWN];
                    read_own<1>(own_outer + (i & (TILE_RING - 1)) * Shape::OF_CHAIN * 4, 0, of_each);
#pragma unroll
                    for (int k = 0; k < OWN; k++) d[k].h += of_each[0][k];
                }
                if (!IS_PLAIN && args.d_all) {
#pragma unroll
                    for (int k = 0; k < OWN; k++) {
                        if (t < own_lengths[k % 2]) d[k].h += args.d_all[of_states + k % 2 * HIDDEN + k / 2 * 8];
                    }
                }
                float d_pre[Cell::PRE][OWN];
#pragma unroll
                for (int k = 0; k < OWN; k++) {
                    if (k == OWN / 2) exchange_vectors(gradients, second_vectors);
                    if (t == own_lengths[k % 2] - 1) d[k].h += last[k];
                    float of_pre[Cell::PRE];
                    Cell::backward(p[k / 2], factors[k], d[k], of_pre, gradients);
#pragma unroll
                    for (int b = 0; b < Cell::PRE; b++) d_pre[b][k] = of_pre[b];
                }
                exchange_vectors(gradients, second_vectors);
                if (!IS_PLAIN && args.d_pre) {
#pragma unroll
                    for (int k = 0; k < OWN; k++) {
                        const size_t start = first_step(args, network, first + 2 * q + k % 2);
                        float *to = args.d_pre + (start + t) * Cell::PRE * HIDDEN + 16 * warp + g + k / 2 * 8;
#pragma unroll
                        for (int b = 0; b < Cell::PRE; b++) {
                            if (t < own_lengths[k % 2]) to[b * HIDDEN] = d_pre[b][k];
                        }
                    }
                }
#pragma unroll
                for (int b = 0; b < Cell::PRE; b++) {
                    DTile::template write_own<FORMAT>(own_d + odd * DTile::SIZE + b * HIDDEN * 2, d_pre[b]);
                }
                meeting_barrier(1, Shape::BACKWARD);
                float sums[3][OWN] = {{d[0].h, d[1].h, d[2].h, d[3].h}};
#pragma unroll
                for (int b = 0; b < Cell::U_BLOCKS; b++) {
                    const Place from = d_from + odd * DTile::SIZE + Cell::u_place(b) * HIDDEN * 2;
                    add_split_product<FORMAT>(sums, u[b], from);
                }
                // What follows does not wait for the products. After the last step it is not used.
                read_own<Cell::SAVED + 1>(own_kept + ((i + 1) & (TILE_RING - 1)) * Shape::KEPT * 4, Shape::OF_CHAIN * 4, values);
                tile_factors<Cell>(p[0], p[1], values, factors);
#pragma unroll
                for (int k = 0; k < OWN; k++) d[k].h = total_of(sums, k);
            }
        }
    } else {
        const size_t tile = size_t(network) * gridDim.x + blockIdx.x;
        TileCopy<Cell, HIDDEN, INPUT, IS_PLAIN> copy;
        copy.step = steps - 1;
        copy.steps = most_steps(lengths);
        copy.saved = args.saved + (tile * args.steps + max(steps - 1, 0)) * Shape::KEPT + member * OWN;
#pragma unroll
        for (int j = 0; j < 2; j++) {
            const size_t start = first_step(args, network, first + 2 * q + j);
            copy.each[j] = args.d_each ? args.d_each + start * HIDDEN + 16 * warp + g : nullptr;
            copy.lengths[j] = own_lengths[j];
        }
        copy.kept = place_of(kept + member * OWN);
        copy.outer = place_of(outer + member * OWN);
        auto feed = Feed::begin(args, network, first, lengths, place_of(feed_ring), member, steps - 1, -1);
        TileGradients<Cell, HIDDEN, INPUT> sums;
        const Place own_h = HTile::own_pair(h_tiles, warp, g, q), d_from = DTile::squares(d_tiles, lane) + 32 * warp;
        const Place h_from = HTile::squares(h_tiles, lane), x_from = XTile::squares(x_tiles, lane);

        // Steps have numbers from the last one on. A group of copies holds x of a number and what was saved of the next
        // one, which the chain reads before.
        copy.run(0);
        commit_copies();
        for (int i = 0; i < TILE_RING - 2; i++) {
            feed.copy();
            copy.run(i + 1);
            commit_copies();
        }
        // Prepares number i, `odd` is i % 2, for the products that follow the next barrier.
#define PREPARE_TILE_STEP(i, odd)                                                                                            \
    {                                                                                                                        \
        feed.copy();                                                                                                         \
        copy.run((i) + TILE_RING - 1);                                                                                       \
        commit_copies();                                                                                                     \
        wait_for_copies<TILE_RING - 2>();                                                                                    \
        float old[1][OWN];                                                                                                   \
        read_own<1>(copy.kept + (((i) & (TILE_RING - 1)) * Shape::KEPT + Cell::SAVED * Shape::OF_CHAIN) * 4, 0, old);        \
        const auto x = feed.read(steps - 1 - (i));                                                                           \
        HTile::template write_own<FORMAT>(own_h + (odd) * HTile::SIZE, old[0]);                                              \
        feed.template store<FORMAT>(x, x_tiles + (odd) * XTile::SIZE);                                                       \
    }
        wait_for_copies<TILE_RING - 2>();
        meeting_barrier(1, Shape::BACKWARD);
        PREPARE_TILE_STEP(0, 0)
        for (int i0 = 0; i0 < steps; i0 += 2) {
#pragma unroll UNROLLED
            for (int odd = 0; odd < 2; odd++) {
                meeting_barrier(1, Shape::BACKWARD);
                // The chain reads first.
                PREPARE_TILE_STEP(i0 + odd + 1, 1 - odd)
                sums.template add<FORMAT>(d_from + odd * DTile::SIZE, h_from + odd * HTile::SIZE,
                                          x_from + odd * XTile::SIZE, places.input);
            }
        }
#undef PREPARE_TILE_STEP
        wait_for_copies<0>();
        sums.write(places, part, warp, g, q);
    }
#pragma unroll
    for (int v = 0; v < Cell::VECTORS; v++) {
        const float of_first = share_sum<4>(gradients.vectors[v]), of_second = share_sum<4>(second_vectors[v]);
        float *to = part + places.vectors - places.w + v * HIDDEN + 16 * warp + g;
        if (is_chain && q == 0) to[0] = of_first, to[8] = of_second;
    }
    write_scalars<CHAIN, Shape::BACKWARD>(gradients.scalars, scratch, part + places.scalars - places.w);
}

template <class Cell, int HIDDEN, int INPUT>
DEVICE void tiles_backward(const LayerArguments &args) {
    const bool is_smooth = args.gate.is_smooth && args.update.is_smooth;
    const bool is_plain = !args.d_all && !args.d_each && !args.d_pre;
    if (is_smooth && is_plain) tiles_backward_as<Cell, HIDDEN, INPUT, true, true>(args);
    else if (is_smooth && Cell::PRE == 1) tiles_backward_as<Cell, HIDDEN, INPUT, true, false>(args);
    else tiles_backward_as<Cell, HIDDEN, INPUT, false, false>(args);
}

// A block has all registers of a multiprocessor.
#define TILE_KERNELS(name, Cell, hidden, input)                                \
    TILE_KERNEL(forward, tiles, FORWARD, name, Cell, hidden, input, 1)         \
    TILE_KERNEL(backward, tiles, BACKWARD, name, Cell, hidden, input, 1)
// For more tiles than there are multiprocessors: `blocks` of them share one.
#define SMALL_TILE_KERNEL(way, WAY, name, Cell, hidden, input, blocks) \
    TILE_KERNEL(way, small_tiles, WAY, name, Cell, hidden, input, blocks)
#define TILE_KERNEL(way, tiles, WAY, name, Cell, hidden, input, blocks)                                         \
    KERNEL_OF_BLOCKS(way##_##tiles##_##name##_##hidden##_##input, LayerArguments,                               \
                     (TileShape<Cell, hidden, input>::WAY), blocks) {                                           \
        tiles_##way<Cell, hidden, input>(args);                                                                 \
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
TILE_KERNELS(fastgrnn_gain, FastGrnnGain, 16, 32)
TILE_KERNELS(fastgrnn_gain, FastGrnnGain, 32, 32)
TILE_KERNELS(fastgrnn_gain, FastGrnnGain, 48, 32)
TILE_KERNELS(fastgrnn_gain, FastGrnnGain, 64, 32)
TILE_KERNELS(fastgrnn_gain, FastGrnnGain, 80, 32)
TILE_KERNELS(fastgrnn_gain, FastGrnnGain, 96, 32)
TILE_KERNELS(fastgrnn_gain, FastGrnnGain, 112, 32)
TILE_KERNELS(fastgrnn_gain, FastGrnnGain, 128, 32)
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
SMALL_TILE_KERNEL(backward, BACKWARD, fastgrnn, FastGrnn, 32, 32, 4)
SMALL_TILE_KERNEL(forward, FORWARD, fastgrnn, FastGrnn, 64, 32, 3)
SMALL_TILE_KERNEL(backward, BACKWARD, fastgrnn, FastGrnn, 64, 32, 2)
SMALL_TILE_KERNEL(forward, FORWARD, fastgrnn, FastGrnn, 80, 16, 3)
SMALL_TILE_KERNEL(backward, BACKWARD, fastgrnn, FastGrnn, 80, 16, 2)
SMALL_TILE_KERNEL(forward, FORWARD, fastgrnn, FastGrnn, 112, 32, 2)
#endif
