#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/params_from_setup.hpp"
#include "kernels/spring_observe.hpp"
#include "kernels/spring_params.hpp"
#include "kernels/spring_step.hpp"
#include "tests/support/spring_engines.hpp"

// No processor misses a contact: each is compared, to the bit, with a run that looks at all pairs.

namespace carom::test::brute_force_test {

/// The spring run without a broadphase: each ball meets each other whose nearest image, by plain doubles, is within
/// three largest diameters. No cells, no sorts, no lists; only the step of one ball is shared with the engines.
template <class Real, int Dim>
class BruteForce {
public:
    using Kind = StepKind<Real, Dim, true, false>;  // holds for undamped and equal balls too
    using Stored = typename Phase<Real>::Stored;

    explicit BruteForce(Gas gas) : gas_(std::move(gas)) {
        params_ = make_params<Real, Dim>(gas_.setup, measure_sizes(gas_.raw(), Dim));
        const std::size_t count = gas_.size();
        for (int axis = 0; axis < Dim; ++axis) {
            wide_[axis].resize(count);
            for (auto& buffer : buffers_) {
                buffer.x[axis].resize(count);
                buffer.v[axis].resize(count);
            }
            for (std::size_t id = 0; id < count; ++id) {
                buffers_[0].v[axis][id] = static_cast<Real>(gas_.velocity[axis][id]);
                wide_[axis][id] = params_.coordinates.from_position(axis, gas_.position[axis][id]);
            }
        }
        for (std::size_t id = 0; id < count; ++id) {
            id_.push_back(static_cast<std::uint32_t>(id));
            radius_.push_back(static_cast<Real>(gas_.radius[id]));
            inverse_mass_.push_back(static_cast<Real>(gas_.inverse_mass[id]));
        }
        cell_.resize(count);
        settle(buffers_[0]);
    }

    void step() {
        was_gone_ = gas_.gone;
        const auto now = step_now(params_, gas_.step);
        MovedView<Real, Dim> moved;
        for (int axis = 0; axis < Dim; ++axis) {
            moved.x[axis] = buffers_[1].x[axis].data();
            moved.v[axis] = buffers_[1].v[axis].data();
        }
        moved.gone = gas_.gone.data();
        Tally tally;
        for (std::uint32_t i = 0; i < id_.size(); ++i) {
            spring_step<Kind>(
                params_, now, view(), moved, i, true, [&](const auto&, auto&& f) { others(i, f); }, tally);
        }
        std::swap(buffers_[0], buffers_[1]);
        for (int axis = 0; axis < Dim; ++axis) {
            for (std::size_t id = 0; id < id_.size(); ++id) {
                wide_[axis][id] = Coordinates<Real, Dim>::widen(buffers_[0].x[axis][id], wide_[axis][id]);
            }
        }
        settle(buffers_[0]);
        ++gas_.step;
    }

    /// The raw state, to be compared with an engine's.
    [[nodiscard]] Gas raw() const {
        Gas result = gas_;
        for (int axis = 0; axis < Dim; ++axis) {
            for (std::size_t id = 0; id < id_.size(); ++id) {
                const bool gone = gas_.gone[id] != 0;
                result.position[axis][id] =
                    gone ? params_.box_min[axis] : params_.coordinates.position(axis, wide_[axis][id]);
                if (gone) result.image[axis][id] = 0;
                result.velocity[axis][id] = gone ? 0.0 : static_cast<double>(buffers_[0].v[axis][id]);
            }
        }
        return result;
    }

    [[nodiscard]] Totals totals() {
        was_gone_ = gas_.gone;
        SpringSums sums = SpringSums::zero();
        for (std::uint32_t i = 0; i < id_.size(); ++i) {
            if (gas_.gone[i] != 0) continue;
            const auto v = observe_contacts<Kind>(
                params_, view(), i, gas_.step, [&](auto&& f) { others(i, f); }, sums.contact);
            observe_motion<Kind>(params_, view(), i, v, sums.motion);
        }
        return sums.totals(params_.observe);
    }
    [[nodiscard]] const SpringParams<Real, Dim>& params() const { return params_; }

private:
    struct Buffer {
        std::vector<Stored> x[Dim];
        std::vector<Real> v[Dim];
    };
    struct Tally {
        void fault(SpringFault::Kind kind, std::uint32_t slot, std::uint32_t other) {
            ADD_FAILURE() << "fault " << static_cast<int>(kind) << " of ball " << slot << ", other " << other;
        }
        void overlap(Real) {}
        void wall_impulse(std::int32_t, std::int64_t) {}
        void moved(std::uint32_t slot, Real, bool sane) {
            if (!sane) fault(SpringFault::Kind::kTooFast, slot, 0);
        }
        void left(std::uint8_t* gone, std::uint32_t ball) { gone[ball] = 1; }
    };

    /// Wraps, counts images, and derives phases and cells, which here only say which period a ball is in.
    void settle(Buffer& buffer) {
        for (std::size_t id = 0; id < id_.size(); ++id) {
            Vec<std::int64_t, Dim> wide;
            for (int axis = 0; axis < Dim; ++axis) {
                if (gas_.gone[id] == 0) gas_.image[axis][id] += params_.coordinates.wrap(axis, wide_[axis][id]);
                wide[axis] = wide_[axis][id];
                buffer.x[axis][id] = Coordinates<Real, Dim>::narrow(wide[axis]);
            }
            cell_[id] = params_.grid.number(params_.grid.cell_of(wide));
        }
    }

    [[nodiscard]] BallsView<Real, Dim> view() const {
        BallsView<Real, Dim> view;
        for (int axis = 0; axis < Dim; ++axis) {
            view.x[axis] = buffers_[0].x[axis].data();
            view.v[axis] = buffers_[0].v[axis].data();
        }
        view.radius = radius_.data();
        view.inverse_mass = inverse_mass_.data();
        view.id = id_.data();
        view.cell = cell_.data();
        return view;
    }

    template <class F>
    void others(std::uint32_t i, F&& f) const {
        const double reach = 3.0 * static_cast<double>(params_.largest_diameter);
        for (std::uint32_t j = 0; j < id_.size(); ++j) {
            if (j == i || was_gone_[j] != 0) continue;
            double squared = 0.0;
            for (int axis = 0; axis < Dim; ++axis) {
                double apart = static_cast<double>(wide_[axis][j] - wide_[axis][i]) * params_.coordinates.quantum[axis];
                const double length = gas_.setup.box_size[axis];
                if (params_.coordinates.extent[axis] != 0) apart -= length * std::rint(apart / length);
                squared += apart * apart;
            }
            if (squared < reach * reach) f(j);
        }
    }

    Gas gas_;
    SpringParams<Real, Dim> params_;
    std::vector<std::int64_t> wide_[Dim];
    Buffer buffers_[2];
    std::vector<Real> radius_, inverse_mass_;
    std::vector<std::uint32_t> id_, cell_;
    std::vector<std::uint8_t> was_gone_;  // before the step: in it, a leaving ball is still felt
};

/// A box as the grid may meet it: how many lattice sites along each axis, and what is at its ends.
struct Shape {
    std::string name;
    int dimension;
    std::array<int, 3> counts;
    std::array<char, 3> sides;  ///< (p)eriodic, (w)alls, (o)pen
    std::array<double, 3> min;
    double largest_radius = 0.5;
    bool mixed = false;
};

constexpr double kSpacing = 0.98;  // of diameters: everyone touches all around

Gas crowd(const Shape& shape) {
    Gas gas = empty_box(shape.dimension, {});
    LatticeOptions options;
    options.counts = shape.counts;
    options.spacing = kSpacing * 2.0 * shape.largest_radius;
    options.corner = shape.min;
    options.largest_radius = shape.largest_radius;
    options.mixed = shape.mixed;
    options.speed = 3.0;
    gas.setup.box_min = shape.min;
    for (int axis = 0; axis < shape.dimension; ++axis) {
        gas.setup.box_size[axis] = shape.counts[axis] * options.spacing;
        // A periodic box must hold two diameters: a little more room then.
        if (shape.sides[axis] == 'p') {
            gas.setup.box_size[axis] = std::max(gas.setup.box_size[axis], 4.0 * shape.largest_radius);
        }
        const Side side = shape.sides[axis] == 'p'   ? Side::kPeriodic
                          : shape.sides[axis] == 'w' ? Side::kWall
                                                     : Side::kOpen;
        gas.setup.sides[axis] = {side, side};
    }
    gas.setup.dt = shape.mixed ? 1e-4 : 1e-3;
    add_lattice(gas, options);
    // Off the lattice, so that contacts differ; no more than leaves overlaps shallow.
    for (std::size_t id = 0; id < gas.size(); ++id) {
        for (int axis = 0; axis < shape.dimension; ++axis) {
            gas.position[axis][id] += 0.04 * shape.largest_radius * scatter(id, 8 + static_cast<std::uint64_t>(axis));
        }
    }
    return gas;
}

const std::vector<Shape>& shapes() {
    static const std::vector<Shape> all = {
        {"walls", 2, {9, 8, 1}, {'w', 'w', 'w'}, {-4.0, -100.0, 0.0}},
        {"periodic", 2, {9, 8, 1}, {'p', 'p', 'p'}, {-4.0, 7.0, 0.0}},
        {"open", 2, {9, 8, 1}, {'o', 'p', 'p'}, {0.0, -3.0, 0.0}},
        {"narrow_x", 2, {2, 12, 1}, {'p', 'w', 'w'}, {-1.0, -1.0, 0.0}},
        {"narrow_y", 2, {12, 2, 1}, {'w', 'p', 'w'}, {-1.0, -1.0, 0.0}},
        {"three_cells", 2, {4, 5, 1}, {'p', 'p', 'w'}, {-1.0, -1.0, 0.0}},
        {"four_cells", 2, {5, 6, 1}, {'p', 'p', 'w'}, {1e5, -1e5, 0.0}},
        {"row", 2, {1, 12, 1}, {'w', 'w', 'w'}, {-0.5, 0.0, 0.0}},
        {"seam_of_periods", 2, {140, 3, 1}, {'p', 'p', 'w'}, {-70.0, 0.0, 0.0}},
        {"mixed_radii", 2, {8, 8, 1}, {'p', 'w', 'w'}, {-3.0, -3.0, 0.0}, 0.5, true},
        {"cube", 3, {5, 4, 5}, {'w', 'p', 'o'}, {-3.0, -2.0, 1.0}},
        {"periodic_cube", 3, {4, 5, 4}, {'p', 'p', 'p'}, {-3.0, -2.0, 1.0}},
        {"narrow_cube", 3, {2, 2, 6}, {'p', 'p', 'p'}, {-3.0, -2.0, -1.0}},
        {"smallest_cube", 3, {2, 2, 2}, {'p', 'p', 'p'}, {0.0, 0.0, 0.0}},
        {"mixed_cube", 3, {4, 4, 4}, {'p', 'w', 'p'}, {-3.0, -2.0, -1.0}, 0.5, true},
    };
    return all;
}

class Contacts : public testing::TestWithParam<std::tuple<std::size_t, bool, Processor>> {
protected:
    void SetUp() override { CAROM_REQUIRE(processor()); }
    [[nodiscard]] const Processor& processor() const { return std::get<2>(GetParam()); }

    /// Steps both, and compares after each of the first and some of the later steps.
    template <class Real, int Dim>
    void compare(Gas gas, std::uint64_t steps) {
        BruteForce<Real, Dim> brute(gas);
        const auto engine = make_engine(processor(), gas);
        std::uint64_t contacts = 0;
        for (std::uint64_t step = 0; step < steps / kShorter; ++step) {
            if (step < 3 || step % 40 == 0) {
                const Seen seen = look(*engine, gas);
                ASSERT_TRUE(same_balls("state", brute.raw(), seen.raw)) << "step " << step;
                const Totals totals = brute.totals();
                EXPECT_EQ(seen.totals.contacts, totals.contacts);
                EXPECT_EQ(seen.totals.wall_contacts, totals.wall_contacts);
                EXPECT_EQ(seen.totals.spring, totals.spring);
                EXPECT_EQ(seen.totals.kinetic, totals.kinetic);
                EXPECT_EQ(seen.totals.virial, totals.virial);
                for (int k = 0; k < 6; ++k) EXPECT_EQ(seen.totals.pair_stress[k], totals.pair_stress[k]) << k;
                // Each component is rounded by itself, in whole quanta.
                EXPECT_NEAR(totals.pair_stress[0] + totals.pair_stress[1] + totals.pair_stress[2], totals.virial,
                            1e-6 * std::abs(totals.virial) + 1e-9);
                contacts += totals.contacts;
            }
            engine->advance(1);
            brute.step();
            if (HasFailure()) return;
        }
        EXPECT_TRUE(same_balls("state", brute.raw(), look(*engine, gas).raw));
        EXPECT_GT(contacts, 0U);
    }

    void compare(const Gas& gas, std::uint64_t steps) {
        if (gas.setup.dimension == 2) {
            gas.setup.double_precision ? compare<double, 2>(gas, steps) : compare<float, 2>(gas, steps);
        } else {
            gas.setup.double_precision ? compare<double, 3>(gas, steps) : compare<float, 3>(gas, steps);
        }
    }
};

TEST_P(Contacts, AreAllFound) {
    Gas gas = crowd(shapes()[std::get<0>(GetParam())]);
    gas.setup.double_precision = std::get<1>(GetParam());
    compare(gas, 200);
}

INSTANTIATE_TEST_SUITE_P(Backends, Contacts,
                         testing::Combine(testing::Range(std::size_t{0}, shapes().size()), testing::Bool(),
                                          testing::ValuesIn(processors())),
                         [](const auto& instance) {
                             return shapes()[std::get<0>(instance.param)].name +
                                    (std::get<1>(instance.param) ? "_double_" : "_single_") +
                                    std::get<2>(instance.param).name;
                         });

/// Crosses of balls whose middle one sits on a corner of cells, exactly or a quantum aside, at the grid's ends, across
/// its seams and inside.
template <class Real, int Dim>
Gas crosses(char side_letter, int aside) {
    Gas gas = empty_box(Dim, {30.0, 30.0, 30.0});
    gas.setup.box_min = {-20.0, -7.0, 0.0};
    const Side side = side_letter == 'p' ? Side::kPeriodic : Side::kOpen;
    for (auto& axis : gas.setup.sides) axis = {side, side};
    gas.setup.double_precision = sizeof(Real) == 8;
    // The grid depends on the number of balls, which follows from it: the same for any number that is small.
    BallSizes sizes;
    sizes.count = 100;
    sizes.smallest_radius = sizes.largest_radius = 0.5;
    const auto params = make_params<Real, Dim>(gas.setup, sizes);
    Vec<std::int32_t, Dim> corner;
    if constexpr (Dim == 3) corner[2] = side == Side::kPeriodic ? 0 : params.grid.cells[2] / 2;
    for (corner[0] = 0; corner[0] <= params.grid.cells[0]; corner[0] += 4) {
        for (corner[1] = 0; corner[1] <= params.grid.cells[1]; corner[1] += 4) {
            std::array<double, 3> at{};
            bool inside = true;
            for (int axis = 0; axis < Dim; ++axis) {
                const double border = std::ceil(static_cast<double>(corner[axis]) * params.grid.quanta_per_cell[axis]);
                at[axis] = params.coordinates.position(axis, static_cast<std::int64_t>(border) + aside);
                if (side == Side::kPeriodic && corner[axis] == params.grid.cells[axis]) inside = false;  // is corner 0
                // No ball may lie beyond an open face.
                inside = inside && (side == Side::kPeriodic ||
                                    (at[axis] > gas.setup.box_min[axis] && at[axis] < gas.setup.box_min[axis] + 30.0));
            }
            if (!inside) continue;
            gas.add(at, {}, 0.5, 1.0);
            for (int axis = 0; axis < Dim; ++axis) {
                for (const double way : {-0.97, 0.97}) {
                    std::array<double, 3> next = at;
                    next[axis] += way;
                    if (side == Side::kPeriodic) {
                        if (next[axis] < gas.setup.box_min[axis]) next[axis] += 30.0;
                        if (next[axis] >= gas.setup.box_min[axis] + 30.0) next[axis] -= 30.0;
                    }
                    gas.add(next, {}, 0.5, 1.0);
                }
            }
        }
    }
    return gas;
}

class Borders : public Contacts {};

TEST_P(Borders, HideNoContact) {
    const bool precision = std::get<1>(GetParam());
    for (const char side : {'p', 'o'}) {
        for (const int aside : {-1, 0, 1}) {
            const Gas flat = precision ? crosses<double, 2>(side, aside) : crosses<float, 2>(side, aside);
            const Gas solid = precision ? crosses<double, 3>(side, aside) : crosses<float, 3>(side, aside);
            ASSERT_GT(flat.size(), 50U);
            ASSERT_GT(solid.size(), 50U);
            compare(flat, 60);
            compare(solid, 60);
            if (HasFailure()) return;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Backends, Borders,
                         testing::Combine(testing::Values(std::size_t{0}), testing::Bool(),
                                          testing::ValuesIn(processors())),
                         [](const auto& instance) {
                             return (std::get<1>(instance.param) ? "double_" : "single_") +
                                    std::get<2>(instance.param).name;
                         });

}  // namespace carom::test::brute_force_test
