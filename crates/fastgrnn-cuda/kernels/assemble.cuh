// Puts together the batches of a cohort's networks: chooses the sequences, changes them at random, normalises them,
// and gives them their targets and weights.
//
// Four kernels with the same arguments make a batch, in this order:
//
//   draw_plans      where sequences are changed at random: a thread makes all draws of one sequence. What they decide
//                   is its plan. Noise takes a draw for every value, so the thread only advances the generator, and
//                   leaves its state at regular places from which `assemble` makes the draws in parallel.
//   assemble        a block makes one sequence. Shifts, crops and movements are gathers from the data set.
//   draw_partners   of mixup: a block draws the partners and parts of a network's batch.
//   mix_sequences   of mixup: a block blends one sequence with its partner.
//
// All draws are those of the CPU's training code: the same streams, keyed by seed, pass, epoch and sequence.
#pragma once

#include <stddef.h>

#include "network.cuh"
#include "rng.cuh"

#define PLAN_THREADS 32
#define ASSEMBLE_THREADS 128
#define PARTNER_THREADS 256
// Values of a sequence from one stored state of the generator of noise to the next.
#define NOISE_CHUNK 16
// Values whose noise is in shared memory at a time, and a place more for each chunk, against bank conflicts.
#define NOISE_TILE (ASSEMBLE_THREADS * NOISE_CHUNK)
#define NOISE_PLACES (NOISE_TILE + ASSEMBLE_THREADS)
// Draws of mixup's parts that are in shared memory at a time.
#define PARTNER_DRAWS 1024
// Steps of the table of ln(1 + e^-x), from 0 to 12.
#define SOFTPLUS_STEPS (12 * 64)

// What differs between the networks of a cohort.
struct AssembleNetwork {
    uint64_t seed;
    // The sequences that a lead-in may be cut from.
    const uint32_t *indices;
    uint32_t index_count;
    uint32_t pass, epoch;
    // Sequences and batches of an epoch.
    uint32_t epoch_size, batches;
    uint32_t unused;
};

// A sequence of an epoch, and how often this epoch has used it before.
struct Sample {
    uint32_t index, repeat;
};

// What the random draws of a sequence decide.
struct alignas(16) SequencePlan {
    // The stream that the pieces of the lead-in are drawn from.
    Rng pieces;
    // Steps of the lead-in.
    uint32_t lead;
    // The part that a crop keeps.
    uint32_t start, kept;
    // Pixels that an image moves.
    int32_t down, right;
    // Steps that the sequence moves, later if positive.
    int32_t shift;
    // Steps that background noise is mixed into, and where this noise begins.
    uint32_t background_steps, background_start;
    float signal_to_noise;
    float gain;
    float rotation[9];
    uint32_t unused;
};

struct AssembleArguments {
    // The sequences end to end, and the step at which each begins, and after the last one the end.
    const float *data;
    const uint32_t *offsets;
    // Recordings of background noise, likewise.
    const float *background;
    const uint32_t *background_offsets;
    // ln(1 + e^-x) at x = 0, 1/64, 2/64 and so on.
    const float *softplus;
    // The class of each sequence, or null.
    const uint32_t *labels;
    // Target values [networks][sequences][outputs], or null. The networks may share them: `values_stride` is 0 then.
    const float *values;
    // Weight of each class [networks][classes], or null.
    const float *class_weights;
    // What is subtracted from the inputs, and what they are multiplied by then, [networks][normalizer_stride], or null.
    const float *mean;
    const float *scale;
    const AssembleNetwork *networks;
    // The sequences of the epoch [networks][order_stride].
    const Sample *order;
    // How far the networks are: the number of their batch.
    const Progress *progress;
    // The three columns of each sensor, and for each column 3 * sensor + axis, or -1.
    const uint32_t *axes;
    const int32_t *axis_of;

    // Between the kernels: [networks][slots], times sensors, masks (start and width) and chunks of noise.
    SequencePlan *plans;
    float *factors;
    uint32_t *masks;
    Rng *noise_states;
    uint32_t *partners;
    float *parts;

    // The batch, [networks][slots] with [max_steps][dim] inputs and `outputs` values or shares. A slot that the batch
    // does not fill has length and weight 0. Null where not wanted, except `x`, `lengths` and `weights`.
    float *x;
    uint32_t *lengths;
    uint32_t *targets;
    float *target_values;
    float *weights;
    // 1 where only the last step counts.
    uint32_t *last_only;
    // Share of each class.
    float *soft;
    // The inputs after mixup.
    float *mixed;

    uint64_t order_stride, values_stride;
    // The parameter of the beta distribution of mixup.
    double mixup;
    uint32_t slots, max_steps, dim, outputs, classes;
    uint32_t normalizer_stride;
    // Whether each step has means and scales of its own.
    uint32_t is_per_coordinate;
    // The class whose sequences count at their last step alone; without one, a number that no class has.
    uint32_t last_only_class;
    float smoothing;
    // Epochs of the run.
    uint32_t epochs;
    uint32_t recordings;
    uint32_t sensors;
    uint32_t noise_chunks;

    // The changes: fastgrnn_data's Augment and Spectral. 0 means no change.
    float rotate, amplitude, noise;
    uint32_t shift;
    uint32_t has_gap_value;
    float gap_value;
    float crop;
    uint32_t pixels, height, width;
    float gain, background_share, ratio_low, ratio_high;
    float floor;
    uint32_t lead_in;
    uint32_t frequency_masks, frequency_width, time_masks, time_width;
    uint32_t unused;
};

// The structs as src/assemble.rs has them.
static_assert(sizeof(AssembleNetwork) == 40 && sizeof(SequencePlan) == 112 && sizeof(AssembleArguments) == 392, "");

// Sequences of the current batch of a network.
DEVICE uint32_t batch_begin(const AssembleNetwork *network, uint32_t batch) {
    return uint32_t(uint64_t(batch) * network->epoch_size / network->batches);
}

DEVICE uint32_t batch_size(const AssembleNetwork *network, uint32_t batch) {
    return batch < network->batches ? batch_begin(network, batch + 1) - batch_begin(network, batch) : 0;
}

DEVICE const Sample *sample_of(const AssembleArguments &args, uint32_t number, uint32_t batch, uint32_t slot) {
    return args.order + number * args.order_stride + batch_begin(args.networks + number, batch) + slot;
}

DEVICE uint32_t begin_of(const uint32_t *offsets, uint32_t index) { return offsets[index]; }
DEVICE uint32_t steps_of(const uint32_t *offsets, uint32_t index) { return offsets[index + 1] - offsets[index]; }

// A uniform whole number from -most to most.
DEVICE int32_t draw_offset(uint32_t most, Rng *rng) { return int32_t(below(2 * most + 1, rng)) - int32_t(most); }

DEVICE float draw_between(float low, float high, Rng *rng) { return low + (high - low) * float(uniform(rng)); }

// A rotation about a random axis by an angle of this deviation, in radians (Rodrigues' formula).
DEVICE void draw_rotation(float deviation, Rng *rng, float *to) {
    double x = normal(rng), y = normal(rng), z = normal(rng);
    double norm = fmax(sqrt(x * x + y * y + z * z), 1e-12);
    x /= norm;
    y /= norm;
    z /= norm;
    double s, c;
    sine_and_cosine(double(deviation) * normal(rng) * 0.15915494309189535, &s, &c);
    double d = 1.0 - c;
    to[0] = float(c + x * x * d);
    to[1] = float(x * y * d - z * s);
    to[2] = float(x * z * d + y * s);
    to[3] = float(y * x * d + z * s);
    to[4] = float(c + y * y * d);
    to[5] = float(y * z * d - x * s);
    to[6] = float(z * x * d - y * s);
    to[7] = float(z * y * d + x * s);
    to[8] = float(c + z * z * d);
}

// A random stretch of at most `most` of `n`: its start and its width.
DEVICE void draw_stretch(uint32_t n, uint32_t most, Rng *rng, uint32_t *to) {
    uint32_t width = below(min(most, n) + 1, rng);
    to[0] = below(n - width + 1, rng);
    to[1] = width;
}

// The lead-in of an epoch grows over the first half of the run.
DEVICE uint32_t lead_in_of(const AssembleArguments &args, uint32_t epoch) {
    uint64_t grown = min(2 * uint64_t(epoch), uint64_t(args.epochs));
    return uint32_t(args.lead_in * grown / max(args.epochs, 1u));
}

// The next piece of a lead-in of which `wanted` steps are left: where in the data it begins and how many steps it has;
// 0 if there is none.
DEVICE uint32_t draw_piece(
    const AssembleArguments &args, const AssembleNetwork *network, uint32_t wanted, Rng *rng, uint32_t *begin) {
    if (wanted == 0 || network->index_count == 0) return 0;
    uint32_t other = network->indices[below(network->index_count, rng)];
    uint32_t taken = min(wanted, steps_of(args.offsets, other));
    *begin = args.offsets[other + 1] - taken;
    return taken;
}

KERNEL(draw_plans, AssembleArguments, PLAN_THREADS) {
    uint32_t number = blockIdx.y, slot = blockIdx.x * PLAN_THREADS + thread_number();
    const AssembleNetwork *network = args.networks + number;
    uint32_t batch = args.progress[number].batch;
    if (slot >= min(args.slots, batch_size(network, batch))) return;
    Sample sample = *sample_of(args, number, batch, slot);
    uint64_t key = extend_key(key_of_seed(network->seed), STREAM_AUGMENT);
    key = extend_key(extend_key(extend_key(key, network->pass), network->epoch), sample.index);
    // Only the repeats of a sequence have a fifth number in their key.
    if (sample.repeat != 0) key = extend_key(key, sample.repeat);
    Rng rng = stream_of_key(key);

    size_t at = size_t(number) * args.slots + slot;
    SequencePlan *plan = args.plans + at;
    uint32_t steps = steps_of(args.offsets, sample.index);
    int32_t down = 0, right = 0;
    if (args.pixels != 0 && steps * args.dim == args.height * args.width) {
        down = draw_offset(args.pixels, &rng);
        right = draw_offset(args.pixels, &rng);
    }
    plan->down = down;
    plan->right = right;
    if (args.rotate != 0) draw_rotation(args.rotate, &rng, plan->rotation);
    if (args.amplitude != 0) {
        for (uint32_t sensor = 0; sensor < args.sensors; sensor++) {
            // A factor at or below 0 would be another signal, not a weaker one.
            args.factors[at * args.sensors + sensor] = fmaxf(1.0f + args.amplitude * float(normal(&rng)), 0.1f);
        }
    }
    int32_t shift = 0;
    if (args.shift != 0) {
        int32_t by = draw_offset(args.shift, &rng), most = max(int32_t(steps), 1) - 1;
        shift = max(min(by, most), -most);
    }
    plan->shift = shift;
    uint32_t start = 0, kept = steps;
    if (args.crop > 0 && args.crop < 1) {
        uint32_t least = min(max(uint32_t(ceilf(args.crop * float(steps))), 1u), max(steps, 1u));
        if (least < steps) {
            kept = least + below(steps - least + 1, &rng);
            start = below(steps - kept + 1, &rng);
        }
    }
    plan->start = start;
    plan->kept = kept;
    if (args.gain != 0) plan->gain = draw_between(-args.gain, args.gain, &rng);

    uint32_t lead_in = lead_in_of(args, network->epoch), lead = 0;
    if (lead_in != 0) {
        uint32_t wanted = below(lead_in + 1, &rng), begin;
        plan->pieces = rng;
        while (uint32_t taken = draw_piece(args, network, wanted - lead, &rng, &begin)) lead += taken;
    }
    plan->lead = lead;
    uint32_t length = lead + kept, background_steps = 0;
    if (args.background_share != 0 && uniform(&rng) < double(args.background_share)) {
        uint32_t recording = below(args.recordings, &rng);
        uint32_t available = steps_of(args.background_offsets, recording);
        background_steps = min(length, available);
        plan->background_start =
            begin_of(args.background_offsets, recording) + below(available - background_steps + 1, &rng);
        plan->signal_to_noise = draw_between(args.ratio_low, args.ratio_high, &rng);
    }
    plan->background_steps = background_steps;

    if (args.noise != 0) {
        Rng *states = args.noise_states + at * args.noise_chunks;
        uint32_t draws = (length * args.dim + 1) / 2 * 2, chunk = 0;
        for (; (chunk + 1) * NOISE_CHUNK <= draws; chunk++) {
            states[chunk] = rng;
            for (int i = 0; i < NOISE_CHUNK; i++) skip_draw(&rng);
        }
        if (chunk * NOISE_CHUNK < draws) states[chunk] = rng;
        for (uint32_t i = chunk * NOISE_CHUNK; i < draws; i++) skip_draw(&rng);
    }
    uint32_t *masks = args.masks + at * 2 * (args.frequency_masks + args.time_masks);
    for (uint32_t i = 0; i < args.frequency_masks; i++, masks += 2) {
        draw_stretch(args.dim, args.frequency_width, &rng, masks);
    }
    for (uint32_t i = 0; i < args.time_masks; i++, masks += 2) draw_stretch(length, args.time_width, &rng, masks);
}

// What a block of `assemble` works on.
struct Assembled {
    SequencePlan plan;
    Sample sample;
    // The place of the sequence's first step in the data, and its steps there.
    uint32_t begin, steps;
    uint32_t is_used;
};

// The shared memory of a block of `assemble`. The tile is there only with noise.
struct AssembleMemory {
    Assembled from;
    double sums[ASSEMBLE_THREADS / LANES];
    float tile[NOISE_PLACES];
};
static_assert(offsetof(AssembleMemory, tile) == 176 && sizeof(AssembleMemory) == 8880, "");

// A value of the data set's sequence, moved as an image.
DEVICE float moved_value(const AssembleArguments &args, const Assembled &from, uint32_t step, uint32_t feature) {
    const float *sequence = args.data + size_t(from.begin) * args.dim;
    uint32_t flat = step * args.dim + feature;
    if (from.plan.down == 0 && from.plan.right == 0) return sequence[flat];
    int32_t y = int32_t(flat / args.width) - from.plan.down, x = int32_t(flat % args.width) - from.plan.right;
    bool is_inside = y >= 0 && y < int32_t(args.height) && x >= 0 && x < int32_t(args.width);
    return is_inside ? sequence[size_t(y) * args.width + x] : 0.0f;
}

// The same, with its sensor rotated and scaled.
DEVICE float turned_value(
    const AssembleArguments &args, const Assembled &from, const float *factors, uint32_t step, uint32_t feature) {
    int32_t axis = args.sensors == 0 ? -1 : args.axis_of[feature];
    if (axis < 0) return moved_value(args, from, step, feature);
    float value;
    if (args.rotate != 0) {
        const uint32_t *columns = args.axes + axis / 3 * 3;
        const float *row = from.plan.rotation + axis % 3 * 3;
        value = row[0] * moved_value(args, from, step, columns[0]);
        value += row[1] * moved_value(args, from, step, columns[1]);
        value += row[2] * moved_value(args, from, step, columns[2]);
    } else {
        value = moved_value(args, from, step, feature);
    }
    return args.amplitude != 0 ? value * factors[axis / 3] : value;
}

// The same at a step after the shift and the crop, with the gain: all changes of the sequence alone.
DEVICE float own_value(
    const AssembleArguments &args, const Assembled &from, const float *factors, uint32_t step, uint32_t feature) {
    int32_t last = int32_t(from.steps) - 1, source = int32_t(from.plan.start + step) - from.plan.shift;
    float value;
    if (args.has_gap_value != 0 && (source < 0 || source > last)) {
        value = args.gap_value;
    } else {
        value = turned_value(args, from, factors, uint32_t(max(min(source, last), 0)), feature);
    }
    // Silence stays silent.
    if (args.gain != 0 && value > args.floor) value = fmaxf(value + from.plan.gain, args.floor);
    return value;
}

// A place in a sequence that goes forward by as many values as the block has threads.
struct ValuePlace {
    uint32_t step, feature;
};

DEVICE ValuePlace place_of(uint32_t at, uint32_t dim) { return {at / dim, at % dim}; }

DEVICE void go_forward(ValuePlace *place, uint32_t steps, uint32_t features, uint32_t dim) {
    place->step += steps;
    place->feature += features;
    if (place->feature >= dim) {
        place->feature -= dim;
        place->step++;
    }
}

// ln(1 + e^-x) for x of at least 0, linear between the places of the table.
DEVICE float table_softplus(const float *table, float x) {
    float place = x * 64.0f;
    if (!(place < float(SOFTPLUS_STEPS))) return 0.0f;
    int at = int(place);
    return table[at] + (table[at + 1] - table[at]) * (place - float(at));
}

// Mean energy of log-mel values, in nats. All threads of the block take part.
DEVICE float level_of(const float *values, uint32_t count, double *scratch) {
    double sum = 0;
    for (uint32_t at = thread_number(); at < count; at += ASSEMBLE_THREADS) sum += double(expf(values[at]));
    return float(log(block_sum(sum, scratch) / double(max(count, 1u))));
}

// Writes the lead-in and the sequence's own values into `row`, in the units of the data.
DEVICE void write_raw(
    const AssembleArguments &args, const AssembleNetwork *network, const Assembled &from, const float *factors,
    float *row) {
    uint32_t dim = args.dim, begin = 0, filled = 0;
    Rng rng = from.plan.pieces;
    while (uint32_t taken = draw_piece(args, network, from.plan.lead - filled, &rng, &begin)) {
        const float *piece = args.data + size_t(begin) * dim;
        float *to = row + filled * dim;
        for (uint32_t at = thread_number(); at < taken * dim; at += ASSEMBLE_THREADS) to[at] = piece[at];
        filled += taken;
    }
    row += from.plan.lead * dim;
    ValuePlace place = place_of(thread_number(), dim);
    for (uint32_t at = thread_number(); at < from.plan.kept * dim; at += ASSEMBLE_THREADS) {
        row[at] = own_value(args, from, factors, place.step, place.feature);
        go_forward(&place, ASSEMBLE_THREADS / dim, ASSEMBLE_THREADS % dim, dim);
    }
    block_barrier();
}

DEVICE int noise_place(int at) { return at + at / NOISE_CHUNK; }

// Draws the noise of the values from `first` on, as many as fit in `tile`.
DEVICE void draw_noise(const Rng *states, uint32_t first, uint32_t count, float *tile) {
    uint32_t begin = thread_number() * NOISE_CHUNK;
    if (first + begin >= count) return;
    Rng rng = states[first / NOISE_CHUNK + thread_number()];
    for (uint32_t at = begin; at < begin + NOISE_CHUNK && first + at < count; at += 2) {
        double one, two;
        normal_pair(&rng, &one, &two);
        tile[noise_place(at)] = float(one);
        tile[noise_place(at + 1)] = float(two);
    }
}

// Hides filters and frames of a sequence behind 0.
DEVICE void hide_masked(const AssembleArguments &args, const uint32_t *masks, uint32_t steps, float *row) {
    block_barrier();
    for (uint32_t i = 0; i < args.frequency_masks; i++, masks += 2) {
        uint32_t start = masks[0], width = masks[1];
        for (uint32_t at = thread_number(); at < steps * width; at += ASSEMBLE_THREADS) {
            row[at / width * args.dim + start + at % width] = 0.0f;
        }
    }
    for (uint32_t i = 0; i < args.time_masks; i++, masks += 2) {
        uint32_t start = masks[0] * args.dim, count = masks[1] * args.dim;
        for (uint32_t at = thread_number(); at < count; at += ASSEMBLE_THREADS) row[start + at] = 0.0f;
    }
}

// The share of class `k` in the target of a sequence of class `label`. A single output tells two classes apart.
DEVICE float share_of(const AssembleArguments &args, uint32_t label, uint32_t k) {
    float each = args.smoothing / float(max(args.outputs, 2u));
    bool is_wanted = args.outputs == 1 ? label == 1 : label == k;
    return each + (is_wanted ? 1.0f - args.smoothing : 0.0f);
}

DEVICE float weight_of(const AssembleArguments &args, uint32_t number, uint32_t label) {
    return args.class_weights ? args.class_weights[size_t(number) * args.classes + label] : 1.0f;
}

// Writes the target of a sequence, its weight and what else belongs to them.
DEVICE void write_target(const AssembleArguments &args, uint32_t number, size_t at, const Assembled &from) {
    uint32_t label = from.is_used && args.labels ? args.labels[from.sample.index] : 0;
    if (thread_number() == 0) {
        if (args.targets) args.targets[at] = label;
        args.weights[at] = from.is_used ? weight_of(args, number, label) : 0.0f;
        if (args.last_only) args.last_only[at] = from.is_used && label == args.last_only_class;
    }
    for (uint32_t k = thread_number(); k < args.outputs; k += ASSEMBLE_THREADS) {
        size_t to = at * args.outputs + k;
        if (args.soft) args.soft[to] = from.is_used ? share_of(args, label, k) : 0.0f;
        if (args.target_values) {
            const float *values = args.values + number * args.values_stride;
            args.target_values[to] = from.is_used ? values[size_t(from.sample.index) * args.outputs + k] : 0.0f;
        }
    }
}

KERNEL(assemble, AssembleArguments, ASSEMBLE_THREADS) {
    AssembleMemory *memory = static_cast<AssembleMemory *>(block_memory());
    Assembled &from = memory->from;
    double *sums = memory->sums;
    float *tile = memory->tile;
    uint32_t slot = blockIdx.x, number = blockIdx.y, dim = args.dim;
    const AssembleNetwork *network = args.networks + number;
    size_t at = size_t(number) * args.slots + slot;
    if (thread_number() == 0) {
        uint32_t batch = args.progress[number].batch;
        from.is_used = slot < batch_size(network, batch);
        from.sample = {0, 0};
        from.begin = from.steps = 0;
        from.plan.lead = from.plan.start = from.plan.kept = from.plan.background_steps = 0;
        from.plan.down = from.plan.right = from.plan.shift = 0;
        if (from.is_used) {
            from.sample = *sample_of(args, number, batch, slot);
            from.begin = begin_of(args.offsets, from.sample.index);
            from.steps = steps_of(args.offsets, from.sample.index);
            if (args.plans) from.plan = args.plans[at];
            else from.plan.kept = from.steps;
        }
        args.lengths[at] = from.plan.lead + from.plan.kept;
    }
    block_barrier();
    uint32_t steps = from.plan.lead + from.plan.kept, count = steps * dim;
    float *row = args.x + at * args.max_steps * dim;
    const float *factors = args.factors + at * args.sensors;
    const float *mean = args.mean + size_t(number) * args.normalizer_stride;
    const float *scale = args.scale + size_t(number) * args.normalizer_stride;

    bool is_raw_written = from.plan.lead != 0 || from.plan.background_steps != 0;
    uint32_t mixed = from.plan.background_steps * dim;
    const float *background = args.background + size_t(from.plan.background_start) * dim;
    float background_gain = 0;
    if (is_raw_written) write_raw(args, network, from, factors, row);
    if (mixed != 0) {
        background_gain = level_of(row, count, sums) - level_of(background, mixed, sums);
        background_gain -= from.plan.signal_to_noise * 2.302585093f / 10.0f;
    }
    ValuePlace place = place_of(thread_number(), dim);
    for (uint32_t first = 0; first < count; first += NOISE_TILE) {
        if (args.noise != 0) {
            block_barrier();
            draw_noise(args.noise_states + at * args.noise_chunks, first, count, tile);
            block_barrier();
        }
        uint32_t end = min(count, first + NOISE_TILE);
        for (uint32_t k = first + thread_number(); k < end; k += ASSEMBLE_THREADS) {
            float value = is_raw_written ? row[k] : own_value(args, from, factors, place.step, place.feature);
            if (k < mixed) {
                float other = background[k] + background_gain;
                value = fmaxf(value, other) + table_softplus(args.softplus, fabsf(value - other));
                value = fmaxf(value, args.floor);
            }
            if (args.mean) {
                uint32_t of = args.is_per_coordinate ? k : place.feature;
                value = (value - mean[of]) * scale[of];
            }
            if (args.noise != 0) value += args.noise * tile[noise_place(k - first)];
            row[k] = value;
            go_forward(&place, ASSEMBLE_THREADS / dim, ASSEMBLE_THREADS % dim, dim);
        }
    }
    for (uint32_t k = count + thread_number(); k < args.max_steps * dim; k += ASSEMBLE_THREADS) row[k] = 0.0f;
    uint32_t masks = args.frequency_masks + args.time_masks;
    if (masks != 0 && from.is_used) hide_masked(args, args.masks + at * 2 * masks, steps, row);
    write_target(args, number, at, from);
}

// The shared memory of a block of `draw_partners`: 16 * PARTNER_DRAWS + 20 * slots + 8 bytes.
struct PartnerMemory {
    // The next draws, and for each of them the logarithm of the gamma variate that begins there, or NaN where the
    // proposal is rejected.
    uint64_t *draws;
    double *proposals;
    // Two logarithms of gamma variates for each sequence.
    double *variates;
    uint32_t *partners;
    // How many draws there are, and how many variates are done.
    uint32_t *filled, *done;
};

DEVICE PartnerMemory partner_memory(uint32_t slots) {
    PartnerMemory memory;
    memory.draws = static_cast<uint64_t *>(block_memory());
    memory.proposals = reinterpret_cast<double *>(memory.draws + PARTNER_DRAWS);
    memory.variates = memory.proposals + PARTNER_DRAWS;
    memory.partners = reinterpret_cast<uint32_t *>(memory.variates + 2 * slots);
    memory.filled = memory.partners + slots;
    memory.done = memory.filled + 1;
    return memory;
}

// The logarithm of a gamma variate of shape `alpha`, by Marsaglia and Tsang's rejection, from four draws; NaN if it is
// rejected, for which only three are used.
DEVICE double propose_log_gamma(double alpha, const uint64_t *draws) {
    double d = alpha + 1.0 - 1.0 / 3.0, c = 1.0 / sqrt(9.0 * d);
    double x, unused;
    normal_pair_of(draws[0], draws[1], &x, &unused);
    double v = 1.0 + c * x;
    v = v * v * v;
    double u = 1.0 - uniform_of(draws[2]);
    if (!(v > 0.0) || !(log(u) < 0.5 * x * x + d - d * v + d * log(v))) return nan("");
    return log(d * v) + log(1.0 - uniform_of(draws[3])) / alpha;
}

// Which sequence of its batch each one is mixed with, and the own part.
//
// How many draws a part takes is random, so one thread finds where each begins; but it only walks over proposals that
// all threads have made, one for each draw that might be the first of its proposal.
KERNEL(draw_partners, AssembleArguments, PARTNER_THREADS) {
    uint32_t number = blockIdx.x, batch = args.progress[number].batch;
    const AssembleNetwork *network = args.networks + number;
    uint32_t size = min(args.slots, batch_size(network, batch)), thread = thread_number();
    PartnerMemory memory = partner_memory(args.slots);
    for (uint32_t i = thread; i < size; i += PARTNER_THREADS) memory.partners[i] = i;
    block_barrier();
    Rng rng = {0, 0, 0, 0};
    if (thread == 0) {
        uint64_t key = extend_key(key_of_seed(network->seed), STREAM_MIXUP);
        rng = stream_of_key(extend_key(extend_key(extend_key(key, network->pass), network->epoch), batch));
        for (uint32_t i = size; i-- > 1;) {
            uint32_t j = below(i + 1, &rng), other = memory.partners[j];
            memory.partners[j] = memory.partners[i];
            memory.partners[i] = other;
        }
        *memory.filled = *memory.done = 0;
    }
    block_barrier();
    while (*memory.done < 2 * size) {
        if (thread == 0) {
            // A little more than the usual number of draws of a variate.
            uint32_t filled = *memory.filled;
            uint32_t wanted = min(uint32_t(PARTNER_DRAWS), (2 * size - *memory.done) * 9 / 2 + 16);
            for (; filled < wanted; filled++) memory.draws[filled] = draw(&rng);
            *memory.filled = filled;
        }
        block_barrier();
        uint32_t available = *memory.filled;
        for (uint32_t i = thread; i + 4 <= available; i += PARTNER_THREADS) {
            memory.proposals[i] = propose_log_gamma(args.mixup, memory.draws + i);
        }
        block_barrier();
        if (thread == 0) {
            uint32_t at = 0, made = *memory.done;
            while (made < 2 * size && at + 4 <= available) {
                double proposal = memory.proposals[at];
                bool is_accepted = proposal == proposal;
                if (is_accepted) memory.variates[made++] = proposal;
                at += is_accepted ? 4 : 3;
            }
            for (uint32_t i = at; i < available; i++) memory.draws[i - at] = memory.draws[i];
            *memory.filled = available - at;
            *memory.done = made;
        }
        block_barrier();
    }
    for (uint32_t i = thread; i < size; i += PARTNER_THREADS) {
        size_t to = size_t(number) * args.slots + i;
        double part = 1.0 / (1.0 + exp(memory.variates[2 * i + 1] - memory.variates[2 * i]));
        args.partners[to] = memory.partners[i];
        // The own part is the larger one, so that a sequence's class is still its class.
        args.parts[to] = float(fmax(part, 1.0 - part));
    }
}

DEVICE float blend(float own, float value, float other) { return own * value + (1.0f - own) * other; }

// Mixes the inputs, targets and weights of a batch, all of whose sequences are of one length.
KERNEL(mix_sequences, AssembleArguments, ASSEMBLE_THREADS) {
    uint32_t slot = blockIdx.x, number = blockIdx.y, batch = args.progress[number].batch;
    size_t start = size_t(number) * args.slots, at = start + slot;
    uint32_t values = args.max_steps * args.dim;
    bool is_used = slot < batch_size(args.networks + number, batch);
    size_t other = is_used ? start + args.partners[at] : at;
    float own = is_used ? args.parts[at] : 1.0f;
    const float *row = args.x + at * values, *other_row = args.x + other * values;
    float *to = args.mixed + at * values;
    for (uint32_t k = thread_number(); k < values; k += ASSEMBLE_THREADS) to[k] = blend(own, row[k], other_row[k]);
    if (!is_used) return;
    uint32_t label = args.targets[at], other_label = args.targets[other];
    for (uint32_t k = thread_number(); k < args.outputs; k += ASSEMBLE_THREADS) {
        args.soft[at * args.outputs + k] = blend(own, share_of(args, label, k), share_of(args, other_label, k));
    }
    if (args.class_weights && thread_number() == 0) {
        args.weights[at] = blend(own, weight_of(args, number, label), weight_of(args, number, other_label));
    }
}
