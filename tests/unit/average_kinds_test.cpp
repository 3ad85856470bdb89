#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <vector>

#include "host/observables/correlator.hpp"
#include "host/observables/frame_sampler.hpp"
#include "host/observables/registry.hpp"
#include "host/scene/keys.hpp"
#include "kernels/physics/pair_distribution.hpp"
#include "tests/support/kinds.hpp"

// Each average against a calculation that goes over all balls and pairs, on a small state.

namespace carom::average_kinds_test {

/// A small state and what makes averages of it.
struct AverageState {
    Box box;
    Frame frame;
    std::shared_ptr<Population> population = std::make_shared<Population>();

    /// Balls of species "a" (mass 1) and "b" (mass 3) in turns, anywhere in the box, velocities Gaussian.
    AverageState(int dimension, std::size_t count, Face face, unsigned seed) {
        box.dimension = dimension;
        box.min = {-1.0, 2.0, dimension == 3 ? 0.5 : 0.0};
        box.size = {10.0, 7.0, dimension == 3 ? 8.0 : 0.0};
        for (auto& faces : box.faces) faces = {face, face};
        population->table = {{"a", 0.1, 1.0, 0.05, ""}, {"b", 0.2, 3.0, 0.05, ""}, {"wall", 1.0, INFINITY, 0.5, ""}};
        frame.resize(dimension, count);
        for (std::size_t id = 0; id < count; ++id) {
            population->species.append(id == 0 ? 2 : static_cast<std::uint32_t>(id % 2));
        }
        shake(seed);
    }
    /// Other places and velocities.
    void shake(unsigned seed) {
        std::mt19937_64 generator(seed);
        std::uniform_real_distribution<double> uniform;
        std::normal_distribution<double> normal;
        for (int axis = 0; axis < box.dimension; ++axis) {
            for (std::size_t id = 0; id < frame.size(); ++id) {
                frame.position[axis][id] = box.min[axis] + box.size[axis] * uniform(generator);
                frame.velocity[axis][id] = normal(generator) + 0.3;
                frame.image[axis][id] = static_cast<std::int32_t>(generator() % 5) - 2;
                frame.gone[id] = 0;
            }
        }
        frame.gone[frame.size() - 1] = 1;
        for (int axis = 0; axis < box.dimension; ++axis) frame.position[axis][frame.size() - 1] = std::nan("");
    }
    [[nodiscard]] AverageContext context(double every = 0.5, std::uint64_t samples = 100) const {
        return {.box = box, .population = population, .every = every, .samples = samples};
    }
    /// One sample of the balls as they are.
    void show(Average& averager, std::uint64_t index) const {
        const std::vector<double> masses = finite_masses(population->table);
        const std::vector<std::uint32_t> rows = population->species.rows();
        FrameSampler balls(frame, {.species = rows, .mass = masses});
        averager.add(balls, {.time = frame.time, .index = index});
    }
    [[nodiscard]] const Species& species(std::size_t id) const { return population->table[population->species[id]]; }
    /// In, of finite mass, and of that species if one is named.
    [[nodiscard]] bool counts(std::size_t id, const std::string& name = "") const {
        if (frame.gone[id] != 0) return false;
        return name.empty() ? std::isfinite(species(id).mass) : species(id).name == name;
    }
};

class AveragesTest : public testing::TestWithParam<int> {
protected:
    AverageTable after(const ObserveEntry& request, int samples = 3) {
        const auto averager = make_average(request, state.context());
        for (int k = 0; k < samples; ++k) {
            state.shake(100 + k);
            state.show(*averager, k);
            each_sample();
        }
        info = averager->info();
        AverageTable table = averager->table();
        EXPECT_EQ(table.samples, samples);
        EXPECT_EQ(table.values.size(), info.width());
        EXPECT_EQ(table.errors.size(), info.width());
        return table;
    }
    int dimension() const { return GetParam(); }

    AverageState state{GetParam(), 200, Face::kPeriodic, 1};
    AverageInfo info;
    std::function<void()> each_sample = [] {};
};

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
        const auto averager = make_average({.name = "s", .kind = kind, .bins = 16}, state.context());
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

TEST_P(AveragesTest, ABallThatIsFarHeavierOrFasterTakesNothingFromTheOthers) {
    constexpr std::size_t kBins = 5;
    constexpr std::size_t kHeavy = 6;
    constexpr std::size_t kFast = 7;
    state.population->table.push_back({"heavy", 0.1, 1e16, 0.05, ""});
    std::vector<std::uint32_t> rows = state.population->species.rows();
    rows[kHeavy] = 3;
    for (const bool heavy : {true, false}) {
        if (!heavy) rows[kHeavy] = 0;
        state.population->species = rows;
        state.shake(77);
        for (int axis = 0; axis < dimension(); ++axis) {
            for (const std::size_t id : {kHeavy, kFast}) state.frame.position[axis][id] = state.box.min[axis] + 0.1;
            state.frame.velocity[axis][kFast] = heavy ? 1.0 : -1e9;
        }
        const int axis = dimension() - 1;
        std::vector<double> mass(kBins), energy(kBins), balls(kBins);
        std::vector<std::array<double, 3>> momentum(kBins);
        for (std::size_t id = 0; id < state.frame.size(); ++id) {
            if (!state.counts(id)) continue;
            const double at = (state.frame.position[axis][id] - state.box.min[axis]) / state.box.size[axis] * kBins;
            const auto bin = static_cast<std::size_t>(at);
            const double m = state.species(id).mass;
            mass[bin] += m;
            for (int k = 0; k < dimension(); ++k) {
                momentum[bin][k] += m * state.frame.velocity[k][id];
                energy[bin] += m * std::pow(state.frame.velocity[k][id], 2);
            }
            balls[bin] += 1.0;
        }
        const auto flow =
            make_average({.name = "u", .kind = "velocity_profile", .axis = axis, .bins = kBins}, state.context());
        const auto heat =
            make_average({.name = "t", .kind = "temperature_profile", .axis = axis, .bins = kBins}, state.context());
        for (Average* const average : {flow.get(), heat.get()}) state.show(*average, 0);
        for (std::size_t bin = 1; bin < kBins; ++bin) {
            EXPECT_NEAR(flow->table().values[bin], momentum[bin][0] / mass[bin], 1e-9) << heavy << " " << bin;
            double of_flow = 0.0;
            for (const double p : momentum[bin]) of_flow += p * p / mass[bin];
            EXPECT_NEAR(heat->table().values[bin], (energy[bin] - of_flow) / (dimension() * balls[bin]), 1e-9)
                << heavy << " " << bin;
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
    const auto averager = make_average({.name = "g", .kind = "gr", .bins = 4, .max = 1.5}, state.context());
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
    const auto averager = make_average({.name = "g", .kind = "gr", .bins = 4, .max = 3.4}, state.context());
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

TEST_P(AveragesTest, SamplesOfManyReferencesCountAsMuchAsThoseOfFew) {
    // Balls crowd more or less, so that of one reference to four one has a turn, and in twelve looks each has as many.
    constexpr double kReach = 2.0;
    constexpr int kLooks = 12;
    constexpr int kCrowds = 7;
    constexpr std::size_t kBins = 3;
    state = AverageState(dimension(), 60, Face::kWall, 1);
    const auto averager = make_average({.name = "g", .kind = "gr", .bins = kBins, .max = kReach}, state.context());
    const auto inner = [&](std::size_t id) {
        bool is = state.counts(id);
        for (int axis = 0; axis < dimension() && is; ++axis) {
            const double at = state.frame.position[axis][id] - state.box.min[axis];
            is = at > kReach && at < state.box.size[axis] - kReach;
        }
        return is;
    };
    std::vector<double> pairs(kBins, 0.0);
    double references = 0.0;
    for (int crowd = 0; crowd < kCrowds; ++crowd) {
        state.shake(200 + crowd);
        for (int axis = 0; axis < dimension(); ++axis) {
            const double middle = state.box.min[axis] + 0.5 * state.box.size[axis];
            for (double& at : state.frame.position[axis]) at = middle + (at - middle) * (1.0 - 0.1 * crowd);
        }
        for (int look = 0; look < kLooks; ++look) state.show(*averager, crowd * kLooks + look);
        for (std::size_t i = 0; i < state.frame.size(); ++i) {
            if (!inner(i)) continue;
            references += 1.0;
            for (std::size_t j = 0; j < state.frame.size(); ++j) {
                const double r = i != j && state.counts(j) ? nearest_distance(state, i, j) : kReach;
                if (r < kReach) pairs[static_cast<std::size_t>(r / kReach * kBins)] += 1.0;
            }
        }
    }
    double volume = 1.0;
    for (int axis = 0; axis < dimension(); ++axis) volume *= state.box.size[axis] - 2.0 * kReach;
    const AverageTable table = averager->table();
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        const double shell = shell_volume(dimension(), bin * kReach / kBins, (bin + 1) * kReach / kBins);
        const double g = pairs[bin] * kCrowds * volume / (references * references * shell);
        EXPECT_NEAR(table.values[bin] / g, 1.0, kRounding) << bin;
    }
}

/// All kinds, with what each needs.
TEST_P(AveragesTest, GoOnFromWhatWasSavedToTheSameBits) {
    std::vector<ObserveEntry> requests;
    for (const ObservableKind& kind : observable_kinds()) {
        if (!kind.averaged()) continue;
        requests.push_back({.name = "n",
                            .kind = std::string(kind.name),
                            .region_max = {9.0, 9.0, 9.0},
                            .own = test::example_values(kind.keys, dimension())});
    }
    requests.push_back({.name = "n", .kind = "mean_free_path", .species = "b"});
    for (const ObserveEntry& request : requests) {
        const std::string& kind = request.kind;
        const auto whole = make_average(request, state.context(0.5, 150));
        auto part = make_average(request, state.context(0.5, 20));
        for (int k = 0; k < 150; ++k) {
            state.shake(k);
            state.frame.time = k;
            Tallies tallies;
            tallies.collisional_virial = 0.0;
            tallies.collisional_stress[0] = k * k;
            tallies.meetings = static_cast<std::uint64_t>(3 * k);
            LoggedImpact hit{.time = k - 0.5, .i = 1, .j = static_cast<std::uint32_t>(2 + k % 3)};
            hit.velocity_i[0] = 0.1 * k;
            for (Average* averager : {whole.get(), part.get()}) {
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
                part = make_average(request, state.context(0.5, 40));
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
        make_average(request, state.context(0.5, 150))->save(none);
        EXPECT_LE(none.size(), 2 * kCountsOfASeries) << kind << " keeps something before its first sample";
        for (std::size_t k = 0; k < a.size(); ++k) {
            // Balls that are gone are NaN in what a correlator keeps.
            EXPECT_TRUE(a[k] == b[k] || (std::isnan(a[k]) && std::isnan(b[k]))) << kind << " " << k;
        }
    }
}

TEST(ObservableKinds, StandInTheReferenceAsTheyAre) {
    std::ostringstream text;
    text << std::ifstream(CAROM_SOURCE_DIR "/docs/scene-file.md").rdbuf();
    for (const bool averaged : {false, true}) {
        EXPECT_NE(text.str().find(observable_reference(averaged)), std::string::npos)
            << "docs/scene-file.md must hold, as it stands:\n"
            << observable_reference(averaged);
    }
    EXPECT_NE(text.str().find(row_reference()), std::string::npos) << "docs/scene-file.md must hold, as it stands:\n"
                                                                   << row_reference();
}

// Averages of what contacts pass on, against numbers that one can add up by hand.

constexpr std::array<std::array<int, 2>, 6> kPairs{{{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}}};

class ContactAverages : public testing::TestWithParam<int> {
protected:
    /// Three samples, the pairs' part growing by `growth` between two; gives sum m v_a v_b of the last two, their mean.
    std::array<double, 6> feed(Average& averager, const StressTensor& growth) {
        std::array<double, 6> kinetic{};
        for (int k = 0; k < 3; ++k) {
            state.shake(20 + k);
            Tallies tallies;
            tallies.collisional_virial = 0.0;
            for (std::size_t c = 0; c < growth.size(); ++c) tallies.collisional_stress[c] = 7.0 + k * growth[c];
            averager.account({.time = 0.5 * k, .tallies = tallies, .totals = {}});
            state.show(averager, k);
            for (std::size_t id = 0; k > 0 && id < state.frame.size(); ++id) {
                if (!state.counts(id)) continue;
                for (std::size_t c = 0; c < 6; ++c) {
                    if (kPairs[c][1] >= dimension()) continue;
                    kinetic[c] += 0.5 * state.species(id).mass * state.frame.velocity[kPairs[c][0]][id] *
                                  state.frame.velocity[kPairs[c][1]][id];
                }
            }
        }
        return kinetic;
    }
    int dimension() const { return GetParam(); }
    std::unique_ptr<Average> make(const std::string& kind) {
        return make_average({.name = "n", .kind = kind}, state.context());
    }

    AverageState state{GetParam(), 50, Face::kPeriodic, 1};
};
INSTANTIATE_TEST_SUITE_P(Dimensions, ContactAverages, testing::Values(2, 3));

TEST_P(ContactAverages, StressIsMotionAndWhatHasBeenPassedOnSince) {
    const StressTensor growth{
        1.0, 2.0, dimension() == 3 ? 3.0 : 0.0, -4.0, dimension() == 3 ? 5.0 : 0.0, dimension() == 3 ? -6.0 : 0.0};
    const auto stress = make("stress");
    const auto kinetic = feed(*stress, growth);
    const AverageTable table = stress->table();
    EXPECT_EQ(table.samples, 2.0) << "the first one is what the others are counted from";
    EXPECT_EQ(stress->info().components.size(), dimension() == 2 ? 3u : 6u);
    std::size_t at = 0;
    for (std::size_t c = 0; c < 6; ++c) {
        if (kPairs[c][1] >= dimension()) continue;
        EXPECT_NEAR(table.values[at++], (kinetic[c] + growth[c] / 0.5) / state.box.volume(), kRounding) << c;
    }
    const auto moving = make("kinetic_stress");
    const auto passed_on = make("collisional_stress");
    feed(*moving, growth);
    feed(*passed_on, growth);
    const AverageTable motion = moving->table();
    const AverageTable contacts = passed_on->table();
    at = 0;
    for (std::size_t c = 0; c < 6; ++c) {
        if (kPairs[c][1] >= dimension()) continue;
        EXPECT_NEAR(motion.values[at], kinetic[c] / state.box.volume(), kRounding) << c;
        EXPECT_NEAR(contacts.values[at++], growth[c] / 0.5 / state.box.volume(), kRounding) << c;
    }
    const auto pressure = make("pressure");
    feed(*pressure, growth);
    double trace = 0.0;
    for (std::size_t c = 0; c < static_cast<std::size_t>(dimension()); ++c) trace += table.values[c];
    EXPECT_NEAR(pressure->table().values[0], trace / dimension(), kRounding);
}

TEST_P(ContactAverages, StressOfSpringsIsThatOfTheMoment) {
    const auto stress = make("stress");
    Totals totals;
    totals.pair_stress = {30.0, 40.0, 0.0, 5.0, 0.0, 0.0};
    stress->account({.time = 0.0, .tallies = {}, .totals = totals});
    for (auto& axis : state.frame.velocity) std::fill(axis.begin(), axis.end(), 0.0);
    state.show(*stress, 0);
    EXPECT_EQ(stress->table().samples, 1.0);
    EXPECT_NEAR(stress->table().values[0], 30.0 / state.box.volume(), kRounding);
    EXPECT_NEAR(stress->table().values[dimension() == 2 ? 2 : 3], 5.0 / state.box.volume(), kRounding);
}

TEST_P(ContactAverages, BetweenWallsTheVolumeIsThatOfTheCentres) {
    // Of the balls that push walls: those of infinite mass do not.
    double mean_radius = 0.0;
    double mobile = 0.0;
    for (const std::uint32_t row : state.population->species.rows()) {
        const Species& species = state.population->table[row];
        if (std::isinf(species.mass)) continue;
        mean_radius += species.radius;
        mobile += 1.0;
    }
    ASSERT_LT(mobile, static_cast<double>(state.population->species.size()));
    mean_radius /= mobile;
    state.box.faces[0] = {Face::kWall, Face::kWall};
    const auto stress = make("stress");
    const auto kinetic = feed(*stress, {});
    EXPECT_NEAR(stress->table().values[0],
                kinetic[0] / state.box.volume() * state.box.size[0] / (state.box.size[0] - 2.0 * mean_radius),
                kRounding);
    EXPECT_NEAR(stress->table().values[1], kinetic[1] / state.box.volume(), kRounding);
}

TEST_P(ContactAverages, CompressibilityTakesTheTemperatureOfTheMovingFrame) {
    const auto z = make("compressibility");
    feed(*z, {1.0, 2.0, 3.0, 0.0, 0.0, 0.0});
    // By hand, at the same two samples.
    double thermal = 0.0;
    double balls = 0.0;
    for (int k = 1; k < 3; ++k) {
        state.shake(20 + k);
        std::array<double, 3> p{};
        double mass = 0.0;
        for (std::size_t id = 0; id < state.frame.size(); ++id) {
            if (!state.counts(id)) continue;
            for (int axis = 0; axis < dimension(); ++axis) {
                const double v = state.frame.velocity[axis][id];
                thermal += 0.5 * state.species(id).mass * v * v;
                p[axis] += state.species(id).mass * v;
            }
            mass += state.species(id).mass;
            balls += 0.5;
        }
        for (const double component : p) thermal -= 0.5 * component * component / mass;
    }
    const double pairs = (dimension() == 2 ? 3.0 : 6.0) / 0.5;
    const double temperature = thermal / (dimension() * (balls - 1.0));
    // What the whole's own motion adds to the stress is no pressure of pairs.
    EXPECT_NEAR(z->table().values[0], 1.0 + pairs / (dimension() * balls * temperature), 1e-10);
}

/// Ball 1 meets others at x = 0, turns at a wall, meets another: a path of two legs.
TEST_P(ContactAverages, APathGoesFromCollisionToCollisionThroughWalls) {
    const auto feed_paths = [&](Average& averager) {
        state.frame.time = 0.0;
        state.show(averager, 0);
        const Vector3 first{3.0, 4.0, 0.0};
        const Vector3 back{-3.0, 4.0, 0.0};
        averager.impact({.time = 1.0, .i = 1, .j = 2, .velocity_i = first, .velocity_j = {1.0, 0.0, 0.0}});
        averager.impact({.time = 1.4,
                         .what = LoggedImpact::What::kWall,
                         .i = 1,
                         .j = 2,
                         .velocity_i = back});  // 2 is the wall's number
        averager.impact({.time = 2.0, .i = 1, .j = 3, .velocity_i = {}, .velocity_j = {}});
        state.frame.time = 4.0;
        state.show(averager, 1);
    };
    // Of a species: 1 and 3 are "b", 2 is "a".
    const auto mean = make_average({.name = "n", .kind = "mean_free_path", .species = "b"}, state.context());
    feed_paths(*mean);
    double ways = 5.0 * 1.0;  // of ball 1 from its first collision to its last
    for (std::size_t id = 0; id < state.frame.size(); ++id) {
        if (!state.counts(id, "b")) continue;
        double squared = 0.0;
        for (const auto& axis : state.frame.velocity) squared += id < axis.size() ? axis[id] * axis[id] : 0.0;
        ways += std::sqrt(squared) * (id == 1 ? 1.0 : id == 3 ? 2.0 : 4.0);
    }
    EXPECT_NEAR(mean->table().values[0], ways / 3.0, kRounding);
    const auto density = make_average({.name = "n", .kind = "free_path", .bins = 8, .max = 8.0}, state.context());
    feed_paths(*density);
    for (std::size_t bin = 0; bin < 8; ++bin) EXPECT_EQ(density->table().values[bin], bin == 5 ? 1.0 : 0.0) << bin;
    const auto of_a = make_average({.name = "n", .kind = "collision_rate", .species = "a"}, state.context());
    feed_paths(*of_a);
    double others = 0.0;
    for (std::size_t id = 0; id < state.frame.size(); ++id) others += state.counts(id, "a") ? 1.0 : 0.0;
    EXPECT_NEAR(of_a->table().values[0], 1.0 / (4.0 * others), kRounding);
}

TEST_P(ContactAverages, OfManyBallsPathsAreOfEachKindsShare) {
    state = AverageState(GetParam(), 1500, Face::kWall, 1);
    for (const char* const kind : {"free_path", "mean_free_path"}) {
        ObserveEntry request{.name = "n", .kind = kind, .bins = 8, .max = 8.0};
        if (request.kind == "mean_free_path") request = {.name = "n", .kind = kind, .species = "b"};
        const auto average = make_average(request, state.context());
        std::size_t a = 0;
        std::size_t b = 0;
        const auto followed = average->followed();
        for (std::size_t id = 0; id < followed.size(); ++id) (id % 2 == 0 ? a : b) += followed[id];
        if (request.species.empty()) {
            EXPECT_EQ(a + b, 750U);
            EXPECT_NEAR(static_cast<double>(a), 375.0, 1.0);
        } else {
            EXPECT_EQ(a, 0U);
            EXPECT_EQ(b, 750U);
        }
    }
}

/// Ball 1 meets another at 1, and leaves the box at 3, between two samples.
TEST_P(ContactAverages, ABallThatLeavesHasGoneItsLastWay) {
    const auto leave = [&](Average& averager) {
        state.frame.time = 0.0;
        state.show(averager, 0);
        averager.impact({.time = 1.0, .i = 1, .j = 2, .velocity_i = {3.0, 4.0, 0.0}, .velocity_j = {1.0, 0.0, 0.0}});
        averager.impact({.time = 3.0, .what = LoggedImpact::What::kLeft, .i = 1, .velocity_i = {3.0, 4.0, 0.0}});
        state.frame.gone[1] = 1;
        state.frame.time = 4.0;
        state.show(averager, 1);
        state.frame.gone[1] = 0;
    };
    double ways = 0.0;
    double ball_time = 3.0;  // of ball 1
    for (std::size_t id = 0; id < state.frame.size(); ++id) {
        if (!state.counts(id, "b")) continue;
        double squared = 0.0;
        for (const auto& axis : state.frame.velocity) squared += id < axis.size() ? axis[id] * axis[id] : 0.0;
        ways += id == 1 ? std::sqrt(squared) * 1.0 + 5.0 * 2.0 : std::sqrt(squared) * 4.0;
        ball_time += id == 1 ? 0.0 : 4.0;
    }
    const auto path = make_average({.name = "n", .kind = "mean_free_path", .species = "b"}, state.context());
    leave(*path);
    EXPECT_NEAR(path->table().values[0], ways, kRounding);
    const auto rate = make_average({.name = "n", .kind = "collision_rate", .species = "b"}, state.context());
    leave(*rate);
    EXPECT_NEAR(rate->table().values[0], 1.0 / ball_time, kRounding);
}

/// Of all balls, they are what the solver has counted between the first sample and the last of those in a row.
TEST_P(ContactAverages, PathsOfAllBallsAreTheSolversCounts) {
    double mobile = 0.0;
    for (std::size_t id = 0; id < state.frame.size(); ++id) mobile += state.counts(id) ? 1.0 : 0.0;
    for (const char* kind : {"mean_free_path", "collision_rate"}) {
        const auto averager = make(kind);
        EXPECT_TRUE(averager->followed().empty());
        Tallies tallies;
        double path_length = 0.0;
        const auto look = [&](double time, double length, std::uint64_t meetings, bool measure) {
            path_length += length;
            tallies.meetings += meetings;
            averager->account({.time = time, .tallies = tallies, .totals = {}, .path_length = path_length});
            state.frame.time = time;
            if (measure) state.show(*averager, 0);
            if (!measure) averager->skip();
        };
        look(1.0, 100.0, 900, true);
        look(2.0, 10.0, 4, true);
        look(4.0, 30.0, 12, true);
        look(5.0, 7.0, 99, false);
        look(7.0, 8.0, 98, true);  // part of it is from where nothing is measured
        look(8.0, 20.0, 4, true);
        const AverageTable table = averager->table();
        EXPECT_EQ(table.samples, 3.0);
        const bool path = std::string(kind) == "mean_free_path";
        EXPECT_NEAR(table.values[0], path ? 60.0 / 20.0 : 20.0 / (4.0 * mobile), kRounding);
    }
}

TEST_P(ContactAverages, StressForgetsWhatWasNotMeasured) {
    const auto stress = make("stress");
    Tallies tallies;
    tallies.collisional_virial = 0.0;
    for (auto& axis : state.frame.velocity) std::fill(axis.begin(), axis.end(), 0.0);
    const auto look = [&](double time, double gained, bool measure) {
        tallies.collisional_stress[0] += gained;
        stress->account({.time = time, .tallies = tallies, .totals = {}});
        if (measure) state.show(*stress, 0);
        if (!measure) stress->skip();
    };
    look(0.0, 0.0, false);
    look(1.0, 1000.0, false);
    look(2.0, 500.0, true);
    look(3.0, 30.0, true);
    EXPECT_EQ(stress->table().samples, 1.0);
    EXPECT_NEAR(stress->table().values[0], 30.0 / state.box.volume(), kRounding);
}

TEST_P(ContactAverages, APathUnderGravityIsAnArc) {
    const auto mean = make_average({.name = "n", .kind = "mean_free_path", .species = "b"}, state.context());
    mean->fly_under(std::vector<GravityUntil>{{.until = 0.0, .gravity = {0.0, -2.0, 0.0}}});
    for (auto& axis : state.frame.velocity) std::fill(axis.begin(), axis.end(), 0.0);
    state.frame.time = 0.0;
    state.show(*mean, 0);
    mean->impact({.time = 0.0, .i = 1, .j = 2, .velocity_i = {3.0, 4.0, 0.0}, .velocity_j = {}});
    mean->impact({.time = 0.5, .i = 1, .j = 3, .velocity_i = {}, .velocity_j = {}});
    state.frame.time = 0.5;
    state.show(*mean, 1);
    double length = 0.0;  // by many short steps
    for (int k = 0; k < 100000; ++k) length += 5e-6 * std::hypot(3.0, 4.0 - 2.0 * 5e-6 * (k + 0.5));
    for (std::size_t id = 0; id < state.frame.size(); ++id) {
        if (id != 1 && state.counts(id, "b")) length += 0.25;  // others fall
    }
    EXPECT_NEAR(mean->table().values[0], length / 3.0, 1e-5);
}

/// Gravity changes at 0.2 and 0.3, while the balls fly and nobody looks: the same way, however often somebody did.
TEST_P(ContactAverages, APathGoesOnWhereGravityChanges) {
    const std::vector<GravityUntil> gravity{{.until = 0.2, .gravity = {0.0, -8.0, 0.0}},
                                            {.until = 0.3, .gravity = {}},
                                            {.until = 0.4, .gravity = {6.0, 0.0, 0.0}}};
    double length = 0.0;
    Vector3 velocity{3.0, 4.0, 0.0};
    for (int k = 0; k < 100000; ++k) {
        const Vector3& now = gravity[k < 40000 ? 0 : k < 60000 ? 1 : 2].gravity;
        for (int axis = 0; axis < 2; ++axis) velocity[axis] += 2.5e-6 * now[axis];
        length += 5e-6 * std::hypot(velocity[0], velocity[1]);
        for (int axis = 0; axis < 2; ++axis) velocity[axis] += 2.5e-6 * now[axis];
    }
    for (const bool stopped : {false, true}) {
        auto path = make_average({.name = "n", .kind = "free_path", .bins = 4096, .max = 4.096}, state.context());
        path->fly_under(gravity);
        state.frame.time = 0.0;
        state.show(*path, 0);
        path->impact({.time = 0.0, .i = 1, .j = 2, .velocity_i = {3.0, 4.0, 0.0}, .velocity_j = {}});
        if (stopped) {  // behind the change of which nothing has told it yet
            std::vector<double> out;
            path->save(out);
            path = make_average({.name = "n", .kind = "free_path", .bins = 4096, .max = 4.096}, state.context());
            SavedNumbers saved(out);
            path->restore(saved);
            path->fly_under(gravity);
        }
        path->impact({.time = 0.5, .i = 1, .j = 3, .velocity_i = {}, .velocity_j = {}});
        state.frame.time = 0.5;
        state.show(*path, 1);
        const AverageTable table = path->table();
        for (std::size_t bin = 0; bin < table.values.size(); ++bin) {
            EXPECT_EQ(table.values[bin] > 0.0, bin == static_cast<std::size_t>(length * 1000.0))
                << bin << " " << length;
        }
    }
}

// Averages that compare times with each other, against a calculation that goes over all balls and starts.

class AveragesInTime : public AveragesTest {};
INSTANTIATE_TEST_SUITE_P(Dimensions, AveragesInTime, testing::Values(2, 3));

TEST_P(AveragesInTime, CorrelationsInTimeAreMeansOverAllStarts) {
    constexpr int kSamples = 150;  // four levels of the correlator
    std::vector<Frame> frames;
    const auto msd = make_average({.name = "m", .kind = "msd", .species = "b"}, state.context(0.5, kSamples));
    const auto vacf = make_average({.name = "v", .kind = "vacf", .species = "b"}, state.context(0.5, kSamples));
    for (int k = 0; k < kSamples; ++k) {
        state.shake(k);
        state.show(*msd, 7 + k);
        state.show(*vacf, 7 + k);
        frames.push_back(state.frame);
    }
    const AverageTable way = msd->table();
    const AverageTable velocity = vacf->table();
    ASSERT_EQ(way.x, velocity.x);
    std::vector<double> evenly_on_a_log_axis;
    for (int lag = 0; lag <= 256; lag += lag < 16 ? 1 : lag < 32 ? 2 : lag < 64 ? 4 : lag < 128 ? 8 : 16) {
        evenly_on_a_log_axis.push_back(0.5 * lag);
    }
    ASSERT_EQ(way.x, evenly_on_a_log_axis);
    int looked_at = 0;
    for (std::size_t at = 0; at < way.x.size(); ++at) {
        const int lag = static_cast<int>(std::lround(way.x[at] / 0.5));
        if (lag >= kSamples) continue;
        // Level l looks at starts that are multiples of 2^l, where lag is 9 to 16 times 2^l, or up to 16 for level 0.
        int spacing = 1;
        while (lag / spacing > 16) spacing *= 2;
        double squares = 0.0, products = 0.0, starts = 0.0;
        for (int start = 0; start + lag < kSamples; start += spacing) {
            double square = 0.0, product = 0.0, balls = 0.0;
            for (std::size_t id = 0; id < state.frame.size(); ++id) {
                if (!state.counts(id, "b")) continue;
                balls += 1.0;
                for (int axis = 0; axis < dimension(); ++axis) {
                    const auto place = [&](const Frame& f) {
                        return f.position[axis][id] + f.image[axis][id] * state.box.size[axis];
                    };
                    square += std::pow(place(frames[start + lag]) - place(frames[start]), 2);
                    product += frames[start + lag].velocity[axis][id] * frames[start].velocity[axis][id];
                }
            }
            squares += square / balls;
            products += product / balls / dimension();
            starts += 1.0;
        }
        if (starts == 0.0) continue;
        EXPECT_NEAR(way.values[at], squares / starts, kRounding * std::max(1.0, squares)) << lag;
        EXPECT_NEAR(velocity.values[at], products / starts, kRounding * 10.0) << lag;
        ++looked_at;
    }
    EXPECT_GE(looked_at, 35);
}

/// Balls that take Gaussian steps, one a sample, which walls turn back.
struct Walk {
    const char* what;
    std::size_t balls = 102;  // of which the first and the last take no part
    int walled = 0;           // axes
    double step = 0.7;        // standard deviation along an axis
    double second = 0.7;      // of balls of the second species
    double all_as_one = 0.0;  // of a step that all take
};

void take_steps(AverageState& state, const Walk& walk, std::mt19937_64& generator) {
    std::normal_distribution<double> normal;
    for (int axis = 0; axis < state.box.dimension; ++axis) {
        const double low = state.box.min[axis];
        const double high = low + state.box.size[axis];
        const double together = walk.all_as_one * normal(generator);
        for (std::size_t id = 0; id < state.frame.size(); ++id) {
            double& at = state.frame.position[axis][id];
            at += (id % 2 == 0 ? walk.step : walk.second) * normal(generator) + together;
            if (axis < walk.walled) at = at < low ? 2.0 * low - at : at > high ? 2.0 * high - at : at;
        }
    }
}

TEST_P(AveragesInTime, RandomWalksDiffuseAsTheirStepsDo) {
    // D = variance of a step / (2 every), at 4 standard errors.
    constexpr int kSamples = 120;
    constexpr double kEvery = 0.5;
    std::mt19937_64 generator(11);
    for (auto& image : state.frame.image) std::ranges::fill(image, 0);
    const auto diffusion = make_average({.name = "d", .kind = "self_diffusion"}, state.context(kEvery, kSamples));
    for (int k = 0; k < kSamples; ++k) {
        take_steps(state, {.what = "free"}, generator);
        state.show(*diffusion, k);
    }
    const AverageTable table = diffusion->table();
    ASSERT_EQ(table.values.size(), 1U);
    EXPECT_TRUE(table.x.empty());
    EXPECT_NEAR(table.values[0], 0.49 / (2.0 * kEvery), 4.0 * table.errors[0]);
    EXPECT_LT(table.errors[0], 0.1 * table.values[0]);
}

TEST_P(AveragesInTime, ErrorsAreWhatWalksScatterBy) {
    // Over 64 walks, which know a scatter to 9 %. Lags of more than a twelfth of the run have no blocks.
    constexpr int kSamples = 300;
    constexpr int kWalks = 64;
    for (const Walk& walk :
         {Walk{.what = "free"}, Walk{.what = "between walls", .walled = 3},
          Walk{.what = "in a channel", .walled = dimension() - 1}, Walk{.what = "of two kinds", .step = 0.1},
          Walk{.what = "all as one", .all_as_one = 0.6}, Walk{.what = "of few", .balls = 10},
          Walk{.what = "of few, between walls", .balls = 10, .walled = 3}, Walk{.what = "of four", .balls = 6}}) {
        AverageState balls{GetParam(), walk.balls, Face::kWall, 1};
        for (auto& image : balls.frame.image) std::ranges::fill(image, 0);
        std::mt19937_64 generator(12);
        // By lag, and behind them the coefficient.
        std::vector<std::vector<double>> values, errors;
        for (int one = 0; one < kWalks; ++one) {
            const auto ways = make_average({.name = "m", .kind = "msd"}, balls.context(1.0, kSamples));
            const auto diffusion = make_average({.name = "d", .kind = "self_diffusion"}, balls.context(1.0, kSamples));
            for (int k = 0; k < kSamples; ++k) {
                take_steps(balls, walk, generator);
                balls.show(*ways, k);
                balls.show(*diffusion, k);
            }
            const AverageTable way = ways->table();
            const AverageTable growth = diffusion->table();
            values.push_back(way.values);
            errors.push_back(way.errors);
            values.back().push_back(growth.values.at(0));
            errors.back().push_back(growth.errors.at(0));
        }
        const auto claimed_over_true = [&](std::size_t k) {
            double mean = 0.0, scatter = 0.0, claimed = 0.0;
            for (const auto& found : values) mean += found[k] / kWalks;
            for (const auto& found : values) scatter += (found[k] - mean) * (found[k] - mean) / (kWalks - 1);
            for (const auto& found : errors) claimed += found[k] * found[k] / kWalks;
            return std::sqrt(claimed / scatter);
        };
        double logarithms = 0.0;
        double lags = 0.0;
        const std::size_t last = values[0].size() - 1;
        for (std::size_t k = 25; k < last; ++k) {
            const double ratio = claimed_over_true(k);
            if (!std::isfinite(ratio)) continue;
            logarithms += std::log(ratio);
            lags += 1.0;
        }
        EXPECT_GT(lags, 20.0) << walk.what;
        EXPECT_NEAR(std::exp(logarithms / lags), 1.0, 0.3) << walk.what;
        EXPECT_NEAR(claimed_over_true(last), 1.0, 0.3) << walk.what;
    }
}

TEST_P(AveragesInTime, OfManyBallsEachKindHasItsShare) {
    state = AverageState(GetParam(), 20000, Face::kPeriodic, 1);
    for (auto& axis : state.frame.velocity) {
        for (std::size_t id = 0; id < axis.size(); ++id) axis[id] = id % 2 == 0 ? 1.0 : 3.0;
    }
    const ObserveEntry request{.name = "v", .kind = "vacf"};
    auto averager = make_average(request, state.context());
    state.show(*averager, 0);
    // Half of them have 9, half of them 1; the last but one and the first do not count.
    EXPECT_NEAR(averager->table().values[0], 5.0, 8.0 / 4096.0);
    // A run goes on with the balls that it has followed, a version of before's with every so-manieth.
    const auto resumed = [&](const std::vector<double>& from) {
        averager = make_average(request, state.context());
        SavedNumbers numbers(from);
        averager->restore(numbers);
        EXPECT_TRUE(numbers.empty());
        state.show(*averager, 0);
        return averager->table().values[0];
    };
    const auto saved_now = [&] {
        std::vector<double> saved;
        averager->save(saved);
        return saved;
    };
    double before = 0.0;
    for (std::size_t k = 0; k < 4096; ++k) before += std::pow((1 + k * 19999 / 4096) / 1e4, 2) / 4096.0;
    for (auto& axis : state.frame.velocity) {
        for (std::size_t id = 0; id < axis.size(); ++id) axis[id] = static_cast<double>(id) / 1e4;
    }
    averager = make_average(request, state.context());
    const std::vector<double> none = saved_now();
    const double drawn = resumed(none);
    EXPECT_NEAR(drawn, before, 1e-3);
    EXPECT_GT(std::abs(drawn - before), 1e-9);
    EXPECT_EQ(resumed(saved_now()), drawn);
    EXPECT_NEAR(resumed({none.begin() + 1, none.end()}), before, kRounding);
    EXPECT_NEAR(resumed(saved_now()), before, kRounding);
}

TEST(ASelection, OfManyIsDrawnOfEachKindAndOfEachStretchOfIds) {
    constexpr std::size_t kBalls = 60000;
    constexpr std::size_t kDrawn = 1000;
    auto population = std::make_shared<Population>();
    population->table = {{"a", 0.1, 1.0, 0.05, ""}, {"b", 0.2, 3.0, 0.05, ""}, {"wall", 1.0, INFINITY, 0.5, ""}};
    for (std::size_t id = 0; id < kBalls; ++id) population->species.append(id % 100 == 99 ? 2 : id % 3 == 0 ? 1 : 0);
    const Selection all(population, "");
    const std::vector<std::uint32_t> some = all.drawn(kDrawn);
    ASSERT_EQ(some.size(), kDrawn);
    EXPECT_EQ(some, all.drawn(kDrawn)) << "in each run the same";
    std::map<std::uint32_t, std::size_t> of;
    std::map<std::uint32_t, std::size_t> last_digit;
    std::map<std::uint32_t, std::size_t> tenth;
    for (std::size_t k = 0; k < some.size(); ++k) {
        if (k > 0) {
            ASSERT_LT(some[k - 1], some[k]);
        }
        ++of[population->species[some[k]]];
        ++last_digit[some[k] % 10];
        ++tenth[some[k] / (kBalls / 10)];
    }
    EXPECT_EQ(of[2], 0U);
    EXPECT_NEAR(of[1] / static_cast<double>(kDrawn), 1.0 / 3.0, 1.5 / kDrawn);
    for (std::uint32_t k = 0; k < 10; ++k) {
        EXPECT_NEAR(tenth[k], kDrawn / 10.0, 3.0) << k;
        EXPECT_NEAR(last_digit[k], kDrawn / 10.0, 5.0 * std::sqrt(kDrawn / 10.0)) << k;
    }
    // Of few all.
    const Selection b(population, "b");
    std::vector<std::uint32_t> every;
    for (std::uint32_t id = 0; id < kBalls; ++id) {
        if (population->species[id] == 1) every.push_back(id);
    }
    EXPECT_EQ(b.drawn(every.size()), every);
    EXPECT_EQ(b.drawn(kBalls), every);
    EXPECT_TRUE(b.drawn(0).empty());
    EXPECT_TRUE(Selection(population, "none").drawn(5).empty());
}

/// Versions of before saved no groups of balls.
TEST(ACorrelator, GoesOnFromWhatAnOlderVersionSaved) {
    const auto product = [](std::span<const double> early, std::span<const double> late, std::span<double> values) {
        for (std::size_t ball = 0; ball < values.size(); ++ball) values[ball] = early[ball] * late[ball];
        return 0.0;
    };
    const std::vector<std::uint32_t> kinds(10, 3);
    const BallGroups groups = deal_into_groups(kinds);
    Correlator whole(10, groups, 100, product);
    auto part = std::make_unique<Correlator>(10, groups, 100, product);
    std::mt19937_64 generator(3);
    std::normal_distribution<double> normal;
    for (int k = 0; k < 100; ++k) {
        std::vector<double> sample(10);
        for (double& one : sample) one = normal(generator);
        whole.add(k, sample);
        part->add(k, sample);
        if (k != 40) continue;
        std::vector<double> saved;
        part->save(saved);
        const std::size_t series =
            Correlator::kSlots + 1 + (static_cast<std::size_t>(saved[1]) - 1) * Correlator::kSlots / 2;
        saved.resize(saved.size() - series * (1 + 2 * groups.count()));
        part = std::make_unique<Correlator>(10, groups, 100, product);
        SavedNumbers numbers(saved);
        part->restore(numbers);
        EXPECT_TRUE(numbers.empty());
        EXPECT_TRUE(std::isnan(part->scatter(1, 1))) << "nobody knows yet";
    }
    for (std::size_t lag = 1; lag < 20; ++lag) {
        EXPECT_EQ(part->at(lag).value, whole.at(lag).value) << lag;
        // Of 10 numbers that know nothing of each other, from 59 or 99 starts; as if it were all of them.
        EXPECT_NEAR(part->scatter(lag, lag) / whole.scatter(lag, lag), 1.0, 0.7) << lag;
    }
}

TEST(Groups, AreOfBallsOfAKind) {
    // 100 balls of one kind, 40 of another in turns with them, and three kinds of a ball or two.
    std::vector<std::uint32_t> kinds;
    for (std::uint32_t ball = 0; ball < 140; ++ball) kinds.push_back(ball % 7 < 5 ? 4 : 2);
    for (const std::uint32_t rare : {0U, 9U, 9U, 11U}) kinds.push_back(rare);
    const BallGroups groups = deal_into_groups(kinds);
    ASSERT_EQ(groups.of.size(), kinds.size());
    EXPECT_LE(groups.count(), 64U);
    EXPECT_GE(groups.count(), 60U);
    std::map<std::uint8_t, std::set<std::uint32_t>> kinds_of;
    std::map<std::uint8_t, int> balls_of;
    for (std::size_t ball = 0; ball < kinds.size(); ++ball) {
        ASSERT_LT(groups.of[ball], groups.count());
        kinds_of[groups.of[ball]].insert(std::min(kinds[ball], 9U) % 9);
        ++balls_of[groups.of[ball]];
    }
    EXPECT_EQ(kinds_of.size(), groups.count()) << "none is empty";
    for (const auto& [group, all] : kinds_of)
        EXPECT_EQ(all.size(), 1U) << "but rare ones, 0 of 9, have theirs together";
    for (const auto& [group, balls] : balls_of) EXPECT_LE(balls, 4);
    EXPECT_EQ(deal_into_groups(std::vector<std::uint32_t>(5, 7)).count(), 5U);
    EXPECT_EQ(deal_into_groups({}).count(), 0U);
}

TEST_P(AveragesInTime, FewSamplesTellOfNoDiffusion) {
    const auto diffusion = make_average({.name = "d", .kind = "self_diffusion"}, state.context());
    for (int k = 0; k < 7; ++k) {
        state.show(*diffusion, k);
        EXPECT_TRUE(std::isnan(diffusion->table().values[0]) && std::isnan(diffusion->table().errors[0])) << k;
    }
    state.show(*diffusion, 7);
    EXPECT_EQ(diffusion->table().values[0], 0.0) << "nothing moved";
}

TEST_P(AveragesInTime, BallsThatLeaveCountAsLongAsTheyAreThere) {
    // All move by 1 along x in each sample and never collide: half of them leave after 10 samples, the others after 40.
    constexpr int kSome = 10;
    constexpr int kAll = 40;
    constexpr int kSamples = 200;
    const auto msd = make_average({.name = "m", .kind = "msd"}, state.context(1.0, kSamples));
    const auto vacf = make_average({.name = "v", .kind = "vacf"}, state.context(1.0, kSamples));
    for (auto& image : state.frame.image) std::ranges::fill(image, 0);
    for (int k = 0; k < kSamples; ++k) {
        for (std::size_t id = 0; id < state.frame.size(); ++id) {
            for (int axis = 0; axis < dimension(); ++axis) state.frame.velocity[axis][id] = axis == 0 ? 1.0 : 0.0;
            // Those that stay longer are twice as fast: what is weighted by starts instead of balls is off.
            if (id % 2 == 0) state.frame.velocity[0][id] = 2.0;
            state.frame.position[0][id] += state.frame.velocity[0][id];
            if (k >= (id % 2 == 0 ? kAll : kSome)) state.frame.gone[id] = 1;
        }
        state.show(*msd, k);
        state.show(*vacf, k);
    }
    const AverageTable way = msd->table();
    const AverageTable velocity = vacf->table();
    int without = 0;
    for (std::size_t at = 0; at < way.x.size(); ++at) {
        const int lag = static_cast<int>(std::lround(way.x[at]));
        int spacing = 1;
        while (lag / spacing > 16) spacing *= 2;
        double speeds = 0.0;
        double balls = 0.0;
        for (int start = 0; start + lag < kAll; start += spacing) {
            for (std::size_t id = 0; id < state.frame.size(); ++id) {
                if (id == 0 || id + 1 == state.frame.size()) continue;  // a wall, and one that is gone
                if (start + lag >= (id % 2 == 0 ? kAll : kSome)) continue;
                balls += 1.0;
                speeds += id % 2 == 0 ? 4.0 : 1.0;
            }
        }
        if (balls == 0.0) {
            EXPECT_TRUE(std::isnan(way.values[at]) && std::isnan(way.errors[at])) << lag;
            EXPECT_TRUE(std::isnan(velocity.values[at]) && std::isnan(velocity.errors[at])) << lag;
            ++without;
            continue;
        }
        // Places of some hundreds, whose differences are squared.
        EXPECT_NEAR(way.values[at], lag * lag * speeds / balls, 1e3 * kRounding * (1.0 + lag * lag)) << lag;
        EXPECT_NEAR(velocity.values[at], speeds / balls / dimension(), kRounding * 10.0) << lag;
    }
    EXPECT_GE(without, 8);
}

TEST_P(AveragesInTime, AGapInTimeIsNoLag) {
    const auto msd = make_average({.name = "m", .kind = "msd"}, state.context(0.5, 40));
    for (int k = 0; k < 20; ++k) state.show(*msd, k);
    state.shake(9);
    for (int k = 0; k < 20; ++k) state.show(*msd, 100 + k);
    for (const double value : msd->table().values) {
        if (std::isfinite(value)) {
            EXPECT_EQ(value, 0.0) << "nothing moved but in the gap";
        }
    }
}

}  // namespace carom::average_kinds_test
