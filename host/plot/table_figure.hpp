#pragma once

#include "host/plot/gnuplot.hpp"
#include "host/plot/table_view.hpp"

namespace carom {

/// The commands that make gnuplot draw a quantity of a table into `path`: a heat map over two axes, a line over one,
/// with error bars where the table has NAME_se, and bars for sums over the axes that are left out.
/// \throws InputError  as choose_columns; or another ending than .png, .svg, .pdf
Script table_figure_script(const SweepTable& table, const TableView& view, const Canvas& canvas);

}  // namespace carom
