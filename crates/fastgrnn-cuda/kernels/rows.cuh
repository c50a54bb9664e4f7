// A layer forward and backward through time for few sequences: a block owns one sequence, and the threads of its chain
// warps hold U in registers. A group of GROUP threads shares ROWS units: each holds a part of the columns of all of them,
// so that a number that is read from block memory serves ROWS products. The sums are then exchanged so that each thread
// ends with those of one unit.
//
// The chain warps do only what has to wait for the step before. Helper warps work on chunks of steps: on the way forward
// they multiply W with x a chunk ahead; on the way back they compute the factors of the rule a chunk ahead, and add up the
// gradient of W a chunk later. All warps meet once a chunk; the chain warps meet once a step.
#pragma once

#include "row_parts.cuh"

// Forward. Grid: sequences × networks; CHAIN + HELPERS threads. INPUT is the most features; IS_SMOOTH says that both curves
// are. Block memory in numbers: 2 · ROW_CHUNK · (INPUT + W_BLOCKS · HIDDEN) + 2 · HIDDEN.
template <class Cell, int HIDDEN, int ROWS, int GROUP, int INPUT, int HELPERS, bool IS_SMOOTH>
DEVICE void rows_forward_as(const LayerArguments &args) {
    using Threads = RowThreads<HIDDEN, ROWS, GROUP>;
    constexpr int COLUMNS = Threads::COLUMNS, CHAIN = Threads::CHAIN, PRODUCTS = Cell::W_BLOCKS * HIDDEN;
    const LayerPlaces &places = args.places;
    const int network = blockIdx.y, sequence = blockIdx.x, length = length_of(args, network, sequence);
    const float *weights = args.weights + size_t(network) * args.weight_stride;
    float *raw = static_cast<float *>(block_memory()), *products = raw + 2 * ROW_CHUNK * INPUT;
    float *h = products + 2 * ROW_CHUNK * PRODUCTS;
    const size_t start = first_step(args, network, sequence);
    if (length == 0) return;

    if (thread_number() >= CHAIN) {
        // Where there are twice as many helpers as products, each computes half of the steps.
        constexpr int EACH = (PRODUCTS + HELPERS - 1) / HELPERS, SHARE = HELPERS >= 2 * PRODUCTS ? 2 : 1;
        constexpr int STEPS = ROW_CHUNK / SHARE;
        const int member = thread_number() - CHAIN, input = places.input;
        const int of_w = SHARE > 1 ? member % PRODUCTS : member, share = SHARE > 1 ? member / PRODUCTS : 0;
        const float *x = args.x + start * input;
        const auto copy = ChunkCopy<INPUT, HELPERS>::begin(input, member);
        clear_columns<INPUT, HELPERS>(raw, 2 * ROW_CHUNK, input, member);
#pragma unroll 1
        for (int c = 0; c < 2; c++) {
            const int first = c * ROW_CHUNK;
            copy.run(x + first * input, min(length - first, ROW_CHUNK), raw + first * INPUT);
        }
        float w[EACH][INPUT];
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const int row = min(of_w + i * HELPERS, PRODUCTS - 1);
#pragma unroll
            for (int k = 0; k < INPUT; k++) w[i][k] = k < input ? weights[places.w + k * PRODUCTS + row] : 0.0f;
        }
        wait_for_copies<1>();
        whole_barrier<CHAIN + HELPERS>();
        for (int first = 0; first < length; first += ROW_CHUNK) {
            const int which = first / ROW_CHUNK & 1;
            const float *rows = raw + (which * ROW_CHUNK + share * STEPS) * INPUT;
            float *to = products + (which * ROW_CHUNK + share * STEPS) * PRODUCTS;
            float sums[STEPS][EACH] = {};
#pragma unroll
            for (int k = 0; k < INPUT; k += 4) {
                if (k < input) {
#pragma unroll
                    for (int s = 0; s < STEPS; s++) {
                        float4 v = four_at(rows + s * INPUT + k);
#pragma unroll
                        for (int i = 0; i < EACH; i++) {
                            sums[s][i] += w[i][k] * v.x;
                            sums[s][i] += w[i][k + 1] * v.y;
                            sums[s][i] += w[i][k + 2] * v.z;
                            sums[s][i] += w[i][k + 3] * v.w;
                        }
                    }
                }
            }
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                const int row = of_w + i * HELPERS;
                if (row < PRODUCTS && share < SHARE) {
#pragma unroll
                    for (int s = 0; s < STEPS; s++) to[s * PRODUCTS + row] = sums[s][i];
                }
            }
            // The next chunk is there, and this one is no longer read.
            wait_for_copies<0>();
            whole_barrier<CHAIN + HELPERS>();
            const int next = first + 2 * ROW_CHUNK;
            copy.run(x + size_t(next) * input, min(length - next, ROW_CHUNK), raw + which * ROW_CHUNK * INPUT);
        }
        wait_for_copies<0>();
        return;
    }

    const int group = thread_number() / GROUP, lane = thread_number() % GROUP;
    const int first = min(group, HIDDEN / ROWS - 1) * ROWS, unit = first + lane % ROWS;
    const bool is_writer = group < HIDDEN / ROWS && lane < ROWS;
    float u[Cell::U_BLOCKS][ROWS][COLUMNS];
#pragma unroll
    for (int j = 0; j < COLUMNS; j++) {
        int k = (j / 4 * GROUP + lane) * 4 + j % 4;
#pragma unroll
        for (int b = 0; b < Cell::U_BLOCKS; b++) {
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                u[b][r][j] = weights[places.u + (k * Cell::U_BLOCKS + b) * HIDDEN + first + r];
            }
        }
    }
    UnitParameters p = unit_parameters<Cell>(args, weights, unit);
    p.gate = kept_curve(args.gate);
    p.update = kept_curve(args.update);
    if (IS_SMOOTH) p = smooth(p);
    Memory state = {initial_state(args, network, sequence, unit), 0.0f};
    if (is_writer) h[unit] = state.h;
    // Bytes from the place that is read to the place that is written, and from one step's products to the next step's.
    constexpr int OTHER = HIDDEN * 4, NEXT = PRODUCTS * 4;
    const Place from = place_of(h + 4 * lane), to = place_of(h + unit), products_from = place_of(products + unit);
    const bool saves = kept_in_register(int(args.saved && is_writer));
    const bool writes_all = kept_in_register(int(args.writes_all_states && is_writer));
    float *saved_to = args.saved + start * (Cell::SAVED + 1) * HIDDEN + unit, *h_to = args.h + start * HIDDEN + unit;

#define ROW_STEP(is_odd)                                                                                               \
    {                                                                                                                  \
        float4 v[COLUMNS / 4];                                                                                         \
        _Pragma("unroll") for (int j = 0; j < COLUMNS / 4; j++) {                                                      \
            v[j] = read_four_at(from + (is_odd ? OTHER : 0) + j * GROUP * 16);                                         \
        }                                                                                                              \
        float of_x[Cell::W_BLOCKS];                                                                                    \
        _Pragma("unroll") for (int b = 0; b < Cell::W_BLOCKS; b++) of_x[b] = read_at(products_now + b * HIDDEN * 4);   \
        products_now += NEXT;                                                                                          \
        float pre[Cell::PRE], saved[Cell::SAVED + 1];                                                                  \
        _Pragma("unroll") for (int b = 0; b < Cell::PRE; b++) pre[b] = b < Cell::W_BLOCKS ? of_x[b] : 0.0f;            \
        _Pragma("unroll") for (int b = 0; b < Cell::U_BLOCKS; b++) {                                                   \
            RowSums<ROWS> sums;                                                                                        \
            float total[ROWS];                                                                                         \
            _Pragma("unroll") for (int j = 0; j < COLUMNS / 4; j++) {                                                  \
                _Pragma("unroll") for (int r = 0; r < ROWS; r++) {                                                     \
                    const float *of = u[b][r] + 4 * j;                                                                 \
                    sums.add(r, make_float4(of[0], of[1], of[2], of[3]), v[j]);                                        \
                }                                                                                                      \
            }                                                                                                          \
            sums.total(total);                                                                                         \
            pre[Cell::u_place(b)] += group_sum<ROWS, GROUP>(total, lane);                                              \
        }                                                                                                              \
        saved[Cell::SAVED] = state.h;                                                                                  \
        Cell::forward(p, pre, state, saved);                                                                           \
        if (is_writer) write_at(to + (is_odd ? 0 : OTHER), state.h);                                                   \
        _Pragma("unroll") for (int b = 0; b <= Cell::SAVED; b++) {                                                     \
            if (saves) saved_to[b * HIDDEN] = saved[b];                                                                \
        }                                                                                                              \
        if (writes_all) *h_to = state.h;                                                                               \
        saved_to += (Cell::SAVED + 1) * HIDDEN;                                                                        \
        h_to += HIDDEN;                                                                                                \
    }
    whole_barrier<CHAIN + HELPERS>();
    for (int chunk = 0; chunk < length; chunk += ROW_CHUNK) {
        whole_barrier<CHAIN + HELPERS>();
        Place products_now = products_from + (chunk / ROW_CHUNK & 1) * (ROW_CHUNK * NEXT);
        const int steps = min(length - chunk, ROW_CHUNK);
        if (steps == ROW_CHUNK) {
#pragma unroll
            for (int s = 0; s < ROW_CHUNK; s++) {
                if (s > 0) chain_barrier<CHAIN>();
                ROW_STEP(s % 2)
            }
        } else {
            for (int s = 0; s < steps; s += 2) {
                if (s > 0) chain_barrier<CHAIN>();
                ROW_STEP(false)
                if (s + 1 < steps) {
                    chain_barrier<CHAIN>();
                    ROW_STEP(true)
                }
            }
        }
    }
#undef ROW_STEP
    if (is_writer) args.h[(start + length - 1) * HIDDEN + unit] = state.h;
}

template <class Cell, int HIDDEN, int ROWS, int GROUP, int INPUT, int HELPERS>
DEVICE void rows_forward(const LayerArguments &args) {
    if (args.gate.is_smooth && args.update.is_smooth) rows_forward_as<Cell, HIDDEN, ROWS, GROUP, INPUT, HELPERS, true>(args);
    else rows_forward_as<Cell, HIDDEN, ROWS, GROUP, INPUT, HELPERS, false>(args);
}

// Backward, with the gradients of all parameters of the layer; a part is a sequence. Grid as forward; CHAIN + HELPERS
// threads. Writes the gradient by `pre` where there is room for it. The last U_IN_MEMORY blocks of U are in block memory
// instead of registers. Block memory in numbers: 2 · ROW_CHUNK · (INPUT + (FACTORS + 2 + PRE) · HIDDEN) +
// U_IN_MEMORY · ROWS · COLUMNS · CHAIN and SCALARS for each of 32 warps, where FACTORS are the numbers of Cell::Factors.
template <class Cell, int HIDDEN, int ROWS, int GROUP, int INPUT, int HELPERS, int U_IN_MEMORY>
DEVICE void rows_backward(const LayerArguments &args) {
    using Threads = RowThreads<HIDDEN, ROWS, GROUP>;
    constexpr int COLUMNS = Threads::COLUMNS, CHAIN = Threads::CHAIN, KEPT = (Cell::SAVED + 1) * HIDDEN;
    // What the helpers prepare of a step: the factors, the gradient from outside and the state before the step.
    constexpr int FACTORS = sizeof(typename Cell::Factors) / 4, PREPARED = (FACTORS + 2) * HIDDEN;
    constexpr int D_PRE = Cell::PRE * HIDDEN, IN_REGISTERS = Cell::U_BLOCKS - U_IN_MEMORY;
    const LayerPlaces &places = args.places;
    const int network = blockIdx.y, sequence = blockIdx.x, length = length_of(args, network, sequence);
    const float *weights = args.weights + size_t(network) * args.weight_stride;
    float *raw = static_cast<float *>(block_memory()), *prepared = raw + 2 * ROW_CHUNK * INPUT;
    float *d_pres = prepared + 2 * ROW_CHUNK * PREPARED, *u_memory = d_pres + 2 * ROW_CHUNK * D_PRE;
    float *scratch = u_memory + U_IN_MEMORY * ROWS * COLUMNS * CHAIN;
    float *part = args.parts + (size_t(network) * args.part_count + sequence) * args.part_length;
    const size_t start = first_step(args, network, sequence);
    const size_t row_of_states = (size_t(network) * args.sequences + sequence) * HIDDEN;
    const int last_chunk = (length - 1) / ROW_CHUNK * ROW_CHUNK;
    if (length == 0) {
        for (int j = thread_number(); j < args.part_length; j += thread_count()) part[j] = 0.0f;
        return;
    }
    UnitGradients gradients;
    bool is_writer = false;

    if (thread_number() >= CHAIN) {
        constexpr int ROWS_OF_W = Cell::W_BLOCKS * HIDDEN, EACH = (ROWS_OF_W + HELPERS - 1) / HELPERS;
        // Where there are more helpers than rows of W, several share a row: each has every SHARE-th four of its columns.
        constexpr int SHARE = HELPERS >= 4 * ROWS_OF_W ? 4 : HELPERS >= 2 * ROWS_OF_W ? 2 : 1;
        // A helper computes the factors of a unit, or of several, in every PER-th step of a chunk.
        constexpr int PER = HELPERS >= 4 * HIDDEN ? 4 : HELPERS >= 2 * HIDDEN ? 2 : 1;
        constexpr int TURNS = ROW_CHUNK / PER, BATCH = Cell::SAVED > 2 && TURNS > 4 ? 4 : TURNS;
        constexpr int UNITS = (HIDDEN + HELPERS - 1) / HELPERS;
        const bool is_smooth = args.gate.is_smooth && args.update.is_smooth;
        const int member = thread_number() - CHAIN, input = places.input;
        const float *x = args.x + start * input, *saved = args.saved + start * KEPT;
        const auto copy = ChunkCopy<INPUT, HELPERS>::begin(input, member);
        // What is not copied: beyond the input, and after the end of the sequence.
        clear_columns<INPUT, HELPERS>(raw, 2 * ROW_CHUNK, input, member);
        const int end = (last_chunk / ROW_CHUNK & 1) * ROW_CHUNK + length - last_chunk;
        clear_columns<INPUT, HELPERS>(raw + end * INPUT, last_chunk + ROW_CHUNK - length, 0, member);
        float d_w[EACH][INPUT / SHARE] = {};
        const int of_w = SHARE > 1 ? member % ROWS_OF_W : member, share = SHARE > 1 ? member / ROWS_OF_W : 0;
        UnitParameters p[UNITS];
        float all[UNITS];
#pragma unroll
        for (int i = 0; i < UNITS; i++) {
            const int unit = member % HIDDEN + i * HELPERS;
            p[i] = unit_parameters<Cell>(args, weights, min(unit, HIDDEN - 1));
            all[i] = args.d_all && unit < HIDDEN ? args.d_all[row_of_states + unit] : 0.0f;
        }
        constexpr bool IS_AHEAD = BATCH == TURNS && UNITS * TURNS * (Cell::SAVED + 1) <= 16;
        float values[UNITS][BATCH][Cell::SAVED + 1];
#define READ_ROW_VALUES(chunk, batch)                                                                              \
    {                                                                                                              \
        const int last = min(length - (chunk), ROW_CHUNK) - 1;                                                     \
        _Pragma("unroll") for (int i = 0; i < UNITS; i++) {                                                        \
            const int unit = min(member % HIDDEN + i * HELPERS, HIDDEN - 1), first = member / HIDDEN;              \
            _Pragma("unroll") for (int turn = 0; turn < BATCH; turn++) {                                           \
                const int step = (chunk) + min(((batch) + turn) * PER + first, last);                              \
                _Pragma("unroll") for (int b = 0; b <= Cell::SAVED; b++) {                                         \
                    values[i][turn][b] = saved[size_t(step) * KEPT + b * HIDDEN + unit];                           \
                }                                                                                                  \
            }                                                                                                      \
        }                                                                                                          \
    }
        if (IS_AHEAD) READ_ROW_VALUES(last_chunk, 0)
        // The chain is a chunk behind, and the gradient of W another one.
        for (int chunk = last_chunk; chunk >= -2 * ROW_CHUNK; chunk -= ROW_CHUNK) {
            const int which = chunk / ROW_CHUNK & 1, steps = min(length - chunk, ROW_CHUNK);
            // The chunk that the chain has left.
            const int done = chunk + 2 * ROW_CHUNK, done_steps = min(length - done, ROW_CHUNK);
            if (done <= last_chunk) {
                const float *rows = raw + which * ROW_CHUNK * INPUT;
                const float *d_from = d_pres + which * ROW_CHUNK * D_PRE;
                for (int s = 0; s < done_steps; s += 4) {
                    float d[4][EACH];
#pragma unroll
                    for (int i = 0; i < 4 * EACH; i++) {
                        const int row = of_w + i / 4 * HELPERS, step = s + i % 4;
                        d[i % 4][i / 4] = row < ROWS_OF_W && step < done_steps ? d_from[step * D_PRE + row] : 0.0f;
                    }
#pragma unroll
                    for (int k = 0; k < INPUT / SHARE; k += 4) {
                        const int column = k * SHARE + 4 * share;
                        if (column < input) {
#pragma unroll
                            for (int j = 0; j < 4; j++) {
                                float4 v = four_at(rows + (s + j) * INPUT + column);
#pragma unroll
                                for (int i = 0; i < EACH; i++) {
                                    d_w[i][k] += d[j][i] * v.x;
                                    d_w[i][k + 1] += d[j][i] * v.y;
                                    d_w[i][k + 2] += d[j][i] * v.z;
                                    d_w[i][k + 3] += d[j][i] * v.w;
                                }
                            }
                        }
                    }
                }
                if (args.d_pre) {
                    float *to = args.d_pre + (start + done) * D_PRE;
#pragma unroll 1
                    for (int j = member; j < done_steps * D_PRE; j += HELPERS) to[j] = d_from[j];
                }
            }
            if (chunk >= 0) {
                // All that is read from memory first, so that the reads wait together; where registers suffice, a chunk
                // ahead.
#pragma unroll
                for (int batch = 0; batch < TURNS; batch += BATCH) {
                    if (!IS_AHEAD) READ_ROW_VALUES(chunk, batch)
#pragma unroll
                    for (int i = 0; i < UNITS; i++) {
                        const int unit = member % HIDDEN + i * HELPERS, first = member / HIDDEN;
                        if (unit < HIDDEN && first < PER) {
                            float outside[BATCH];
#pragma unroll
                            for (int turn = 0; turn < BATCH; turn++) {
                                outside[turn] = all[i];
                                if (args.d_each) {
                                    const int step = chunk + min((batch + turn) * PER + first, steps - 1);
                                    outside[turn] += args.d_each[(start + step) * HIDDEN + unit];
                                }
                            }
                            float *to = prepared + (which * ROW_CHUNK + batch * PER + first) * PREPARED + unit;
                            if (is_smooth) {
                                write_factors<Cell, HIDDEN, BATCH>(smooth(p[i]), values[i], outside, to, PER * PREPARED);
                            } else {
                                write_factors<Cell, HIDDEN, BATCH>(p[i], values[i], outside, to, PER * PREPARED);
                            }
                        }
                    }
                }
                if (IS_AHEAD && chunk > 0) READ_ROW_VALUES(chunk - ROW_CHUNK, 0)
            }
            // What was copied in the turn before is there, and what was there before it is no longer read.
            wait_for_copies<0>();
            whole_barrier<CHAIN + HELPERS>();
            if (chunk >= 0) copy.run(x + size_t(chunk) * input, steps, raw + which * ROW_CHUNK * INPUT);
        }
#undef READ_ROW_VALUES
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const int row = of_w + i * HELPERS;
#pragma unroll
            for (int k = 0; k < INPUT / SHARE; k++) {
                const int column = k / 4 * 4 * SHARE + 4 * share + k % 4;
                if (row < ROWS_OF_W && share < SHARE && column < input) part[column * ROWS_OF_W + row] = d_w[i][k];
            }
        }
    } else {
        const int group = thread_number() / GROUP, lane = thread_number() % GROUP;
        const int first = min(group, HIDDEN / ROWS - 1) * ROWS, unit = first + lane % ROWS;
        const bool is_owner = group < HIDDEN / ROWS;
        is_writer = is_owner && lane < ROWS;
        // A thread has the columns first to first + ROWS - 1 of U, and of each block the rows
        // (j / 4 * GROUP + lane) * 4 + j % 4.
        float u[IN_REGISTERS][ROWS][COLUMNS], d_u[Cell::U_BLOCKS][ROWS][COLUMNS];
        float4 *own_memory = reinterpret_cast<float4 *>(u_memory) + thread_number();
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
#pragma unroll
            for (int b = 0; b < Cell::U_BLOCKS; b++) {
#pragma unroll
                for (int j = 0; j < COLUMNS; j += 4) {
                    float four[4];
#pragma unroll
                    for (int i = 0; i < 4; i++) {
                        int row = (j / 4 * GROUP + lane) * 4 + i;
                        four[i] = weights[places.u_rows + (b * HIDDEN + row) * HIDDEN + first + r];
                        d_u[b][r][j + i] = 0.0f;
                        if (b < IN_REGISTERS) u[b < IN_REGISTERS ? b : 0][r][j + i] = four[i];
                    }
                    if (b >= IN_REGISTERS) {
                        own_memory[(((b - IN_REGISTERS) * ROWS + r) * (COLUMNS / 4) + j / 4) * CHAIN] =
                            make_float4(four[0], four[1], four[2], four[3]);
                    }
                }
            }
        }
        UnitParameters p = unit_parameters<Cell>(args, weights, unit);
        Memory d = {args.d_last ? args.d_last[row_of_states + unit] : 0.0f, 0.0f};
        const Place prepared_from = place_of(prepared + unit), d_at = place_of(d_pres + unit);
        const Place old_from = place_of(prepared + (FACTORS + 1) * HIDDEN + first), d_from = place_of(d_pres + 4 * lane);
        const Place own_u = place_of(own_memory);
        float numbers[FACTORS + 1], old[ROWS] = {};
        float4 v[COLUMNS / 4] = {};

        for (int chunk = last_chunk; chunk >= 0; chunk -= ROW_CHUNK) {
            whole_barrier<CHAIN + HELPERS>();
            const int which = chunk / ROW_CHUNK & 1, steps = min(length - chunk, ROW_CHUNK);
            int of_prepared = (which * ROW_CHUNK + steps - 1) * PREPARED * 4, of_d = (which * ROW_CHUNK + steps - 1) * D_PRE * 4;
#pragma unroll
            for (int f = 0; f <= FACTORS; f++) numbers[f] = read_at(prepared_from + of_prepared + f * HIDDEN * 4);
#pragma unroll 1
            for (int s = steps - 1; s >= 0; s--) {
                float d_pre[Cell::PRE];
                typename Cell::Factors factors;
                memcpy(&factors, numbers, sizeof factors);
                d.h += numbers[FACTORS];
                Cell::backward(p, factors, d, d_pre, gradients);
#pragma unroll
                for (int b = 0; b < Cell::PRE; b++) {
                    if (is_writer) write_at(d_at + of_d + b * HIDDEN * 4, d_pre[b]);
                }
                // The gradient of U of the step before fills the time until the others have written. Where U has several
                // blocks, it follows each of their products instead.
                if (Cell::U_BLOCKS == 1) add_outer<ROWS, COLUMNS>(d_u[0], old, v);
                chain_barrier<CHAIN>();
                RowSums<ROWS> sums;
#pragma unroll
                for (int b = 0; b < Cell::U_BLOCKS; b++) {
#pragma unroll
                    for (int j = 0; j < COLUMNS / 4; j++) {
                        v[j] = read_four_at(d_from + of_d + Cell::u_place(b) * HIDDEN * 4 + j * GROUP * 16);
                    }
                    if (b == 0) {
                        read_rows<ROWS>(old_from + of_prepared, old);
                        // Before the first step of a chunk this reads what is not used.
                        of_prepared -= s > 0 ? PREPARED * 4 : 0;
#pragma unroll
                        for (int f = 0; f <= FACTORS; f++) numbers[f] = read_at(prepared_from + of_prepared + f * HIDDEN * 4);
                    }
#pragma unroll
                    for (int j = 0; j < COLUMNS / 4; j++) {
#pragma unroll
                        for (int r = 0; r < ROWS; r++) {
                            if (b < IN_REGISTERS) {
                                const float *of = u[b < IN_REGISTERS ? b : 0][r] + 4 * j;
                                sums.add(r, make_float4(of[0], of[1], of[2], of[3]), v[j]);
                            } else {
                                const int place = ((b - IN_REGISTERS) * ROWS + r) * (COLUMNS / 4) + j;
                                sums.add(r, read_four_at(own_u + place * CHAIN * 16), v[j]);
                            }
                        }
                    }
                    if (Cell::U_BLOCKS > 1) add_outer<ROWS, COLUMNS>(d_u[b], old, v);
                }
                float total[ROWS];
                sums.total(total);
                d.h += group_sum<ROWS, GROUP>(total, lane);
                of_d -= D_PRE * 4;
            }
        }
        if (Cell::U_BLOCKS == 1) add_outer<ROWS, COLUMNS>(d_u[0], old, v);
        // The helpers still add what the last chunks give.
        whole_barrier<CHAIN + HELPERS>();
        whole_barrier<CHAIN + HELPERS>();
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            float *u_part = part + places.u - places.w + size_t(first + r) * Cell::U_BLOCKS * HIDDEN;
#pragma unroll
            for (int b = 0; b < Cell::U_BLOCKS; b++) {
#pragma unroll
                for (int j = 0; j < COLUMNS; j++) {
                    if (is_owner) u_part[b * HIDDEN + (j / 4 * GROUP + lane) * 4 + j % 4] = d_u[b][r][j];
                }
            }
        }
        for (int v = 0; is_writer && v < Cell::VECTORS; v++) {
            part[places.vectors - places.w + v * HIDDEN + unit] = gradients.vectors[v];
        }
    }
    for (int i = 0; i < SCALARS; i++) gradients.scalars[i] = is_writer ? gradients.scalars[i] : 0.0f;
    write_scalars<CHAIN, CHAIN + HELPERS>(gradients.scalars, scratch, part + places.scalars - places.w);
}

// A block has all registers of a multiprocessor.
#define ROW_KERNELS(name, Cell, hidden, input, rows, group, helpers, back_rows, back_group, back_helpers, in_memory) \
    KERNEL_OF_BLOCKS(forward_rows_##name##_##hidden, LayerArguments,                                                 \
                     (RowThreads<hidden, rows, group>::CHAIN + helpers), 1) {                                        \
        rows_forward<Cell, hidden, rows, group, input, helpers>(args);                                               \
    }                                                                                                                \
    KERNEL_OF_BLOCKS(backward_rows_##name##_##hidden, LayerArguments,                                                \
                     (RowThreads<hidden, back_rows, back_group>::CHAIN + back_helpers), 1) {                         \
        rows_backward<Cell, hidden, back_rows, back_group, input, back_helpers, in_memory>(args);                    \
    }

#ifndef NO_ROW_TABLE
// Width, most features; rows, group and helper threads forward; the same backward, and the blocks of U in block memory.
ROW_KERNELS(fastgrnn, FastGrnn, 16, 32, 1, 1, 32, 1, 1, 64, 0)
ROW_KERNELS(fastgrnn, FastGrnn, 32, 32, 1, 1, 64, 2, 2, 64, 0)
ROW_KERNELS(fastgrnn, FastGrnn, 48, 32, 2, 2, 64, 2, 2, 96, 0)
ROW_KERNELS(fastgrnn, FastGrnn, 64, 32, 2, 2, 64, 4, 4, 128, 0)
ROW_KERNELS(fastgrnn, FastGrnn, 80, 32, 2, 2, 64, 4, 4, 160, 0)
ROW_KERNELS(fastgrnn, FastGrnn, 96, 32, 2, 4, 128, 2, 4, 192, 0)
ROW_KERNELS(fastgrnn, FastGrnn, 112, 32, 2, 4, 128, 2, 4, 128, 0)
ROW_KERNELS(fastgrnn, FastGrnn, 128, 32, 1, 2, 64, 4, 8, 128, 0)
ROW_KERNELS(fastgrnn_gain, FastGrnnGain, 16, 32, 1, 1, 32, 1, 1, 64, 0)
ROW_KERNELS(fastgrnn_gain, FastGrnnGain, 32, 32, 1, 1, 64, 2, 2, 64, 0)
ROW_KERNELS(fastgrnn_gain, FastGrnnGain, 48, 32, 2, 2, 64, 2, 2, 96, 0)
ROW_KERNELS(fastgrnn_gain, FastGrnnGain, 64, 32, 2, 2, 64, 4, 4, 128, 0)
ROW_KERNELS(fastgrnn_gain, FastGrnnGain, 80, 32, 2, 2, 64, 4, 4, 160, 0)
ROW_KERNELS(fastgrnn_gain, FastGrnnGain, 96, 32, 2, 4, 128, 2, 4, 192, 0)
ROW_KERNELS(fastgrnn_gain, FastGrnnGain, 112, 32, 2, 4, 128, 2, 4, 128, 0)
ROW_KERNELS(fastgrnn_gain, FastGrnnGain, 128, 32, 1, 2, 64, 4, 8, 128, 0)
ROW_KERNELS(gru, Gru, 32, 32, 2, 2, 64, 1, 2, 64, 0)
ROW_KERNELS(gru, Gru, 64, 32, 2, 4, 64, 1, 4, 64, 0)
ROW_KERNELS(gru, Gru, 80, 16, 2, 4, 64, 1, 4, 64, 0)
ROW_KERNELS(lstm, Lstm, 32, 32, 2, 2, 64, 1, 2, 64, 0)
ROW_KERNELS(lstm, Lstm, 64, 32, 2, 4, 64, 1, 4, 64, 2)
ROW_KERNELS(lstm, Lstm, 80, 16, 2, 4, 64, 1, 4, 64, 2)
ROW_KERNELS(ugrnn, Ugrnn, 32, 32, 2, 2, 64, 2, 2, 64, 0)
ROW_KERNELS(ugrnn, Ugrnn, 64, 32, 2, 4, 64, 2, 4, 128, 0)
ROW_KERNELS(ugrnn, Ugrnn, 80, 32, 2, 4, 64, 1, 4, 64, 0)
ROW_KERNELS(rnn, Rnn, 32, 32, 1, 1, 32, 2, 2, 64, 0)
ROW_KERNELS(rnn, Rnn, 64, 32, 2, 2, 64, 4, 4, 128, 0)
ROW_KERNELS(rnn, Rnn, 128, 32, 1, 2, 64, 4, 8, 128, 0)
ROW_KERNELS(fastrnn, FastRnn, 32, 32, 1, 1, 32, 2, 2, 64, 0)
ROW_KERNELS(fastrnn, FastRnn, 64, 32, 2, 2, 64, 4, 4, 128, 0)
ROW_KERNELS(fastrnn, FastRnn, 80, 32, 2, 2, 64, 4, 4, 160, 0)
ROW_KERNELS(fastrnn, FastRnn, 128, 32, 1, 2, 64, 4, 8, 128, 0)
ROW_KERNELS(fastrnn_vector, FastRnnVector, 32, 32, 1, 1, 32, 2, 2, 64, 0)
ROW_KERNELS(fastrnn_vector, FastRnnVector, 64, 32, 2, 2, 64, 4, 4, 128, 0)
ROW_KERNELS(fastrnn_vector, FastRnnVector, 128, 32, 1, 2, 64, 4, 8, 128, 0)
#endif
