// A kernel whose result is known, which shows whether a device and its driver work.
#pragma once

#include "common.cuh"

struct ThreadSumArguments {
    // A number for each block.
    float *sums;
    float factor;
};

// Adds to the number of each block the sum of its threads' numbers in the grid, each multiplied by a factor.
KERNEL(add_thread_sums, ThreadSumArguments, 256) {
    float *scratch = static_cast<float *>(block_memory());
    int number = blockIdx.x * thread_count() + thread_number();
    float sum = block_sum(args.factor * number, scratch);
    if (thread_number() == 0) args.sums[blockIdx.x] += sum;
}
