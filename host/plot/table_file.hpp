#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace carom {

/// A table of `carom sweep`: columns of the axes, then columns of what was recorded.
struct SweepTable {
    std::string path;
    std::vector<std::string> names;
    std::vector<std::vector<std::string>> rows;  ///< as many cells each as there are names
    std::size_t axes = 0;                        ///< the first columns: the fewest that tell all rows apart

    /// The column of a name, with or without the unit in brackets at its end.
    [[nodiscard]] std::optional<std::size_t> find(const std::string& name) const;
    /// The numbers of a column; NaN where a cell holds none.
    [[nodiscard]] std::vector<double> numbers(std::size_t column) const;
    /// Whether all cells of a column that are not empty hold numbers.
    [[nodiscard]] bool numeric(std::size_t column) const;
};

/// "angle" for "angle [deg]".
std::string column_without_unit(const std::string& name);

/// \throws InputError   the file is no such table: file:line: what is wrong
/// \throws SystemError  it cannot be read
SweepTable read_table(const std::string& path);

/// The same for a text.
SweepTable parse_table(const std::string& text, const std::string& path);

}  // namespace carom
