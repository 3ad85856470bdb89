#include "host/plot/table_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <compare>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "host/scene/keys.hpp"
#include "host/state/errors.hpp"
#include "host/state/text.hpp"

namespace carom {

namespace {

/// A cell without blanks around it, and without a plus before a number.
std::string_view number_text(std::string_view cell) {
    constexpr std::string_view kBlank = " \t";
    const std::size_t first = cell.find_first_not_of(kBlank);
    if (first == std::string_view::npos) return {};
    cell = cell.substr(first, cell.find_last_not_of(kBlank) - first + 1);
    if (cell.size() > 1 && cell[0] == '+' && cell[1] != '-') cell.remove_prefix(1);
    return cell;
}

std::optional<double> number_of(const std::string& cell) {
    double value = 0.0;
    const std::string_view text = number_text(cell);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// Takes one line from `at` on; quotes may hold commas, quotes twice, and ends of lines.
std::vector<std::string> take_cells(const std::string& text, std::size_t& at) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (quoted) {
            if (c != '"') {
                cells.back() += c;
            } else if (at + 1 < text.size() && text[at + 1] == '"') {
                cells.back() += text[++at];
            } else {
                quoted = false;
            }
        } else if (c == '"') {
            quoted = true;
        } else if (c == ',') {
            cells.emplace_back();
        } else if (c == '\n') {
            ++at;
            break;
        } else if (c != '\r') {
            cells.back() += c;
        }
    }
    return cells;
}

/// An axis of one value looks like a quantity that is the same everywhere; it is known by the scene's key that it is
/// of.
bool is_axis_of_one_value(const SweepTable& table, std::size_t column) {
    std::string name = column_without_unit(table.names[column]);
    for (std::size_t open = 0; (open = name.find('[')) != std::string::npos;) {
        name.erase(open, std::min(name.size(), name.find(']', open) + 1) - open);
    }
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos || find_key(name.substr(0, dot), name.substr(dot + 1)) == nullptr) return false;
    const std::string& first = table.rows.front()[column];
    return std::ranges::all_of(table.rows, [&](const auto& row) { return row[column] == first; });
}

/// A number's digits without zeros around them, and the power of ten behind; of what is none, the cell itself. So are
/// "1", "+1.0" and "10e-1" one, and whole numbers that no double tells apart are not.
std::string number_in_one_form(const std::string& whole) {
    if (!number_of(whole)) return whole;
    const std::string_view cell = number_text(whole);
    std::string digits;
    std::int64_t power = 0;
    bool point = false;
    std::size_t at = cell.starts_with('-') ? 1 : 0;
    for (; at < cell.size() && (cell[at] == '.' || (cell[at] >= '0' && cell[at] <= '9')); ++at) {
        if (cell[at] == '.') {
            point = true;
        } else if (cell[at] != '0' || !digits.empty()) {
            digits += cell[at];
        }
        if (point && cell[at] != '.') --power;
    }
    std::int64_t exponent = 0;
    if (at < cell.size()) {
        const std::size_t sign = at + 1 < cell.size() && cell[at + 1] == '+' ? 2 : 1;
        const auto [end, error] = std::from_chars(cell.data() + at + sign, cell.data() + cell.size(), exponent);
        if (error != std::errc{} || end != cell.data() + cell.size()) return whole;  // inf, nan
    }
    const std::size_t last = digits.find_last_not_of('0');
    if (last == std::string::npos) return "0";
    power += static_cast<std::int64_t>(digits.size() - last) - 1 + exponent;
    return fmt::format("{}{}e{}", cell.starts_with('-') ? "-" : "", digits.substr(0, last + 1), power);
}

/// Of a number that a column has in several forms the first stands for all: it is one value.
void unify_numbers(SweepTable& table) {
    for (std::size_t column = 0; column < table.names.size(); ++column) {
        if (!table.numeric(column)) continue;
        std::map<std::string, std::string> first;
        for (auto& row : table.rows)
            row[column] = first.emplace(number_in_one_form(row[column]), row[column]).first->second;
    }
}

/// The fewest leading columns that tell all rows apart, and axes of one value behind them; 0 if not even all columns
/// do.
std::size_t count_axes(const SweepTable& table) {
    std::vector<std::size_t> alike(table.rows.size(), 0);  // by row, a number for all that are alike up to here
    for (std::size_t column = 0; column < table.names.size(); ++column) {
        std::map<std::pair<std::size_t, std::string_view>, std::size_t> seen;
        for (std::size_t row = 0; row < table.rows.size(); ++row) {
            const std::string_view cell = table.rows[row][column];
            alike[row] = seen.emplace(std::pair{alike[row], cell}, seen.size()).first->second;
        }
        if (seen.size() < table.rows.size()) continue;
        std::size_t axes = column + 1;
        while (axes + 1 < table.names.size() && is_axis_of_one_value(table, axes)) ++axes;
        return axes;
    }
    return 0;
}

}  // namespace

bool can_be_drawn(double value) { return std::abs(value) <= 1e300; }

double margin_around(double value) { return std::max(0.5, 1e-9 * std::abs(value)); }

std::optional<std::size_t> SweepTable::find(const std::string& name) const {
    for (std::size_t k = 0; k < names.size(); ++k) {
        if (names[k] == name) return k;
    }
    for (std::size_t k = 0; k < names.size(); ++k) {
        if (column_without_unit(names[k]) == name) return k;
    }
    return std::nullopt;
}

std::vector<double> SweepTable::numbers(std::size_t column) const {
    std::vector<double> values;
    for (const auto& row : rows) {
        values.push_back(number_of(row[column]).value_or(std::numeric_limits<double>::quiet_NaN()));
    }
    return values;
}

bool SweepTable::numeric(std::size_t column) const {
    return std::ranges::all_of(rows, [column](const std::vector<std::string>& row) {
        return number_text(row[column]).empty() || number_of(row[column]).has_value();
    });
}

SweepTable read_table(const std::string& path) { return parse_table(read_text_file(path), path); }

SweepTable parse_table(const std::string& text, const std::string& path) {
    SweepTable table;
    table.path = path;
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    std::size_t at = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
    for (std::size_t line = 1; at < text.size(); ++line) {
        std::vector<std::string> cells = take_cells(text, at);
        if (line == 1) {
            table.names = std::move(cells);
            continue;
        }
        if (cells.size() == 1 && cells.front().empty()) continue;
        if (cells.size() != table.names.size()) {
            throw InputError(fmt::format("{}:{}: {} cells in this row, and {} in the line of names", path, line,
                                         cells.size(), table.names.size()));
        }
        table.rows.push_back(std::move(cells));
        table.lines.push_back(line);
    }
    if (table.rows.empty()) throw InputError(path + ": holds no row");
    unify_numbers(table);
    table.axes = count_axes(table);
    if (table.axes == 0) throw InputError(path + ": two rows are the same; is this a table of carom sweep?");
    if (table.axes == table.names.size()) {
        throw InputError(path + ": holds nothing beside axes; a table of carom sweep has its records behind them");
    }
    return table;
}

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
    if (x.size() == 1) {
        const double margin = margin_around(x[0]);
        return {x[0] - margin, x[0] + margin};
    }
    std::vector<double> edges{x[0] - 0.5 * (x[1] - x[0])};
    for (std::size_t k = 1; k < x.size(); ++k) edges.push_back(0.5 * (x[k - 1] + x[k]));
    edges.push_back(x.back() + 0.5 * (x.back() - x[x.size() - 2]));
    return edges;
}

std::vector<double> logarithms_of(const Scale& scale) {
    std::vector<double> logarithms;
    for (const double value : scale.at) logarithms.push_back(std::log(value));
    return logarithms;
}

Scale scale_of(const SweepTable& table, std::size_t column) {
    Scale scale;
    scale.label = table.names[column];
    scale.words = !table.numeric(column);
    const std::vector<double> numbers = table.numbers(column);
    std::vector<std::pair<double, std::string>> values;
    std::set<std::string_view> seen;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        const std::string& text = table.rows[row][column];
        if (!seen.insert(text).second) continue;
        if (!scale.words && !can_be_drawn(numbers[row])) {
            throw InputError(fmt::format("{}:{}: {}: an axis has numbers from -1e300 to 1e300, not '{}'", table.path,
                                         table.lines[row], scale.label, text));
        }
        values.emplace_back(scale.words ? static_cast<double>(values.size()) : numbers[row], text);
    }
    std::ranges::sort(values, [](const auto& a, const auto& b) {  // what is no number is in order, too
        const auto order = std::strong_order(a.first, b.first);
        return std::is_neq(order) ? std::is_lt(order) : a.second < b.second;
    });
    for (auto& [number, text] : values) {
        scale.at.push_back(number);
        scale.texts.push_back(std::move(text));
    }
    scale.uniform = equal_steps(scale.at);
    if (scale.at.size() > 2 && scale.at.front() > 0.0 && scale.at.back() >= kLogarithmicFrom * scale.at.front()) {
        if (!scale.uniform && equal_steps(logarithms_of(scale))) make_logarithmic(scale);
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

void make_logarithmic(Scale& scale) {
    scale.logarithmic = true;
    scale.edges = edges_of(logarithms_of(scale));
    for (double& edge : scale.edges) edge = std::exp(edge);
}

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
    constexpr std::size_t kMostCells = 10'000'000;
    Reduced reduced;
    std::size_t size = 1;
    std::vector<std::map<std::string, std::size_t>> index;
    for (const std::size_t column : chosen.by) {
        reduced.scales.push_back(scale_of(table, column));
        size *= std::max<std::size_t>(reduced.scales.back().at.size(), 1);
        if (size > kMostCells) throw InputError(fmt::format("{}: no figure has {} cells", table.path, size));
        index.emplace_back();
        for (const std::string& text : reduced.scales.back().texts) index.back().emplace(text, index.back().size());
    }
    const std::vector<double> numbers = table.numbers(chosen.quantity);
    const auto error_column = table.find(table.names[chosen.quantity] + "_se");
    const std::vector<double> errors = error_column ? table.numbers(*error_column) : std::vector<double>{};
    std::vector<double> counts(size, 0.0);
    std::vector<double> widths(size, 0.0);
    reduced.values.assign(size, 0.0);
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        if (std::isnan(numbers[row])) continue;  // of a run that could not go on
        std::size_t cell = 0;
        for (std::size_t k = 0; k < chosen.by.size(); ++k) {
            cell = cell * reduced.scales[k].at.size() + index[k].at(table.rows[row][chosen.by[k]]);
        }
        reduced.values[cell] += numbers[row];
        if (error_column) {
            if (errors[row] < 0.0) {
                throw InputError(fmt::format("{}:{}: {}: no standard error is negative, as {} is", table.path,
                                             table.lines[row], table.names[*error_column], errors[row]));
            }
            widths[cell] = std::hypot(widths[cell], errors[row]);
        }
        counts[cell] += 1.0;
    }
    std::vector<std::string> others;
    double all = 1.0;  // rows that a cell stands for
    for (std::size_t axis = 0; axis < table.axes; ++axis) {
        if (std::ranges::find(chosen.by, axis) != chosen.by.end()) continue;
        others.push_back(column_without_unit(table.names[axis]));
        std::set<std::string> texts;
        for (const auto& row : table.rows) texts.insert(row[axis]);
        all *= static_cast<double>(texts.size());
    }
    // A mean may be of more seeds here than there; a sum of which a part is missing is none.
    const double least = mean ? 1.0 : all;
    for (std::size_t cell = 0; cell < size; ++cell) {
        const double share = mean ? counts[cell] : 1.0;
        reduced.values[cell] = counts[cell] >= least ? reduced.values[cell] / share : kNone;
        if (error_column) {
            reduced.errors.push_back(std::isnan(reduced.values[cell]) ? kNone : widths[cell] / share);
        }
    }
    reduced.label = table.names[chosen.quantity];
    if (!others.empty()) {
        const bool missing = std::ranges::any_of(counts, [&](double count) { return count < all; });
        reduced.label += fmt::format(", {} over {}{}", mean ? "mean" : "sum", fmt::join(others, " and "),
                                     missing ? " (some missing)" : "");
    }
    return reduced;
}

}  // namespace carom
