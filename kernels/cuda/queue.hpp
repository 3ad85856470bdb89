#pragma once

#include <thrust/execution_policy.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/core/device_frame.hpp"
#include "kernels/core/portability.hpp"

// What these sources are compiled for. The same .cu files are compiled twice: by nvcc for the GPU, and by the host
// compiler, with Thrust's host device system, as the backend `emulated` that tests use where there is no GPU. Each
// in a namespace of its own, so that both link into one program. What differs between the two is in this header,
// and nowhere else.

#if defined(CAROM_EMULATED)
#define CAROM_PROCESSOR emulated
#else
#define CAROM_PROCESSOR cuda
#endif

namespace carom::CAROM_PROCESSOR {

/// The GPU in use, or "emulated".
std::string device_name();
/// From now on this thread uses the GPU of this number, counted round and round where there are fewer.
void use_device(int number);

}  // namespace carom::CAROM_PROCESSOR

#if !defined(CAROM_EMULATED)

#include <cuda_runtime.h>

#include <cuda/atomic>

namespace carom::cuda {

/// Turns the failure of a CUDA call into an exception that names the call and the device: the one place that does.
/// \throws std::runtime_error
void check(cudaError_t status, const char* call);

/// \throws std::runtime_error  when the device has less than `bytes` free, with how many of `balls` would fit
void require_memory(std::uint64_t bytes, std::size_t balls);

}  // namespace carom::cuda

#endif

// What threads of one kernel write together. Only integer additions, minima and maxima, so that order does not
// matter; non-negative floats are compared as the integers with the same bits, which order alike. On the host, where
// one thread runs everything, these are plain operations.

namespace carom::CAROM_PROCESSOR {

/// The bits of a non-negative float or double, as an integer that compares like it.
CAROM_HD std::uint32_t to_bits(float value) { return __builtin_bit_cast(std::uint32_t, value); }
CAROM_HD std::uint64_t to_bits(double value) { return __builtin_bit_cast(std::uint64_t, value); }
CAROM_HD float from_bits(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }
CAROM_HD double from_bits(std::uint64_t bits) { return __builtin_bit_cast(double, bits); }

/// Has what was read from memory read here, beside what is read around it, and not behind the branch where it is first
/// needed: a thread waits for each such place in turn.
template <class... T>
CAROM_HD void read_here([[maybe_unused]] const T&... values) {
#if defined(__CUDA_ARCH__)
    const auto read = [](auto value) {
        if constexpr (sizeof(value) == 4) {
            asm volatile("" ::"r"(__builtin_bit_cast(std::uint32_t, value)));
        } else {
            asm volatile("" ::"l"(__builtin_bit_cast(std::uint64_t, value)));
        }
    };
    (read(values), ...);
#endif
}

/// Bytes that a processor keeps of memory together, or drops when somebody else writes to one of them.
constexpr std::size_t kCacheLine = 128;

/// The number of the lowest bit that is set; of one at least.
CAROM_HD std::uint32_t lowest_bit(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
    return static_cast<std::uint32_t>(__ffs(static_cast<int>(bits)) - 1);
#else
    return static_cast<std::uint32_t>(__builtin_ctz(bits));
#endif
}

CAROM_HD std::uint32_t bits_set(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
    return static_cast<std::uint32_t>(__popc(static_cast<int>(bits)));
#else
    return static_cast<std::uint32_t>(__builtin_popcount(bits));
#endif
}

/// CUDA's atomic functions know 64-bit integers by this name alone; two's complement serves both signs.
template <class T>
CAROM_HD unsigned long long* as_cuda_word(T* place) {
    static_assert(sizeof(T) == 8);
    return reinterpret_cast<unsigned long long*>(place);
}

/// What other threads have written, past this processor's own cache.
template <class T>
CAROM_HD T load_shared(const T* place) {
    return *static_cast<const volatile T*>(place);
}

template <class T>
CAROM_HD void add_shared(T* place, T value) {
#if defined(__CUDA_ARCH__)
    atomicAdd(as_cuda_word(place), static_cast<unsigned long long>(value));
#else
    *place += value;
#endif
}

/// Counts so many more; gives how many there were.
CAROM_HD std::uint32_t next_shared(std::uint32_t* place, std::uint32_t more = 1) {
#if defined(__CUDA_ARCH__)
    return atomicAdd(place, more);
#else
    return std::exchange(*place, *place + more);
#endif
}
CAROM_HD std::uint64_t next_shared(std::uint64_t* place, std::uint64_t more) {
#if defined(__CUDA_ARCH__)
    return atomicAdd(as_cuda_word(place), more);
#else
    return std::exchange(*place, *place + more);
#endif
}

CAROM_HD void lower_shared(std::uint64_t* place, std::uint64_t value) {
#if defined(__CUDA_ARCH__)
    atomicMin(as_cuda_word(place), static_cast<unsigned long long>(value));
#else
    if (value < *place) *place = value;
#endif
}

/// Raises a maximum, and waits for nothing.
template <class Word>
CAROM_HD void raise_unread(Word* place, Word value) {
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(Word) == 4) {
        atomicMax(place, value);
    } else {
        atomicMax(as_cuda_word(place), static_cast<unsigned long long>(value));
    }
#else
    if (value > *place) *place = value;
#endif
}

/// Most values do not raise a maximum: reading first spares the write.
template <class Word>
CAROM_HD void raise_shared(Word* place, Word value) {
    if (value > load_shared(place)) raise_unread(place, value);
}

/// The largest values that the balls of a step show, as bits.
template <class Word>
struct StepPeaks {
    Word speed_squared = 0;
    Word overlap = 0;

    CAROM_HD void raise(const StepPeaks& other) {
        if (other.speed_squared > speed_squared) speed_squared = other.speed_squared;
        if (other.overlap > overlap) overlap = other.overlap;
    }
};

/// True for one caller: the last of `callers`, each of which has called once. What the others wrote before is then
/// visible to load_shared. For use by one thread of a block, behind a barrier of the block. Only the last acquires:
/// that empties a processor's L1, in which other blocks' balls are.
CAROM_HD bool last_of(std::uint32_t* tickets, std::uint32_t callers) {
#if defined(__CUDA_ARCH__)
    const ::cuda::atomic_ref<std::uint32_t, ::cuda::thread_scope_device> counter(*tickets);
    const bool last = counter.fetch_add(1U, ::cuda::memory_order_release) == callers - 1;
    if (last) ::cuda::atomic_thread_fence(::cuda::memory_order_acquire, ::cuda::thread_scope_device);
    return last;
#else
    return ++*tickets == callers;
#endif
}

// Threads that do something together with a group of as many: on the GPU those of a warp, all of which call each of
// these; on the host one thread, for them all.

constexpr std::uint32_t kGroup = 32;

/// Something of each lane of a group.
template <class T>
class Lanes {
public:
#if defined(__CUDA_ARCH__)
    CAROM_HD T& operator[](std::uint32_t /*lane*/) { return own_; }

private:
    T own_;
#else
    CAROM_HD T& operator[](std::uint32_t lane) { return all_[lane]; }

private:
    T all_[kGroup];
#endif
};

/// Calls f(lane) with each.
template <class F>
CAROM_HD void each_lane(F&& f) {
#if defined(__CUDA_ARCH__)
    f(threadIdx.x % kGroup);
#else
    for (std::uint32_t lane = 0; lane < kGroup; ++lane) f(lane);
#endif
}

/// The largest of f(lane), in all lanes.
template <class F>
CAROM_HD std::uint32_t largest_of_lanes(F&& f) {
#if defined(__CUDA_ARCH__)
    const std::uint32_t own = f(threadIdx.x % kGroup);
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(0xffffffffU, own);
#else
    std::uint32_t largest = own;
    for (int apart = 16; apart > 0; apart /= 2) {
        const std::uint32_t other = __shfl_xor_sync(0xffffffffU, largest, apart);
        if (other > largest) largest = other;
    }
    return largest;
#endif
#else
    std::uint32_t largest = 0;
    for (std::uint32_t lane = 0; lane < kGroup; ++lane) {
        const std::uint32_t own = f(lane);
        if (own > largest) largest = own;
    }
    return largest;
#endif
}

/// A bit for each lane where f(lane).
template <class F>
CAROM_HD std::uint32_t lanes_where(F&& f) {
#if defined(__CUDA_ARCH__)
    return __ballot_sync(0xffffffffU, f(threadIdx.x % kGroup));
#else
    std::uint32_t bits = 0;
    for (std::uint32_t lane = 0; lane < kGroup; ++lane) bits |= std::uint32_t{f(lane)} << lane;
    return bits;
#endif
}

/// f(), called once, in all lanes.
template <class F>
CAROM_HD auto once_for_lanes(F&& f) {
#if defined(__CUDA_ARCH__)
    decltype(f()) value{};
    if (threadIdx.x % kGroup == 0) value = f();
    return __shfl_sync(0xffffffffU, value, 0);
#else
    return f();
#endif
}

// The order of work on the device. Everything put into a queue runs after what was put in before, while the host goes
// on; copies "aside" run beside it. On the host (emulated) everything is done at once.

constexpr int kBlockThreads = 256;
/// Blocks that a multiprocessor must be able to hold: 2 leave a thread 128 registers, 3 leave it 80. Said outright,
/// because otherwise the compiler may spill a few to hold one block more. A body may say otherwise as `kBlocks`.
constexpr int kBlocksOfLaunch = 2;
template <class Body>
constexpr int kBlocksOf = kBlocksOfLaunch;
template <class Body>
requires requires { Body::kBlocks; }
constexpr int kBlocksOf<Body> = Body::kBlocks;

#if defined(CAROM_EMULATED)

/// Where a call of this kind ("allocation", "pinning", "launch", "copy", "wait") would go to the GPU. Fails where a
/// test wants it to: CAROM_DEVICE_FAULT=KIND:N lets the N-th call of a kind fail, `lost:N` the N-th of any and all
/// behind it. \throws std::runtime_error
void device_call(const char* kind);

class Queue {
public:
    /// Calls body(i) for all i < n, in parallel.
    template <class Body>
    void launch(std::uint64_t n, const Body& body) {
        device_call("launch");
        // Backwards, since nobody may depend on the order.
        for (std::uint64_t i = n; i-- > 0;) body(i);
    }
    /// As launch(), with a group of threads, all of its lanes, for each i.
    template <class Body>
    void launch_groups(std::uint64_t n, const Body& body) {
        launch(n, body);
    }

    /// As launch(), for a body with a beginning and an end: nothing at all where body.idle(); otherwise body.prepare()
    /// runs once, at any time, the peaks of what the body returns go to body.offer(), and when all is done some
    /// threads, here one, call body.finish(thread, threads).
    template <class Body>
    void launch_step(std::uint64_t n, const Body& body) {
        launch_part(n, body, 1);
    }
    /// Two that are parts of one step: the one that ends last calls finish(). Beside each other where they are
    /// recorded.
    template <class Body, class Other>
    void launch_step(std::uint64_t n, const Body& body, std::uint64_t m, const Other& other) {
        launch_part(m, other, 2);
        launch_part(n, body, 2);
    }

    template <class T>
    void upload(const T* host, T* device, std::size_t count) {
        device_call("copy");
        if (count > 0) std::memcpy(device, host, count * sizeof(T));
    }
    template <class T>
    void download(const T* device, T* host, std::size_t count) {
        device_call("copy");
        if (count > 0) std::memcpy(host, device, count * sizeof(T));
    }
    /// From one place of the device to another.
    template <class T>
    void duplicate(const T* from, T* to, std::size_t count) {
        device_call("copy");
        if (count > 0) std::memcpy(to, from, count * sizeof(T));
    }
    /// Copies what the queue will have written by now, beside what is put in later.
    template <class T>
    void download_aside(const T* device, T* host, std::size_t count) {
        download(device, host, count);
    }

    /// Copies beside what is in the queue by now, and before what is put in later.
    template <class T>
    void upload_aside(const T* host, T* device, std::size_t count) {
        upload(host, device, count);
    }

    void wait() const { device_call("wait"); }
    void wait_aside() const { device_call("wait"); }  ///< for the last download_aside; from any thread

private:
    template <class Body>
    static void launch_part(std::uint64_t n, const Body& body, std::uint32_t parts) {
        device_call("launch");
        if (body.idle()) return;
        body.prepare();
        StepPeaks<typename Body::Word> peaks;
        for (std::uint64_t i = n; i-- > 0;) peaks.raise(body(i));
        body.offer(peaks);
        if (last_of(body.tickets(), parts)) body.finish(0, 1);
    }
};

/// A series of launches, recorded once and played often.
class Recording {
public:
    Recording() = default;
    template <class F>
    Recording(Queue&, F&& launches) : launches_(std::forward<F>(launches)) {}
    void play(Queue&) const { launches_(); }

private:
    std::function<void()> launches_;
};

#else

/// Thread i of the grid takes index i.
template <class Body>
__global__ void __launch_bounds__(kBlockThreads, kBlocksOf<Body>)
    launch_kernel(const __grid_constant__ Body body, std::uint64_t n) {
    const std::uint64_t index = static_cast<std::uint64_t>(blockIdx.x) * kBlockThreads + threadIdx.x;
    if (index < n) body(index);
}

/// Group i of the grid takes index i.
template <class Body>
__global__ void __launch_bounds__(kBlockThreads, kBlocksOf<Body>)
    group_kernel(const __grid_constant__ Body body, std::uint64_t n) {
    const std::uint64_t index = (static_cast<std::uint64_t>(blockIdx.x) * kBlockThreads + threadIdx.x) / kGroup;
    if (index < n) body(index);
}

/// The largest of the words of a warp's threads, all of which call it.
template <class Word>
__device__ __forceinline__ Word largest_of_warp(Word word) {
#if __CUDA_ARCH__ >= 800
    constexpr unsigned kAll = 0xffffffffU;
    if constexpr (sizeof(Word) == sizeof(unsigned)) {
        return __reduce_max_sync(kAll, word);
    } else {
        const auto high = static_cast<unsigned>(word >> 32);
        const unsigned highest = __reduce_max_sync(kAll, high);
        const unsigned low = __reduce_max_sync(kAll, high == highest ? static_cast<unsigned>(word) : 0U);
        return Word{highest} << 32 | low;
    }
#else
    for (int apart = 16; apart > 0; apart /= 2) {
        const Word other = __shfl_xor_sync(0xffffffffU, word, apart);
        if (other > word) word = other;
    }
    return word;
#endif
}

/// The peaks of a block's threads, in its first thread.
template <class Word>
__device__ __forceinline__ StepPeaks<Word> block_peaks(StepPeaks<Word> peaks) {
    __shared__ Word s_speed_squared[kBlockThreads / 32];
    __shared__ Word s_overlap[kBlockThreads / 32];
    peaks = {largest_of_warp(peaks.speed_squared), largest_of_warp(peaks.overlap)};
    if (threadIdx.x % 32 == 0) {
        s_speed_squared[threadIdx.x / 32] = peaks.speed_squared;
        s_overlap[threadIdx.x / 32] = peaks.overlap;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < kBlockThreads / 32; ++warp) peaks.raise({s_speed_squared[warp], s_overlap[warp]});
    }
    return peaks;
}

// What a GPU, and what a kernel was compiled for, must be at least to start a launch before the one before has ended.
#define kOverlapArch 900

int device_number();

/// ask(), once for each GPU that a thread uses: it takes longer than a launch. `Ask` is a type of its own for each
/// question.
template <class Ask>
const auto& known_of_device(const Ask& ask) {
    thread_local int known_of = -1;
    thread_local decltype(ask()) known;
    if (const int device = device_number(); device != known_of) {
        known = ask();
        known_of = device;
    }
    return known;
}

/// What there is to know of a kernel before it is launched.
struct StepLaunch {
    bool waits = false;  ///< for the end of the launch before it, by itself, so that it may be started early
    unsigned wave = 1;   ///< blocks that the GPU holds at a time

    static StepLaunch of(const void* kernel);
};

/// Of a kernel on the GPU in use, for which it may have been compiled otherwise than for another.
template <auto* kKernel>
const StepLaunch& step_launch() {
    return known_of_device([] { return StepLaunch::of(reinterpret_cast<const void*>(kKernel)); });
}

/// A block's threads take `tiles` of its size one behind the other; a warp of the last block to end, of the `blocks` of
/// all launches that are the step, does what ends it, which saves another launch.
template <class Body>
__global__ void __launch_bounds__(kBlockThreads, kBlocksOf<Body>)
    step_kernel(const __grid_constant__ Body body, std::uint32_t n, std::uint32_t tiles, std::uint32_t blocks) {
#if __CUDA_ARCH__ >= kOverlapArch
    // The next step may start as soon as all blocks of this one have; here it waits for the end of the one before.
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
#endif
    if (body.idle()) return;  // alike for all blocks: only the end of a step, behind all blocks, changes it
    StepPeaks<typename Body::Word> peaks;
    for (std::uint32_t index = blockIdx.x * tiles * kBlockThreads + threadIdx.x; tiles > 0; --tiles) {
        if (index < n) peaks.raise(body(index));
        index += kBlockThreads;
    }
    if (blockIdx.x == 0 && threadIdx.x == kBlockThreads - 1) body.prepare();
    peaks = block_peaks(peaks);
    if (threadIdx.x >= 32) return;
    int last = 0;
    if (threadIdx.x == 0) {
        body.offer(peaks);
        last = last_of(body.tickets(), blocks) ? 1 : 0;
    }
    if (__shfl_sync(0xffffffffU, last, 0) == 0) return;
    __syncwarp();  // what the first has acquired, the others see behind this
    body.finish(static_cast<int>(threadIdx.x), 32);
}

class Queue {
public:
    Queue();
    ~Queue();
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;

    template <class Body>
    void launch(std::uint64_t n, const Body& body) {
        if (n == 0) return;
        launch_kernel<<<blocks(n), kBlockThreads, 0, stream_>>>(body, n);
        check(cudaGetLastError(), "kernel launch");
    }
    template <class Body>
    void launch_groups(std::uint64_t n, const Body& body) {
        if (n == 0) return;
        group_kernel<<<blocks(n * kGroup), kBlockThreads, 0, stream_>>>(body, n);
        check(cudaGetLastError(), "kernel launch");
    }
    template <class Body>
    void launch_step(std::uint64_t n, const Body& body) {
        launch_part(n, body, step_blocks<Body>(n), stream_);
    }
    template <class Body, class Other>
    void launch_step(std::uint64_t n, const Body& body, std::uint64_t m, const Other& other) {
        const unsigned blocks = step_blocks<Body>(n) + step_blocks<Other>(m);
        // Beside each other in a graph alone: streams would have the host say so at each step.
        if (forks_) {
            check(cudaEventRecord(forked_, stream_), "cudaEventRecord");
            check(cudaStreamWaitEvent(branch_, forked_), "cudaStreamWaitEvent");
        }
        launch_part(m, other, blocks, forks_ ? branch_ : stream_);
        launch_part(n, body, blocks, stream_);
        if (forks_) {
            check(cudaEventRecord(joined_, branch_), "cudaEventRecord");
            check(cudaStreamWaitEvent(stream_, joined_), "cudaStreamWaitEvent");
        }
    }
    /// Whether the parts of a step get a branch each, as in a graph.
    void fork_steps(bool forked) { forks_ = forked; }
    template <class T>
    void upload(const T* host, T* device, std::size_t count) {
        copy(host, device, count * sizeof(T), cudaMemcpyHostToDevice, stream_);
    }
    template <class T>
    void download(const T* device, T* host, std::size_t count) {
        copy(device, host, count * sizeof(T), cudaMemcpyDeviceToHost, stream_);
    }
    template <class T>
    void duplicate(const T* from, T* to, std::size_t count) {
        copy(from, to, count * sizeof(T), cudaMemcpyDeviceToDevice, stream_);
    }
    template <class T>
    void download_aside(const T* device, T* host, std::size_t count) {
        check(cudaEventRecord(written_, stream_), "cudaEventRecord");
        check(cudaStreamWaitEvent(aside_, written_), "cudaStreamWaitEvent");
        copy(device, host, count * sizeof(T), cudaMemcpyDeviceToHost, aside_);
        check(cudaEventRecord(copied_, aside_), "cudaEventRecord");
    }
    template <class T>
    void upload_aside(const T* host, T* device, std::size_t count) {
        copy(host, device, count * sizeof(T), cudaMemcpyHostToDevice, aside_);
        check(cudaEventRecord(copied_, aside_), "cudaEventRecord");
        check(cudaStreamWaitEvent(stream_, copied_), "cudaStreamWaitEvent");
    }
    void wait() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }
    void wait_aside() const { check(cudaEventSynchronize(copied_), "cudaEventSynchronize"); }
    [[nodiscard]] cudaStream_t stream() const { return stream_; }

private:
    static unsigned blocks(std::uint64_t n) { return static_cast<unsigned>((n + kBlockThreads - 1) / kBlockThreads); }
    /// Tiles that a block takes. A block's room is free only when its last warp has ended, and has told so: where there
    /// are many waves of blocks, there are fewer that live for longer, and some waves are made one. (An H200, runs of
    /// 4,000 steps in all: 0.92 of the time with a million balls, the same with 400,000.)
    template <class Body>
    static std::uint32_t step_tiles(std::uint64_t n) {
        constexpr std::uint64_t kLeast = 1U << 18;
        constexpr std::uint64_t kWaves = 8;
        if (n < kLeast) return 1;
        const std::uint64_t wave = std::uint64_t{step_launch<&step_kernel<Body>>().wave} * kBlockThreads;
        const std::uint64_t waves = (n + wave - 1) / wave;
        return static_cast<std::uint32_t>(waves <= kWaves ? waves : std::clamp<std::uint64_t>(n >> 21, 1, 4));
    }
    template <class Body>
    static unsigned step_blocks(std::uint64_t n) {
        const std::uint32_t tiles = step_tiles<Body>(n);
        return std::max(1U, blocks((n + tiles - 1) / tiles));
    }
    /// \param blocks  of all launches that are the step
    template <class Body>
    static void launch_part(std::uint64_t n, const Body& body, std::uint32_t blocks, cudaStream_t stream) {
        cudaLaunchAttribute how{};
        how.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        how.val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t config{};
        config.gridDim = step_blocks<Body>(n);
        config.blockDim = kBlockThreads;
        config.stream = stream;
        config.attrs = &how;
        config.numAttrs = step_launch<&step_kernel<Body>>().waits ? 1 : 0;
        check(cudaLaunchKernelEx(&config, step_kernel<Body>, body, static_cast<std::uint32_t>(n), step_tiles<Body>(n),
                                 blocks),
              "kernel launch");
    }
    static void copy(const void* from, void* to, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
        if (bytes > 0) check(cudaMemcpyAsync(to, from, bytes, kind, stream), "cudaMemcpyAsync");
    }

    cudaStream_t stream_ = nullptr;
    cudaStream_t aside_ = nullptr;
    cudaStream_t branch_ = nullptr;
    cudaEvent_t written_ = nullptr;
    cudaEvent_t copied_ = nullptr;
    cudaEvent_t forked_ = nullptr;
    cudaEvent_t joined_ = nullptr;
    bool forks_ = false;
};

/// A CUDA graph: its kernels start without the host.
class Recording {
public:
    Recording() = default;
    template <class F>
    Recording(Queue& queue, F&& launches) {
        cudaGraph_t graph = nullptr;
        check(cudaStreamBeginCapture(queue.stream(), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
        queue.fork_steps(true);
        try {
            launches();
            queue.fork_steps(false);
        } catch (...) {  // else every later call of this thread would fail for it
            queue.fork_steps(false);
            cudaStreamEndCapture(queue.stream(), &graph);
            if (graph != nullptr) cudaGraphDestroy(graph);
            cudaGetLastError();  // a branch that was not joined
            throw;
        }
        check(cudaStreamEndCapture(queue.stream(), &graph), "cudaStreamEndCapture");
        const cudaError_t status = cudaGraphInstantiate(&graph_, graph, 0);
        cudaGraphDestroy(graph);
        check(status, "cudaGraphInstantiate");
    }
    Recording(Recording&& other) noexcept : graph_(std::exchange(other.graph_, nullptr)) {}
    Recording& operator=(Recording&& other) noexcept {
        std::swap(graph_, other.graph_);
        return *this;
    }
    ~Recording() {
        if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
    }
    void play(Queue& queue) const { check(cudaGraphLaunch(graph_, queue.stream()), "cudaGraphLaunch"); }

private:
    cudaGraphExec_t graph_ = nullptr;
};

#endif

#if defined(CAROM_EMULATED)

/// Of the GPU in use, as DeviceFrame has it.
inline int device_number() { return DeviceFrame::kHost; }

inline void* allocate_emulated(std::size_t bytes, const char* call) {
    device_call(call);
    return ::operator new (bytes, std::align_val_t{256});
}
inline void* allocate_device(std::size_t bytes) { return allocate_emulated(bytes, "allocation"); }
inline void free_device(void* place) noexcept { ::operator delete (place, std::align_val_t{256}); }
inline void poison_device(void* place, std::size_t bytes) { std::memset(place, 0xff, bytes); }
inline void* allocate_pinned(std::size_t bytes) { return allocate_emulated(bytes, "pinning"); }
inline void free_pinned(void* place) noexcept { free_device(place); }

#else

inline int device_number() {
    int number = 0;
    check(cudaGetDevice(&number), "cudaGetDevice");
    return number;
}

inline void* allocate_device(std::size_t bytes) {
    void* place = nullptr;
    check(cudaMalloc(&place, bytes), "cudaMalloc");
    return place;
}
inline void free_device(void* place) noexcept { cudaFree(place); }
inline void poison_device(void* place, std::size_t bytes) {
    check(cudaMemset(place, 0xff, bytes), "cudaMemset");
    check(cudaStreamSynchronize(nullptr), "cudaMemset");  // our streams do not wait for the one that it runs in
}
inline void* allocate_pinned(std::size_t bytes) {
    void* place = nullptr;
    check(cudaMallocHost(&place, bytes), "cudaMallocHost");
    return place;
}
inline void free_pinned(void* place) noexcept { cudaFreeHost(place); }

#endif

struct DeviceMemory {
    static void* allocate(std::size_t bytes) {
        void* place = allocate_device(bytes);
#if !defined(NDEBUG)
        // Reading what nobody wrote gives NaN and ids far out of range, not whatever was there before.
        poison_device(place, bytes);
#endif
        return place;
    }
    static void release(void* place) noexcept { free_device(place); }
};

/// Host memory that a copy can run to and from beside the host's work.
struct PinnedMemory {
    static void* allocate(std::size_t bytes) { return allocate_pinned(bytes); }
    static void release(void* place) noexcept { free_pinned(place); }
};

/// A block of plain values, owned; its contents are not set. Never of no bytes, so that data() is a place.
template <class T, class Memory>
class Array {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    Array() = default;
    explicit Array(std::size_t size)
        : data_(static_cast<T*>(Memory::allocate((size > 0 ? size : 1) * sizeof(T)))), size_(size) {}
    Array(Array&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    Array& operator=(Array&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~Array() {
        if (data_ != nullptr) Memory::release(data_);
    }

    [[nodiscard]] T* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::size_t bytes() const { return size_ * sizeof(T); }

private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

template <class T>
using DeviceArray = Array<T, DeviceMemory>;
template <class T>
using PinnedArray = Array<T, PinnedMemory>;

/// Where Thrust takes its working memory from: blocks are kept and given out again, so that only the first sort
/// allocates. An allocator as Thrust's execution policies want one.
class Scratch {
public:
    using value_type = char;

    char* allocate(std::ptrdiff_t bytes) {
        Block* best = nullptr;
        for (Block& block : blocks_) {
            const bool fits = !block.taken && block.memory.size() >= static_cast<std::size_t>(bytes);
            if (fits && (best == nullptr || block.memory.size() < best->memory.size())) best = &block;
        }
        if (best == nullptr) {
            blocks_.push_back({DeviceArray<char>(static_cast<std::size_t>(bytes)), false});
            best = &blocks_.back();
        }
        best->taken = true;
        return best->memory.data();
    }
    void deallocate(char* place, std::size_t) {
        for (Block& block : blocks_) {
            if (block.memory.data() == place) block.taken = false;
        }
    }

    [[nodiscard]] std::size_t bytes() const {
        std::size_t total = 0;
        for (const Block& block : blocks_) total += block.memory.bytes();
        return total;
    }

private:
    struct Block {
        DeviceArray<char> memory;
        bool taken;
    };
    std::vector<Block> blocks_;
};

/// Runs a Thrust algorithm behind what is already in `queue`. Only those that return a value wait for it.
inline auto algorithms_in(const Queue& queue, Scratch& scratch) {
#if defined(CAROM_EMULATED)
    (void)queue;
    return thrust::cpp::par(scratch);
#else
    return thrust::cuda::par_nosync(scratch).on(queue.stream());
#endif
}

}  // namespace carom::CAROM_PROCESSOR
