#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/spring_setup.hpp"

// Small systems made of plain arithmetic, so that they are the same on every machine, for tests of the spring engines.

namespace carom::test {

using Side = SpringSetup::Side;

/// Balls in id order with a setup, owned.
struct Gas {
    SpringSetup setup;
    std::uint64_t step = 0;
    SpringTallies tallies;
    std::array<std::vector<double>, 3> position, velocity;
    std::array<std::vector<std::int32_t>, 3> image;
    std::vector<std::uint8_t> gone;
    std::vector<double> radius, inverse_mass;

    [[nodiscard]] std::size_t size() const { return radius.size(); }
    void add(std::array<double, 3> at, std::array<double, 3> v, double r, double m_inverse);
    RawBalls raw();
};

/// A box from the origin with walls all around, stiffness 1e4, dt 1e-3 and no balls.
Gas empty_box(int dimension, std::array<double, 3> size);

/// Uniform in [-1, 1), a pure function of its arguments.
double scatter(std::uint64_t id, std::uint64_t purpose);

struct LatticeOptions {
    std::array<int, 3> counts{1, 1, 1};
    double spacing = 1.1;
    std::array<double, 3> corner{};  ///< of the first ball's square
    double largest_radius = 0.5;     ///< of mass 1 at 0.5; mass goes with radius^dimension
    bool mixed = false;              ///< radii from a tenth of the largest to the largest
    double speed = 1.0;              ///< largest velocity component
};

/// Balls on a square or cubic lattice with scattered velocities, behind those that are there.
void add_lattice(Gas& gas, const LatticeOptions& options);

/// A system that the tests of the engines run, by name.
struct Scenario {
    std::string name;
    std::uint64_t steps;
    std::function<Gas()> make;
};

/// Each law in 2D and 3D: walls, periodic and open sides, gravity, damping, polydisperse balls, shapes, infinite
/// masses, symplectic Euler, narrow and wide boxes.
const std::vector<Scenario>& scenarios();
const Scenario& scenario(const std::string& name);

}  // namespace carom::test
