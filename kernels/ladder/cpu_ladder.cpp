#include <cmath>
#include <utility>

#include "kernels/ladder/cpu_executor.hpp"
#include "kernels/ladder/make_ladder.hpp"

namespace carom {

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
