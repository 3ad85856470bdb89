#include "host/run/sample_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace carom {

std::uint64_t SamplePlan::in_a_row(double until) const {
    const double all = std::max(1.0, (until - from) / every + 1.0);
    constexpr double kMost = 1e15;
    const auto samples = static_cast<std::uint64_t>(std::min(all, kMost));
    return burst > 0 ? std::min(samples, burst) : samples;
}

SampleSchedule::SampleSchedule(const SamplePlan& plan, double after, std::function<double(double)> reachable)
    : plan_(plan), reachable_(std::move(reachable)) {
    const double first = std::max({0.0, std::ceil(plan_.from / plan_.every - 1e-9), std::floor(after / plan_.every)});
    index_ = static_cast<std::uint64_t>(first);
    skip_pause();
    next_ = reachable_(static_cast<double>(index_) * plan_.every);
    if (next_ <= after) advance(after);
}

void SampleSchedule::advance(double now) {
    while (next_ <= now) {
        ++index_;
        skip_pause();
        next_ = reachable_(static_cast<double>(index_) * plan_.every);
    }
}

void SampleSchedule::skip_pause() {
    if (plan_.burst == 0) return;
    const std::uint64_t in_period = index_ % plan_.period;
    if (in_period >= plan_.burst) index_ += plan_.period - in_period;
}

}  // namespace carom
