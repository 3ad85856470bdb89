#include "host/scene/insertion.hpp"

#include <algorithm>

namespace carom {
namespace {

constexpr std::uint64_t kTriesPerBall = 200;  // on average about 10 at 0.45 in 2D
constexpr std::uint64_t kTriesAtLeast = 20000;
constexpr std::uint64_t kSmallestBatch = 1024;  // tries
constexpr std::uint64_t kLargestBatch = 1 << 20;

}  // namespace

template <int Dim>
bool insert_randomly(Space<Dim>& space, std::uint64_t count, std::uint64_t seed, std::uint64_t stream) {
    const std::uint64_t most = std::max(kTriesAtLeast, kTriesPerBall * count);
    Point<Dim> first;
    Point<Dim> span;
    for (int axis = 0; axis < Dim; ++axis) {
        first[axis] = space.first_center(axis);
        span[axis] = space.last_center(axis) - first[axis];
        if (span[axis] < 0.0) span[axis] = 0.0;
    }
    // The tries come in batches, tile by tile, so that memory stays near at hand; no batch is larger than what is still
    // to be placed, so that the end of the last one leaves no tile behind the others.
    // What the balls already there rule out is found by all threads at once; the few that are left go one by one, in
    // the same order, so that threads change nothing.
    std::vector<Point<Dim>> tries;
    std::vector<Point<Dim>> sorted;
    std::vector<std::uint32_t> tile;
    std::vector<std::uint32_t> next;
    std::vector<std::uint8_t> hopeful;
    for (std::uint64_t drawn = 0; space.size() < count;) {
        if (drawn >= most) return false;
        const std::uint64_t batch = std::clamp<std::uint64_t>(count - space.size(), kSmallestBatch, kLargestBatch);
        tries.resize(batch);
        sorted.resize(batch);
        tile.resize(batch);
        hopeful.resize(batch);
        const auto end = static_cast<std::int64_t>(batch);
        next.assign(space.tiles() + 1, 0);
#pragma omp parallel for schedule(static) if (batch > kSmallestBatch)
        for (std::int64_t k = 0; k < end; ++k) {
            const auto at = static_cast<std::uint64_t>(k);
            const RandomWords words = random_words(seed, stream, RandomPurpose::kInsertion, drawn + at);
            const Point<Dim> unit = uniform_point<Dim>(words);
            for (int axis = 0; axis < Dim; ++axis) tries[at][axis] = first[axis] + unit[axis] * span[axis];
            tile[at] = static_cast<std::uint32_t>(space.tile_of(tries[at]));
        }
        drawn += batch;
        for (std::uint64_t at = 0; at < batch; ++at) ++next[tile[at] + 1];
        for (std::size_t at = 1; at < next.size(); ++at) next[at] += next[at - 1];
        for (std::uint64_t at = 0; at < batch; ++at) sorted[next[tile[at]]++] = tries[at];
#pragma omp parallel for schedule(dynamic, 256) if (batch > kSmallestBatch)
        for (std::int64_t k = 0; k < end; ++k) {
            hopeful[static_cast<std::size_t>(k)] = space.free(sorted[static_cast<std::size_t>(k)]);
        }
        for (std::uint64_t at = 0; at < batch; ++at) {
            if (!hopeful[at] || !space.free(sorted[at])) continue;
            space.insert(sorted[at]);
            if (space.size() == count) return true;
        }
    }
    return true;
}

template bool insert_randomly<2>(Space<2>&, std::uint64_t, std::uint64_t, std::uint64_t);
template bool insert_randomly<3>(Space<3>&, std::uint64_t, std::uint64_t, std::uint64_t);

}  // namespace carom
