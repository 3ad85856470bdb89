#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/ladder/rungs.hpp"

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

namespace {

constexpr int kDigitBits = 11;  // 2048 places of 8 bytes fit the first-level cache
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;

int passes_of(int bits) { return (bits + kDigitBits - 1) / kDigitBits; }

}  // namespace

void CpuExecutor::sort_pairs(std::uint32_t* key, std::uint32_t* value, std::size_t count, int bits) {
    if (key_.bytes() < count * sizeof(std::uint32_t)) {
        key_ = Array<std::uint32_t>(count);
        value_ = Array<std::uint32_t>(count);
    }
    starts_.resize(static_cast<std::size_t>(threads_) * kDigits);
    std::uint32_t* from_key = key;
    std::uint32_t* from_value = value;
    std::uint32_t* to_key = key_.data();
    std::uint32_t* to_value = value_.data();
    for (int pass = 0; pass < passes_of(bits); ++pass) {
        const int shift = pass * kDigitBits;
        const auto digit = [shift](std::uint32_t k) { return k >> shift & (kDigits - 1); };
#pragma omp parallel num_threads(team(count))
        {
            const auto [first, last] = share(count);
#if defined(_OPENMP)
            const auto thread = static_cast<std::size_t>(omp_get_thread_num());
            const auto threads = static_cast<std::size_t>(omp_get_num_threads());
#else
            const std::size_t thread = 0;
            const std::size_t threads = 1;
#endif
            std::size_t* const mine = starts_.data() + thread * kDigits;
            std::fill_n(mine, kDigits, std::size_t{0});
            for (std::size_t i = first; i < last; ++i) ++mine[digit(from_key[i])];
#pragma omp barrier
#pragma omp single
            {
                std::size_t sum = 0;
                for (std::size_t d = 0; d < kDigits; ++d) {
                    for (std::size_t t = 0; t < threads; ++t) {
                        sum += std::exchange(starts_[t * kDigits + d], sum);
                    }
                }
            }
            for (std::size_t i = first; i < last; ++i) {
                const std::size_t place = mine[digit(from_key[i])]++;
                to_key[place] = from_key[i];
                to_value[place] = from_value[i];
            }
        }
        std::swap(from_key, to_key);
        std::swap(from_value, to_value);
    }
    if (from_key != key) {
        upload(from_key, key, count);
        upload(from_value, value, count);
    }
}

double CpuExecutor::sort_bytes(std::size_t count, int bits) {
    const int passes = passes_of(bits);
    // A pass reads the keys twice and the values once, and writes both; an odd number of passes ends in a copy.
    return static_cast<double>(count) * sizeof(std::uint32_t) * (5.0 * passes + (passes % 2 == 1 ? 4.0 : 0.0));
}

const char* ladder_refusal(const SpringSetup& setup, const RawBalls& balls) {
    if (balls.count == 0) return "there is no ball";
    if (balls.count >= 0xffffffffU) return "there are 2^32 - 1 balls or more";
    if (setup.damped() || setup.distance_epsilon != 0.0) return "contacts are damped";
    if (!setup.walls.empty()) return "there are walls beside the faces of the box";
    double cells = 1.0;
    for (int axis = 0; axis < setup.dimension; ++axis) {
        for (const SpringSetup::Side side : setup.sides[axis]) {
            if (side != SpringSetup::Side::kWall) return "a face of the box is not a wall";
        }
        if (setup.gravity[axis] != 0.0) return "there is gravity";
        cells *= std::max(1.0, std::floor(setup.box_size[axis] / (2.0 * balls.radius[0])));
    }
    if (cells >= 0xffffffffU) return "the box has 2^32 - 1 cells or more";
    for (std::size_t id = 0; id < balls.count; ++id) {
        if (balls.radius[id] != balls.radius[0] || balls.inverse_mass[id] != balls.inverse_mass[0]) {
            return "balls differ in radius or mass";
        }
    }
    return balls.inverse_mass[0] > 0.0 ? "" : "balls have infinite mass";
}

std::unique_ptr<LadderEngine> make_cpu_ladder(LadderRung rung, const SpringSetup& setup, const RawBalls& balls) {
    return make_ladder_over<CpuExecutor>(rung, setup, balls, setup.threads);
}

std::unique_ptr<LadderEngine> make_cpu_copy(std::size_t bytes, int threads) {
    return std::make_unique<CopyRung<CpuExecutor>>(CpuExecutor(threads), bytes);
}

}  // namespace carom
