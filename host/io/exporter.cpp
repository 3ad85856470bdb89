#include "host/io/exporter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "host/io/replacement.hpp"
#include "host/state/errors.hpp"

namespace carom {

// The files of formats; each gives its row.
ExportFormat vtk_format();
ExportFormat xyz_format();
ExportFormat csv_format();
ExportFormat gsd_format();
ExportFormat lammps_format();

const std::vector<ExportFormat>& export_formats() {
    static const std::vector<ExportFormat> kFormats{vtk_format(), xyz_format(), csv_format(), gsd_format(),
                                                    lammps_format()};
    return kFormats;
}

namespace {

/// A single frame: in the file that the user named.
class SingleFrame final : public Exporter {
public:
    SingleFrame(const FilePerFrame& format, const ExportTarget& target) : format_(format), target_(target) {}

    void add(const Frame& frame) override { format_.write(target_.path, *target_.header, frame, target_.force); }
    std::string finish() override { return fmt::format("{}: 1 frame", target_.path); }

private:
    FilePerFrame format_;
    ExportTarget target_;
};

void require_free(const std::string& path, const ExportTarget& target) {
    require_no_input({{path}}, {{target.input}});
    require_replaceable(path, target.force);
}

/// Several frames: a file each, and one that lists them, if the format has that.
class NumberedFrames final : public Exporter {
public:
    NumberedFrames(const ExportFormat& format, const ExportTarget& target)
        : extension_(format.extension),
          format_(std::get<FilePerFrame>(format.how)),
          target_(target),
          stem_(std::filesystem::path(target.path).replace_extension().string()) {
        if (format_.list != nullptr) {
            static_cast<void>(format_.list(std::array{FrameFile{file_name(frame_path(0))}}));
            require_free(unled(list_path()), target);
        }
        for (std::size_t index = 0; index < target.frames; ++index) {
            require_free(unled(frame_path(index)), target);
        }
    }

    void add(const Frame& frame) override {
        const std::string path = frame_path(files_.size());
        keep_earlier(files_.size(), [&] { format_.write(path, *target_.header, frame, target_.force); });
        // An older list is of frames that are replaced one by one from now on.
        if (files_.empty() && format_.list != nullptr && target_.force) remove_older_list();
        files_.push_back({file_name(path), frame.time});
    }

    std::string finish() override {
        if (format_.list == nullptr) {
            return fmt::format("{} and on: {} frames, a {} file each", frame_path(0), files_.size(), extension_);
        }
        ReplacementFile file(list_path(), target_.force);
        file.write(format_.list(files_));
        file.commit();
        return fmt::format("{}: {} frames, a {} file each", list_path(), files_.size(), extension_);
    }

private:
    void remove_older_list() const {
        std::error_code error;
        std::filesystem::remove(target_of(list_path()), error);
        if (error) throw SystemError(fmt::format("{}: cannot be removed: {}", list_path(), error.message()));
    }
    [[nodiscard]] static std::string file_name(const std::string& path) {
        return std::filesystem::path(path).filename().string();
    }
    [[nodiscard]] std::string list_path() const { return stem_ + format_.list_extension; }
    [[nodiscard]] std::string frame_path(std::size_t index) const {
        const std::size_t digits =
            std::max<std::size_t>(4, std::to_string(std::max<std::size_t>(target_.frames, 1) - 1).size());
        return fmt::format("{}_{:0{}}{}", stem_, index, digits, extension_);
    }

    std::string extension_;
    FilePerFrame format_;
    ExportTarget target_;
    std::string stem_;
    std::vector<FrameFile> files_;  // written
};

}  // namespace

BoxIn3D box_in_3d(const TrajectoryHeader& header) {
    BoxIn3D bounds{header.box.min, header.box.size};
    if (header.box.dimension == 2) {
        bounds.size[2] = 0.0;
        for (const Species& species : header.species_table) {
            bounds.size[2] = std::max(bounds.size[2], 2.0 * species.radius);
        }
        bounds.min[2] = -0.5 * bounds.size[2];
    }
    return bounds;
}

std::unique_ptr<Exporter> make_exporter(const ExportFormat& format, const ExportTarget& target) {
    const auto* const files = std::get_if<FilePerFrame>(&format.how);
    if (files != nullptr && target.series) return std::make_unique<NumberedFrames>(format, target);
    require_free(target.path, target);
    if (files != nullptr) return std::make_unique<SingleFrame>(*files, target);
    return std::get<OneFile>(format.how).make(target);
}

std::unique_ptr<Exporter> make_exporter(const ExportTarget& target) {
    const std::string extension = std::filesystem::path(target.path).extension().string();
    std::string known;
    for (const ExportFormat& format : export_formats()) {
        if (format.extension == extension) return make_exporter(format, target);
        known += (known.empty() ? "" : ", ") + format.extension;
    }
    throw InputError(fmt::format("{}: the ending names no format; known are {}", target.path, known));
}

}  // namespace carom
