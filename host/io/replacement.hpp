#pragma once

#include <string>

namespace carom {

/// A file that takes its place only when it is whole: it is written under a temporary name in the same folder, and
/// renamed. Until then an older file of that name is untouched.
class Replacement {
public:
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
