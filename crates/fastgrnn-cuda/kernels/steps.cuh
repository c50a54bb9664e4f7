// Matrices of 4 bits, whose entries are whole numbers times a step that is learnt: a parameter of the network, stored as
// its logarithm. They are kernels of a module of their own, so that a change here does not compile all others again.
//
// see_steps        the entries as the network sees them, after the kernel `see`
// pull_back_steps  the gradient by weights and steps from that by what the network sees
#pragma once

#include "sources.cuh"

// The smallest and the largest entry.
#define LEAST_ENTRY -8.0f
#define LARGEST_ENTRY 7.0f

#define STEP_THREADS 256

struct StepArguments {
    const NetworkSource *sources;
    const ViewSource *views;
    const ViewGrid *grids;
    // The place of the step of each view, -1 where it has none, [networks][view_stride].
    const int *steps;
    int view_stride;
    const float *parameters;
    // What the networks see, or the gradient by it.
    float *values;
    int parameter_stride;
    // What is dropped; null if nothing is.
    const unsigned *drawn;
    int drawn_stride;
    const DropSettings *drops;
};

// Whether a step below 0 says that it is a parameter.
DEVICE bool is_learnt(ViewGrid grid) { return grid.step < 0.0f; }

DEVICE float nearest_of_step(float step, float value) {
    return fminf(fmaxf(rintf(value / step), LEAST_ENTRY), LARGEST_ENTRY) * step;
}

// Grid: views × networks.
KERNEL(see_steps, StepArguments, STEP_THREADS) {
    const int network = blockIdx.y, number = blockIdx.x;
    if (number >= args.sources[network].views) return;
    const size_t place = size_t(network) * args.view_stride + number;
    if (args.steps[place] < 0 || !is_learnt(args.grids[place])) return;
    const ViewSource view = args.views[place];
    const size_t base = size_t(network) * args.parameter_stride;
    const float step = expf(args.parameters[base + args.steps[place]]);
    for (int i = thread_number(); i < view.length; i += thread_count()) {
        const size_t at = base + view.offset + i;
        float value = nearest_of_step(step, args.parameters[at]);
        if (args.drawn && view.draw >= 0) {
            const unsigned *drawn = args.drawn + size_t(network) * args.drawn_stride;
            value *= drop_factor(drawn, view.draw + i, args.drops[network].kept);
        }
        args.values[at] = value;
    }
}

// Rounding counts as a constant that is added to a weight within the reach of its step; beyond it a weight has no
// gradient. The sum over a matrix has a fixed order. Grid: views × networks. Block memory: a double for each warp.
KERNEL(pull_back_steps, StepArguments, STEP_THREADS) {
    const int network = blockIdx.y, number = blockIdx.x;
    if (number >= args.sources[network].views) return;
    const size_t place = size_t(network) * args.view_stride + number;
    if (args.steps[place] < 0) return;
    const bool is_seen = is_learnt(args.grids[place]);
    const ViewSource view = args.views[place];
    const size_t base = size_t(network) * args.parameter_stride;
    const float step = expf(args.parameters[base + args.steps[place]]);
    double sum = 0.0;
    for (int i = thread_number(); is_seen && i < view.length; i += thread_count()) {
        const size_t at = base + view.offset + i;
        const float value = args.parameters[at], ratio = value / step;
        const double seen = nearest_of_step(step, value), g = args.values[at];
        const bool is_in_reach = ratio >= LEAST_ENTRY && ratio <= LARGEST_ENTRY;
        sum += g * (is_in_reach ? seen - double(value) : seen);
        if (!is_in_reach) args.values[at] = 0.0f;
    }
    sum = block_sum(sum, static_cast<double *>(block_memory()));
    if (thread_number() == 0) {
        args.values[base + args.steps[place]] = float(sum / sqrt(double(LARGEST_ENTRY) * view.length));
    }
}
