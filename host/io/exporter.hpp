#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "host/io/trajectory_header.hpp"
#include "host/state/balls.hpp"

namespace carom {

/// What is exported, and where to.
struct ExportTarget {
    std::string path;  ///< as the user gave it; its ending chose the format
    const TrajectoryHeader* header = nullptr;
    std::size_t frames = 1;  ///< that add() will get
    bool series = false;     ///< all frames of a trajectory, so that times matter; else a single one
    bool force = false;      ///< existing files are replaced
    std::string input = {};  ///< but not this one
};

/// Writes frames in the format of another program. Files appear under their names only when they are whole.
class Exporter {
public:
    virtual ~Exporter() = default;
    /// \throws SystemError  the file cannot be written; names it and says what was kept
    virtual void add(const Frame& frame) = 0;
    /// Must be called after the last frame. Returns one line on what was written, for the user.
    virtual std::string finish() = 0;
};

/// One frame of a series in which each has a file.
struct FrameFile {
    std::string name;  ///< without its folder
    double time = 0.0;
};

/// A format with one file for all frames.
struct OneFile {
    /// The target's path is free.
    std::unique_ptr<Exporter> (*make)(const ExportTarget& target);
};

/// A format with a file for each frame: NAME_0000.vtp and on.
struct FilePerFrame {
    /// Writes one, by ReplacementFile. \throws SystemError  names the file
    void (*write)(const std::string& path, const TrajectoryHeader& header, const Frame& frame, bool replace);
    std::string list_extension = {};  ///< of a file that lists them; empty: there is none
    /// What that file says. Null where there is none. \throws InputError  it cannot name them
    std::string (*list)(std::span<const FrameFile> files) = nullptr;
};

/// The box as programs that know three dimensions alone have it.
struct BoxIn3D {
    Vector3 min{};
    Vector3 size{};
};
/// A box of disks is a layer around z = 0, as thick as its largest ball.
BoxIn3D box_in_3d(const TrajectoryHeader& header);

/// A row of the registry.
struct ExportFormat {
    std::string extension;    ///< with the dot: ".vtp"
    std::string description;  ///< for the help text
    std::variant<OneFile, FilePerFrame> how;
};

/// All formats, in the order of the help text.
const std::vector<ExportFormat>& export_formats();

/// Chooses by the path's ending.
/// \throws InputError  an unknown ending; a file exists already, and `force` is not given; or it is no regular file
std::unique_ptr<Exporter> make_exporter(const ExportTarget& target);
std::unique_ptr<Exporter> make_exporter(const ExportFormat& format, const ExportTarget& target);

}  // namespace carom
