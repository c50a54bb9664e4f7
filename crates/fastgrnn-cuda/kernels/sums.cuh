// What the parts of a batch come to: the sum of the gradients that they contribute, and the result of the batch.
#pragma once

#include "head.cuh"

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

// A number of the padded gradient that belongs to no parameter, and the bit of a parameter that the cell reads through a
// sigmoid.
#define NO_PARAMETER -1
#define RAW_PARAMETER (1 << 30)

// The flat gradient of networks whose parameters are all in the padded buffer.
struct DirectGradient {
    // The parameter whose gradient each number of the padded gradient is, [networks][stride]; null if the padded gradient
    // is to be written instead.
    const int *parameter_of;
    const float *packed;
    int packed_stride;
    float *gradient;
    int parameter_stride;
};

struct PartSumArguments {
    PartSegment segments[MAX_LAYERS + 1];
    int segment_count;
    // Pieces of all segments.
    int pieces;
    float *sums;
    int stride;
    DirectGradient direct;
    HeadArguments head;
    BatchResultPlace result;
};

// Numbers of a piece, and the threads that share the parts of one.
#define SUM_PIECE 32
#define SUM_SHARE 8
#define SUM_TURN 16

// Grid: pieces and one block for the result × networks; SUM_PIECE · SUM_SHARE threads. The parts are added in an order
// that is fixed: in each share in their order, then the shares. Block memory: 8 bytes for each warp.
KERNEL(part_sums, PartSumArguments, SUM_PIECE * SUM_SHARE) {
    __shared__ float shares[SUM_SHARE][SUM_PIECE];
    const int network = blockIdx.y, column = thread_number() % SUM_PIECE, share = thread_number() / SUM_PIECE;
    if (int(blockIdx.x) == args.pieces) {
        write_batch_result(args.head, args.result, network, static_cast<double *>(block_memory()));
        return;
    }
    int s = 0;
    while (s + 1 < args.segment_count && int(blockIdx.x) >= args.segments[s + 1].first_piece) s++;
    const PartSegment &segment = args.segments[s];
    const int i = (blockIdx.x - segment.first_piece) * SUM_PIECE + column, count = segment.part_count;
    const size_t at = size_t(network) * args.stride + segment.at + i;
    const bool is_direct = args.direct.parameter_of && i < segment.length && share == 0;
    const int parameter = is_direct ? args.direct.parameter_of[at] : NO_PARAMETER;
    float sum = 0.0f;
    if (i < segment.length) {
        const float *part = segment.parts + size_t(network) * count * segment.length + i;
        const int end = (share + 1) * count / SUM_SHARE;
        // In turns, so that the reads of one wait together.
        for (int p = share * count / SUM_SHARE; p < end; p += SUM_TURN) {
            float values[SUM_TURN];
#pragma unroll
            for (int j = 0; j < SUM_TURN; j++) values[j] = p + j < end ? part[size_t(p + j) * segment.length] : 0.0f;
#pragma unroll
            for (int j = 0; j < SUM_TURN; j++) sum += values[j];
        }
    }
    shares[share][column] = sum;
    block_barrier();
    if (share > 0 || i >= segment.length) return;
    for (int other = 1; other < SUM_SHARE; other++) sum += shares[other][column];
    if (!is_direct) {
        args.sums[at] = sum;
        return;
    }
    if (parameter == NO_PARAMETER) return;
    if (parameter & RAW_PARAMETER) {
        const float value = args.direct.packed[size_t(network) * args.direct.packed_stride + segment.at + i];
        sum *= value * (1.0f - value);
    }
    args.direct.gradient[size_t(network) * args.direct.parameter_stride + (parameter & ~RAW_PARAMETER)] = sum;
}
