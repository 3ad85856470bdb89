#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/events_gas.hpp"

// The engine against a simulation that tries every pair after every event.

namespace carom::events_lists_test {

using namespace test;

/// The slowest event-driven simulation there is: after every event, all pairs in all images and all walls are tried
/// again. Frictionless, with gravity or without; box walls and periodic sides. What the engine is compared with.
std::vector<LoggedImpact> naive_events(const EventsScene& scene, double until) {
    const int dim = scene.dimension();
    const Balls& balls = scene.state.balls;
    const std::size_t n = balls.size();
    const Box& box = scene.setup.box;
    std::vector<Vector3> x(n), v(n);
    for (std::size_t i = 0; i < n; ++i) {
        for (int a = 0; a < dim; ++a) {
            x[i][a] = balls.position[a][i] - box.min[a];
            v[i][a] = balls.velocity[a][i];
        }
    }
    const auto radius = [&](std::size_t i) { return balls.species_of(i).radius; };
    const auto inverse = [&](std::size_t i) { return 1.0 / balls.species_of(i).mass; };
    std::vector<LoggedImpact> log;
    double now = 0.0;
    for (;;) {
        double best = until - now;
        std::size_t bi = 0, bj = 0;
        int wall = -1;
        bool found = false;
        Vector3 normal{};
        for (std::size_t i = 0; i < n; ++i) {
            for (int a = 0; a < dim; ++a) {
                if (box.periodic(a)) continue;
                for (int side = 0; side < 2; ++side) {
                    const double sign = side == 0 ? 1.0 : -1.0;
                    const double h = std::max(0.0, (side == 0 ? x[i][a] : box.size[a] - x[i][a]) - radius(i));
                    const double speed = sign * v[i][a];
                    const double g = sign * scene.setup.gravity[a];
                    double t = 1e300;
                    const double d = speed * speed - 2.0 * g * h;
                    if (g < 0.0) t = (speed + std::sqrt(d)) / -g;
                    if (g == 0.0 && speed < 0.0) t = -h / speed;
                    if (g > 0.0 && speed < 0.0 && d > 0.0) t = 2.0 * h / (std::sqrt(d) - speed);
                    if (t < best) {
                        best = t, bi = i, wall = 2 * a + side, found = true;
                    }
                }
            }
            for (std::size_t j = i + 1; j < n; ++j) {
                for (int image = 0; image < (dim == 2 ? 25 : 125); ++image) {
                    const int step[3] = {image % 5 - 2, image / 5 % 5 - 2, image / 25 - 2};
                    Vector3 d{};
                    double b = 0, c = 0, v2 = 0;
                    bool allowed = true;
                    for (int a = 0; a < dim; ++a) {
                        if (step[a] != 0 && !box.periodic(a)) allowed = false;
                        d[a] = x[j][a] + step[a] * box.size[a] - x[i][a];
                        const double w = v[j][a] - v[i][a];
                        b += d[a] * w, c += d[a] * d[a], v2 += w * w;
                    }
                    c -= (radius(i) + radius(j)) * (radius(i) + radius(j));
                    const double disc = b * b - v2 * c;
                    if (!allowed || b >= 0 || disc <= 0) continue;
                    const double t = std::max(0.0, c / (std::sqrt(disc) - b));
                    if (t < best) {
                        best = t, bi = i, bj = j, wall = -1, found = true;
                        for (int a = 0; a < dim; ++a) normal[a] = d[a] + t * (v[j][a] - v[i][a]);
                    }
                }
            }
        }
        if (!found) return log;
        now += best;
        for (std::size_t i = 0; i < n; ++i) {
            for (int a = 0; a < dim; ++a) {
                const double g = scene.setup.gravity[a];
                x[i][a] += best * (v[i][a] + 0.5 * best * g);
                v[i][a] += best * g;
                if (box.periodic(a)) x[i][a] -= box.size[a] * std::floor(x[i][a] / box.size[a]);
            }
        }
        LoggedImpact impact;
        impact.time = now;
        impact.i = static_cast<std::uint32_t>(bi);
        if (wall >= 0) {
            v[bi][wall / 2] *= -scene.setup.wall_restitution;
            impact.what = LoggedImpact::What::kWall;
            impact.j = static_cast<std::uint32_t>(wall);
        } else {
            double b = 0, d2 = 0;
            for (int a = 0; a < dim; ++a) b += normal[a] * (v[bj][a] - v[bi][a]), d2 += normal[a] * normal[a];
            const double f = -(1.0 + scene.setup.restitution) * b / (d2 * (inverse(bi) + inverse(bj)));
            for (int a = 0; a < dim; ++a) {
                v[bi][a] -= f * inverse(bi) * normal[a];
                v[bj][a] += f * inverse(bj) * normal[a];
            }
            impact.j = static_cast<std::uint32_t>(bj);
            impact.velocity_j = v[bj];
        }
        impact.velocity_i = v[bi];
        log.push_back(impact);
    }
}

/// Errors grow by (mean free path / radius) with each collision of a ball, so only the first events are the same to
/// this; their order tells the rest.
constexpr double kSameTime = 1.0e-8;

void expect_same_events(const EventsScene& scene, double until) {
    const std::vector<LoggedImpact> expected = naive_events(scene, until);
    std::vector<LoggedImpact> log;
    const auto engine = scene.engine();
    engine->set_log([&](const LoggedImpact& impact) { log.push_back(impact); });
    engine->advance(until, ~0ULL);
    ASSERT_GT(expected.size(), 10u);
    const std::size_t compared = std::min<std::size_t>(expected.size(), 4 * scene.size());
    ASSERT_GE(log.size(), compared);
    for (std::size_t k = 0; k < compared; ++k) {
        ASSERT_EQ(log[k].what, expected[k].what) << "event " << k;
        ASSERT_EQ(log[k].i, expected[k].i) << "event " << k;
        ASSERT_EQ(log[k].j, expected[k].j) << "event " << k;
        ASSERT_NEAR(log[k].time, expected[k].time, kSameTime) << "event " << k;
    }
}

TEST(EventsAgainstAllPairs, PeriodicGas) { expect_same_events(lattice_gas(2, 5, 10.0, Face::kPeriodic, 0.6), 2.0); }
TEST(EventsAgainstAllPairs, PeriodicGasIn3d) { expect_same_events(lattice_gas(3, 4, 6.0, Face::kPeriodic, 0.55), 0.8); }
TEST(EventsAgainstAllPairs, GasBetweenWalls) { expect_same_events(lattice_gas(2, 5, 10.0, Face::kWall, 0.6), 2.0); }
TEST(EventsAgainstAllPairs, MixtureWithSizesOneToTen) {
    expect_same_events(lattice_gas(2, 6, 12.0, Face::kPeriodic, 0.95, 3, 10.0), 0.3);
    expect_same_events(lattice_gas(3, 4, 6.0, Face::kWall, 0.7, 3, 10.0), 0.1);
}
TEST(EventsAgainstAllPairs, BoxesOfTwoDiameters) {
    for (double edge : {2.0, 2.1, 2.9, 3.5, 4.4}) {
        EventsScene scene = lattice_gas(2, 2, edge, Face::kPeriodic, 0.499);
        expect_same_events(scene, 2.0 * edge * edge);
    }
}
TEST(EventsAgainstAllPairs, Gravity) {
    EventsScene scene = lattice_gas(2, 5, 10.0, Face::kWall, 0.6);
    scene.setup.gravity = {0.0, -1.5, 0.0};
    expect_same_events(scene, 2.0);
    scene.setup.box.faces[0] = {Face::kPeriodic, Face::kPeriodic};
    expect_same_events(scene, 2.0);
}
TEST(EventsAgainstAllPairs, InelasticGas) {
    EventsScene scene = lattice_gas(2, 5, 10.0, Face::kWall, 0.6);
    scene.setup.restitution = 0.9;
    scene.setup.wall_restitution = 0.8;
    expect_same_events(scene, 3.0);
}
TEST(EventsAgainstAllPairs, ShortEpochs) {
    EventsScene scene = lattice_gas(2, 5, 10.0, Face::kPeriodic, 0.6);
    scene.setup.epoch = 0.125;
    expect_same_events(scene, 2.0);
}
TEST(EventsAgainstAllPairs, CellsOfAnyWidth) {
    for (double cell : {1.0, 1.3, 2.0, 5.0}) {
        EventsScene scene = lattice_gas(2, 7, 14.0, Face::kPeriodic, 0.6);
        scene.setup.cell = cell;
        expect_same_events(scene, 1.5);
    }
}

// Neighbour lists: chosen for dense gases, and the same physics as cells, to the bit where it must be.

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
        ASSERT_EQ(log[k].what, expected[k].what) << "event " << k;
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

}  // namespace carom::events_lists_test
