// Runs kernels on a CPU, for tests on machines without a GPU.
//
// The threads of a block are fibers of one thread; blocks run one after the other. A fiber runs until it waits for
// others, so barriers, shuffles and matrix instructions behave as on a device. Shared memory is filled with NaN before
// each block, so a value that was never written shows. Fibers run in ascending or in descending order of their number
// (`emulator::is_descending`); a kernel whose result depends on it has a race.
//
// A part of a kernel where only some threads of a warp call a function of the whole warp is an error here, as it is
// undefined on a device.
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

using std::max;
using std::min;

struct float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static inline float2 make_float2(float x, float y) { return {x, y}; }
static inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

struct Index { unsigned x = 0, y = 0, z = 0; };
inline Index threadIdx, blockIdx, blockDim, gridDim;

namespace emulator {

enum class State { Ready, AtBlockBarrier, AtNamedBarrier, AtWarp, Finished };

struct Fiber {
    ucontext_t context;
    State state = State::Ready;
    int barrier = 0, barrier_threads = 0;
    // What the fiber gives to the others of its warp: two generations, because a fast lane may already be at the
    // next exchange.
    alignas(16) unsigned char given[2][64];
    unsigned exchanges = 0;
    // Copies to block memory in their groups; the last group is open. A copy happens when it is waited for.
    struct Copy {
        void *to;
        const void *from;
        size_t bytes;
    };
    std::vector<std::vector<Copy>> copies = {{}};
};

constexpr size_t STACK = 128 * 1024;

struct Block {
    std::vector<Fiber> fibers;
    std::vector<unsigned char> stacks, shared;
    ucontext_t scheduler;
    std::function<void()> body;
    size_t running = 0;
};

inline Block block;
inline bool is_descending = false;
inline std::string failure;

[[noreturn]] inline void fail(const std::string &what) {
    fprintf(stderr, "emulator: %s\n", what.c_str());
    abort();
}

inline Fiber &self() { return block.fibers[block.running]; }

inline void wait(State state) {
    self().state = state;
    swapcontext(&self().context, &block.scheduler);
}

inline void enter() {
    block.body();
    self().state = State::Finished;
    swapcontext(&self().context, &block.scheduler);
}

inline void resume(size_t i) {
    block.running = i;
    threadIdx = {unsigned(i), 0, 0};
    block.fibers[i].state = State::Ready;
    swapcontext(&block.scheduler, &block.fibers[i].context);
}

// Lets go all fibers from `first` to `last` if each waits in `state` or is finished.
inline bool release_if_all(State state, size_t first, size_t last) {
    bool any = false;
    for (size_t i = first; i < last; i++) {
        if (block.fibers[i].state == state) any = true;
        else if (block.fibers[i].state != State::Finished) return false;
    }
    if (!any) return false;
    for (size_t i = first; i < last; i++) {
        if (block.fibers[i].state == state) block.fibers[i].state = State::Ready;
    }
    return true;
}

inline bool release_named() {
    std::map<int, std::vector<size_t>> waiting;
    for (size_t i = 0; i < block.fibers.size(); i++) {
        if (block.fibers[i].state == State::AtNamedBarrier) waiting[block.fibers[i].barrier].push_back(i);
    }
    bool any = false;
    for (auto &[name, fibers] : waiting) {
        size_t wanted = block.fibers[fibers[0]].barrier_threads;
        for (size_t i : fibers) {
            if (block.fibers[i].barrier_threads != int(wanted)) fail("a named barrier of two sizes");
        }
        if (fibers.size() > wanted) fail("more threads at a named barrier than it is for");
        if (fibers.size() < wanted) continue;
        for (size_t i : fibers) block.fibers[i].state = State::Ready;
        any = true;
    }
    return any;
}

inline void run_block(unsigned threads, size_t shared, const std::function<void()> &body) {
    block.body = body;
    block.fibers.assign(threads, Fiber());
    block.stacks.resize(threads * STACK);
    block.shared.assign(shared + 16, 0xff);
    for (unsigned i = 0; i < threads; i++) {
        Fiber &fiber = block.fibers[i];
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = &block.stacks[i * STACK];
        fiber.context.uc_stack.ss_size = STACK;
        fiber.context.uc_link = nullptr;
        makecontext(&fiber.context, enter, 0);
    }
    for (;;) {
        bool ran = false;
        for (unsigned k = 0; k < threads; k++) {
            unsigned i = is_descending ? threads - 1 - k : k;
            if (block.fibers[i].state == State::Ready) {
                resume(i);
                ran = true;
            }
        }
        for (unsigned first = 0; first < threads; first += 32) {
            ran |= release_if_all(State::AtWarp, first, min(first + 32, threads));
        }
        ran |= release_named();
        ran |= release_if_all(State::AtBlockBarrier, 0, threads);
        if (!ran) break;
    }
    for (Fiber &fiber : block.fibers) {
        if (fiber.state != State::Finished) fail("threads of a block wait for each other for ever");
    }
}

// Runs a kernel over a grid.
inline void launch(Index grid, unsigned threads, size_t shared, const std::function<void()> &body) {
    gridDim = grid;
    blockDim = {threads, 1, 1};
    for (blockIdx.z = 0; blockIdx.z < grid.z; blockIdx.z++) {
        for (blockIdx.y = 0; blockIdx.y < grid.y; blockIdx.y++) {
            for (blockIdx.x = 0; blockIdx.x < grid.x; blockIdx.x++) run_block(threads, shared, body);
        }
    }
}

// The values that all lanes of the warp give, in order.
template <class T>
inline std::vector<T> exchange(const T &value) {
    static_assert(sizeof(T) <= sizeof(Fiber::given[0]));
    Fiber &fiber = self();
    unsigned generation = fiber.exchanges++ % 2;
    memcpy(fiber.given[generation], &value, sizeof(T));
    wait(State::AtWarp);
    size_t first = block.running / 32 * 32;
    std::vector<T> values(32);
    for (size_t i = 0; i < 32 && first + i < block.fibers.size(); i++) {
        memcpy(&values[i], block.fibers[first + i].given[generation], sizeof(T));
    }
    return values;
}

// The kernels of this program by name. Each gets its argument as a pointer.
using Kernel = void (*)(const void *);
struct Registered {
    Kernel kernel;
    size_t bytes;
    unsigned threads;
};
inline std::map<std::string, Registered> &kernels() {
    static std::map<std::string, Registered> all;
    return all;
}

struct Registration {
    Registration(const char *name, Kernel kernel, size_t bytes, unsigned threads) {
        kernels()[name] = {kernel, bytes, threads};
    }
};

}  // namespace emulator

#define KERNEL(name, Arguments, threads)                                                                   \
    static void name(const Arguments &args);                                                               \
    static emulator::Registration name##_registration(                                                     \
        #name, [](const void *args) { name(*static_cast<const Arguments *>(args)); }, sizeof(Arguments), threads); \
    static void name(const Arguments &args)
#define KERNEL_OF_BLOCKS(name, Arguments, threads, blocks) KERNEL(name, Arguments, threads)
#define DEVICE static inline
#define __device__
#define __forceinline__ inline
#define __restrict__
#define __shared__ static

DEVICE void *block_memory() {
    uintptr_t at = reinterpret_cast<uintptr_t>(emulator::block.shared.data());
    return reinterpret_cast<void *>((at + 15) / 16 * 16);
}
DEVICE void block_barrier() { emulator::wait(emulator::State::AtBlockBarrier); }
DEVICE void named_barrier(int name, int threads) {
    emulator::self().barrier = name;
    emulator::self().barrier_threads = threads;
    emulator::wait(emulator::State::AtNamedBarrier);
}
DEVICE void meeting_barrier(int name, int threads) { named_barrier(name, threads); }
DEVICE void warp_barrier() { emulator::exchange(0); }
template <class T>
DEVICE T shuffle_xor(T value, int mask) {
    return emulator::exchange(value)[emulator::block.running % 32 ^ mask];
}
DEVICE float power_of_two(float x) { return exp2f(x); }
DEVICE float reciprocal(float x) { return 1.0f / x; }
DEVICE void copy_ahead(float *to, const float *from) { emulator::self().copies.back().push_back({to, from, 4}); }
DEVICE void commit_copies() { emulator::self().copies.push_back({}); }
template <int LEFT>
DEVICE void wait_for_copies() {
    auto &copies = emulator::self().copies;
    while (copies.size() > LEFT + 1) {
        for (const auto &copy : copies.front()) memcpy(copy.to, copy.from, copy.bytes);
        copies.erase(copies.begin());
    }
}
DEVICE float kept_in_register(float value) { return value; }
DEVICE int kept_in_register(int value) { return value; }

typedef uint32_t Place;
DEVICE Place place_of(const void *at) {
    return Place(static_cast<const unsigned char *>(at) - static_cast<unsigned char *>(block_memory()));
}
template <class T>
DEVICE T &emulated_at(Place place) {
    if (place % sizeof(T) || place + sizeof(T) > emulator::block.shared.size()) emulator::fail("a place outside block memory");
    return *reinterpret_cast<T *>(static_cast<unsigned char *>(block_memory()) + place);
}
DEVICE float read_at(Place place) { return emulated_at<float>(place); }
DEVICE float4 read_four_at(Place place) { return emulated_at<float4>(place); }
DEVICE void write_at(Place place, float value) { emulated_at<float>(place) = value; }
DEVICE void write_word_at(Place place, uint32_t word) { emulated_at<uint32_t>(place) = word; }
DEVICE void write_four_at(Place place, float4 v) { emulated_at<float4>(place) = v; }
DEVICE uint4 read_matrices(Place row) {
    const std::vector<Place> rows = emulator::exchange(row);
    const unsigned lane = emulator::block.running % 32, g = lane / 4, q = lane % 4;
    auto of_square = [&](unsigned m) { return emulated_at<uint32_t>(rows[8 * m + g] + 4 * q); };
    return {of_square(0), of_square(1), of_square(2), of_square(3)};
}
DEVICE uint4 read_matrices_turned(Place row) {
    const std::vector<Place> rows = emulator::exchange(row);
    const unsigned lane = emulator::block.running % 32, g = lane / 4, q = lane % 4;
    auto number = [&](unsigned m, unsigned r) { return uint32_t(emulated_at<uint16_t>(rows[8 * m + r] + 2 * g)); };
    auto of_square = [&](unsigned m) { return number(m, 2 * q) | number(m, 2 * q + 1) << 16; };
    return {of_square(0), of_square(1), of_square(2), of_square(3)};
}
DEVICE void copy_ahead_if(bool is_there, Place to, const float *from) {
    static const float zero = 0.0f;
    emulator::self().copies.back().push_back({&emulated_at<float>(to), is_there ? from : &zero, 4});
}
DEVICE void copy_four_ahead_if(bool is_there, Place to, const float *from) {
    static const float zeros[4] = {};
    emulator::self().copies.back().push_back({&emulated_at<float4>(to), is_there ? from : zeros, 16});
}
