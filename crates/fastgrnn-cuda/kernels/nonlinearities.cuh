// The nonlinearities of gates and updates. The output of each determines its slope.
#pragma once

#include "common.cuh"

// A nonlinearity as numbers, so that each is computed without a branch. Smooth ones, the sigmoid and the hyperbolic
// tangent, are 1 - size / (1 + 2^(exponent x)); the others are factor x + shift, clipped.
struct Curve {
    int is_smooth;
    float size, exponent;
    float factor, shift, low, high;
    // The slope of a smooth one where its value is 1 - r is r (slope - bend r).
    float slope, bend;
};

// The slope where the value is `y`, and `rest` is 1 - y.
DEVICE float slope_at(const Curve &curve, float y, float rest) {
    float smooth = rest * (curve.slope - curve.bend * rest);
    float straight = y > curve.low && y < curve.high ? curve.factor : 0.0f;
    return curve.is_smooth ? smooth : straight;
}
DEVICE float slope_at_value(const Curve &curve, float y) { return slope_at(curve, y, 1.0f - y); }

// A value, what is left of it to 1, and the slope.
struct CurvePoint {
    float value, rest, slope;
};

// The point at x + shift_of_x.
DEVICE CurvePoint point_at(const Curve &curve, float x, float shift_of_x) {
    float smooth = curve.size * reciprocal(1.0f + power_of_two(curve.exponent * x + curve.exponent * shift_of_x));
    float straight = curve.factor * x + (curve.factor * shift_of_x + curve.shift);
    straight = fminf(fmaxf(straight, curve.low), curve.high);
    float value = curve.is_smooth ? 1.0f - smooth : straight, rest = curve.is_smooth ? smooth : 1.0f - straight;
    return {value, rest, slope_at(curve, value, rest)};
}

// The value at x + shift_of_x. What depends on the shift alone is the same in every step.
DEVICE float value_at(const Curve &curve, float x, float shift_of_x) { return point_at(curve, x, shift_of_x).value; }
