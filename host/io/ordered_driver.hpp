#pragma once

#include <hdf5.h>

#include "host/io/ordered_file.hpp"

namespace carom {

/// Makes the file access property list `access` write through `file`, which must outlive the HDF5 file. Each H5Fflush
/// is a commit of it.
/// \throws h5::Error
void use_ordered_file(hid_t access, OrderedFile& file);

}  // namespace carom
