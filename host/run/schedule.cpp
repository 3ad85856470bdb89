#include "host/run/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace carom {

namespace {

constexpr double kLeast = 1e-200;  // of an interval: so that multiples can be counted in a double, however late it is

}  // namespace

Schedule::Schedule(double every, double from, std::function<double(double)> reachable)
    : every_(every > 0.0 ? std::max(every, kLeast) : every),
      multiple_(every_),
      reachable_(std::move(reachable)),
      next_(std::numeric_limits<double>::infinity()) {
    if (every_ > 0.0) advance_past(from);
}

bool Schedule::take(double now) {
    if (next_ > now) return false;
    advance_past(now);
    return true;
}

void Schedule::renew(double now) {
    if (next_ == std::numeric_limits<double>::infinity()) return;
    if (next_ <= now) return;  // it is due, and still to be taken
    next_ = reachable_(multiple_(count_));
    if (next_ <= now) advance_past(now);
}

void Schedule::advance_past(double now) {
    // Starts a little below, since rounding to the nearest step may move a time either way.
    count_ = std::max(count_, std::floor(now / every_) - 1.0);
    if (std::isinf(count_)) {
        next_ = count_;  // beyond all that can be counted: never
        return;
    }
    // The solver may reach one of so many multiples only that they cannot be gone through one by one.
    const auto past = [&](double count) { return reachable_(multiple_(count)) > now; };
    double stride = 1.0;
    for (; !past(count_ + stride); stride *= 2.0) count_ += stride;
    double first = count_ + stride;  // that is past, as far as known
    for (;;) {
        const double middle = count_ + std::floor(0.5 * (first - count_));
        if (middle <= count_ || middle >= first) break;
        (past(middle) ? first : count_) = middle;
    }
    count_ = first;
    next_ = reachable_(multiple_(count_));
}

std::uint64_t count_due(double every, double from, double until, const std::function<double(double)>& reachable,
                        double shortest) {
    const double end = reachable(until);
    if (end <= from) return 1;
    if (every <= 0.0) return 2;
    constexpr double kMostCounted = 1e15;  // beyond, the next whole number is none of a double's
    constexpr double kMost = 1e19;         // of an integer
    const auto about = [&](double interval) {
        return static_cast<std::uint64_t>(std::min(std::round((end - from) / interval), kMost)) + 1;
    };
    if (every <= shortest) return about(shortest);  // each that the solver reaches is due
    if (end / every > kMostCounted) return about(every);
    // Multiples are farther apart than what the solver reaches, so no two of them are moved to one time.
    const Multiples multiple(every);
    const auto first_beyond = [&](double time, bool or_at) {
        double count = std::max(0.0, std::floor(time / every) - 1.0);  // a little below, as in advance_past
        double reached = 0.0;
        do {
            count += 1.0;
            reached = reachable(multiple(count));
        } while (reached < time || (reached == time && !or_at));
        return count;
    };
    return static_cast<std::uint64_t>(first_beyond(end, true) - first_beyond(from, false)) + 2;
}

std::uint64_t SamplePlan::in_a_row(double until) const {
    const double all = std::max(1.0, (until - from) / every + 1.0);
    constexpr double kMost = 1e15;
    const auto samples = static_cast<std::uint64_t>(std::min(all, kMost));
    return burst > 0 ? std::min(samples, burst) : samples;
}

double SamplePlan::first_index() const {
    constexpr double kCountable = 9e15;  // below 2^53: doubles count one by one
    const double first = std::max(0.0, std::ceil(from / every - 1e-9));
    return first < kCountable ? first : std::numeric_limits<double>::infinity();
}

double SamplePlan::samples_until(double until) const {
    const double all = std::floor(until / every + 1e-9) - first_index() + 1.0;
    if (!(all > 0.0)) return 0.0;
    if (burst == 0) return all;
    const auto pause_and_burst = static_cast<double>(period);
    const double periods = std::floor(all / pause_and_burst);
    const auto whole = static_cast<double>(burst);
    return periods * whole + std::min(whole, all - periods * pause_and_burst);
}

SampleSchedule::SampleSchedule(const SamplePlan& plan, double after, std::function<double(double)> reachable)
    : plan_(plan), multiple_(plan.every), reachable_(std::move(reachable)) {
    const double first = plan_.first_index();
    if (std::isinf(first)) {
        next_ = first;  // never
        return;
    }
    first_ = static_cast<std::uint64_t>(first);
    index_ = static_cast<std::uint64_t>(std::max(first, std::floor(after / plan_.every)));
    skip_pause();
    next_ = reachable_(multiple_(static_cast<double>(index_)));
    if (next_ <= after) advance(after);
}

void SampleSchedule::advance(double now) {
    while (next_ <= now) {
        ++index_;
        skip_pause();
        next_ = reachable_(multiple_(static_cast<double>(index_)));
    }
}

void SampleSchedule::renew(double now) {
    if (next_ == std::numeric_limits<double>::infinity()) return;
    next_ = reachable_(multiple_(static_cast<double>(index_)));
    advance(now);
}

void SampleSchedule::skip_pause() {
    if (plan_.burst == 0) return;
    const std::uint64_t in_period = (index_ - first_) % plan_.period;
    if (in_period >= plan_.burst) index_ += plan_.period - in_period;
}

}  // namespace carom
