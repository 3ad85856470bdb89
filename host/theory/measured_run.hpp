#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/observables/average.hpp"
#include "host/scene/scene.hpp"
#include "host/state/balls.hpp"
#include "host/state/solver.hpp"

// What theory is told of a run, and what it answers: plain data, wherever it comes from. A run that has just ended
// tells of itself (host/run/simulate.cpp), a stored one is read (host/plot/stored_run.hpp).

namespace carom {

/// A mean over a run's rows and its standard error.
struct MeasuredMean {
    std::string name;  ///< "name" or "name.component"
    double mean = 0.0;
    double error = 0.0;             ///< NaN if there were too few rows
    double correlation_time = 0.0;  ///< NaN if unknown [time]
    Steadiness steadiness = {};
    double error_at_temperature = std::numeric_limits<double>::quiet_NaN();  ///< as RowMean's
};

/// An average of one run, from its file or computed from its frames.
struct RunAverage {
    AverageInfo info;
    AverageTable table;
};

/// What heat, work and losses leave of a change of energy.
struct EnergyDefect {
    double share = std::numeric_limits<double>::quiet_NaN();  ///< of the scale; NaN where losses are not counted
    double scale = 0.0;                                       ///< [energy]
};

/// One run.
struct MeasuredRun {
    Scene scene;
    std::vector<Species> species;
    std::vector<double> counts;  ///< balls of each species
    SolverDescription solver;
    bool changed = false;      ///< somebody changed it while it went on
    bool left = false;         ///< a ball has left the box
    double flow_energy = 0.0;  ///< of all balls' motion as a whole, along a periodic axis or round in a round wall, at
                               ///< the start [energy]
    bool bodies_move = false;  ///< some of infinite mass, at the start

    std::vector<double> time;                        ///< of the rows, rising
    std::vector<double> temperature;                 ///< of each row [energy]; empty: rows have none
    std::vector<double> energy;                      ///< of motion, without spin, and of contacts; the same [energy]
    std::vector<std::vector<double>> wall_pressure;  ///< of each face "x_min", "x_max", ... a row each; empty: none
    /// The first one, where positions and velocities are known.
    std::optional<Frame> first_frame;

    EnergyDefect energy_defect;
    double events = 0.0;  ///< or steps, in this part of the run

    std::vector<MeasuredMean> means;           ///< of the rows
    double means_since = 0.0;                  ///< rows count in these from then on [time]
    std::optional<double> equilibrated_since;  ///< the same where the run was at equilibrium, and nobody changed it
    /// Why what a theory of equilibrium says of it gets no verdict; empty: it was at equilibrium, or nobody has looked.
    std::string unsettled;
    bool off_equilibrium = false;  ///< as far as could be told

    /// Takes note of flow_energy and bodies_move.
    void look_at_start(const BallColumns& balls, const std::vector<std::uint32_t>& species_of);

    /// \param equilibrated  from `means_since` on; none: it could not be told
    void judge_equilibrium(std::optional<bool> equilibrated) {
        off_equilibrium = !changed && equilibrated == false;
        equilibrated_since = !changed && equilibrated == true ? std::optional(means_since) : std::nullopt;
        unsettled = changed                ? "it was changed"
                    : equilibrated == true ? ""
                    : equilibrated         ? "not at equilibrium"
                                           : "not known to be at equilibrium";
    }

    [[nodiscard]] const Box& box() const { return scene.box; }
    [[nodiscard]] int dimension() const { return scene.dimension(); }
    /// Since then, that rows count in [time].
    [[nodiscard]] double measured_time(double since) const;
    /// Of how many parts that is, with time between them in which nothing is measured.
    [[nodiscard]] double measured_parts(double since) const;
};

/// A curve of theory, or a single point.
struct TheoryCurve {
    std::string label;
    std::vector<double> x;
    std::vector<double> y;
    bool dashed = false;  ///< drawn over what it is to agree with, or beside another one
    bool rough = false;   ///< beside a better one: drawn thinner
    bool points = false;  ///< what is known of some places, and no line

    /// Between its points by straight lines, and on beyond its ends.
    [[nodiscard]] double at(double where) const;
};

/// A function as a curve of `pieces` equal parts.
template <class Function>
TheoryCurve sampled(std::string label, double from, double to, const Function& function, std::size_t pieces = 300) {
    TheoryCurve curve{.label = std::move(label), .x = {}, .y = {}};
    for (std::size_t k = 0; k <= pieces; ++k) {
        curve.x.push_back(from + (to - from) * static_cast<double>(k) / static_cast<double>(pieces));
        curve.y.push_back(function(curve.x.back()));
    }
    return curve;
}

/// The same over lags from 0 or more, as close as lags lie at any of them: in equal ratios, over seven decades.
template <class Function>
TheoryCurve sampled_over_lags(std::string label, double from, double to, const Function& function) {
    constexpr double kDecades = 7.0;
    constexpr std::size_t kPieces = 700;
    TheoryCurve curve{.label = std::move(label), .x = {from}, .y = {function(from)}};
    for (std::size_t k = 0; k <= kPieces; ++k) {
        const double decades = kDecades * (static_cast<double>(k) / static_cast<double>(kPieces) - 1.0);
        const double at = k < kPieces ? to * std::pow(10.0, decades) : to;
        if (!(at > curve.x.back())) continue;
        curve.x.push_back(at);
        curve.y.push_back(function(at));
    }
    return curve;
}

/// Between the points of a rising x by straight lines, and on beyond its ends.
inline double interpolated(const std::vector<double>& x, const std::vector<double>& y, double at) {
    const auto next = std::ranges::lower_bound(x, at) - x.begin();
    const auto k = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(next, 1, std::ssize(x) - 1));
    return y[k - 1] + (at - x[k - 1]) / (x[k] - x[k - 1]) * (y[k] - y[k - 1]);
}

inline double TheoryCurve::at(double where) const { return interpolated(x, y, where); }

/// Whether what was measured is what theory says, within standard errors: within 4 of them, one in 16,000 falls outside
/// by chance.
enum class TheoryVerdict : std::uint8_t { kAgrees, kDiffers, kUnknown };

/// One quantity of a run beside theory.
struct TheoryCheck {
    std::string what;          ///< "virial pressure"
    std::string unit;          ///< SI, as H5MD writes units
    std::string theory;        ///< whose: "equation of state"
    std::size_t points = 0;    ///< of a curve; 0: a number
    double measured = 0.0;     ///< a number alone; NaN for curves
    double error = 0.0;        ///< its standard error
    double expected = 0.0;     ///< theory's number
    double uncertainty = 0.0;  ///< what theory itself may be off by: a number, or for curves a share of each value
    /// (measured - expected) over error and uncertainty together; of a curve the root of the mean square of that.
    double sigmas = 0.0;
    /// What the samples say of the error.
    Steadiness steadiness = {};
    /// What the error is a share of, if theory's number is 0.
    double scale = 0.0;
    /// The fault that would have been seen, as a share of theory's number: so much is 4 standard errors and
    /// uncertainties together. Of a curve: off by that share at each point, it would not agree. NaN without an error.
    double would_show = std::numeric_limits<double>::quiet_NaN();
    TheoryVerdict verdict = TheoryVerdict::kUnknown;
    std::string reason;  ///< why there is no verdict: "too few samples"

    /// "agrees", "differs", or the reason for neither.
    [[nodiscard]] std::string words() const;
};

}  // namespace carom
