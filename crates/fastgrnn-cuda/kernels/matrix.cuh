// Matrix instructions of a warp on pairs of 16-bit numbers, with the accuracy of 32 bits: each number is the sum of a high
// and a low part, and three of the four products are added.
//
// A register holds two numbers. With g = lane / 4 and q = lane % 4, the fragments of a product D += A·B are:
//   D, 16 × 8:   (g, 2q) (g, 2q + 1) (g + 8, 2q) (g + 8, 2q + 1)
//   A, 16 × 16:  (g, 2q..) (g + 8, 2q..) (g, 2q + 8..) (g + 8, 2q + 8..);   16 × 8: the first two
//   B, 16 × 8:   (2q.., g) (2q + 8.., g);   8 × 8: the first
#pragma once

#include "common.cuh"

// The formats of 16 bits: more digits, or the range of 32-bit numbers.
enum class Format { Half, Brain };

#ifdef FASTGRNN_EMULATED
DEVICE uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}
DEVICE float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

template <Format FORMAT>
DEVICE uint16_t rounded(float value) {
    if (FORMAT == Format::Half) {
        _Float16 half = static_cast<_Float16>(value);
        uint16_t bits;
        memcpy(&bits, &half, 2);
        return bits;
    }
    uint32_t bits = bits_of(value);
    return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
template <Format FORMAT>
DEVICE float widened(uint16_t bits) {
    if (FORMAT == Format::Half) {
        _Float16 half;
        memcpy(&half, &bits, 2);
        return float(half);
    }
    return float_of(uint32_t(bits) << 16);
}

template <Format FORMAT>
DEVICE uint32_t pair_of(float first, float second) {
    return uint32_t(rounded<FORMAT>(first)) | uint32_t(rounded<FORMAT>(second)) << 16;
}
template <Format FORMAT>
DEVICE float2 floats_of(uint32_t pair) {
    return {widened<FORMAT>(uint16_t(pair)), widened<FORMAT>(uint16_t(pair >> 16))};
}

struct Fragments {
    uint32_t a[4], b[2];
};
template <Format FORMAT>
DEVICE void multiply_emulated(float *d, const Fragments &own, int depth) {
    std::vector<Fragments> all = emulator::exchange(own);
    int lane = emulator::block.running % 32, g = lane / 4, q = lane % 4;
    for (int i = 0; i < 4; i++) {
        int row = i / 2, column = 2 * q + i % 2;
        float sum = 0.0f;
        for (int k = 0; k < depth; k++) {
            float2 a = floats_of<FORMAT>(all[g * 4 + k % 8 / 2].a[k / 8 * 2 + row]);
            float2 b = floats_of<FORMAT>(all[column * 4 + k % 8 / 2].b[k / 8]);
            sum += k % 2 ? a.y * b.y : a.x * b.x;
        }
        d[i] += sum;
    }
}
template <Format FORMAT>
DEVICE void multiply_16(float *d, const uint32_t *a, uint32_t b0, uint32_t b1) {
    multiply_emulated<FORMAT>(d, {{a[0], a[1], a[2], a[3]}, {b0, b1}}, 16);
}
template <Format FORMAT>
DEVICE void multiply_8(float *d, uint32_t a0, uint32_t a1, uint32_t b) {
    multiply_emulated<FORMAT>(d, {{a0, a1, 0, 0}, {b, 0}}, 8);
}
#else
template <Format FORMAT>
DEVICE uint32_t pair_of(float first, float second) {
    uint32_t pair;
    if (FORMAT == Format::Half) asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    else asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
}
template <Format FORMAT>
DEVICE float2 floats_of(uint32_t pair) {
    if (FORMAT == Format::Half) return __half22float2(*reinterpret_cast<__half2 *>(&pair));
    return make_float2(__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000u));
}

template <Format FORMAT>
DEVICE void multiply_16(float *d, const uint32_t *a, uint32_t b0, uint32_t b1) {
    if (FORMAT == Format::Half) {
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    } else {
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
}
template <Format FORMAT>
DEVICE void multiply_8(float *d, uint32_t a0, uint32_t a1, uint32_t b) {
    if (FORMAT == Format::Half) {
        asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a0), "r"(a1), "r"(b));
    } else {
        asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a0), "r"(a1), "r"(b));
    }
}
#endif

// Two numbers, each as a high and a low part.
struct SplitPair {
    uint32_t high, low;
};

template <Format FORMAT>
DEVICE SplitPair split(float first, float second) {
    SplitPair pair;
    pair.high = pair_of<FORMAT>(first, second);
    float2 of_high = floats_of<FORMAT>(pair.high);
    pair.low = pair_of<FORMAT>(first - of_high.x, second - of_high.y);
    return pair;
}
