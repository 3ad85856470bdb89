#include "host/run/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace carom {

Schedule::Schedule(double every, double from, std::function<double(double)> reachable)
    : every_(every), reachable_(std::move(reachable)), next_(std::numeric_limits<double>::infinity()) {
    if (every_ > 0.0) advance_past(from);
}

bool Schedule::take(double now) {
    if (next_ > now) return false;
    advance_past(now);
    return true;
}

void Schedule::advance_past(double now) {
    // Starts a little below, since rounding to the nearest step may move a time either way.
    count_ = std::max(count_, std::floor(now / every_) - 1.0);
    do {
        count_ += 1.0;
        next_ = reachable_(count_ * every_);
    } while (next_ <= now);
}

}  // namespace carom
