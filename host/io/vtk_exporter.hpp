#pragma once

#include <memory>

#include "host/io/exporter.hpp"

namespace carom {

/// VTK XML PolyData, which ParaView and VisIt read: a vertex per ball, binary. A series is one file a frame,
/// NAME_0000.vtp and on, and NAME.pvd, which lists them with their times. Balls that have left are left out.
/// https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html
std::unique_ptr<Exporter> make_vtk_exporter(const ExportTarget& target);

}  // namespace carom
