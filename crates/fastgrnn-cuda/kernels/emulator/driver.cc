// A library with the functions of CUDA's driver that runs the kernels on the CPU, for tests on machines without a GPU.
//
// Work is done at once, by the thread that launches it; one kernel runs at a time. There are three devices: the
// first runs the threads of a block in ascending order, the second in descending order; the third is like the first, with
// less memory for a block. The second one is of the kind whose kernels may overlap. New memory is filled with bytes of
// 0xff, so a number that was never written is a NaN. What a real device would answer with an error, or not notice at
// all, is either an error or ends the process with a message.
#define FASTGRNN_EMULATED
#include "../all.cuh"
#include "../steps.cuh"

#include <chrono>
#include <mutex>

// Kernels may use the same names.
namespace driver {
namespace {

enum Code {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    NOT_FOUND = 500,
    CAPTURE_UNSUPPORTED = 900,
};

struct Description {
    Code code;
    const char *name, *text;
};
const Description DESCRIPTIONS[] = {
    {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
};

constexpr int DEVICES = 3;
constexpr int VERSION = 13000;
constexpr size_t MEMORY = size_t(2) << 30;
constexpr size_t BLOCK_MEMORY = 227 * 1024, SMALL_BLOCK_MEMORY = 99 * 1024;
constexpr size_t DEFAULT_BLOCK_MEMORY = 48 * 1024;
constexpr size_t ALIGNMENT = 256;
constexpr unsigned char FILL = 0xff;

struct Context {
    int retained = 0;
    size_t used = 0;
};

// Memory of a device, between two guards that must keep their bytes.
struct Allocation {
    Context *context;
    size_t bytes;

    // The bytes with what makes them a multiple of the alignment.
    size_t room() const { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }
};

struct Function {
    std::string name;
    emulator::Registered kernel;
    size_t block_memory = DEFAULT_BLOCK_MEMORY;
};

struct Module {
    std::map<std::string, Function> functions;
};

using Work = std::vector<std::function<Code()>>;

struct Stream {
    bool is_descending;
    Work *recording = nullptr;
    // Whether the last work was a kernel.
    bool follows_kernel = false;
};

struct LaunchAttribute {
    int id, padding, value, unused[15];
};

struct LaunchSettings {
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
    Stream *stream;
    const LaunchAttribute *attributes;
    unsigned attribute_count;
};
constexpr int OVERLAP = 6;

struct Event {
    std::chrono::steady_clock::time_point time;
};

std::mutex mutex;
Context contexts[DEVICES];
std::map<uintptr_t, Allocation> allocations;
thread_local Context *current = nullptr;
// The streams of this thread that record.
thread_local int recordings = 0;
// Launches of this thread that may overlap the kernel before.
thread_local size_t overlapping = 0;

using Lock = std::lock_guard<std::mutex>;

// A byte of a guard. Four of them are a signalling NaN, which every operation changes, so a sum is noticed as well.
unsigned char guard(const unsigned char *at) { return reinterpret_cast<uintptr_t>(at) % 4 == 3 ? 0xff : 0xa5; }

// Ends the process if a guard of an allocation has changed.
void check_guards(uintptr_t address, const Allocation &allocation, const std::string &kernel) {
    const unsigned char *start = reinterpret_cast<const unsigned char *>(address);
    auto is_intact = [](const unsigned char *at, const unsigned char *end) {
        while (at < end && *at == guard(at)) at++;
        return at == end;
    };
    if (!is_intact(start - ALIGNMENT, start)) emulator::fail(kernel + " wrote before the start of a buffer");
    if (!is_intact(start + allocation.bytes, start + allocation.room() + ALIGNMENT)) {
        emulator::fail(kernel + " wrote after the end of a buffer");
    }
}

// Whether the bytes lie in one allocation.
bool is_inside(uintptr_t address, size_t bytes) {
    auto after = allocations.upper_bound(address);
    if (after == allocations.begin()) return false;
    auto [start, allocation] = *std::prev(after);
    return address - start <= allocation.bytes && bytes <= allocation.bytes - (address - start);
}

// Does work, or records it.
Code submit(Stream *stream, std::function<Code()> work, bool is_kernel = false) {
    stream->follows_kernel = is_kernel;
    if (!stream->recording) return work();
    stream->recording->push_back(std::move(work));
    return SUCCESS;
}

Code copy(Stream *stream, void *to, const void *from, size_t bytes, uintptr_t on_device) {
    if (!is_inside(on_device, bytes)) return INVALID_VALUE;
    return submit(stream, [=] {
        memcpy(to, from, bytes);
        return SUCCESS;
    });
}

Code run(const Function &function, bool is_descending, Index grid, unsigned threads, size_t shared,
         const std::vector<max_align_t> &arguments) {
    emulator::is_descending = is_descending;
    emulator::launch(grid, threads, shared, [&] { function.kernel.kernel(arguments.data()); });
    for (auto &[address, allocation] : allocations) check_guards(address, allocation, function.name);
    return SUCCESS;
}

}  // namespace

extern "C" {

// The names of all kernels, each with a line's end.
const char *emulator_kernels() {
    static const std::string names = [] {
        std::string all;
        for (auto &[name, kernel] : emulator::kernels()) all += name + "\n";
        return all;
    }();
    return names.c_str();
}

// The launches of this thread so far that may overlap the kernel before.
size_t emulator_overlapping() { return overlapping; }

int cuGetErrorName(int code, const char **text) {
    for (const Description &description : DESCRIPTIONS) {
        if (description.code == code) return *text = description.name, SUCCESS;
    }
    return INVALID_VALUE;
}

int cuGetErrorString(int code, const char **text) {
    for (const Description &description : DESCRIPTIONS) {
        if (description.code == code) return *text = description.text, SUCCESS;
    }
    return INVALID_VALUE;
}

int cuInit(unsigned) { return SUCCESS; }

int cuDriverGetVersion(int *version) { return *version = VERSION, SUCCESS; }

int cuDeviceGetCount(int *count) { return *count = DEVICES, SUCCESS; }

int cuDeviceGet(int *device, int index) {
    if (index < 0 || index >= DEVICES) return INVALID_DEVICE;
    return *device = index, SUCCESS;
}

int cuDeviceGetName(char *name, int length, int device) {
    const char *names[DEVICES] = {"emulator", "emulator, descending", "emulator, small"};
    snprintf(name, length, "%s", names[device]);
    return SUCCESS;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
    switch (attribute) {
        case 16: *value = 4; break;
        case 75: *value = device == 1 ? 9 : 8; break;
        case 76: *value = 0; break;
        case 97: *value = device == 2 ? SMALL_BLOCK_MEMORY : BLOCK_MEMORY; break;
        default: return INVALID_VALUE;
    }
    return SUCCESS;
}

int cuDevicePrimaryCtxRetain(Context **context, int device) {
    Lock lock(mutex);
    *context = &contexts[device];
    contexts[device].retained++;
    return SUCCESS;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
    Lock lock(mutex);
    Context &context = contexts[device];
    if (context.retained == 0) return INVALID_CONTEXT;
    context.retained--;
    if (context.retained == 0 && context.used > 0) {
        emulator::fail(std::to_string(context.used) + " bytes of device memory were never freed");
    }
    return SUCCESS;
}

int cuCtxSetCurrent(Context *context) { return current = context, SUCCESS; }

int cuModuleLoadDataEx(Module **module, const void *image, unsigned, int *, void **) {
    Lock lock(mutex);
    if (!current) return INVALID_CONTEXT;
    if (!image) return INVALID_VALUE;
    *module = new Module;
    for (auto &[name, kernel] : emulator::kernels()) (*module)->functions[name] = {name, kernel};
    return SUCCESS;
}

int cuModuleUnload(Module *module) { return delete module, SUCCESS; }

int cuModuleGetFunction(Function **function, Module *module, const char *name) {
    auto found = module->functions.find(name);
    if (found == module->functions.end()) return NOT_FOUND;
    return *function = &found->second, SUCCESS;
}

int cuFuncGetAttribute(int *value, int attribute, Function *) {
    // What a kernel declares `__shared__` is not counted here.
    if (attribute != 1) return INVALID_VALUE;
    return *value = 0, SUCCESS;
}

int cuFuncSetAttribute(Function *function, int attribute, int value) {
    if (attribute != 8 || value < 0 || size_t(value) > BLOCK_MEMORY) return INVALID_VALUE;
    return function->block_memory = value, SUCCESS;
}

int cuMemAlloc_v2(uintptr_t *address, size_t bytes) {
    Lock lock(mutex);
    if (!current) return INVALID_CONTEXT;
    if (recordings > 0) return CAPTURE_UNSUPPORTED;
    if (bytes == 0) return INVALID_VALUE;
    if (bytes > MEMORY - current->used) return OUT_OF_MEMORY;
    Allocation allocation = {current, bytes};
    size_t all = ALIGNMENT + allocation.room() + ALIGNMENT;
    unsigned char *start = static_cast<unsigned char *>(aligned_alloc(ALIGNMENT, all));
    if (!start) return OUT_OF_MEMORY;
    for (size_t i = 0; i < all; i++) start[i] = guard(start + i);
    memset(start + ALIGNMENT, FILL, bytes);
    *address = reinterpret_cast<uintptr_t>(start + ALIGNMENT);
    allocations[*address] = allocation;
    current->used += bytes;
    return SUCCESS;
}

int cuMemFree_v2(uintptr_t address) {
    Lock lock(mutex);
    if (recordings > 0) emulator::fail("device memory is freed while work is recorded");
    auto found = allocations.find(address);
    if (found == allocations.end()) return INVALID_VALUE;
    found->second.context->used -= found->second.bytes;
    allocations.erase(found);
    free(reinterpret_cast<void *>(address - ALIGNMENT));
    return SUCCESS;
}

int cuMemGetInfo_v2(size_t *free, size_t *total) {
    Lock lock(mutex);
    if (!current) return INVALID_CONTEXT;
    *free = MEMORY - current->used;
    *total = MEMORY;
    return SUCCESS;
}

int cuMemHostAlloc(void **memory, size_t bytes, unsigned) {
    *memory = malloc(bytes);
    return *memory ? SUCCESS : OUT_OF_MEMORY;
}

int cuMemFreeHost(void *memory) { return free(memory), SUCCESS; }

int cuMemcpyHtoDAsync_v2(uintptr_t to, const void *from, size_t bytes, Stream *stream) {
    Lock lock(mutex);
    return copy(stream, reinterpret_cast<void *>(to), from, bytes, to);
}

int cuMemcpyDtoHAsync_v2(void *to, uintptr_t from, size_t bytes, Stream *stream) {
    Lock lock(mutex);
    return copy(stream, to, reinterpret_cast<const void *>(from), bytes, from);
}

int cuMemsetD8Async(uintptr_t address, unsigned char value, size_t bytes, Stream *stream) {
    Lock lock(mutex);
    if (!is_inside(address, bytes)) return INVALID_VALUE;
    return submit(stream, [=] {
        memset(reinterpret_cast<void *>(address), value, bytes);
        return SUCCESS;
    });
}

int cuStreamCreate(Stream **stream, unsigned) {
    if (!current) return INVALID_CONTEXT;
    return *stream = new Stream{current == &contexts[1]}, SUCCESS;
}

int cuStreamSynchronize(Stream *stream) { return stream->recording ? CAPTURE_UNSUPPORTED : SUCCESS; }

int cuStreamDestroy_v2(Stream *stream) {
    if (stream->recording) recordings--;
    delete stream->recording;
    return delete stream, SUCCESS;
}

int cuLaunchKernelEx(const LaunchSettings *settings, Function *function, void **, void **extra) {
    Lock lock(mutex);
    const emulator::Registered &kernel = function->kernel;
    const LaunchSettings &s = *settings;
    bool has_grid = s.grid_x >= 1 && s.grid_y >= 1 && s.grid_z >= 1 && s.grid_y <= 65535 && s.grid_z <= 65535;
    bool has_block = s.block_x >= 1 && s.block_x <= kernel.threads && s.block_y == 1 && s.block_z == 1;
    if (!has_grid || !has_block || s.shared > function->block_memory) return INVALID_VALUE;
    for (unsigned i = 0; i < s.attribute_count; i++) {
        if (s.attributes[i].id != OVERLAP || s.attributes[i].value != 1) return INVALID_VALUE;
        // Only kernels can be waited for by a kernel, and only kernels of this device wait.
        if (!s.stream->follows_kernel) emulator::fail(function->name + " overlaps something that is not a kernel");
        if (!s.stream->is_descending) emulator::fail(function->name + " overlaps on a device whose kernels do not wait");
        overlapping++;
    }
    // A pointer and a size, each after its number, then a zero.
    size_t bytes = *static_cast<size_t *>(extra[3]);
    if (bytes != kernel.bytes) {
        emulator::fail("the argument of " + function->name + " has " + std::to_string(kernel.bytes) + " bytes, not " +
                       std::to_string(bytes));
    }
    std::vector<max_align_t> arguments(bytes / sizeof(max_align_t) + 1);
    memcpy(arguments.data(), extra[1], bytes);
    Function copied = *function;
    Index grid = {s.grid_x, s.grid_y, s.grid_z};
    bool is_descending = s.stream->is_descending;
    unsigned threads = s.block_x;
    size_t shared = s.shared;
    return submit(s.stream, [=] { return run(copied, is_descending, grid, threads, shared, arguments); }, true);
}

int cuEventCreate(Event **event, unsigned) { return *event = new Event, SUCCESS; }

int cuEventRecord(Event *event, Stream *) { return event->time = std::chrono::steady_clock::now(), SUCCESS; }

int cuEventSynchronize(Event *) { return SUCCESS; }

int cuEventElapsedTime(float *milliseconds, Event *start, Event *end) {
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
    return SUCCESS;
}

int cuEventDestroy_v2(Event *event) { return delete event, SUCCESS; }

int cuStreamBeginCapture_v2(Stream *stream, int) {
    if (stream->recording) return INVALID_VALUE;
    stream->recording = new Work;
    stream->follows_kernel = false;
    recordings++;
    return SUCCESS;
}

int cuStreamEndCapture(Stream *stream, Work **recording) {
    if (!stream->recording) return INVALID_VALUE;
    *recording = stream->recording;
    stream->recording = nullptr;
    stream->follows_kernel = false;
    recordings--;
    return SUCCESS;
}

int cuGraphInstantiateWithFlags(Work **graph, Work *recording, uint64_t) {
    return *graph = new Work(*recording), SUCCESS;
}

int cuGraphLaunch(Work *graph, Stream *stream) {
    Lock lock(mutex);
    stream->follows_kernel = false;
    for (auto &work : *graph) {
        if (Code code = work()) return code;
    }
    return SUCCESS;
}

int cuGraphExecDestroy(Work *graph) { return delete graph, SUCCESS; }

int cuGraphDestroy(Work *recording) { return delete recording, SUCCESS; }

}  // extern "C"

}  // namespace driver
