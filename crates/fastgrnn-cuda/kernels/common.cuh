// What all kernels share: how a kernel is declared, and the few built-in functions that the emulator on a CPU
// (emulator/device.h) replaces.
//
// A kernel has one argument, a struct of numbers and device pointers. KERNEL(name, Arguments, threads) declares it
// for blocks of at most `threads` threads; its body reads `args`. Every kernel begins by waiting for the one before it.
#pragma once

#ifdef FASTGRNN_EMULATED
#include "emulator/device.h"
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

#define DEVICE static __device__ __forceinline__

#define KERNEL(name, Arguments, threads) KERNEL_WITH_BOUNDS(name, Arguments, (threads))
// The same, for at least `blocks` blocks of a multiprocessor at a time.
#define KERNEL_OF_BLOCKS(name, Arguments, threads, blocks) KERNEL_WITH_BOUNDS(name, Arguments, (threads, blocks))
#define KERNEL_WITH_BOUNDS(name, Arguments, bounds)                                              \
    DEVICE void name##_body(const Arguments &args);                                              \
    extern "C" __global__ void __launch_bounds__ bounds name(const __grid_constant__ Arguments args) { \
        wait_for_earlier_kernel();                                                               \
        name##_body(args);                                                                       \
    }                                                                                            \
    DEVICE void name##_body(const Arguments &args)

// Where the driver may start the blocks of a kernel before the kernel before it has ended, waits until it has, and until
// its results can be seen. Only then may the next kernel start its blocks: it then waits for this one, and so for all
// before it.
DEVICE void wait_for_earlier_kernel() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// The dynamic shared memory of the block.
DEVICE void *block_memory() {
    extern __shared__ __align__(16) unsigned char memory[];
    return memory;
}

// Waits for all threads of the block.
DEVICE void block_barrier() { __syncthreads(); }

// Waits for `threads` threads of the block, whole warps, that name the same barrier (1 to 15).
DEVICE void named_barrier(int name, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(name), "r"(threads) : "memory");
}

// The same for warps that come from different places of the code.
DEVICE void meeting_barrier(int name, int threads) {
    asm volatile("barrier.sync %0, %1;" ::"r"(name), "r"(threads) : "memory");
}

DEVICE void warp_barrier() { __syncwarp(); }

// The value of the lane whose number differs in the bits of `mask`.
DEVICE float shuffle_xor(float value, int mask) { return __shfl_xor_sync(0xffffffffu, value, mask); }
DEVICE double shuffle_xor(double value, int mask) { return __shfl_xor_sync(0xffffffffu, value, mask); }
DEVICE int shuffle_xor(int value, int mask) { return __shfl_xor_sync(0xffffffffu, value, mask); }

// To two units in the last place.
DEVICE float power_of_two(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
DEVICE float reciprocal(float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// Copies to block memory that go on while the thread continues. A thread sees what it copied once it has waited; others
// see it after a barrier that follows.
DEVICE void copy_ahead(float *to, const float *from) {
    uint32_t at = uint32_t(__cvta_generic_to_shared(to));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(from));
}
// Closes a group of copies.
DEVICE void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most LEFT groups are under way.
template <int LEFT>
DEVICE void wait_for_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}

// The same value, as one that has to stay in a register: a compiler that knows where it came from would read or compute
// it again in every step of a loop. All lanes of the warp take part.
DEVICE float kept_in_register(float value) { return __shfl_sync(0xffffffffu, value, threadIdx.x & 31); }
DEVICE int kept_in_register(int value) { return __shfl_sync(0xffffffffu, value, threadIdx.x & 31); }

// Places in block memory as numbers of 32 bits: bytes from a base that only the functions here know.
typedef uint32_t Place;
DEVICE Place place_of(const void *at) {
    return __shfl_sync(0xffffffffu, uint32_t(__cvta_generic_to_shared(at)), threadIdx.x & 31);
}
DEVICE float read_at(Place place) {
    float value;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(place));
    return value;
}
DEVICE float4 read_four_at(Place place) {
    float4 v;
    asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(place));
    return v;
}
DEVICE void write_at(Place place, float value) {
    asm volatile("st.shared.f32 [%0], %1;" ::"r"(place), "f"(value) : "memory");
}
DEVICE void write_word_at(Place place, uint32_t word) {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(place), "r"(word) : "memory");
}
DEVICE void write_four_at(Place place, float4 v) {
    asm volatile("st.shared.v4.f32 [%0], {%1,%2,%3,%4};" ::"r"(place), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w) : "memory");
}

// Four squares of 8 rows of 8 numbers of 16 bits. A lane gives the place of a row: lanes 8m to 8m + 7 those of square m.
// It gets the neighbours 2q and 2q + 1 of row g of each square, where g is lane / 4 and q is lane % 4. All lanes take part.
DEVICE uint4 read_matrices(Place row) {
    uint4 v;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(row));
    return v;
}
// The same with rows and columns exchanged: a lane gets the numbers at column g of the rows 2q and 2q + 1.
DEVICE uint4 read_matrices_turned(Place row) {
    uint4 v;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(row));
    return v;
}

// Copies to a place, or zeros where there is nothing to copy.
DEVICE void copy_ahead_if(bool is_there, Place to, const float *from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(is_there ? 4 : 0));
}
DEVICE void copy_four_ahead_if(bool is_there, Place to, const float *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(is_there ? 16 : 0));
}
#endif

#define LANES 32

DEVICE int thread_number() { return threadIdx.x; }
DEVICE int thread_count() { return blockDim.x; }

// The sum of a value over the lanes of a warp, in an order that is fixed; every lane gets it.
template <class T>
DEVICE T warp_sum(T value) {
    for (int mask = LANES / 2; mask > 0; mask /= 2) value += shuffle_xor(value, mask);
    return value;
}

// The sum of a value over the threads of a block, in an order that is fixed; every thread gets it. `scratch` holds a
// value for each warp. All threads of the block take part, in whole warps.
template <class T>
DEVICE T block_sum(T value, T *scratch) {
    value = warp_sum(value);
    block_barrier();
    if (thread_number() % LANES == 0) scratch[thread_number() / LANES] = value;
    block_barrier();
    T sum = 0;
    for (int warp = 0; warp < thread_count() / LANES; warp++) sum += scratch[warp];
    return sum;
}

DEVICE int round_up(int value, int multiple) { return (value + multiple - 1) / multiple * multiple; }
