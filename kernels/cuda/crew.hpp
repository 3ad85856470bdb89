#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "kernels/cuda/queue.hpp"

// Threads of the GPU that carry one small system through many steps without a launch: a crew. It is a block, a cluster
// of blocks, or a whole grid. What steers it each thread reckons for itself from what all agree on at a meeting (the
// largest of their words), or one block changes it in a meeting, while all wait: so all of it goes the same way. On the
// host (emulated) a crew is the thread that runs everything.

namespace carom::CAROM_PROCESSOR {

/// Where the blocks of a crew that is a grid wait for each other. Those that look whether it is open are not in the way
/// of those that arrive.
struct Gate {
    alignas(kCacheLine) std::uint32_t arrived = 0;
    alignas(kCacheLine) std::uint32_t opened = 0;
};

/// Balls up to which a system has a cluster: so many as one of 16 blocks has threads. Of two balls a thread one waits
/// for the other, which takes longer than launches do, if the system is alone, and than a grid's meetings, if it is one
/// of many whose others are not there (measured on an H100 and an H200).
constexpr std::uint64_t kClusterBalls = 4096;
/// Balls beyond which a system has launches of its own for each step also as one of many: so many as a GPU holds
/// threads of a crew.
constexpr std::uint64_t kCrewBalls = 65536;

class Crew {
public:
    /// \param gate  of a crew that is a grid; null: it is a block, or a cluster of `blocks` of them
    CAROM_HD explicit Crew(unsigned blocks = 1, Gate* gate = nullptr) : blocks_(blocks), gate_(gate) {}

    /// Calls f(i) for all i < n. What they write, others of the crew see behind the next meeting.
    template <class F>
    CAROM_HD void each(std::uint32_t n, F&& f) const {
#if defined(__CUDA_ARCH__)
        for (std::uint32_t i = thread(); i < n; i += threads()) f(i);
#else
        for (std::uint32_t i = n; i-- > 0;) f(i);
#endif
    }

    /// As each(), with a group of threads for each i.
    template <class F>
    CAROM_HD void each_group(std::uint32_t n, F&& f) const {
#if defined(__CUDA_ARCH__)
        for (std::uint32_t i = thread() / kGroup; i < n; i += threads() / kGroup) f(i);
#else
        each(n, f);
#endif
    }

    /// Waits until all are there.
    CAROM_HD void meet() const {
#if defined(__CUDA_ARCH__)
        if (gate_ != nullptr) {
            pass_gate([](int, int) {});
        } else {
            meet_cluster();
        }
#endif
    }

    /// Waits until all are there; then the threads of one block call f(thread, threads), and all go on behind it.
    template <class F>
    CAROM_HD void meet(F&& f) const {
#if defined(__CUDA_ARCH__)
        if (gate_ != nullptr) {
            pass_gate(f);
        } else {
            meet_cluster();
            if (rank() == 0) f(static_cast<int>(threadIdx.x), kBlockThreads);
            meet_cluster();
        }
#else
        f(0, 1);
#endif
    }

    /// The largest of all threads' words, behind a meeting. \param most  where it comes about: 0 before
    template <class Word>
    CAROM_HD Word agree(Word word, Word* most) const {
#if defined(__CUDA_ARCH__)
        const Word largest = block_peaks(StepPeaks<Word>{word, 0}).speed_squared;
        if (threadIdx.x == 0 && largest != 0) raise_unread(most, largest);
        meet();
        return load_shared(most);
#else
        if (word > *most) *most = word;
        return *most;
#endif
    }

    /// Has some threads, of one warp, call f(thread, threads) beside what the others do.
    /// They are in the middle, where balls at faces, which take longest, are not most.
    /// \param task  those with other numbers are other threads, if there are several blocks
    template <class F>
    CAROM_HD void aside([[maybe_unused]] unsigned task, F&& f) const {
#if defined(__CUDA_ARCH__)
        constexpr unsigned kFirst = kBlockThreads - 32;
        if (rank() == (blocks_ / 2 + task) % blocks_ && threadIdx.x >= kFirst)
            f(static_cast<int>(threadIdx.x - kFirst), 32);
#else
        f(0, 1);
#endif
    }

    /// Replaces each of `count` numbers by the sum of those before it. Behind a meeting, and one must follow.
    /// \param sums  room for one a block
    CAROM_HD void sum_before(std::uint32_t* numbers, std::uint32_t count, [[maybe_unused]] std::uint32_t* sums) const {
#if defined(__CUDA_ARCH__)
        // Each thread has a stretch, so that there is one sum over threads however many numbers there are.
        const std::uint32_t stretch = (count + threads() - 1) / threads();
        const std::uint32_t first = thread() * stretch < count ? thread() * stretch : count;
        const std::uint32_t last = count - first < stretch ? count : first + stretch;
        std::uint32_t sum = 0;
        for (std::uint32_t i = first; i < last; ++i) sum += numbers[i];
        std::uint32_t all = 0;
        sum = sum_of_threads_before(sum, all);
        if (blocks_ > 1) {
            if (threadIdx.x == 0) sums[rank()] = all;
            meet();
            std::uint32_t before = 0;
            for (unsigned block = threadIdx.x; block < rank(); block += kBlockThreads) {
                before += sums[block];
            }
            sum_of_threads_before(before, all);
            sum += all;
        }
        for (std::uint32_t i = first; i < last; ++i) {
            const std::uint32_t number = numbers[i];
            numbers[i] = sum;
            sum += number;
        }
#else
        std::uint32_t sum = 0;
        for (std::uint32_t i = 0; i < count; ++i) sum += std::exchange(numbers[i], sum);
#endif
    }

    /// Calls f(largest) with the largest of the threads' peaks, once or for parts of the crew.
    template <class Word, class F>
    CAROM_HD void offer(const StepPeaks<Word>& peaks, F&& f) const {
#if defined(__CUDA_ARCH__)
        const StepPeaks<Word> largest = block_peaks(peaks);
        if (threadIdx.x == 0) f(largest);
#else
        f(peaks);
#endif
    }

    // Of a crew that is a block or a cluster, and holds what it does in shared memory.

    /// Calls f(held) with what each block has for itself and for others to read: Held<slots>, not set. One a kernel.
    template <template <std::uint32_t> class Held, class F>
    CAROM_HD void hold(F&& f) const {
#if defined(__CUDA_ARCH__)
        extern __shared__ std::uint64_t s_held[];
        f(*reinterpret_cast<Held<kBlockThreads>*>(s_held));
#else
        const auto held = std::make_unique_for_overwrite<Held<kClusterBalls>>();
        f(*held);
#endif
    }

    /// Waits until all of this block are there.
    CAROM_HD void meet_block() const {
#if defined(__CUDA_ARCH__)
        __syncthreads();
#endif
    }

    /// Calls f(i) for all i < n, in this block alone: with the lower i in the first threads, or in the last.
    template <class F>
    CAROM_HD void each_of_block(std::uint32_t n, bool from_last, F&& f) const {
#if defined(__CUDA_ARCH__)
        for (std::uint32_t i = from_last ? kBlockThreads - 1 - threadIdx.x : threadIdx.x; i < n; i += kBlockThreads)
            f(i);
#else
        (void)from_last;
        for (std::uint32_t i = n; i-- > 0;) f(i);
#endif
    }

    /// Has some threads of each block, of one warp, call f(thread, threads).
    template <class F>
    CAROM_HD void aside_in_block(F&& f) const {
#if defined(__CUDA_ARCH__)
        constexpr unsigned kFirst = kBlockThreads - 32;
        if (threadIdx.x >= kFirst) f(static_cast<int>(threadIdx.x - kFirst), 32);
#else
        f(0, 1);
#endif
    }

    /// What a block of the crew has where this one has `here`: another's is far, as memory goes.
    template <class T>
    CAROM_HD static const T& of_crew(const T& here, [[maybe_unused]] unsigned block) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        if (block != blockIdx.x) return *static_cast<const T*>(__cluster_map_shared_rank(&here, block));
#endif
        return here;
    }

    /// Calls f(of) with what each block has there.
    template <class T, class F>
    CAROM_HD void visit_blocks(const T& here, F&& f) const {
#if defined(__CUDA_ARCH__)
        for (unsigned block = 0; block < blocks_; ++block) f(of_crew(here, block));
#else
        f(here);
#endif
    }

    /// Raises `largest`, which each block has, for those who read it behind the next meeting.
    template <class Word>
    CAROM_HD void show(Word word, Word& largest) const {
#if defined(__CUDA_ARCH__)
        const Word of_warp = largest_of_warp(word);
        if (threadIdx.x % 32 == 0) raise_unread(&largest, of_warp);
#else
        raise_unread(&largest, word);
#endif
    }

    /// Begins to read what all have shown; for agree().
    template <class Word>
    CAROM_HD Word read_shown(const Word& largest) const {
#if defined(__CUDA_ARCH__)
        const unsigned block = threadIdx.x % 32;
        Word of_block = 0;
        if (block < blocks_) of_block = of_crew(largest, block);
        read_here(of_block);
        return of_block;
#else
        return largest;
#endif
    }

    /// The largest of what all have shown.
    template <class Word>
    CAROM_HD Word agree(Word read) const {
#if defined(__CUDA_ARCH__)
        return largest_of_warp(read);
#else
        return read;
#endif
    }

    /// A copy that is nearer to the threads; one a kernel.
    template <class T>
    CAROM_HD const T& keep(const T& value) const {
#if defined(__CUDA_ARCH__)
        __shared__ std::uint64_t s_kept[sizeof(T) / sizeof(std::uint64_t)];
        copy_words(value, s_kept, threadIdx.x, kBlockThreads);
        __syncthreads();
        return *reinterpret_cast<const T*>(s_kept);
#else
        return value;
#endif
    }

    /// Behind a meeting.
    template <class T>
    CAROM_HD void copy(const T& from, T& to) const {
#if defined(__CUDA_ARCH__)
        copy_words(from, reinterpret_cast<std::uint64_t*>(&to), thread(), threads());
#else
        to = from;
#endif
    }

private:
#if defined(__CUDA_ARCH__)
    __device__ unsigned rank() const { return blockIdx.x % blocks_; }
    __device__ std::uint32_t thread() const { return rank() * kBlockThreads + threadIdx.x; }
    __device__ std::uint32_t threads() const { return blocks_ * kBlockThreads; }

    template <class T>
    __device__ static void copy_words(const T& from, std::uint64_t* to, std::uint32_t first, std::uint32_t apart) {
        static_assert(sizeof(T) % sizeof(std::uint64_t) == 0);
        const auto* const words = reinterpret_cast<const std::uint64_t*>(&from);
        for (std::uint32_t i = first; i < sizeof(T) / sizeof(std::uint64_t); i += apart) to[i] = words[i];
    }

    __device__ void meet_cluster() const {
#if __CUDA_ARCH__ >= 900
        if (blocks_ > 1) {
            __cluster_barrier_arrive();  // releases, and the wait acquires, what the cluster wrote
            __cluster_barrier_wait();
            return;
        }
#endif
        __syncthreads();
    }

    /// The last block to come does f, and opens the gate for the others.
    template <class F>
    __device__ void pass_gate(F&& f) const {
        using Counter = ::cuda::atomic_ref<std::uint32_t, ::cuda::thread_scope_device>;
        __shared__ std::uint32_t s_turn;
        __shared__ bool s_last;
        __syncthreads();
        if (threadIdx.x == 0) {
            const std::uint32_t before = Counter(gate_->arrived).fetch_add(1U, ::cuda::memory_order_acq_rel);
            s_turn = before / blocks_ + 1;
            s_last = before % blocks_ == blocks_ - 1;
        }
        __syncthreads();
        if (s_last) {
            f(static_cast<int>(threadIdx.x), kBlockThreads);
            __syncthreads();
            if (threadIdx.x == 0) Counter(gate_->opened).store(s_turn, ::cuda::memory_order_release);
        } else if (threadIdx.x == 0) {
            while (Counter(gate_->opened).load(::cuda::memory_order_relaxed) < s_turn) __nanosleep(20);
            Counter(gate_->opened).load(::cuda::memory_order_acquire);
        }
        __syncthreads();
    }

    /// Of one number a thread: the sum of those of the block's threads before this one, and of all of the block.
    __device__ static std::uint32_t sum_of_threads_before(std::uint32_t number, std::uint32_t& all) {
        constexpr unsigned kWarps = kBlockThreads / 32;
        __shared__ std::uint32_t s_sum[kWarps];
        const unsigned lane = threadIdx.x % 32;
        const unsigned warp = threadIdx.x / 32;
        std::uint32_t sum = number;  // with its own
        for (unsigned apart = 1; apart < 32; apart *= 2) {
            const std::uint32_t other = __shfl_up_sync(0xffffffffU, sum, apart);
            if (lane >= apart) sum += other;
        }
        std::uint32_t before = __shfl_up_sync(0xffffffffU, sum, 1);
        if (lane == 0) before = 0;
        __syncthreads();  // who read the sums of the time before is done
        if (lane == 31) s_sum[warp] = sum;
        __syncthreads();
        all = 0;
        for (unsigned other = 0; other < kWarps; ++other) {
            if (other == warp) before += all;
            all += s_sum[other];
        }
        return before;
    }
#endif

    unsigned blocks_;
    Gate* gate_;
};

#if defined(CAROM_EMULATED)

/// Whether the GPU in use has what crews need.
inline bool crews_work() { return true; }

/// Does the errands, each by a crew of its own: Body::run(errand, crew).
/// \param table  becomes large enough
/// \param balls  of the largest system
template <class Body>
void send_crews(Queue& /*queue*/, DeviceArray<typename Body::Errand>& /*table*/,
                std::span<const typename Body::Errand> errands, std::uint64_t /*balls*/) {
    device_call("launch");
    for (const auto& errand : errands) Body::run(errand, Crew());
}

/// Does one errand by a crew that has a thread for each ball: Body::run(errand, params, crew). False where no crew can.
template <class Body>
bool send_holder(Queue& /*queue*/, const typename Body::Errand& errand, const typename Body::Params& params,
                 std::uint64_t balls) {
    if (balls > kClusterBalls) return false;
    device_call("launch");
    Body::run(errand, params, Crew());
    return true;
}

#else

/// Each crew does an errand of the table. \param grid  the launch is one crew; else crews are blocks or clusters
template <class Body>
__global__ void __launch_bounds__(kBlockThreads, kBlocksOfLaunch)
    crew_kernel(typename Body::Errand* errands, unsigned blocks, bool grid) {
    auto& errand = errands[blockIdx.x / blocks];
    Body::run(errand, Crew(blocks, grid ? &errand.gate : nullptr));
}

/// The launch is one crew, a cluster: it has the multiprocessors for itself, and its constants where they cost nothing.
template <class Body>
__global__ void __launch_bounds__(kBlockThreads, 1)
    holder_kernel(const __grid_constant__ typename Body::Errand errand,
                  const __grid_constant__ typename Body::Params params) {
    Body::run(errand, params, Crew(gridDim.x));
}

/// Whether the GPU in use has what crews need.
bool crews_work();

/// How the threads of a launch fall into crews.
struct CrewShape {
    unsigned blocks = 1;     ///< of a crew
    bool grid = false;       ///< it is the whole launch; else a cluster, if it has several blocks
    std::size_t shared = 0;  ///< bytes of shared memory that a block asks for, beside what its kernel says
};

/// How many blocks of a kernel the GPU holds at a time.
struct CrewRoom {
    static constexpr unsigned kSizes[] = {16, 8, 4, 2};  ///< of clusters; not all GPUs have 16

    unsigned alone = 0;
    unsigned clustered[4] = {};  ///< in clusters of these sizes; 0: there are none
    bool grids = false;
    std::size_t shared = 0;  ///< as CrewShape

    /// \param shared  bytes that blocks ask for; where they are not to be had, there are no clusters
    static CrewRoom of(const void* kernel, std::size_t shared = 0);
    /// How so many crews should look, each for a system of at most `balls` balls.
    [[nodiscard]] CrewShape shape(std::uint64_t crews, std::uint64_t balls) const;
    /// How a crew should look that has a thread for each ball. False where there is none.
    bool shape_holder(std::uint64_t balls, CrewShape& shape) const;
};

/// Launches a kernel with arguments as cudaLaunchKernelExC has them.
void launch_crews(const Queue& queue, const void* kernel, std::size_t crews, const CrewShape& shape, void** arguments);

template <class Body>
void send_crews(Queue& queue, DeviceArray<typename Body::Errand>& table, std::span<const typename Body::Errand> errands,
                std::uint64_t balls) {
    const auto* const kernel = reinterpret_cast<const void*>(crew_kernel<Body>);
    const CrewRoom& room = known_of_device([&] { return CrewRoom::of(kernel); });
    if (table.size() < errands.size()) table = DeviceArray<typename Body::Errand>(errands.size());
    queue.upload(errands.data(), table.data(), errands.size());
    const CrewShape shape = room.shape(errands.size(), balls);
    auto* first = table.data();
    unsigned blocks = shape.blocks;
    bool grid = shape.grid;
    void* arguments[] = {&first, &blocks, &grid};
    launch_crews(queue, kernel, errands.size(), shape, arguments);
}

template <class Body>
bool send_holder(Queue& queue, typename Body::Errand errand, typename Body::Params params, std::uint64_t balls) {
    const auto* const kernel = reinterpret_cast<const void*>(holder_kernel<Body>);
    const CrewRoom& room = known_of_device([&] { return CrewRoom::of(kernel, Body::kHeldBytes); });
    CrewShape shape;
    if (!room.shape_holder(balls, shape)) return false;
    void* arguments[] = {&errand, &params};
    launch_crews(queue, kernel, 1, shape, arguments);
    return true;
}

#endif

}  // namespace carom::CAROM_PROCESSOR
