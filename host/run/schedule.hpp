#pragma once

#include <cstdint>
#include <functional>

#include "host/state/multiples.hpp"

namespace carom {

/// Times at which something is due: the multiples of `every`, each moved to the time nearest to it that the solver
/// reaches. Multiples are counted from time 0, not from where a run starts, so a resumed run looks at the same times
/// as one that was never stopped. Several multiples on one time count once.
class Schedule {
public:
    /// \param every      [time]; 0: never
    /// \param from       only times after this one are due
    /// \param reachable  Solver::reachable_time
    Schedule(double every, double from, std::function<double(double)> reachable);

    /// The next due time; infinity if there is none.
    [[nodiscard]] double next() const { return next_; }
    /// The solver reaches other times from now on.
    void renew(double now);
    /// Whether something is due at `now`; then goes on to the next due time after `now`.
    bool take(double now);

private:
    void advance_past(double now);

    double every_;
    Multiples multiple_;
    std::function<double(double)> reachable_;
    double count_ = 0.0;  // a whole number; double since every_ may be tiny
    double next_;
};

/// How many times a schedule has from `from` to `until`, with both ends, whether they are multiples or not; without
/// going through them.
/// \param from      a time that the solver reaches
/// \param shortest  between two times that the solver reaches; 0: it reaches any
std::uint64_t count_due(double every, double from, double until, const std::function<double(double)>& reachable,
                        double shortest);

/// When an average is sampled.
struct SamplePlan {
    double every = 0.0;        ///< between samples [time]
    double from = 0.0;         ///< samples are taken from this time on
    std::uint64_t burst = 0;   ///< so many samples in a row, then a pause; 0: no pauses
    std::uint64_t period = 0;  ///< from burst to burst, in samples; the first one begins with the first sample

    /// Samples that follow each other without a pause, at most, in a run until then.
    [[nodiscard]] std::uint64_t in_a_row(double until) const;
    /// Index of the first sample: a count of `every`s since time 0; infinity if it is beyond all that can be counted.
    [[nodiscard]] double first_index() const;
    /// All samples of a run until then.
    [[nodiscard]] double samples_until(double until) const;
};

/// The multiples of `every` from `from` on, without those that lie in pauses. As Schedule, times are counted from 0 and
/// moved to the nearest one that the solver reaches; each has an index, whatever the time at which the run started.
class SampleSchedule {
public:
    /// \param after      only times after this one are due
    /// \param reachable  Solver::reachable_time
    SampleSchedule(const SamplePlan& plan, double after, std::function<double(double)> reachable);

    /// The next due time; infinity if there is none.
    [[nodiscard]] double next() const { return next_; }
    /// Index of that time: a count of `every`s since time 0.
    [[nodiscard]] std::uint64_t index() const { return index_; }
    /// Goes on to the next due time after `now`.
    void advance(double now);
    /// The solver reaches other times from now on.
    void renew(double now);

private:
    void skip_pause();

    SamplePlan plan_;
    Multiples multiple_;
    std::function<double(double)> reachable_;
    std::uint64_t first_ = 0;
    std::uint64_t index_ = 0;
    double next_ = 0.0;
};

}  // namespace carom
