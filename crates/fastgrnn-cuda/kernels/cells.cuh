// The element-wise rule of each cell, for one unit of one sequence.
//
// The products of a step give `pre`: W_BLOCKS blocks of W·x, to which the blocks of U·h are added at the places
// `u_place`. `forward` makes the new state and saves what the way back needs. On the way back, `factors` computes from that,
// and from the old state, all that does not depend on the gradient; `backward` turns the gradient of the new state into that
// of `pre`, replaces it by the part that reaches the old state directly, and adds to the gradients of the vectors and
// scalars of the unit. The two are apart because the gradient arrives late.
#pragma once

#include "network.cuh"
#include "nonlinearities.cuh"

enum ScalarPlace { ALPHA, BETA, ZETA, NU };

// What a rule reads of a unit besides `pre` and the state.
struct UnitParameters {
    float vectors[MAX_VECTORS];
    float scalars[SCALARS];
    Curve gate, update;
};

// What a unit hands on from step to step; `c` is the cell state of an LSTM.
struct Memory {
    float h, c;
};

struct UnitGradients {
    float vectors[MAX_VECTORS] = {};
    float scalars[SCALARS] = {};
};

struct Rnn {
    static constexpr int CODE = CELL_RNN, W_BLOCKS = 1, U_BLOCKS = 1, PRE = 1, SAVED = 1, VECTORS = 1;
    static constexpr bool READS_STATE = true;
    DEVICE int u_place(int block) { return block; }

    DEVICE void forward(const UnitParameters &p, const float *pre, Memory &state, float *saved) {
        state.h = saved[0] = value_at(p.update, pre[0], p.vectors[0]);
    }

    struct Factors {
        float slope;
    };

    DEVICE Factors factors(const UnitParameters &p, const float *saved, float old) {
        return {slope_at_value(p.update, saved[0])};
    }

    DEVICE void backward(const UnitParameters &p, const Factors &f, Memory &d, float *d_pre, UnitGradients &g) {
        d_pre[0] = d.h * f.slope;
        g.vectors[0] += d_pre[0];
        d.h = 0.0f;
    }
};

struct FastRnn {
    static constexpr int CODE = CELL_FASTRNN, W_BLOCKS = 1, U_BLOCKS = 1, PRE = 1, SAVED = 1, VECTORS = 1;
    static constexpr bool READS_STATE = true;
    DEVICE int u_place(int block) { return block; }

    DEVICE void forward(const UnitParameters &p, const float *pre, Memory &state, float *saved) {
        saved[0] = value_at(p.update, pre[0], p.vectors[0]);
        state.h = p.scalars[ALPHA] * saved[0] + p.scalars[BETA] * state.h;
    }

    struct Factors {
        float slope, update, old;
    };

    DEVICE Factors factors(const UnitParameters &p, const float *saved, float old) {
        return {p.scalars[ALPHA] * slope_at_value(p.update, saved[0]), saved[0], old};
    }

    DEVICE void backward(const UnitParameters &p, const Factors &f, Memory &d, float *d_pre, UnitGradients &g) {
        d_pre[0] = d.h * f.slope;
        g.vectors[0] += d_pre[0];
        g.scalars[ALPHA] += d.h * f.update;
        g.scalars[BETA] += d.h * f.old;
        d.h *= p.scalars[BETA];
    }
};

// The second vector is alpha.
struct FastRnnVector {
    static constexpr int CODE = CELL_FASTRNN_VECTOR, W_BLOCKS = 1, U_BLOCKS = 1, PRE = 1, SAVED = 1, VECTORS = 2;
    static constexpr bool READS_STATE = true;
    DEVICE int u_place(int block) { return block; }

    DEVICE void forward(const UnitParameters &p, const float *pre, Memory &state, float *saved) {
        float alpha = p.vectors[1], beta = p.scalars[ZETA] * (1.0f - alpha) + p.scalars[NU];
        saved[0] = value_at(p.update, pre[0], p.vectors[0]);
        state.h = alpha * saved[0] + beta * state.h;
    }

    struct Factors {
        float slope, update, old, beta;
    };

    DEVICE Factors factors(const UnitParameters &p, const float *saved, float old) {
        float alpha = p.vectors[1], beta = p.scalars[ZETA] * (1.0f - alpha) + p.scalars[NU];
        return {alpha * slope_at_value(p.update, saved[0]), saved[0], old, beta};
    }

    DEVICE void backward(const UnitParameters &p, const Factors &f, Memory &d, float *d_pre, UnitGradients &g) {
        float d_beta = d.h * f.old;
        d_pre[0] = d.h * f.slope;
        g.vectors[0] += d_pre[0];
        g.vectors[1] += d.h * f.update - d_beta * p.scalars[ZETA];
        g.scalars[ZETA] += d_beta * (1.0f - p.vectors[1]);
        g.scalars[NU] += d_beta;
        d.h *= f.beta;
    }
};

// Saves `pre`, from which gate and update are computed again: a value less to write and to read.
struct FastGrnn {
    static constexpr int CODE = CELL_FASTGRNN, W_BLOCKS = 1, U_BLOCKS = 1, PRE = 1, SAVED = 1, VECTORS = 2;
    static constexpr bool READS_STATE = true;
    DEVICE int u_place(int block) { return block; }

    DEVICE void forward(const UnitParameters &p, const float *pre, Memory &state, float *saved) {
        const CurvePoint z = point_at(p.gate, pre[0], p.vectors[0]), c = point_at(p.update, pre[0], p.vectors[1]);
        saved[0] = pre[0];
        state.h = (p.scalars[ZETA] * z.rest + p.scalars[NU]) * c.value + (state.h - z.rest * state.h);
    }

    struct Factors {
        float gate, update, both, rest, candidate;
    };

    DEVICE Factors factors(const UnitParameters &p, const float *saved, float old) {
        const CurvePoint z = point_at(p.gate, saved[0], p.vectors[0]), c = point_at(p.update, saved[0], p.vectors[1]);
        float gate = (old - p.scalars[ZETA] * c.value) * z.slope;
        float update = (p.scalars[ZETA] * z.rest + p.scalars[NU]) * c.slope;
        return {gate, update, gate + update, z.rest, c.value};
    }

    DEVICE void backward(const UnitParameters &p, const Factors &f, Memory &d, float *d_pre, UnitGradients &g) {
        float d_candidate = d.h * f.candidate;
        d_pre[0] = d.h * f.both;
        g.vectors[0] += d.h * f.gate;
        g.vectors[1] += d.h * f.update;
        g.scalars[ZETA] += d_candidate * f.rest;
        g.scalars[NU] += d_candidate;
        d.h -= d.h * f.rest;
    }
};

// The third vector is the gain of the gate.
struct FastGrnnGain {
    static constexpr int CODE = CELL_FASTGRNN_GAIN, W_BLOCKS = 1, U_BLOCKS = 1, PRE = 1, SAVED = 1, VECTORS = 3;
    static constexpr bool READS_STATE = true;
    DEVICE int u_place(int block) { return block; }

    DEVICE CurvePoint gate(const UnitParameters &p, float pre) { return point_at(p.gate, p.vectors[2] * pre, p.vectors[0]); }

    DEVICE void forward(const UnitParameters &p, const float *pre, Memory &state, float *saved) {
        const CurvePoint z = gate(p, pre[0]), c = point_at(p.update, pre[0], p.vectors[1]);
        saved[0] = pre[0];
        state.h = (p.scalars[ZETA] * z.rest + p.scalars[NU]) * c.value + (state.h - z.rest * state.h);
    }

    struct Factors {
        float gate, update, both, gain, rest, candidate;
    };

    DEVICE Factors factors(const UnitParameters &p, const float *saved, float old) {
        const CurvePoint z = gate(p, saved[0]), c = point_at(p.update, saved[0], p.vectors[1]);
        float gate = (old - p.scalars[ZETA] * c.value) * z.slope;
        float update = (p.scalars[ZETA] * z.rest + p.scalars[NU]) * c.slope;
        return {gate, update, p.vectors[2] * gate + update, gate * saved[0], z.rest, c.value};
    }

    DEVICE void backward(const UnitParameters &p, const Factors &f, Memory &d, float *d_pre, UnitGradients &g) {
        float d_candidate = d.h * f.candidate;
        d_pre[0] = d.h * f.both;
        g.vectors[0] += d.h * f.gate;
        g.vectors[1] += d.h * f.update;
        g.vectors[2] += d.h * f.gain;
        g.scalars[ZETA] += d_candidate * f.rest;
        g.scalars[NU] += d_candidate;
        d.h -= d.h * f.rest;
    }
};

struct Ugrnn {
    static constexpr int CODE = CELL_UGRNN, W_BLOCKS = 2, U_BLOCKS = 2, PRE = 2, SAVED = 2, VECTORS = 2;
    static constexpr bool READS_STATE = true;
    DEVICE int u_place(int block) { return block; }

    DEVICE void forward(const UnitParameters &p, const float *pre, Memory &state, float *saved) {
        float z = value_at(p.gate, pre[0], p.vectors[0]), update = value_at(p.update, pre[1], p.vectors[1]);
        saved[0] = z;
        saved[1] = update;
        state.h = z * (state.h - update) + update;
    }

    struct Factors {
        float gate, update, z;
    };

    DEVICE Factors factors(const UnitParameters &p, const float *saved, float old) {
        float z = saved[0], update = saved[1];
        return {(old - update) * slope_at_value(p.gate, z), (1.0f - z) * slope_at_value(p.update, update), z};
    }

    DEVICE void backward(const UnitParameters &p, const Factors &f, Memory &d, float *d_pre, UnitGradients &g) {
        d_pre[0] = d.h * f.gate;
        d_pre[1] = d.h * f.update;
        for (int i = 0; i < 2; i++) g.vectors[i] += d_pre[i];
        d.h *= f.z;
    }
};

// The products W_n·x and U_n·h are apart, because the gate r acts on the second alone.
struct Gru {
    static constexpr int CODE = CELL_GRU, W_BLOCKS = 3, U_BLOCKS = 3, PRE = 4, SAVED = 4, VECTORS = 4;
    static constexpr bool READS_STATE = true;
    DEVICE int u_place(int block) { return block == 2 ? 3 : block; }

    DEVICE void forward(const UnitParameters &p, const float *pre, Memory &state, float *saved) {
        float r = value_at(p.gate, pre[0], p.vectors[0]), z = value_at(p.gate, pre[1], p.vectors[1]);
        float m = pre[3] + p.vectors[3], n = value_at(p.update, r * m + pre[2], p.vectors[2]);
        saved[0] = r;
        saved[1] = z;
        saved[2] = n;
        saved[3] = m;
        state.h = z * (state.h - n) + n;
    }

    struct Factors {
        float r, z, n, m, keep;
    };

    DEVICE Factors factors(const UnitParameters &p, const float *saved, float old) {
        float r = saved[0], z = saved[1], n = saved[2], m = saved[3];
        float of_n = (1.0f - z) * slope_at_value(p.update, n);
        return {of_n * m * slope_at_value(p.gate, r), (old - n) * slope_at_value(p.gate, z), of_n, of_n * r, z};
    }

    DEVICE void backward(const UnitParameters &p, const Factors &f, Memory &d, float *d_pre, UnitGradients &g) {
        d_pre[0] = d.h * f.r;
        d_pre[1] = d.h * f.z;
        d_pre[2] = d.h * f.n;
        d_pre[3] = d.h * f.m;
        for (int i = 0; i < 4; i++) g.vectors[i] += d_pre[i];
        d.h *= f.keep;
    }
};

// The last saved value is the cell state before the step.
struct Lstm {
    static constexpr int CODE = CELL_LSTM, W_BLOCKS = 4, U_BLOCKS = 4, PRE = 4, SAVED = 5, VECTORS = 4;
    static constexpr bool READS_STATE = true;
    DEVICE int u_place(int block) { return block; }

    DEVICE void forward(const UnitParameters &p, const float *pre, Memory &state, float *saved) {
        float i = value_at(p.gate, pre[0], p.vectors[0]), f = value_at(p.gate, pre[1], p.vectors[1]);
        float g = value_at(p.update, pre[2], p.vectors[2]), o = value_at(p.gate, pre[3], p.vectors[3]);
        saved[0] = i;
        saved[1] = f;
        saved[2] = g;
        saved[3] = o;
        saved[4] = state.c;
        state.c = f * state.c + i * g;
        state.h = o * value_at(p.update, state.c, 0.0f);
    }

    struct Factors {
        float shown, i, f, g, o, keep;
    };

    DEVICE Factors factors(const UnitParameters &p, const float *saved, float old) {
        float i = saved[0], f = saved[1], g = saved[2], o = saved[3], c = saved[4];
        float shown = value_at(p.update, f * c + i * g, 0.0f);
        return {o * slope_at_value(p.update, shown), g * slope_at_value(p.gate, i), c * slope_at_value(p.gate, f),
                i * slope_at_value(p.update, g), shown * slope_at_value(p.gate, o), f};
    }

    DEVICE void backward(const UnitParameters &p, const Factors &f, Memory &d, float *d_pre, UnitGradients &g) {
        float d_c = d.c + d.h * f.shown;
        d_pre[0] = d_c * f.i;
        d_pre[1] = d_c * f.f;
        d_pre[2] = d_c * f.g;
        d_pre[3] = d.h * f.o;
        for (int i = 0; i < 4; i++) g.vectors[i] += d_pre[i];
        d.h = 0.0f;
        d.c = d_c * f.keep;
    }
};

struct MinGru {
    static constexpr int CODE = CELL_MINGRU, W_BLOCKS = 2, U_BLOCKS = 2, PRE = 2, SAVED = 2, VECTORS = 2;
    static constexpr bool READS_STATE = false;
    DEVICE int u_place(int block) { return block; }

    DEVICE void forward(const UnitParameters &p, const float *pre, Memory &state, float *saved) {
        float z = value_at(p.gate, pre[0], p.vectors[0]), update = value_at(p.update, pre[1], p.vectors[1]);
        saved[0] = z;
        saved[1] = update;
        state.h += z * (update - state.h);
    }

    struct Factors {
        float gate, update, keep;
    };

    DEVICE Factors factors(const UnitParameters &p, const float *saved, float old) {
        float z = saved[0], update = saved[1];
        return {(update - old) * slope_at_value(p.gate, z), z * slope_at_value(p.update, update), 1.0f - z};
    }

    DEVICE void backward(const UnitParameters &p, const Factors &f, Memory &d, float *d_pre, UnitGradients &g) {
        d_pre[0] = d.h * f.gate;
        d_pre[1] = d.h * f.update;
        for (int i = 0; i < 2; i++) g.vectors[i] += d_pre[i];
        d.h *= f.keep;
    }
};
