#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "host/plot/table_file.hpp"

namespace carom {

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

/// The quantity over the chosen axes, summed or averaged over the others.
struct Reduced {
    std::vector<Scale> scales;
    std::vector<double> values;  ///< the last axis fastest; NaN where a run is missing or could not go on
    std::vector<double> errors;  ///< standard errors; empty if the table has none
    std::string label;
};

/// \param mean  over the axes that are not chosen, instead of the sum
Reduced reduce_table(const SweepTable& table, const ChosenColumns& chosen, bool mean);

}  // namespace carom
