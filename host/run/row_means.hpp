#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "host/observables/average.hpp"
#include "host/observables/observable.hpp"
#include "host/observables/time_series.hpp"
#include "host/state/solver.hpp"

namespace carom {

/// The time average of one number of the rows.
struct RowMean {
    std::string name;  ///< "name" or "name.component"
    std::string unit;
    double mean = 0.0;
    double error = 0.0;             ///< standard error, by blocks; NaN if there are too few rows
    double correlation_time = 0.0;  ///< integrated autocorrelation time; NaN if it is too long to tell [time]
    Steadiness steadiness = {};
    /// Of the virial pressure: the error of p / T, times the mean T. In a bath T scatters, and p with it; NaN of
    /// others.
    double error_at_temperature = std::numeric_limits<double>::quiet_NaN();
};

/// The time averages of a run.
struct RowMeans {
    std::vector<RowMean> means;  ///< of all numbers that have a value in every row
    double begin = 0.0;          ///< rows are over the time after this one
    double since = 0.0;          ///< they are over the rows after this time
    std::uint64_t rows = 0;      ///< so many
    /// Whether the run was at equilibrium from `since` on: of the rows, temperature, energies and pressures by the
    /// marginal standard error rule, and each of them of enough independent samples that do not drift. If not, the
    /// means are over all rows. None: nobody can tell.
    std::optional<bool> equilibrated;
    std::string reason;  ///< why it was not, or why nobody can tell
};

/// What the walk of the energy that steps make adds to the standard error of a mean that is proportional to it, as a
/// share of that mean; 0: it does not walk, or nobody can tell.
/// \param energy  a column of `series`: of all balls, where the errors of steps alone change it
/// \param from    the mean is that of whole batches from this one on
/// \param before  batches that were before the first one since the start
double energy_walk(const BatchSeries& series, std::size_t energy, std::size_t from, double before = 0.0);

/// Averages what the rows of a run hold, in bounded memory. Only rows at the multiples of the rows' interval count, so
/// that where a run was stopped and resumed makes no difference.
class RowSeries {
public:
    /// \param row_every  between rows [time]; 0: nothing is averaged
    /// \param isolated   nothing but the errors of steps changes the energy of the balls
    RowSeries(const std::vector<ObservableInfo>& infos, double row_every, bool isolated = false);

    /// A row that is due, or the first one of a run, of which nothing counts but what has been tallied before.
    void add(const ObservableSet& observables, const ObservableRow& row, const Totals& totals, const Tallies& tallies,
             const Frame* frame);

    /// Of the last row that came; 0 before any.
    [[nodiscard]] double previous_time() const { return previous_time_; }

    /// A row that tells of a time that is not measured: only tallied from.
    void skip(double time, const Tallies& tallies);

    /// \param never       why such a run is at no equilibrium, whatever its rows look like; empty: it may be
    /// \param not_before  what rows do not see came to equilibrium only then [time]
    [[nodiscard]] RowMeans means(const std::string& never = "",
                                 double not_before = -std::numeric_limits<double>::infinity()) const;

    void save(std::vector<double>& out) const;
    /// Of what was saved.
    [[nodiscard]] static double saved_interval(const std::vector<double>& saved) { return saved.front(); }
    /// \param faces  of the box, which rows tell of
    /// \param same   whether it is of rows that are called as these; else means are taken from here on
    /// \throws std::invalid_argument  it was saved by another run
    void restore(SavedNumbers& saved, std::size_t faces, bool same = true);

private:
    struct Column {
        std::string name;
        std::string unit;
        bool tells_equilibrium = false;
        bool has_energy = false;
        double change = kAnyChange;
    };

    std::vector<Column> columns_;
    std::vector<std::size_t> place_;  // of each column in a row
    double row_every_;
    bool isolated_;
    BatchSeries series_;             // each column, then the square of its difference from the first row's
    std::vector<double> reference_;  // the first row's columns
    double first_time_ = 0.0;
    bool has_previous_ = false;
    double previous_time_ = 0.0;
    std::optional<std::uint64_t> mobile_;  // balls of finite mass in the last row
    double measured_time_ = 0.0;           // of the rows in series_, without what was skipped
    struct Skipped {
        double after = 0.0;   // measured_time_ by then
        double length = 0.0;  // [time]
    };
    std::vector<Skipped> skipped_;  // between rows of series_: one for each stage at most
    Tallies previous_;

    [[nodiscard]] double time_after(double measured, double slack) const;
    [[nodiscard]] double energy_walk(std::size_t from) const;
    /// Two batches behind that in which the balls are first as high as in the mean, where the first row has them at a
    /// height that is rare; else 0.
    [[nodiscard]] std::size_t first_as_high() const;
};

}  // namespace carom
