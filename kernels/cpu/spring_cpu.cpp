#include "kernels/cpu/spring_cpu.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <thread>

#include "kernels/cpu/cpu_engine.hpp"
#include "kernels/cpu/pairs.hpp"
#include "kernels/physics/pair_distribution.hpp"
#include "kernels/ranks/brick_parts.hpp"
#include "kernels/ranks/cut.hpp"

namespace carom {

std::unique_ptr<SpringEngine> make_cpu_engine(const SpringSetup& setup, const RawBalls& balls, std::uint64_t step,
                                              const Tallies& tallies) {
    if (setup.double_precision) {
        return setup.dimension == 2 ? make_cpu_engine_of<double, 2>(setup, balls, step, tallies)
                                    : make_cpu_engine_of<double, 3>(setup, balls, step, tallies);
    }
    return setup.dimension == 2 ? make_cpu_engine_of<float, 2>(setup, balls, step, tallies)
                                : make_cpu_engine_of<float, 3>(setup, balls, step, tallies);
}

std::unique_ptr<BrickEngine> make_cpu_brick(Transport& transport, const SpringSetup* setup, const RawBalls* balls,
                                            std::uint64_t step, const std::array<int, 3>& wanted) {
    const BrickKind kind = BrickKind::agree(transport, setup, wanted);
    const std::array<int, 3>& layers = kind.layers;
    if (kind.double_precision) {
        return kind.dimension == 2 ? make_cpu_brick_of<double, 2>(transport, setup, balls, step, layers)
                                   : make_cpu_brick_of<double, 3>(transport, setup, balls, step, layers);
    }
    return kind.dimension == 2 ? make_cpu_brick_of<float, 2>(transport, setup, balls, step, layers)
                               : make_cpu_brick_of<float, 3>(transport, setup, balls, step, layers);
}

namespace {

/// Candidates of a ball: balls whose centres lie within reach of its own at the density of the box. For widely
/// different sizes this counts as if all had the mean volume.
double mean_candidates(const SpringSetup& setup, const BallSizes& sizes, double packing_fraction) {
    if (sizes.count < 2) return 0.0;
    const double reach = 2.0 * sizes.largest_radius + choose_margin(setup, 2.0 * sizes.largest_radius, sizes.fastest);
    const double r = std::sqrt(sizes.largest_radius * sizes.smallest_radius);
    const double per_volume = packing_fraction / ball_volume(setup.dimension, r);
    return std::min(per_volume * ball_volume(setup.dimension, reach), static_cast<double>(sizes.count));
}

template <class Real, int Dim>
double cells_of(const SpringSetup& setup, const BallSizes& sizes) {
    return static_cast<double>(make_params<Real, Dim>(setup, sizes).grid.count());
}

/// How the box would be cut, and how many cells the largest window and its brick have.
struct EvenCut {
    std::array<int, 3> layers{1, 1, 1};
    double window = 1.0;
    double brick = 1.0;
};

template <class Real, int Dim>
EvenCut cut_evenly(const SpringSetup& setup, const BallSizes& sizes, int ranks, const std::array<int, 3>& wanted) {
    const Grid<Dim> grid = make_params<Real, Dim>(setup, sizes).grid;
    EvenCut cut;
    cut.layers = layers_per_axis(ranks, Dim, std::span(&grid.cells[0], Dim), std::span(&grid.periodic[0], Dim), wanted);
    for (int axis = 0; axis < Dim; ++axis) {
        const int layers = cut.layers[axis];
        const double thickest = std::ceil(static_cast<double>(grid.cells[axis]) / layers);
        cut.brick *= thickest;
        cut.window *= thickest + (layers > 1 ? 2.0 : 0.0);
    }
    return cut;
}

}  // namespace

std::uint64_t predict_cpu_memory(const SpringSetup& setup, const BallSizes& sizes, double packing_fraction) {
    const double dimension = setup.dimension;
    const double real = setup.double_precision ? 8.0 : 4.0;
    const double index = sizeof(std::uint32_t);
    const double count = static_cast<double>(sizes.count);

    const double state = 2.0 * dimension * 2.0 * real;                       // positions and velocities, two buffers
    const double bookkeeping = 4.0 * index + (dimension + 1.0) * 4.0 + 1.0;  // id, cell, order, scratch; images; gone
    const double shapes = sizes.uniform ? 0.0 : 3.0 * real;                  // radius, inverse mass, scratch
    const double candidates = mean_candidates(setup, sizes, packing_fraction);
    // Each pair once, and half a row of eight wasted at the end of each block.
    const double rows = 0.5 * candidates / kLanes + 0.5 * static_cast<double>(kLanes - 1) / kLanes / kLanes;
    const double lists = sizeof(PairLists::Block) / static_cast<double>(kLanes) + rows * kLanes * (index + 1.0);
    // A tile, and the pairs that are near enough to be looked at in each step: well under a quarter of all.
    const double near = sizeof(NearPairs::Tile) / static_cast<double>(kTile) + 0.25 * 0.5 * candidates * 2.0 * index;

    const double cells = setup.dimension == 2 ? cells_of<float, 2>(setup, sizes) : cells_of<float, 3>(setup, sizes);
    const double threads = setup.threads > 0 ? setup.threads : std::max(1U, std::thread::hardware_concurrency());
    const double parts = std::max(1.0, std::min(threads, 1.0 + 2.0 * count / (cells + 1.0)));
    const double total =
        count * (state + bookkeeping + shapes + lists + near) + cells * index * (1.0 + std::floor(parts));
    return static_cast<std::uint64_t>(total);
}

BrickForecast predict_brick_memory(const SpringSetup& setup, const BallSizes& sizes, double packing_fraction, int ranks,
                                   const std::array<int, 3>& layers) {
    const bool twice = setup.double_precision;
    const EvenCut cut = setup.dimension == 2 ? (twice ? cut_evenly<double, 2>(setup, sizes, ranks, layers)
                                                      : cut_evenly<float, 2>(setup, sizes, ranks, layers))
                                             : (twice ? cut_evenly<double, 3>(setup, sizes, ranks, layers)
                                                      : cut_evenly<float, 3>(setup, sizes, ranks, layers));
    const double cells = setup.dimension == 2 ? cells_of<float, 2>(setup, sizes) : cells_of<float, 3>(setup, sizes);
    const double count = static_cast<double>(sizes.count);
    const double own = count * std::min(1.0, cut.brick / cells);
    const double all = static_cast<double>(predict_cpu_memory(setup, sizes, packing_fraction));
    // Beside its share of what one process holds: where its balls were, to go back to; a frame of them, and their
    // order by ids; and, what the system hardly gets back, the records by which it got them, and a copy of these.
    const double real = twice ? 8.0 : 4.0;
    const double record = setup.dimension * (2.0 * real + 4.0) + 2.0 * real + 8.0;
    const double kept = 2.0 * setup.dimension * real + sizeof(FrameBall) + sizeof(std::uint64_t) + 2.0 * record;
    return {cut.layers, static_cast<std::uint64_t>(all * std::min(1.0, cut.window / cells) + own * kept)};
}

}  // namespace carom
