// From the flat parameters of the networks of a cohort to the padded buffer that the layers read, and from the padded
// gradient back to the flat one.
//
// draw_dropped   which recurrent entries are dropped in this step
// see            the parameters as the network sees them: on their grids, without what is dropped
// pack           the padded buffer
// pull_back      the flat gradient
//
// Buffers of flat parameters have `parameter_stride` numbers a network, whatever its own number of parameters.
#pragma once

#include "rng.cuh"
#include "sources.cuh"

// The first key of the stream of dropped entries.
#define STREAM_WEIGHT_DROP 13

// The places of all layers, which the networks of a cohort share.
struct NetworkPlaces {
    int layer_count;
    LayerPlaces layers[MAX_LAYERS];
    HeadPlaces head;
};

#define SEE_THREADS 256
#define SEE_VALUES 4
#define DRAW_THREADS 512
// Draws of a chunk, which one thread makes one after the other.
#define DRAWS_OF_CHUNK 128
#define CHUNK_WORDS (DRAWS_OF_CHUNK / 32)
#define STATE_WORDS 8

// The stream of a step.
DEVICE Rng drop_stream(const DropSettings &drop, uint64_t step) {
    const uint64_t key = extend_key(key_of_seed(drop.seed), STREAM_WEIGHT_DROP);
    return stream_of_key(extend_key(extend_key(key, drop.pass), step));
}

// Word `word` of the state of a stream.
DEVICE unsigned state_word(const Rng &rng, int word) {
    const uint64_t pair = word < 2 ? rng.a : word < 4 ? rng.b : word < 6 ? rng.c : rng.d;
    return unsigned(pair >> (word % 2 * 32));
}

DEVICE int odd_bits(unsigned value) {
    for (int by = 16; by > 0; by /= 2) value ^= value >> by;
    return value & 1;
}

struct DrawArguments {
    const NetworkSource *sources;
    const Progress *progress;
    const DropSettings *drops;
    // What a number of draws does to a state, which is linear in its bits: [levels][256 rows][STATE_WORDS], where
    // level k stands for 2^k chunks.
    const unsigned *jumps;
    // A bit for each draw, set if the entry is dropped: [networks][drawn_stride].
    unsigned *drawn;
    int drawn_stride;
};

// Draws in chunks side by side what is one stream. The states at the starts of chunks come from each other by jumps:
// of 1 chunk, then of 2, 4, and so on. Grid: networks. Block memory: STATE_WORDS words for each chunk of the network
// with the most draws.
KERNEL(draw_dropped, DrawArguments, DRAW_THREADS) {
    const int network = blockIdx.x;
    const int chunks = (args.sources[network].draws + DRAWS_OF_CHUNK - 1) / DRAWS_OF_CHUNK;
    const DropSettings drop = args.drops[network];
    unsigned *starts = static_cast<unsigned *>(block_memory());
    if (thread_number() == 0 && chunks > 0) {
        const Rng first = drop_stream(drop, args.progress[network].step);
        for (int word = 0; word < STATE_WORDS; word++) starts[word * chunks] = state_word(first, word);
    }
    block_barrier();
    const unsigned *jump = args.jumps;
    for (int known = 1; known < chunks; known *= 2, jump += 256 * STATE_WORDS) {
        const int fresh = min(known, chunks - known);
        for (int task = thread_number(); task < fresh * STATE_WORDS; task += thread_count()) {
            const int chunk = task % fresh, word = task / fresh;
            unsigned from[STATE_WORDS], to = 0;
            for (int i = 0; i < STATE_WORDS; i++) from[i] = starts[i * chunks + chunk];
            for (int bit = 0; bit < 32; bit++) {
                const unsigned *row = jump + (word * 32 + bit) * STATE_WORDS;
                unsigned common = 0;
                for (int i = 0; i < STATE_WORDS; i++) common ^= row[i] & from[i];
                to |= unsigned(odd_bits(common)) << bit;
            }
            starts[word * chunks + known + chunk] = to;
        }
        block_barrier();
    }
    unsigned *drawn = args.drawn + size_t(network) * args.drawn_stride;
    for (int chunk = thread_number(); chunk < chunks; chunk += thread_count()) {
        uint64_t pairs[STATE_WORDS / 2];
        for (int i = 0; i < STATE_WORDS / 2; i++) {
            pairs[i] = starts[2 * i * chunks + chunk] | uint64_t(starts[(2 * i + 1) * chunks + chunk]) << 32;
        }
        Rng rng = {pairs[0], pairs[1], pairs[2], pairs[3]};
        for (int word = 0; word < CHUNK_WORDS; word++) {
            unsigned bits = 0;
            for (int bit = 0; bit < 32; bit++) bits |= unsigned(uniform(&rng) < drop.share) << bit;
            drawn[chunk * CHUNK_WORDS + word] = bits;
        }
    }
}

struct SeeArguments {
    const NetworkSource *sources;
    const ViewSource *views;
    const ViewGrid *grids;
    int view_stride;
    // The view of each entry, [networks][parameter_stride].
    const unsigned char *view_of;
    const float *parameters;
    float *seen;
    int parameter_stride;
    // What is dropped; null if nothing is.
    const unsigned *drawn;
    int drawn_stride;
    const DropSettings *drops;
};

DEVICE float nearest_of_grid(ViewGrid grid, float value) {
    float largest = grid.limit / grid.step;
    return fminf(fmaxf(rintf(value / grid.step), -largest), largest) * grid.step;
}

// Grid: pieces of SEE_THREADS · SEE_VALUES parameters × networks.
KERNEL(see, SeeArguments, SEE_THREADS) {
    const int network = blockIdx.y;
    const size_t base = size_t(network) * args.parameter_stride;
    for (int i = 0; i < SEE_VALUES; i++) {
        const int entry = (blockIdx.x * SEE_VALUES + i) * SEE_THREADS + thread_number();
        if (entry >= args.sources[network].parameters) return;
        const size_t number = size_t(network) * args.view_stride + args.view_of[base + entry];
        const ViewGrid grid = args.grids[number];
        float value = args.parameters[base + entry];
        if (grid.step > 0.0f) value = nearest_of_grid(grid, value);
        const int draw = args.views[number].draw;
        if (args.drawn && draw >= 0) {
            const unsigned *drawn = args.drawn + size_t(network) * args.drawn_stride;
            value *= drop_factor(drawn, draw + entry - args.views[number].offset, args.drops[network].kept);
        }
        args.seen[base + entry] = value;
    }
}

// Matrices are read and written in square patches; a thread owns PATCH_VALUES entries of a column.
#define PATCH 32
#define PATCH_THREADS 256
#define PATCH_LINES (PATCH_THREADS / PATCH)
#define PATCH_VALUES (PATCH / PATCH_LINES)
// From one line of a patch in block memory to the next: neither lines nor columns share a bank.
#define PATCH_STRIDE (PATCH + 1)
#define PATCH_SIZE (PATCH * PATCH_STRIDE)
// Entries that a block copies where there is no matrix to turn.
#define PIECE (PATCH_THREADS * PATCH_VALUES)

DEVICE int patches(int length) { return (length + PATCH - 1) / PATCH; }
DEVICE int pieces(int length) { return (length + PIECE - 1) / PIECE; }

DEVICE float sigmoid_of(float x) { return 1.0f / (1.0f + expf(-x)); }

struct PackArguments {
    NetworkPlaces places;
    const NetworkSource *sources;
    const float *seen;
    int parameter_stride;
    float *packed;
    int packed_stride;
};

// A matrix in the padded buffer: rows are `blocks` blocks of `hidden` units.
struct PaddedMatrix {
    int hidden, blocks, columns;
    int by_columns, by_rows;
};

DEVICE PaddedMatrix padded_matrix(const LayerPlaces &places, bool is_u) {
    PaddedMatrix matrix;
    matrix.hidden = places.hidden;
    matrix.blocks = is_u ? places.u_blocks : places.w_blocks;
    matrix.columns = is_u ? places.hidden : places.input;
    matrix.by_columns = is_u ? places.u : places.w;
    matrix.by_rows = is_u ? places.u_rows : places.w_rows;
    return matrix;
}

// Where a padded row lies among the rows of the network, -1 for padding.
DEVICE int own_row(const PaddedMatrix &matrix, int hidden, int row) {
    const int unit = row % matrix.hidden;
    return row < matrix.blocks * matrix.hidden && unit < hidden ? row / matrix.hidden * hidden + unit : -1;
}

DEVICE int padded_row(const PaddedMatrix &matrix, int hidden, int row) {
    return row / hidden * matrix.hidden + row % hidden;
}

// Patch number `patch` of W or U, patches of a column first.
DEVICE void pack_patch(const PaddedMatrix &matrix, const MatrixSource &source, int hidden, int columns,
                       const float *seen, float *packed, int patch) {
    float *left = static_cast<float *>(block_memory()), *right = left + PATCH_SIZE;
    const int rows = matrix.blocks * matrix.hidden, column = thread_number() % PATCH, line = thread_number() / PATCH;
    const int first_row = patch % patches(rows) * PATCH, first_column = patch / patches(rows) * PATCH;
    const int at = first_column + column;
    float values[PATCH_VALUES] = {};
    if (source.form == FORM_LOW_RANK) {
        for (int k0 = 0; k0 < source.rank; k0 += PATCH) {
            const int k = k0 + column;
            for (int i = 0; i < PATCH_VALUES; i++) {
                const int y = line + i * PATCH_LINES, row = own_row(matrix, hidden, first_row + y);
                const bool is_there = row >= 0 && k < source.rank;
                left[y * PATCH_STRIDE + column] = is_there ? seen[source.first + row * source.rank + k] : 0.0f;
            }
            for (int i = 0; i < PATCH_VALUES; i++) {
                const int y = line + i * PATCH_LINES, other = first_column + y;
                const bool is_there = other < columns && k < source.rank;
                right[y * PATCH_STRIDE + column] = is_there ? seen[source.second + other * source.rank + k] : 0.0f;
            }
            block_barrier();
            for (int k = 0; k < PATCH; k++) {
                const float factor = right[column * PATCH_STRIDE + k];
                for (int i = 0; i < PATCH_VALUES; i++) {
                    values[i] += left[(line + i * PATCH_LINES) * PATCH_STRIDE + k] * factor;
                }
            }
            block_barrier();
        }
    } else if (source.form != FORM_ABSENT) {
        for (int i = 0; i < PATCH_VALUES; i++) {
            const int row = own_row(matrix, hidden, first_row + line + i * PATCH_LINES);
            if (row < 0 || at >= columns) continue;
            if (source.form == FORM_FULL) values[i] = seen[source.first + row * columns + at];
            else if (row % hidden == at) values[i] = seen[source.first + row];
        }
    }
    for (int i = 0; i < PATCH_VALUES; i++) {
        const int y = line + i * PATCH_LINES, row = first_row + y;
        left[y * PATCH_STRIDE + column] = values[i];
        if (row < rows && at < matrix.columns) packed[matrix.by_rows + size_t(row) * matrix.columns + at] = values[i];
    }
    block_barrier();
    for (int i = 0; i < PATCH_VALUES; i++) {
        const int x = line + i * PATCH_LINES, row = first_row + column;
        if (row < rows && first_column + x < matrix.columns) {
            packed[matrix.by_columns + size_t(first_column + x) * rows + row] = left[column * PATCH_STRIDE + x];
        }
    }
}

DEVICE float point_value(const PointSource &source, const float *seen, int i) {
    if (source.at >= 0) return source.is_raw ? sigmoid_of(seen[source.at + i]) : seen[source.at + i];
    return source.at == POINT_FIXED ? source.value : 0.0f;
}

DEVICE void pack_points(const LayerPlaces &places, const LayerSource &source, const float *seen, float *packed) {
    for (int i = thread_number(); i < places.vector_count * places.hidden; i += thread_count()) {
        const int vector = i / places.hidden, unit = i % places.hidden;
        packed[places.vectors + i] = unit < source.hidden ? point_value(source.vectors[vector], seen, unit) : 0.0f;
    }
    const int scalar = thread_number();
    if (scalar < SCALARS) {
        const bool is_tied = source.scalars[scalar].at == POINT_TIED;
        packed[places.scalars + scalar] =
            is_tied ? 1.0f - point_value(source.scalars[0], seen, 0) : point_value(source.scalars[scalar], seen, 0);
    }
}

DEVICE void pack_head(const HeadPlaces &places, const NetworkSource &source, const float *seen, float *packed,
                      int piece) {
    const int weights = places.outputs * places.hidden;
    for (int k = 0; k < PATCH_VALUES; k++) {
        const int i = piece * PIECE + k * PATCH_THREADS + thread_number();
        if (i < weights) {
            const int output = i / places.hidden, unit = i % places.hidden;
            const bool is_own = unit < source.head_hidden;
            packed[places.w + i] = is_own ? seen[source.head_w + output * source.head_hidden + unit] : 0.0f;
        } else if (i < weights + places.outputs) {
            packed[places.b + i - weights] = seen[source.head_b + i - weights];
        }
    }
}

// Grid: for each layer the patches of W, those of U and one block for the rest, then the pieces of the head;
// × networks. Block memory: 2 · PATCH_SIZE numbers.
KERNEL(pack, PackArguments, PATCH_THREADS) {
    const int network = blockIdx.y;
    const NetworkSource &source = args.sources[network];
    const float *seen = args.seen + size_t(network) * args.parameter_stride;
    float *packed = args.packed + size_t(network) * args.packed_stride;
    int job = blockIdx.x;
    for (int i = 0; i < args.places.layer_count; i++) {
        const LayerPlaces &places = args.places.layers[i];
        const LayerSource &layer = source.layers[i];
        const int of_w = patches(places.w_blocks * places.hidden) * patches(places.input);
        const int of_u = patches(places.u_blocks * places.hidden) * patches(places.hidden);
        if (job < of_w + of_u) {
            const bool is_u = job >= of_w;
            pack_patch(padded_matrix(places, is_u), is_u ? layer.u : layer.w, layer.hidden,
                       is_u ? layer.hidden : layer.input, seen, packed, is_u ? job - of_w : job);
            return;
        }
        job -= of_w + of_u;
        if (job == 0) {
            pack_points(places, layer, seen, packed);
            return;
        }
        job--;
    }
    pack_head(args.places.head, source, seen, packed, job);
}

struct PullBackArguments {
    NetworkPlaces places;
    const NetworkSource *sources;
    // What `pack` read and wrote.
    const float *seen, *packed;
    int parameter_stride, packed_stride;
    // The padded gradient, in the order of the padded buffer.
    const float *padded;
    int padded_stride;
    float *gradient;
    const unsigned *drawn;
    int drawn_stride;
    const DropSettings *drops;
};

// The padded gradient of a matrix and where its parameters' gradients go.
struct MatrixPull {
    PaddedMatrix matrix;
    MatrixSource source;
    int hidden, columns;
    // By columns.
    const float *padded;
    const float *seen;
    float *gradient;
    // Null if nothing is dropped.
    const unsigned *drawn;
    float kept;
};

// Writes the gradient of an entry of the flat buffer.
DEVICE void write_entry(const MatrixPull &pull, int entry, float value) {
    if (pull.drawn) value *= drop_factor(pull.drawn, pull.source.draw + entry - pull.source.first, pull.kept);
    pull.gradient[entry] = value;
}

DEVICE int own_rows(const MatrixPull &pull) { return pull.matrix.blocks * pull.hidden; }

// The padded gradient of an entry, 0 beyond the matrix.
DEVICE float entry_gradient(const MatrixPull &pull, int row, int column) {
    if (row >= own_rows(pull) || column >= pull.columns) return 0.0f;
    const size_t stride = pull.matrix.blocks * pull.matrix.hidden;
    return pull.padded[column * stride + padded_row(pull.matrix, pull.hidden, row)];
}

// A patch of a full matrix: from columns to rows.
DEVICE void pull_full(const MatrixPull &pull, int patch) {
    float *turned = static_cast<float *>(block_memory());
    const int rows = own_rows(pull), column = thread_number() % PATCH, line = thread_number() / PATCH;
    const int first_row = patch % patches(rows) * PATCH, first_column = patch / patches(rows) * PATCH;
    for (int i = 0; i < PATCH_VALUES; i++) {
        const int y = line + i * PATCH_LINES;
        turned[y * PATCH_STRIDE + column] = entry_gradient(pull, first_row + column, first_column + y);
    }
    block_barrier();
    for (int i = 0; i < PATCH_VALUES; i++) {
        const int row = first_row + line + i * PATCH_LINES, at = first_column + column;
        if (row < rows && at < pull.columns) {
            const float value = turned[column * PATCH_STRIDE + row - first_row];
            write_entry(pull, pull.source.first + row * pull.columns + at, value);
        }
    }
}

// A patch of the gradient of a factor. First: dW·W2, rows × rank; second: dWᵀ·W1, columns × rank.
DEVICE void pull_factor(const MatrixPull &pull, bool is_second, int patch) {
    float *left = static_cast<float *>(block_memory()), *right = left + PATCH_SIZE;
    const int rank = pull.source.rank, column = thread_number() % PATCH, line = thread_number() / PATCH;
    const int outputs = is_second ? pull.columns : own_rows(pull), terms = is_second ? own_rows(pull) : pull.columns;
    const int first = patch % patches(outputs) * PATCH, at = patch / patches(outputs) * PATCH + column;
    const float *other = pull.seen + (is_second ? pull.source.first : pull.source.second);
    float sums[PATCH_VALUES] = {};
    for (int k0 = 0; k0 < terms; k0 += PATCH) {
        for (int i = 0; i < PATCH_VALUES; i++) {
            // Rows of the matrix lie side by side in the padded gradient: `column` runs along them.
            const int y = line + i * PATCH_LINES, k = k0 + y;
            const int row = (is_second ? k0 : first) + column, entry = (is_second ? first : k0) + y;
            const int place = is_second ? column * PATCH_STRIDE + y : y * PATCH_STRIDE + column;
            left[place] = entry_gradient(pull, row, entry);
            right[y * PATCH_STRIDE + column] = k < terms && at < rank ? other[k * rank + at] : 0.0f;
        }
        block_barrier();
        for (int k = 0; k < PATCH; k++) {
            const float factor = right[k * PATCH_STRIDE + column];
            for (int i = 0; i < PATCH_VALUES; i++) {
                sums[i] += left[k * PATCH_STRIDE + line + i * PATCH_LINES] * factor;
            }
        }
        block_barrier();
    }
    for (int i = 0; i < PATCH_VALUES; i++) {
        const int output = first + line + i * PATCH_LINES;
        const int start = is_second ? pull.source.second : pull.source.first;
        if (output < outputs && at < rank) write_entry(pull, start + output * rank + at, sums[i]);
    }
}

DEVICE void pull_diagonal(const MatrixPull &pull, int piece) {
    for (int i = 0; i < PATCH_VALUES; i++) {
        const int row = piece * PIECE + i * PATCH_THREADS + thread_number();
        if (row < own_rows(pull)) {
            write_entry(pull, pull.source.first + row, entry_gradient(pull, row, row % pull.hidden));
        }
    }
}

// The blocks that work on a matrix.
DEVICE int pull_jobs(const MatrixSource &source, int rows, int columns) {
    switch (source.form) {
        case FORM_FULL: return patches(rows) * patches(columns);
        case FORM_LOW_RANK: return (patches(rows) + patches(columns)) * patches(source.rank);
        case FORM_DIAGONAL: return pieces(rows);
        default: return 0;
    }
}

DEVICE void pull_matrix(const MatrixPull &pull, int job) {
    const int of_first = patches(own_rows(pull)) * patches(pull.source.rank);
    switch (pull.source.form) {
        case FORM_FULL: pull_full(pull, job); break;
        case FORM_LOW_RANK: pull_factor(pull, job >= of_first, job < of_first ? job : job - of_first); break;
        default: pull_diagonal(pull, job); break;
    }
}

DEVICE void pull_points(const LayerPlaces &places, const LayerSource &source, const float *packed, const float *padded,
                        float *gradient) {
    for (int i = thread_number(); i < places.vector_count * source.hidden; i += thread_count()) {
        const PointSource &vector = source.vectors[i / source.hidden];
        const int unit = i % source.hidden, at = places.vectors + i / source.hidden * places.hidden + unit;
        if (vector.at < 0) continue;
        const float value = packed[at];
        gradient[vector.at + unit] = vector.is_raw ? padded[at] * value * (1.0f - value) : padded[at];
    }
    const int scalar = thread_number();
    if (scalar < SCALARS && source.scalars[scalar].at >= 0) {
        const float *d = padded + places.scalars;
        // Alpha also moves a tied beta the other way.
        const float tied = scalar == 0 && source.scalars[1].at == POINT_TIED ? d[1] : 0.0f;
        const float value = packed[places.scalars + scalar];
        gradient[source.scalars[scalar].at] = (d[scalar] - tied) * value * (1.0f - value);
    }
}

DEVICE void pull_head(const HeadPlaces &places, const NetworkSource &source, const float *padded, float *gradient,
                      int piece) {
    const int hidden = source.head_hidden, weights = places.outputs * hidden;
    for (int k = 0; k < PATCH_VALUES; k++) {
        const int i = piece * PIECE + k * PATCH_THREADS + thread_number();
        if (i < weights) {
            gradient[source.head_w + i] = padded[places.w + i / hidden * places.hidden + i % hidden];
        } else if (i < weights + places.outputs) {
            gradient[source.head_b + i - weights] = padded[places.b + i - weights];
        }
    }
}

// Grid: for each layer the blocks of W, those of U (pull_jobs) and one for the rest, then the pieces of the head, as
// many as the network with the most of them needs; × networks. Block memory: 2 · PATCH_SIZE numbers.
KERNEL(pull_back, PullBackArguments, PATCH_THREADS) {
    const int network = blockIdx.y;
    const NetworkSource &source = args.sources[network];
    const float *seen = args.seen + size_t(network) * args.parameter_stride;
    const float *packed = args.packed + size_t(network) * args.packed_stride;
    const float *padded = args.padded + size_t(network) * args.padded_stride;
    float *gradient = args.gradient + size_t(network) * args.parameter_stride;
    int job = blockIdx.x;
    for (int i = 0; i < args.places.layer_count; i++) {
        const LayerPlaces &places = args.places.layers[i];
        const LayerSource &layer = source.layers[i];
        const int of_w = pull_jobs(layer.w, places.w_blocks * layer.hidden, layer.input);
        const int of_u = pull_jobs(layer.u, places.u_blocks * layer.hidden, layer.hidden);
        if (job < of_w + of_u) {
            const bool is_u = job >= of_w, is_dropped = is_u && args.drawn;
            MatrixPull pull;
            pull.matrix = padded_matrix(places, is_u);
            pull.source = is_u ? layer.u : layer.w;
            pull.hidden = layer.hidden;
            pull.columns = is_u ? layer.hidden : layer.input;
            pull.padded = padded + pull.matrix.by_columns;
            pull.seen = seen;
            pull.gradient = gradient;
            pull.drawn = is_dropped ? args.drawn + size_t(network) * args.drawn_stride : nullptr;
            pull.kept = is_dropped ? args.drops[network].kept : 1.0f;
            pull_matrix(pull, is_u ? job - of_w : job);
            return;
        }
        job -= of_w + of_u;
        if (job == 0) {
            pull_points(places, layer, packed, padded, gradient);
            return;
        }
        job--;
    }
    pull_head(args.places.head, source, padded, gradient, job);
}
