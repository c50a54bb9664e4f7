// Where the flat parameters of the networks of a cohort lie, and on which grids they are seen.
#pragma once

#include "network.cuh"

enum FormCode { FORM_FULL, FORM_LOW_RANK, FORM_DIAGONAL, FORM_ABSENT };

// W or U in the flat buffer. Full: `first` is rows × columns. Low rank: `first` is rows × rank, and `second`, which
// follows it, is columns × rank. Diagonal: `first` has a number for each row.
struct MatrixSource {
    int form, rank;
    int first, second;
    // The draw that decides whether the first entry is dropped; those of the others follow. -1: never dropped.
    int draw;
};

// Values of PointSource::at that are no places.
enum PointCode { POINT_ABSENT = -1, POINT_FIXED = -2, POINT_TIED = -3 };

// A vector or scalar in the flat buffer.
struct PointSource {
    int at;
    // Whether the cell reads it through a sigmoid.
    int is_raw;
    // Its value if it is fixed.
    float value;
};

struct LayerSource {
    int input, hidden;
    MatrixSource w, u;
    PointSource vectors[MAX_VECTORS];
    PointSource scalars[SCALARS];
};

// The flat buffer of a network.
struct NetworkSource {
    int parameters;
    int views;
    // Recurrent entries, which each step draws for.
    int draws;
    // Units of the last layer, and the places of the head.
    int head_hidden, head_w, head_b;
    LayerSource layers[MAX_LAYERS];
};

// A view of the flat buffer, [networks][view_stride].
struct ViewSource {
    int offset, length;
    // The draw of its first entry, -1 for a view that is not recurrent.
    int draw;
    int is_decayed;
    // The fraction that the last projection is to keep; 1 for a view that stays dense.
    double target;
};

// The multiples of `step` up to `limit` on both sides. A step of 0 is no grid, and one below 0 is a parameter (steps.cuh).
// A limit of 0 is none; there may be a limit without a grid.
struct ViewGrid {
    float step, limit;
};

// How entries of a network's recurrent matrices are dropped.
struct DropSettings {
    uint64_t seed, pass;
    double share;
    // What the remaining entries are multiplied with.
    float kept;
    int unused;
};

// What an entry with this draw is multiplied with.
DEVICE float drop_factor(const unsigned *drawn, int draw, float kept) {
    return drawn[draw / 32] >> (draw % 32) & 1 ? 0.0f : kept;
}
