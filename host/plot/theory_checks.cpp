#include "host/plot/theory_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "host/plot/adiabatic.hpp"
#include "host/plot/average_figure.hpp"
#include "host/plot/conduction.hpp"
#include "host/plot/run_average.hpp"
#include "host/plot/run_theory.hpp"
#include "host/plot/standing_wave.hpp"
#include "host/plot/stored_means.hpp"
#include "host/run/averaged_number.hpp"
#include "host/scene/load.hpp"
#include "host/state/errors.hpp"
#include "kernels/physics/diffusion.hpp"
#include "kernels/physics/kinetic_theory.hpp"

namespace carom {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kMostSigmas = 4.0;
/// Of curves the root of the mean square: about 1 if all is well, somewhat more for errors that are guesses themselves
/// and for neighbours that know of each other.
constexpr double kMostRootMeanSquare = 2.0;
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

TheoryVerdict verdict_of(double sigmas, double most) {
    if (!std::isfinite(sigmas)) return TheoryVerdict::kUnknown;
    return std::abs(sigmas) <= most ? TheoryVerdict::kAgrees : TheoryVerdict::kDiffers;
}

class Checks {
public:
    explicit Checks(const TrajectoryReader& trajectory)
        : trajectory_(trajectory),
          header_(trajectory.header()),
          scene_(parse_scene(header_.scene_source, header_.scene_path)),
          means_(stored_means(trajectory)),
          since_(means_since(trajectory)) {}

    std::vector<TheoryCheck> all() {
        pressure();
        weight();
        // What a gas does on its way, not in equilibrium.
        if (auto check = adiabatic_check(trajectory_, scene_)) number(std::move(*check));
        if (auto check = sound_speed_check(trajectory_, scene_)) number(std::move(*check));
        for (const AverageInfo& info : header_.averages) average(info.name);
        // What follows from frames, where it is drawn too.
        for (const std::string& quantity : average_quantities(trajectory_)) {
            if (std::ranges::find(header_.averages, quantity, &AverageInfo::name) == header_.averages.end()) {
                average(quantity);
            }
        }
        return std::move(checks_);
    }

    std::vector<TheoryCheck> numbers() {
        for (const AverageInfo& info : header_.averages) {
            if (info.x.label.empty()) average(info.name);
        }
        return std::move(checks_);
    }

private:
    [[nodiscard]] const StoredMean* mean(const std::string& name) const {
        const auto found = std::ranges::find(means_, name, &StoredMean::name);
        return found == means_.end() ? nullptr : &*found;
    }
    [[nodiscard]] bool periodic(int axis) const { return header_.box.periodic(axis); }
    [[nodiscard]] bool periodic() const {
        for (int axis = 0; axis < header_.dimension(); ++axis) {
            if (!periodic(axis)) return false;
        }
        return true;
    }
    void number(TheoryCheck check) {
        const double error = std::hypot(check.error, check.uncertainty);
        check.sigmas = std::isfinite(check.error) && error > 0.0 ? (check.measured - check.expected) / error : kNan;
        check.verdict = verdict_of(check.sigmas, kMostSigmas);
        checks_.push_back(std::move(check));
    }

    /// p V / (N T) of the bulk; between walls it is only approached.
    void pressure() {
        const StoredMean* measured = mean("virial_pressure");
        if (measured == nullptr || !periodic()) return;
        const GasFacts facts = gas_facts(trajectory_, scene_, "", since_);
        const std::optional<ScalarTheory> theory = theory_scalar(facts, "pressure");
        if (!theory) return;
        number({.what = "virial pressure",
                .unit = pressure_unit(facts.dimension),
                .theory = fmt::format("equation of state at packing fraction {:.4g}", facts.packing_fraction),
                .measured = measured->mean,
                .error = measured->error,
                .expected = theory->value,
                .uncertainty = theory->uncertainty});
    }

    /// In the mean the floor bears the weight, and what presses on the ceiling besides.
    void weight() {
        static constexpr std::string_view kAxes = "xyz";
        const GasFacts facts = gas_facts(trajectory_, scene_, "", since_);
        // It holds for driven gases too: what moves up and down does not fall.
        if (!facts.thermal || !facts.one_gravity || facts.left || facts.walls ||
            facts.balls != static_cast<double>(header_.species.size())) {
            return;
        }
        for (int axis = 0; axis < header_.dimension(); ++axis) {
            const double g = facts.gravity[static_cast<std::size_t>(axis)];
            if (g == 0.0) continue;
            const auto on = [&](const char* side) {
                return mean(fmt::format("wall_pressure.{}_{}", kAxes[static_cast<std::size_t>(axis)], side));
            };
            const StoredMean* floor = on(g < 0.0 ? "min" : "max");
            const StoredMean* ceiling = on(g < 0.0 ? "max" : "min");
            if (floor == nullptr) continue;
            const double area = header_.box.volume() / header_.box.size[static_cast<std::size_t>(axis)];
            number({.what = ceiling != nullptr ? "force on the floor, less that on the ceiling" : "force on the floor",
                    .unit = "N",
                    .theory = "weight, N m g",
                    .measured = area * (floor->mean - (ceiling != nullptr ? ceiling->mean : 0.0)),
                    .error = area * std::hypot(floor->error, ceiling != nullptr ? ceiling->error : 0.0),
                    .expected = facts.balls * facts.mass * std::abs(g)});
        }
    }

    void average(const std::string& name) {
        RunAverage measured;
        try {
            measured = run_average(trajectory_, scene_, name);
        } catch (const InputError&) {
            return;  // no frames
        }
        const AverageInfo& info = measured.info;
        const GasFacts facts = gas_facts(trajectory_, scene_, info.species, info.from);
        if (const auto law = conduction_law(facts, header_.box, measured)) conduction(measured, *law);
        if (!facts.equilibrium()) return;
        if (info.x.label.empty()) {
            scalar(measured, facts);
        } else if (info.y.label.empty()) {
            curve(std::move(measured), facts);
        }
    }

    /// Velocity components among which the energy is shared; a height counts twice, as its energy is linear in it.
    [[nodiscard]] double degrees_of_freedom(double from) const {
        const GasFacts all = gas_facts(trajectory_, scene_, "", from);
        double degrees = 0.0;
        for (int axis = 0; axis < header_.dimension(); ++axis) degrees += all.balls - (periodic(axis) ? 1.0 : 0.0);
        return degrees + (all.has_gravity() ? 2.0 * all.balls : 0.0);
    }

    /// Whether a temperature is of some balls or a region: that of all is the run's, and agrees with itself.
    [[nodiscard]] bool is_of_a_part(const AverageInfo& info, const GasFacts& facts) const {
        if (facts.balls < gas_facts(trajectory_, scene_, "", info.from).balls) return true;
        const auto observe = std::ranges::find(scene_.observables, info.name, &ObserveEntry::name);
        if (observe == scene_.observables.end()) return false;
        const Box& box = header_.box;
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(box.dimension); ++axis) {
            const double from = observe->region_min[axis];
            const double to = observe->region_max[axis];
            if (from < to && (from > box.min[axis] || to < box.min[axis] + box.size[axis])) return true;
        }
        return false;
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
            .error = measured.table.samples < kLeastSamplesForVerdict ? kNan : measured.table.errors[component]};
        const std::string part = info.components.empty() ? "" : info.components[component];
        if (info.kind == "kurtosis") {
            check.theory = facts.bath ? "Maxwell and Boltzmann" : "fixed energy, 3 D / (D + 2)";
            check.expected = facts.bath ? 3.0 : finite_kurtosis(degrees_of_freedom(info.from));
        } else if (info.kind == "temperature") {
            if (!is_of_a_part(info, facts)) return;
            check.theory = "the run's temperature";
            check.expected = facts.temperature;
        } else if (const auto theory = periodic() ? theory_scalar(facts, info.kind, part) : std::nullopt) {
            check.theory = theory->name;
            check.expected = theory->value;
            check.uncertainty = theory->uncertainty;
        } else {
            return;
        }
        number(std::move(check));
    }

    /// The slices that the law is fitted to, less its constants: its ends are no prediction, its bend is.
    void conduction(const RunAverage& measured, const ConductionLaw& law) {
        TheoryCheck check{.what = measured.info.name, .unit = measured.info.unit, .theory = law.curve.label};
        check.measured = check.error = check.expected = kNan;
        check.uncertainty = kConduction;
        double squares = 0.0;
        for (std::size_t k = 0; k < measured.table.x.size(); ++k) {
            const double at = measured.table.x[k];
            const double value = measured.table.values[k];
            const double error = measured.table.errors[k];
            if (!law.holds_at(at) || !(error > 0.0) || !(value > 0.0)) continue;
            const double expected = value_at(law.curve, at);
            const double off = (value - expected) / std::hypot(error, check.uncertainty * expected);
            squares += off * off;
            ++check.points;
        }
        const double free = static_cast<double>(check.points) - kFitted;
        check.sigmas = measured.table.samples < kLeastSamplesForVerdict ? kNan : std::sqrt(squares / free);
        check.verdict = verdict_of(check.sigmas, kMostRootMeanSquare);
        checks_.push_back(std::move(check));
    }

    void curve(RunAverage measured, const GasFacts& facts) {
        const AverageInfo& info = measured.info;
        const std::vector<double>& x = measured.table.x;
        if (info.kind == "temperature_profile") return;  // what is drawn beside it is the run's own mean
        if (info.kind == "density") {
            const int axis = info.x.label[0] - 'x';
            if (!facts.has_gravity() && !periodic(axis)) return;  // balls stand in layers at walls
            leave_out_walls(measured, (1.0 + 2.0 * kFloorLayers) * facts.radius, header_.box);
        }
        if (info.kind == "density" && facts.has_gravity() && !facts.uniform)
            return;  // point particles': of no known error
        if (x.size() < 2) return;
        const double half = 0.5 * (x[1] - x[0]);
        const bool lags = info.kind == "msd" || info.kind == "vacf";
        if (lags && !periodic()) return;  // balls come back from walls
        const double from = lags ? 0.0 : x.front() - half;
        const auto theory = theory_curves(facts, scene_, info, from, x.back() + (lags ? 0.0 : half));
        if (theory.empty() || theory.front().x.size() < 2) return;
        const Curve& curve = theory.front();
        double most = 0.0;
        for (const double value : measured.table.values) most = std::max(most, std::isfinite(value) ? value : 0.0);

        TheoryCheck check{.what = info.name, .unit = info.unit, .theory = curve.label};
        check.measured = check.error = check.expected = kNan;
        check.uncertainty = info.kind == "density" && facts.has_gravity()     ? kLocalDensity
                            : info.kind == "speed" || info.kind == "velocity" ? kPerBall / facts.balls
                            : info.kind == "free_path" ? kPathCorrelation * facts.packing_fraction
                            : info.kind == "vacf"      ? enskog_correlation_uncertainty(facts.dimension)
                            : lags ? enskog_diffusion_uncertainty(facts.dimension, facts.packing_fraction)
                                   : 0.0;
        double squares = 0.0;
        for (std::size_t k = 0; k < measured.table.values.size(); ++k) {
            const double at = x[k % x.size()];
            const double value = measured.table.values[k];
            const double error = measured.table.errors[k];
            const bool tells = std::isfinite(value) && error > 0.0 && (lags || value > kTail * most) &&
                               (info.kind == "vacf" || error < kMostRelativeError * value);
            if (!tells || (lags && at == 0.0)) continue;
            const double expected = lags ? value_at(curve, at) : mean_over(curve, at - half, at + half);
            double doubt = check.uncertainty * std::abs(expected);
            if (info.kind == "vacf") {
                const double start = facts.temperature / facts.mass;
                if (expected < kTellingCorrelation * start) continue;
                doubt = std::max(doubt, kCorrelationFloor * start);
            }
            const double off = (value - expected) / std::hypot(error, doubt);
            squares += off * off;
            ++check.points;
        }
        if (check.points == 0) return;
        check.sigmas = measured.table.samples < kLeastSamplesForVerdict
                           ? kNan
                           : std::sqrt(squares / static_cast<double>(check.points));
        check.verdict = verdict_of(check.sigmas, kMostRootMeanSquare);
        checks_.push_back(std::move(check));
    }

    static double value_at(const Curve& curve, double x) {
        const auto next = std::ranges::lower_bound(curve.x, x);
        const auto k = static_cast<std::size_t>(
            std::clamp<std::ptrdiff_t>(next - curve.x.begin(), 1, static_cast<std::ptrdiff_t>(curve.x.size()) - 1));
        const double share = (x - curve.x[k - 1]) / (curve.x[k] - curve.x[k - 1]);
        return curve.y[k - 1] + share * (curve.y[k] - curve.y[k - 1]);
    }
    /// Simpson's rule: what a bin holds is not what stands in its middle.
    static double mean_over(const Curve& curve, double low, double high) {
        return (value_at(curve, low) + 4.0 * value_at(curve, 0.5 * (low + high)) + value_at(curve, high)) / 6.0;
    }

    const TrajectoryReader& trajectory_;
    const TrajectoryHeader& header_;
    Scene scene_;
    std::vector<StoredMean> means_;
    double since_;  // rows count from then on
    std::vector<TheoryCheck> checks_;
};

}  // namespace

std::string theory_words(const TheoryCheck& check) {
    std::string text = fmt::format("theory {:.6g} ({})", check.expected, check.theory);
    if (std::isfinite(check.sigmas)) text += fmt::format(", {:+.1f} sigma", check.sigmas);
    if (check.verdict == TheoryVerdict::kDiffers) text += ": differs";
    return text;
}

std::vector<TheoryCheck> number_checks(const TrajectoryReader& trajectory) { return Checks(trajectory).numbers(); }

std::vector<TheoryCheck> theory_checks(const TrajectoryReader& trajectory) { return Checks(trajectory).all(); }

}  // namespace carom
