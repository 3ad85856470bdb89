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
    std::vector<std::size_t> lines;              ///< of the file, of each row
    std::size_t axes = 0;                        ///< the first columns: the fewest that tell all rows apart

    /// The column of a name, with or without the unit in brackets at its end.
    [[nodiscard]] std::optional<std::size_t> find(const std::string& name) const;
    /// The numbers of a column; NaN where a cell holds none.
    [[nodiscard]] std::vector<double> numbers(std::size_t column) const;
    /// Whether all cells of a column that are not empty hold numbers.
    [[nodiscard]] bool numeric(std::size_t column) const;
};

/// \throws InputError   the file is no such table: file:line: what is wrong
/// \throws SystemError  it cannot be read
SweepTable read_table(const std::string& path);

/// The same for a text.
SweepTable parse_table(const std::string& text, const std::string& path);

/// Which figure of a table.
struct TableView {
    std::string quantity;         ///< a column; empty: the first that is no axis
    std::vector<std::string> by;  ///< over which axes; empty: all
    bool mean = false;            ///< over the other axes, instead of the sum
};

/// The quantity's column and the axes' columns of a view, all of them there.
struct ChosenColumns {
    std::size_t quantity = 0;
    std::vector<std::size_t> by;
};

/// \throws InputError  there is no such column, or no figure over so many axes; names what there is
ChosenColumns choose_columns(const SweepTable& table, const TableView& view);

/// Whether axes can be laid over it: differences of such numbers, and margins, must be numbers.
[[nodiscard]] bool can_be_drawn(double value);

/// Half of the range that a single value lies in; its ends are others than the value.
[[nodiscard]] double margin_around(double value);

/// The different values of an axis, in order, and where they are drawn.
struct Scale {
    std::string label;
    std::vector<std::string> texts;  ///< of each value
    std::vector<double> at;          ///< its coordinate; for words the number of the word
    std::vector<double> edges;       ///< of the cells around them, one more
    bool words = false;
    bool logarithmic = false;
    bool uniform = false;
};

/// Lays a scale of numbers above 0 out by their logarithms.
void make_logarithmic(Scale& scale);

/// The quantity over the chosen axes, summed or averaged over the others.
struct Reduced {
    std::vector<Scale> scales;
    std::vector<double> values;  ///< the last axis fastest; NaN where a run is missing or could not go on
    std::vector<double> errors;  ///< standard errors; empty if the table has none
    std::string label;
};

/// \param mean  over the axes that are not chosen, instead of the sum
/// \throws InputError  an axis has numbers that no figure can show, or there are too many cells
Reduced reduce_table(const SweepTable& table, const ChosenColumns& chosen, bool mean);

}  // namespace carom
