#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "host/observables/observable.hpp"

namespace carom {

/// One row of all observables at one time; values of the observables one after the other.
struct ObservableRow {
    double time = 0.0;
    std::uint64_t step = 0;
    std::vector<double> values;
};

/// The observables of a run, and what was counted when the last row was taken.
class ObservableSet {
public:
    explicit ObservableSet(std::vector<std::unique_ptr<Observable>> observables);

    [[nodiscard]] const std::vector<ObservableInfo>& infos() const { return infos_; }
    [[nodiscard]] bool needs_frame() const { return needs_frame_; }

    /// One row from what the solver says now. `frame` may be null unless needs_frame().
    ObservableRow evaluate(double time, std::uint64_t step, const Totals& totals, const Tallies& tallies,
                           const Frame* frame);
    /// The same, with another row than the last one as the row before; changes nothing.
    [[nodiscard]] ObservableRow evaluate_since(const Sample& sample) const;
    /// Time of the row that was evaluated last.
    [[nodiscard]] double previous_time() const { return previous_time_; }

private:
    std::vector<std::unique_ptr<Observable>> observables_;
    std::vector<ObservableInfo> infos_;
    std::size_t width_ = 0;
    bool needs_frame_ = false;
    bool first_ = true;
    double previous_time_ = 0.0;
    Tallies previous_;
};

}  // namespace carom
