// Neighbour lists: chosen for dense gases, and the same physics as cells, to the bit where it must be.

#include <gtest/gtest.h>

#include "tests/support/events_gas.hpp"
#include "tests/support/naive_events.hpp"

namespace carom {
namespace {

using namespace test;

double shell_of(const EventsEngine& engine) {
    for (const auto& [name, value] : engine.parameters()) {
        if (name == "neighbour_list_shell") return value;
    }
    return -1.0;
}

std::uint64_t hash_of(EventsEngine& engine) {
    Frame frame;
    engine.frame(frame);
    return state_hash(frame);
}

EventsScene with_shell(EventsScene scene, double shell) {
    scene.setup.shell = shell;
    return scene;
}

/// Packing fraction 0.5, in lists that hold about a dozen balls (1.4) or more than a record has room for (2.0).
EventsScene dense_gas(double shell, Face face = Face::kPeriodic) {
    return with_shell(lattice_gas(3, 8, 8.1, face, 0.5), shell);
}

TEST(EventsLists, AreChosenForDenseGasesOnly) {
    EXPECT_GT(shell_of(*lattice_gas(3, 8, 8.1, Face::kPeriodic, 0.5).engine()), 1.0);
    EXPECT_GT(shell_of(*lattice_gas(3, 8, 8.1, Face::kWall, 0.5).engine()), 1.0);
    EXPECT_EQ(shell_of(*lattice_gas(3, 8, 10.0, Face::kPeriodic, 0.5).engine()), 0.0);
    EXPECT_EQ(shell_of(*lattice_gas(3, 8, 8.1, Face::kPeriodic, 0.5, 1, 1.1).engine()), 0.0) << "of two sizes";
    EXPECT_EQ(shell_of(*lattice_gas(3, 4, 4.1, Face::kPeriodic, 0.5).engine()), 0.0) << "in a narrow box";
    EXPECT_EQ(shell_of(*dense_gas(1.0).engine()), 0.0);
}

std::vector<LoggedImpact> events_of(const EventsScene& scene, double until) {
    std::vector<LoggedImpact> log;
    const auto engine = scene.engine();
    EXPECT_EQ(shell_of(*engine), scene.setup.shell > 1.0 ? scene.setup.shell : 0.0);
    engine->set_log([&](const LoggedImpact& impact) { log.push_back(impact); });
    engine->advance(until, ~0ULL);
    return log;
}

void expect_same(const std::vector<LoggedImpact>& log, const std::vector<LoggedImpact>& expected) {
    ASSERT_GT(expected.size(), 20u);
    ASSERT_EQ(log.size(), expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
        ASSERT_EQ(log[k].wall, expected[k].wall) << "event " << k;
        ASSERT_EQ(log[k].i, expected[k].i) << "event " << k;
        ASSERT_EQ(log[k].j, expected[k].j) << "event " << k;
        ASSERT_NEAR(log[k].time, expected[k].time, 1e-9) << "event " << k;
    }
}

TEST(EventsLists, GiveTheSameEventsAsAllPairs) {
    for (const Face face : {Face::kPeriodic, Face::kWall}) {
        const EventsScene scene = with_shell(lattice_gas(3, 5, 6.0, face, 0.5), 1.4);
        expect_same(events_of(scene, 0.3), naive_events(scene, 0.3));
    }
}

TEST(EventsLists, GiveTheSameEventsAsCells) {
    for (const double shell : {1.1, 1.4, 2.0}) {
        for (const Face face : {Face::kPeriodic, Face::kWall})
            expect_same(events_of(dense_gas(shell, face), 0.2), events_of(dense_gas(1.0, face), 0.2));
    }
}

TEST(EventsLists, GoOnToTheSameBitsAfterARestart) {
    for (const EventsScene& scene : {dense_gas(1.4), dense_gas(2.0), dense_gas(1.3, Face::kWall),
                                     with_shell(lattice_gas(3, 6, 9.0, Face::kPeriodic, 0.5), 1.4)}) {
        const auto whole = scene.engine();
        whole->advance(6.0, ~0ULL);
        for (double stop : {0.0, 0.37, 4.0}) {
            const auto first = scene.engine();
            while (!first->advance(stop, 1000)) {
            }
            SolverState state;
            first->save(state);
            const auto second = make_events_engine(scene.setup, state);
            ASSERT_EQ(shell_of(*second), scene.setup.shell);
            EXPECT_EQ(hash_of(*first), hash_of(*second)) << "restart at " << stop;
            second->advance(6.0, ~0ULL);
            EXPECT_EQ(hash_of(*whole), hash_of(*second)) << "restart at " << stop;
            EXPECT_EQ(whole->events(), second->events());
            EXPECT_EQ(whole->statistics().collisional_virial, second->statistics().collisional_virial);
        }
    }
}

TEST(EventsLists, MissNoContactAndKeepTheVirialIdentity) {
    for (const EventsScene& scene : {dense_gas(1.4), dense_gas(1.4, Face::kWall), dense_gas(1.05)}) {
        const auto engine = scene.engine();
        const double energy = engine->totals().kinetic;
        // Long enough for lists to be made anew thousands of times; a missed contact ends in a deep overlap.
        engine->advance(10.0, ~0ULL);
        EXPECT_GT(engine->statistics().ball_collisions, 50000u);
        EXPECT_LE(engine->statistics().worst_overlap, 1e-13);
        EXPECT_LT(engine->statistics().virial_defect(), 1e-11);
        EXPECT_NEAR(engine->totals().kinetic / energy, 1.0, 1e-12);
    }
}

}  // namespace
}  // namespace carom
