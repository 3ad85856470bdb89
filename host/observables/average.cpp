#include "host/observables/average.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "kernels/core/random.hpp"

namespace carom {

Selection::Selection(std::shared_ptr<const Population> population, const std::string& species)
    : population_(std::move(population)) {
    for (const Species& entry : population_->table) {
        chosen_.push_back(species.empty() ? (std::isfinite(entry.mass) ? 1 : 0) : (entry.name == species ? 1 : 0));
    }
}

std::vector<std::uint32_t> Selection::drawn(std::size_t most) const {
    const std::vector<Species>& table = population_->table;
    std::vector<std::size_t> balls(table.size());
    population_->species.for_each_stretch(
        [&](std::uint32_t row, std::size_t count) { balls[row] += chosen_[row] != 0 ? count : 0; });
    // They stand in a line kind by kind, like beside like, and in the order of their ids.
    std::vector<std::uint32_t> rows(table.size());
    std::iota(rows.begin(), rows.end(), 0U);
    std::ranges::stable_sort(rows, {},
                             [&](std::uint32_t row) { return std::pair(table[row].mass, table[row].radius); });
    std::vector<std::size_t> next(table.size());  // place in the line of the next ball of a kind
    std::size_t all = 0;
    for (const std::uint32_t row : rows) {
        next[row] = all;
        all += balls[row];
    }
    std::vector<std::size_t> places(std::min(all, most));
    for (std::size_t k = 0; k < places.size(); ++k) {
        const std::size_t begin = k * all / places.size();
        const std::size_t end = (k + 1) * all / places.size();
        places[k] = begin + random_words(0, k, RandomPurpose::kFollowed, 0).wide(0) % (end - begin);
    }
    std::vector<std::uint32_t> ids;
    ids.reserve(places.size());
    std::size_t id = 0;
    population_->species.for_each_stretch([&](std::uint32_t row, std::size_t count) {
        if (chosen_[row] != 0) {
            const std::size_t begin = next[row];
            next[row] += count;
            for (auto place = std::ranges::lower_bound(places, begin); place != places.end() && *place < next[row];
                 ++place)
                ids.push_back(static_cast<std::uint32_t>(id + *place - begin));
        }
        id += count;
    });
    return ids;
}

double Selection::heaviest() const {
    const std::vector<double> masses = finite_masses(population_->table);
    double heaviest = 0.0;
    for (std::size_t k = 0; k < masses.size(); ++k) heaviest = std::max(heaviest, chosen_[k] != 0 ? masses[k] : 0.0);
    return heaviest;
}

double Selection::lightest() const {
    double lightest = heaviest();
    for (std::size_t k = 0; k < chosen_.size(); ++k) {
        if (chosen_[k] != 0) lightest = std::min(lightest, population_->table[k].mass);
    }
    return lightest;
}

std::vector<double> finite_masses(const std::vector<Species>& table) {
    std::vector<double> masses;
    for (const Species& species : table) masses.push_back(std::isfinite(species.mass) ? species.mass : 0.0);
    return masses;
}

bool AverageInfo::is_sound(int dimension) const {
    const bool map = !y.label.empty();
    if (map || kind == "density" || kind.ends_with("_profile")) {
        const auto of_box = [&](const AverageAxis& axis) { return axis.of_box() >= 0 && axis.of_box() < dimension; };
        if (!of_box(x) || (map && (!of_box(y) || x.of_box() == y.of_box()))) return false;
        if (components.size() != (kind.starts_with("velocity") ? static_cast<std::size_t>(dimension) : 0)) return false;
    }
    constexpr std::size_t kLeastLags = 2;  // the first is over no time
    return kind != "msd" || x.points >= kLeastLags;
}

void Steadiness::add(const MeanWithError& value) {
    if (!std::isfinite(value.independent)) return;
    inflation_ += 1.0 / value.independent;
    squares_ += value.drift * value.drift;
    last_ = value.drift;
    last_independent_ = value.independent;
    count_ += 1.0;
}

double Steadiness::independent() const {
    if (count_ == 1.0) return last_independent_;  // to the bit, as a file is read and written again
    return count_ > 0.0 ? count_ / inflation_ : std::nan("");
}

double Steadiness::drift() const {
    if (count_ == 0.0) return std::nan("");
    return count_ > 1.0 ? std::sqrt(squares_ / count_) : last_;
}

std::vector<std::string> number_names(const AverageInfo& average) {
    if (!average.x.label.empty()) return {};
    if (average.components.empty()) return {average.name};
    std::vector<std::string> names;
    for (const std::string& component : average.components) names.push_back(average.name + "." + component);
    return names;
}

AverageTable Average::table() const {
    AverageTable table = measured();
    if (table.samples < kLeastSamplesForError && info().x.label.empty()) {
        std::ranges::fill(table.errors, std::numeric_limits<double>::quiet_NaN());
        std::ranges::fill(table.correlation_times, std::numeric_limits<double>::quiet_NaN());
    }
    return table;
}

std::vector<AveragedNumber> averaged_numbers(std::span<const AverageInfo> infos, std::span<const AverageTable> tables) {
    std::vector<AveragedNumber> numbers;
    for (std::size_t k = 0; k < infos.size(); ++k) {
        const std::vector<std::string> names = number_names(infos[k]);
        for (std::size_t component = 0; component < names.size(); ++component) {
            numbers.push_back({.name = names[component],
                               .kind = infos[k].kind,
                               .unit = infos[k].unit,
                               .mean = tables[k].values[component],
                               .error = tables[k].errors[component],
                               .samples = tables[k].samples,
                               .correlation_time = component < tables[k].correlation_times.size()
                                                       ? tables[k].correlation_times[component]
                                                       : std::numeric_limits<double>::quiet_NaN(),
                               .steadiness = tables[k].steadiness});
        }
    }
    return numbers;
}

}  // namespace carom
