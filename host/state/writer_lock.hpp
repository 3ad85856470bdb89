#pragma once

#include <sys/types.h>

#include <string>

namespace carom {

/// Whose lock is on this byte of a file, far behind its end, writes it. Where a file system knows no locks, nobody has.
inline constexpr off_t kWriterByte = off_t{1} << 62;

/// Whether an open file still has this name. \param follow  the name may be a link that leads to it
bool is_named(int descriptor, const std::string& path, bool follow);

/// Opens a file that is written in place, and takes the place of its only writer until it is closed. What is no regular
/// file is opened only.
/// \param how    as for open(2)
/// \param other  who might write it: "run"
/// \return  a descriptor; -1, and errno, where it cannot be opened
/// \throws InputError  another has its place
int open_as_only_writer(const std::string& path, int how, const std::string& other);

/// Gives it back, before the file is closed: a child of a process of Python may have it open too.
void unlock_as_only_writer(int descriptor);

}  // namespace carom
