#pragma once

#include <memory>

#include "host/io/exporter.hpp"

namespace carom {

/// Extended XYZ, which OVITO, ASE and others read: all frames in one file, one after the other. Balls that have left
/// are left out. https://github.com/libAtoms/extxyz
std::unique_ptr<Exporter> make_xyz_exporter(const ExportTarget& target);

}  // namespace carom
