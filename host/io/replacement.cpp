#include "host/io/replacement.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "host/state/errors.hpp"

namespace carom {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kBuffer = 1u << 20;

[[noreturn]] void fail(const std::string& path, const char* verb) {
    throw SystemError(
        fmt::format("{}: cannot {}: {}; an older file of that name is untouched", path, verb, std::strerror(errno)));
}

void sync_path(const std::string& path, int flags, const std::string& name) {
    const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC);
    if (descriptor < 0) fail(name, "open to sync");
    const int status = ::fsync(descriptor);
    const int error = errno;
    ::close(descriptor);
    errno = error;
    // Some file systems know no sync of folders.
    if (status != 0 && error != EINVAL) fail(name, "sync");
}

}  // namespace

std::string target_of(const std::string& path) {
    constexpr int kMostLinks = 40;  // as the system has it
    std::error_code error;
    fs::path target = path;
    for (int links = 0; fs::is_symlink(fs::symlink_status(target, error)); ++links) {
        if (links == kMostLinks) throw SystemError(fmt::format("{}: symbolic links without an end", path));
        target = target.parent_path() / fs::read_symlink(target, error);
        if (error) throw SystemError(fmt::format("{}: cannot be followed: {}", path, error.message()));
    }
    return target.string();
}

bool same_file(const std::string& one, const std::string& other) {
    std::error_code error;
    if (fs::equivalent(one, other, error)) return true;
    const auto place = [&error](const std::string& path) {
        return fs::weakly_canonical(fs::absolute(target_of(path), error), error);
    };
    const fs::path place_of_one = place(one);
    return !place_of_one.empty() && place_of_one == place(other);
}

void require_replaceable(const std::string& path, bool force, const std::string& advice) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return;
    if (S_ISDIR(status.st_mode)) throw InputError(path + ": is a folder; name a file");
    if (!S_ISREG(status.st_mode)) throw InputError(path + ": exists and is not a regular file");
    if (!force) throw InputError(path + ": exists already; " + advice);
}

// Through a symbolic link: the link stays, and its target is replaced.
Replacement::Replacement(const std::string& path) : path_(target_of(path)) {
    require_replaceable(path, true);
    temporary_ = path_ + ".partial";  // always the same name, so that what a killed process left is used again
}

Replacement::~Replacement() {
    if (!committed_) ::unlink(temporary_.c_str());
}

void Replacement::commit(bool sync) {
    if (sync) sync_path(temporary_, O_RDONLY, path_);
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail(path_, "rename into place");
    committed_ = true;
    if (!sync) return;
    const auto folder = fs::path(path_).parent_path();
    sync_path(folder.empty() ? "." : folder.string(), O_RDONLY | O_DIRECTORY, path_);
}

ReplacementFile::ReplacementFile(const std::string& path) : path_(path), replacement_(path) {
    descriptor_ = ::open(replacement_.temporary().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail(path_, "create");
    buffer_.reserve(kBuffer);
}

ReplacementFile::~ReplacementFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

void ReplacementFile::write(const void* bytes, std::size_t size) {
    if (buffer_.size() + size > kBuffer) {
        put(buffer_.data(), buffer_.size());
        buffer_.clear();
    }
    if (size > kBuffer) {
        put(static_cast<const char*>(bytes), size);
    } else {
        buffer_.append(static_cast<const char*>(bytes), size);
    }
}

void ReplacementFile::put(const char* bytes, std::size_t size) {
    while (size > 0) {
        const ssize_t written = ::write(descriptor_, bytes, size);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail(path_, "write");
        bytes += written;
        size -= static_cast<std::size_t>(written);
    }
}

void ReplacementFile::commit() {
    put(buffer_.data(), buffer_.size());
    buffer_.clear();
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (::close(descriptor) != 0) fail(path_, "write");  // where some file systems notice that the disk is full
    replacement_.commit(false);
}

}  // namespace carom
