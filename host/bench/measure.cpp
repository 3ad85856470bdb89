#include "host/bench/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

namespace carom {

namespace {

double seconds_of(const std::function<void(std::uint64_t)>& advance, std::uint64_t steps) {
    const auto start = std::chrono::steady_clock::now();
    advance(steps);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Rate rate_of(std::vector<double> per_second) {
    std::ranges::sort(per_second);
    const std::size_t n = per_second.size();
    Rate rate;
    rate.median = n % 2 == 1 ? per_second[n / 2] : 0.5 * (per_second[n / 2 - 1] + per_second[n / 2]);
    rate.least = per_second.front();
    rate.most = per_second.back();
    rate.repeats = static_cast<int>(n);
    return rate;
}

Rate scaled(Rate rate, double factor) {
    rate.median *= factor;
    rate.least *= factor;
    rate.most *= factor;
    return rate;
}

Measured measure(const std::function<void(std::uint64_t)>& advance, const MeasureOptions& options) {
    Measured measured;
    // Twice as many steps each time: the last stretch is a quarter of a repeat or more, and as much came before it.
    double pace = 0.0;
    std::uint64_t warmed = 0;
    for (std::uint64_t steps = 1;; steps *= 2) {
        const double took = seconds_of(advance, steps);
        warmed += steps;
        measured.seconds += took;
        pace = took / static_cast<double>(steps);
        if (took >= 0.25 * options.repeat_seconds) break;
    }
    if (warmed < options.warm_steps) measured.seconds += seconds_of(advance, options.warm_steps - warmed);

    measured.steps =
        std::max(options.least_steps, static_cast<std::uint64_t>(std::ceil(options.repeat_seconds / pace)));
    std::vector<double> rates;
    for (int repeat = 0; repeat < options.repeats && (repeat == 0 || options.interrupted() == 0); ++repeat) {
        const double took = seconds_of(advance, measured.steps);
        measured.seconds += took;
        rates.push_back(static_cast<double>(measured.steps) / took);
    }
    measured.steps_per_second = rate_of(std::move(rates));
    return measured;
}

}  // namespace carom
