#include "kernels/cpu/spring_cpu.hpp"

#include <cmath>
#include <thread>

#include "kernels/cpu/cpu_engine.hpp"
#include "kernels/cpu/pairs.hpp"
#include "kernels/physics/pair_distribution.hpp"

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
    struct {
        int dimension = 0;
        bool double_precision = false;
        std::array<int, 3> layers{};
    } kind;
    if (setup != nullptr) kind = {setup->dimension, setup->double_precision, wanted};
    transport.broadcast_value(kind);
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

}  // namespace carom
