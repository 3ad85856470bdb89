#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>

#include "kernels/cuda/atomics.hpp"

// The order of work on the device. Everything put into a queue runs after what was put in before, while the host goes
// on; copies "aside" run beside it. On the host (emulated) everything is done at once.

namespace carom::CAROM_PROCESSOR {

constexpr int kBlockThreads = 256;
/// Blocks that a multiprocessor must be able to hold: 2 leave a thread 128 registers, 3 leave it 80. Said outright,
/// because otherwise the compiler may spill a few to hold one block more.
constexpr int kBlocksOfLaunch = 2;

#if defined(CAROM_EMULATED)

class Queue {
public:
    /// Calls body(i) for all i < n, in parallel.
    template <class Body>
    void launch(std::uint64_t n, const Body& body) {
        // Backwards, since nobody may depend on the order.
        for (std::uint64_t i = n; i-- > 0;) body(i);
    }

    /// As launch(), for a body with a beginning and an end: nothing at all where body.idle(); otherwise the peaks
    /// of what the body returns go to body.offer(), and when all is done body.finish() runs once.
    template <class Body>
    void launch_step(std::uint64_t n, const Body& body) {
        if (body.idle()) return;
        StepPeaks<typename Body::Word> peaks;
        for (std::uint64_t i = n; i-- > 0;) peaks.raise(body(i));
        body.offer(peaks);
        if (last_of(body.tickets(), 1)) body.finish();
    }

    template <class T>
    void upload(const T* host, T* device, std::size_t count) {
        if (count > 0) std::memcpy(device, host, count * sizeof(T));
    }
    template <class T>
    void download(const T* device, T* host, std::size_t count) {
        if (count > 0) std::memcpy(host, device, count * sizeof(T));
    }
    /// Copies what the queue will have written by now, beside what is put in later.
    template <class T>
    void download_aside(const T* device, T* host, std::size_t count) {
        download(device, host, count);
    }

    void wait() const {}
    void wait_aside() const {}  ///< for the last download_aside; from any thread
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
__global__ void __launch_bounds__(kBlockThreads, kBlocksOfLaunch)
    launch_kernel(const __grid_constant__ Body body, std::uint64_t n) {
    const std::uint64_t index = static_cast<std::uint64_t>(blockIdx.x) * kBlockThreads + threadIdx.x;
    if (index < n) body(index);
}

/// The peaks of a block's threads, in its first thread.
template <class Word>
__device__ __forceinline__ StepPeaks<Word> block_peaks(StepPeaks<Word> peaks) {
    __shared__ Word s_speed_squared[kBlockThreads / 32];
    __shared__ Word s_overlap[kBlockThreads / 32];
    for (int apart = 16; apart > 0; apart /= 2) {
        peaks.raise({__shfl_xor_sync(0xffffffffU, peaks.speed_squared, apart),
                     __shfl_xor_sync(0xffffffffU, peaks.overlap, apart)});
    }
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

/// Thread i of the grid takes index i; the last block to end does what ends the step, which saves a second launch.
template <class Body>
__global__ void __launch_bounds__(kBlockThreads, Body::kBlocks)
    step_kernel(const __grid_constant__ Body body, std::uint64_t n) {
    if (body.idle()) return;  // alike for all blocks: only the end of a step, behind all blocks, changes it
    const std::uint64_t index = static_cast<std::uint64_t>(blockIdx.x) * kBlockThreads + threadIdx.x;
    StepPeaks<typename Body::Word> peaks;
    if (index < n) peaks = body(index);
    peaks = block_peaks(peaks);
    if (threadIdx.x == 0) {
        body.offer(peaks);
        if (last_of(body.tickets(), gridDim.x)) body.finish();
    }
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
    void launch_step(std::uint64_t n, const Body& body) {
        step_kernel<<<blocks(n > 0 ? n : 1), kBlockThreads, 0, stream_>>>(body, n);
        check(cudaGetLastError(), "kernel launch");
    }
    template <class T>
    void upload(const T* host, T* device, std::size_t count) {
        copy(host, device, count * sizeof(T), cudaMemcpyHostToDevice, stream_);
    }
    template <class T>
    void download(const T* device, T* host, std::size_t count) {
        copy(device, host, count * sizeof(T), cudaMemcpyDeviceToHost, stream_);
    }
    template <class T>
    void download_aside(const T* device, T* host, std::size_t count) {
        check(cudaEventRecord(written_, stream_), "cudaEventRecord");
        check(cudaStreamWaitEvent(aside_, written_), "cudaStreamWaitEvent");
        copy(device, host, count * sizeof(T), cudaMemcpyDeviceToHost, aside_);
        check(cudaEventRecord(copied_, aside_), "cudaEventRecord");
    }
    void wait() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }
    void wait_aside() const { check(cudaEventSynchronize(copied_), "cudaEventSynchronize"); }
    [[nodiscard]] cudaStream_t stream() const { return stream_; }

private:
    static unsigned blocks(std::uint64_t n) { return static_cast<unsigned>((n + kBlockThreads - 1) / kBlockThreads); }
    static void copy(const void* from, void* to, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
        if (bytes > 0) check(cudaMemcpyAsync(to, from, bytes, kind, stream), "cudaMemcpyAsync");
    }

    cudaStream_t stream_ = nullptr;
    cudaStream_t aside_ = nullptr;
    cudaEvent_t written_ = nullptr;
    cudaEvent_t copied_ = nullptr;
};

/// A CUDA graph: its kernels start without the host.
class Recording {
public:
    Recording() = default;
    template <class F>
    Recording(Queue& queue, F&& launches) {
        check(cudaStreamBeginCapture(queue.stream(), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
        launches();
        cudaGraph_t graph = nullptr;
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

}  // namespace carom::CAROM_PROCESSOR
