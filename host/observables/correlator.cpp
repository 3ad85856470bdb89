#include "host/observables/correlator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace carom {

namespace {

constexpr std::size_t kLagBatches = 32;
constexpr std::size_t kMostLevels = 40;
constexpr std::size_t kColumns = 2;  // sum over balls, balls
constexpr std::size_t kMostGroups = 64;
constexpr std::size_t kLeastGroups = 6;    // to tell of scatter
constexpr std::size_t kLeastOfAKind = 12;  // groups
/// Samples that a level keeps: the lags, and lag 0.
constexpr std::size_t kKept = Correlator::kSlots + 1;

double total(std::span<const double> numbers) { return std::accumulate(numbers.begin(), numbers.end(), 0.0); }

}  // namespace

BallGroups deal_into_groups(std::span<const std::uint32_t> kinds) {
    std::map<std::uint32_t, std::size_t> balls;
    for (const std::uint32_t kind : kinds) ++balls[kind];
    struct Dealt {
        std::size_t balls = 0;
        std::size_t first = 0;
        std::size_t groups = 0;
        std::size_t next = 0;
    };
    std::map<std::uint32_t, Dealt> dealt;
    const auto kind_of = [&](std::uint32_t kind) -> Dealt& {
        constexpr std::uint32_t kRare = std::numeric_limits<std::uint32_t>::max();
        const bool rare = balls[kind] * kMostGroups < kLeastOfAKind * std::max(kinds.size(), kMostGroups);
        return dealt[rare ? kRare : kind];
    };
    for (const auto& [kind, count] : balls) kind_of(kind).balls += count;
    BallGroups groups;
    std::size_t first = 0;
    for (auto& [kind, all] : dealt) {
        groups.kind_begin.push_back(static_cast<std::uint8_t>(first));
        all.first = first;
        all.groups = std::clamp<std::size_t>(kMostGroups * all.balls / kinds.size(), 1, all.balls);
        first += all.groups;
    }
    groups.kind_begin.push_back(static_cast<std::uint8_t>(first));
    for (const std::uint32_t kind : kinds) {
        Dealt& all = kind_of(kind);
        groups.of.push_back(static_cast<std::uint8_t>(all.first + all.next++ % all.groups));
    }
    return groups;
}

Correlator::Correlator(std::size_t width, BallGroups groups, std::uint64_t samples, Correlation correlation)
    : width_(width), correlation_(std::move(correlation)), values_(groups.of.size()) {
    regroup(std::move(groups));
    while (told_ < kMostLevels && (std::uint64_t{kSlots} << (told_ - 1)) + 1 < samples) ++told_;
}

void Correlator::regroup(BallGroups groups) {
    groups_ = std::move(groups);
    stretches_.clear();
    for (std::size_t ball = 0; ball < groups_.of.size(); ++ball) {
        const std::size_t group = groups_.of[ball];
        if (stretches_.empty() || group != stretches_.back().group + stretches_.back().count) {
            stretches_.push_back({.ball = ball, .group = group});
        }
        ++stretches_.back().count;
    }
}

std::uint64_t Correlator::lag(std::size_t k) const {
    if (k <= kSlots) return k;
    return (kSlots / 2 + 1 + (k - kSlots - 1) % (kSlots / 2)) * spacing(k);
}

MeanWithError Correlator::at(std::size_t k) const {
    return k < series_.size() ? ratio_of(series_[k], 0, 1)
                              : MeanWithError{.value = std::nan(""), .error = std::nan("")};
}

std::vector<double> Correlator::deviations(std::size_t k) const {
    const GroupSums& sums = sums_[k];
    const double balls = total(sums.balls);
    const double mean = total(sums.sum) / balls;
    // Versions of before kept no groups: those of a run that they began know of its rest alone.
    const double known = balls / (static_cast<double>(starts(k)) * this->balls(k));
    std::vector<double> deviations;
    for (std::size_t kind = 0; kind + 1 < groups_.kind_begin.size(); ++kind) {
        const std::size_t first = groups_.kind_begin[kind];
        const std::size_t count = groups_.kind_begin[kind + 1] - first;
        const auto groups = static_cast<double>(count);
        const double own = total(std::span(sums.sum).subspan(first, count)) /
                           std::max(1.0, total(std::span(sums.balls).subspan(first, count)));
        // One group alone has nothing to scatter about but the others.
        const double middle = count > 1 ? own : mean;
        const double scale = std::sqrt(known * (count > 1 ? groups / (groups - 1.0) : 1.0)) / balls;
        for (std::size_t g = first; g < first + count; ++g) {
            deviations.push_back(scale * (sums.sum[g] - middle * sums.balls[g]));
        }
    }
    return deviations;
}

double Correlator::scatter(std::size_t j, std::size_t k) const {
    if (groups_.count() < kLeastGroups || std::max(j, k) >= sums_.size()) return std::nan("");
    const std::vector<double> a = deviations(j);
    const std::vector<double> b = deviations(k);
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double Correlator::together(std::size_t k) const {
    if (k >= sums_.size()) return std::nan("");
    const double apart = total(sums_[k].sum);
    return apart > 0.0 ? sums_[k].together / apart : 1.0;
}

void Correlator::add(std::uint64_t index, std::span<const double> sample) {
    if (index != next_) {
        for (Level& level : levels_) level.filled = 0;
        start_ = index;
    }
    next_ = index + 1;
    for (std::size_t l = 0; l < kMostLevels; ++l) {
        const std::uint64_t since = index - start_;
        if ((since & ((std::uint64_t{1} << l) - 1)) != 0) return;  // then no higher level is due either
        if (l > 0 && since == 0) return;  // a level begins when its second sample comes, with the first from below
        if (l == levels_.size()) {
            levels_.push_back({0, std::vector<double>(kKept * width_)});
            while (series_.size() < first_series(l + 1)) series_.emplace_back(kColumns, kLagBatches);
            sums_.resize(series_.size(), GroupSums(groups_.count()));
        }
        if (l > 0 && levels_[l].filled == 0) {
            std::ranges::copy(slot(levels_[l - 1], 0), slot(levels_[l], 0).begin());
            levels_[l].filled = 1;
        }
        Level& level = levels_[l];
        std::ranges::copy(sample, slot(level, level.filled).begin());
        const std::size_t least = l == 0 ? 0 : kSlots / 2 + 1;
        for (std::size_t k = least; k <= std::min<std::uint64_t>(kSlots, level.filled); ++k) {
            look(first_series(l) + k - least, slot(level, level.filled - k), slot(level, level.filled));
        }
        ++level.filled;
    }
}

void Correlator::look(std::size_t k, std::span<const double> early, std::span<const double> late) {
    GroupSums now(groups_.count());
    now.together = correlation_(early, late, values_);
    for (const Stretch& stretch : stretches_) {  // in SIMD lanes
        const double* const values = values_.data() + stretch.ball;
        double* const sums = now.sum.data() + stretch.group;
        double* const balls = now.balls.data() + stretch.group;
        for (std::size_t at = 0; at < stretch.count; ++at) {
            const bool in = values[at] == values[at];  // those that have left are NaN
            sums[at] += in ? values[at] : 0.0;
            balls[at] += in ? 1.0 : 0.0;
        }
    }
    std::array<double, kColumns> all{};
    GroupSums& sums = sums_[k];
    sums.together += now.together;
    for (std::size_t g = 0; g < groups_.count(); ++g) {
        sums.sum[g] += now.sum[g];
        sums.balls[g] += now.balls[g];
        all[0] += now.sum[g];
        all[1] += now.balls[g];
    }
    series_[k].add(all);
}

std::span<double> Correlator::slot(Level& level, std::uint64_t k) const {
    return std::span(level.samples).subspan((k % kKept) * width_, width_);
}

std::size_t Correlator::most_numbers() const {
    // A level begins long before its first lag, of kSlots / 2 + 1 to kSlots, is reached.
    constexpr std::size_t kBegun = 4;
    static_assert(std::size_t{1} << kBegun == kSlots);
    const std::size_t levels = std::min(kMostLevels, told_ + kBegun);
    return levels * kKept * width_ +
           first_series(levels) * (BatchSeries(kColumns, kLagBatches).most_numbers() + 1 + 2 * groups_.count());
}

void Correlator::save(std::vector<double>& out) const {
    out.push_back(static_cast<double>(width_));
    out.push_back(static_cast<double>(levels_.size()));
    out.push_back(static_cast<double>(next_));
    out.push_back(static_cast<double>(start_));
    for (const Level& level : levels_) {
        out.push_back(static_cast<double>(level.filled));
        out.insert(out.end(), level.samples.begin(), level.samples.end());
    }
    for (const BatchSeries& series : series_) series.save(out);
    for (const GroupSums& sums : sums_) {
        out.push_back(sums.together);
        out.insert(out.end(), sums.sum.begin(), sums.sum.end());
        out.insert(out.end(), sums.balls.begin(), sums.balls.end());
    }
}

void Correlator::restore(SavedNumbers& saved) {
    if (saved.next() != static_cast<double>(width_)) throw std::invalid_argument("saved averages are of other balls");
    const std::uint64_t levels = saved.next_count();
    if (levels > kMostLevels) throw std::invalid_argument("saved averages make no sense");
    next_ = saved.next_count();
    start_ = saved.next_count();
    levels_.resize(levels);
    for (Level& level : levels_) {
        level.filled = saved.next_count();
        const auto samples = saved.next(kKept * width_);
        level.samples.assign(samples.begin(), samples.end());
    }
    series_.assign(levels == 0 ? 0 : first_series(levels), BatchSeries(kColumns, kLagBatches));
    for (std::size_t l = 0; l < levels; ++l) {
        for (std::size_t k = first_series(l); k < first_series(l + 1); ++k) {
            series_[k].restore(saved);
            if (series_[k].samples() > 0) told_ = std::max(told_, l + 1);
        }
    }
    sums_.assign(series_.size(), GroupSums(groups_.count()));
    if (saved.empty()) return;  // versions of before kept no groups
    for (GroupSums& sums : sums_) {
        sums.together = saved.next();
        std::ranges::copy(saved.next(groups_.count()), sums.sum.begin());
        std::ranges::copy(saved.next(groups_.count()), sums.balls.begin());
    }
}

}  // namespace carom
