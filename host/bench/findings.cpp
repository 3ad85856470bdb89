#include "host/bench/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "host/bench/gas.hpp"
#include "host/run/text.hpp"

namespace carom {

namespace {

bool same_gas(const BenchCase& a, const BenchCase& b) {
    return a.gas && b.gas && *a.gas == *b.gas && a.double_precision == b.double_precision;
}

Speedup ratio(std::string of, const BenchRow& fast, const BenchRow& slow) {
    return {std::move(of), fast.what, fast.rate.median / slow.rate.median, fast.rate.spread() + slow.rate.spread()};
}

/// "cpu, 2 threads, single".
std::string short_text(const BenchCase& what) {
    std::string text = what.backend;
    if (what.backend == "cpu") text += ", " + plural(static_cast<std::uint64_t>(what.threads), "thread");
    return text + (what.double_precision ? ", double" : ", single");
}

/// What a person takes away.
std::string say(const Crossing& crossing) {
    std::string text = fmt::format("{}D, {}: ", crossing.dimension, plural(crossing.balls, "ball"));
    for (std::size_t k = 0; k < crossing.points.size(); ++k) {
        const Crossing::Point& at = crossing.points[k];
        const double gain = at.spring_seconds / at.events_seconds;  // of events
        if (k > 0) text += ", ";
        text += fmt::format("at packing fraction {} {} is there {:.2g} times as soon", at.fraction,
                            gain > 1.0 ? "events" : "spring", gain > 1.0 ? gain : 1.0 / gain);
    }
    const auto [least, most] = std::ranges::minmax_element(crossing.points, {}, &Crossing::Point::break_even);
    text += crossing.fraction
                ? fmt::format("; both take equally long at about {:.2f}", *crossing.fraction)
                : fmt::format("; spring would need {:.2g}{} ball-steps/s to be there as soon", least->break_even,
                              least == most ? "" : fmt::format(" to {:.2g}", most->break_even));
    return text + fmt::format(" (spring: {}, stiffness {:g}).", crossing.points.front().spring, kBenchStiffness);
}

}  // namespace

std::vector<Speedup> speedups(const BenchResults& results) {
    std::vector<Speedup> found;
    for (const BenchRow& row : results.rows) {
        if (row.what.rung != BenchRung::kSpring && row.what.rung != BenchRung::kTextbook) continue;
        const BenchRow* best_cpu = nullptr;
        const BenchRow* best_textbook = nullptr;  // with as many threads or fewer: more can cost a small gas
        for (const BenchRow& other : results.rows) {
            if (!same_gas(row.what, other.what)) continue;
            const bool no_more = other.what.backend == row.what.backend && other.what.threads <= row.what.threads;
            if (other.what.rung == BenchRung::kTextbook && no_more &&
                (best_textbook == nullptr || other.rate.median > best_textbook->rate.median)) {
                best_textbook = &other;
            }
            if (row.what.rung != other.what.rung || other.what.backend != "cpu") continue;
            if (row.what.backend == "cpu" && row.what.threads > 1 && other.what.threads == 1)
                found.push_back(ratio(fmt::format("{}: {} threads over 1", rung_name(row.what.rung), row.what.threads),
                                      row, other));
            if (best_cpu == nullptr || other.rate.median > best_cpu->rate.median) best_cpu = &other;
        }
        if (row.what.rung == BenchRung::kSpring && best_textbook != nullptr)
            found.push_back(ratio("spring over textbook", row, *best_textbook));
        if (row.what.backend == "cuda" && best_cpu != nullptr)
            found.push_back(ratio(fmt::format("{}: cuda over cpu", rung_name(row.what.rung)), row, *best_cpu));
    }
    return found;
}

std::vector<Crossing> crossings(const BenchResults& results) {
    std::map<std::pair<int, std::uint64_t>, Crossing> by_size;
    for (const BenchRow& events : results.rows) {
        if (events.what.rung != BenchRung::kEvents || !events.seconds_per_time) continue;
        const BenchRow* best = nullptr;
        for (const BenchRow& row : results.rows) {
            if (row.what.rung != BenchRung::kSpring || !(row.what.gas == events.what.gas)) continue;
            if (best == nullptr || *row.seconds_per_time < *best->seconds_per_time) best = &row;
        }
        if (best == nullptr) continue;
        const BenchGas& gas = *events.what.gas;
        Crossing& crossing = by_size[{gas.dimension, gas.balls}];
        crossing.dimension = gas.dimension;
        crossing.balls = gas.balls;
        crossing.points.push_back({gas.fraction, *best->seconds_per_time, *events.seconds_per_time,
                                   best->rate.median * *best->seconds_per_time / *events.seconds_per_time,
                                   short_text(best->what)});
    }
    std::vector<Crossing> found;
    for (auto& [key, crossing] : by_size) {
        std::ranges::sort(crossing.points, {}, &Crossing::Point::fraction);
        for (std::size_t k = 1; k < crossing.points.size(); ++k) {
            const auto& a = crossing.points[k - 1];
            const auto& b = crossing.points[k];
            const double before = std::log(a.spring_seconds / a.events_seconds);
            const double after = std::log(b.spring_seconds / b.events_seconds);
            if (before * after >= 0.0) continue;
            crossing.fraction = a.fraction + (b.fraction - a.fraction) * before / (before - after);
        }
        crossing.sentence = say(crossing);
        found.push_back(std::move(crossing));
    }
    return found;
}

}  // namespace carom
