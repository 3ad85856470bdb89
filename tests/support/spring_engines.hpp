#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "host/ranks/ranked_engine.hpp"
#include "kernels/spring_engine.hpp"
#include "kernels/spring_setup.hpp"

namespace carom {
struct PreparedScene;
class Solver;
class EnginePack;
}  // namespace carom

namespace carom::test {

/// By what runs are shortened where a sanitizer looks on: what it finds it finds early.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kShorter = 5;
#else
constexpr std::uint64_t kShorter = 1;
#endif

using Side = SpringSetup::Side;

/// Balls in id order with a setup, owned.
struct Gas {
    SpringSetup setup;
    std::uint64_t step = 0;
    Tallies tallies;
    std::array<std::vector<double>, 3> position, velocity;
    std::array<std::vector<std::int32_t>, 3> image;
    std::vector<std::uint8_t> gone;
    std::vector<double> radius, inverse_mass;

    [[nodiscard]] std::size_t size() const { return radius.size(); }
    void add(std::array<double, 3> at, std::array<double, 3> v, double r, double m_inverse);
    [[nodiscard]] RawBalls raw() const;
    BallArrays arrays();
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

/// A way to run the spring engine.
struct Processor {
    /// "cpu1", "cpu2", "cpu3", "ranks", "ranks8", "emulated", "emulated_launches" (each step of its own,
    /// in 3D with one for balls at faces), "emulated_ranks", "cuda"
    std::string name;
    int threads = 1;  ///< of the CPU
};

/// GoogleTest prints parameters so.
inline void PrintTo(const Processor& processor, std::ostream* out) { *out << processor.name; }

/// All that a test runs over. Whether one can be used here is another question: see require().
std::vector<Processor> processors();

/// Empty where the processor can be used, else why not.
std::string missing(const Processor& processor);

/// Leaves the test as skipped where the processor is missing, or, with CAROM_REQUIRE_GPU=1, as failed.
#define CAROM_REQUIRE(processor)                                                   \
    if (const std::string why = ::carom::test::missing(processor); !why.empty()) { \
        if (::carom::test::gpu_required(processor)) FAIL() << why;                 \
        GTEST_SKIP() << why;                                                       \
    }
bool gpu_required(const Processor& processor);

/// \param pack  whose launches a GPU's engine shares
std::unique_ptr<SpringEngine> make_engine(const Processor& processor, Gas& gas,
                                          const std::shared_ptr<EnginePack>& pack = nullptr);
/// What makes bricks of the processors called by ranks; of others empty.
BrickMaker brick_maker(const Processor& processor);

/// The solver of a prepared scene: on "cpu1" as the program has it; that of springs, without stages, on any other too.
std::unique_ptr<Solver> make_solver_on(const Processor& processor, const PreparedScene& run);

/// Everything that one can see of an engine.
struct Seen {
    Gas raw;    ///< as store() gives it, ready to start from
    Gas frame;  ///< as request_frame() gives it
    Totals totals;
    Tallies tallies;
    bool sorts_at_need = true;  ///< not before: ranks agree on it some steps ahead, and so sort more often
};

Seen look(SpringEngine& engine, const Gas& start);

/// Runs a gas and looks at it; a fault is a failure of the test.
Seen run(const Processor& processor, Gas gas, std::uint64_t steps);

/// Whether two sets of balls are equal to the last bit; says where they first differ.
testing::AssertionResult same_balls(const std::string& what, const Gas& expected, const Gas& actual);

/// As same_balls, for everything that one can see.
testing::AssertionResult same_bits(const Seen& expected, const Seen& actual);

/// FNV-1a (64 bits) over positions, velocities, images and gone flags of all balls, in id order.
std::uint64_t hash_state(const Gas& gas);

}  // namespace carom::test
