#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "host/observables/batch_series.hpp"

namespace carom {

/// What some of a solver's counters have gained from one sample of an average to the next: so nothing between samples
/// is left out of it.
template <std::size_t N>
class CountedSince {
public:
    using Counters = std::array<double, N>;

    /// \return  whether there was a sample before this one, at an earlier time, since which `gained` is known
    bool look(double time, const Counters& now) {
        const bool known = has_before_ && time > before_time_;
        if (known) {
            elapsed_ = time - before_time_;
            for (std::size_t k = 0; k < N; ++k) gained_[k] = now[k] - before_[k];
        }
        has_before_ = true;
        before_time_ = time;
        before_ = now;
        return known;
    }
    /// The next sample is a first one.
    void forget() { has_before_ = false; }
    [[nodiscard]] const Counters& gained() const { return gained_; }
    [[nodiscard]] double elapsed() const { return elapsed_; }  ///< [time]

    void save(std::vector<double>& out) const {
        out.push_back(has_before_ ? 1.0 : 0.0);
        if (!has_before_) return;
        out.push_back(before_time_);
        out.insert(out.end(), before_.begin(), before_.end());
    }
    void restore(SavedNumbers& saved) {
        has_before_ = saved.next() != 0.0;
        if (!has_before_) return;
        before_time_ = saved.next();
        for (double& value : before_) value = saved.next();
    }

private:
    bool has_before_ = false;
    double before_time_ = 0.0;
    double elapsed_ = 0.0;
    Counters before_{};
    Counters gained_{};
};

}  // namespace carom
