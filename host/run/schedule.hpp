#pragma once

#include <cstdint>
#include <functional>

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
    /// Whether something is due at `now`; then goes on to the next due time after `now`.
    bool take(double now);

private:
    void advance_past(double now);

    double every_;
    std::function<double(double)> reachable_;
    double count_ = 0.0;  // a whole number; double since every may be tiny
    double next_;
};

/// How many times a schedule has from `from` to `until`, with both ends, whether they are multiples or not; without
/// going through them.
/// \param from      a time that the solver reaches
/// \param shortest  between two times that the solver reaches; 0: it reaches any
std::uint64_t count_due(double every, double from, double until, const std::function<double(double)>& reachable,
                        double shortest);

}  // namespace carom
