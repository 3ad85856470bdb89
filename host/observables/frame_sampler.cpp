#include "host/observables/frame_sampler.hpp"

#include <algorithm>
#include <limits>

namespace carom {

FrameSampler::FrameSampler(const Frame& frame, const BallKinds& kinds) : dimension_(frame.dimension) {
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dimension_); ++axis) {
        balls_.position[axis] = frame.position[axis].data();
        balls_.velocity[axis] = frame.velocity[axis].data();
        balls_.image[axis] = frame.image[axis].data();
    }
    balls_.gone = frame.gone.data();
    balls_.species = kinds.species.data();
    balls_.mass = kinds.mass.data();
    balls_.count = frame.size();
}

double FrameSampler::sums(const BallSums& what, std::span<const std::uint8_t> chosen, std::span<std::int64_t> sums) {
    std::ranges::fill(sums, 0);
    return add_balls(what, balls_, chosen.data(), sums.data());
}

PairSample FrameSampler::pairs(const PairOrder& order, std::span<const std::uint8_t> references,
                               std::span<const std::uint8_t> others, std::span<std::int64_t> pairs) {
    std::ranges::fill(pairs, 0);
    const PairCells cells(order, balls_.count);
    PairSample sample;
    std::vector<std::uint32_t> ids;
    std::vector<std::uint32_t> cell_of;
    std::vector<std::uint32_t> start(cells.count() + 1);
    double inner_references = 0.0;
    for (std::uint64_t id = 0; id < balls_.count; ++id) {
        const bool other = balls_.has(id, others.data());
        const bool first = balls_.has(id, references.data());
        if (!other && !first) continue;
        const bool inside = order.inside(balls_, id);
        if (first && inside) inner_references += 1.0;
        if (!other) continue;
        if (inside) ++sample.others_inside;
        ids.push_back(static_cast<std::uint32_t>(id));
        cell_of.push_back(cells.cell_of(balls_, id));
        ++start[cell_of.back() + 1];
    }
    double squares = 0.0;
    for (std::size_t cell = 0; cell + 1 < start.size(); ++cell) {
        squares += static_cast<double>(start[cell + 1]) * start[cell + 1];
        start[cell + 1] += start[cell];
    }
    std::vector<std::uint32_t> next(start.begin(), start.end() - 1);
    std::vector<std::uint32_t> id_of_slot(ids.size());
    std::vector<double> position[3];
    SortedPlaces places{start.data(), id_of_slot.data(), {}};
    for (int axis = 0; axis < dimension_; ++axis) {
        position[axis].resize(ids.size());
        places.position[axis] = position[axis].data();
    }
    for (std::size_t k = 0; k < ids.size(); ++k) {
        const std::uint32_t slot = next[cell_of[k]]++;
        id_of_slot[slot] = ids[k];
        for (int axis = 0; axis < dimension_; ++axis) position[axis][slot] = balls_.position[axis][ids[k]];
    }
    sample.stride = cells.stride(order, squares, static_cast<double>(ids.size()), inner_references,
                                 static_cast<double>(balls_.count));
    const auto add = [to = pairs.data()](std::uint32_t bin) { ++to[bin]; };
    for (std::uint64_t id = 0; id < balls_.count; ++id) {
        if (!order.has_turn(id, sample.stride) || !balls_.has(id, references.data()) || !order.inside(balls_, id))
            continue;
        ++sample.references;
        Vec<double, 3> at{};
        for (int axis = 0; axis < dimension_; ++axis) at[axis] = balls_.position[axis][id];
        look_around(order, cells, places, at, static_cast<std::uint32_t>(id), add);
    }
    return sample;
}

void FrameSampler::follow(std::span<const std::uint32_t> ids, Followed what, std::span<const double> size,
                          std::span<double> values) {
    for (std::size_t axis = 0; axis < size.size(); ++axis) {
        for (std::size_t k = 0; k < ids.size(); ++k) {
            values[axis * ids.size() + k] = balls_.followed(ids[k], static_cast<int>(axis), what, size[axis]);
        }
    }
}

}  // namespace carom
