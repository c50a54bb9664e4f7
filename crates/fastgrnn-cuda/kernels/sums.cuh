// The sum of the gradients that the parts of a batch contribute.
#pragma once

#include "network.cuh"

// The gradients of a layer or of the head.
struct PartSegment {
    // [networks][parts][length]
    const float *parts;
    int part_count, length;
    // Where the sum goes in the gradient of a network.
    int at;
    // The first piece of the grid that belongs to it.
    int first_piece;
};

struct PartSumArguments {
    PartSegment segments[MAX_LAYERS + 1];
    int segment_count;
    float *sums;
    int stride;
};

// Numbers of a piece, and the threads that share the parts of one.
#define SUM_PIECE 32
#define SUM_SHARE 8

// Grid: pieces × networks; SUM_PIECE · SUM_SHARE threads. The parts are added in an order that is fixed: in each share in
// their order, then the shares.
KERNEL(part_sums, PartSumArguments, SUM_PIECE * SUM_SHARE) {
    __shared__ float shares[SUM_SHARE][SUM_PIECE];
    const int network = blockIdx.y, column = thread_number() % SUM_PIECE, share = thread_number() / SUM_PIECE;
    int s = 0;
    while (s + 1 < args.segment_count && int(blockIdx.x) >= args.segments[s + 1].first_piece) s++;
    const PartSegment &segment = args.segments[s];
    const int i = (blockIdx.x - segment.first_piece) * SUM_PIECE + column, count = segment.part_count;
    float sum = 0.0f;
    if (i < segment.length) {
        const float *part = segment.parts + size_t(network) * count * segment.length + i;
        const int end = (share + 1) * count / SUM_SHARE;
#pragma unroll 16
        for (int p = share * count / SUM_SHARE; p < end; p++) sum += part[size_t(p) * segment.length];
    }
    shares[share][column] = sum;
    block_barrier();
    if (share > 0 || i >= segment.length) return;
    for (int other = 1; other < SUM_SHARE; other++) sum += shares[other][column];
    args.sums[size_t(network) * args.stride + segment.at + i] = sum;
}
