#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "host/scene/load.hpp"

namespace carom {

/// Files that several runs read, each for itself: all of them must find there what the first one found.
class SharedInputs {
public:
    /// \throws InputError  the file is another than it was when this was asked last; the words only, without a place
    void require_as_before(const std::string& path, const struct stat& status);
    /// All that have been read.
    [[nodiscard]] std::vector<std::string> paths() const;

private:
    struct Stamp {
        std::uint64_t device = 0, inode = 0;
        std::int64_t bytes = 0, seconds = 0, nanoseconds = 0;  // of the last change of its content
        bool operator==(const Stamp&) const = default;
    };
    mutable std::mutex mutex_;  // runs begin side by side
    std::map<std::string, Stamp> stamps_;
};

/// Reads the files of [[load]]: tables as text, and frames of trajectories.
///
/// A scene may be a stranger's, and names only files below its own folder: no absolute name, no `..`, no name that
/// begins with a dot, no link on the way, nothing but regular files. A name that the one who runs carom gave on the
/// command line is any regular file, from the working folder on. \param typed  whether overrides were; those of a
/// sweep's file are a stranger's
/// \param shared  by other runs that read the same files; null: there are none. It must outlive the reader
BallReader ball_reader(bool typed, SharedInputs* shared = nullptr);

}  // namespace carom
