#include "host/plot/table_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

#include "host/state/errors.hpp"
#include "host/state/text_file.hpp"

namespace carom {

namespace {

std::optional<double> number_of(const std::string& cell) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc{} || end != cell.data() + cell.size()) return std::nullopt;
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

/// The fewest leading columns that tell all rows apart; 0 if not even all do.
std::size_t count_axes(const SweepTable& table) {
    for (std::size_t count = 1; count <= table.names.size(); ++count) {
        std::set<std::vector<std::string>> seen;
        const auto is_new = [&](const std::vector<std::string>& row) {
            return seen.emplace(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(count)).second;
        };
        if (std::ranges::all_of(table.rows, is_new)) return count;
    }
    return 0;
}

}  // namespace

std::string column_without_unit(const std::string& name) {
    const auto bracket = name.rfind(" [");
    return bracket != std::string::npos && bracket > 0 && name.ends_with("]") ? name.substr(0, bracket) : name;
}

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
        return row[column].empty() || number_of(row[column]).has_value();
    });
}

SweepTable read_table(const std::string& path) { return parse_table(read_text_file(path), path); }

SweepTable parse_table(const std::string& text, const std::string& path) {
    SweepTable table;
    table.path = path;
    std::size_t at = 0;
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
    }
    if (table.rows.empty()) throw InputError(path + ": holds no row");
    table.axes = count_axes(table);
    if (table.axes == 0) throw InputError(path + ": two rows are the same; is this a table of carom sweep?");
    if (table.axes == table.names.size()) {
        throw InputError(path + ": holds nothing beside axes; a table of carom sweep has its records behind them");
    }
    return table;
}

}  // namespace carom
