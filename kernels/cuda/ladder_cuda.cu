#include <thrust/sort.h>

#include <cstdint>
#include <memory>

#include "kernels/cuda/queue.hpp"
#include "kernels/cuda/spring_cuda.hpp"
#include "kernels/ladder/rungs.hpp"

namespace carom::CAROM_PROCESSOR {

/// The executor of the bench's ladder (kernels/ladder) on this processor: a queue, and Thrust's sort.
class LadderExecutor {
public:
    template <class T>
    using Array = DeviceArray<T>;

    LadderExecutor() : queue_(std::make_unique<Queue>()), scratch_(std::make_unique<Scratch>()) {}

    template <class Body>
    void launch(std::uint64_t n, const Body& body) {
        queue_->launch(n, body);
    }
    template <class Body>
    void launch_lanes(std::uint64_t n, const Body& body) {
        queue_->launch(n, body);
    }
    void sort_pairs(std::uint32_t* key, std::uint32_t* value, std::size_t count, int bits);
    /// CUB sorts 32-bit keys by 8 bits a pass, whatever the keys; every pass reads and writes both, and one more reads
    /// the keys.
    [[nodiscard]] static double sort_bytes(std::size_t count, int) {
        return static_cast<double>(count) * sizeof(std::uint32_t) * (4 * 4 + 1);
    }
    void copy(const CopyWord* from, CopyWord* to, std::size_t words) { queue_->launch(words, CopyBody{from, to}); }

    template <class T>
    void upload(const T* from, T* to, std::size_t count) {
        queue_->upload(from, to, count);
    }
    template <class T>
    void download(const T* from, T* to, std::size_t count) {
        queue_->download(from, to, count);
    }
    void wait() const { queue_->wait(); }
    [[nodiscard]] std::uint64_t scratch_bytes() const { return scratch_->bytes(); }

private:
    std::unique_ptr<Queue> queue_;
    std::unique_ptr<Scratch> scratch_;
};

// In a source of its own, as the other sort: Thrust's kernels take long to compile.

void LadderExecutor::sort_pairs(std::uint32_t* key, std::uint32_t* value, std::size_t count, int) {
    thrust::sort_by_key(algorithms_in(*queue_, *scratch_), key, key + count, value);
}

}  // namespace carom::CAROM_PROCESSOR

namespace carom {

#if defined(CAROM_EMULATED)

std::unique_ptr<LadderEngine> make_emulated_ladder(LadderRung rung, const SpringSetup& setup, const RawBalls& balls) {
    return make_ladder_over<emulated::LadderExecutor>(rung, setup, balls);
}
std::unique_ptr<LadderEngine> make_emulated_copy(std::size_t bytes) {
    return std::make_unique<CopyRung<emulated::LadderExecutor>>(emulated::LadderExecutor(), bytes);
}

#else

std::unique_ptr<LadderEngine> make_cuda_ladder(LadderRung rung, const SpringSetup& setup, const RawBalls& balls) {
    return make_ladder_over<cuda::LadderExecutor>(rung, setup, balls);
}
std::unique_ptr<LadderEngine> make_cuda_copy(std::size_t bytes) {
    return std::make_unique<CopyRung<cuda::LadderExecutor>>(cuda::LadderExecutor(), bytes);
}

#endif

}  // namespace carom
