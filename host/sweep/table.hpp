#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/sweep/journal.hpp"
#include "host/sweep/sweep.hpp"

namespace carom {

/// The table of a sweep as CSV: a line of names, then a line a row: the axes' values and what was recorded. With an
/// averaged axis each record has its mean and, as NAME_se, the standard error of the mean. Cells of a row of which a
/// run could not go on are empty.
/// \param columns  of each run
/// \param results  of every run
std::string table_text(const Sweep& sweep, const std::vector<std::string>& columns,
                       const std::map<std::uint64_t, RunResult>& results);

}  // namespace carom
