// The nonlinearities of gates and updates. The output of each determines its slope.
#pragma once

#include "common.cuh"

// A nonlinearity as numbers, so that each is computed without a branch. Smooth ones, the sigmoid and the hyperbolic
// tangent, are 1 - size / (1 + 2^(exponent x)); the others are factor x + shift, clipped.
struct Curve {
    int is_smooth;
    float size, exponent;
    float factor, shift, low, high;
    // The slope of a smooth one where its value is y is slope (1 - y) (1 - (1 - y) / size).
    float slope, one_over_size;
};

// The value at x + shift_of_x. What depends on the shift alone is the same in every step.
DEVICE float value_at(const Curve &curve, float x, float shift_of_x) {
    float smooth = 1.0f - curve.size * reciprocal(1.0f + power_of_two(curve.exponent * x + curve.exponent * shift_of_x));
    float straight = curve.factor * x + (curve.factor * shift_of_x + curve.shift);
    straight = fminf(fmaxf(straight, curve.low), curve.high);
    return curve.is_smooth ? smooth : straight;
}

// The slope where the value is `y`.
DEVICE float slope_at_value(const Curve &curve, float y) {
    float rest = 1.0f - y;
    float smooth = curve.slope * rest * (1.0f - rest * curve.one_over_size);
    float straight = y > curve.low && y < curve.high ? curve.factor : 0.0f;
    return curve.is_smooth ? smooth : straight;
}
