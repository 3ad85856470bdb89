#include "host/state/writer_lock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "host/state/errors.hpp"

namespace carom {

namespace {

int set_lock(int descriptor, short type) {
    struct flock range {};
    range.l_type = type;
    range.l_whence = SEEK_SET;
    range.l_start = kWriterByte;
    range.l_len = 1;
    return ::fcntl(descriptor, F_OFD_SETLK, &range);
}

}  // namespace

bool is_named(int descriptor, const std::string& path, bool follow) {
    struct stat opened {};
    struct stat named {};
    const int found = follow ? ::stat(path.c_str(), &named) : ::lstat(path.c_str(), &named);
    return ::fstat(descriptor, &opened) == 0 && found == 0 && opened.st_ino == named.st_ino &&
           opened.st_dev == named.st_dev;
}

int open_as_only_writer(const std::string& path, int how, const std::string& other) {
    constexpr mode_t kReadAndWrite = 0666;  // less the user's mask, as std::fopen
    for (;;) {
        const int descriptor = ::open(path.c_str(), how, kReadAndWrite);
        struct stat status {};
        if (descriptor < 0 || ::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return descriptor;
        const bool alone = set_lock(descriptor, F_WRLCK) == 0 || (errno != EAGAIN && errno != EACCES);
        if (alone && is_named(descriptor, path, (how & O_NOFOLLOW) == 0)) return descriptor;
        ::close(descriptor);  // and, where nobody has it, who had has removed it meanwhile
        if (!alone) throw InputError((path + ": is being written by another ").append(other));
    }
}

void unlock_as_only_writer(int descriptor) { static_cast<void>(set_lock(descriptor, F_UNLCK)); }

}  // namespace carom
