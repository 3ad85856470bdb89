#pragma once

#include <string>

#include "host/plot/figure.hpp"
#include "host/plot/gnuplot.hpp"
#include "host/plot/table_view.hpp"

namespace carom {

/// The commands that make gnuplot draw a quantity of a table into `path`: a heat map over two axes, a line over one,
/// with error bars where the table has NAME_se, and bars for sums over the axes that are left out.
/// \throws InputError  as choose_columns; or another ending than .png, .svg, .pdf
Script table_figure_script(const SweepTable& table, const TableView& view, const Canvas& canvas,
                           const FigureWishes& wishes = {});

/// What that figure shows: a line for each value of the axes, with a standard error where the table has one.
std::string table_figure_csv(const SweepTable& table, const TableView& view);

}  // namespace carom
