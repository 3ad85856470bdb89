#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "host/io/hdf5_turn.hpp"

/// The one place that calls HDF5 for what has no size: handles, errors, attributes, small datasets. Each of it needs an
/// Hdf5Turn.
namespace carom::h5 {

/// A call of HDF5 failed; `what()` is its innermost message. Never leaves host/io.
class Error : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// There is not enough memory for what was to be done.
class OutOfMemory : public Error {
public:
    OutOfMemory() : Error("out of memory") {}
};

/// Throws Error, with HDF5's innermost message; OutOfMemory where that says so.
[[noreturn]] void fail(const char* what);

/// HDF5 itself does not look whether it gets the little memory that it asks for (1.10.8 writes through a null pointer):
/// so there is some before it is called.
/// \param bytes  that are handed to it besides
/// \throws OutOfMemory
void require_memory(std::size_t bytes = 0);

/// Passes a result of HDF5 through if it is no error (negative). \param what  completes "cannot ..."
template <class Result>
Result check(Result result, const char* what) {
    if (result < 0) fail(what);
    return result;
}

/// Owns an identifier of HDF5.
class Handle {
public:
    Handle() = default;
    Handle(hid_t id, herr_t (*close)(hid_t), const char* what) : id_(check(id, what)), close_(close) {}
    ~Handle() { reset(); }
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    Handle& operator=(Handle&& other) noexcept {
        if (this != &other) {
            reset();
            id_ = std::exchange(other.id_, -1);
            close_ = other.close_;
        }
        return *this;
    }
    void reset() {
        if (id_ >= 0) close_(id_);
        id_ = -1;
    }
    operator hid_t() const { return id_; }  // NOLINT: as HDF5's own functions take it
    explicit operator bool() const { return id_ >= 0; }

private:
    hid_t id_ = -1;
    herr_t (*close_)(hid_t) = nullptr;
};

/// HDF5's name of a type in memory.
template <class T>
hid_t memory_type();
template <>
inline hid_t memory_type<double>() {
    return H5T_NATIVE_DOUBLE;
}
template <>
inline hid_t memory_type<float>() {
    return H5T_NATIVE_FLOAT;
}
template <>
inline hid_t memory_type<std::int32_t>() {
    return H5T_NATIVE_INT32;
}
template <>
inline hid_t memory_type<std::int64_t>() {
    return H5T_NATIVE_INT64;
}
template <>
inline hid_t memory_type<std::uint64_t>() {
    return H5T_NATIVE_UINT64;
}
template <>
inline hid_t memory_type<std::uint32_t>() {
    return H5T_NATIVE_UINT32;
}
template <>
inline hid_t memory_type<std::uint8_t>() {
    return H5T_NATIVE_UINT8;
}

Handle create_group(hid_t parent, const std::string& name);
Handle open_group(hid_t parent, const std::string& name);
Handle open_dataset(hid_t parent, const std::string& name);
[[nodiscard]] bool exists(hid_t parent, const std::string& name);
/// Whether there is a group of that name.
[[nodiscard]] bool is_group(hid_t parent, const std::string& name);
/// Of all that a group holds.
std::vector<std::string> names(hid_t group);
[[nodiscard]] bool has_attribute(hid_t object, const std::string& name);
/// A second name for an object; neither name is the first one afterwards.
void hard_link(hid_t object, hid_t group, const std::string& name);
/// Extents of a dataset.
std::vector<hsize_t> extents(hid_t dataset);
/// Reads what is selected of a dataset, or H5S_ALL of it.
/// \throws Error  a packed chunk of it does not come to what its extents say, which HDF5 itself does not look at
void read(hid_t dataset, hid_t type, hid_t in_memory, hid_t in_file, void* values);
/// How many values have such extents. \throws Error  more than there can be
std::size_t product(std::span<const hsize_t> extents);

// Attributes. Strings are of fixed length, as H5MD prefers.
void set_attribute(hid_t object, const std::string& name, const std::string& value);
void set_attribute(hid_t object, const std::string& name, std::span<const std::string> values);
void set_attribute(hid_t object, const std::string& name, double value);
void set_attribute(hid_t object, const std::string& name, std::int64_t value);
void set_attribute(hid_t object, const std::string& name, std::span<const double> values);
void set_attribute(hid_t object, const std::string& name, std::span<const std::int32_t> values);
std::string string_attribute(hid_t object, const std::string& name);
std::vector<std::string> strings_attribute(hid_t object, const std::string& name);
/// The same of other programs, which write texts of any length, too. \param most  of these
std::vector<std::string> any_strings_attribute(hid_t object, const std::string& name, std::size_t most);
double double_attribute(hid_t object, const std::string& name);
std::int64_t integer_attribute(hid_t object, const std::string& name);
std::vector<double> doubles_attribute(hid_t object, const std::string& name);

/// A dataset of one string; `capacity` bytes, if that is more than it needs, so that it can be written later.
void write_string(hid_t parent, const std::string& name, const std::string& value, std::size_t capacity = 0);
/// Overwrites such a dataset.
void rewrite_string(hid_t parent, const std::string& name, const std::string& value);
std::string read_string(hid_t parent, const std::string& name);
void write_strings(hid_t parent, const std::string& name, std::span<const std::string> values);
std::vector<std::string> read_strings(hid_t parent, const std::string& name);
/// Whether anybody has written into a dataset, or there is but room for it.
bool is_written(hid_t parent, const std::string& name);

void write_array_of(hid_t parent, const std::string& name, hid_t type, const void* values, std::size_t count);
/// Whether the file is large enough for so many values of a dataset's type: what no file can hold, nobody allocates.
[[nodiscard]] bool may_hold(hid_t dataset, std::size_t values);
/// What is read of other programs' files takes so many bytes more of memory, whatever the numbers' own size is.
/// \param object  of the file
/// \throws Error  all of it is too much for so small a file
void require_room(hid_t object, std::size_t bytes);
/// Number of values. \throws Error  if not all of them have been written
std::size_t array_size(hid_t dataset);
void read_array_of(hid_t dataset, hid_t type, void* values);

/// A dataset of one dimension that is written in parts, by whoever has them one after the other.
class ArrayInParts {
public:
    /// Creates it, for `count` values in all.
    ArrayInParts(hid_t parent, const std::string& name, hid_t type, std::size_t count);
    void write(std::size_t first, std::size_t count, const void* values);

private:
    Handle dataset_;
    hid_t type_;
    std::size_t count_;
};

/// Reads so many values from `first` on. \pre array_size() was asked for
void read_part_of(hid_t dataset, hid_t type, std::size_t first, std::size_t count, void* values);

/// A dataset of one dimension.
template <class T>
void write_array(hid_t parent, const std::string& name, const std::vector<T>& values) {
    write_array_of(parent, name, memory_type<T>(), values.data(), values.size());
}
template <class T>
std::vector<T> read_array(hid_t parent, const std::string& name) {
    const Handle dataset = open_dataset(parent, name);
    std::vector<T> values(array_size(dataset));
    read_array_of(dataset, memory_type<T>(), values.data());
    return values;
}

/// A number that follows from all that a group holds, names, types and bytes, however it is laid out in the file.
/// \param except  an attribute of the group that is left out
std::uint64_t contents_hash(hid_t group, const std::string& except);

}  // namespace carom::h5

namespace carom {

/// An HDF5 file of ours that is open to be read. Any thread may read, one at a time. It may grow meanwhile.
///
/// OrderedFile writes in an order of which each moment is a valid file, but a reader looks at many moments: what it saw
/// first is the end of the file, and what it sees then may lie beyond. So the end is asked for whenever it is needed,
/// by a driver of our own; what HDF5 remembers is dropped when the file has changed; and a read that fails is done
/// again where the file has changed since.
class ReadableFile {
public:
    using Action = std::function<void(hid_t file)>;

    /// \param kind        "trajectory of carom", "H5MD file", for messages
    /// \param descriptor  of the file, if it is open already: it becomes this object's; else -1
    /// \throws SystemError  no such file, or it may not be read
    /// \throws InputError   it is no HDF5 file
    ReadableFile(std::string path, std::string kind, int descriptor = -1);
    ~ReadableFile();
    ReadableFile(const ReadableFile&) = delete;
    ReadableFile& operator=(const ReadableFile&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    /// Runs `action`, perhaps more than once; what goes wrong in it becomes an InputError that names the file.
    /// \throws SystemError  there is not enough memory for it, its writer does not end a change that it
    ///                      has begun, or it is changed anew each time before it has been read
    void read(const Action& action) const;
    /// As read(), of one behind another: each sees the file as it was at one moment, which need not be the same for
    /// all. How much may be read of a file holds for all together.
    void read_parts(std::span<const Action> parts) const;

private:
    /// Changes whenever the file does, but for what falls into one tick of the system's clock.
    struct Version {
        std::int64_t size = 0;                                  // [bytes]
        std::int64_t seconds = 0, nanoseconds = 0;              // of the last write; programs that copy set it back
        std::int64_t noted_seconds = 0, noted_nanoseconds = 0;  // of that, or of setting it
        std::uint64_t shape = 0;                                // WriterState
        bool operator==(const Version&) const = default;
    };
    [[nodiscard]] Version version() const;
    void require_hdf5() const;
    [[noreturn]] void throw_out_of_memory() const;
    [[noreturn]] void throw_in_change() const;
    [[nodiscard]] const char* article() const { return kind_.starts_with("H5MD") ? "an" : "a"; }
    void open() const;
    /// Whether what was read since open() fits together.
    [[nodiscard]] bool consistent() const;

    std::string path_;
    std::string kind_;
    int descriptor_ = -1;
    mutable Version opened_;
    mutable bool has_writer_ = false;  // of carom, when it was opened
    mutable h5::Handle file_;
};

}  // namespace carom
