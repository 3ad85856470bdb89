#include "host/viewer/overlaps.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace carom {

namespace {

/// Balls by cells that are no smaller than the largest diameter, so that partners are in neighbouring ones.
class Cells {
public:
    Cells(const Scene& scene, const Balls& balls, const Frame& frame) : box_(scene.box), balls_(balls), frame_(frame) {
        double largest = 0.0;
        for (std::size_t id = 0; id < frame.size(); ++id) {
            if (present(id)) largest = std::max(largest, balls.species_of(id).radius);
        }
        // No more cells than balls, however large the box.
        const double most = std::max(1.0, std::pow(static_cast<double>(frame.size()), 1.0 / box_.dimension));
        for (int axis = 0; axis < box_.dimension; ++axis) {
            const double fit = largest > 0.0 ? std::floor(box_.size[axis] / (2.0 * largest)) : 1.0;
            count_[axis] = static_cast<std::int64_t>(std::clamp(fit, 1.0, std::ceil(most)));
        }
        start_.assign(static_cast<std::size_t>(count_[0] * count_[1] * count_[2]) + 1, 0);
        for (std::size_t id = 0; id < frame.size(); ++id) {
            if (present(id)) ++start_[cell_of(id) + 1];
        }
        std::partial_sum(start_.begin(), start_.end(), start_.begin());
        sorted_.resize(start_.back());
        auto next = start_;
        for (std::size_t id = 0; id < frame.size(); ++id) {
            if (present(id)) sorted_[next[cell_of(id)]++] = id;
        }
    }

    [[nodiscard]] bool present(std::size_t id) const {
        if (frame_.gone[id] != 0) return false;
        for (int axis = 0; axis < frame_.dimension; ++axis) {
            if (!std::isfinite(frame_.position[axis][id])) return false;
        }
        return true;
    }

    /// Calls `meet` with each ball of the cells around that of ball `id`.
    template <class Meet>
    void around(std::size_t id, const Meet& meet) const {
        std::array<std::array<std::int64_t, 3>, 3> near{};
        std::array<int, 3> found{1, 1, 1};
        for (int axis = 0; axis < box_.dimension; ++axis) {
            found[axis] = 0;
            const std::int64_t at = index(id, axis);
            for (std::int64_t cell = at - 1; cell <= at + 1; ++cell) {
                std::int64_t inside = cell;
                if (box_.periodic(axis)) inside = (cell + count_[axis]) % count_[axis];
                if (inside < 0 || inside >= count_[axis]) continue;
                const auto end = near[axis].begin() + found[axis];
                if (std::find(near[axis].begin(), end, inside) == end) near[axis][found[axis]++] = inside;
            }
        }
        for (int z = 0; z < found[2]; ++z) {
            for (int y = 0; y < found[1]; ++y) {
                for (int x = 0; x < found[0]; ++x) {
                    const auto cell =
                        static_cast<std::size_t>((near[2][z] * count_[1] + near[1][y]) * count_[0] + near[0][x]);
                    for (std::size_t k = start_[cell]; k < start_[cell + 1]; ++k) meet(sorted_[k]);
                }
            }
        }
    }

private:
    [[nodiscard]] std::int64_t index(std::size_t id, int axis) const {
        const double share = (frame_.position[axis][id] - box_.min[axis]) / box_.size[axis];
        const double at = std::floor(share * static_cast<double>(count_[axis]));
        return static_cast<std::int64_t>(std::clamp(at, 0.0, static_cast<double>(count_[axis] - 1)));
    }
    [[nodiscard]] std::size_t cell_of(std::size_t id) const {
        std::int64_t cell = 0;
        for (int axis = box_.dimension - 1; axis >= 0; --axis) cell = cell * count_[axis] + index(id, axis);
        return static_cast<std::size_t>(cell);
    }

    const Box& box_;
    const Balls& balls_;
    const Frame& frame_;
    std::array<std::int64_t, 3> count_{1, 1, 1};
    std::vector<std::size_t> start_;
    std::vector<std::size_t> sorted_;
};

/// How far two balls overlap, the nearest way around periodic faces; negative: a gap [length].
double overlap_of(const Scene& scene, const Balls& balls, const Frame& frame, std::size_t i, std::size_t j) {
    double squared = 0.0;
    for (int axis = 0; axis < frame.dimension; ++axis) {
        double apart = frame.position[axis][j] - frame.position[axis][i];
        if (scene.box.periodic(axis)) apart = std::remainder(apart, scene.box.size[axis]);
        squared += apart * apart;
    }
    return balls.species_of(i).radius + balls.species_of(j).radius - std::sqrt(squared);
}

}  // namespace

void deepest_overlaps(const Scene& scene, const Balls& balls, const Frame& frame, std::vector<float>& overlaps) {
    const Cells cells(scene, balls, frame);
    overlaps.assign(frame.size(), 0.0f);
    for (std::size_t i = 0; i < frame.size(); ++i) {
        if (!cells.present(i)) continue;
        const double r_i = balls.species_of(i).radius;
        cells.around(i, [&](std::size_t j) {
            if (j <= i) return;
            const double overlap = overlap_of(scene, balls, frame, i, j);
            if (overlap <= 0.0) return;
            const auto depth = static_cast<float>(overlap / std::min(r_i, balls.species_of(j).radius));
            overlaps[i] = std::max(overlaps[i], depth);
            overlaps[j] = std::max(overlaps[j], depth);
        });
    }
}

std::vector<std::size_t> partners_of(const Scene& scene, const Balls& balls, const Frame& frame, std::size_t id) {
    std::vector<std::size_t> partners;
    if (id >= frame.size() || frame.gone[id] != 0) return partners;
    for (std::size_t other = 0; other < frame.size(); ++other) {
        if (other == id || frame.gone[other] != 0) continue;
        if (overlap_of(scene, balls, frame, id, other) >= 0.0) partners.push_back(other);
    }
    return partners;
}

}  // namespace carom
