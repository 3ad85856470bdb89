#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "host/state/errors.hpp"

namespace carom {

/// Where a file of this name lies: at the end of its symbolic links, whether or not there is such a file yet.
/// \throws SystemError  links in a circle
std::string target_of(const std::string& path);

/// A name that nobody gave, for a file that is to be written: who made a link of it may lead it anywhere.
/// \throws InputError  it is a link to a file that is not there
std::string unled(const std::string& path);

/// Whether two names lead to the same file, or would if there was one.
bool same_file(const std::string& one, const std::string& other);

/// Whether a run of carom is writing the file at this moment. False where the file system knows no locks.
bool is_being_written(const std::string& path);
/// The same of a file that is open. It is begun anew each time, so one that is not will not be.
bool has_writer(int descriptor);

/// What the writer of a file that is changed in place tells its readers in other processes.
struct WriterState {
    /// A part that readers may look at is being written over.
    bool overwrites = false;
    /// How often what the parts refer to each other by began to get, or has got, another shape: odd while it does.
    std::uint64_t shape = 0;

    bool operator==(const WriterState&) const = default;
};

/// What Replacement::tell() said last. Nothing, where a file is not being written or its system knows no locks.
WriterState told_by_writer(int descriptor);

/// \throws InputError  an output is one of the inputs, whatever it is called; empty names are of no file
void require_no_input(std::span<const std::string> outputs, std::span<const std::string> inputs);

/// A file may be written under this name: there is none yet, or a regular one that may be replaced.
/// \param advice  what the user may do about a file that exists
/// \throws InputError  there is a file, and `force` is not given; or something that is no file (a pipe, a device)
void require_replaceable(const std::string& path, bool force, const std::string& advice = "--force overwrites it");

/// Writes the file that follows on `earlier` ones of the same command, which stay if it cannot be written.
/// \throws SystemError  as `write`, with how many there are already
template <class Write>
void keep_earlier(std::size_t earlier, const Write& write) {
    try {
        write();
    } catch (const SystemError& error) {
        if (earlier == 0) throw;
        const std::string kept =
            earlier == 1 ? "file before it was kept" : std::to_string(earlier) + " files before it were kept";
        throw SystemError(std::string(error.what()) + "; the " + kept);
    }
}

struct PartialFile;  // what remove_partial_files() knows of one

/// Removes what has been begun of files that are not whole, of this process. Only for one that ends at once: may be
/// called at any moment, in a handler of signals too.
void remove_partial_files() noexcept;

/// A name that remove_partial_files() removes besides, while this is there: of a file, or of a folder that these files
/// are all of.
class PassingName {
public:
    explicit PassingName(const std::string& path);
    ~PassingName();
    PassingName(const PassingName&) = delete;
    PassingName& operator=(const PassingName&) = delete;

private:
    PartialFile* known_;
};

/// A file that takes its place only when it is whole: it is written under another name in the same folder,
/// NAME.carom-partial, and renamed. Until then an older file of that name is untouched. As long as it is there, under
/// either name, no other process of carom writes a file of that name.
class Replacement {
public:
    /// Creates the temporary file. What a killed process has left under its name goes; what is not ours stays.
    /// \param replace  an older file may be replaced
    /// \throws InputError   there is something else than a regular file, or one that is being written; or any, without
    ///     `replace`
    /// \throws SystemError  it cannot be created
    explicit Replacement(const std::string& path, bool replace = true);
    /// Closes it, and removes it if it was not committed.
    ~Replacement();
    Replacement(const Replacement&) = delete;
    Replacement& operator=(const Replacement&) = delete;

    /// Where to write, for other programs.
    [[nodiscard]] const std::string& temporary() const { return temporary_; }
    /// The same, open to be read and written.
    [[nodiscard]] int descriptor() const { return descriptor_; }
    /// There is a file of this name that it would replace.
    [[nodiscard]] bool has_older() const { return has_older_; }
    [[nodiscard]] bool in_place() const { return in_place_; }
    /// Renames the file, which stays open.
    /// \param sync  syncs it before, and the folder afterwards if that may be read, so that it survives a loss of power
    /// \throws SystemError  an older file is untouched; but where in_place(), the folder alone could not be synced
    void commit(bool sync);
    void tell(const WriterState& state);

private:
    std::string path_;
    std::string temporary_;
    int descriptor_ = -1;
    PartialFile* known_ = nullptr;  ///< until it is in place
    bool has_older_ = false;
    bool in_place_ = false;
    WriterState told_;
};

/// A text or binary file, buffered, that takes its place when it is whole.
class ReplacementFile {
public:
    /// \throws InputError, SystemError  as Replacement
    explicit ReplacementFile(const std::string& path, bool replace = true);

    void write(const void* bytes, std::size_t size);
    void write(const std::string& text) { write(text.data(), text.size()); }
    /// Writes over what has been written before.
    void rewrite(std::uint64_t at, const void* bytes, std::size_t size);
    /// \param sync  as Replacement::commit
    void commit(bool sync = false);

private:
    void put(const char* bytes, std::size_t size);

    std::string path_;
    Replacement replacement_;
    std::string buffer_;
};

}  // namespace carom
