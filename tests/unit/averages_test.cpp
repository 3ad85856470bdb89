// Each average against a calculation that goes over all balls and pairs, on a small state.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "host/observables/averager.hpp"
#include "host/scene/keys.hpp"
#include "kernels/physics/pair_distribution.hpp"
#include "tests/support/averages_fixture.hpp"

namespace carom {
namespace {

using test::AverageState;
using test::AveragesTest;

/// Sums of a few hundred terms in another order.
constexpr double kRounding = 1e-12;

INSTANTIATE_TEST_SUITE_P(Dimensions, AveragesTest, testing::Values(2, 3));

TEST_P(AveragesTest, SpeedHistogramCountsEachBallOnce) {
    constexpr double kMax = 4.0;
    constexpr std::size_t kBins = 8;
    std::vector<double> counts(kBins, 0.0);
    double all = 0.0;
    each_sample = [&] {
        for (std::size_t id = 0; id < state.frame.size(); ++id) {
            if (!state.counts(id, "b")) continue;
            double squared = 0.0;
            for (int axis = 0; axis < dimension(); ++axis) squared += std::pow(state.frame.velocity[axis][id], 2);
            for (std::size_t bin = 0; bin < kBins; ++bin) {
                const double low = kMax / kBins * bin;
                if (std::sqrt(squared) >= low && std::sqrt(squared) < low + kMax / kBins) counts[bin] += 1.0;
            }
            all += 1.0;
        }
    };
    const AverageTable table = after({.name = "s", .kind = "speed", .species = "b", .bins = kBins, .max = kMax});
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        EXPECT_NEAR(table.values[bin], counts[bin] / (all * kMax / kBins), kRounding) << bin;
        EXPECT_DOUBLE_EQ(table.x[bin], (bin + 0.5) * kMax / kBins);
    }
}

TEST_P(AveragesTest, AHistogramWithoutAnEndHoldsEverythingWhateverComes) {
    for (const char* kind : {"speed", "velocity"}) {
        const auto averager = make_averager({.name = "s", .kind = kind, .bins = 16}, state.context());
        for (int k = 0; k < 5; ++k) {
            state.shake(k);
            // Ever faster: the range doubles again and again, in the middle of samples too.
            state.frame.velocity[0][50 + k] *= std::pow(3.0, k);
            state.show(*averager, k);
        }
        const AverageTable table = averager->table();
        const double width = table.x[1] - table.x[0];
        const std::size_t components = std::max<std::size_t>(1, averager->info().components.size());
        for (std::size_t component = 0; component < components; ++component) {
            double sum = 0.0;
            for (std::size_t bin = 0; bin < 16; ++bin) sum += table.values[component * 16 + bin];
            EXPECT_NEAR(sum * width, 1.0, kRounding) << kind;
        }
    }
}

TEST_P(AveragesTest, VelocityHistogramHasEachComponent) {
    constexpr double kMax = 2.0;
    constexpr std::size_t kBins = 8;
    std::vector<double> counts(3 * kBins, 0.0);
    double all = 0.0;
    each_sample = [&] {
        for (std::size_t id = 0; id < state.frame.size(); ++id) {
            if (!state.counts(id)) continue;
            all += 1.0;
            for (int axis = 0; axis < dimension(); ++axis) {
                const double at = (state.frame.velocity[axis][id] + kMax) / (2.0 * kMax) * kBins;
                if (at >= 0.0 && at < kBins) counts[axis * kBins + static_cast<std::size_t>(at)] += 1.0;
            }
        }
    };
    const AverageTable table = after({.name = "s", .kind = "velocity", .bins = kBins, .max = kMax});
    for (std::size_t at = 0; at < kBins * static_cast<std::size_t>(dimension()); ++at) {
        EXPECT_NEAR(table.values[at], counts[at] / (all * 2.0 * kMax / kBins), kRounding) << at;
    }
}

TEST_P(AveragesTest, ProfilesAreSumsOverTheBallsInASlice) {
    constexpr std::size_t kBins = 5;
    const int axis = dimension() - 1;
    struct Slice {
        double count = 0.0, mass = 0.0, energy = 0.0;
        std::array<double, 3> momentum{};
    };
    std::vector<Slice> slices(kBins);
    int samples = 0;
    each_sample = [&] {
        ++samples;
        for (std::size_t id = 0; id < state.frame.size(); ++id) {
            if (!state.counts(id)) continue;
            const double at = (state.frame.position[axis][id] - state.box.min[axis]) / state.box.size[axis] * kBins;
            Slice& slice = slices[static_cast<std::size_t>(at)];
            const double mass = state.species(id).mass;
            slice.count += 1.0;
            slice.mass += mass;
            for (int k = 0; k < dimension(); ++k) {
                slice.momentum[k] += mass * state.frame.velocity[k][id];
                slice.energy += mass * std::pow(state.frame.velocity[k][id], 2);
            }
        }
    };
    const AverageTable density = after({.name = "d", .kind = "density", .axis = axis, .bins = kBins});
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        EXPECT_NEAR(density.values[bin], slices[bin].count / samples / (state.box.volume() / kBins), kRounding);
        EXPECT_DOUBLE_EQ(density.x[bin], state.box.min[axis] + (bin + 0.5) * state.box.size[axis] / kBins);
    }
    slices.assign(kBins, {});
    const AverageTable temperature = after({.name = "t", .kind = "temperature_profile", .axis = axis, .bins = kBins});
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        double flow = 0.0;
        for (const double p : slices[bin].momentum) flow += p * p / slices[bin].mass;
        EXPECT_NEAR(temperature.values[bin], (slices[bin].energy - flow) / (dimension() * slices[bin].count),
                    kRounding);
    }
    slices.assign(kBins, {});
    const AverageTable flow = after({.name = "u", .kind = "velocity_profile", .axis = axis, .bins = kBins});
    for (int k = 0; k < dimension(); ++k) {
        for (std::size_t bin = 0; bin < kBins; ++bin) {
            EXPECT_NEAR(flow.values[k * kBins + bin], slices[bin].momentum[k] / slices[bin].mass, kRounding);
        }
    }
}

TEST_P(AveragesTest, ADensityMapHasCellsThatAreNearlySquare) {
    std::vector<double> counts;
    each_sample = [&] {
        for (std::size_t id = 0; id < state.frame.size(); ++id) {
            if (!state.counts(id, "a")) continue;
            const double x = (state.frame.position[0][id] - state.box.min[0]) / state.box.size[0] * 10.0;
            const double y = (state.frame.position[1][id] - state.box.min[1]) / state.box.size[1] * 7.0;
            counts.resize(70);
            counts[static_cast<std::size_t>(y) * 10 + static_cast<std::size_t>(x)] += 1.0;
        }
    };
    const AverageTable table = after({.name = "m", .kind = "density_map", .species = "a", .axis = 2, .bins = 10});
    ASSERT_EQ(info.x.points, 10u);
    ASSERT_EQ(info.y.points, 7u);  // a box of 10 by 7
    for (std::size_t cell = 0; cell < 70; ++cell) {
        EXPECT_NEAR(table.values[cell], counts[cell] / 3.0 / (state.box.volume() / 70.0), kRounding) << cell;
    }
}

TEST_P(AveragesTest, MapsOfTemperatureAndFlowAreThoseOfTheBallsInACell) {
    struct Cell {
        double count = 0.0, mass = 0.0, energy = 0.0;
        std::array<double, 3> momentum{};
    };
    constexpr int kSamples = 30;  // 200 balls in 12 cells: some hundred in each
    std::vector<Cell> cells(12);
    each_sample = [&] {
        for (std::size_t id = 0; id < state.frame.size(); ++id) {
            if (!state.counts(id)) continue;
            const double x = (state.frame.position[0][id] - state.box.min[0]) / state.box.size[0] * 4.0;
            const double y = (state.frame.position[1][id] - state.box.min[1]) / state.box.size[1] * 3.0;
            Cell& cell = cells[static_cast<std::size_t>(y) * 4 + static_cast<std::size_t>(x)];
            const double mass = state.species(id).mass;
            cell.count += 1.0;
            cell.mass += mass;
            for (int k = 0; k < dimension(); ++k) {
                cell.momentum[k] += mass * state.frame.velocity[k][id];
                cell.energy += mass * std::pow(state.frame.velocity[k][id], 2);
            }
        }
    };
    const AverageTable heat = after({.name = "t", .kind = "temperature_map", .axis = 2, .bins = 4}, kSamples);
    ASSERT_EQ(info.x.points, 4u);
    ASSERT_EQ(info.y.points, 3u);
    for (std::size_t at = 0; at < cells.size(); ++at) {
        double flow = 0.0;
        for (const double p : cells[at].momentum) flow += p * p / cells[at].mass;
        EXPECT_NEAR(heat.values[at], (cells[at].energy - flow) / (dimension() * cells[at].count), kRounding) << at;
        EXPECT_GT(heat.errors[at], 0.0);
    }
    cells.assign(12, {});
    const AverageTable flow = after({.name = "u", .kind = "velocity_map", .axis = 2, .bins = 4}, kSamples);
    ASSERT_EQ(info.components.size(), static_cast<std::size_t>(dimension()));
    for (int k = 0; k < dimension(); ++k) {
        for (std::size_t at = 0; at < cells.size(); ++at) {
            EXPECT_NEAR(flow.values[k * cells.size() + at], cells[at].momentum[k] / cells[at].mass, kRounding) << at;
        }
    }
}

TEST_P(AveragesTest, TemperatureOfARegionAndKurtosisAreThoseOfItsBalls) {
    const Vector3 low{0.0, 3.0, 1.0};
    const Vector3 high{5.0, 8.0, 6.0};
    double count = 0.0, mass = 0.0, energy = 0.0, second = 0.0, fourth = 0.0, components = 0.0;
    std::array<double, 3> momentum{};
    each_sample = [&] {
        for (std::size_t id = 0; id < state.frame.size(); ++id) {
            if (!state.counts(id)) continue;
            bool inside = true;
            for (int k = 0; k < dimension(); ++k) {
                const double w = state.species(id).mass * std::pow(state.frame.velocity[k][id], 2);
                second += w;
                fourth += w * w;
                components += 1.0;
                inside = inside && state.frame.position[k][id] > low[k] && state.frame.position[k][id] < high[k];
            }
            if (!inside) continue;
            count += 1.0;
            mass += state.species(id).mass;
            for (int k = 0; k < dimension(); ++k) {
                momentum[k] += state.species(id).mass * state.frame.velocity[k][id];
                energy += state.species(id).mass * std::pow(state.frame.velocity[k][id], 2);
            }
        }
    };
    const AverageTable region = after({.name = "t", .kind = "temperature", .region_min = low, .region_max = high});
    for (const double p : momentum) energy -= p * p / mass;
    EXPECT_NEAR(region.values[0], energy / (dimension() * count), kRounding);
    second = fourth = components = 0.0;
    const AverageTable kurtosis = after({.name = "k", .kind = "kurtosis"});
    EXPECT_NEAR(kurtosis.values[0], fourth / components / std::pow(second / components, 2), kRounding);
}

/// The distance to the nearest image, by trying all of them.
double nearest_distance(const AverageState& state, std::size_t i, std::size_t j) {
    double squared = 0.0;
    for (int axis = 0; axis < state.box.dimension; ++axis) {
        double least = INFINITY;
        const int most = state.box.periodic(axis) ? 1 : 0;
        for (int image = -most; image <= most; ++image) {
            least = std::min(least, std::abs(state.frame.position[axis][j] - state.frame.position[axis][i] +
                                             image * state.box.size[axis]));
        }
        squared += least * least;
    }
    return std::sqrt(squared);
}

TEST_P(AveragesTest, PairDistributionCountsAllPairsOfTheNearestImages) {
    // Few enough for all of them to be references in each sample.
    for (const double reach : {0.9, 2.0, 3.4}) {
        for (const char* with : {"", "b"}) {
            state = AverageState(dimension(), 40, Face::kPeriodic, 1);
            constexpr std::size_t kBins = 6;
            std::vector<double> pairs(kBins, 0.0);
            double ideal = 0.0;
            const std::string other = *with == '\0' ? "a" : with;
            each_sample = [&] {
                double others = 0.0;
                double references = 0.0;
                for (std::size_t i = 0; i < state.frame.size(); ++i) {
                    others += state.counts(i, other) ? 1.0 : 0.0;
                    if (!state.counts(i, "a")) continue;
                    references += 1.0;
                    for (std::size_t j = 0; j < state.frame.size(); ++j) {
                        if (i == j || !state.counts(j, other)) continue;
                        const double r = nearest_distance(state, i, j);
                        if (r < reach) pairs[static_cast<std::size_t>(r / reach * kBins)] += 1.0;
                    }
                }
                ideal += references * others / state.box.volume();
            };
            const AverageTable table =
                after({.name = "g", .kind = "gr", .species = "a", .with = with, .bins = kBins, .max = reach}, 2);
            for (std::size_t bin = 0; bin < kBins; ++bin) {
                const double width = reach / kBins;
                EXPECT_NEAR(table.values[bin],
                            pairs[bin] / (ideal * shell_volume(dimension(), bin * width, (bin + 1) * width)), kRounding)
                    << reach << " " << with << " " << bin;
            }
        }
    }
}

TEST_P(AveragesTest, BetweenWallsIndependentPlacesGiveOneAtAllDistances) {
    // Few balls: how many are far enough from the walls fluctuates a lot.
    constexpr int kSamples = 6000;
    state = AverageState(dimension(), 24, Face::kWall, 1);
    const auto averager = make_averager({.name = "g", .kind = "gr", .bins = 4, .max = 1.5}, state.context());
    for (int k = 0; k < kSamples; ++k) {
        state.shake(1000 + k);
        state.show(*averager, k);
    }
    const AverageTable table = averager->table();
    const double expected = 1.0 - 1.0 / 22.0;  // of 24 one is a wall and one is gone
    for (std::size_t bin = 0; bin < 4; ++bin) {
        EXPECT_NEAR(table.values[bin], expected, 5.0 * table.errors[bin]) << bin;
    }
    // The mean of the product of two counts in place of the product of their means gives 0.89 in 2D, 0.84 in 3D.
    EXPECT_LT(table.errors[3], 0.015);
}

TEST_P(AveragesTest, BetweenWallsOnlyBallsWithWholeShellsAreReferences) {
    state = AverageState(dimension(), 24, Face::kWall, 1);
    constexpr double kReach = 1.5;
    double pairs = 0.0;
    double references = 0.0;
    double samples = 0.0;
    double volume = 1.0;
    for (int axis = 0; axis < dimension(); ++axis) volume *= state.box.size[axis] - 2.0 * kReach;
    each_sample = [&] {
        samples += 1.0;
        for (std::size_t i = 0; i < state.frame.size(); ++i) {
            bool inner = state.counts(i);
            for (int axis = 0; axis < dimension() && inner; ++axis) {
                const double at = state.frame.position[axis][i] - state.box.min[axis];
                inner = at > kReach && at < state.box.size[axis] - kReach;
            }
            if (!inner) continue;
            references += 1.0;
            for (std::size_t j = 0; j < state.frame.size(); ++j) {
                pairs += i != j && state.counts(j) && nearest_distance(state, i, j) < kReach ? 1.0 : 0.0;
            }
        }
    };
    const AverageTable table = after({.name = "g", .kind = "gr", .bins = 4, .max = kReach}, 4);
    double counted = 0.0;
    for (std::size_t bin = 0; bin < 4; ++bin) {
        counted += table.values[bin] * shell_volume(dimension(), bin * kReach / 4, (bin + 1) * kReach / 4);
    }
    // Mean pairs over mean references and mean density.
    EXPECT_NEAR(counted, pairs * samples * volume / (references * references), kRounding * pairs);
}

TEST_P(AveragesTest, OfManyNeighboursTheReferencesTakeTurns) {
    // Independent places, more candidates than are looked at in one sample: still g = 1 in the mean.
    state = AverageState(dimension(), 2000, Face::kPeriodic, 1);
    const auto averager = make_averager({.name = "g", .kind = "gr", .bins = 4, .max = 3.4}, state.context());
    for (int k = 0; k < 40; ++k) {
        state.shake(500 + k);
        state.show(*averager, k);
    }
    const AverageTable table = averager->table();
    for (std::size_t bin = 1; bin < 4; ++bin) {
        // 1 - 1/N from a ball not being its own neighbour; 5 standard errors, 3 bins: once in a million.
        EXPECT_NEAR(table.values[bin], 1.0, 5.0 * table.errors[bin] + 1e-3);
        EXPECT_LT(table.errors[bin], 0.02);
    }
}

/// All kinds, with what each needs.
TEST_P(AveragesTest, GoOnFromWhatWasSavedToTheSameBits) {
    std::vector<ObserveRequest> requests;
    for (const std::string& kind : average_kinds()) {
        requests.push_back({.name = "n", .kind = kind, .region_max = {9.0, 9.0, 9.0}});
    }
    requests.push_back({.name = "n", .kind = "mean_free_path", .species = "b"});
    for (const ObserveRequest& request : requests) {
        const std::string& kind = request.kind;
        const auto whole = make_averager(request, state.context(0.5, 150));
        auto part = make_averager(request, state.context(0.5, 20));
        for (int k = 0; k < 150; ++k) {
            state.shake(k);
            state.frame.time = k;
            Tallies tallies;
            tallies.collisional_virial = 0.0;
            tallies.collisional_stress[0] = k * k;
            tallies.meetings = static_cast<std::uint64_t>(3 * k);
            LoggedImpact hit{.time = k - 0.5, .i = 1, .j = static_cast<std::uint32_t>(2 + k % 3)};
            hit.velocity_i[0] = 0.1 * k;
            for (Averager* averager : {whole.get(), part.get()}) {
                if (!averager->followed().empty()) averager->impact(hit);
                if (averager->needs_accounts()) {
                    averager->account(
                        {.time = state.frame.time, .tallies = tallies, .totals = {}, .path_length = 0.5 * k * k});
                }
                state.show(*averager, k);
            }
            if (k == 13 || k == 77) {
                std::vector<double> saved;
                part->save(saved);
                part = make_averager(request, state.context(0.5, 40));
                SavedNumbers numbers(saved);
                part->restore(numbers);
                EXPECT_TRUE(numbers.empty()) << kind;
            }
        }
        std::vector<double> a, b;
        whole->save(a);
        part->save(b);
        ASSERT_EQ(a.size(), b.size()) << kind;
        // What memory is foreseen; beside it there are some counts of what there is.
        constexpr std::size_t kCountsOfASeries = 6;
        EXPECT_LE(a.size(), whole->most_numbers() + kCountsOfASeries * 64) << kind;
        std::vector<double> none;
        make_averager(request, state.context(0.5, 150))->save(none);
        EXPECT_LE(none.size(), 2 * kCountsOfASeries) << kind << " keeps something before its first sample";
        for (std::size_t k = 0; k < a.size(); ++k) {
            // Balls that are gone are NaN in what a correlator keeps.
            EXPECT_TRUE(a[k] == b[k] || (std::isnan(a[k]) && std::isnan(b[k]))) << kind << " " << k;
        }
    }
}

TEST(AverageKinds, AreTheOnesThatASceneMayAskFor) {
    std::vector<std::string> known{"displaced", "displaced_each"};
    for (const std::string& kind : average_kinds()) known.push_back(kind);
    std::vector<std::string> allowed;
    for (const auto choice : choices_of(*find_key("observe", "kind"))) allowed.emplace_back(choice);
    EXPECT_EQ(known, allowed);
}

}  // namespace
}  // namespace carom
