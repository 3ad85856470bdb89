#pragma once

#include <cmath>

namespace carom {

/// The start of the present epoch, as an exact sum of two doubles. Times inside an epoch are counted from there, so
/// they keep their resolution however long the run is.
class Clock {
public:
    Clock() = default;
    Clock(double high, double low) : high_(high), low_(low) {}

    void add(double epoch) {
        const double sum = high_ + epoch;  // Knuth's exact sum
        const double part = sum - high_;
        low_ += (high_ - (sum - part)) + (epoch - part);
        high_ = sum;
    }
    [[nodiscard]] double since_start(double now) const { return high_ + (low_ + now); }
    /// A time since the start as a time since the start of the epoch.
    [[nodiscard]] double in_epoch(double since_start) const { return (since_start - high_) - low_; }
    [[nodiscard]] double high() const { return high_; }
    [[nodiscard]] double low() const { return low_; }

private:
    double high_ = 0.0;
    double low_ = 0.0;
};

/// The largest power of two that is not above x > 0.
inline double power_of_two_below(double x) {
    int exponent = 0;
    std::frexp(x, &exponent);
    return std::ldexp(1.0, exponent - 1);
}

}  // namespace carom
