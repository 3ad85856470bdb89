#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace carom {

/// Whose lock is on this byte of a file, far behind its end, writes it. Where a file system knows no locks, nobody has.
inline constexpr off_t kWriterByte = off_t{1} << 62;

namespace detail {

inline int lock_writer_byte(int descriptor, short type) {
    struct flock range {};
    range.l_type = type;
    range.l_whence = SEEK_SET;
    range.l_start = kWriterByte;
    range.l_len = 1;
    return ::fcntl(descriptor, F_OFD_SETLK, &range);
}

}  // namespace detail

/// Takes the place of the only writer of an open file, until it is closed. False where another has it; true where the
/// file system knows no locks.
inline bool lock_as_only_writer(int descriptor) {
    return detail::lock_writer_byte(descriptor, F_WRLCK) == 0 || (errno != EAGAIN && errno != EACCES);
}

/// Gives it back, before the file is closed: a child of a process of Python may have it open too.
inline void unlock_as_only_writer(int descriptor) { static_cast<void>(detail::lock_writer_byte(descriptor, F_UNLCK)); }

}  // namespace carom
