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
    // Sequences of a block, one after the other.
    int part_sequences;
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
};

// Weights of all rows of a network's batch, added in an order that is fixed. Each warp computes it for itself.
DEVICE double total_weight(const HeadArguments &args, int network) {
    double sum = 0.0;
    for (int i = thread_number() % LANES; i < args.sequences; i += LANES) {
        int at = network * args.sequences + i, length = args.lengths[at];
        int rows = args.readout == READ_EVERY ? length : min(length, 1);
        sum += rows * double(args.sequence_weights ? args.sequence_weights[at] : 1.0f);
    }
    return warp_sum(sum);
}

// What the loss of a row wants of output `o`.
DEVICE float wanted(const HeadArguments &args, size_t row, int o) {
    if (args.values) return args.values[row * args.places.outputs + o];
    int class_of_row = args.classes[row];
    return args.places.outputs == 1 ? float(class_of_row) : float(class_of_row == o);
}

// Whether the largest of the scores, the first of equal ones, is that of the row's class.
DEVICE bool is_right(const HeadArguments &args, size_t row, const float *scores) {
    if (!args.classes) return false;
    if (args.places.outputs == 1) return (scores[0] > 0.0f) == (args.classes[row] == 1);
    int best = 0;
    for (int o = 1; o < args.places.outputs; o++) best = scores[o] > scores[best] ? o : best;
    return best == args.classes[row];
}

// The loss of a row; turns its scores into the gradient by them times `scale`. For one thread.
DEVICE double row_loss(const HeadArguments &args, size_t row, float *scores, float scale) {
    const int outputs = args.places.outputs;
    double loss = 0.0;
    if (args.loss == LOSS_SOFTMAX) {
        float largest = scores[0], sum = 0.0f;
        for (int o = 1; o < outputs; o++) largest = fmaxf(largest, scores[o]);
        for (int o = 0; o < outputs; o++) {
            loss += wanted(args, row, o) * double(largest - scores[o]);
            scores[o] = expf(scores[o] - largest);
            sum += scores[o];
        }
        for (int o = 0; o < outputs; o++) scores[o] = scale * (scores[o] / sum - wanted(args, row, o));
        return loss + double(logf(sum));
    }
    for (int o = 0; o < outputs; o++) {
        float x = scores[o], target = wanted(args, row, o);
        if (args.loss == LOSS_BINARY) {
            loss += fmaxf(x, 0.0f) - x * target + log1pf(expf(-fabsf(x)));
            scores[o] = scale * (1.0f / (1.0f + expf(-x)) - target);
        } else {
            loss += double(x - target) * double(x - target);
            scores[o] = 2.0f * scale * (x - target);
        }
    }
    return loss;
}

// Grid: parts × networks. Block memory: hidden · (2 + outputs) + 2 · outputs numbers.
KERNEL(head, HeadArguments, 256) {
    const HeadPlaces &places = args.places;
    const int hidden = places.hidden, outputs = places.outputs, network = blockIdx.y, thread = thread_number();
    const int warps = thread_count() / LANES, warp = thread / LANES, lane = thread % LANES;
    float *state = static_cast<float *>(block_memory()), *scores = state + hidden, *sums = scores + outputs;
    int *largest_at = reinterpret_cast<int *>(sums + (hidden + 1) * outputs);
    const float *weights = args.weights + size_t(network) * args.weight_stride;
    const bool is_gradient = args.d_last || args.d_all || args.d_each;
    const double total = total_weight(args, network);
    for (int j = thread; j < (hidden + 1) * outputs; j += thread_count()) sums[j] = 0.0f;

    for (int s = 0; s < args.part_sequences; s++) {
        const int sequence = blockIdx.x * args.part_sequences + s;
        if (sequence >= args.sequences) break;
        const size_t at = size_t(network) * args.sequences + sequence, start = at * args.steps;
        const int length = args.lengths[at];
        if (length == 0) {
            if (thread == 0) {
                args.losses[at] = 0.0;
                args.correct[at] = 0;
            }
            continue;
        }
        const float weight = args.sequence_weights ? args.sequence_weights[at] : 1.0f;
        int readings = args.readout == READ_EVERY ? length : 1, every = 1;
        if (args.readout == READ_LAST && is_gradient && args.earlier_readings > 0) {
            every = args.earlier_every;
            if (!args.last_only || !args.last_only[at]) readings += min((length - 1) / every, args.earlier_readings);
        }
        if (args.d_each) {
            for (int j = thread; j < length * hidden; j += thread_count()) args.d_each[start * hidden + j] = 0.0f;
        }
        const float share = args.readout == READ_EVERY ? 1.0f : 1.0f / readings;
        const float scale = float(weight * share / total);
        double loss = 0.0;
        int right = 0;
        // The last step comes first; scores that are asked for are those of the last step.
        for (int r = 0; r < readings; r++) {
            const int step = length - 1 - r * every;
            const size_t row = args.readout == READ_EVERY ? start + step : at;
            block_barrier();
            for (int k = thread; k < hidden; k += thread_count()) {
                const float *h = args.h + start * hidden + k;
                float value = h[size_t(step) * hidden];
                if (args.readout == READ_MEAN) {
                    for (int t = 0; t < length - 1; t++) value += h[size_t(t) * hidden];
                    value /= length;
                } else if (args.readout == READ_MAX) {
                    int best = 0;
                    value = h[0];
                    for (int t = 1; t < length; t++) {
                        float other = h[size_t(t) * hidden];
                        if (other > value) {
                            value = other;
                            best = t;
                        }
                    }
                    largest_at[k] = best;
                }
                state[k] = value;
            }
            block_barrier();
            for (int o = warp; o < outputs; o += warps) {
                float sum = 0.0f;
                for (int k = lane; k < hidden; k += LANES) sum += weights[places.w + o * hidden + k] * state[k];
                sum = warp_sum(sum) + weights[places.b + o];
                if (lane == 0) scores[o] = sum;
            }
            block_barrier();
            for (int o = thread; args.scores && r < (args.readout == READ_EVERY ? length : 1) && o < outputs; o += thread_count()) {
                args.scores[row * outputs + o] = scores[o];
            }
            block_barrier();
            if (thread == 0 && (args.classes || args.values)) {
                if (args.readout == READ_EVERY || r == 0) right += is_right(args, row, scores);
                loss += double(share) * row_loss(args, row, scores, scale);
            }
            block_barrier();
            if (!is_gradient) continue;
            for (int k = thread; k < hidden; k += thread_count()) {
                float d = 0.0f;
                for (int o = 0; o < outputs; o++) {
                    d += weights[places.w + o * hidden + k] * scores[o];
                    sums[o * hidden + k] += scores[o] * state[k];
                }
                if (args.readout == READ_MEAN) args.d_all[at * hidden + k] = d / length;
                else if (args.readout == READ_MAX) args.d_each[(start + largest_at[k]) * hidden + k] = d;
                else if (args.d_each) args.d_each[(start + step) * hidden + k] = d;
                else args.d_last[at * hidden + k] = d;
            }
            for (int o = thread; o < outputs; o += thread_count()) sums[hidden * outputs + o] += scores[o];
        }
        if (thread == 0) {
            args.losses[at] = weight * loss;
            args.correct[at] = right;
        }
    }
    if (!is_gradient) return;
    block_barrier();
    float *part = args.parts + (size_t(network) * args.part_count + blockIdx.x) * args.part_length;
    for (int j = thread; j < (hidden + 1) * outputs; j += thread_count()) part[j] = sums[j];
}

// Sums of a network's batch.
struct BatchResult {
    // The weighted mean of the loss over the rows.
    double loss;
    // Rows, and those whose largest score is right.
    int rows, correct;
};

struct BatchResultArguments {
    HeadArguments head;
    // How far the networks are: the row of the results is the number of their batch. Null for row 0.
    const Progress *progress;
    // [rows][networks]
    BatchResult *results;
    int rows;
};

// Adds up what the head said of each sequence. Grid: networks. Block memory: 8 bytes for each warp.
KERNEL(batch_result, BatchResultArguments, 256) {
    const HeadArguments &head = args.head;
    const int network = blockIdx.x, row = args.progress ? args.progress[network].batch : 0;
    if (row >= args.rows) return;
    double *scratch = static_cast<double *>(block_memory());
    double loss = 0.0, correct = 0.0, rows = 0.0;
    for (int i = thread_number(); i < head.sequences; i += thread_count()) {
        int at = network * head.sequences + i, length = head.lengths[at];
        loss += head.losses[at];
        correct += head.correct[at];
        rows += head.readout == READ_EVERY ? length : min(length, 1);
    }
    const double total = total_weight(head, network);
    loss = block_sum(loss, scratch);
    correct = block_sum(correct, scratch);
    rows = block_sum(rows, scratch);
    if (thread_number() == 0) args.results[row * gridDim.x + network] = {loss / total, int(rows), int(correct)};
}
