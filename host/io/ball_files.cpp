#include "host/io/ball_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "host/io/ball_collector.hpp"
#include "host/io/text_table.hpp"
#include "host/io/trajectory_reader.hpp"
#include "host/scene/keys.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

namespace fs = std::filesystem;

/// Of a file or folder; closed with it.
class Descriptor {
public:
    explicit Descriptor(int descriptor = -1) : descriptor_(descriptor) {}
    ~Descriptor() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    void reset(int descriptor) {
        if (descriptor_ >= 0) ::close(descriptor_);
        descriptor_ = descriptor;
    }
    [[nodiscard]] int get() const { return descriptor_; }

private:
    int descriptor_;
};

/// A pipe would be waited for, and a terminal might become ours.
constexpr int kReading = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

/// The file of one entry.
struct BallFile {
    Descriptor descriptor;
    std::string path;
    std::uint64_t bytes = 0;
};

class Opener {
public:
    Opener(const Scene& scene, std::size_t number, SharedInputs* shared)
        : entry_(scene.loads[number]),
          label_(scene.label(fmt::format("load[{}].file", number))),
          number_(number),
          shared_(shared) {}

    /// \param folder  the scene's; empty: the working folder
    void open_below(const std::string& folder, BallFile& file) const {
        file.path = (fs::path(folder) / entry_.file).lexically_normal().string();
        const std::vector<std::string> parts = parts_below();
        file.descriptor.reset(::open(folder.empty() ? "." : folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
        for (std::size_t at = 0; at < parts.size(); ++at) {
            const bool last = at + 1 == parts.size();
            const int in = file.descriptor.get();
            const char* name = parts[at].c_str();
            if (in < 0) refuse(fmt::format("{} cannot be opened: {}", file.path, std::strerror(errno)));
            // By descriptors from folder to folder: nobody can put a link in between.
            const int next = ::openat(in, name, O_NOFOLLOW | (last ? kReading : O_PATH | O_DIRECTORY | O_CLOEXEC));
            if (next < 0) {
                const int why = errno;
                struct stat status {};
                const bool link = ::fstatat(in, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
                refuse(link ? fmt::format("must lead to a file without links, and {} is one{}", parts[at], own_choice())
                            : fmt::format("{} cannot be opened: {}", file.path, std::strerror(why)));
            }
            file.descriptor.reset(next);
        }
        require_regular(file);
    }

    void open_any(BallFile& file) const {
        file.path = entry_.file;
        file.descriptor.reset(::open(file.path.c_str(), kReading));
        if (file.descriptor.get() < 0) refuse(fmt::format("{} cannot be opened: {}", file.path, std::strerror(errno)));
        require_regular(file);
    }

    /// Of what has been opened, before it is read and after that: somebody may write into it meanwhile.
    void require_as_before(const BallFile& file) const {
        if (shared_ == nullptr) return;
        struct stat status {};
        if (::fstat(file.descriptor.get(), &status) != 0) {
            refuse(fmt::format("{} cannot be read: {}", file.path, std::strerror(errno)));
        }
        try {
            shared_->require_as_before(file.path, status);
        } catch (const InputError& error) {
            refuse(error.what());
        }
    }

    [[noreturn]] void refuse(const std::string& why) const { throw InputError(fmt::format("{}: {}", label_, why)); }

private:
    [[nodiscard]] std::string own_choice() const {
        return fmt::format("; --set load[{}].file=FILE takes any", number_);
    }

    [[nodiscard]] std::vector<std::string> parts_below() const {
        std::vector<std::string> parts;
        const fs::path path(entry_.file);
        for (const fs::path& part : path) {
            if (part == "." || part.empty()) continue;
            if (path.is_absolute() || part.native().starts_with('.')) {
                refuse(
                    fmt::format("must be below the scene's folder, with no part that begins with a dot, not \"{}\"{}",
                                entry_.file, own_choice()));
            }
            parts.push_back(part.native());
        }
        if (parts.empty()) refuse(fmt::format("must be a file, not \"{}\"", entry_.file));
        return parts;
    }

    void require_regular(BallFile& file) const {
        struct stat status {};
        if (::fstat(file.descriptor.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
            refuse(fmt::format("{} is not a regular file", file.path));
        }
        file.bytes = static_cast<std::uint64_t>(status.st_size);
    }

    const LoadEntry& entry_;
    std::string label_;
    std::size_t number_;
    SharedInputs* shared_;
};

struct BallFormat {
    std::string_view endings[3];
    /// Of a text; null: it is HDF5.
    void (*read)(TextLines& lines, BallCollector& collector) = nullptr;
};

/// By their places in the choices of load.format.
constexpr BallFormat kFormats[] = {{{".csv"}, read_csv},
                                   {{".xyz", ".extxyz"}, read_xyz},
                                   {{".lammpstrj", ".dump"}, read_lammps_dump},
                                   {{".h5", ".h5md", ".hdf5"}},
                                   {{".data", ".lmp"}, read_lammps_data}};

const BallFormat& format_of(const LoadEntry& entry, const Opener& opener) {
    if (entry.format) return kFormats[*entry.format];
    for (const BallFormat& format : kFormats) {
        for (const std::string_view ending : format.endings) {
            if (!ending.empty() && entry.file.ends_with(ending)) return format;
        }
    }
    opener.refuse(fmt::format("\"{}\" does not say by its ending what it is; load.format must be {}", entry.file,
                              allowed_text(*find_key("load", "format"), 0)));
}

/// For a reader that closes its own.
int one_more_of(const BallFile& file) {
    const int other = ::fcntl(file.descriptor.get(), F_DUPFD_CLOEXEC, 0);
    if (other < 0) throw SystemError(fmt::format("{}: cannot be read: {}", file.path, std::strerror(errno)));
    return other;
}

void read_trajectory(const BallFile& file, BallCollector& collector) {
    const LoadEntry& entry = collector.entry();
    const TrajectoryReader reader(file.path, one_more_of(file));
    const TrajectoryHeader& header = reader.header();
    const auto fail = [&](const std::string& why) { throw InputError(fmt::format("{}: {}", file.path, why)); };
    if (header.dimension() != collector.dimension()) {
        fail(fmt::format("is of {} dimensions, and the scene has {}", header.dimension(), collector.dimension()));
    }
    if (reader.frame_count() == 0) fail("holds no frame");
    const std::size_t index = entry.time ? reader.frame_at(*entry.time) : reader.frame_count() - 1;
    Frame frame;
    reader.read(index, frame);
    collector.begin_frame(frame.time);
    collector.expect(static_cast<double>(frame.size()));
    const auto stores = [&](std::string_view field) {
        return std::ranges::find(header.fields, field) != header.fields.end();
    };
    if (!stores("position")) fail("its frames hold no positions");
    for (std::size_t id = 0; id < frame.size(); ++id) {
        if (frame.gone[id] != 0) continue;
        BallRow row;
        const auto vector = [&](const std::array<std::vector<double>, 3>& of, Vector3& to) {
            for (std::size_t axis = 0; axis < 3; ++axis) to[axis] = of[axis].empty() ? 0.0 : of[axis][id];
        };
        vector(frame.position, row.position);
        if (stores("velocity")) vector(frame.velocity, row.velocity);
        if (stores("spin")) vector(frame.spin, row.spin);
        const Species& species = header.species_table[header.species[id]];
        row.radius = species.radius;
        row.mass = species.mass;
        row.properties = &species;
        row.species = species.name;
        row.at = id;
        try {
            collector.add(row);
        } catch (const BadBall& bad) {
            fail(fmt::format("ball {}: {}: {}", id, bad.name, bad.message));
        }
    }
}

/// Of carom, or of another program.
void read_hdf5(const BallFile& file, BallCollector& collector) {
    if (!read_h5md(file.path, one_more_of(file), collector)) read_trajectory(file, collector);
}

std::shared_ptr<const LoadedBalls> read_balls(const Scene& scene, std::size_t number, bool typed,
                                              SharedInputs* shared) {
    const LoadEntry& entry = scene.loads[number];
    const Opener opener(scene, number, shared);
    BallFile file;
    if (entry.overridden && typed) {
        opener.open_any(file);
    } else {
        opener.open_below(fs::path(scene.path).parent_path().string(), file);
    }
    opener.require_as_before(file);
    const BallFormat& format = format_of(entry, opener);
    auto loaded = std::make_shared<LoadedBalls>();
    loaded->path = file.path;
    loaded->bytes = file.bytes;
    loaded->text = format.read != nullptr;
    if (loaded->text && !entry.group.empty()) {
        throw InputError(fmt::format("{}: {} is no H5MD, and has no groups",
                                     scene.label(fmt::format("load[{}].group", number)), file.path));
    }
    try {
        BallCollector collector(scene, number, *loaded);
        if (loaded->text) {
            TextLines lines(file.descriptor.get(), file.path, file.bytes);
            format.read(lines, collector);
            loaded->checksum = lines.checksum();
        } else {
            static std::mutex alone;  // runs of a sweep begin side by side, and HDF5 knows no threads
            const std::lock_guard lock(alone);
            read_hdf5(file, collector);
        }
        opener.require_as_before(file);
        collector.finish();
    } catch (const std::bad_alloc&) {
        throw SystemError(fmt::format("{}: its balls take more memory than there is", file.path));
    }
    return loaded;
}

}  // namespace

void SharedInputs::require_as_before(const std::string& path, const struct stat& status) {
    const Stamp now{.device = status.st_dev,
                    .inode = status.st_ino,
                    .bytes = status.st_size,
                    .seconds = status.st_mtim.tv_sec,
                    .nanoseconds = status.st_mtim.tv_nsec};
    const std::lock_guard lock(mutex_);
    if (stamps_.emplace(path, now).first->second != now) {
        throw InputError(path + " has been changed since the first run read it");
    }
}

std::vector<std::string> SharedInputs::paths() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> paths;
    for (const auto& [path, stamp] : stamps_) paths.push_back(path);
    return paths;
}

BallReader ball_reader(bool typed, SharedInputs* shared) {
    return [typed, shared](const Scene& scene, std::size_t number) { return read_balls(scene, number, typed, shared); };
}

}  // namespace carom
