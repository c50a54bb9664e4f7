// The head: from the states of the last layer to scores, the loss, and the gradients by states and by the head's weights.
#pragma once

#include "network.cuh"
#include "nonlinearities.cuh"

enum ReadoutCode { READ_LAST, READ_EVERY, READ_MEAN, READ_MAX };
enum LossCode { LOSS_SOFTMAX, LOSS_BINARY, LOSS_SQUARED };

struct HeadArguments {
    HeadPlaces places;
    int readout, loss;
    int sequences, steps;
    const float *weights;
    int weight_stride;
    // [networks][sequences]
    const int *lengths;
    // The states of the last layer, [networks][sequences][steps][hidden].
    const float *h;
    // Targets of the rows: a row is a sequence, or a step of one where every state is read. Classes, [networks][rows];
    // or numbers, [networks][rows][outputs], null where there are none. The numbers are shares of the classes if there
    // are classes, too.
    const int *classes;
    const float *values;
    // Weight of each sequence in the loss, [networks][sequences]; null if all are 1.
    const float *sequence_weights;
    // Readings before the last step that the training loss includes, and the steps from one to the next.
    int earlier_readings, earlier_every;
    // Sequences whose last step alone counts all the same; null if there are none.
    const int *last_only;
    // Scores of the rows, [networks][rows][outputs]; null if they are not wanted.
    float *scores;
    // The weighted loss of each sequence and the rows of it that are right, [networks][sequences].
    double *losses;
    int *correct;
    // Gradients by the states, as the layer reads them: exactly one is written, and all are null for a plain evaluation.
    float *d_last, *d_all, *d_each;
    // The gradient of the head's weights that the sequences of a block contribute, [networks][parts][w, b].
    float *parts;
    int part_count, part_length;
    // Whether block memory holds the weights.
    int holds_weights;
};

// Sequences of a block, a warp for each.
#define HEAD_WARPS 8

// Weights of all rows of a network's batch, added in an order that is fixed. For all threads of a block; `scratch` holds a
// number for each warp.
DEVICE double total_weight(const HeadArguments &args, int network, double *scratch) {
    double sum = 0.0;
    for (int i = thread_number(); i < args.sequences; i += thread_count()) {
        int at = network * args.sequences + i, length = args.lengths[at];
        int rows = args.readout == READ_EVERY ? length : min(length, 1);
        sum += rows * double(args.sequence_weights ? args.sequence_weights[at] : 1.0f);
    }
    return block_sum(sum, scratch);
}

// A row of the readout, and its class if it has one.
struct HeadRow {
    size_t number;
    int class_of_row;
};

// What the loss of a row wants of output `o`.
DEVICE float wanted(const HeadArguments &args, const HeadRow &row, int o) {
    if (args.values) return args.values[row.number * args.places.outputs + o];
    return args.places.outputs == 1 ? float(row.class_of_row) : float(row.class_of_row == o);
}

// The functions of a row are for a warp; they answer to the lanes that have an output, and to lane 0.

// Lanes that have to exchange what they know of the outputs: a power of two.
DEVICE int exchanging_lanes(int outputs) {
    int lanes = 1;
    while (lanes < outputs && lanes < LANES) lanes *= 2;
    return lanes;
}

// The sum over the lanes that exchange.
template <class T>
DEVICE T row_sum(T value, int lanes) {
    for (int mask = lanes / 2; mask > 0; mask /= 2) value += shuffle_xor(value, mask);
    return value;
}

// Outputs whose sums over the units a warp adds up together.
#define TOGETHER 4

// The scores of a row.
DEVICE void row_scores(const float *weights, const float *biases, int hidden, int outputs, const float *state, float *scores) {
    const int lane = thread_number() % LANES;
    for (int first = 0; first < outputs; first += TOGETHER) {
        float sums[TOGETHER] = {};
#pragma unroll 4
        for (int k = lane; k < hidden; k += LANES) {
#pragma unroll
            for (int i = 0; i < TOGETHER; i++) sums[i] += weights[min(first + i, outputs - 1) * hidden + k] * state[k];
        }
#pragma unroll
        for (int mask = LANES / 2; mask > 0; mask /= 2) {
#pragma unroll
            for (int i = 0; i < TOGETHER; i++) sums[i] += shuffle_xor(sums[i], mask);
        }
#pragma unroll
        for (int i = 0; i < TOGETHER; i++) {
            if (lane == i && first + i < outputs) scores[first + i] = sums[i] + biases[first + i];
        }
    }
}

// Whether the largest of the scores, the first of equal ones, is that of the row's class.
DEVICE bool is_right(const HeadArguments &args, const HeadRow &row, const float *scores) {
    if (!args.classes) return false;
    const int outputs = args.places.outputs, lane = thread_number() % LANES;
    if (outputs == 1) return (scores[0] > 0.0f) == (row.class_of_row == 1);
    int best = min(lane, outputs - 1);
    for (int o = lane + LANES; o < outputs; o += LANES) best = scores[o] > scores[best] ? o : best;
    for (int mask = exchanging_lanes(outputs) / 2; mask > 0; mask /= 2) {
        const int other = shuffle_xor(best, mask);
        const bool is_better = scores[other] > scores[best] || (scores[other] == scores[best] && other < best);
        best = is_better ? other : best;
    }
    return best == row.class_of_row;
}

// The loss of a row; turns its scores into the gradient by them times `scale`.
DEVICE double row_loss(const HeadArguments &args, const HeadRow &row, float *scores, float scale) {
    const int outputs = args.places.outputs, lane = thread_number() % LANES, lanes = exchanging_lanes(outputs);
    double loss = 0.0;
    if (args.loss == LOSS_SOFTMAX) {
        float largest = scores[min(lane, outputs - 1)], sum = 0.0f;
        for (int o = lane + LANES; o < outputs; o += LANES) largest = fmaxf(largest, scores[o]);
        for (int mask = lanes / 2; mask > 0; mask /= 2) largest = fmaxf(largest, shuffle_xor(largest, mask));
        for (int o = lane; o < outputs; o += LANES) {
            loss += wanted(args, row, o) * double(largest - scores[o]);
            scores[o] = expf(scores[o] - largest);
            sum += scores[o];
        }
        sum = row_sum(sum, lanes);
        for (int o = lane; o < outputs; o += LANES) scores[o] = scale * (scores[o] / sum - wanted(args, row, o));
        return row_sum(loss, lanes) + double(logf(sum));
    }
    for (int o = lane; o < outputs; o += LANES) {
        float x = scores[o], target = wanted(args, row, o);
        if (args.loss == LOSS_BINARY) {
            loss += fmaxf(x, 0.0f) - x * target + log1pf(expf(-fabsf(x)));
            scores[o] = scale * (1.0f / (1.0f + expf(-x)) - target);
        } else {
            loss += double(x - target) * double(x - target);
            scores[o] = 2.0f * scale * (x - target);
        }
    }
    return row_sum(loss, lanes);
}

// Writes what the readout reads of a sequence, and where its largest states are. Single states are copied: they are there
// once the copies have been waited for.
DEVICE void read_states(const HeadArguments &args, const float *h, int length, int step, float *state, int *largest_at) {
    const int hidden = args.places.hidden;
    for (int k = thread_number() % LANES; k < hidden; k += LANES) {
        const float *of_unit = h + k;
        if (args.readout == READ_MEAN) {
            float value = of_unit[size_t(step) * hidden];
            for (int t = 0; t < length - 1; t++) value += of_unit[size_t(t) * hidden];
            state[k] = value / length;
        } else if (args.readout == READ_MAX) {
            int best = 0;
            float value = of_unit[0];
            for (int t = 1; t < length; t++) {
                float other = of_unit[size_t(t) * hidden];
                best = other > value ? t : best;
                value = fmaxf(value, other);
            }
            state[k] = value;
            largest_at[k] = best;
        } else {
            copy_ahead(state + k, of_unit + size_t(step) * hidden);
        }
    }
    commit_copies();
}

// Grid: parts × networks; HEAD_WARPS warps. Block memory in numbers: (2 · hidden + outputs) · HEAD_WARPS +
// (hidden + 1) · outputs, as many again if it holds the weights, and 8 bytes for each warp before them.
KERNEL(head, HeadArguments, HEAD_WARPS * LANES) {
    const HeadPlaces &places = args.places;
    const int hidden = places.hidden, outputs = places.outputs, network = blockIdx.y, thread = thread_number();
    const int warp = thread / LANES, lane = thread % LANES, sequence = blockIdx.x * HEAD_WARPS + warp;
    double *scratch = static_cast<double *>(block_memory());
    float *all_states = reinterpret_cast<float *>(scratch + HEAD_WARPS), *all_scores = all_states + HEAD_WARPS * hidden;
    float *sums = all_scores + HEAD_WARPS * outputs;
    float *state = all_states + warp * hidden, *scores = all_scores + warp * outputs;
    int *largest_at = reinterpret_cast<int *>(sums + (hidden + 1) * outputs) + warp * hidden;
    const size_t at = size_t(network) * args.sequences + sequence, start = at * args.steps;
    const int length = sequence < args.sequences ? args.lengths[at] : 0;
    // The weights, and after them the biases. All copies go on while the weights of the batch are added up.
    const float *weights = args.weights + size_t(network) * args.weight_stride + places.w;
    const float *biases = weights + places.b - places.w;
    if (args.holds_weights) {
        float *held = reinterpret_cast<float *>(largest_at) + (HEAD_WARPS - warp) * hidden;
        for (int j = thread; j < hidden * outputs; j += thread_count()) copy_ahead(held + j, weights + j);
        for (int o = thread; o < outputs; o += thread_count()) copy_ahead(held + hidden * outputs + o, biases + o);
        weights = held, biases = held + hidden * outputs;
    }
    commit_copies();
    if (length > 0) {
        read_states(args, args.h + start * hidden, length, length - 1, state, largest_at);
    } else {
        for (int k = lane; k < hidden; k += LANES) state[k] = 0.0f;
    }
    const bool is_gradient = args.d_last || args.d_all || args.d_each;
    const float weight = args.sequence_weights && length > 0 ? args.sequence_weights[at] : 1.0f;
    int readings = args.readout == READ_EVERY ? length : min(length, 1), every = 1;
    if (args.readout == READ_LAST && is_gradient && args.earlier_readings > 0) {
        every = args.earlier_every;
        const bool is_alone = length == 0 || (args.last_only && args.last_only[at]);
        if (!is_alone) readings += min((length - 1) / every, args.earlier_readings);
    }
    float *part = args.parts + (size_t(network) * args.part_count + blockIdx.x) * args.part_length;
    if (args.d_each) {
        for (int j = lane; j < length * hidden; j += LANES) args.d_each[start * hidden + j] = 0.0f;
        warp_barrier();
    }
    const double total = total_weight(args, network, scratch);
    const float share = args.readout == READ_EVERY ? 1.0f : 1.0f / readings;
    const float scale = float(weight * share / total);
    double loss = 0.0;
    int right = 0;
    wait_for_copies<0>();
    block_barrier();
    if (lane == 0) scratch[warp] = readings;
    block_barrier();
    int most = 0;
    for (int w = 0; w < HEAD_WARPS; w++) most = max(most, int(scratch[w]));
    // The last step comes first; scores that are asked for are those of the last step.
    for (int r = 0; r < most; r++) {
        if (r < readings) {
            const int step = length - 1 - r * every;
            const size_t number = args.readout == READ_EVERY ? start + step : at;
            const HeadRow row = {number, args.classes ? args.classes[number] : 0};
            if (r > 0) {
                read_states(args, args.h + start * hidden, length, step, state, largest_at);
                wait_for_copies<0>();
                warp_barrier();
            }
            row_scores(weights, biases, hidden, outputs, state, scores);
            warp_barrier();
            if (args.scores && r < (args.readout == READ_EVERY ? length : 1)) {
                for (int o = lane; o < outputs; o += LANES) args.scores[number * outputs + o] = scores[o];
            }
            if (args.classes || args.values) {
                if (args.readout == READ_EVERY || r == 0) right += is_right(args, row, scores);
                warp_barrier();
                loss += double(share) * row_loss(args, row, scores, scale);
            }
            warp_barrier();
            for (int k = lane; is_gradient && k < hidden; k += LANES) {
                float d = 0.0f;
#pragma unroll 4
                for (int o = 0; o < outputs; o++) d += weights[o * hidden + k] * scores[o];
                if (args.readout == READ_MEAN) args.d_all[at * hidden + k] = d / length;
                else if (args.readout == READ_MAX) args.d_each[(start + largest_at[k]) * hidden + k] = d;
                else if (args.d_each) args.d_each[(start + step) * hidden + k] = d;
                else args.d_last[at * hidden + k] = d;
            }
        } else {
            for (int o = lane; o < outputs; o += LANES) scores[o] = 0.0f;
        }
        if (!is_gradient) continue;
        block_barrier();
        // A warp adds up the rows of some outputs; a state of 1 belongs to the biases. The last sum is the gradient.
        for (int o = warp; o < outputs; o += HEAD_WARPS) {
            for (int k = lane; k <= hidden; k += LANES) {
                const int at = k < hidden ? o * hidden + k : hidden * outputs + o;
                float sum = r > 0 ? sums[at] : 0.0f;
#pragma unroll
                for (int w = 0; w < HEAD_WARPS; w++) {
                    sum += all_scores[w * outputs + o] * (k < hidden ? all_states[w * hidden + k] : 1.0f);
                }
                (r + 1 < most ? sums : part)[at] = sum;
            }
        }
        block_barrier();
    }
    if (sequence < args.sequences && lane == 0) {
        args.losses[at] = length > 0 ? weight * loss : 0.0;
        args.correct[at] = right;
    }
    if (!is_gradient || most > 0) return;
    for (int j = thread; j < (hidden + 1) * outputs; j += thread_count()) part[j] = 0.0f;
}

// Sums of a network's batch.
struct BatchResult {
    // The weighted mean of the loss over the rows.
    double loss;
    // Rows, and those whose largest score is right.
    int rows, correct;
};

// Where the results of batches go.
struct BatchResultPlace {
    // How far the networks are: the row of the results is the number of their batch. Null for row 0.
    const Progress *progress;
    // [rows][networks]
    BatchResult *results;
    int rows, networks;
};

// Adds up what the head said of each sequence of a network. For all threads of a block; `scratch` holds a number for each
// warp.
DEVICE void write_batch_result(const HeadArguments &head, const BatchResultPlace &place, int network, double *scratch) {
    const int row = place.progress ? place.progress[network].batch : 0;
    if (row >= place.rows) return;
    double loss = 0.0, correct = 0.0, rows = 0.0;
    for (int i = thread_number(); i < head.sequences; i += thread_count()) {
        int at = network * head.sequences + i, length = head.lengths[at];
        loss += head.losses[at];
        correct += head.correct[at];
        rows += head.readout == READ_EVERY ? length : min(length, 1);
    }
    const double total = total_weight(head, network, scratch);
    loss = block_sum(loss, scratch);
    correct = block_sum(correct, scratch);
    rows = block_sum(rows, scratch);
    if (thread_number() == 0) place.results[row * place.networks + network] = {loss / total, int(rows), int(correct)};
}
