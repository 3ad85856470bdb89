#pragma once

#include <string>

namespace carom {

/// Where a file of this name lies: at the end of its symbolic links, whether or not there is such a file yet.
/// \throws SystemError  links in a circle
std::string target_of(const std::string& path);

/// Whether two names lead to the same file, or would if there was one.
bool same_file(const std::string& one, const std::string& other);

/// A file may be written under this name: there is none yet, or a regular one that may be replaced.
/// \param advice  what the user may do about a file that exists
/// \throws InputError  there is a file, and `force` is not given; or something that is no file (a pipe, a device)
void require_replaceable(const std::string& path, bool force, const std::string& advice = "--force overwrites it");

/// A file that takes its place only when it is whole: it is written under a temporary name in the same folder, and
/// renamed. Until then an older file of that name is untouched.
class Replacement {
public:
    /// \throws InputError  there is something else than a regular file
    explicit Replacement(const std::string& path);
    /// Removes the temporary file, if it was not committed.
    ~Replacement();
    Replacement(const Replacement&) = delete;
    Replacement& operator=(const Replacement&) = delete;

    /// Where to write.
    [[nodiscard]] const std::string& temporary() const { return temporary_; }
    /// Renames the temporary file.
    /// \param sync  syncs the file before, and the folder afterwards, so that it survives a loss of power
    /// \throws SystemError
    void commit(bool sync);

private:
    std::string path_;
    std::string temporary_;
    bool committed_ = false;
};

/// A text or binary file, buffered, that takes its place when it is whole.
class ReplacementFile {
public:
    /// \throws SystemError  the file cannot be created
    explicit ReplacementFile(const std::string& path);
    ~ReplacementFile();
    ReplacementFile(const ReplacementFile&) = delete;
    ReplacementFile& operator=(const ReplacementFile&) = delete;

    void write(const void* bytes, std::size_t size);
    void write(const std::string& text) { write(text.data(), text.size()); }
    void commit();

private:
    void put(const char* bytes, std::size_t size);

    std::string path_;
    Replacement replacement_;
    int descriptor_ = -1;
    std::string buffer_;
};

}  // namespace carom
