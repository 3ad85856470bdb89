#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/observables/observable.hpp"
#include "host/observables/time_series.hpp"
#include "host/state/balls.hpp"
#include "host/state/box.hpp"
#include "host/state/solver.hpp"
#include "kernels/sampling/ball_sampler.hpp"

namespace carom {

/// One axis of a table of averages.
struct AverageAxis {
    std::string label;       ///< "speed"; empty: a table of one point
    std::string unit;        ///< SI, as H5MD writes units
    std::size_t points = 1;  ///< of the table along it
    /// Which axis of the box it is, 0 to 2; -1: none of them.
    [[nodiscard]] int of_box() const { return label.size() == 1 && label >= "x" && label <= "z" ? label[0] - 'x' : -1; }
    bool operator==(const AverageAxis&) const = default;
};

/// What an averaged observable is called and means.
struct AverageInfo {
    std::string name;                          ///< that of its [[observe]]
    std::string kind;                          ///< "speed", "gr", ...
    std::string unit;                          ///< of the values, SI as H5MD writes units; empty: a pure number
    std::string label;                         ///< for the axis of a figure
    std::string normalisation;                 ///< what the values are, in one sentence
    std::string species;                       ///< whose; empty: all balls of finite mass
    std::vector<std::string> components = {};  ///< one name per component; empty: one
    AverageAxis x = {};
    AverageAxis y = {};  ///< only of maps
    double every = 0.0;  ///< between samples [time]
    double from = 0.0;   ///< samples are taken from this time on

    [[nodiscard]] std::size_t width() const {
        return (components.empty() ? 1 : components.size()) * x.points * y.points;
    }
    /// Whether a table of that kind, of balls in so many dimensions, has such axes and components; what reads it counts
    /// on that. A file may say anything.
    [[nodiscard]] bool is_sound(int dimension) const;
    bool operator==(const AverageInfo&) const = default;
};

/// What samples say of the errors of the values that come of them.
class Steadiness {
public:
    Steadiness() = default;
    Steadiness(double independent, double drift) { add({.independent = independent, .drift = drift}); }
    void add(const MeanWithError& value);
    /// Of how many independent samples the values are, as far as blocks tell: the harmonic mean over them. NaN where
    /// there are too few samples.
    [[nodiscard]] double independent() const;
    /// How far values of the second half of the samples are from those of the first, in standard errors of that: of one
    /// value with its sign, else the root of the mean square. NaN as before.
    [[nodiscard]] double drift() const;

private:
    double count_ = 0.0;
    double inflation_ = 0.0;  // of variances, sum
    double squares_ = 0.0;
    double last_ = 0.0;
    double last_independent_ = 0.0;
};

/// The averages up to now.
struct AverageTable {
    double samples = 0.0;        ///< how many were taken
    std::vector<double> x;       ///< x.points: middles of bins, or lags
    std::vector<double> y;       ///< y.points
    std::vector<double> values;  ///< component by component, row of x by row of x; NaN where there is none
    std::vector<double> errors;  ///< standard errors, by blocks; NaN where there are too few samples
    std::vector<double> correlation_times = {};  ///< integrated, of single numbers; empty: nobody can tell [time]
    Steadiness steadiness = {};
};

/// The balls of a run, as far as averages care.
struct Population {
    std::vector<Species> table;
    SpeciesById species;  ///< rows of the table
};

/// By species; 0 for what is infinite. What BallKinds wants.
std::vector<double> finite_masses(const std::vector<Species>& table);

/// What does not change during a run.
struct AverageContext {
    Box box;
    std::shared_ptr<const Population> population;
    double every = 0.0;         ///< between samples [time]
    std::uint64_t samples = 0;  ///< in a row, at most; a guess
    double rms_speed = 0.0;     ///< of the balls [length/time]; 0: somebody gives or takes energy, or walls stand in
};

/// When a sample is taken.
struct Moment {
    double time = 0.0;
    std::uint64_t index = 0;  ///< the time in units of `every`: who looks at differences in time sees gaps by it
};

/// Gravity in a part of a run.
struct GravityUntil {
    double until = 0.0;  ///< the end of that part [time]; of the last one nobody asks
    Vector3 gravity{};   ///< [length/time^2]
};

/// What a solver has summed and counted, at the time of a sample.
struct SolverSums {
    double time = 0.0;
    const Tallies& tallies;
    const Totals& totals;      ///< only of solvers whose contacts last: zeros where tallies have a collisional_virial
    double path_length = 0.0;  ///< Solver::path_length, for who needs it
};

/// A quantity that is averaged over a run and never stored sample by sample: memory does not grow with the run. Most
/// are a SumAverage (sum_average.hpp).
class Average {
public:
    virtual ~Average() = default;

    [[nodiscard]] virtual AverageInfo info() const = 0;
    /// Whether `account` is to be called before each sample.
    [[nodiscard]] virtual bool needs_accounts() const { return false; }
    /// The balls, by id, of whose impacts `impact` is to tell, if not of others too: 1 or 0 each. Empty: of none.
    [[nodiscard]] virtual std::span<const std::uint8_t> followed() const { return {}; }
    /// Whether it needs SolverSums::path_length, which takes a look at each ball.
    [[nodiscard]] virtual bool needs_path_length() const { return false; }
    virtual void account(const SolverSums& /*now*/) {}
    virtual void impact(const LoggedImpact& /*hit*/) {}
    /// How gravity is from now on, part of the run by part.
    virtual void fly_under(std::span<const GravityUntil> /*gravity*/) {}
    /// Somebody has given the balls other velocities, or gravity is another.
    virtual void interrupt() { skip(); }
    /// In place of `add`, after `account`, in a stage that is not measured: what came before must not reach a later
    /// sample.
    virtual void skip() {}
    /// One sample.
    virtual void add(BallSampler& balls, const Moment& now) = 0;
    /// What has been averaged; a single number of fewer samples than kLeastSamplesForError without an error.
    [[nodiscard]] AverageTable table() const;
    /// Numbers that it keeps between samples, about, when it keeps most; none before the first one.
    [[nodiscard]] virtual std::size_t most_numbers() const = 0;
    /// Puts away all that has been gathered; restore goes on from there to the same bits.
    virtual void save(std::vector<double>& out) const = 0;
    /// \throws std::invalid_argument  it was saved by another one
    virtual void restore(SavedNumbers& saved) = 0;

private:
    /// table(), of however few samples.
    [[nodiscard]] virtual AverageTable measured() const = 0;
};

/// Which balls an average is taken over: those of a species, or all of finite mass.
class Selection {
public:
    Selection(std::shared_ptr<const Population> population, const std::string& species);
    [[nodiscard]] std::span<const std::uint8_t> by_species() const { return chosen_; }
    [[nodiscard]] bool chosen(std::size_t id) const { return chosen_[population_->species[id]] != 0; }
    [[nodiscard]] std::uint32_t row(std::size_t id) const { return population_->species[id]; }
    [[nodiscard]] std::size_t population_size() const { return population_->species.size(); }
    /// Ids of `most` of them, or all if there are fewer, ascending. Each kind has its share, and each stretch of its
    /// ids: of one it is drawn who is taken, so that the order in which balls stand favours nobody.
    [[nodiscard]] std::vector<std::uint32_t> drawn(std::size_t most) const;
    /// The largest of their finite masses; 0 without any.
    [[nodiscard]] double heaviest() const;
    /// The least of their finite masses; 0 without any.
    [[nodiscard]] double lightest() const;

private:
    std::shared_ptr<const Population> population_;
    std::vector<std::uint8_t> chosen_;  // by species
};

/// Of fewer samples a standard error is itself a guess: none is told.
inline constexpr double kLeastSamplesForError = 8.0;

/// An average that is a single number, or one component of it, as summaries and tables tell it.
struct AveragedNumber {
    std::string name;  ///< "name" or "name.component"
    std::string kind;  ///< "kurtosis", "stress", ...
    std::string unit;  ///< SI, as H5MD writes units; empty: a pure number
    double mean = 0.0;
    double error = 0.0;             ///< standard error; NaN if there are fewer samples than kLeastSamplesForError
    double samples = 0.0;           ///< how many were taken
    double correlation_time = 0.0;  ///< integrated; NaN if nobody can tell [time]
    Steadiness steadiness = {};     ///< of an average of several components: of all of them
};

/// The names of the numbers that an average is: its own, or "name.component"; none for curves and maps.
std::vector<std::string> number_names(const AverageInfo& average);

/// The numbers among averages. \param tables  one of each of `infos`
std::vector<AveragedNumber> averaged_numbers(std::span<const AverageInfo> infos, std::span<const AverageTable> tables);

}  // namespace carom
