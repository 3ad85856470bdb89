#include "host/io/exporter.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "host/io/csv_exporter.hpp"
#include "host/io/replacement.hpp"
#include "host/io/vtk_exporter.hpp"
#include "host/io/xyz_exporter.hpp"
#include "host/state/errors.hpp"

namespace carom {

const std::vector<ExportFormat>& export_formats() {
    static const std::vector<ExportFormat> formats{
        {".vtp", "VTK XML PolyData, for ParaView; all frames: a file each, and a .pvd that lists them",
         make_vtk_exporter},
        {".xyz", "extended XYZ, for OVITO and ASE", make_xyz_exporter},
        {".csv", "a table, one line a ball", make_csv_exporter},
    };
    return formats;
}

std::unique_ptr<Exporter> make_exporter(const ExportTarget& target) {
    const std::string extension = std::filesystem::path(target.path).extension().string();
    std::string known;
    for (const ExportFormat& format : export_formats()) {
        if (format.extension == extension) return format.make(target);
        known += (known.empty() ? "" : ", ") + format.extension;
    }
    throw InputError(fmt::format("{}: the ending names no format; known are {}", target.path, known));
}

void require_free(const std::string& path, bool force) { require_replaceable(path, force); }

}  // namespace carom
