#pragma once

#include <functional>
#include <string>

#include "host/io/hdf5.hpp"

namespace carom {

/// Opens an HDF5 file of ours to read it.
/// \param kind  "trajectory" or "checkpoint", for messages
/// \throws SystemError  no such file, or it may not be read
/// \throws InputError   it is no HDF5 file
h5::Handle open_hdf5_to_read(const std::string& path, const std::string& kind);

/// Runs `action`; what goes wrong in it becomes an InputError that names the file.
void explain_errors(const std::string& path, const std::string& kind, const std::function<void()>& action);

}  // namespace carom
