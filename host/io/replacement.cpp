#include "host/io/replacement.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "host/state/errors.hpp"
#include "host/state/writer_lock.hpp"

namespace carom {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kBuffer = 1u << 20;
constexpr std::string_view kPartial = ".carom-partial";  // behind the name of what is being written

[[noreturn]] void fail(const std::string& path, const char* verb) {
    throw SystemError(
        fmt::format("{}: cannot {}: {}; an older file of that name is untouched", path, verb, std::strerror(errno)));
}

/// Some file systems know no sync of folders.
bool is_synced(int descriptor) { return ::fsync(descriptor) == 0 || errno == EINVAL; }

/// The folder that a file is in, to sync it; -1 where one may write into it, but not read it.
int open_folder(const std::string& path) {
    const auto folder = fs::path(path).parent_path();
    const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0 && errno != EACCES) fail(path, "open its folder to sync it");
    return descriptor;
}

// A file that is being written has a read lock on a byte far behind its end: whoever wants to replace it looks for one,
// and readers, whose locks are of the whole file if any, are not in the way. What the writer tells has one, too, on the
// byte that lies so far behind: the lock is gone with the process, and costs readers no lock of their own. Where a file
// system knows no locks, nothing is locked.
constexpr off_t kToldFrom = kWriterByte + 1;

off_t byte_of(const WriterState& state) {
    return kToldFrom + 2 * static_cast<off_t>(state.shape) + (state.overwrites ? 1 : 0);
}

/// \param bytes  0: all that follow
struct flock lock_of(short type, off_t begin, off_t bytes) {
    struct flock range {};
    range.l_type = type;
    range.l_whence = SEEK_SET;
    range.l_start = begin;
    range.l_len = bytes;
    return range;
}

/// False where another has the byte for itself.
bool lock(int descriptor, off_t byte) {
    struct flock range = lock_of(F_RDLCK, byte, 1);
    return ::fcntl(descriptor, F_OFD_SETLK, &range) == 0 || (errno != EAGAIN && errno != EACCES);
}

void unlock(int descriptor, off_t begin, off_t bytes) {
    struct flock range = lock_of(F_UNLCK, begin, bytes);
    static_cast<void>(::fcntl(descriptor, F_OFD_SETLK, &range));
}

/// The first byte that another has locked, from `begin` on.
std::optional<off_t> first_locked(int descriptor, off_t begin, off_t bytes) {
    struct flock range = lock_of(F_WRLCK, begin, bytes);
    if (::fcntl(descriptor, F_OFD_GETLK, &range) != 0 || range.l_type == F_UNLCK) return std::nullopt;
    return std::max(range.l_start, begin);
}

[[noreturn]] void throw_being_written(const std::string& path) {
    throw InputError(path + ": is being written by another run");
}

/// Removes what a killed process has left: as its only writer, so that no other takes it for left as well, and then
/// removes what the first has begun in its place.
void remove_left(const std::string& temporary, const std::string& path) {
    struct stat status {};
    if (::lstat(temporary.c_str(), &status) != 0) return;
    int descriptor = -1;
    if (S_ISREG(status.st_mode) && status.st_uid == ::geteuid()) {
        try {
            descriptor = open_as_only_writer(temporary, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, "run");
        } catch (const InputError&) {
            throw_being_written(path);
        }
        if (descriptor < 0 && errno == ENOENT) return;
    }
    if (descriptor < 0) {
        throw InputError(temporary + ": is in the way, and no file that a run of yours has left; remove it");
    }
    ::unlink(temporary.c_str());
    ::close(descriptor);
}

/// Nobody else writes under this name any more.
int create_locked(const std::string& temporary, const std::string& path) {
    constexpr int kTimes = 100;  // others may come in between
    for (int time = 0; time < kTimes; ++time) {
        const int descriptor = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (descriptor >= 0) {
            // Else somebody takes it for one that was left, or has.
            if (lock(descriptor, kWriterByte) && is_named(descriptor, temporary, false)) return descriptor;
            ::close(descriptor);
        } else if (errno == EEXIST) {
            remove_left(temporary, path);
        } else {
            throw SystemError(fmt::format("{}: cannot be created: {}", path, std::strerror(errno)));
        }
    }
    throw_being_written(path);
}

/// Renames, but not over another file. Returns as rename does.
int rename_to_new(const char* from, const char* to) {
    if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return -1;
    struct stat status {};  // a file system that cannot
    if (::lstat(to, &status) == 0) {
        errno = EEXIST;
        return -1;
    }
    return ::rename(from, to);
}

}  // namespace

/// A handler of signals can reach nothing but a global, and what it looks at must not go meanwhile. So the names stand
/// here, and one that a handler has got hold of is never given back.
struct PartialFile {
    enum State { kFree, kTaken, kThere, kRemoved };
    std::atomic<int> state = kFree;
    pid_t process = 0;  ///< whose it is, for children of Python have these names too
    std::array<char, PATH_MAX> name{};
};

namespace {

/// More at a time than any command writes; of one beyond them, a signal would leave what there is.
std::array<PartialFile, 16> partial_files;

/// Signals that end the program wait in this thread, so that none comes between a file and the note of it.
class SignalsHeld {
public:
    SignalsHeld() {
        sigset_t held;
        sigemptyset(&held);
        for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&held, number);
        pthread_sigmask(SIG_BLOCK, &held, &before_);
    }
    ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsHeld(const SignalsHeld&) = delete;
    SignalsHeld& operator=(const SignalsHeld&) = delete;

private:
    sigset_t before_{};
};

PartialFile* note_partial(const std::string& temporary) {
    if (temporary.size() >= PATH_MAX) return nullptr;
    for (PartialFile& file : partial_files) {
        int expected = PartialFile::kFree;
        if (!file.state.compare_exchange_strong(expected, PartialFile::kTaken)) continue;
        file.process = ::getpid();
        std::memcpy(file.name.data(), temporary.c_str(), temporary.size() + 1);
        file.state = PartialFile::kThere;
        return &file;
    }
    return nullptr;
}

void forget_partial(PartialFile* file) {
    int expected = PartialFile::kThere;
    if (file != nullptr) file->state.compare_exchange_strong(expected, PartialFile::kFree);
}

}  // namespace

void remove_partial_files() noexcept {
    for (PartialFile& file : partial_files) {
        int expected = PartialFile::kThere;
        if (!file.state.compare_exchange_strong(expected, PartialFile::kRemoved)) continue;
        if (file.process == ::getpid()) ::unlink(file.name.data());
    }
    for (const PartialFile& file : partial_files) {  // folders, which are empty now
        if (file.state == PartialFile::kRemoved && file.process == ::getpid()) ::rmdir(file.name.data());
    }
}

PassingName::PassingName(const std::string& path) : known_(note_partial(path)) {}

PassingName::~PassingName() { forget_partial(known_); }

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

std::string unled(const std::string& path) {
    std::error_code error;
    if (fs::is_symlink(fs::symlink_status(path, error)) && !fs::exists(path, error)) {
        throw InputError(path + ": is a link to a file that is not there, and nobody gave this name; name another");
    }
    return path;
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

void require_no_input(std::span<const std::string> outputs, std::span<const std::string> inputs) {
    for (const std::string& output : outputs) {
        for (const std::string& input : inputs) {
            if (output.empty() || input.empty() || !same_file(output, input)) continue;
            throw InputError(output + ": is the input, and would be overwritten; name another file");
        }
    }
}

bool is_being_written(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return false;
    const bool locked = has_writer(descriptor);
    ::close(descriptor);
    return locked;
}

bool has_writer(int descriptor) { return first_locked(descriptor, kWriterByte, 1).has_value(); }

WriterState told_by_writer(int descriptor) {
    const auto number = first_locked(descriptor, kToldFrom, 0).value_or(kToldFrom) - kToldFrom;
    return {number % 2 == 1, static_cast<std::uint64_t>(number / 2)};
}

void require_replaceable(const std::string& path, bool force, const std::string& advice) {
    if (path.ends_with(kPartial)) {
        throw InputError(
            fmt::format("{}: so a file is called that is not whole yet, {}; name another", path, kPartial));
    }
    if (fs::path(path).filename().native().size() + kPartial.size() > NAME_MAX) {
        throw InputError(
            fmt::format("{}: the name is too long; {} bytes are the most", path, NAME_MAX - kPartial.size()));
    }
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return;
    if (S_ISDIR(status.st_mode)) throw InputError(path + ": is a folder; name a file");
    if (!S_ISREG(status.st_mode)) throw InputError(path + ": exists and is not a regular file");
    if (!force) throw InputError(path + ": exists already; " + advice);
}

// Through a symbolic link: the link stays, and its target is replaced.
Replacement::Replacement(const std::string& path, bool replace) : path_(target_of(path)) {
    require_replaceable(path, replace);
    if (is_being_written(path_)) throw_being_written(path);
    temporary_ = path_ + std::string(kPartial);  // always the same name, so that what a killed process left goes
    const SignalsHeld held;
    descriptor_ = create_locked(temporary_, path);
    // Whoever had that name before may have put a file in place meanwhile, and go on writing it. From now on none can.
    try {
        require_replaceable(path, replace);
        if (is_being_written(path_)) throw_being_written(path);
    } catch (const InputError&) {
        ::unlink(temporary_.c_str());
        ::close(descriptor_);
        throw;
    }
    struct stat status {};
    has_older_ = ::stat(path_.c_str(), &status) == 0;
    known_ = note_partial(temporary_);
}

Replacement::~Replacement() {
    // First it goes, then its locks: that it is closed would do, were there not children of a process of Python that
    // have it open too.
    if (!in_place_ && is_named(descriptor_, temporary_, false)) ::unlink(temporary_.c_str());
    forget_partial(known_);
    unlock(descriptor_, kWriterByte, 0);
    ::close(descriptor_);
}

void Replacement::commit(bool sync) {
    if (sync && !is_synced(descriptor_)) fail(path_, "sync");
    if (!is_named(descriptor_, temporary_, false)) {  // where a system knows no locks, another's, half written
        throw SystemError(path_ + ": somebody has removed what was written of it; an older file is untouched");
    }
    // Opened before the older file goes, as what fails then leaves it.
    const int folder = sync ? open_folder(path_) : -1;
    const std::unique_ptr<const int, void (*)(const int*)> close_folder(&folder, [](const int* open) {
        if (*open >= 0) ::close(*open);
    });
    const int status =
        has_older_ ? ::rename(temporary_.c_str(), path_.c_str()) : rename_to_new(temporary_.c_str(), path_.c_str());
    if (status != 0) fail(path_, "rename into place");
    in_place_ = true;
    forget_partial(std::exchange(known_, nullptr));
    if (folder >= 0 && !is_synced(folder)) {
        throw SystemError(
            fmt::format("{}: is written, but its folder cannot be synced: {}", path_, std::strerror(errno)));
    }
}

void Replacement::tell(const WriterState& state) {
    if (state == told_) return;
    // Of two locks readers see the one that lies lower, until it goes.
    static_cast<void>(lock(descriptor_, byte_of(state)));
    unlock(descriptor_, byte_of(told_), 1);
    told_ = state;
}

ReplacementFile::ReplacementFile(const std::string& path, bool replace) : path_(path), replacement_(path, replace) {
    buffer_.reserve(kBuffer);
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
        const ssize_t written = ::write(replacement_.descriptor(), bytes, size);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail(path_, "write");
        bytes += written;
        size -= static_cast<std::size_t>(written);
    }
}

void ReplacementFile::rewrite(std::uint64_t at, const void* bytes, std::size_t size) {
    put(buffer_.data(), buffer_.size());
    buffer_.clear();
    const off_t end = ::lseek(replacement_.descriptor(), 0, SEEK_CUR);
    if (end < 0 || ::lseek(replacement_.descriptor(), static_cast<off_t>(at), SEEK_SET) < 0) fail(path_, "write");
    put(static_cast<const char*>(bytes), size);
    if (::lseek(replacement_.descriptor(), end, SEEK_SET) < 0) fail(path_, "write");
}

void ReplacementFile::commit(bool sync) {
    put(buffer_.data(), buffer_.size());
    buffer_.clear();
    // Some file systems notice only when a descriptor is closed that the disk is full.
    if (::close(::dup(replacement_.descriptor())) != 0) fail(path_, "write");
    replacement_.commit(sync);
}

}  // namespace carom
