#include "kernels/ranks/cut.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace carom {

int Cut::ranks() const {
    int product = 1;
    for (int axis = 0; axis < dimension; ++axis) product *= along(axis);
    return product;
}

std::array<int, 3> Cut::place(int rank) const {
    std::array<int, 3> result{};
    for (int axis = 0; axis < dimension; ++axis) {
        result[axis] = rank % along(axis);
        rank /= along(axis);
    }
    return result;
}

int Cut::owner(std::span<const std::int32_t> cell) const {
    int rank = 0;
    for (int axis = dimension - 1; axis >= 0; --axis) {
        const auto& of = faces[axis];
        const auto layer = std::upper_bound(of.begin(), of.end(), cell[axis]) - of.begin() - 1;
        rank = rank * along(axis) + static_cast<int>(layer);
    }
    return rank;
}

std::array<std::int32_t, 3> window_offset(const Cut& cut, int rank) {
    std::array<std::int32_t, 3> offset{};
    for (int axis = 0; axis < cut.dimension; ++axis) {
        if (cut.cuts(axis)) offset[axis] = 1 - cut.first(rank, axis);
    }
    return offset;
}

std::vector<Border> borders_of(const Cut& cut, std::span<const std::int32_t> cells, std::span<const bool> periodic,
                               int rank) {
    std::vector<Border> borders;
    constexpr int kShifts[] = {0, -1, 1};  // of the box, across its seams
    for (int peer = 0; peer < cut.ranks(); ++peer) {
        if (peer == rank) continue;
        const auto window = window_offset(cut, peer);
        for (int choice = 0; choice < 27; ++choice) {
            Border border{.peer = peer};
            bool exists = true;
            int rest = choice;
            for (int axis = 0; axis < cut.dimension; ++axis) {
                const int shift = kShifts[rest % 3] * cells[axis];
                if (shift != 0 && !(periodic[axis] && cut.cuts(axis))) exists = false;
                rest /= 3;
                border.first[axis] = cut.first(rank, axis);
                border.end[axis] = cut.end(rank, axis);
                border.offset[axis] = window[axis] + shift;
                if (!cut.cuts(axis)) continue;
                border.first[axis] = std::max(border.first[axis], cut.first(peer, axis) - 1 - shift);
                border.end[axis] = std::min(border.end[axis], cut.end(peer, axis) + 1 - shift);
                exists = exists && border.first[axis] < border.end[axis];
            }
            if (exists && rest == 0) borders.push_back(border);
        }
    }
    return borders;
}

std::vector<std::int32_t> balanced_faces(std::span<const std::uint64_t> weight, int layers) {
    const auto cells = static_cast<std::int32_t>(weight.size());
    const std::uint64_t all = std::accumulate(weight.begin(), weight.end(), std::uint64_t{0});
    std::vector<std::int32_t> faces{0};
    std::uint64_t below = 0;  // of the cells before `cell`
    std::int32_t cell = 0;
    for (int layer = 1; layer < layers; ++layer) {
        // Whole cells: to the nearer side of what would be its share, with a cell at least for each layer.
        const double share = static_cast<double>(all) * layer / layers;
        while (cell < cells && static_cast<double>(below) + 0.5 * static_cast<double>(weight[cell]) < share)
            below += weight[cell++];
        const std::int32_t at = std::clamp(cell, faces.back() + 1, cells - (layers - layer));
        for (; cell < at; ++cell) below += weight[cell];
        faces.push_back(at);
    }
    faces.push_back(cells);
    return faces;
}

std::array<int, 3> layers_per_axis(int ranks, int dimension, std::span<const std::int32_t> cells,
                                   std::span<const bool> periodic, const std::array<int, 3>& wanted) {
    std::array<int, 3> best{1, 1, 1};
    double least = std::numeric_limits<double>::infinity();
    int most = 1;
    std::array<int, 3> top{1, 1, 1};
    for (int axis = 0; axis < dimension; ++axis) {
        top[axis] = periodic[axis] && cells[axis] < 3 ? 1 : cells[axis];
        most = most > std::numeric_limits<int>::max() / top[axis] ? std::numeric_limits<int>::max() : most * top[axis];
    }
    const auto consider = [&](const std::array<int, 3>& layers) {
        double faces = 0.0;
        for (int axis = 0; axis < dimension; ++axis) {
            if (layers[axis] > top[axis] || (wanted[axis] > 0 && layers[axis] != wanted[axis])) return;
            double face = 1.0;
            for (int other = 0; other < dimension; ++other) face *= other == axis ? 1.0 : cells[other];
            const int cuts = layers[axis] == 1 ? 0 : layers[axis] - (periodic[axis] ? 0 : 1);
            faces += face * cuts;
            // Thin layers are more border than brick.
            if (layers[axis] > 1 && 2 * layers[axis] > cells[axis]) faces *= 4.0;
        }
        if (faces < least) {
            least = faces;
            best = layers;
        }
    };
    for (int x = 1; x <= ranks; ++x) {
        if (ranks % x != 0) continue;
        if (dimension == 2) {
            consider({x, ranks / x, 1});
            continue;
        }
        for (int y = 1; y <= ranks / x; ++y) {
            if (ranks / x % y == 0) consider({x, y, ranks / x / y});
        }
    }
    if (least < std::numeric_limits<double>::infinity()) return best;
    std::string grid;
    for (int axis = 0; axis < dimension; ++axis) grid += (axis == 0 ? "" : " x ") + std::to_string(cells[axis]);
    const bool free = wanted == std::array<int, 3>{};
    std::string layers;
    for (int axis = 0; axis < dimension; ++axis) layers += (axis == 0 ? "" : ",") + std::to_string(top[axis]);
    throw CannotShare(std::to_string(ranks) + " ranks cannot share the " + grid + " cells of this box" +
                      (!free           ? " in the layers asked for; at most " + layers + " can"
                       : most >= ranks ? "; another number of ranks may do"
                                       : "; at most " + std::to_string(most) + " can"));
}

}  // namespace carom
