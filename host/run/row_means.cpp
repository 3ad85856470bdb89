#include "host/run/row_means.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>

#include "host/observables/registry.hpp"
#include "host/observables/time_series.hpp"

namespace carom {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kRowBatches = BatchSeries::kMostBatches;
/// A table that tells of each ball (displaced_each) is not averaged.
constexpr std::size_t kWidest = 16;

constexpr std::string_view kVirial = "virial_pressure";

constexpr std::size_t kLeastJudged = 16;
constexpr std::size_t kMostJudged = 40;
/// Of fewer nobody can say what their temperature is.
constexpr std::uint64_t kLeastBalls = 8;

/// Of errors, which know nothing of the rule by which a start is left out: that looks for what scatters least, and
/// would leave out a third of all starts by chance alone, and take too small an error of the rest.
constexpr double kStartShows = 3.0;

/// Of fewer impacts an error is a guess.
constexpr std::ptrdiff_t kLeastImpacts = 8;

/// Sums over 10^8 balls are off by rounding: what varies by less is constant.
constexpr double kRounding = 1e-9;

bool has_mean(const ObservableInfo& info) {
    const RowKind* const kind = find_row_kind(info.name);
    return info.width() <= kWidest && (kind == nullptr || !kind->since_start);
}

std::size_t width_of(const std::vector<ObservableInfo>& infos) {
    std::size_t width = 0;
    for (const ObservableInfo& info : infos) width += has_mean(info) ? info.width() : 0;
    return width;
}

}  // namespace

// The energy walks at random from the start on, and no series of one run can tell such a walk from what a mean is of.
// But the walk is seen: neighbouring batches of a walk of variance s^2 a batch differ by 2 s^2 / 3, and its mean over
// batches m to n from its beginning has the variance s^2 (m + (n - m) / 3).
double energy_walk(const BatchSeries& series, std::size_t energy, std::size_t from, double before) {
    const std::size_t batches = series.batches();
    if (batches < kLeastJudged) return 0.0;
    double squares = 0.0;
    for (std::size_t b = 1; b < batches; ++b) {
        const double change = series.batch_mean(b, energy) - series.batch_mean(b - 1, energy);
        squares += change * change;
    }
    if (squares == 0.0) return 0.0;
    const double variance = 1.5 * squares / static_cast<double>(batches - 1);
    const double walked = before + static_cast<double>(from) + static_cast<double>(batches - from) / 3.0;
    return std::sqrt(variance * walked) / std::abs(series.mean(energy, from));
}

RowSeries::RowSeries(const std::vector<ObservableInfo>& infos, double row_every, bool isolated)
    : row_every_(row_every), isolated_(isolated), series_(std::max<std::size_t>(1, 2 * width_of(infos)), kRowBatches) {
    std::size_t at = 0;
    for (const ObservableInfo& info : infos) {
        const RowKind* const kind = find_row_kind(info.name);
        const bool telling = kind != nullptr && kind->tells_equilibrium;
        const bool energy = kind != nullptr && kind->has_energy;
        const double change = kind != nullptr ? kind->change : kAnyChange;
        for (std::size_t k = 0; k < info.width() && has_mean(info); ++k) {
            columns_.push_back({info.components.empty() ? info.name : info.name + "." + info.components[k], info.unit,
                                telling, energy, change});
            place_.push_back(at + k);
        }
        at += info.width();
    }
}

void RowSeries::add(const ObservableSet& observables, const ObservableRow& row, const Totals& totals,
                    const Tallies& tallies, const Frame* frame) {
    if (row_every_ <= 0.0 || columns_.empty()) return;
    mobile_ = totals.mobile;
    if (has_previous_) {
        // Some observables are changes since the row before, and a resumed run began with a row of its own.
        const ObservableRow again = observables.evaluate_since({.time = row.time,
                                                                .step = row.step,
                                                                .totals = totals,
                                                                .tallies = tallies,
                                                                .previous_time = previous_time_,
                                                                .previous = &previous_,
                                                                .frame = frame});
        if (series_.samples() == 0) {
            reference_.clear();
            for (const std::size_t place : place_) reference_.push_back(again.values[place]);
        }
        std::vector<double> sample(2 * columns_.size());
        for (std::size_t k = 0; k < columns_.size(); ++k) {
            sample[k] = again.values[place_[k]];
            // From the first row: squares of a large number that hardly changes would be all rounding.
            const double off = sample[k] - reference_[k];
            sample[columns_.size() + k] = off * off;
        }
        series_.add(sample);
        measured_time_ += row.time - previous_time_;
    } else {
        first_time_ = row.time;
    }
    has_previous_ = true;
    previous_time_ = row.time;
    previous_ = tallies;
}

void RowSeries::skip(double time, const Tallies& tallies) {
    if (series_.samples() == 0) {
        first_time_ = time;
    } else {
        if (skipped_.empty() || skipped_.back().after != measured_time_) skipped_.push_back({measured_time_, 0.0});
        skipped_.back().length += time - previous_time_;
    }
    has_previous_ = true;
    previous_time_ = time;
    previous_ = tallies;
}

/// The time at which so much has been measured; where more follows only after what was skipped, behind that.
/// \param slack  by which the measured time may be off by rounding
double RowSeries::time_after(double measured, double slack) const {
    double time = first_time_ + measured;
    for (const Skipped& part : skipped_) {
        if (part.after <= measured + slack) time += part.length;
    }
    return time;
}

double RowSeries::energy_walk(std::size_t from) const {
    const auto total = std::ranges::find(columns_, "total_energy", &Column::name);
    if (!isolated_ || total == columns_.end()) return 0.0;
    return carom::energy_walk(series_, static_cast<std::size_t>(total - columns_.begin()), from);
}

// Between walls a mean momentum is how far the balls have come, over the time. From where no draw of equilibrium has
// them, as a fill that is as dense above as below, that is many errors off 0 however long the run: these become smaller
// as fast. Elsewhere what a start adds becomes small beside them.
std::size_t RowSeries::first_as_high() const {
    constexpr double kRare = 2.0;  // standard deviations
    const auto column = std::ranges::find(columns_, "gravitational_energy", &Column::name);
    const std::size_t half = series_.batches() / 2;
    if (column == columns_.end() || half == 0) return 0;
    const auto k = static_cast<std::size_t>(column - columns_.begin());
    const double mean = series_.mean(k, half);
    const double first = reference_[k] - mean;
    const double variance = series_.mean(columns_.size() + k, half) - first * first;
    if (!(first * first > kRare * kRare * variance && variance > kRounding * kRounding * mean * mean)) return 0;
    std::size_t batch = 1;
    while (batch < half && (series_.batch_mean(batch, k) - mean) * first > 0.0) ++batch;
    return batch + 2;  // it is on the other side by choice, and the next one knows of it
}

RowMeans RowSeries::means(const std::string& never, double not_before) const {
    RowMeans result;
    result.begin = result.since = first_time_;
    result.rows = series_.samples();
    result.reason = "too few rows";
    if (series_.samples() == 0 || columns_.empty()) return result;

    const std::size_t count = columns_.size();
    const auto variance_of = [&](std::size_t k, std::size_t from) {
        const double off = series_.mean(k, from) - reference_[k];
        return series_.mean(count + k, from) - off * off;
    };
    const auto varies = [&](std::size_t k, std::size_t from) {
        const double mean = series_.mean(k, from);
        return variance_of(k, from) > kRounding * mean * mean;
    };
    const auto mean_of_column = [&](std::size_t k, std::size_t from) {
        return blocked_mean(series_.mean(k, from), series_, std::array{Weight{k, 1.0}}, from, columns_[k].change);
    };
    // Impacts between so few rows that what these pass could as well be several times as much. Only where nothing but
    // impacts changes it: else it is what it is least at nowhere else.
    const auto few_impacts = [&](std::size_t k) {
        if (columns_[k].name != kVirial || !previous_.collisional_virial) return false;
        std::vector<double> batches;
        for (std::size_t b = 0; b < series_.batches(); ++b) batches.push_back(series_.batch_mean(b, k));
        const double least = std::ranges::min(batches);
        const auto met =
            std::ranges::count_if(batches, [&](double batch) { return batch - least > kRounding * std::abs(least); });
        return met < std::min<std::ptrdiff_t>(kLeastImpacts, std::ssize(batches) - 1);
    };
    // Whether the batches before one are farther off those from it on than by chance.
    const auto shows = [&](std::size_t k, std::size_t batch) {
        const MeanWithError rest = mean_of_column(k, batch);
        const double share =
            static_cast<double>(batch * series_.batch_samples()) / static_cast<double>(series_.samples());
        return std::abs(series_.mean(k) - rest.value) > kStartShows * rest.error * std::sqrt(share);
    };
    const auto in_words = [&](std::size_t k) {
        std::string words = columns_[k].name;
        std::ranges::replace(words, '_', ' ');
        return words;
    };
    // What was sampled, not what was asked for: a solver with steps reaches only multiples of these.
    const double spacing = measured_time_ / static_cast<double>(series_.samples());
    std::size_t from = 0;
    std::optional<bool> equilibrated;
    std::vector<std::size_t> judged;
    for (std::size_t k = 0; k < count; ++k) {
        // The virial of the few springs that are in contact at an instant is all noise.
        if (columns_[k].name == kVirial && !previous_.collisional_virial) continue;
        if (few_impacts(k)) {
            if (!equilibrated) result.reason = "too few collisions";
            continue;
        }
        if (!columns_[k].tells_equilibrium || !std::isfinite(series_.mean(k)) || !varies(k, 0)) continue;
        std::vector<double> batches;
        for (std::size_t b = 0; b < series_.batches(); ++b) batches.push_back(series_.batch_mean(b, k));
        if (batches.size() < kLeastJudged) continue;
        // Constant but at the start, as the temperature that a thermostat scales to: what is left of it is rounding.
        std::size_t settled = 0;
        while (settled < batches.size() && varies(k, settled)) ++settled;
        if (2 * settled <= batches.size()) {
            equilibrated = equilibrated.value_or(true);
            from = std::max(from, settled);
            continue;
        }
        // Some dozens: means of many rows are nearly Gaussian, which the virial of a few contacts is not.
        std::size_t joined = 1;
        while (batches.size() > kMostJudged) {
            for (std::size_t b = 0; 2 * b + 1 < batches.size(); ++b) {
                batches[b] = 0.5 * (batches[2 * b] + batches[2 * b + 1]);
            }
            batches.resize(batches.size() / 2);
            joined *= 2;
        }
        const std::optional<std::size_t> first = first_equilibrated(batches);
        const std::size_t start = first ? joined * *first : series_.batches() / 2;
        const bool is_shown = shows(k, start);
        equilibrated = equilibrated.value_or(true) && (first || !is_shown);
        if (!first && is_shown) result.reason = in_words(k) + " still changes in the second half";
        if (first && is_shown) from = std::max(from, start);
        judged.push_back(k);
    }
    const auto time_of = [&](std::size_t batch) {
        return time_after(spacing * static_cast<double>(batch * series_.batch_samples()), 0.5 * spacing);
    };
    if (equilibrated == true && from == 0) from = first_as_high();
    while (equilibrated == true && from + 1 < series_.batches() && time_of(from) < not_before) ++from;
    if (equilibrated == true) {
        result.reason.clear();
        // What the rule has left of the start may show all the same: then a quarter or half is left out.
        const auto drifting = [&] {
            return std::ranges::find_if(
                judged, [&](std::size_t k) { return std::abs(mean_of_column(k, from).drift) > kMostDrift; });
        };
        const std::size_t quarter = series_.batches() / 4;
        for (const std::size_t later : {quarter, 2 * quarter}) {
            if (drifting() != judged.end()) from = std::max(from, later);
        }
        // The slowest decides.
        for (const std::size_t k : judged) {
            const MeanWithError mean = mean_of_column(k, from);
            if (mean.independent < kLeastIndependent) {
                equilibrated = std::nullopt;
                result.reason = "too few independent samples of " + in_words(k);
            }
        }
        if (const auto found = drifting(); found != judged.end()) {
            equilibrated = false;
            result.reason = in_words(*found) + " drifts";
        }
        if (std::ranges::none_of(judged, [&](std::size_t k) { return varies(k, from); })) {
            equilibrated = false;
            result.reason = "balls no longer meet";
        }
    }
    const bool few = mobile_ && *mobile_ < kLeastBalls;
    if (equilibrated && few) {
        equilibrated = std::nullopt;
        from = 0;
        result.reason = "too few balls";
    }
    if (!never.empty() && !few) {
        equilibrated = false;
        result.reason = never;
    }
    if (equilibrated == false) from = 0;
    result.equilibrated = equilibrated;
    result.since = time_of(from);
    result.rows = series_.samples() - from * series_.batch_samples();
    const double walk = energy_walk(from);
    const auto temperature =
        static_cast<std::size_t>(std::ranges::find(columns_, "temperature", &Column::name) - columns_.begin());
    for (std::size_t k = 0; k < count; ++k) {
        MeanWithError mean = mean_of_column(k, from);
        if (!std::isfinite(mean.value)) continue;
        if (few_impacts(k)) mean.error = kNan;
        RowMean row{columns_[k].name, columns_[k].unit, mean.value, mean.error, kNan, {mean.independent, mean.drift}};
        // error^2 = 2 tau / t * variance, over a time t much longer than tau.
        const double variance = variance_of(k, from);
        if (std::isfinite(mean.error) && variance > kRounding * kRounding * mean.value * mean.value) {
            row.correlation_time =
                0.5 * spacing * static_cast<double>(result.rows) * mean.error * mean.error / variance;
        }
        if (const double t = temperature < count ? series_.mean(temperature, from) : 0.0;
            columns_[k].name == kVirial && t > 0.0) {
            const std::array weights{Weight{k, 1.0}, Weight{temperature, -mean.value / t}};
            row.error_at_temperature = blocked_mean(mean.value, series_, weights, from).error;
        }
        if (columns_[k].has_energy) row.error = std::hypot(row.error, walk * mean.value);
        result.means.push_back(std::move(row));
    }
    return result;
}

void RowSeries::save(std::vector<double>& out) const {
    out.push_back(row_every_);
    out.push_back(first_time_);
    out.push_back(has_previous_ ? 1.0 : 0.0);
    out.push_back(previous_time_);
    out.push_back(previous_.collisional_virial ? 1.0 : 0.0);
    out.push_back(previous_.collisional_virial.value_or(0.0));
    for (const std::uint64_t number :
         {previous_.balls_left, previous_.events, previous_.collisions, std::uint64_t{previous_.wall_impulse.size()}}) {
        out.push_back(static_cast<double>(number));
    }
    out.insert(out.end(), previous_.wall_impulse.begin(), previous_.wall_impulse.end());
    series_.save(out);
    out.push_back(static_cast<double>(reference_.size()));
    out.insert(out.end(), reference_.begin(), reference_.end());
    out.push_back(measured_time_);
    for (const Skipped& part : skipped_) out.insert(out.end(), {part.after, part.length});
    if (mobile_) out.push_back(static_cast<double>(*mobile_));
}

void RowSeries::restore(SavedNumbers& saved, std::size_t faces, bool same) {
    const double row_every = saved.next();
    first_time_ = saved.next();
    has_previous_ = saved.next() != 0.0;
    previous_time_ = saved.next();
    const bool virial = saved.next() != 0.0;
    const double sum = saved.next();
    if (virial) previous_.collisional_virial = sum;
    previous_.balls_left = saved.next_count();
    previous_.events = saved.next_count();
    previous_.collisions = saved.next_count();
    const auto impulse = saved.next(saved.next_count());
    if (has_previous_ && impulse.size() < faces) {
        throw std::invalid_argument("saved impulses are of fewer walls than a box has");
    }
    previous_.wall_impulse.assign(impulse.begin(), impulse.end());
    if (!same || saved.peek() != static_cast<double>(series_.width())) {
        has_previous_ = false;  // by a version with other rows, or with other observables of one's own
        return;
    }
    BatchSeries series = series_;
    series.restore(saved);
    const auto reference = saved.next(saved.next_count());
    // A checkpoint of an earlier version ends here: all was measured, unless stages were skipped.
    const double measured_time = saved.empty() ? previous_time_ - first_time_ : saved.next();
    std::vector<Skipped> skipped;
    std::optional<double> mobile;  // behind pairs of numbers; of an earlier version none
    while (!saved.empty()) {
        const double number = saved.next();
        if (saved.empty()) {
            mobile = number;
        } else {
            skipped.push_back({number, saved.next()});
        }
    }
    if (series.samples() > 0 && reference.size() != columns_.size()) {
        throw std::invalid_argument("saved means are of other rows");
    }
    if (row_every == row_every_) {
        series_ = std::move(series);
        measured_time_ = measured_time;
        skipped_ = std::move(skipped);
        if (mobile) mobile_ = SavedNumbers(std::array{*mobile}).next_count();
        reference_.assign(reference.begin(), reference.end());
    } else {
        has_previous_ = false;  // rows at other times: means are taken from here on
    }
}

}  // namespace carom
