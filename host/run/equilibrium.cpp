#include "host/run/equilibrium.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include "host/theory/gas_facts.hpp"
#include "kernels/physics/diffusion.hpp"

namespace carom {

namespace {

/// Where centres of balls cannot be told from chance to stand anywhere else: of this the root of a mean square is
/// known. A triangular wave of one period between periodic faces, half a period or a whole one between walls: from -1
/// to 1, 0 in the mean.
double triangle(double at) {
    const double part = at - std::floor(at);
    return 4.0 * std::abs(part - 0.5) - 1.0;
}
constexpr double kWaveSquare = 1.0 / 3.0;  // its mean square over the room
constexpr std::size_t kWavesOfAxis = 2;
/// Of each ball, while all is steady: numbers that have had no time to change say nothing.
constexpr double kLeastCollisions = 5.0;
/// By chance one look in 10^6 is farther off what equilibrium has.
constexpr double kMostSigmas = 5.0;
/// Times that for flows and heat, of which a look has many numbers: by chance one in 2 x 10^7.
constexpr double kFlowSlack = 1.1;
/// What takes longer than the run to spread is off by as much as one look, however many there are: so far one of 170 is
/// by chance, and by the other one of 16,000.
constexpr double kDoubtfulSigmas = 2.75;
constexpr double kUnspreadSigmas = 4.0;
/// The sum of the squares of so many independent deviations is more in one of 10^6 looks (Wilson and Hilferty 1931).
double most_squares(double count) {
    constexpr double kSigmas = 4.75;  // which a Gaussian is above so often
    const double variance = 2.0 / (9.0 * count);
    const double root = 1.0 - variance + kSigmas * std::sqrt(variance);
    return count * root * root * root;
}
/// Of its value at equilibrium: what chance moves by less than that need not be followed for long.
constexpr double kSharp = 0.1;
/// Species that are told apart. Of a few balls no number says much, and among thousands of kinds one is off by chance.
constexpr std::size_t kMostGroups = 16;
/// Balls of each where more are taken together, in fewer groups: by 5 sigma one that stands on one side shows.
constexpr double kLeastInGroup = 40.0;
/// A megabyte of a gas of one kind, at most some 5 of many.
constexpr std::size_t kMostLooks = 4096;
/// Masses of which one is so many times the other still have one temperature after a few collisions each: one takes
/// away 2 m M / (m + M)^2 of the difference, a third.
constexpr double kSlowlyWarmed = 4.0;
constexpr std::size_t kAtOnce = 4096;  // balls that are looked at
constexpr std::string_view kAxes = "xyz";

}  // namespace

EquilibriumWatch::EquilibriumWatch(const PreparedScene& run)
    : every_(run.scene.output.every), between_collisions_(mean_free_time(run)), box_(run.scene.box) {
    const Scene& scene = run.scene;
    const Balls& balls = run.state.balls;
    stages_.stages = scene.stages;
    const auto redrawn = [&](const Thermostat& thermostat) {
        if (thermostat.kind != Thermostat::Kind::kAndersen || !(run.figures.mobile > 0.0)) return;
        const double diameter = 2.0 * run.figures.mobile_radius / run.figures.mobile;
        const double mass = run.figures.mobile_mass / run.figures.mobile;
        between_collisions_ =
            std::max(between_collisions_, redrawn_way_time(diameter, mass, thermostat.temperature, thermostat.rate));
    };
    redrawn(scene.thermostat);
    for (const Stage& stage : scene.stages) redrawn(stage.thermostat);
    const std::vector<Species>& table = balls.species_table;
    std::vector<double> counts(table.size(), 0.0);
    run.species->for_each_stretch(
        [&](std::uint32_t row, std::size_t count) { counts[species_row(table, row)] += static_cast<double>(count); });
    bool fixed = false;
    std::vector<std::size_t> kinds;
    double all = 0.0;
    double lightest = std::numeric_limits<double>::infinity();
    double heaviest = 0.0;
    for (std::size_t k = 0; k < table.size(); ++k) {
        if (!(counts[k] > 0.0)) continue;
        const bool moves = std::isfinite(table[k].mass);
        fixed = fixed || !moves;
        if (!moves) continue;
        kinds.push_back(k);
        all += counts[k];
        lightest = std::min(lightest, table[k].mass);
        heaviest = std::max(heaviest, table[k].mass);
    }
    species_count_ = kinds.size();
    alike_ = heaviest <= kSlowlyWarmed * lightest;
    const std::vector<std::size_t> place = grouped(table, counts, std::move(kinds), all);
    for (std::uint32_t k = 0; k < table.size(); ++k) {
        const Species& species = table[species_row(table, k)];
        const double share = static_cast<float>(table[k].mass / species.mass);
        const bool moves = std::isfinite(species.mass);
        const std::size_t group = place[species_row(table, k)];
        rows_.push_back({group, moves ? species.mass * share : 0.0, table[k].radius});
    }
    species_ = run.species;
    if (!scene.walls.empty() || fixed) return;
    double widest = 0.0;
    for (const Row& row : rows_) {
        if (row.group < groups_.size()) widest = std::max(widest, 2.0 * row.radius);
    }
    conducts_ = conducts(scene);
    for (int axis = 0; axis < box_.dimension; ++axis) {
        if (!is_even(axis, scene)) continue;
        const bool periodic = box_.periodic(axis);
        const std::size_t first = modes_.size();
        // More balls stand at walls than elsewhere, by less than half a diameter at each; and any number where the gas
        // is warmer there than in the middle, or less warm, and steady.
        const double at_walls = periodic    ? 0.0
                                : conducts_ ? std::numeric_limits<double>::infinity()
                                            : widest / box_.size[static_cast<std::size_t>(axis)];
        for (std::size_t group = 0; group < groups_.size(); ++group) {
            modes_.push_back({group, axis, 0.0});
            modes_.push_back({group, axis, at_walls});
        }
        // Between walls the first is odd about the middle, and the second even.
        waves_.push_back({axis, periodic ? 1.0 : 2.0, 0.0, first});
        waves_.push_back({axis, 1.0, periodic ? 0.25 : 0.0, first + 1});
    }
}

/// Whether nothing pushes balls along an axis to either side, while one measures: in equilibrium they are everywhere
/// alike.
bool EquilibriumWatch::is_even(int axis, const Scene& scene) const {
    const auto along = static_cast<std::size_t>(axis);
    const auto& ends = box_.faces[along];
    if (ends[0] == Face::kOpen || ends[1] == Face::kOpen) return false;
    const auto pushes = [&](const Vector3& gravity, const auto& temperature) {
        return gravity[along] != 0.0 ||
               std::ranges::any_of(temperature, [](const auto& faces) { return faces[0] != faces[1]; });
    };
    if (scene.stages.empty()) return !pushes(scene.physics.gravity, scene.box.temperature);
    return std::ranges::none_of(scene.stages, [&](const Stage& stage) {
        return stage.measure && pushes(stage.gravity, stage.wall_temperature);
    });
}

/// Makes the groups. \returns  of each row of the table that of a species: its group, or more than there are
std::vector<std::size_t> EquilibriumWatch::grouped(const std::vector<Species>& table, const std::vector<double>& counts,
                                                   std::vector<std::size_t> kinds, double all) {
    const bool many = kinds.size() > kMostGroups;
    const auto size = [&](std::size_t k) { return std::pair(table[k].mass, table[k].radius); };
    if (many) std::ranges::stable_sort(kinds, {}, size);
    const double groups = std::clamp(std::floor(all / kLeastInGroup), 2.0, static_cast<double>(kMostGroups));
    std::vector<std::size_t> place(table.size(), table.size());
    std::size_t part = 0;
    double before = 0.0;
    std::pair<double, double> least;
    for (const std::size_t k : kinds) {
        // Where its middle ball stands among all.
        const double middle = (before + 0.5 * counts[k]) / all;
        const auto next = static_cast<std::size_t>(middle * groups);
        before += counts[k];
        if (!many || groups_.empty() || next != part) {
            part = next;
            least = size(k);
            groups_.push_back({table[k].name.empty() ? fmt::format("the kind of mass {:.4g}, radius {:.4g}",
                                                                   table[k].mass, table[k].radius)
                                                     : table[k].name,
                               counts[k]});
        } else {
            groups_.back().balls += counts[k];
            const auto most = size(k);
            groups_.back().name = most.first > least.first
                                      ? fmt::format("the group of masses {:.4g} to {:.4g}", least.first, most.first)
                                      : fmt::format("the group of mass {:.4g}, radii {:.4g} to {:.4g}", least.first,
                                                    least.second, most.second);
        }
        place[k] = groups_.size() - 1;
    }
    return place;
}

std::size_t EquilibriumWatch::width(std::size_t groups) const {
    const std::size_t temperatures_and_kurtosis = groups + 1;
    return temperatures_and_kurtosis + waves_.size() * (groups + static_cast<std::size_t>(box_.dimension) + 1);
}

void EquilibriumWatch::look(const Frame& frame) {
    if (groups_.empty() || !stages_.measures(frame.time)) return;
    // Steps round a due time by half of one.
    constexpr double kOffTime = 0.01;
    const double intervals = every_ > 0.0 ? frame.time / every_ : 0.0;
    if (!(every_ > 0.0) || std::abs(intervals - std::round(intervals)) > kOffTime) return;
    if (!looks_.empty() && frame.time < after(looks_.back())) return;  // as the first frame of a resumed run
    const auto dimension = static_cast<std::size_t>(box_.dimension);
    if (frame.first == 0) {
        const std::vector<double> none(groups_.size(), 0.0);
        sums_ = {.modes = std::vector<double>(modes_.size(), 0.0),
                 .balls = none,
                 .warmth = none,
                 .momentum = std::vector<double>(dimension, 0.0),
                 .wave_mass = std::vector<double>(waves_.size(), 0.0),
                 .wave_inertia = std::vector<double>(waves_.size(), 0.0),
                 .wave_momentum = std::vector<double>(waves_.size() * dimension, 0.0),
                 .wave_balls = std::vector<double>(waves_.size(), 0.0),
                 .wave_squares = std::vector<double>(waves_.size(), 0.0),
                 .wave_warmth = std::vector<double>(waves_.size(), 0.0)};
    }
    std::vector<std::uint32_t> rows(std::min(frame.size(), kAtOnce));
    for (std::size_t begin = 0; begin < frame.size(); begin += rows.size()) {
        rows.resize(std::min(rows.size(), frame.size() - begin));
        species_->copy(frame.first + begin, rows);
        add(frame, begin, rows);
    }
    if (frame.rest > 0) return;
    const std::vector<double>& sums = sums_.modes;
    const std::vector<double>& balls = sums_.balls;
    const std::vector<double>& warmth = sums_.warmth;
    const double squares = sums_.squares;
    // All of a kind have left: no number tells of them.
    if (std::ranges::find(balls, 0.0) != balls.end()) return;
    Look look{.time = frame.time, .numbers = {}};
    for (std::size_t k = 0; k < modes_.size(); ++k) look.numbers.push_back(sums[k] / balls[modes_[k].group]);
    double all = 0.0;
    double components = 0.0;
    for (std::size_t group = 0; group < groups_.size(); ++group) {
        all += warmth[group];
        components += static_cast<double>(dimension) * balls[group];
    }
    for (std::size_t group = 0; group < groups_.size(); ++group) {
        look.numbers.push_back(warmth[group] / (static_cast<double>(dimension) * balls[group]) / (all / components));
    }
    look.numbers.push_back(squares * components / (all * all));
    // About the motion of all, which may go on for ever.
    double flow = 0.0;
    for (const double momentum : sums_.momentum) flow += momentum * momentum / sums_.mass;
    const double temperature = std::max(0.0, all - flow) / components;
    for (std::size_t wave = 0; wave < waves_.size(); ++wave) {
        // Wherever the balls are that have the mass, few as they may be.
        const double inertia = sums_.wave_inertia[wave] - sums_.wave_mass[wave] * sums_.wave_mass[wave] / sums_.mass;
        const double thermal = std::sqrt(temperature * std::max(0.0, inertia));
        for (std::size_t axis = 0; axis < dimension; ++axis) {
            const double drift = sums_.momentum[axis] * sums_.wave_mass[wave] / sums_.mass;
            const double momentum = sums_.wave_momentum[wave * dimension + axis] - drift;
            look.numbers.push_back(thermal > 0.0 ? momentum / thermal : 0.0);
        }
    }
    // Each component of a velocity has an energy about the mean whose variance is twice the square of that.
    const double each = temperature;
    const double count = components / static_cast<double>(dimension);
    for (std::size_t wave = 0; wave < waves_.size(); ++wave) {
        const double place = sums_.wave_balls[wave];
        const double room = std::max(0.0, sums_.wave_squares[wave] - place * place / count);
        const double thermal = each * std::sqrt(2.0 * static_cast<double>(dimension) * room);
        double energy = sums_.wave_warmth[wave];
        for (std::size_t axis = 0; axis < dimension; ++axis) {
            const double drift = sums_.momentum[axis] / sums_.mass;
            energy += drift * (drift * sums_.wave_mass[wave] - 2.0 * sums_.wave_momentum[wave * dimension + axis]);
        }
        const double warmth = energy - static_cast<double>(dimension) * each * place;
        look.numbers.push_back(thermal > 0.0 ? warmth / thermal : 0.0);
    }
    looks_.push_back(std::move(look));
    thin();
}

/// Of such a wave, where a ball is.
double EquilibriumWatch::height(const Wave& wave, double radius, double at) const {
    const double period = wave.period * box_.length(wave.axis, radius);
    return triangle((at - box_.low(wave.axis, radius)) / period + wave.phase);
}

/// By how many standard deviations of chance a mode is off, beyond what it may be.
double EquilibriumWatch::off(std::size_t mode, double value) const {
    const double beyond = std::max(0.0, std::abs(value) - modes_[mode].slack);
    return std::copysign(beyond / at_equilibrium(mode).second, value);
}

/// Some balls of a frame, of the species `rows`.
void EquilibriumWatch::add(const Frame& frame, std::size_t begin, std::span<const std::uint32_t> rows) {
    const auto dimension = static_cast<std::size_t>(box_.dimension);
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const std::size_t at = begin + k;
        const auto [group, mass, radius] = rows_[rows[k]];
        if (frame.gone[at] != 0 || group >= groups_.size()) continue;
        sums_.balls[group] += 1.0;
        sums_.mass += mass;
        double warmth = 0.0;
        for (std::size_t axis = 0; axis < dimension; ++axis) {
            const double velocity = frame.velocity[axis][at];
            sums_.momentum[axis] += mass * velocity;
            const double energy = mass * velocity * velocity;
            warmth += energy;
            sums_.squares += energy * energy;
        }
        sums_.warmth[group] += warmth;
        for (std::size_t wave = 0; wave < waves_.size(); ++wave) {
            const Wave& one = waves_[wave];
            const double place = height(one, radius, frame.position[static_cast<std::size_t>(one.axis)][at]);
            sums_.modes[one.first + group * kWavesOfAxis] += place;
            const double part = mass * place;
            sums_.wave_mass[wave] += part;
            sums_.wave_inertia[wave] += part * place;
            for (std::size_t axis = 0; axis < dimension; ++axis) {
                sums_.wave_momentum[wave * dimension + axis] += part * frame.velocity[axis][at];
            }
            sums_.wave_balls[wave] += place;
            sums_.wave_squares[wave] += place * place;
            sums_.wave_warmth[wave] += warmth * place;
        }
    }
}

/// When the next frame is due that is looked at, or a little before.
double EquilibriumWatch::after(const Look& look) const { return look.time + (stride_ - 0.5) * every_; }

/// However many frames there are, no more looks are kept than these.
void EquilibriumWatch::thin() {
    while (looks_.size() >= kMostLooks && every_ > 0.0) {
        stride_ *= 2.0;
        double due = -std::numeric_limits<double>::infinity();
        std::erase_if(looks_, [&](const Look& look) {
            const bool early = look.time < due;
            if (!early) due = after(look);
            return early;
        });
    }
}

namespace {

/// No [[observe]] has a name with a blank.
constexpr std::string_view kSavedName = "equilibrium watch";

}  // namespace

void EquilibriumWatch::save(SolverState& state) const {
    // Where there was the width of a look, and then that width behind it: those have no sign, so versions of before are
    // told from this one.
    std::vector<double> numbers{-between_collisions_, -static_cast<double>(width())};
    for (const Look& look : looks_) {
        numbers.push_back(look.time);
        numbers.insert(numbers.end(), look.numbers.begin(), look.numbers.end());
    }
    state.records.averages.push_back({std::string(kSavedName), std::move(numbers)});
}

void EquilibriumWatch::restore(const SolverState& state) {
    const auto saved = std::ranges::find(state.records.averages, kSavedName, &SavedAverage::name);
    if (saved == state.records.averages.end()) return;  // by a version that knew no watch
    SavedNumbers numbers(saved->numbers);
    // Versions of before looked at other numbers: they are of no use here, and the watch begins anew.
    if (numbers.peek() > 0.0) return;
    between_collisions_ = -numbers.next();
    if (numbers.peek() > 0.0) return;
    if (-numbers.next() != static_cast<double>(width()) || !std::isfinite(between_collisions_)) {
        throw std::invalid_argument("saved looks are of another run");
    }
    while (!numbers.empty()) {
        Look look{.time = numbers.next(), .numbers = {}};
        const auto values = numbers.next(width());
        look.numbers.assign(values.begin(), values.end());
        looks_.push_back(std::move(look));
    }
    double before = -std::numeric_limits<double>::infinity();
    for (const Look& look : looks_) {
        const bool follows = look.time > before && look.time <= state.time;
        if (!follows) throw std::invalid_argument("saved looks are out of order");
        before = look.time;
    }
    // Looks that have been thinned out say themselves how far.
    double least = looks_.size() < kMostLooks / 4 ? 0.0 : std::numeric_limits<double>::infinity();
    for (std::size_t k = 1; k < looks_.size(); ++k) least = std::min(least, looks_[k].time - looks_[k - 1].time);
    while (every_ > 0.0 && 2.0 * stride_ * every_ < 1.01 * least) stride_ *= 2.0;
    thin();  // what a version has saved that kept all
}

/// Of a number that is no mode.
std::string EquilibriumWatch::name_of(std::size_t number) const {
    const std::size_t group = number - modes_.size();
    return group < groups_.size() ? "the temperature of " + groups_[group].name : "the distribution of velocities";
}

/// A number at equilibrium: its mean, and its standard deviation from look to look.
std::pair<double, double> EquilibriumWatch::at_equilibrium(std::size_t number) const {
    if (number < modes_.size()) return {0.0, std::sqrt(kWaveSquare / groups_[modes_[number].group].balls)};
    double components = 0.0;
    for (const Group& group : groups_) components += box_.dimension * group.balls;
    const std::size_t group = number - modes_.size();
    if (number >= first_flow()) return {0.0, kFlowSlack};
    if (group == groups_.size()) return {3.0 * components / (components + 2.0), std::sqrt(24.0 / components)};
    return {1.0, std::sqrt(2.0 / (box_.dimension * groups_[group].balls))};
}

/// The first look from which on a number is where equilibrium has it.
std::size_t EquilibriumWatch::settled(std::size_t number) const {
    const auto [mean, sigma] = at_equilibrium(number);
    const double slack = number < modes_.size() ? modes_[number].slack : 0.0;
    std::size_t first = looks_.size();
    while (first > 0 && std::abs(looks_[first - 1].numbers[number] - mean) <= kMostSigmas * sigma + slack) --first;
    return first;
}

EquilibriumWatch::Settling EquilibriumWatch::settling() const {
    Settling settling;
    const auto settles = [&](double time, const std::string& what) {
        if (time > settling.since) settling = {time, what};
    };
    const auto since = [&](std::size_t number) {
        const std::size_t first = settled(number);
        if (first == 0) return -std::numeric_limits<double>::infinity();
        return first < looks_.size() ? looks_[first].time : std::numeric_limits<double>::infinity();
    };
    for (std::size_t k = 0; k < modes_.size(); ++k) {
        const char axis = kAxes[static_cast<std::size_t>(modes_[k].axis)];
        settles(since(k), groups_.size() > 1
                              ? fmt::format("{} is not mixed along {}", groups_[modes_[k].group].name, axis)
                              : fmt::format("balls are unevenly spread along {}", axis));
    }
    // Each of many kinds is of few balls, and may stand to one side by chance; not all do.
    const double most = most_squares(static_cast<double>(groups_.size()));
    for (const Wave& wave : waves_) {
        const auto squares = [&](const Look& look) {
            double sum = 0.0;
            for (std::size_t group = 0; group < groups_.size(); ++group) {
                const std::size_t mode = wave.first + group * kWavesOfAxis;
                const double sigmas = off(mode, look.numbers[mode]);
                sum += sigmas * sigmas;
            }
            return sum;
        };
        std::size_t first = looks_.size();
        while (first > 0 && squares(looks_[first - 1]) <= most) --first;
        if (first == 0) continue;
        settles(first < looks_.size() ? looks_[first].time : std::numeric_limits<double>::infinity(),
                fmt::format("the kinds of balls are not mixed along {}", kAxes[static_cast<std::size_t>(wave.axis)]));
    }
    const auto dimension = static_cast<std::size_t>(box_.dimension);
    for (std::size_t k = first_flow(); k < first_warmth(); ++k) {
        const char axis = kAxes[static_cast<std::size_t>(waves_[(k - first_flow()) / dimension].axis)];
        settles(since(k), fmt::format("a flow that changes along {} decays", axis));
    }
    for (std::size_t k = first_warmth(); k < width() && !conducts_; ++k) {
        const char axis = kAxes[static_cast<std::size_t>(waves_[k - first_warmth()].axis)];
        settles(since(k), fmt::format("heat spreads along {}", axis));
    }
    return settling;
}

/// Whether it is as warm all along each wave, in the mean from a time on. Once sound has died away pressure is the same
/// everywhere, so where it is warmer there are fewer balls: both at once show what neither does.
std::pair<std::optional<bool>, std::string> EquilibriumWatch::spread(double since) const {
    std::pair<std::optional<bool>, std::string> result{true, ""};
    double balls = 0.0;
    for (const Group& group : groups_) balls += group.balls;
    for (std::size_t k = 0; k < waves_.size() && !conducts_; ++k) {
        const Wave& wave = waves_[k];
        double sum = 0.0;
        double looks = 0.0;
        for (const Look& look : looks_) {
            if (look.time < since) continue;
            double place = 0.0;
            for (std::size_t group = 0; group < groups_.size(); ++group) {
                const std::size_t mode = wave.first + group * kWavesOfAxis;
                place += off(mode, look.numbers[mode]) * std::sqrt(groups_[group].balls / balls);
            }
            sum += (look.numbers[first_warmth() + k] - place) / std::sqrt(2.0);
            looks += 1.0;
        }
        const double sigmas = looks > 0.0 ? std::abs(sum / looks) : 0.0;
        if (sigmas <= kDoubtfulSigmas) continue;
        const char axis = kAxes[static_cast<std::size_t>(wave.axis)];
        if (sigmas > kUnspreadSigmas) return {false, fmt::format("heat has not spread along {}", axis)};
        result = {std::nullopt, fmt::format("heat may not have spread along {}", axis)};
    }
    return result;
}

/// The first of the numbers that are no modes that drifts from a time on, else the first that is of too few frames. One
/// that can be told from its value at equilibrium, and is not off it, is steady.
std::pair<std::optional<bool>, std::string> EquilibriumWatch::steady(double since) const {
    std::pair<std::optional<bool>, std::string> result{true, ""};
    // That of one kind is the temperature of all.
    const std::size_t first = groups_.size() > 1 ? modes_.size() : modes_.size() + 1;
    for (std::size_t k = first; k <= modes_.size() + groups_.size(); ++k) {
        const auto [expected, sigma] = at_equilibrium(k);
        const std::size_t from = settled(k);
        if (kMostSigmas * sigma < kSharp * expected && from < looks_.size() && looks_[from].time <= since) continue;
        BatchSeries series(1);
        for (const Look& look : looks_) {
            if (look.time >= since) series.add(std::span(&look.numbers[k], 1));
        }
        const MeanWithError mean = mean_of(series, 0);
        if (std::abs(mean.drift) > kMostDrift) return {false, name_of(k) + " drifts"};
        // Of fewer looks than blocks take nobody can tell. But velocities of one kind settle within a few collisions,
        // and so do temperatures of kinds of about one mass.
        const bool soon = k == modes_.size() + groups_.size() || alike_;
        const bool enough = mean.independent >= kLeastIndependent || (soon && std::isnan(mean.independent));
        if (!enough && result.first) {
            result = {std::nullopt, "too few independent frames for " + name_of(k)};
        }
    }
    return result;
}

RowMeans EquilibriumWatch::means(const RunAverages& averages) const {
    if (groups_.empty() || looks_.empty()) {
        RowMeans means = averages.row_means();
        if (means.equilibrated == true && groups_.size() > 1) {
            means.equilibrated = std::nullopt;
            means.reason = "no frames tell whether kinds are mixed, and equally warm";
        }
        return means;
    }
    // Of the rows: frames may be few, and the first one that is looked at late.
    const double begin = averages.row_means().begin;
    const double end = std::max(looks_.back().time, averages.last_row());
    const Settling modes = settling();
    const std::string unmixed = modes.since > begin + 0.5 * (end - begin) ? modes.last : "";
    for (const double later : {0.0, 0.25, 0.5}) {
        RowMeans means = averages.row_means(unmixed, std::max(modes.since, begin + later * (end - begin)));
        if (means.equilibrated == false) return means;
        auto [is_steady, reason] = steady(means.since);
        const auto [is_spread, where] = spread(means.since);
        if (is_steady == true || (!is_steady && is_spread == false))
            std::tie(is_steady, reason) = std::tie(is_spread, where);
        if (is_steady == false && later < 0.5) continue;
        if (is_steady == false) return averages.row_means(reason);
        if (!is_steady && means.equilibrated) {
            means.equilibrated = std::nullopt;
            means.reason = reason;
        }
        if (means.equilibrated && end - means.since < kLeastCollisions * between_collisions_) {
            means.equilibrated = std::nullopt;
            means.reason = fmt::format("fewer than {} collisions a ball", kLeastCollisions);
        }
        return means;
    }
    return averages.row_means();
}

}  // namespace carom
