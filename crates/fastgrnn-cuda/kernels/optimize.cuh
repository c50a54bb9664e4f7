// The step of the optimiser on the flat parameters of a cohort's networks.
//
// gradient_norm   sums of squares of the gradient, chunk by chunk
// update          clips the gradient, moves parameters and moments, and lets the average follow
// project         in steps that project: keeps the largest entries of each sparse view
// finish_step     stops networks that are no longer finite, and counts the step of the others
//
// All take the same arguments. What changes from step to step is in a table that the batch number of the network
// indexes, so that the launches can be replayed. An entry outside the support has a parameter and moments of zero; its
// gradient does not count, but is added up until the next projection where a stage projects.
#pragma once

#include "params.cuh"

enum OptimizerCode { OPTIMIZER_SGD, OPTIMIZER_NESTEROV, OPTIMIZER_ADAM, OPTIMIZER_ADAMW };

// What a step does, bits of StepNumbers::flags.
enum StepFlag {
    // There is a support: the mask counts.
    STEP_MASKED = 1,
    // Gradients outside the support are added up.
    STEP_HOLDS = 2,
    // The step ends with a projection.
    STEP_PROJECTS = 4,
};

// What changes from step to step.
struct StepNumbers {
    // The least fraction that a projection keeps, and what it keeps of the rest.
    double least, rest;
    float lr;
    // Of Adam: the learning rate over the first moment's bias, and one over the second moment's bias.
    float size, unbias;
    // Of AdamW: the factor of what is decayed.
    float shrink;
    // How far the average moves towards the parameters; 1 makes it a copy.
    float follow;
    // How much of the gradients that were added up makes a step.
    float trust;
    int flags;
    int unused;
};

// What does not change.
struct OptimizerSettings {
    // The largest norm of the gradient, 0 for any.
    double clip;
    // Decay of the first moment, and the share of a new gradient in it.
    float momentum, fresh;
    float weight_decay;
    int optimizer;
};

struct OptimizeArguments {
    const NetworkSource *sources;
    const ViewSource *views;
    const ViewGrid *grids;
    int view_stride;
    const unsigned char *view_of;
    const OptimizerSettings *settings;
    // [networks][table_rows]
    const StepNumbers *table;
    int table_rows;
    Progress *progress;
    // The weighted losses of the sequences, [networks][loss_count]; null if they are not to be watched.
    const double *losses;
    int loss_count;
    // All [networks][parameter_stride]. Moments and average are null where there are none, mask and held gradients
    // where no stage projects.
    float *parameters;
    const float *gradient;
    float *first, *second, *average, *held;
    // 1 where an entry may be other than zero.
    unsigned char *mask;
    int parameter_stride;
    // Sums of squares, [networks][chunk_count].
    double *squares;
    // Entries that are not finite: of each chunk, and behind them of each view after a projection,
    // [networks][chunk_count + view_stride].
    int *broken;
    int chunk_count;
    // Whether the kernel `project` runs in this step; otherwise no row of the table projects.
    int is_projecting;
};

// Parameters of a chunk.
#define CHUNK 2048
#define CHUNK_THREADS 256
#define PROJECT_THREADS 512
// Adam's second moment.
#define BETA2 0.999f
#define NEW2 0.001f
// Keeps Adam's quotient finite where a gradient has always been 0.
#define ADAM_EPSILON 1e-8f

DEVICE const StepNumbers &numbers_of(const OptimizeArguments &args, int network) {
    return args.table[size_t(network) * args.table_rows + args.progress[network].batch];
}

// Whether the network projects in this step.
DEVICE bool is_projected(const OptimizeArguments &args, const StepNumbers &numbers) {
    return args.is_projecting && (numbers.flags & STEP_PROJECTS);
}

// Whether the network still runs. Beyond the table there is nothing to do.
DEVICE bool is_running(const OptimizeArguments &args, int network) {
    const Progress &progress = args.progress[network];
    return progress.status == STATUS_RUNNING && progress.batch < args.table_rows;
}

// Grid: chunks × networks. Block memory: a double for each warp.
KERNEL(gradient_norm, OptimizeArguments, CHUNK_THREADS) {
    const int network = blockIdx.y;
    if (!is_running(args, network)) return;
    const size_t base = size_t(network) * args.parameter_stride;
    const bool is_masked = numbers_of(args, network).flags & STEP_MASKED;
    const int end = min(args.sources[network].parameters, int(blockIdx.x + 1) * CHUNK);
    double sum = 0.0;
    for (int entry = blockIdx.x * CHUNK + thread_number(); entry < end; entry += CHUNK_THREADS) {
        const double g = is_masked && !args.mask[base + entry] ? 0.0f : args.gradient[base + entry];
        sum += g * g;
    }
    sum = block_sum(sum, static_cast<double *>(block_memory()));
    if (thread_number() == 0) args.squares[size_t(network) * args.chunk_count + blockIdx.x] = sum;
}

// The norm of a network's gradient. For whole warps.
DEVICE double norm_of(const OptimizeArguments &args, int network) {
    double sum = 0.0;
    for (int chunk = thread_number() % LANES; chunk < args.chunk_count; chunk += LANES) {
        sum += args.squares[size_t(network) * args.chunk_count + chunk];
    }
    return sqrt(warp_sum(sum));
}

// The parameter after a step against the gradient `g`.
DEVICE float moved(const OptimizeArguments &args, const OptimizerSettings &settings, const StepNumbers &numbers,
                   bool is_decayed, size_t at, float g) {
    const float p = args.parameters[at], decay = is_decayed ? settings.weight_decay : 0.0f;
    if (settings.optimizer == OPTIMIZER_SGD) return p - numbers.lr * (g + decay * p);
    if (settings.optimizer == OPTIMIZER_NESTEROV) {
        g += decay * p;
        const float v = settings.momentum * args.first[at] + g;
        args.first[at] = v;
        return p - numbers.lr * (g + settings.momentum * v);
    }
    const bool is_coupled = settings.optimizer == OPTIMIZER_ADAM;
    if (is_coupled) g += decay * p;
    const float shrink = is_decayed && !is_coupled ? numbers.shrink : 1.0f;
    const float m = settings.momentum * args.first[at] + settings.fresh * g;
    const float v = BETA2 * args.second[at] + NEW2 * (g * g);
    args.first[at] = m;
    args.second[at] = v;
    return p * shrink - numbers.size * m / (sqrtf(v * numbers.unbias) + ADAM_EPSILON);
}

// Writes a parameter that no later kernel of the step changes: within its limit, if it has one, and taken in by the
// average. Returns whether it is finite.
DEVICE bool settle(const OptimizeArguments &args, const ViewGrid &grid, float follow, size_t at, float value) {
    if (grid.limit > 0.0f && fabsf(value) > grid.limit) value = value < 0.0f ? -grid.limit : grid.limit;
    args.parameters[at] = value;
    if (args.average) {
        const float old = args.average[at];
        args.average[at] = follow == 1.0f ? value : old + follow * (value - old);
    }
    return isfinite(value);
}

// Grid: chunks × networks. Block memory: an int for each warp.
KERNEL(update, OptimizeArguments, CHUNK_THREADS) {
    const int network = blockIdx.y;
    if (!is_running(args, network)) return;
    const double norm = norm_of(args, network);
    if (!isfinite(norm)) return;
    const StepNumbers numbers = numbers_of(args, network);
    const OptimizerSettings settings = args.settings[network];
    const size_t base = size_t(network) * args.parameter_stride, first_view = size_t(network) * args.view_stride;
    const bool is_masked = numbers.flags & STEP_MASKED, projects = is_projected(args, numbers);
    const float factor = settings.clip > 0.0 && norm > settings.clip ? float(settings.clip / norm) : 1.0f;
    const int end = min(args.sources[network].parameters, int(blockIdx.x + 1) * CHUNK);
    int broken = 0;
    for (int entry = blockIdx.x * CHUNK + thread_number(); entry < end; entry += CHUNK_THREADS) {
        const size_t at = base + entry;
        const ViewSource &view = args.views[first_view + args.view_of[at]];
        const bool is_outside = is_masked && !args.mask[at];
        float g = args.gradient[at] * factor;
        if (is_outside) {
            args.held[at] = numbers.flags & STEP_HOLDS ? args.held[at] + g : 0.0f;
            g = 0.0f;
        }
        const float value = moved(args, settings, numbers, view.is_decayed, at, g);
        if (projects && view.target < 1.0) {
            args.parameters[at] = value;
        } else {
            if (projects) args.mask[at] = 1;
            broken += !settle(args, args.grids[first_view + args.view_of[at]], numbers.follow, at, value);
        }
    }
    broken = block_sum(broken, static_cast<int *>(block_memory()));
    if (thread_number() == 0) {
        args.broken[size_t(network) * (args.chunk_count + args.view_stride) + blockIdx.x] = broken;
    }
}

// How far a gradient of 1 moves an entry whose second moment is `second`.
DEVICE float step_size(const OptimizerSettings &settings, const StepNumbers &numbers, float second) {
    if (settings.optimizer == OPTIMIZER_SGD || settings.optimizer == OPTIMIZER_NESTEROV) return numbers.lr;
    return numbers.lr / (sqrtf(second * numbers.unbias) + ADAM_EPSILON);
}

// Entries of `length` that a projection keeps. A product that is whole but for the rounding of its factors counts as
// whole.
DEVICE int kept_count(const StepNumbers &numbers, double target, int length) {
    const double end = fmax(target, numbers.least), fraction = end + (1.0 - end) * numbers.rest;
    return int(fmin(fmax(ceil(fraction * length - 1e-9), 1.0), double(length)));
}

// The bits of a magnitude, which have its order.
DEVICE unsigned magnitude_bits(float value) {
    union {
        float number;
        unsigned bits;
    } both;
    both.number = value;
    return both.bits & 0x7fffffffu;
}

// The largest bits that at least `keep` of the values reach. `scratch` holds three ints for each warp.
DEVICE unsigned kept_bits(const float *values, int length, int keep, int *scratch) {
    const int warps = thread_count() / LANES, warp = thread_number() / LANES;
    unsigned reached = 0;
    for (int shift = 30; shift >= 0; shift -= 2) {
        int counts[3] = {};
        for (int i = thread_number(); i < length; i += thread_count()) {
            const unsigned bits = magnitude_bits(values[i]);
            for (int j = 0; j < 3; j++) counts[j] += bits >= reached + (unsigned(j + 1) << shift);
        }
        block_barrier();
        for (int j = 0; j < 3; j++) {
            const int sum = warp_sum(counts[j]);
            if (thread_number() % LANES == 0) scratch[j * warps + warp] = sum;
        }
        block_barrier();
        unsigned digit = 0;
        for (int j = 0; j < 3; j++) {
            int sum = 0;
            for (int w = 0; w < warps; w++) sum += scratch[j * warps + w];
            if (sum >= keep) digit = j + 1;
        }
        reached += digit << shift;
    }
    return reached;
}

// The sum of a value over the threads before this one. `scratch` holds an int for each thread.
DEVICE int sum_before(int value, int *scratch) {
    const int me = thread_number();
    int sum = value;
    for (int reach = 1; reach < thread_count(); reach *= 2) {
        block_barrier();
        scratch[me] = sum;
        block_barrier();
        if (me >= reach) sum += scratch[me - reach];
    }
    return sum - value;
}

// Grid: views × networks. Block memory: an int for each thread and a double for each warp.
KERNEL(project, OptimizeArguments, PROJECT_THREADS) {
    const int network = blockIdx.y, number = blockIdx.x, threads = thread_count();
    if (!is_running(args, network) || number >= args.sources[network].views) return;
    const StepNumbers numbers = numbers_of(args, network);
    const ViewSource view = args.views[size_t(network) * args.view_stride + number];
    if (!is_projected(args, numbers) || view.target >= 1.0 || !isfinite(norm_of(args, network))) return;
    const OptimizerSettings settings = args.settings[network];
    const ViewGrid grid = args.grids[size_t(network) * args.view_stride + number];
    const bool is_masked = numbers.flags & STEP_MASKED;
    const size_t base = size_t(network) * args.parameter_stride + view.offset;
    double *sums = static_cast<double *>(block_memory());
    int *counts = reinterpret_cast<int *>(sums + threads / LANES);
    float *values = args.parameters + base;
    unsigned char *mask = args.mask + base;

    double second = 0.0;
    int kept = 0;
    for (int i = thread_number(); i < view.length; i += threads) {
        if (is_masked && !mask[i]) continue;
        kept++;
        if (args.second) second += args.second[base + i];
    }
    kept = block_sum(kept, counts);
    const float typical = float(block_sum(second, sums) / max(kept, 1));
    const float step = step_size(settings, numbers, typical) * numbers.trust;
    for (int i = thread_number(); is_masked && i < view.length; i += threads) {
        if (!mask[i]) values[i] = -step * args.held[base + i];
    }
    block_barrier();

    // A stage that begins anew, gradually, gives nothing back.
    const int keep = min(kept_count(numbers, view.target, view.length), kept);
    const unsigned least = kept_bits(values, view.length, keep, counts);
    // Of equal entries the first ones stay: threads own them in order.
    const int share = (view.length + threads - 1) / threads;
    const int begin = min(thread_number() * share, view.length), end = min(begin + share, view.length);
    int larger = 0, equal = 0;
    for (int i = begin; i < end; i++) {
        larger += magnitude_bits(values[i]) > least;
        equal += magnitude_bits(values[i]) == least;
    }
    int left = keep - block_sum(larger, counts);
    left -= sum_before(equal, counts);
    // The second bit is the new mask; the old one is still needed.
    for (int i = begin; i < end; i++) {
        const unsigned bits = magnitude_bits(values[i]);
        const bool stays = bits > least || (bits == least && left-- > 0);
        mask[i] = (is_masked ? mask[i] : 1) | stays << 1;
    }
    block_barrier();

    int broken = 0;
    for (int i = thread_number(); i < view.length; i += threads) {
        const bool was_kept = mask[i] & 1, stays = mask[i] & 2;
        if (args.first && !stays) args.first[base + i] = 0.0f;
        if (args.second && !stays) args.second[base + i] = 0.0f;
        if (args.second && stays && !was_kept) args.second[base + i] = typical;
        args.held[base + i] = 0.0f;
        mask[i] = stays;
        broken += !settle(args, grid, numbers.follow, base + i, stays ? values[i] : 0.0f);
    }
    broken = block_sum(broken, counts);
    if (thread_number() == 0) {
        const size_t first = size_t(network) * (args.chunk_count + args.view_stride);
        args.broken[first + args.chunk_count + number] = broken;
    }
}

// Entries of a network that are not finite.
DEVICE int broken_entries(const OptimizeArguments &args, int network) {
    const int *broken = args.broken + size_t(network) * (args.chunk_count + args.view_stride);
    const int count = args.chunk_count + (is_projected(args, numbers_of(args, network)) ? args.view_stride : 0);
    int sum = 0;
    for (int i = thread_number(); i < count; i += LANES) sum += broken[i];
    return warp_sum(sum);
}

// Grid: networks. One warp.
KERNEL(finish_step, OptimizeArguments, LANES) {
    const int network = blockIdx.x;
    if (!is_running(args, network)) return;
    double loss = 0.0;
    for (int i = thread_number(); args.losses && i < args.loss_count; i += LANES) {
        loss += args.losses[size_t(network) * args.loss_count + i];
    }
    loss = warp_sum(loss);
    const double norm = norm_of(args, network);
    const int broken = broken_entries(args, network);
    // Every lane has read how far the network is before it changes.
    warp_barrier();
    if (thread_number() > 0) return;
    Progress &progress = args.progress[network];
    if (!isfinite(loss)) progress.status = STATUS_LOSS;
    else if (!isfinite(norm)) progress.status = STATUS_NORM;
    else if (broken > 0) progress.status = STATUS_PARAMETER;
    if (progress.status != STATUS_RUNNING) return;
    progress.step++;
    progress.batch++;
}
