// Prints hashes of what the shared functions compute. Built by several compilers at several levels of optimisation
// (tests/CMakeLists.txt), whose outputs compare.py holds against each other and against a committed one.
//
// The trajectories come from a simulation as plain as can be: all pairs, one thread, no lists. So they are also a
// second opinion on the processors in kernels/.

#include <bit>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "kernels/core/random.hpp"
#include "kernels/core/transcendental.hpp"
#include "kernels/params_from_setup.hpp"
#include "kernels/physics/restitution.hpp"
#include "kernels/spring_step.hpp"

namespace {

using namespace carom;

struct Hash {
    std::uint64_t value = 14695981039346656037ULL;  // FNV-1a over 64-bit words
    void add(std::uint64_t word) { value = (value ^ word) * 1099511628211ULL; }
    void add(std::int64_t word) { add(static_cast<std::uint64_t>(word)); }
    void add(double x) { add(std::bit_cast<std::uint64_t>(x)); }
};

void print(const char* name, const Hash& hash) {
    std::printf("%-44s %016llx\n", name, static_cast<unsigned long long>(hash.value));
}

RandomWords words(std::uint64_t n) { return random_words(1, n, RandomPurpose::kVelocity, 0); }

/// What a step reports; nothing is allowed to go wrong here.
struct CountingTally {
    int faults = 0;
    std::int64_t impulse = 0;
    double max_overlap = 0.0;
    void fault(SpringFault::Kind, std::uint32_t, std::uint32_t) { ++faults; }
    template <class Real>
    void overlap(Real fraction) {
        max_overlap = larger(static_cast<double>(fraction), max_overlap);
    }
    void wall_impulse(std::int32_t, std::int64_t steps) { impulse += steps; }
    template <class Real>
    void moved(std::uint32_t, Real, bool sane) {
        faults += sane ? 0 : 1;
    }
    void left(std::uint8_t*, std::uint32_t) {}
};

/// A gas of `kBalls` on a lattice in a box, with a floor and a ceiling along the last axis, periodic along the others.
template <class Kind>
class PlainSimulation {
public:
    using Real = typename Kind::Real;
    static constexpr int kDim = Kind::kDim;
    static constexpr int kAlong = kDim == 2 ? 8 : 4;
    static constexpr std::uint32_t kBalls = 64;

    PlainSimulation() {
        SpringSetup setup;
        setup.dimension = kDim;
        for (int axis = 0; axis < kDim; ++axis) {
            setup.box_min[axis] = -3.0;
            setup.box_size[axis] = 1.25 * kAlong;
            if (axis < kDim - 1) setup.sides[axis] = {SpringSetup::Side::kPeriodic, SpringSetup::Side::kPeriodic};
        }
        setup.gravity[kDim - 1] = -0.01;
        setup.stiffness = setup.wall_stiffness = 1.0e3;
        setup.damping = Kind::kDamped ? 0.3 : 0.0;
        setup.dt = 0.00390625;
        setup.design_speed = 5.0;
        setup.double_precision = sizeof(Real) == 8;

        BallSizes sizes;
        sizes.count = kBalls;
        sizes.uniform = Kind::kUniform;
        sizes.smallest_radius = Kind::kUniform ? 0.5 : 0.375;
        sizes.largest_radius = 0.5;
        sizes.largest_mass = sizes.mass = 1.0;
        sizes.fastest = 5.0;
        params_ = make_params<Real, kDim>(setup, sizes);

        for (auto& buffer : buffers_) buffer.resize(kBalls);
        for (std::uint32_t id = 0; id < kBalls; ++id) place(id, setup, sizes);
    }

    void run(int steps) {
        for (int step = 0; step < steps; ++step) {
            sort_into_cells();
            const auto now = step_now(params_, static_cast<std::uint64_t>(step));
            const BallsView<Real, kDim> balls = view();
            const MovedView<Real, kDim> moved = moved_view();
            for (std::uint32_t slot = 0; slot < kBalls; ++slot) {
                const auto all_others = [slot](const auto&, auto&& visit) {
                    for (std::uint32_t j = 0; j < kBalls; ++j) {
                        if (j != slot) visit(j);
                    }
                };
                spring_step<Kind>(params_, now, balls, moved, slot, true, all_others, tally_);
            }
            current_ = 1 - current_;
        }
    }

    [[nodiscard]] Hash hash() const {
        Hash hash;
        for (int axis = 0; axis < kDim; ++axis) {
            for (std::uint32_t id = 0; id < kBalls; ++id) {
                hash.add(static_cast<std::uint64_t>(buffers_[current_].x[axis][id]));
                hash.add(static_cast<double>(buffers_[current_].v[axis][id]));
            }
        }
        hash.add(tally_.impulse);
        hash.add(tally_.max_overlap);
        hash.add(static_cast<std::int64_t>(tally_.faults));
        return hash;
    }
    [[nodiscard]] bool eventful() const { return tally_.faults == 0 && tally_.impulse > 0 && tally_.max_overlap > 0.0; }

private:
    using Stored = typename Phase<Real>::Stored;
    struct Buffer {
        std::vector<Stored> x[kDim];
        std::vector<Real> v[kDim];
        void resize(std::size_t count) {
            for (int axis = 0; axis < kDim; ++axis) {
                x[axis].resize(count);
                v[axis].resize(count);
            }
        }
    };

    void place(std::uint32_t id, const SpringSetup& setup, const BallSizes& sizes) {
        const bool fixed = !Kind::kUniform && id % 7 == 0;  // of infinite mass, at rest
        std::uint32_t site = id;
        Vec<std::int64_t, kDim> wide;
        for (int axis = 0; axis < kDim; ++axis) {
            const double at = setup.box_min[axis] + 1.25 * (static_cast<double>(site % kAlong) + 0.5);
            site /= kAlong;
            wide[axis] = params_.coordinates.from_position(axis, at);
            buffers_[0].x[axis][id] = Coordinates<Real, kDim>::narrow(wide[axis]);
            buffers_[0].v[axis][id] = static_cast<Real>(fixed ? 0.0 : normal_pair(words(id * kDim + axis)).first);
        }
        id_.push_back(id);
        gone_.push_back(0);
        cell_.push_back(params_.grid.number(params_.grid.cell_of(wide)));
        radius_.push_back(static_cast<Real>(id % 3 == 0 ? sizes.smallest_radius : sizes.largest_radius));
        inverse_mass_.push_back(static_cast<Real>(fixed ? 0.0 : 1.0 + 0.125 * (id % 3)));
    }

    void sort_into_cells() {
        for (std::uint32_t id = 0; id < kBalls; ++id) {
            Vec<Stored, kDim> x;
            for (int axis = 0; axis < kDim; ++axis) x[axis] = buffers_[current_].x[axis][id];
            Vec<std::int64_t, kDim> wide = wide_position(params_, x, params_.grid.cell(cell_[id]));
            for (int axis = 0; axis < kDim; ++axis) {
                params_.coordinates.wrap(axis, wide[axis]);
                buffers_[current_].x[axis][id] = Coordinates<Real, kDim>::narrow(wide[axis]);
            }
            cell_[id] = params_.grid.number(params_.grid.cell_of(wide));
        }
    }

    BallsView<Real, kDim> view() {
        BallsView<Real, kDim> balls;
        for (int axis = 0; axis < kDim; ++axis) {
            balls.x[axis] = buffers_[current_].x[axis].data();
            balls.v[axis] = buffers_[current_].v[axis].data();
        }
        balls.radius = radius_.data();
        balls.inverse_mass = inverse_mass_.data();
        balls.id = id_.data();
        balls.cell = cell_.data();
        return balls;
    }

    MovedView<Real, kDim> moved_view() {
        MovedView<Real, kDim> moved;
        for (int axis = 0; axis < kDim; ++axis) {
            moved.x[axis] = buffers_[1 - current_].x[axis].data();
            moved.v[axis] = buffers_[1 - current_].v[axis].data();
        }
        moved.gone = gone_.data();
        return moved;
    }

    SpringParams<Real, kDim> params_;
    Buffer buffers_[2];
    int current_ = 0;
    std::vector<std::uint32_t> id_, cell_;
    std::vector<std::uint8_t> gone_;
    std::vector<Real> radius_, inverse_mass_;
    CountingTally tally_;
};

template <class Kind>
bool print_trajectory() {
    PlainSimulation<Kind> simulation;
    simulation.run(400);
    char name[80];
    std::snprintf(name, sizeof name, "trajectory %dD %s%s%s", Kind::kDim,
                  sizeof(typename Kind::Real) == 4 ? "single" : "double", Kind::kDamped ? ", damped" : "",
                  Kind::kUniform ? "" : ", unequal balls");
    print(name, simulation.hash());
    if (!simulation.eventful()) std::printf("%s: there were faults, or no contacts\n", name);
    return simulation.eventful();
}

template <class Real, int Dim>
bool print_trajectories() {
    const bool a = print_trajectory<StepKind<Real, Dim, false, true>>();
    const bool b = print_trajectory<StepKind<Real, Dim, true, true>>();
    const bool c = print_trajectory<StepKind<Real, Dim, false, false>>();
    const bool d = print_trajectory<StepKind<Real, Dim, true, false>>();
    return a && b && c && d;
}

void print_functions() {
    constexpr std::uint64_t kSamples = 20000;
    Hash logarithm, exponentials, circle, arcs, normals, restitutions;
    for (std::uint64_t n = 0; n < kSamples; ++n) {
        const RandomWords random = words(n);
        const double u = random.uniform(0);
        const double spread = exponential(80.0 * (random.uniform(1) - 0.5));  // over many magnitudes
        logarithm.add(natural_log(spread));
        exponentials.add(spread);
        circle.add(sine_cosine_of_turns(10.0 * (u - 0.5)).sine);
        circle.add(sine_cosine_of_turns(10.0 * (u - 0.5)).cosine);
        arcs.add(arc_tangent(spread));
        arcs.add(arc_cosine(2.0 * u - 1.0));
        arcs.add(area_cosine(1.0 + spread));
        normals.add(normal_pair(random).first);
        normals.add(normal_pair(random).second);
        restitutions.add(restitution_of_damping_ratio(3.0 * u));
    }
    print("logarithm", logarithm);
    print("exponential", exponentials);
    print("sine and cosine", circle);
    print("arc functions", arcs);
    print("normal deviates", normals);
    print("restitution", restitutions);
}

}  // namespace

int main() {
    print_functions();
    const bool plane = print_trajectories<float, 2>() & print_trajectories<double, 2>();
    const bool space = print_trajectories<float, 3>() & print_trajectories<double, 3>();
    return plane && space ? 0 : 1;
}
