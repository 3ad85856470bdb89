#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/observables/average.hpp"
#include "host/observables/observable.hpp"
#include "host/run/prepare.hpp"
#include "host/run/row_means.hpp"
#include "host/run/schedule.hpp"
#include "host/scene/scene.hpp"
#include "host/state/balls.hpp"
#include "host/state/solver.hpp"
#include "kernels/core/half_done.hpp"

// What a run observes: the values of its rows, and its averages.

namespace carom {

/// The observables of a scene: the default ones, then those of its [[observe]] entries.
/// \param start  the balls as the solver holds them at time 0; used only while this runs, and only if needs_start
ObservableSet make_observables(const PreparedScene& run, const Balls* start);

/// The same for a run that is about to start or to go on.
ObservableSet observables_of_run(const PreparedScene& run, Solver& solver);

/// Whether make_observables wants to know where the balls were at time 0.
bool needs_start(const Scene& scene);

/// Whether some [[observe]] wants all balls in one place, however many: averages ask who has them for sums, but values
/// of rows look at a frame.
bool needs_all_balls(const Scene& scene);

/// What a row of that scene holds, without making anything.
std::vector<ObservableInfo> observable_infos(const Scene& scene, const BallFigures& figures);

/// What a run averages: the kinds of [[observe]] that are averages, and the means of the rows.
///
/// A sample is looked at where the balls are: in the GPU's memory, or in a frame. Where the solver leaves processors
/// free, being one that runs on a single thread, frames are looked at on these while it goes on; what is asked of the
/// averages afterwards waits for that.
class RunAverages {
public:
    /// \param run   with its state: averages of a resumed run go on from what its checkpoint holds
    /// \throws InputError  the checkpoint holds averages of another scene
    RunAverages(const PreparedScene& run, const std::vector<ObservableInfo>& rows);

    [[nodiscard]] const std::vector<AverageInfo>& infos() const { return infos_; }

    /// Samples that each of them takes until the end of the scene's run, from time 0.
    [[nodiscard]] std::vector<double> expected_samples(double until) const;

    /// The solver is where the run begins: from here on times are due. Takes what is due at time 0.
    void start(Solver& solver);
    /// When the next sample is due; infinity if none is.
    [[nodiscard]] double next() const;
    /// Takes what is due now. The solver must live until the next call of take, tables, numbers or save has returned.
    /// \throws what went wrong with the sample before
    void take(Solver& solver);
    /// Does what makes another solver of the run's, and gives the scene that is so from then on: what is gathered from
    /// impact to impact begins anew.
    void change(Solver& solver, const std::function<const Scene&()>& change);
    /// A row of the run.
    /// \param due  it falls on a multiple of the rows' interval; else it is the first one
    void add_row(bool due, const ObservableSet& observables, const ObservableRow& row, const Totals& totals,
                 const Tallies& tallies, const Frame* frame);
    /// \param never, not_before  as for RowSeries::means; a reason of the scene's own comes first
    [[nodiscard]] RowMeans row_means(const std::string& never = "",
                                     double not_before = -std::numeric_limits<double>::infinity()) const {
        return rows_.means(never_settles_.empty() ? never : never_settles_, not_before);
    }

    /// The time of the last row; 0 before any.
    [[nodiscard]] double last_row() const { return rows_.previous_time(); }

    /// Of a resumed run whose rows had others beside those of its scene, so that their means begin anew: what they
    /// were, and what they are, in words. Else empty.
    [[nodiscard]] const std::string& other_rows() const { return other_rows_; }

    /// Memory that they take, at most [bytes].
    [[nodiscard]] std::uint64_t most_bytes() const;

    /// The averages so far, one table an average, in the order of infos().
    [[nodiscard]] std::vector<AverageTable> tables();
    /// Those of them that are single numbers.
    [[nodiscard]] std::vector<AveragedNumber> numbers();
    /// Adds to a checkpoint what it takes to go on.
    /// \throws std::runtime_error  a sample or a row has failed half-way
    void save(SolverState& state);

private:
    struct Entry {
        std::unique_ptr<Average> average;
        SamplePlan plan;
        std::unique_ptr<SampleSchedule> schedule;
    };
    void make_averages(const PreparedScene& run);
    [[nodiscard]] AverageTable table_of(const Entry& entry) const;
    void restore(const PreparedScene& run);
    [[nodiscard]] bool begins_anew(const SamplePlan& plan, double now) const;
    /// One average that a sample is for.
    struct Due {
        Average* average;
        std::uint64_t index;  ///< of the sample
    };
    void look(BallSampler& balls, double now, const std::vector<Due>& due, bool measured, int threads);
    void wait();
    [[nodiscard]] BallKinds kinds_for(Solver& solver);
    void begin(Solver& solver);
    void watch(Solver& solver);
    void sample(Solver& solver);

    std::shared_ptr<const Population> population_;  // null without any
    std::vector<double> masses_;                    // by species, as BallKinds wants them
    std::vector<std::uint32_t> rows_of_species_;    // by id, where a process has all balls; from the first sample on
    std::vector<Entry> entries_;
    std::vector<AverageInfo> infos_;
    Scene stages_;  // its stages say when samples are taken, and these, or else its physics, what gravity there is
    RowSeries rows_;
    std::optional<BatchSeries> energy_;  // of all balls, with the samples of the first average that walks as it does
    std::size_t energy_with_ = 0;        // which entry that is
    std::string never_settles_;          // why the run is never at equilibrium; empty: it may be
    bool averages_rows_;
    std::string own_rows_;  // beside those of the scene
    std::string other_rows_;
    bool resumed_;
    int threads_;
    int spare_threads_ = 0;  // that the solver does not use
    HalfDone half_done_;
    Frame frame_;
    std::future<void> looking_;  // last: it ends before what it looks at
};

/// Between two collisions of a ball, about, at the density and temperature of the state; 0 if nothing moves.
double mean_free_time(const PreparedScene& run);

/// How often a run looks at its rows and averages, in a line.
std::string sampling_text(const PreparedScene& run);

/// The interval of the rows that the means of a checkpoint are over; none if it holds no means.
std::optional<double> saved_row_interval(const SolverState& state);

/// What the averages of a scene are, without making room for them.
std::vector<AverageInfo> average_infos(const PreparedScene& run);

}  // namespace carom
