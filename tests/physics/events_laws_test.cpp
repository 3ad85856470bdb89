#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "host/events/events_solver.hpp"
#include "tests/support/events_gas.hpp"

// What must hold for every event-driven run, to the bit or to rounding.

namespace carom::events_laws_test {

using namespace test;

std::uint64_t hash_of(EventsEngine& engine) {
    Frame frame;
    engine.frame(frame);
    return state_hash(frame);
}

/// A scene with nearly everything in it.
EventsScene rich_scene() {
    EventsScene scene = lattice_gas(2, 8, 16.0, Face::kWall, 0.6, 5, 3.0);
    scene.setup.box.faces[0] = {Face::kPeriodic, Face::kPeriodic};
    scene.setup.gravity = {0.0, -0.5, 0.0};
    scene.setup.restitution = 0.95;
    scene.setup.friction = 0.2;
    scene.setup.wall_friction = 0.1;
    scene.setup.simultaneous = SimultaneousLaw::kSequential;
    scene.setup.tc = 1e-6;
    return scene;
}

TEST(EventsRun, HasTheSameBitsWithAnyFrames) {
    for (const EventsScene& scene : {rich_scene(), lattice_gas(3, 5, 8.0, Face::kPeriodic, 0.5)}) {
        const auto whole = scene.engine();
        whole->advance(7.0, ~0ULL);
        const auto watched = scene.engine();
        Frame frame;
        for (int k = 1; k <= 70; ++k) {
            watched->advance(0.1 * k > 7.0 ? 7.0 : 0.1 * k, ~0ULL);
            watched->frame(frame);
            watched->totals();
        }
        watched->advance(7.0, ~0ULL);
        const auto in_pieces = scene.engine();
        while (!in_pieces->advance(7.0, 17)) {
        }
        EXPECT_EQ(whole->time(), 7.0);
        EXPECT_EQ(hash_of(*whole), hash_of(*watched));
        EXPECT_EQ(hash_of(*whole), hash_of(*in_pieces));
        EXPECT_EQ(whole->events(), watched->events());
    }
}

TEST(EventsRun, GoesOnToTheSameBitsAfterARestart) {
    for (const EventsScene& scene : {rich_scene(), lattice_gas(3, 5, 8.0, Face::kPeriodic, 0.5)}) {
        const auto whole = scene.engine();
        whole->advance(9.0, ~0ULL);
        for (double stop : {0.0, 0.37, 4.0, 8.0}) {
            const auto first = scene.engine();
            first->advance(stop, ~0ULL);
            SolverState state;
            first->save(state);
            const auto second = make_events_engine(scene.setup, state);
            EXPECT_EQ(second->time(), stop);
            EXPECT_EQ(hash_of(*first), hash_of(*second)) << "restart at " << stop;
            second->advance(9.0, ~0ULL);
            EXPECT_EQ(hash_of(*whole), hash_of(*second)) << "restart at " << stop;
            EXPECT_EQ(whole->events(), second->events());
            EXPECT_EQ(whole->statistics().collisional_virial, second->statistics().collisional_virial);
            EXPECT_EQ(whole->statistics().ball_collisions, second->statistics().ball_collisions);
            EXPECT_EQ(whole->statistics().twice_kinetic_time, second->statistics().twice_kinetic_time);
        }
    }
}

TEST(EventsRun, DoesNotDependOnTheOrderOfIds) {
    for (const EventsScene& scene : {rich_scene(), lattice_gas(3, 5, 8.0, Face::kPeriodic, 0.5)}) {
        const Balls& balls = scene.state.balls;
        std::vector<std::size_t> old_of(balls.size());
        std::iota(old_of.begin(), old_of.end(), 0u);
        std::shuffle(old_of.begin(), old_of.end(), std::mt19937_64(3));
        EventsScene shuffled = scene;
        for (std::size_t id = 0; id < balls.size(); ++id) {
            shuffled.state.balls.species[id] = balls.species[old_of[id]];
            for (int axis = 0; axis < balls.dimension; ++axis) {
                shuffled.state.balls.position[axis][id] = balls.position[axis][old_of[id]];
                shuffled.state.balls.velocity[axis][id] = balls.velocity[axis][old_of[id]];
            }
        }
        const auto one = scene.engine();
        const auto two = shuffled.engine();
        one->advance(5.0, ~0ULL);
        two->advance(5.0, ~0ULL);
        Frame a;
        Frame b;
        one->frame(a);
        two->frame(b);
        for (std::size_t id = 0; id < balls.size(); ++id) {
            for (int axis = 0; axis < balls.dimension; ++axis) {
                ASSERT_EQ(a.position[axis][old_of[id]], b.position[axis][id]);
                ASSERT_EQ(a.velocity[axis][old_of[id]], b.velocity[axis][id]);
            }
        }
        EXPECT_GT(one->statistics().ball_collisions, 200u);
    }
}

TEST(EventsRun, ReversedComesBackToItsStart) {
    EventsScene scene = lattice_gas(2, 10, 20.0, Face::kWall, 0.7);
    const auto there = scene.engine();
    // Each collision of a ball multiplies an error by about (mean free path / radius) < 6: after 8 of them each way,
    // 1e-16 has become 1e-16 * 6^16 = 3e-4 at worst; what is seen is far less.
    const double until = 3.0;
    there->advance(until, ~0ULL);
    Frame frame;
    there->frame(frame);
    EventsScene back = scene;
    for (int axis = 0; axis < 2; ++axis) {
        back.state.balls.position[axis] = frame.position[axis];
        for (std::size_t id = 0; id < scene.size(); ++id)
            back.state.balls.velocity[axis][id] = -frame.velocity[axis][id];
    }
    const auto home = back.engine();
    home->advance(until, ~0ULL);
    home->frame(frame);
    double worst = 0.0;
    for (int axis = 0; axis < 2; ++axis) {
        for (std::size_t id = 0; id < scene.size(); ++id) {
            worst = std::max(worst, std::abs(frame.position[axis][id] - scene.state.balls.position[axis][id]));
        }
    }
    EXPECT_GT(there->statistics().ball_collisions, 200u);
    EXPECT_LT(worst, 1e-4);
}

TEST(EventsRun, ConservesWhatItShould) {
    for (int dimension : {2, 3}) {
        const EventsScene scene = lattice_gas(dimension, dimension == 2 ? 12 : 5, 12.0, Face::kPeriodic, 0.45, 2, 3.0);
        const auto engine = scene.engine();
        const Totals before = engine->totals();
        engine->advance(30.0, ~0ULL);
        const Totals after = engine->totals();
        const auto impacts = static_cast<double>(engine->statistics().ball_collisions);
        ASSERT_GT(impacts, 800.0);
        // A random walk of roundings.
        EXPECT_NEAR(after.kinetic / before.kinetic, 1.0, 4e-16 * std::sqrt(impacts) + 1e-14);
        for (int axis = 0; axis < dimension; ++axis) EXPECT_NEAR(after.momentum[axis], before.momentum[axis], 1e-11);
        EXPECT_LT(engine->statistics().virial_defect(), 1e-12);
    }
}

TEST(EventsRun, KeepsTheVirialIdentityWithEverything) {
    const EventsScene scene = rich_scene();
    const auto engine = scene.engine();
    engine->advance(20.0, ~0ULL);
    const EventsStatistics statistics = engine->statistics();
    EXPECT_GT(statistics.wall_collisions, 50u);
    EXPECT_GT(statistics.ball_collisions, 50u);
    EXPECT_LT(statistics.virial_defect(), 1e-11);
    EXPECT_GT(std::abs(statistics.gravity_virial_time), 1.0);
}

TEST(EventsRun, LosesNoPrecisionOnALongClock) {
    // The same gas with its clock at 0 and at 10^8 mean free times, and with 16 times as many epochs.
    EventsScene scene = lattice_gas(2, 10, 14.0, Face::kPeriodic, 0.5);
    const auto fresh = scene.engine();
    fresh->advance(20.0, ~0ULL);
    ASSERT_GT(fresh->statistics().ball_collisions, 1000u);
    const double diameter = 1.0;
    EXPECT_LE(fresh->statistics().worst_overlap, 1e-13 * diameter);
    EventsScene late = scene;
    late.state.time = 1e8;
    const auto old = late.engine();
    old->advance(1e8 + 20.0, ~0ULL);
    EXPECT_EQ(old->statistics().ball_collisions, fresh->statistics().ball_collisions);
    EXPECT_EQ(hash_of(*old), hash_of(*fresh)) << "the clock's reading must not reach the balls";
    EventsScene many = scene;
    many.setup.epoch = 1.0 / 64.0;
    const auto rebased = many.engine();
    rebased->advance(200.0, ~0ULL);
    EXPECT_GT(rebased->statistics().epochs, 12000u);
    EXPECT_LE(rebased->statistics().worst_overlap, 1e-13 * diameter);
    EXPECT_LT(rebased->statistics().virial_defect(), 1e-11);
}

TEST(EventsMemory, IsWhatWasPredictedAndWithinItsBound) {
    struct Case {
        int dimension;
        int per_axis;
        double phi;
    };
    for (const auto& [dimension, per_axis, phi] :
         {Case{2, 110, 0.3}, Case{3, 24, 0.2}, Case{3, 24, 0.45}, Case{3, 13, 0.45}, Case{3, 10, 0.2}}) {
        const double balls = std::pow(per_axis, dimension);
        const double volume = balls * (dimension == 2 ? M_PI / 4.0 : M_PI / 6.0) / phi;
        const EventsScene scene =
            lattice_gas(dimension, per_axis, std::pow(volume, 1.0 / dimension), Face::kPeriodic, 0.5);
        const auto engine = scene.engine();
        while (engine->statistics().ball_collisions < 10.0 * balls) engine->advance(1e9, 10000);
        const auto held = static_cast<double>(engine->memory_bytes());
        EXPECT_NEAR(static_cast<double>(predict_events_memory(scene.setup, scene.state.balls)) / held, 1.0, 0.1)
            << dimension << "D at " << phi;
        EXPECT_LE(held / balls, 320.0);
    }
}

TEST(EventsSolver, StopsInTimeAndEndsWhereAsked) {
    const EventsScene scene = lattice_gas(2, 20, 30.0, Face::kPeriodic, 0.5);
    EventsSolver solver(scene.setup, scene.state);
    int slices = 0;
    while (!solver.advance_to(3.3, 0.01)) ++slices;
    EXPECT_EQ(solver.time(), 3.3);
    EXPECT_EQ(solver.reachable_time(3.3), 3.3);
    EXPECT_GT(solver.tallies().collisions, 500u);
    EXPECT_EQ(solver.describe().solver, "events");
}

// Whom Andersen's thermostat draws in the event-driven engine.

/// As if each ball were asked for itself: the first and the last too, and whatever its neighbour's lot. Bounds are 4.5
/// sigma, 7e-6 each.
TEST(EventsThermostat, DrawsEachBallIndependentlyWithTheProbability) {
    constexpr double kProbability = 0.02;
    constexpr int kVisits = 20000;
    const EventsScene scene = lattice_gas(2, 20, 40.0, Face::kPeriodic, 0.5);
    const auto engine = scene.engine();
    const std::size_t count = scene.state.balls.size();
    std::vector<int> drawn(count);
    std::vector<std::size_t> now;
    int together = 0;  // balls of one id and the next in one visit
    engine->set_log([&](const LoggedImpact& entry) {
        ASSERT_EQ(entry.what, LoggedImpact::What::kThermostat);
        ++drawn[entry.i];
        if (!now.empty()) {
            EXPECT_GT(entry.i, now.back()) << "twice in one visit";
            together += entry.i == now.back() + 1 ? 1 : 0;
        }
        now.push_back(entry.i);
    });
    for (int visit = 1; visit <= kVisits; ++visit) {
        now.clear();
        engine->draw_anew(1.0, kProbability, static_cast<std::uint64_t>(visit));
    }
    const double expected = kProbability * kVisits;
    const double variance = expected * (1.0 - kProbability);
    double sum = 0.0;
    double squares = 0.0;
    for (const int one : drawn) {
        sum += one;
        squares += (one - expected) * (one - expected) / variance;
    }
    const double balls = static_cast<double>(count);
    EXPECT_NEAR(sum, balls * expected, 4.5 * std::sqrt(balls * variance));
    EXPECT_NEAR(squares, balls, 4.5 * std::sqrt(2.0 * balls));
    EXPECT_NEAR(drawn.front(), expected, 4.5 * std::sqrt(variance));
    EXPECT_NEAR(drawn.back(), expected, 4.5 * std::sqrt(variance));
    const double pairs = (balls - 1.0) * expected * kProbability;
    EXPECT_NEAR(together, pairs, 4.5 * std::sqrt(pairs));
}

}  // namespace carom::events_laws_test
