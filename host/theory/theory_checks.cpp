#include "host/theory/theory_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "host/observables/average.hpp"
#include "host/observables/observable.hpp"
#include "host/scene/walls.hpp"
#include "host/theory/adiabatic.hpp"
#include "host/theory/conduction.hpp"
#include "host/theory/gas_theory.hpp"
#include "host/theory/standing_wave.hpp"
#include "kernels/physics/diffusion.hpp"
#include "kernels/physics/kinetic_theory.hpp"
#include "kernels/physics/linear_spring.hpp"

namespace carom {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kMostSigmas = 4.0;
constexpr double kContactLayer = 0.5;  // diameters from a wall over which a density is carried on to it
/// Of curves the root of the mean square: about 1 if all is well, somewhat more for errors that are guesses themselves
/// and for neighbours that know of each other; of a few points chance alone makes it larger.
double most_root_mean_square(double points) { return std::max(2.0, 1.0 + 3.0 / std::sqrt(points)); }
/// Who could not have seen a fault as large as the thing itself has seen no agreement.
constexpr double kMostToShow = 1.0;
/// Points of a curve that tell: not the tails, in which blocks hold a handful of balls and errors are no Gaussian's.
constexpr double kTail = 0.02;  // of the largest value
constexpr double kMostRelativeError = 0.2;
constexpr double kFloorLayers = 2.0;  // diameters from a floor or ceiling that local density knows nothing of

// What theories are off by, as a share of their values.
constexpr double kLocalDensity = 0.03;
// A correlation that has fallen to a few per cent is no exponential any more.
constexpr double kTellingCorrelation = 0.05;  // of C(0)
constexpr double kCorrelationFloor = 0.02;    // of C(0)
constexpr double kPathCorrelation = 0.4;      // times the packing fraction: collisions know of each other
constexpr double kPerBall = 5.0;              // over N: Maxwell and Boltzmann's law is that of endlessly many
constexpr double kConduction = 0.01;          // how Enskog's conductivity changes with temperature
constexpr double kFitted = 2.0;               // constants of that law
constexpr double kSingleEnergy = 2e-5;        // of the energy: single precision's rounding
constexpr double kFewRoundings = 64.0;        // of which the sums themselves may have as many
// Of a rounding an event: unlike masses and slanted walls round to one side; and those of balls of one mass, a ball's
// share of that, as their mass has it.
constexpr double kBiasedRounding = 0.05;
constexpr double kSteppedBath = 0.002;  // of its temperature: velocities are drawn half a step before
constexpr double kSideWalls = 0.5;      // times the surface of side walls over the volume, in diameters
constexpr double kCanonicalKurtosis = 3.0;
constexpr const char* kSlowSpreading = "density spreads too slowly in this bath";
constexpr double kHighColumn = 10.0;  // scale heights, from which on a ceiling takes nothing of the weight

void judge(TheoryCheck& check, const std::string& unsettled, double most, double most_drift) {
    check.verdict = TheoryVerdict::kUnknown;
    if (!std::isfinite(check.sigmas)) {
        check.reason = "too few samples";
    } else if (check.steadiness.independent() < kLeastIndependent) {
        check.reason = "too few independent samples";
    } else if (!unsettled.empty()) {
        check.reason = unsettled;
    } else if (std::abs(check.steadiness.drift()) > most_drift) {
        check.reason = "still changing";
    } else if (std::abs(check.sigmas) > most) {
        check.verdict = TheoryVerdict::kDiffers;
    } else if (check.would_show > kMostToShow) {
        check.reason = "too few samples to say";
    } else {
        check.verdict = TheoryVerdict::kAgrees;
    }
}

/// A density in slices beside a wall, whose logarithm is taken for a parabola in the distance from it.
class WallFit {
public:
    struct AtWall {
        double value = 0.0;
        double error = 0.0;  ///< of the slices'
        double doubt = 0.0;  ///< of the parabola: half of what it is off a straight line
    };

    void add(double away, double density, double error) {
        if (density > 0.0 && error > 0.0)
            points_.push_back({away, std::log(density), density * density / (error * error)});
    }
    /// None of fewer slices than tell a parabola from a line.
    [[nodiscard]] std::optional<AtWall> at_zero() const {
        constexpr std::size_t kLeastSlices = 5;
        if (points_.size() < kLeastSlices) return std::nullopt;
        const AtWall line = fitted<2>();
        AtWall parabola = fitted<3>();
        parabola.doubt = 0.5 * std::abs(parabola.value - line.value);
        return parabola;
    }

private:
    struct Point {
        double away = 0.0;
        double logarithm = 0.0;
        double weight = 0.0;
    };
    /// Least squares of a polynomial of kTerms terms: the density at 0, and the standard error of that.
    template <std::size_t kTerms>
    [[nodiscard]] AtWall fitted() const {
        std::array<std::array<double, kTerms + 2>, kTerms> rows{};  // normal equations | right side | first unit vector
        for (const Point& point : points_) {
            std::array<double, kTerms> power{};
            double value = 1.0;
            for (double& one : power) {
                one = value;
                value *= point.away;
            }
            for (std::size_t a = 0; a < kTerms; ++a) {
                for (std::size_t b = 0; b < kTerms; ++b) rows[a][b] += point.weight * power[a] * power[b];
                rows[a][kTerms] += point.weight * power[a] * point.logarithm;
            }
        }
        rows[0][kTerms + 1] = 1.0;
        for (std::size_t pivot = 0; pivot < kTerms; ++pivot) {
            for (std::size_t other = 0; other < kTerms; ++other) {
                if (other == pivot) continue;
                const double factor = rows[other][pivot] / rows[pivot][pivot];
                for (std::size_t k = 0; k < kTerms + 2; ++k) rows[other][k] -= factor * rows[pivot][k];
            }
        }
        const double value = std::exp(rows[0][kTerms] / rows[0][0]);
        return {.value = value, .error = value * std::sqrt(rows[0][kTerms + 1] / rows[0][0])};
    }

    std::vector<Point> points_;
};

class Checks {
public:
    explicit Checks(const MeasuredRun& run) : run_(run) {}

    void rows() {
        pressure();
        bath();
        forces();
        energy();
        // What a gas does on its way, not in equilibrium.
        if (auto check = adiabatic_check(run_)) number(std::move(*check), "");
        if (const auto check = sound_speed_check(run_)) number(*check, check->reason);
    }

    void average(const RunAverage& measured) {
        const AverageInfo& info = measured.info;
        const GasFacts facts = gas_facts(run_, info.species, info.from);
        if (const auto law = conduction_law(facts, run_.box(), measured)) conduction(measured, *law);
        if (!facts.equilibrium()) return;
        if (info.x.label.empty()) {
            scalar(measured, facts);
        } else if (info.y.label.empty()) {
            curve(measured, facts);
            if (info.kind == "density") contact(measured, facts);
        }
    }

    [[nodiscard]] std::vector<TheoryCheck> take() { return std::move(checks_); }

private:
    [[nodiscard]] const MeasuredMean* mean(const std::string& name) const {
        const auto found = std::ranges::find(run_.means, name, &MeasuredMean::name);
        return found == run_.means.end() ? nullptr : &*found;
    }
    [[nodiscard]] bool periodic(int axis) const { return run_.box().periodic(axis); }
    [[nodiscard]] bool periodic() const {
        for (int axis = 0; axis < run_.dimension(); ++axis) {
            if (!periodic(axis)) return false;
        }
        return true;
    }
    /// Of what a theory of equilibrium has.
    void number(TheoryCheck check) { number(std::move(check), run_.unsettled); }
    void number(TheoryCheck check, const std::string& unsettled) {
        const double error = std::hypot(check.error, check.uncertainty);
        if (std::isfinite(check.error) && error > 0.0) {
            check.sigmas = (check.measured - check.expected) / error;
            check.would_show = kMostSigmas * error / (check.expected != 0.0 ? std::abs(check.expected) : check.scale);
        } else {
            check.sigmas = kNan;
        }
        judge(check, unsettled, kMostSigmas, kMostDrift);
        checks_.push_back(std::move(check));
    }

    /// A curve's points beside theory's.
    struct Points {
        double squares = 0.0;      // of what they are off by, in errors
        double sharpnesses = 0.0;  // of theory's values in errors, squared
        std::size_t count = 0;

        void add(double value, double expected, double error) {
            squares += (value - expected) * (value - expected) / (error * error);
            sharpnesses += expected * expected / (error * error);
            ++count;
        }
    };
    /// \param fitted  constants that the points gave theory
    void curve(TheoryCheck check, const Points& points, const AverageTable& table, double fitted,
               const std::string& unsettled) {
        const double free = static_cast<double>(points.count) - fitted;
        const double most = most_root_mean_square(free);
        check.measured = check.error = check.expected = check.sigmas = kNan;
        check.points = points.count;
        check.steadiness = table.steadiness;
        if (table.samples >= kLeastSamplesForVerdict) {
            check.sigmas = std::sqrt(points.squares / free);
            check.would_show = std::sqrt((most * most - 1.0) * free / points.sharpnesses);
        }
        judge(check, unsettled, most, most);
        checks_.push_back(std::move(check));
    }

    /// p V / (N T) of the bulk; between walls it is only approached.
    void pressure() {
        const MeasuredMean* measured = mean("virial_pressure");
        if (measured == nullptr || !periodic()) return;
        const GasFacts facts = gas_facts(run_, "", run_.means_since);
        const std::optional<ScalarTheory> theory = theory_scalar(facts, "pressure");
        if (!theory) return;
        number({.what = "virial pressure",
                .unit = pressure_unit(facts.dimension),
                .theory = fmt::format("{} at packing fraction {:.4g}", theory->name, facts.packing_fraction),
                .measured = measured->mean,
                .error = facts.warmed && std::isfinite(measured->error_at_temperature) ? measured->error_at_temperature
                                                                                       : measured->error,
                .expected = theory->value,
                .uncertainty = theory->uncertainty,
                .steadiness = measured->steadiness});
    }

    /// The temperature of all balls beside that of the thermal walls or the thermostat. It scatters by sqrt(2 / (d N))
    /// of itself, and forgets that in the time of the bath: short runs, whose blocks know of neither, have that error.
    /// One that has scattered by much less has hardly met its bath.
    void bath() {
        const MeasuredMean* measured = mean("temperature");
        const GasFacts facts = gas_facts(run_, "", run_.means_since);
        if (measured == nullptr || !(facts.bath_temperature > 0.0) || !facts.equilibrium()) return;
        if (!std::isfinite(facts.bath_time)) return;
        // Of the variance; under gravity T has that of 2 / (d + 2) without a bath.
        const double least = 0.25 + (facts.has_gravity() ? 2.0 / (facts.dimension + 2.0) : 0.0);
        const double variance =
            0.5 * measured->error * measured->error * run_.measured_time(run_.means_since) / measured->correlation_time;
        const double canonical =
            2.0 / (facts.dimension * facts.balls) * facts.bath_temperature * facts.bath_temperature;
        const bool slow = !(variance > least * canonical);
        // The rest of the variance, under gravity, is forgotten sooner: what moves changes places with what is lifted.
        const double forgotten = canonical / facts.heat_capacity() * facts.bath_time;
        const double error = std::sqrt(2.0 * forgotten / run_.measured_time(run_.means_since));
        number({.what = "temperature",
                .unit = "J",
                .theory = "that of its bath",
                .measured = measured->mean,
                .error = std::max(measured->error, error),
                .expected = facts.bath_temperature,
                .uncertainty = run_.solver.solver == "spring" ? kSteppedBath * facts.bath_temperature : 0.0,
                .steadiness = measured->steadiness},
               slow && run_.unsettled.empty() ? "too slow a bath" : run_.unsettled);
    }

    /// Whether walls across other axes draw velocities along this one anew.
    [[nodiscard]] bool rubbed(const Stage& stage, int axis) const {
        for (int other = 0; other < run_.dimension(); ++other) {
            const auto& [low, high] = stage.wall_temperature[static_cast<std::size_t>(other)];
            if (other != axis && (low > 0.0 || high > 0.0)) return true;
        }
        return false;
    }
    /// Whether nothing but gravity and the two walls across an axis changes the balls' momentum along it.
    [[nodiscard]] bool only_walls_push(int axis) const {
        return std::ranges::none_of(stages_of(run_.scene), [&](const Stage& stage) {
            return stage.thermostat.kind != Thermostat::Kind::kNone || rubbed(stage, axis);
        });
    }
    /// Whether such walls may push a gas along in the mean too, on which it creeps to where it is hotter: if it has not
    /// one temperature, and its ends are unlike.
    [[nodiscard]] bool creeps(const GasFacts& facts, int axis) const {
        return !facts.undriven && std::ranges::any_of(stages_of(run_.scene), [&](const Stage& stage) {
            const auto& [low, high] = stage.wall_temperature[static_cast<std::size_t>(axis)];
            return rubbed(stage, axis) && (low != high || stage.gravity[static_cast<std::size_t>(axis)] != 0.0);
        });
    }

    /// What two opposite walls give the balls in the mean is what gravity takes, or nothing: the floor bears the
    /// weight, and what presses on the ceiling besides.
    void forces() {
        static constexpr std::string_view kAxes = "xyz";
        const GasFacts facts = gas_facts(run_, "", run_.means_since);
        // It holds for driven gases too: what moves up and down does not fall.
        if (!facts.thermal || !facts.one_gravity || facts.left || facts.walls || facts.balls == 0.0 ||
            facts.balls != std::accumulate(run_.counts.begin(), run_.counts.end(), 0.0)) {
            return;
        }
        const bool slanted = std::ranges::count(facts.gravity, 0.0) < 2;
        for (int axis = 0; axis < run_.dimension(); ++axis) {
            const double g = facts.gravity[static_cast<std::size_t>(axis)];
            const char name = kAxes[static_cast<std::size_t>(axis)];
            const auto on = [&](const char* side) { return mean(fmt::format("wall_pressure.{}_{}", name, side)); };
            const MeasuredMean* floor = on(g <= 0.0 ? "min" : "max");
            const MeasuredMean* ceiling = on(g <= 0.0 ? "max" : "min");
            if (floor == nullptr || (g == 0.0 && ceiling == nullptr)) continue;
            const double area = run_.box().face_area(axis);
            // What the walls give beyond the weight is the change of the balls' momentum, which in equilibrium is the
            // difference of two draws of it, in each part that is measured; if anything else pushes, what the force
            // scatters by.
            double error = area * std::hypot(floor->error, ceiling != nullptr ? ceiling->error : 0.0);
            if (only_walls_push(axis)) {
                const double parts = run_.measured_parts(run_.means_since);
                error = std::sqrt(parts * 2.0 * facts.balls * facts.mass * facts.temperature) /
                        run_.measured_time(run_.means_since);
            }
            const std::string which = slanted ? fmt::format(" along {}", name) : "";
            number({.what = g == 0.0 ? fmt::format("force on {0}-min, less that on {0}-max", name)
                                     : fmt::format("force on the floor{}{}", which,
                                                   ceiling != nullptr ? ", less that on the ceiling" : ""),
                    .unit = "N",
                    .theory = g == 0.0 ? "balance of momentum" : "weight, N m g",
                    .measured = area * (floor->mean - (ceiling != nullptr ? ceiling->mean : 0.0)),
                    .error = error,
                    .expected = facts.balls * facts.mass * std::abs(g),
                    .scale = area * floor->mean},
                   !run_.unsettled.empty() ? run_.unsettled
                   : creeps(facts, axis)   ? "walls beside push too"
                   : !facts.spreads(axis)  ? kSlowSpreading
                                           : "");
        }
    }

    /// What rounds in energies, over what the defect is a share of: in that the energies of a fall along two axes, or
    /// of fall and motion, may cancel, and a thermostat may have taken what it gave.
    [[nodiscard]] double gross_share(const GasFacts& facts) const {
        double hottest = run_.temperature.empty() ? 0.0 : std::ranges::max(run_.temperature);
        hottest = std::max(hottest, run_.scene.hottest_bath());
        const std::vector<Stage> stages = stages_of(run_.scene);
        double falls = 0.0;
        for (int axis = 0; axis < facts.dimension; ++axis) {
            const auto at = static_cast<std::size_t>(axis);
            const auto [low, high] =
                std::ranges::minmax(stages, {}, [&](const Stage& stage) { return stage.gravity[at]; });
            const double least = low.gravity[at];
            const double most = high.gravity[at];
            // Of a fall towards the origin, from beginning to end, all energies are above 0.
            if (most <= 0.0 && least == most) continue;
            falls += facts.balls * facts.mass * std::max(std::abs(least), std::abs(most)) * run_.box().size[at];
        }
        const double kinetic = 0.5 * facts.dimension * facts.balls * hottest;
        return (std::max(run_.energy_defect.scale, kinetic) + falls) / run_.energy_defect.scale;
    }

    /// How often thermostats have redrawn velocities, or scaled them, in this part of the run, at most.
    [[nodiscard]] double redrawn(const GasFacts& facts) const {
        double rate = 0.0;
        for (const Stage& stage : stages_of(run_.scene)) {
            rate = std::max(rate, stage.thermostat.rate);
            if (stage.thermostat.every > 0.0) rate = std::max(rate, 1.0 / stage.thermostat.every);
        }
        return run_.time.empty() ? 0.0 : rate * facts.balls * (run_.time.back() - run_.time.front());
    }

    /// What heat, work and losses leave of the change of energy, beside the law's own error: hard balls round at each
    /// event, soft ones step over each contact.
    void energy() {
        if (!std::isfinite(run_.energy_defect.share) || run_.changed || !(run_.events > 0.0)) return;
        TheoryCheck check{.what = "energy balance, relative defect", .theory = "conserved but for rounding"};
        check.measured = run_.energy_defect.share;
        check.scale = 1.0;
        if (run_.solver.solver == "events") {
            const GasFacts facts = gas_facts(run_, "", run_.means_since);
            const double rounding = std::numeric_limits<double>::epsilon() * gross_share(facts);
            const double times = run_.events + redrawn(facts);
            check.error = rounding * std::sqrt(std::max(times, kFewRoundings));
            const double share = facts.uniform && !facts.walls ? 1.0 / std::max(1.0, facts.balls) : 1.0;
            check.uncertainty = kBiasedRounding * share * rounding * times;
        } else {
            // Contacts are not counted: those of a gas follow from theory.
            const GasFacts facts = gas_facts(run_, "", run_.time.empty() ? 0.0 : run_.time.front());
            const auto rate = theory_scalar(facts, "collision_rate");
            if (!rate || !periodic() || facts.warmed || facts.step_phase == 0.0) return;
            if (run_.scene.spring.distance_epsilon > 0.0) return;  // the energy of a contact is none of its force's
            check.theory = "conserved but for steps";
            const double time = run_.events * run_.solver.dt;
            const double walk = energy_walk({.dt = run_.solver.dt,
                                             .phase = facts.step_phase,
                                             .thermal_speed = 2.0 * std::sqrt(facts.temperature / facts.mass),
                                             .distance = 2.0 * facts.radius,
                                             .time = time,
                                             .contacts = 0.5 * facts.balls * rate->value * time,
                                             .balls = facts.balls,
                                             .dimension = facts.dimension,
                                             .alike = facts.uniform});
            check.error = std::hypot(walk, run_.solver.precision == "single" ? kSingleEnergy : 0.0);
        }
        number(std::move(check), "");
    }

    /// The kurtosis of velocities that share a fixed energy, or have a bath that may be too slow to be one. A height
    /// takes part as two components do, as its energy is linear in it, unless the ceiling is so low that it hardly has
    /// one; and of a shape in the box nobody knows here which components of the momentum it leaves as they are.
    [[nodiscard]] ScalarTheory fixed_energy_kurtosis(const GasFacts& part, double from) const {
        const GasFacts all = gas_facts(run_, "", from);
        const double components = run_.dimension() * all.balls;
        int along = 0;
        bool high = true;
        for (int axis = 0; axis < run_.dimension(); ++axis) {
            const auto k = static_cast<std::size_t>(axis);
            along += periodic(axis) ? 1 : 0;
            const double fall = all.mass * std::abs(all.gravity[k]) * run_.box().size[k];
            high = high && (fall == 0.0 || fall > kHighColumn * all.temperature);
        }
        const double heights = all.has_gravity() ? 2.0 * all.balls : 0.0;
        // Along which axes all move as a whole, and of that at the start whether it stays, nobody knows here.
        const double flow = all.momenta == run_.dimension() ? all.flow_energy : run_.flow_energy;
        const auto of = [&](double kurtosis, int held, double flow_energy, double flow_evenly) {
            return kurtosis_of(part, all, kurtosis, held, flow_energy, flow_evenly);
        };
        const double one = finite_kurtosis(components - all.momenta + heights);
        const double evenly = of(one, all.momenta, flow, 1.0 / std::max(1, all.momenta));
        const double along_one = of(one, all.momenta, flow, 1.0);
        const double resting = all.momenta == run_.dimension() ? evenly : of(one, all.momenta, 0.0, 1.0);
        const double other = all.warmed
                                 ? kCanonicalKurtosis
                                 : of(finite_kurtosis(components - along + (high ? heights : 0.0)), along, flow, 1.0);
        const auto [least, most] = std::minmax({evenly, along_one, resting});
        const double middle = 0.5 * (least + most);
        return {.name = "fixed energy, 3 D / (D + 2)",
                .value = middle,
                .uncertainty = std::max(most - middle, std::abs(middle - other))};
    }
    /// Of some balls, by that of one of them: heavy ones have less of the energy where momentum stays.
    /// \param held  axes along which it does
    [[nodiscard]] double kurtosis_of(const GasFacts& part, const GasFacts& all, double kurtosis, int held,
                                     double flow_energy, double flow_evenly) const {
        const int dimension = run_.dimension();
        const double mass = all.mass * all.balls;
        const double temperature = temperature_of_some(
            all.temperature, all.balls, static_cast<double>(held) / dimension, 2.0 * flow_energy / dimension, 0.0);
        double first = 0.0;
        double second = 0.0;
        for (const auto& [own, share] : part.masses) {
            const EnergyMoments moments = energy_moments(dimension, held, kurtosis, temperature, own / mass,
                                                         2.0 * flow_energy * own / mass, flow_evenly);
            first += share * moments.first;
            second += share * moments.second;
        }
        return second / (first * first);
    }

    /// Of some balls, by that of all: of the momentum that stays heavy ones have the larger part, and averages are
    /// about the motion of all as a whole, which rows count as warmth.
    [[nodiscard]] double temperature_of(const GasFacts& part, double from) const {
        const GasFacts all = gas_facts(run_, "", from);
        const double held = static_cast<double>(all.momenta) / run_.dimension();
        return temperature_of_some(all.temperature, all.balls, held, 2.0 * all.flow_energy / run_.dimension(),
                                   part.mass / (all.mass * all.balls));
    }

    /// Whether a temperature is of some balls or a region: that of all is the run's, and agrees with itself.
    [[nodiscard]] bool is_of_a_part(const AverageInfo& info, const GasFacts& facts) const {
        if (facts.balls < gas_facts(run_, "", info.from).balls) return true;
        const auto observe = std::ranges::find(run_.scene.observables, info.name, &ObserveEntry::name);
        if (observe == run_.scene.observables.end()) return false;
        const Box& box = run_.box();
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(box.dimension); ++axis) {
            const double from = observe->region_min[axis];
            const double to = observe->region_max[axis];
            if (from < to && (from > box.min[axis] || to < box.min[axis] + box.size[axis])) return true;
        }
        return false;
    }

    /// Of a fixed energy a ball at height z leaves E - m g z to all others: T there is off by
    /// -2 (m g z / T - 1) / (d N + 2 N) of itself. So much at most, of a region whose lower end is known, above which
    /// balls stand a scale height or less in the mean; 0 without gravity.
    [[nodiscard]] double height_share(const AverageInfo& info) const {
        const GasFacts all = gas_facts(run_, "", info.from);
        const auto observe = std::ranges::find(run_.scene.observables, info.name, &ObserveEntry::name);
        if (!all.has_gravity() || observe == run_.scene.observables.end()) return 0.0;
        const Box& box = run_.box();
        double height = 0.0;  // of the region's lower end, in scale heights
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(box.dimension); ++axis) {
            if (!(observe->region_min[axis] < observe->region_max[axis])) continue;
            const double g = all.gravity[axis];
            const double above = g < 0.0 ? observe->region_min[axis] - box.min[axis]
                                         : box.min[axis] + box.size[axis] - observe->region_max[axis];
            height += all.mass * std::abs(g) * std::max(0.0, above) / all.temperature;
        }
        return 2.0 * std::max(1.0, height) / ((all.dimension + 2.0) * all.balls);
    }

    /// What the temperature of a region scatters by at least, at fixed energy: 2 / (d N) of its square, less its share,
    /// for as long as heat takes to spread along the longest wave; blocks of short runs know too little of that. 0
    /// of unlike balls.
    [[nodiscard]] double region_error(const AverageInfo& info, double samples) const {
        const GasFacts all = gas_facts(run_, "", info.from);
        const auto observe = std::ranges::find(run_.scene.observables, info.name, &ObserveEntry::name);
        if (observe == run_.scene.observables.end() || !all.uniform || !all.is_fluid()) return 0.0;
        const Box& box = run_.box();
        double share = 1.0;
        double longest = 0.0;  // over 2 pi
        for (int axis = 0; axis < all.dimension; ++axis) {
            const auto at = static_cast<std::size_t>(axis);
            const double part = (observe->region_max[at] - observe->region_min[at]) / box.size[at];
            if (!(part > 0.0 && part < 1.0)) continue;
            share *= part;
            longest = std::max(longest, box.size[at] * (box.periodic(axis) ? 1.0 : 2.0) / (2.0 * std::numbers::pi));
        }
        const double variance =
            2.0 / (all.dimension * all.balls * share) * (1.0 - share) * all.temperature * all.temperature;
        return std::sqrt(2.0 * variance * longest * longest / all.heat_diffusivity() / (samples * info.every));
    }

    void scalar(const RunAverage& measured, const GasFacts& facts) {
        const std::vector<std::string> names = number_names(measured.info);
        for (std::size_t k = 0; k < names.size(); ++k) scalar(measured, facts, k, names[k]);
    }

    void scalar(const RunAverage& measured, const GasFacts& facts, std::size_t component, const std::string& name) {
        const AverageInfo& info = measured.info;
        TheoryCheck check{
            .what = name,
            .unit = info.unit,
            .measured = measured.table.values[component],
            .error = measured.table.samples < kLeastSamplesForVerdict ? kNan : measured.table.errors[component],
            .steadiness = measured.table.steadiness};
        const std::string part = info.components.empty() ? "" : info.components[component];
        if (info.kind == "kurtosis") {
            const ScalarTheory theory = facts.bath ? ScalarTheory{"Maxwell and Boltzmann", kCanonicalKurtosis, 0.0}
                                                   : fixed_energy_kurtosis(facts, info.from);
            check.theory = theory.name;
            check.expected = theory.value;
            check.uncertainty = theory.uncertainty;
        } else if (info.kind == "temperature") {
            if (!is_of_a_part(info, facts)) return;
            check.theory = "the run's temperature";
            check.expected = temperature_of(facts, info.from);
            if (!facts.bath) {
                check.uncertainty = height_share(info) * check.expected;
                // Along which axes it stays, of that at the start, nobody knows here.
                if (facts.momenta < facts.dimension) {
                    const double balls = gas_facts(run_, "", info.from).balls;
                    check.uncertainty += 2.0 * run_.flow_energy / (facts.dimension * balls);
                }
                // A slow bath may have changed the momentum.
                if (facts.warmed) check.uncertainty += std::abs(check.expected - facts.temperature);
                check.error = std::max(check.error, region_error(info, measured.table.samples));
            }
        } else if (const auto theory = periodic() ? theory_scalar(facts, info.kind, part) : std::nullopt) {
            check.theory = theory->name;
            check.expected = theory->value;
            check.uncertainty = theory->uncertainty;
            check.scale = facts.number_density * facts.temperature;  // what is 0 is a part of a stress
        } else {
            return;
        }
        const bool early =
            info.kind == "self_diffusion" && !diffuses(measured, facts, std::max(check.measured, check.expected));
        number(std::move(check), early && run_.unsettled.empty() ? "too short for diffusion" : unsettled(info, facts));
    }

    /// What speaks against a verdict on an average: also that some balls may be warmer than others for ever.
    [[nodiscard]] std::string unsettled(const AverageInfo& info, const GasFacts& facts) const {
        static constexpr std::array<std::string_view, 4> kOfOneTemperature{"kurtosis", "temperature", "speed",
                                                                           "velocity"};
        const bool apart =
            facts.may_miss_bath() && std::ranges::find(kOfOneTemperature, info.kind) != kOfOneTemperature.end();
        if (!run_.unsettled.empty()) return run_.unsettled;
        if (apart) return "a bath that balls may never meet";
        const bool slow = info.kind == "density" && !facts.spreads(info.x.of_box());
        return slow ? kSlowSpreading : "";
    }

    /// Whether the lags that D is taken from, an eighth of the samples' time and more, are several of the times in
    /// which velocities are forgotten, and take balls out of the cage of their neighbours. \param coefficient  D
    static bool diffuses(const RunAverage& measured, const GasFacts& facts, double coefficient) {
        constexpr double kMemories = 4.0;
        constexpr double kWay = 0.5;  // diameters
        const double lag = 0.125 * measured.table.samples * measured.info.every;
        return lag > kMemories * facts.mass * coefficient / facts.temperature &&
               2.0 * facts.dimension * coefficient * lag > kWay * kWay * facts.diameter * facts.diameter;
    }

    /// The slices that the law is fitted to, less its constants: its ends are no prediction, its bend is.
    void conduction(const RunAverage& measured, const ConductionLaw& law) {
        TheoryCheck check{.what = measured.info.name, .unit = measured.info.unit, .theory = law.curve.label};
        check.uncertainty = kConduction;
        Points points;
        for (std::size_t k = 0; k < measured.table.x.size(); ++k) {
            const double at = measured.table.x[k];
            const double value = measured.table.values[k];
            const double error = measured.table.errors[k];
            if (!law.holds_at(at) || !(error > 0.0) || !(value > 0.0)) continue;
            const double expected = law.curve.at(at);
            points.add(value, expected, std::hypot(error, check.uncertainty * expected));
        }
        curve(std::move(check), points, measured.table, kFitted, run_.unsettled);
    }

    void curve(RunAverage measured, const GasFacts& facts) {
        const AverageInfo& info = measured.info;
        const std::vector<double>& x = measured.table.x;
        if (info.kind == "temperature_profile") return;  // what is drawn beside it is the run's own mean
        if (info.kind == "density") {
            const int axis = info.x.of_box();
            if (!facts.has_gravity() && !periodic(axis)) return;  // balls stand in layers at walls
            leave_out_walls(measured, (1.0 + 2.0 * kFloorLayers) * facts.radius, run_.box());
        }
        if (info.kind == "density" && facts.has_gravity() && !facts.uniform)
            return;  // point particles': of no known error
        if (x.size() < 2) return;
        const double half = 0.5 * (x[1] - x[0]);
        const bool lags = info.kind == "msd" || info.kind == "vacf";
        if ((lags || info.kind == "free_path") && !periodic()) return;  // balls come back from walls
        const double from = lags ? 0.0 : x.front() - half;
        const auto theory = theory_curves(facts, run_.scene, info, from, x.back() + (lags ? 0.0 : half));
        if (theory.empty() || theory.front().x.size() < 2) return;
        double most = 0.0;
        for (const double value : measured.table.values) most = std::max(most, std::isfinite(value) ? value : 0.0);

        std::string label = theory.front().label;
        const bool by_component = info.kind == "velocity" && theory.size() > 1;
        if (by_component) label.resize(label.rfind(','));  // the curves' labels end in their axes
        TheoryCheck check{.what = info.name, .unit = info.unit, .theory = std::move(label)};
        check.uncertainty = info.kind == "density" && facts.has_gravity() ? column_uncertainty(facts, info.x.of_box())
                            : info.kind == "speed" || info.kind == "velocity" ? kPerBall / facts.balls
                            : info.kind == "free_path"
                                ? std::hypot(kPathCorrelation * facts.packing_fraction, kPerBall / facts.balls)
                            : info.kind == "vacf" ? enskog_correlation_uncertainty(facts.dimension)
                            : lags ? enskog_diffusion_uncertainty(facts.dimension, facts.packing_fraction)
                                   : 0.0;
        Points points;
        for (std::size_t k = 0; k < measured.table.values.size(); ++k) {
            const double at = x[k % x.size()];
            const double value = measured.table.values[k];
            const double error = measured.table.errors[k];
            const bool tells = std::isfinite(value) && error > 0.0 && (lags || value > kTail * most) &&
                               (info.kind == "vacf" || error < kMostRelativeError * value);
            if (!tells || (lags && at == 0.0)) continue;
            // Of some averages each component has its own.
            const TheoryCurve& line = by_component ? theory[std::min(k / x.size(), theory.size() - 1)] : theory.front();
            const double expected = lags ? line.at(at) : mean_over(line, at - half, at + half);
            double doubt = check.uncertainty * std::abs(expected);
            if (info.kind == "vacf") {
                const double start = facts.temperature / facts.mass;
                if (expected < kTellingCorrelation * start) continue;
                doubt = std::max(doubt, kCorrelationFloor * start);
            }
            points.add(value, expected, std::hypot(error, doubt));
        }
        if (points.count > 0) this->curve(std::move(check), points, measured.table, 0.0, unsettled(info, facts));
    }

    /// Of the profile under gravity, as a share: local density is that of a column which is endlessly wide.
    [[nodiscard]] double column_uncertainty(const GasFacts& facts, int axis) const {
        double surface = 0.0;  // over the volume
        for (int side = 0; side < run_.dimension(); ++side) {
            if (side != axis && !periodic(side)) surface += 2.0 / run_.box().size[static_cast<std::size_t>(side)];
        }
        return std::hypot(kLocalDensity, kSideWalls * facts.diameter * surface);
    }

    /// n T = p where centres touch a wall, however they lie before it: the density of slices within half a diameter,
    /// carried on to the wall.
    void contact(const RunAverage& measured, const GasFacts& facts) {
        static constexpr std::string_view kAxes = "xyz";
        const int axis = measured.info.x.of_box();
        if (!facts.uniform || facts.walls || periodic(axis)) return;
        const std::vector<double>& x = measured.table.x;
        const double slice = run_.box().size[static_cast<std::size_t>(axis)] / static_cast<double>(x.size());
        for (const bool low : {true, false}) {
            const MeasuredMean* pressure =
                mean(fmt::format("wall_pressure.{}_{}", kAxes[static_cast<std::size_t>(axis)], low ? "min" : "max"));
            if (pressure == nullptr) continue;
            const double wall = low ? run_.box().low(axis, facts.radius) : run_.box().high(axis, facts.radius);
            WallFit fit;
            for (std::size_t k = 0; k < x.size(); ++k) {
                const double away = (low ? x[k] - wall : wall - x[k]) / facts.diameter;
                const double half = 0.5 * slice / facts.diameter;
                // Slices that the wall keeps centres out of in part hold those of another volume.
                if (away - half < -1e-9 || away + half > kContactLayer) continue;
                fit.add(away, measured.table.values[k], measured.table.errors[k]);
            }
            const auto at_wall = fit.at_zero();
            if (!at_wall) continue;
            // Samples of one run: what it has more of at the wall presses on it.
            const double t = facts.temperature;
            number({.what = fmt::format("{}, times T at {}-{}", measured.info.name,
                                        kAxes[static_cast<std::size_t>(axis)], low ? "min" : "max"),
                    .unit = pressure_unit(facts.dimension),
                    .theory = "contact theorem, pressure on the wall",
                    .measured = at_wall->value * t,
                    .error = std::hypot(at_wall->error * t, pressure->error),
                    .expected = pressure->mean,
                    .uncertainty = at_wall->doubt * t,
                    .steadiness = measured.table.steadiness});
        }
    }

    /// Of the lines between its points: what a bin holds is not what stands in its middle.
    static double mean_over(const TheoryCurve& curve, double low, double high) {
        double sum = 0.0;
        double x = low;
        double y = curve.at(low);
        const auto to = [&](double next_x, double next_y) {
            sum += 0.5 * (y + next_y) * (next_x - x);
            x = next_x;
            y = next_y;
        };
        const auto first = static_cast<std::size_t>(std::ranges::upper_bound(curve.x, low) - curve.x.begin());
        for (std::size_t k = first; k < curve.x.size() && curve.x[k] < high; ++k) to(curve.x[k], curve.y[k]);
        to(high, curve.at(high));
        return sum / (high - low);
    }

    const MeasuredRun& run_;
    std::vector<TheoryCheck> checks_;
};

/// Dashed, for what is measured lies under it.
TheoryCurve course(std::string label, std::vector<double> x, std::vector<double> y) {
    return {.label = std::move(label), .x = std::move(x), .y = std::move(y), .dashed = true};
}

}  // namespace

std::string theory_words(const TheoryCheck& check) {
    std::string text = fmt::format("theory {:.6g} ({})", check.expected, check.theory);
    if (std::isfinite(check.sigmas)) text += fmt::format(", {:+.1f} sigma", check.sigmas);
    text += (check.verdict == TheoryVerdict::kUnknown ? ": no verdict, " : ": ") + check.words();
    if (check.verdict == TheoryVerdict::kAgrees) text += fmt::format(", {} would show", share_text(check.would_show));
    return text;
}

std::string share_text(double share) {
    const double percent = 100.0 * share;
    return fmt::format(fmt::runtime(percent < 10.0 ? "{:.2g} %" : "{:.0f} %"), percent);
}

std::string TheoryCheck::words() const {
    return verdict == TheoryVerdict::kAgrees ? "agrees" : verdict == TheoryVerdict::kDiffers ? "differs" : reason;
}

std::vector<TheoryCheck> average_checks(const MeasuredRun& run, std::span<const RunAverage> averages) {
    Checks checks(run);
    for (const RunAverage& average : averages) checks.average(average);
    return checks.take();
}

std::vector<TheoryCheck> theory_checks(const MeasuredRun& run, std::span<const RunAverage> averages) {
    Checks checks(run);
    checks.rows();
    for (const RunAverage& average : averages) checks.average(average);
    return checks.take();
}

std::vector<std::string> spreading_warnings(const MeasuredRun& run, std::span<const AverageInfo> averages) {
    static constexpr std::string_view kAxes = "xyz";
    const GasFacts facts = gas_facts(run, "", run.means_since);
    std::vector<std::string> warnings;
    for (int axis = 0; axis < run.dimension(); ++axis) {
        if (facts.spreads(axis)) continue;
        const char name = kAxes[static_cast<std::size_t>(axis)];
        std::string of;
        const std::string walls = fmt::format("wall_pressure.{}", name);
        if (std::ranges::any_of(run.means, [&](const MeasuredMean& mean) { return mean.name.starts_with(walls); })) {
            of = walls;
        }
        for (const AverageInfo& info : averages) {
            const bool along = info.kind == "density_map" || (info.kind == "density" && info.x.of_box() == axis);
            if (along) of += (of.empty() ? "" : ", ") + info.name;
        }
        if (of.empty()) continue;
        warnings.push_back(
            fmt::format("density spreads along {} in {:.3g} s in this bath: errors of {} are too small in "
                        "runs shorter than ten times that",
                        name, facts.spreading_time[static_cast<std::size_t>(axis)], of));
    }
    return warnings;
}

void leave_out_walls(RunAverage& average, double radius, const Box& box) {
    const int axis = average.info.x.of_box();
    const double half = 0.5 * box.size[axis] / static_cast<double>(average.info.x.points);
    const double low = box.low(axis, radius);
    const double high = box.high(axis, radius);
    const double slack = 1e-9 * box.size[axis];
    for (std::size_t k = 0; k < average.info.x.points; ++k) {
        const double at = average.table.x[k];
        if (at - half < low - slack || at + half > high + slack) average.table.values[k] = std::nan("");
    }
}

std::vector<TheoryCurve> theory_over_time(const MeasuredRun& run, const std::string& quantity) {
    static constexpr std::array<std::string_view, 4> kKnown{"temperature", "pressure", "virial_pressure",
                                                            "wall_pressure"};
    if (std::ranges::find(kKnown, quantity) == kKnown.end()) return {};
    const std::vector<double>& time = run.time;
    if (time.size() < 2) return {};
    const bool of_bulk = quantity == "pressure" || quantity == "virial_pressure";
    if (of_bulk || quantity == "temperature") {
        if (auto gas = adiabatic_course(run)) {
            return {course("adiabatic, equation of state", std::move(gas->time),
                           std::move(of_bulk ? gas->pressure : gas->temperature))};
        }
    }
    if (quantity == "wall_pressure") {
        if (const auto wave = standing_wave(run)) return wave_curves(*wave, time.front(), time.back());
    }
    if (of_bulk) {
        // Before, the gas need not fill its box; of a run that found no equilibrium the second half is looked at.
        const double from = run.equilibrated_since.value_or(0.5 * (time.front() + time.back()));
        if (const auto pressure = theory_scalar(gas_facts(run, "", from), "pressure")) {
            return {course(pressure->name, {from, time.back()}, {pressure->value, pressure->value})};
        }
    }
    return {};
}

std::vector<double> box_over_room(const MeasuredRun& run) {
    if (!adiabatic_course(run)) return {};
    const double radius = gas_facts(run, "", run.time.front()).radius;
    const double box = room_of(run.box(), radius).volume();
    std::vector<double> ratio;
    for (const double at : run.time) ratio.push_back(box / room_at(run.scene, at, radius).volume());
    return ratio;
}

}  // namespace carom
