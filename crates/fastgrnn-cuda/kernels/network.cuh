// How the networks of a cohort lie in device memory.
//
// A cohort is a number of networks of one kind: the same layers of the same cells, the same outputs. Their widths may
// differ; the kernels of layers see all of them padded with zeros to the same width. A flat buffer holds the parameters
// of a network as the rest of the program knows them. Before each step they are written to a padded buffer, in which
// low-rank matrices are multiplied out; the layers read that buffer, and their gradients have the same order.
#pragma once

#include "common.cuh"

// The most layers of a network.
#define MAX_LAYERS 8
// The most stacked blocks, vectors and saved values of a cell.
#define MAX_BLOCKS 4
#define MAX_VECTORS 4
#define SCALARS 4

// The codes of the cells, in the order of CellKind.
enum CellCode {
    CELL_RNN, CELL_FASTRNN, CELL_FASTRNN_VECTOR, CELL_FASTGRNN, CELL_FASTGRNN_GAIN, CELL_UGRNN, CELL_GRU, CELL_LSTM,
    CELL_MINGRU
};

// The places of a layer's weights in the padded buffer, and of their gradients: numbers from the start of a network's
// part. `rows` are the stacked blocks: block b of unit u is row b * hidden + u.
struct LayerPlaces {
    // The padded units.
    int hidden;
    int input;
    int w_blocks, u_blocks, vector_count;
    // W by columns: [input][w_blocks * hidden].
    int w;
    // U by columns: [hidden][u_blocks * hidden].
    int u;
    // [vector_count][hidden], those that the cell reads through a sigmoid after it.
    int vectors;
    // alpha, beta, zeta, nu, after their sigmoid.
    int scalars;
    // W by rows and U by rows, for the way back. They have no gradients of their own.
    int w_rows, u_rows;
};

// The places of the head: [outputs][hidden] and [outputs].
struct HeadPlaces {
    int hidden, outputs;
    int w, b;
};

enum Status { STATUS_RUNNING, STATUS_LOSS, STATUS_NORM, STATUS_PARAMETER };

// How far a network has come.
struct Progress {
    // Steps of the optimiser that are done: draws are keyed by it.
    uint64_t step;
    // The batch of the epoch.
    int batch;
    // Why the network has stopped. From then on it stays as it is.
    int status;
};
