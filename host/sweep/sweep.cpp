#include "host/sweep/sweep.hpp"

#include <fmt/format.h>

#include <cmath>

#include "host/state/errors.hpp"
#include "host/sweep/axis_values.hpp"

namespace carom {

std::uint64_t Sweep::all_rows() const {
    std::uint64_t rows = 1;
    for (std::size_t k = 0; k < axes.size(); ++k) {
        if (k != averaged) rows *= axes[k].values.size();
    }
    return rows;
}

std::uint64_t Sweep::rows() const {
    const std::uint64_t all = all_rows();
    return all <= shard ? 0 : (all - shard - 1) / shards + 1;
}

std::uint64_t Sweep::runs_per_row() const { return averaged ? axes[*averaged].values.size() : 1; }

std::vector<std::size_t> Sweep::values_of(std::uint64_t run) const {
    std::vector<std::size_t> values(axes.size());
    if (averaged) values[*averaged] = run % runs_per_row();
    std::uint64_t rest = row_number(run / runs_per_row());
    for (std::size_t k = axes.size(); k-- > 0;) {
        if (k == averaged) continue;
        values[k] = rest % axes[k].values.size();
        rest /= axes[k].values.size();
    }
    return values;
}

std::string Sweep::label_of(std::uint64_t run) const {
    const std::vector<std::size_t> values = values_of(run);
    std::string label;
    for (std::size_t k = 0; k < axes.size(); ++k) {
        label += fmt::format("{}{}={}", k > 0 ? ", " : "", axes[k].name, axes[k].values[values[k]].text);
    }
    return label;
}

std::vector<Assignment> Sweep::assignments(std::uint64_t run) const {
    const std::vector<std::size_t> values = values_of(run);
    std::vector<Assignment> all;
    const auto add = [&all](const std::string& key, const std::string& toml, const std::string& key_place,
                            const std::string& value_place) {
        all.push_back({fmt::format("{}={}", key, toml), key, &key_place, &value_place});
    };
    for (const Setting& setting : settings) {
        if (setting.formula) continue;
        for (const std::string& key : setting.keys) add(key, setting.toml, setting.place, setting.place);
    }
    for (const std::string& text : overrides) all.push_back({.text = text, .key = text.substr(0, text.find('='))});
    std::vector<double> numbers;
    for (std::size_t k = 0; k < axes.size(); ++k) {
        const AxisValue& value = axes[k].values[values[k]];
        numbers.push_back(value.number);
        for (const std::string& key : axes[k].keys) add(key, value.toml, axes[k].place, value.place);
    }
    for (const Setting& setting : settings) {
        if (!setting.formula) continue;
        const double number = setting.formula->evaluate(numbers);
        if (!std::isfinite(number)) {
            throw InputError(fmt::format("{}: set[{}].formula: gives {} at {}; it must be a number in every run",
                                         setting.place, &setting - settings.data(), number, label_of(run)));
        }
        for (const std::string& key : setting.keys) add(key, decimal_text(number), setting.place, setting.place);
    }
    return all;
}

std::vector<std::string> Sweep::axis_columns() const {
    std::vector<std::string> columns;
    for (std::size_t k = 0; k < axes.size(); ++k) {
        if (k != averaged) columns.push_back(axes[k].name);
    }
    return columns;
}

std::string name_without_unit(const std::string& name) {
    const auto bracket = name.rfind(" [");
    return bracket != std::string::npos && bracket > 0 && name.ends_with("]") ? name.substr(0, bracket) : name;
}

}  // namespace carom
