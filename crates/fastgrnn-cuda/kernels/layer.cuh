// A layer forward and backward through time, for every cell and width: a block owns a tile of sequences of one network
// for all time steps. Weights are read through the caches in every step. Shapes that fit have faster kernels.
#pragma once

#include "cells.cuh"

// Sequences of a tile.
#define TILE 8
// The widest padded layer.
#define MAX_HIDDEN 256

struct LayerArguments {
    LayerPlaces places;
    Curve gate, update;
    // Sequences of a network, and the steps that each has room for.
    int sequences, steps;
    // The padded weights, `weight_stride` numbers a network.
    const float *weights;
    int weight_stride;
    // Steps of each sequence, [networks][sequences]; 0 where a batch has fewer sequences.
    const int *lengths;
    // [networks][sequences][steps][input]
    const float *x;
    // States before the first step, [networks][sequences][hidden]; null if they are zero.
    const float *initial;
    // The states after each step, [networks][sequences][steps][hidden]: all of them, or the last of each sequence alone.
    float *h;
    int writes_all_states;
    // What the way back needs: the SAVED values of the cell and the state before the step,
    // [networks][sequences][steps][SAVED + 1][hidden]; null if no gradient is to follow. The kernels of tiles use an order
    // of their own.
    float *saved;
    // Gradients by the states, each null if there are none: by the last state of each sequence and by all states of a
    // sequence alike, both [networks][sequences][hidden], and by each state, like `h`.
    const float *d_last, *d_all, *d_each;
    // The gradient by `pre`, [networks][sequences][steps][PRE][hidden].
    float *d_pre;
    // The gradient of the layer's parameters that the sequences of a part contribute,
    // [networks][parts][w, u, vectors, scalars].
    float *parts;
    int part_count, part_length;
};

DEVICE int length_of(const LayerArguments &args, int network, int sequence) {
    return sequence < args.sequences ? args.lengths[network * args.sequences + sequence] : 0;
}

// The first step of a sequence in the buffers of a layer.
DEVICE size_t first_step(const LayerArguments &args, int network, int sequence) {
    return (size_t(network) * args.sequences + sequence) * args.steps;
}

DEVICE float initial_state(const LayerArguments &args, int network, int sequence, int unit) {
    if (!args.initial) return 0.0f;
    return args.initial[(size_t(network) * args.sequences + sequence) * args.places.hidden + unit];
}

template <class Cell>
DEVICE UnitParameters unit_parameters(const LayerArguments &args, const float *weights, int unit) {
    UnitParameters p;
    p.gate = args.gate;
    p.update = args.update;
    for (int i = 0; i < Cell::VECTORS; i++) p.vectors[i] = weights[args.places.vectors + i * args.places.hidden + unit];
    for (int i = 0; i < SCALARS; i++) p.scalars[i] = weights[args.places.scalars + i];
    return p;
}

// The gradient by the state of a step that comes from outside the layer.
DEVICE float outer_gradient(const LayerArguments &args, int network, int sequence, int step, int length, int unit) {
    size_t row = size_t(network) * args.sequences + sequence;
    int hidden = args.places.hidden;
    float d = 0.0f;
    if (args.d_last && step == length - 1) d += args.d_last[row * hidden + unit];
    if (args.d_all) d += args.d_all[row * hidden + unit];
    if (args.d_each) d += args.d_each[(row * args.steps + step) * hidden + unit];
    return d;
}

// Adds a matrix by columns times a vector of each sequence: accumulators[place(block)][sequence].
template <class Cell, int PER, bool RECURRENT>
DEVICE void add_product(const float *matrix, int rows, int hidden, int columns, int unit, const float *vectors, int stride,
                        float (*sums)[PER]) {
    constexpr int BLOCKS = RECURRENT ? Cell::U_BLOCKS : Cell::W_BLOCKS;
#pragma unroll 4
    for (int k = 0; k < columns; k++) {
        float values[PER];
        for (int i = 0; i < PER; i++) values[i] = vectors[i * stride + k];
        for (int b = 0; b < BLOCKS; b++) {
            float weight = matrix[size_t(k) * rows + b * hidden + unit];
            int place = RECURRENT ? Cell::u_place(b) : b;
            for (int i = 0; i < PER; i++) sums[place][i] += weight * values[i];
        }
    }
}

// The longest sequence of a tile.
DEVICE int longest(const LayerArguments &args, int network, int first) {
    int most = 0;
    for (int s = 0; s < TILE; s++) most = max(most, length_of(args, network, first + s));
    return most;
}

// Forward. Grid: tiles × networks. A thread owns a unit of PER sequences; a block has hidden · TILE / PER threads, rounded
// up to whole warps. Block memory: TILE · (input + 2 · hidden) numbers.
template <class Cell, int PER>
DEVICE void layer_forward(const LayerArguments &args) {
    const LayerPlaces &places = args.places;
    const int hidden = places.hidden, input = places.input, network = blockIdx.y, first = blockIdx.x * TILE;
    const int unit = thread_number() % hidden, group = thread_number() / hidden;
    const bool is_active = group < TILE / PER;
    const float *weights = args.weights + size_t(network) * args.weight_stride;
    float *x = static_cast<float *>(block_memory()), *h = x + TILE * input;
    const int mine = group * PER, steps = longest(args, network, first);

    UnitParameters p = {};
    Memory states[PER] = {};
    int lengths[PER] = {};
    if (is_active) {
        p = unit_parameters<Cell>(args, weights, unit);
        for (int i = 0; i < PER; i++) {
            lengths[i] = length_of(args, network, first + mine + i);
            if (lengths[i] > 0) states[i].h = initial_state(args, network, first + mine + i, unit);
            h[(mine + i) * hidden + unit] = states[i].h;
        }
    }
    for (int t = 0; t < steps; t++) {
        const float *h_old = h + (t % 2) * TILE * hidden;
        float *h_new = h + ((t + 1) % 2) * TILE * hidden;
        for (int j = thread_number(); j < TILE * input; j += thread_count()) {
            int sequence = first + j / input;
            bool is_there = t < length_of(args, network, sequence);
            x[j] = is_there ? args.x[(first_step(args, network, sequence) + t) * input + j % input] : 0.0f;
        }
        block_barrier();
        if (is_active) {
            float sums[Cell::PRE][PER] = {};
            add_product<Cell, PER, false>(weights + places.w, Cell::W_BLOCKS * hidden, hidden, input, unit,
                                          x + mine * input, input, sums);
            if (Cell::READS_STATE) {
                add_product<Cell, PER, true>(weights + places.u, Cell::U_BLOCKS * hidden, hidden, hidden, unit,
                                             h_old + mine * hidden, hidden, sums);
            }
            for (int i = 0; i < PER; i++) {
                if (t < lengths[i]) {
                    float pre[Cell::PRE], saved[Cell::SAVED + 1];
                    for (int b = 0; b < Cell::PRE; b++) pre[b] = sums[b][i];
                    saved[Cell::SAVED] = states[i].h;
                    Cell::forward(p, pre, states[i], saved);
                    size_t step = first_step(args, network, first + mine + i) + t;
                    if (args.writes_all_states || t == lengths[i] - 1) args.h[step * hidden + unit] = states[i].h;
                    for (int b = 0; args.saved && b <= Cell::SAVED; b++) {
                        args.saved[(step * (Cell::SAVED + 1) + b) * hidden + unit] = saved[b];
                    }
                }
                h_new[(mine + i) * hidden + unit] = states[i].h;
            }
        }
        block_barrier();
    }
}

// Backward. Grid and threads as forward. Writes the gradient by `pre` of each step, and the gradients of vectors and
// scalars of the tile. Block memory: TILE · (PRE + VECTORS) · hidden numbers and a number for each warp.
template <class Cell, int PER>
DEVICE void layer_backward(const LayerArguments &args) {
    const LayerPlaces &places = args.places;
    const int hidden = places.hidden, network = blockIdx.y, tile = blockIdx.x, first = tile * TILE;
    const int unit = thread_number() % hidden, group = thread_number() / hidden;
    const bool is_active = group < TILE / PER;
    const float *weights = args.weights + size_t(network) * args.weight_stride;
    float *d_pre = static_cast<float *>(block_memory()), *d_vectors = d_pre + TILE * Cell::PRE * hidden;
    float *scratch = d_vectors + TILE * Cell::VECTORS * hidden;
    const int mine = group * PER, steps = longest(args, network, first);

    UnitParameters p = {};
    Memory d[PER] = {};
    int lengths[PER] = {};
    UnitGradients gradients;
    if (is_active) {
        p = unit_parameters<Cell>(args, weights, unit);
        for (int i = 0; i < PER; i++) lengths[i] = length_of(args, network, first + mine + i);
    }
    for (int t = steps - 1; t >= 0; t--) {
        for (int i = 0; is_active && i < PER; i++) {
            float of_pre[Cell::PRE] = {};
            if (t < lengths[i]) {
                int sequence = first + mine + i;
                size_t step = first_step(args, network, sequence) + t;
                d[i].h += outer_gradient(args, network, sequence, t, lengths[i], unit);
                float saved[Cell::SAVED + 1];
                for (int b = 0; b <= Cell::SAVED; b++) {
                    saved[b] = args.saved[(step * (Cell::SAVED + 1) + b) * hidden + unit];
                }
                Cell::backward(p, Cell::factors(p, saved, saved[Cell::SAVED]), d[i], of_pre, gradients);
                for (int b = 0; b < Cell::PRE; b++) args.d_pre[(step * Cell::PRE + b) * hidden + unit] = of_pre[b];
            }
            for (int b = 0; b < Cell::PRE; b++) d_pre[((mine + i) * Cell::PRE + b) * hidden + unit] = of_pre[b];
        }
        block_barrier();
        if (is_active && Cell::READS_STATE) {
            const float *u = weights + places.u_rows + unit;
            for (int b = 0; b < Cell::U_BLOCKS; b++) {
                const float *from = d_pre + (mine * Cell::PRE + Cell::u_place(b)) * hidden;
#pragma unroll 8
                for (int k = 0; k < hidden; k++) {
                    float weight = u[size_t(b * hidden + k) * hidden];
                    for (int i = 0; i < PER; i++) d[i].h += weight * from[i * Cell::PRE * hidden + k];
                }
            }
        }
        block_barrier();
    }
    float *part = args.parts + (size_t(network) * args.part_count + tile) * args.part_length;
    for (int v = 0; is_active && v < Cell::VECTORS; v++) {
        d_vectors[(group * Cell::VECTORS + v) * hidden + unit] = gradients.vectors[v];
    }
    block_barrier();
    for (int j = thread_number(); j < Cell::VECTORS * hidden; j += thread_count()) {
        float sum = 0.0f;
        for (int g = 0; g < TILE / PER; g++) sum += d_vectors[g * Cell::VECTORS * hidden + j];
        part[places.vectors - places.w + j] = sum;
    }
    for (int i = 0; i < SCALARS; i++) {
        float sum = block_sum(gradients.scalars[i], scratch);
        if (thread_number() == 0) part[places.scalars - places.w + i] = sum;
    }
}

// The entries of d_pre at which the blocks of W and of U lie; others of the arguments are those of the layer.
struct OuterArguments {
    LayerArguments layer;
    int pre_blocks, saved_values;
    int u_places[MAX_BLOCKS];
    // Sequences that a part sums over.
    int part_sequences;
};

#define OUTER_COLUMNS 32
#define OUTER_ROWS 64
#define OUTER_STEPS 16
#define OUTER_THREADS 128

// The gradients of W and U: the sum over steps and sequences of d_pre times what the matrix was multiplied with.
// Grid: parts × pieces × networks, where a piece is OUTER_COLUMNS × OUTER_ROWS entries of a matrix, first those of W, row
// pieces fastest. A thread owns 4 × 4 of them.
KERNEL(layer_outer_sums, OuterArguments, OUTER_THREADS) {
    const LayerArguments &layer = args.layer;
    const LayerPlaces &places = layer.places;
    const int hidden = places.hidden, network = blockIdx.z;
    const int w_rows = places.w_blocks * hidden, u_rows = places.u_blocks * hidden;
    const int w_row_pieces = (w_rows + OUTER_ROWS - 1) / OUTER_ROWS, u_row_pieces = (u_rows + OUTER_ROWS - 1) / OUTER_ROWS;
    const int w_pieces = w_row_pieces * ((places.input + OUTER_COLUMNS - 1) / OUTER_COLUMNS);
    const bool is_u = int(blockIdx.y) >= w_pieces;
    const int piece = is_u ? blockIdx.y - w_pieces : blockIdx.y;
    const int row_pieces = is_u ? u_row_pieces : w_row_pieces;
    const int rows = is_u ? u_rows : w_rows, columns = is_u ? hidden : places.input;
    const int first_row = piece % row_pieces * OUTER_ROWS, first_column = piece / row_pieces * OUTER_COLUMNS;
    __shared__ float a[OUTER_STEPS][OUTER_COLUMNS + 4];
    __shared__ float d[OUTER_STEPS][OUTER_ROWS + 4];
    const int column = thread_number() / 16 * 4, row = thread_number() % 16 * 4;
    float sums[4][4] = {};

    for (int s = 0; s < args.part_sequences; s++) {
        const int sequence = blockIdx.x * args.part_sequences + s;
        const int length = length_of(layer, network, sequence);
        const size_t start = first_step(layer, network, sequence);
        for (int t0 = 0; t0 < length; t0 += OUTER_STEPS) {
            for (int j = thread_number(); j < OUTER_STEPS * OUTER_COLUMNS; j += OUTER_THREADS) {
                int t = t0 + j / OUTER_COLUMNS, k = first_column + j % OUTER_COLUMNS;
                float value = 0.0f;
                if (t < length && k < columns) {
                    // The state before the step is the last of the saved values.
                    if (is_u) value = layer.saved[((start + t + 1) * (args.saved_values + 1) - 1) * hidden + k];
                    else value = layer.x[(start + t) * columns + k];
                }
                a[j / OUTER_COLUMNS][j % OUTER_COLUMNS] = value;
            }
            for (int j = thread_number(); j < OUTER_STEPS * OUTER_ROWS; j += OUTER_THREADS) {
                int t = t0 + j / OUTER_ROWS, r = first_row + j % OUTER_ROWS;
                float value = 0.0f;
                if (t < length && r < rows) {
                    int block = is_u ? args.u_places[r / hidden] : r / hidden;
                    value = layer.d_pre[((start + t) * args.pre_blocks + block) * hidden + r % hidden];
                }
                d[j / OUTER_ROWS][j % OUTER_ROWS] = value;
            }
            block_barrier();
            for (int t = 0; t < OUTER_STEPS; t++) {
                for (int i = 0; i < 4; i++) {
                    for (int j = 0; j < 4; j++) sums[i][j] += a[t][column + i] * d[t][row + j];
                }
            }
            block_barrier();
        }
    }
    float *part = layer.parts + (size_t(network) * layer.part_count + blockIdx.x) * layer.part_length;
    float *out = part + (is_u ? places.u - places.w : 0);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            int k = first_column + column + i, r = first_row + row + j;
            if (k < columns && r < rows) out[size_t(k) * rows + r] = sums[i][j];
        }
    }
}

struct InputGradientArguments {
    LayerArguments layer;
    int pre_blocks;
    // The gradient by x, like x.
    float *d_x;
};

#define INPUT_STEPS 8

// The gradient of a layer by what it reads. Grid: pieces of INPUT_STEPS steps × sequences × networks. Block memory:
// INPUT_STEPS · w_blocks · hidden numbers.
KERNEL(layer_input_gradient, InputGradientArguments, 256) {
    const LayerArguments &layer = args.layer;
    const LayerPlaces &places = layer.places;
    const int hidden = places.hidden, network = blockIdx.z, sequence = blockIdx.y, t0 = blockIdx.x * INPUT_STEPS;
    const int length = length_of(layer, network, sequence), rows = places.w_blocks * hidden;
    const size_t start = first_step(layer, network, sequence);
    float *d_pre = static_cast<float *>(block_memory());
    for (int j = thread_number(); j < INPUT_STEPS * rows; j += thread_count()) {
        int t = t0 + j / rows;
        d_pre[j] = t < length ? layer.d_pre[(start + t) * args.pre_blocks * hidden + j % rows] : 0.0f;
    }
    block_barrier();
    const float *w = layer.weights + size_t(network) * layer.weight_stride + places.w_rows;
    for (int k = thread_number(); k < places.input; k += thread_count()) {
        float sums[INPUT_STEPS] = {};
        for (int r = 0; r < rows; r++) {
            float weight = w[size_t(r) * places.input + k];
            for (int t = 0; t < INPUT_STEPS; t++) sums[t] += weight * d_pre[t * rows + r];
        }
        for (int t = 0; t < INPUT_STEPS; t++) {
            if (t0 + t < length) args.d_x[(start + t0 + t) * places.input + k] = sums[t];
        }
    }
}

#define LAYER_KERNELS(name, Cell)                                                                     \
    KERNEL(forward_##name##_8, LayerArguments, MAX_HIDDEN) { layer_forward<Cell, 8>(args); }          \
    KERNEL(forward_##name##_4, LayerArguments, MAX_HIDDEN) { layer_forward<Cell, 4>(args); }          \
    KERNEL(forward_##name##_2, LayerArguments, MAX_HIDDEN) { layer_forward<Cell, 2>(args); }          \
    KERNEL(backward_##name##_8, LayerArguments, MAX_HIDDEN) { layer_backward<Cell, 8>(args); }        \
    KERNEL(backward_##name##_4, LayerArguments, MAX_HIDDEN) { layer_backward<Cell, 4>(args); }        \
    KERNEL(backward_##name##_2, LayerArguments, MAX_HIDDEN) { layer_backward<Cell, 2>(args); }

LAYER_KERNELS(rnn, Rnn)
LAYER_KERNELS(fastrnn, FastRnn)
LAYER_KERNELS(fastrnn_vector, FastRnnVector)
LAYER_KERNELS(fastgrnn, FastGrnn)
LAYER_KERNELS(fastgrnn_gain, FastGrnnGain)
LAYER_KERNELS(ugrnn, Ugrnn)
LAYER_KERNELS(gru, Gru)
LAYER_KERNELS(lstm, Lstm)
LAYER_KERNELS(mingru, MinGru)
