#include "host/state/balls.hpp"

#include <bit>

#include "host/state/hash.hpp"
#include "kernels/core/team.hpp"

namespace carom {

void BallColumns::resize(int dimension_, std::size_t count) {
    dimension = dimension_;
    gone.resize(count);
    for (int axis = 0; axis < dimension; ++axis) {
        position[axis].resize(count);
        velocity[axis].resize(count);
        image[axis].resize(count);
    }
    for (int axis = dimension == 2 ? 2 : 0; axis < 3; ++axis) spin[axis].resize(count);
}

namespace {

std::uint64_t absorb(std::uint64_t hash, double value) {
    return absorb_bits(hash, std::bit_cast<std::uint64_t>(value + 0.0));
}

}  // namespace

std::uint64_t state_hash(const Frame& frame) {
    std::uint64_t sum = 0;  // a sum of per-ball hashes that each contain the id: order does not matter
    const auto count = static_cast<std::int64_t>(frame.size());
    constexpr std::int64_t kWorthThreads = 10000;
    if (count > kWorthThreads) require_default_team();
#pragma omp parallel for reduction(+ : sum) schedule(static) if (count > kWorthThreads)
    for (std::int64_t id = 0; id < count; ++id) {
        if (frame.gone[id]) continue;
        std::uint64_t hash = mix_bits(static_cast<std::uint64_t>(id) + 1);
        for (int axis = 0; axis < frame.dimension; ++axis) hash = absorb(hash, frame.position[axis][id]);
        for (int axis = 0; axis < frame.dimension; ++axis) hash = absorb(hash, frame.velocity[axis][id]);
        for (int axis = frame.dimension == 2 ? 2 : 0; axis < 3; ++axis) hash = absorb(hash, frame.spin[axis][id]);
        sum += hash;
    }
    return mix_bits(sum + frame.size());
}

}  // namespace carom
