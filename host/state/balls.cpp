#include "host/state/balls.hpp"

#include <algorithm>
#include <bit>

#include "host/state/hash.hpp"
#include "kernels/core/team.hpp"

namespace carom {

SpeciesById::SpeciesById(const std::vector<std::uint32_t>& rows) {
    for (const std::uint32_t row : rows) append(row);
}

void SpeciesById::append(std::uint32_t row, std::size_t count) {
    if (count == 0) return;
    size_ += count;
    if (!each_.empty()) {
        each_.insert(each_.end(), count, row);
        return;
    }
    if (!stretches_.empty() && stretches_.back().row == row) {
        stretches_.back().end = size_;
        return;
    }
    stretches_.push_back({size_, row});
    constexpr std::size_t kFew = 64;
    if (stretches_.size() <= kFew || stretches_.size() * sizeof(Stretch) <= size_ * sizeof(std::uint32_t)) return;
    each_ = rows();
    stretches_ = {};
}

std::uint32_t SpeciesById::in_stretches(std::size_t id) const {
    return std::ranges::upper_bound(stretches_, id, {}, &Stretch::end)->row;
}

std::vector<std::uint32_t> SpeciesById::rows() const {
    std::vector<std::uint32_t> each(size_);
    copy(0, each);
    return each;
}

void SpeciesById::copy(std::size_t first, std::span<std::uint32_t> to) const {
    if (!each_.empty()) {
        std::copy_n(each_.begin() + static_cast<std::ptrdiff_t>(first), to.size(), to.begin());
        return;
    }
    auto one = std::ranges::upper_bound(stretches_, first, {}, &Stretch::end);
    for (std::size_t at = 0; at < to.size(); ++one) {
        const std::size_t count = std::min(to.size() - at, one->end - first - at);
        std::fill_n(to.begin() + static_cast<std::ptrdiff_t>(at), count, one->row);
        at += count;
    }
}

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
    StateHash hash;
    hash.add(frame);
    return hash.value();
}

std::uint64_t StateHash::value() const { return mix_bits(sum_ + balls_); }

void StateHash::add(const Frame& frame) {
    std::uint64_t sum = 0;  // a sum of per-ball hashes that each contain the id: order does not matter
    const auto count = static_cast<std::int64_t>(frame.size());
    constexpr std::int64_t kWorthThreads = 10000;
    if (count > kWorthThreads) require_default_team();
#pragma omp parallel for reduction(+ : sum) schedule(static) if (count > kWorthThreads)
    for (std::int64_t id = 0; id < count; ++id) {
        if (frame.gone[id]) continue;
        std::uint64_t hash = mix_bits(frame.first + static_cast<std::uint64_t>(id) + 1);
        for (int axis = 0; axis < frame.dimension; ++axis) hash = absorb(hash, frame.position[axis][id]);
        for (int axis = 0; axis < frame.dimension; ++axis) hash = absorb(hash, frame.velocity[axis][id]);
        for (int axis = frame.dimension == 2 ? 2 : 0; axis < 3; ++axis) hash = absorb(hash, frame.spin[axis][id]);
        sum += hash;
    }
    sum_ += sum;
    balls_ += frame.size();
}

}  // namespace carom
