#pragma once

#include <memory>

#include "host/io/exporter.hpp"

namespace carom {

/// The columns of `carom state --csv`, and before them the time if there are several frames.
std::unique_ptr<Exporter> make_csv_exporter(const ExportTarget& target);

}  // namespace carom
