#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/io/trajectory_header.hpp"
#include "host/state/frame.hpp"

namespace carom {

/// What is exported, and where to.
struct ExportTarget {
    std::string path;  ///< as the user gave it; its ending chose the format
    const TrajectoryHeader* header = nullptr;
    std::size_t frames = 1;  ///< that add() will get
    bool series = false;     ///< all frames of a trajectory, so that times matter; else a single one
    bool force = false;      ///< existing files are replaced
};

/// Writes frames in the format of another program. Files appear under their names only when they are whole.
/// A new format is a file beside vtk_exporter.cpp and its line in exporter.cpp.
class Exporter {
public:
    virtual ~Exporter() = default;
    /// \throws SystemError  the file cannot be written; names it and says what was kept
    virtual void add(const Frame& frame) = 0;
    /// Must be called after the last frame. Returns one line on what was written, for the user.
    virtual std::string finish() = 0;
};

/// An entry of the registry.
struct ExportFormat {
    std::string extension;    ///< with the dot: ".vtp"
    std::string description;  ///< for the help text
    /// \throws InputError  a file exists already, and `force` is not given
    std::unique_ptr<Exporter> (*make)(const ExportTarget& target);
};

/// All formats, in the order of the help text.
const std::vector<ExportFormat>& export_formats();

/// Chooses by the path's ending. \throws InputError  an unknown ending, or a file that exists already
std::unique_ptr<Exporter> make_exporter(const ExportTarget& target);

/// For exporters. \throws InputError  there is such a file, and `force` is not given; or it is no regular file
void require_free(const std::string& path, bool force);

}  // namespace carom
