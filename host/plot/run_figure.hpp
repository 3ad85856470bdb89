#pragma once

#include <string>
#include <vector>

#include "host/io/trajectory_reader.hpp"
#include "host/plot/figure.hpp"
#include "host/plot/stored_run.hpp"

namespace carom {

/// The figure of a quantity of a stored run over time: any observable by name, or else "energy", "pressure".
/// \throws InputError  there is no such quantity, or there are no rows; names what there is
Figure run_figure(const TrajectoryReader& trajectory, const std::string& quantity, const TimeWindow& window = {});

/// The same of several runs, one over the other: for quantities of one number, or of components.
Figure runs_figure(const std::vector<const TrajectoryReader*>& runs, const std::string& quantity,
                   const TimeWindow& window = {});

/// The unit of a row: in 2D a pressure is a force per length.
std::string row_unit(const ObservableInfo& info, int dimension);

/// The quantities that run_figure knows for this file: those over time.
std::vector<std::string> figure_quantities(const TrajectoryReader& trajectory);

/// The observables beside which theory has a curve over time that the figure of their group does not show.
std::vector<std::string> quantities_with_theory(const TrajectoryReader& trajectory);

/// The rows that `plot --all` draws besides what all runs have: those that the scene asks for, and what goes into a
/// driven gas and out of it, unless that is nothing throughout. Rows of more numbers than a figure has room for are
/// left out.
std::vector<std::string> rows_of_interest(const TrajectoryReader& trajectory);

/// Whether the run has an average of that name, or else of that kind, which is a single number and has a figure of its
/// own: names of rows and of groups of them, such as temperature and pressure, mean these unless an average is called
/// so.
[[nodiscard]] bool is_number_quantity(const TrajectoryReader& trajectory, const std::string& quantity);

/// How an average that is a single number settles: the average so far at each frame with its standard error as a band,
/// a curve per component, beside theory's number.
/// \throws InputError  it has no value in a run
Figure number_figure(const std::vector<const TrajectoryReader*>& runs, const std::string& quantity,
                     const TimeWindow& window = {});

/// \throws InputError  runs that are laid over each other have other axes than the first
void require_same_axes(const Figure& first, const Figure& other, const TrajectoryReader& run,
                       const std::string& quantity);

}  // namespace carom
