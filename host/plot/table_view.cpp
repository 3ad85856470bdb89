#include "host/plot/table_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "host/scene/keys.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kUniform = 1e-6;         // of a step: what counts as equal steps
constexpr double kLogarithmicFrom = 8.0;  // equal ratios over less than this are drawn as they are

bool equal_steps(const std::vector<double>& x) {
    for (std::size_t k = 2; k < x.size(); ++k) {
        if (std::abs((x[k] - x[k - 1]) - (x[1] - x[0])) > kUniform * std::abs(x[1] - x[0])) return false;
    }
    return true;
}

/// Midway between neighbours; the outer ones as wide as their neighbours.
std::vector<double> edges_of(const std::vector<double>& x) {
    if (x.size() == 1) return {x[0] - 0.5, x[0] + 0.5};
    std::vector<double> edges{x[0] - 0.5 * (x[1] - x[0])};
    for (std::size_t k = 1; k < x.size(); ++k) edges.push_back(0.5 * (x[k - 1] + x[k]));
    edges.push_back(x.back() + 0.5 * (x.back() - x[x.size() - 2]));
    return edges;
}

Scale scale_of(const SweepTable& table, std::size_t column) {
    Scale scale;
    scale.label = table.names[column];
    scale.words = !table.numeric(column);
    const std::vector<double> numbers = table.numbers(column);
    std::vector<std::pair<double, std::string>> values;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        const std::string& text = table.rows[row][column];
        if (std::ranges::find(values, text, &std::pair<double, std::string>::second) != values.end()) continue;
        values.emplace_back(scale.words ? static_cast<double>(values.size()) : numbers[row], text);
    }
    std::ranges::sort(values);
    for (auto& [number, text] : values) {
        scale.at.push_back(number);
        scale.texts.push_back(std::move(text));
    }
    scale.uniform = equal_steps(scale.at);
    if (scale.at.size() > 2 && scale.at.front() > 0.0 && scale.at.back() >= kLogarithmicFrom * scale.at.front()) {
        std::vector<double> logarithms;
        for (const double value : scale.at) logarithms.push_back(std::log(value));
        scale.logarithmic = !scale.uniform && equal_steps(logarithms);
        if (scale.logarithmic) {
            scale.edges = edges_of(logarithms);
            for (double& edge : scale.edges) edge = std::exp(edge);
        }
    }
    if (scale.edges.empty()) scale.edges = edges_of(scale.at);
    return scale;
}

std::size_t column_of(const SweepTable& table, const std::string& name, std::size_t begin, std::size_t end,
                      const char* what) {
    const auto column = table.find(name);
    if (column && *column >= begin && *column < end) return *column;
    const std::vector<std::string> names(table.names.begin() + static_cast<std::ptrdiff_t>(begin),
                                         table.names.begin() + static_cast<std::ptrdiff_t>(end));
    const std::vector<std::string_view> views(names.begin(), names.end());
    const auto nearest = nearest_name(name, views);
    throw InputError(
        nearest.empty() ? fmt::format("{}: has no {} '{}'; allowed: {}", table.path, what, name, fmt::join(names, ", "))
                        : fmt::format("{}: has no {} '{}'; did you mean '{}'?", table.path, what, name, nearest));
}

}  // namespace

ChosenColumns choose_columns(const SweepTable& table, const TableView& view) {
    ChosenColumns chosen;
    chosen.quantity = view.quantity.empty()
                          ? table.axes
                          : column_of(table, view.quantity, table.axes, table.names.size(), "quantity");
    if (!table.numeric(chosen.quantity)) {
        throw InputError(fmt::format("{}: '{}' holds no numbers", table.path, table.names[chosen.quantity]));
    }
    for (const std::string& name : view.by) {
        const std::size_t column = column_of(table, name, 0, table.axes, "axis");
        if (std::ranges::find(chosen.by, column) != chosen.by.end()) {
            throw InputError(fmt::format("--by: {} is there twice", name));
        }
        chosen.by.push_back(column);
    }
    for (std::size_t axis = 0; view.by.empty() && axis < table.axes; ++axis) chosen.by.push_back(axis);
    if (chosen.by.size() > 2) {
        const std::vector<std::string> axes(table.names.begin(),
                                            table.names.begin() + static_cast<std::ptrdiff_t>(table.axes));
        throw InputError(fmt::format("{}: no figure has {} axes; choose one or two with --by: {}", table.path,
                                     chosen.by.size(), fmt::join(axes, ", ")));
    }
    return chosen;
}

Reduced reduce_table(const SweepTable& table, const ChosenColumns& chosen, bool mean) {
    Reduced reduced;
    std::size_t size = 1;
    std::vector<std::map<std::string, std::size_t>> index;
    for (const std::size_t column : chosen.by) {
        reduced.scales.push_back(scale_of(table, column));
        size *= reduced.scales.back().at.size();
        index.emplace_back();
        for (const std::string& text : reduced.scales.back().texts) index.back().emplace(text, index.back().size());
    }
    const std::vector<double> numbers = table.numbers(chosen.quantity);
    const auto error_column = table.find(table.names[chosen.quantity] + "_se");
    const std::vector<double> errors = error_column ? table.numbers(*error_column) : std::vector<double>{};
    std::vector<double> counts(size, 0.0);
    std::vector<double> squares(size, 0.0);
    reduced.values.assign(size, 0.0);
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        std::size_t cell = 0;
        for (std::size_t k = 0; k < chosen.by.size(); ++k) {
            cell = cell * reduced.scales[k].at.size() + index[k].at(table.rows[row][chosen.by[k]]);
        }
        reduced.values[cell] += numbers[row];
        if (error_column) squares[cell] += errors[row] * errors[row];
        counts[cell] += 1.0;
    }
    for (std::size_t cell = 0; cell < size; ++cell) {
        const double share = mean ? counts[cell] : 1.0;
        reduced.values[cell] = counts[cell] > 0.0 ? reduced.values[cell] / share : kNone;
        if (error_column) reduced.errors.push_back(std::sqrt(squares[cell]) / share);
    }
    reduced.label = table.names[chosen.quantity];
    std::vector<std::string> others;
    for (std::size_t axis = 0; axis < table.axes; ++axis) {
        if (std::ranges::find(chosen.by, axis) == chosen.by.end())
            others.push_back(column_without_unit(table.names[axis]));
    }
    if (!others.empty()) {
        reduced.label += fmt::format(", {} over {}", mean ? "mean" : "sum", fmt::join(others, " and "));
    }
    return reduced;
}

}  // namespace carom
