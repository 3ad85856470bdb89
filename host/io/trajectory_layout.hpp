#pragma once

#include <hdf5.h>

#include <string>
#include <vector>

#include "host/io/trajectory_header.hpp"

namespace carom {

/// `format` attribute of /parameters, and the version of what docs/file-format.md says.
inline constexpr const char* kTrajectoryFormat = "carom trajectory";
inline constexpr int kTrajectoryFormatVersion = 1;

/// Room for the summary, which is written when all else stands [bytes].
inline constexpr std::size_t kSummaryCapacity = 61440;

/// Whether [output] fields names it.
[[nodiscard]] bool has_field(const TrajectoryHeader& header, const std::string& field);

/// Writes /h5md, /parameters and /particles/all/box, without the datasets that grow.
void write_trajectory_header(hid_t file, const TrajectoryHeader& header);

/// \throws h5::Error  it is not there, or does not make sense
TrajectoryHeader read_trajectory_header(hid_t file);

}  // namespace carom
