#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include "kernels/ladder/copy.hpp"

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace carom {

/// The ladder's executor on the CPU: OpenMP loops, and a radix sort.
class CpuExecutor {
public:
    /// Contents are not set, so that the thread that first writes a page has it near.
    template <class T>
    class Array {
        static_assert(std::is_trivially_copyable_v<T>);

    public:
        Array() = default;
        explicit Array(std::size_t size) : data_(new (std::align_val_t{64}) T[size > 0 ? size : 1]), size_(size) {}
        [[nodiscard]] T* data() const { return data_.get(); }
        [[nodiscard]] std::size_t bytes() const { return size_ * sizeof(T); }

    private:
        struct Free {
            void operator()(T* place) const { operator delete[](place, std::align_val_t{64}); }
        };
        std::unique_ptr<T[], Free> data_;
        std::size_t size_ = 0;
    };

    /// \param threads  0: all
    explicit CpuExecutor(int threads) : threads_(threads) {
#if defined(_OPENMP)
        if (threads_ == 0) threads_ = omp_get_max_threads();
#else
        threads_ = 1;
#endif
    }

    template <class Body>
    void launch(std::uint64_t n, const Body& body) const {
#pragma omp parallel num_threads(team(n))
        {
            const Body own = body;  // no store of another thread, or through a pointer, can change it
#pragma omp for schedule(static)
            for (std::uint64_t i = 0; i < n; ++i) own(i);
        }
    }

    /// As launch(), for a body that touches nothing but what belongs to its index: several at once in SIMD lanes.
    /// body.shifted(k)(i) does what body(k + i) does; without it the compiler would not use its lanes.
    template <class Body>
    void launch_lanes(std::uint64_t n, const Body& body) const {
        constexpr std::uint64_t kBlock = 32;
        const std::uint64_t blocks = n / kBlock;
#pragma omp parallel for num_threads(team(n)) schedule(static)
        for (std::uint64_t block = 0; block < blocks; ++block) {
            const Body own = body.shifted(block * kBlock);
#pragma GCC ivdep
            for (std::uint32_t lane = 0; lane < kBlock; ++lane) own(lane);
        }
        for (std::uint64_t i = blocks * kBlock; i < n; ++i) body(i);
    }

    /// Sorts pairs by the low `bits` of their keys, stably.
    void sort_pairs(std::uint32_t* key, std::uint32_t* value, std::size_t count, int bits);
    /// What such a sort reads and writes [bytes].
    [[nodiscard]] static double sort_bytes(std::size_t count, int bits);

    void copy(const CopyWord* from, CopyWord* to, std::size_t words) const {
#pragma omp parallel num_threads(team(words))
        {
            const auto [first, last] = share(words);
            std::memcpy(to + first, from + first, (last - first) * sizeof(CopyWord));  // past the cache where large
        }
    }

    template <class T>
    void upload(const T* from, T* to, std::size_t count) const {
#pragma omp parallel num_threads(team(count))
        {
            const auto [first, last] = share(count);
            std::memcpy(to + first, from + first, (last - first) * sizeof(T));
        }
    }
    template <class T>
    void download(const T* from, T* to, std::size_t count) const {
        upload(from, to, count);
    }
    void wait() const {}

    [[nodiscard]] std::uint64_t scratch_bytes() const {
        return 2 * key_.bytes() + starts_.size() * sizeof(std::size_t);
    }

private:
    /// Threads for n elements: waking one takes as long as a thousand of them.
    [[nodiscard]] int team(std::uint64_t n) const {
        constexpr std::uint64_t kLeastShare = 2048;
        return static_cast<int>(std::clamp<std::uint64_t>(n / kLeastShare, 1, static_cast<std::uint64_t>(threads_)));
    }

    struct Share {
        std::size_t first, last;
    };

    /// Of this thread, in a parallel region.
    static Share share(std::size_t count) {
#if defined(_OPENMP)
        const auto thread = static_cast<std::size_t>(omp_get_thread_num());
        const auto threads = static_cast<std::size_t>(omp_get_num_threads());
        return {count * thread / threads, count * (thread + 1) / threads};
#else
        return {0, count};
#endif
    }

    int threads_;
    Array<std::uint32_t> key_, value_;  // the sort's other buffer
    std::vector<std::size_t> starts_;   // by thread and digit
};

}  // namespace carom
