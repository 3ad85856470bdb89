#include "host/io/hdf5.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>

#include "host/io/replacement.hpp"
#include "host/state/errors.hpp"
#include "host/state/hash.hpp"
#include "host/state/text.hpp"

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

namespace carom::h5 {

namespace {

Handle scalar_space() { return {H5Screate(H5S_SCALAR), H5Sclose, "create a dataspace"}; }

Handle line_space(std::size_t count) {
    const hsize_t size = count;
    return {H5Screate_simple(1, &size, nullptr), H5Sclose, "create a dataspace"};
}

/// Strings of at most `length` bytes, UTF-8, padded with zeros. HDF5 knows no strings of length 0.
Handle string_type(std::size_t length) {
    Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "create a string type");
    check(H5Tset_size(type, std::max<std::size_t>(length, 1)), "set the length of a string type");
    check(H5Tset_strpad(type, H5T_STR_NULLPAD), "set the padding of a string type");
    check(H5Tset_cset(type, H5T_CSET_UTF8), "set the encoding of a string type");
    return type;
}

std::size_t longest(std::span<const std::string> values) {
    std::size_t length = 1;
    for (const std::string& value : values) length = std::max(length, value.size());
    return length;
}

/// Strings one after the other, each in `length` bytes.
std::vector<char> pack(std::span<const std::string> values, std::size_t length) {
    std::vector<char> bytes(std::max<std::size_t>(values.size() * length, 1));
    for (std::size_t i = 0; i < values.size(); ++i)
        std::memcpy(bytes.data() + i * length, values[i].data(), values[i].size());
    return bytes;
}

std::vector<std::string> unpack(const std::vector<char>& bytes, std::size_t count, std::size_t length) {
    std::vector<std::string> values;
    for (std::size_t i = 0; i < count; ++i) {
        const char* begin = bytes.data() + i * length;
        values.emplace_back(begin, strnlen(begin, length));
    }
    return values;
}

void put_attribute(hid_t object, const std::string& name, hid_t type, hid_t space, const void* value) {
    const Handle attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                           "create an attribute");
    check(H5Awrite(attribute, type, value), "write an attribute");
}

Handle open_attribute(hid_t object, const std::string& name) {
    if (!has_attribute(object, name)) throw Error("attribute `" + name + "` is missing");
    return {H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose, "open an attribute"};
}

/// Number of values of an attribute or dataset, from its dataspace.
std::size_t value_count(const Handle& space) {
    std::array<hsize_t, H5S_MAX_RANK> extents{};
    const int rank = check(H5Sget_simple_extent_dims(space, extents.data(), nullptr), "read a size");
    if (H5Sget_simple_extent_type(space) == H5S_NULL) return 0;
    return product(std::span(extents).first(static_cast<std::size_t>(rank)));
}

/// \param size  of a value [bytes]
std::size_t value_count_of_attribute(hid_t attribute, std::size_t size) {
    const std::size_t count = value_count(Handle(H5Aget_space(attribute), H5Sclose, "read a dataspace"));
    constexpr std::size_t kMost = 65536;  // bytes, in this format; a damaged size must not ask for all memory
    if (count > kMost / std::max<std::size_t>(size, 1)) throw Error("an attribute is larger than any can be");
    return count;
}

std::size_t size_of(hid_t type) {
    const std::size_t size = H5Tget_size(type);
    if (size == 0) fail("read a type");
    return size;
}

/// Size of the file that an object is in.
hsize_t file_bytes(hid_t object) {
    const Handle file(H5Iget_file_id(object), H5Fclose, "find the file");
    hsize_t bytes = 0;
    check(H5Fget_filesize(file, &bytes), "read the size of the file");
    return bytes;
}

/// What has been read of a file at once [bytes]: many names may lead to one dataset, which is small enough by itself.
class Reading {
public:
    Reading() : before_(std::exchange(current, this)) {}
    ~Reading() { current = before_; }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;
    /// What was read since the last part was whole is read again.
    void again() { bytes_ = whole_; }
    void part_is_whole() { whole_ = bytes_; }
    static void add(hsize_t bytes, hsize_t of_file) {
        constexpr hsize_t kTimes = 8;  // it is looked at, hashed and read
        constexpr hsize_t kOwn = 1U << 20;
        if (current == nullptr) return;
        current->bytes_ += bytes;
        if (current->bytes_ > kTimes * of_file + kOwn)
            throw Error("its names lead to the same numbers again and again");
    }
    /// Memory for what has been read. A lattice is packed as 100 to 250, zeros as 1,000 and, of one byte, 8,000.
    static void take_room(hsize_t bytes, hsize_t of_file) {
        constexpr hsize_t kTimes = 1024;
        constexpr hsize_t kOwn = hsize_t{1} << 29;
        if (current == nullptr) return;
        current->room_ += bytes;
        if (current->room_ > kTimes * of_file + kOwn) throw Error("its numbers are packed more tightly than is read");
    }

private:
    static thread_local Reading* current;
    Reading* before_;
    hsize_t bytes_ = 0;
    hsize_t whole_ = 0;
    hsize_t room_ = 0;
};
thread_local Reading* Reading::current = nullptr;

bool is_packed(hid_t dataset) {
    const Handle properties(H5Dget_create_plist(dataset), H5Pclose, "read how a dataset is stored");
    return check(H5Pget_nfilters(properties), "read how a dataset is stored") > 0;
}

/// Number of values of a dataset whose bytes are all in the file: a damaged size must not ask for all memory.
/// A single one may be missing yet, where a writer that was killed had made room for it.
/// \param size  of a value [bytes]
std::size_t stored_count(hid_t dataset, std::size_t size) {
    constexpr std::size_t kMostUnwritten = 65536;  // bytes
    constexpr hsize_t kPackedTimes = 8;            // that numbers may take the room of the file
    const std::size_t count = value_count(Handle(H5Dget_space(dataset), H5Sclose, "read a dataspace"));
    if (count == 0 || (count == 1 && size <= kMostUnwritten)) return count;
    const hsize_t stored = H5Dget_storage_size(dataset);
    const hsize_t file = file_bytes(dataset);
    const bool packed = is_packed(dataset);
    if (stored > file || stored == 0 || (!packed && stored / size < count)) {
        throw Error("a dataset holds less than its extent says");
    }
    if (packed && count > kPackedTimes * (file + kMostUnwritten) / size) {
        throw Error("its numbers are packed more tightly than is read");
    }
    Reading::add(packed ? count * size / kPackedTimes : count * size, file);
    return count;
}

/// The type of a fixed-length string, and its length; Error for any other type.
std::size_t fixed_length(hid_t type) {
    if (H5Tget_class(type) != H5T_STRING || check(H5Tis_variable_str(type), "read a type") > 0) {
        throw Error("text of fixed length expected");
    }
    return size_of(type);
}

/// What a file names must lie in it: a link to another file would have that one read, or a pipe waited for.
void require_own(hid_t parent, const std::string& path) {
    H5L_info_t info{};
    check(H5Lget_info(parent, path.c_str(), &info, H5P_DEFAULT), "look up a name");
    if (info.type != H5L_TYPE_HARD) {
        throw Error("`" + path + "` is a link to something else, which is not followed");
    }
}

/// What the chunks of a dataset went through on their way into the file.
struct Packing {
    bool chunked = false;
    std::vector<hsize_t> chunk;  ///< extents
    std::size_t chunk_bytes = 0;
    std::vector<H5Z_filter_t> filters;
};

/// \throws Error  in other ways than carom and programs that write H5MD do
Packing packing_of(hid_t dataset, const std::string& name) {
    const Handle properties(H5Dget_create_plist(dataset), H5Pclose, "read how a dataset is stored");
    if (check(H5Pget_external_count(properties), "read how a dataset is stored") > 0 ||
        H5Pget_layout(properties) == H5D_VIRTUAL) {
        throw Error("the numbers of `" + name + "` lie in another file, which is not read");
    }
    Packing packing;
    packing.chunked = H5Pget_layout(properties) == H5D_CHUNKED;
    if (!packing.chunked) return packing;
    const int filters = check(H5Pget_nfilters(properties), "read how a dataset is stored");
    for (int k = 0; k < filters; ++k) {
        unsigned flags = 0;
        std::size_t values = 0;
        const H5Z_filter_t filter =
            H5Pget_filter2(properties, static_cast<unsigned>(k), &flags, &values, nullptr, 0, nullptr, nullptr);
        const bool known =
            filter == H5Z_FILTER_DEFLATE || filter == H5Z_FILTER_SHUFFLE || filter == H5Z_FILTER_FLETCHER32;
        // A filter makes a thousand bytes of one, and one behind another a million.
        if (!known || std::ranges::count(packing.filters, filter) > 0) {
            throw Error("the numbers of `" + name +
                        "` are packed in a way that is not read; shuffle, deflate and fletcher32 are, once each");
        }
        packing.filters.push_back(filter);
    }
    // A chunk is unpacked whole, for a single number of it. The largest of carom's own have 6 MB.
    constexpr hsize_t kMost = 64U << 20;  // bytes
    std::array<hsize_t, H5S_MAX_RANK> chunk{};
    const int rank = check(H5Pget_chunk(properties, H5S_MAX_RANK, chunk.data()), "read how a dataset is stored");
    packing.chunk.assign(chunk.begin(), chunk.begin() + rank);
    const Handle type(H5Dget_type(dataset), H5Tclose, "read a type");
    hsize_t bytes = size_of(type);
    for (const hsize_t extent : packing.chunk) bytes = std::min(bytes, kMost + 1) * std::min(extent, kMost + 1);
    if (bytes > kMost && filters > 0)
        throw Error("the numbers of `" + name + "` are packed in larger pieces than any are");
    packing.chunk_bytes = bytes;
    return packing;
}

/// Whether that unpacks to so many bytes. HDF5 lets it come to any number, and reads on behind fewer.
bool inflates_to(std::span<const unsigned char> packed, std::size_t bytes) {
    z_stream stream{};
    if (inflateInit(&stream) != Z_OK) throw OutOfMemory();
    const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
    stream.next_in = const_cast<unsigned char*>(packed.data());  // NOLINT: of a version of zlib that knows no const
    stream.avail_in = static_cast<unsigned>(packed.size());
    std::vector<unsigned char> part(std::min<std::size_t>(bytes + 1, 1U << 16));
    int state = Z_OK;
    while (state == Z_OK && stream.total_out <= bytes) {
        stream.next_out = part.data();
        stream.avail_out = static_cast<unsigned>(part.size());
        state = inflate(&stream, Z_NO_FLUSH);
    }
    return state == Z_STREAM_END && stream.total_out == bytes;
}

/// That a chunk unpacks to what its extents say.
void require_whole_chunk(hid_t dataset, const Packing& packing, const std::vector<hsize_t>& offset) {
    constexpr std::size_t kSum = 4;  // bytes of fletcher32
    hsize_t stored = 0;
    if (H5Dget_chunk_storage_size(dataset, offset.data(), &stored) < 0) {  // nothing has been written there
        H5Eclear2(H5E_DEFAULT);
        return;
    }
    if (stored > 2 * packing.chunk_bytes + kSum + 1024) throw Error("a packed piece is larger than what is in it");
    Reading::add(stored, file_bytes(dataset));
    std::vector<unsigned char> raw(stored);
    std::uint32_t skipped = 0;
    check(H5Dread_chunk(dataset, H5P_DEFAULT, offset.data(), &skipped, raw.data()), "read a chunk");
    std::size_t bytes = packing.chunk_bytes;
    bool whole = true;
    bool deflated = false;
    for (std::size_t k = 0; k < packing.filters.size(); ++k) {
        if ((skipped >> k & 1U) != 0) continue;
        if (packing.filters[k] == H5Z_FILTER_DEFLATE) {
            deflated = true;
        } else if (packing.filters[k] == H5Z_FILTER_FLETCHER32 && !deflated) {
            bytes += kSum;
        } else if (packing.filters[k] == H5Z_FILTER_FLETCHER32) {
            whole = raw.size() > kSum;
            raw.resize(raw.size() - std::min(kSum, raw.size()));
        }
    }
    whole = whole && (deflated ? inflates_to(raw, bytes) : raw.size() == bytes);
    if (!whole) throw Error("a packed piece does not come to what its extents say");
}

/// That each chunk which a selection reaches into does, and that they are not too many.
/// \param selection  of the dataset, or H5S_ALL
void require_whole_chunks(hid_t dataset, hid_t selection) {
    const Packing packing = packing_of(dataset, "");  // which has been opened, and so is as it may be
    if (!packing.chunked || product(extents(dataset)) == 0) return;
    const Handle all(H5Dget_space(dataset), H5Sclose, "read a dataspace");
    const std::size_t rank = packing.chunk.size();
    std::vector<hsize_t> first(rank, 0);
    std::vector<hsize_t> last(rank, 0);
    check(H5Sget_select_bounds(selection == H5S_ALL ? hid_t{all} : selection, first.data(), last.data()),
          "read a selection");
    // Of each HDF5 remembers some thousand bytes, of which it may have a few in the file.
    constexpr double kFew = 4096.0;
    constexpr double kBytes = 256.0;
    double chunks = 1.0;
    for (std::size_t k = 0; k < rank; ++k) {
        first[k] -= first[k] % packing.chunk[k];
        const hsize_t along = (last[k] - first[k]) / packing.chunk[k] + 1;
        chunks *= static_cast<double>(along);
    }
    if (chunks > kFew + static_cast<double>(file_bytes(dataset)) / kBytes) {
        throw Error("its numbers lie in more pieces than any do");
    }
    if (packing.filters.empty()) return;
    std::vector<hsize_t> offset = first;
    for (;;) {
        require_whole_chunk(dataset, packing, offset);
        std::size_t axis = rank;
        while (axis > 0 && (offset[axis - 1] += packing.chunk[axis - 1]) > last[axis - 1]) {
            offset[axis - 1] = first[axis - 1];
            --axis;
        }
        if (axis == 0) return;
    }
}

struct Innermost {
    std::string text;
    bool of_memory = false;
};

herr_t keep_innermost(unsigned depth, const H5E_error2_t* error, void* into) {
    auto& innermost = *static_cast<Innermost*>(into);
    try {
        if (depth > 0) return 0;
        innermost.of_memory =
            error->maj_num == H5E_RESOURCE && (error->min_num == H5E_NOSPACE || error->min_num == H5E_CANTALLOC);
        if (error->desc != nullptr) innermost.text = error->desc;
    } catch (const std::bad_alloc&) {  // must not pass through HDF5
        innermost.of_memory = true;
    }
    return 0;
}

}  // namespace

void fail(const char* what) {
    Innermost innermost;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, &innermost);
    H5Eclear2(H5E_DEFAULT);
    if (innermost.of_memory) throw OutOfMemory();
    throw Error(std::string("cannot ") + what + (innermost.text.empty() ? "" : ": HDF5: " + innermost.text));
}

void require_memory(std::size_t bytes) {
    constexpr std::size_t kOwn = 4U << 20;  // chunks, buffers for conversion, lists
    const std::size_t size = 2 * bytes + kOwn;
    void* const probe =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (probe == MAP_FAILED) throw OutOfMemory();
    ::munmap(probe, size);
}

Handle create_group(hid_t parent, const std::string& name) {
    return {H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, "create a group"};
}

Handle open_group(hid_t parent, const std::string& name) {
    if (!exists(parent, name)) throw Error("group `" + name + "` is missing");
    require_own(parent, name);
    return {H5Gopen2(parent, name.c_str(), H5P_DEFAULT), H5Gclose, "open a group"};
}

Handle open_dataset(hid_t parent, const std::string& name) {
    if (!exists(parent, name)) throw Error("dataset `" + name + "` is missing");
    require_own(parent, name);
    Handle dataset(H5Dopen2(parent, name.c_str(), H5P_DEFAULT), H5Dclose, "open a dataset");
    static_cast<void>(packing_of(dataset, name));
    return dataset;
}

bool exists(hid_t parent, const std::string& name) {
    // Part by part, for HDF5 follows links on its way.
    for (std::size_t end = name.find('/', 1);; end = name.find('/', end + 1)) {
        const std::string part = name.substr(0, end);
        if (check(H5Lexists(parent, part.c_str(), H5P_DEFAULT), "look up a name") == 0) return false;
        if (end == std::string::npos) return true;
        require_own(parent, part);
    }
}

bool is_group(hid_t parent, const std::string& name) {
    if (!exists(parent, name)) return false;
    require_own(parent, name);
    const Handle object(H5Oopen(parent, name.c_str(), H5P_DEFAULT), H5Oclose, "open an object");
    return H5Iget_type(object) == H5I_GROUP;
}

namespace {

/// Of all that an object holds, from one walk through it: asked for one by one, each would take one.
struct Names {
    std::vector<std::string> found;
    bool short_of_memory = false;

    [[nodiscard]] std::vector<std::string> all() && {
        if (short_of_memory) throw OutOfMemory();
        return std::move(found);
    }
};

template <class Info>
herr_t keep_name(hid_t /*object*/, const char* name, const Info* /*info*/, void* into) {
    auto& names = *static_cast<Names*>(into);
    try {
        names.found.emplace_back(name);
        return 0;
    } catch (const std::bad_alloc&) {  // must not pass through HDF5
        names.short_of_memory = true;
        return 1;  // enough
    }
}

std::vector<std::string> names_of_attributes(hid_t object) {
    constexpr hsize_t kMost = 256;
    H5O_info_t info{};
    check(H5Oget_info(object, &info), "read an object");
    if (info.num_attrs > kMost) throw Error("it has more attributes than any does");
    Names names;
    check(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, &keep_name<H5A_info_t>, &names), "read an object");
    return std::move(names).all();
}

}  // namespace

std::vector<std::string> names(hid_t group) {
    constexpr hsize_t kMost = 4096;
    H5G_info_t info{};
    check(H5Gget_info(group, &info), "read a group");
    if (info.nlinks > kMost) throw Error("a group holds more than any does");
    Names names;
    check(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, &keep_name<H5L_info_t>, &names), "read a group");
    return std::move(names).all();
}

bool has_attribute(hid_t object, const std::string& name) {
    return check(H5Aexists(object, name.c_str()), "look up an attribute") > 0;
}

void hard_link(hid_t object, hid_t group, const std::string& name) {
    check(H5Olink(object, group, name.c_str(), H5P_DEFAULT, H5P_DEFAULT), "link a dataset");
}

void read(hid_t dataset, hid_t type, hid_t in_memory, hid_t in_file, void* values) {
    require_whole_chunks(dataset, in_file);
    check(H5Dread(dataset, type, in_memory, in_file, H5P_DEFAULT, values), "read a dataset");
}

std::size_t product(std::span<const hsize_t> extents) {
    constexpr hsize_t kMost = hsize_t{1} << 53;  // HDF5 lets it overflow
    if (std::ranges::count(extents, hsize_t{0}) > 0) return 0;
    hsize_t count = 1;
    for (const hsize_t extent : extents) {
        if (extent > kMost / count) throw Error("its extents are larger than any file");
        count *= extent;
    }
    return count;
}

std::vector<hsize_t> extents(hid_t dataset) {
    const Handle space(H5Dget_space(dataset), H5Sclose, "read a dataspace");
    std::vector<hsize_t> result(static_cast<std::size_t>(check(H5Sget_simple_extent_ndims(space), "read a rank")));
    check(H5Sget_simple_extent_dims(space, result.data(), nullptr), "read extents");
    return result;
}

void set_attribute(hid_t object, const std::string& name, const std::string& value) {
    const Handle type = string_type(value.size());
    put_attribute(object, name, type, scalar_space(), pack({&value, 1}, std::max<std::size_t>(value.size(), 1)).data());
}

void set_attribute(hid_t object, const std::string& name, std::span<const std::string> values) {
    const std::size_t length = longest(values);
    put_attribute(object, name, string_type(length), line_space(values.size()), pack(values, length).data());
}

void set_attribute(hid_t object, const std::string& name, double value) {
    put_attribute(object, name, H5T_NATIVE_DOUBLE, scalar_space(), &value);
}

void set_attribute(hid_t object, const std::string& name, std::int64_t value) {
    put_attribute(object, name, H5T_NATIVE_INT64, scalar_space(), &value);
}

void set_attribute(hid_t object, const std::string& name, std::span<const double> values) {
    put_attribute(object, name, H5T_NATIVE_DOUBLE, line_space(values.size()), values.data());
}

void set_attribute(hid_t object, const std::string& name, std::span<const std::int32_t> values) {
    put_attribute(object, name, H5T_NATIVE_INT32, line_space(values.size()), values.data());
}

std::vector<std::string> strings_attribute(hid_t object, const std::string& name) {
    const Handle attribute = open_attribute(object, name);
    const Handle type(H5Aget_type(attribute), H5Tclose, "read a type");
    const std::size_t length = fixed_length(type);
    const std::size_t count = value_count_of_attribute(attribute, length);
    std::vector<char> bytes(std::max<std::size_t>(count * length, 1));
    check(H5Aread(attribute, type, bytes.data()), "read an attribute");
    return unpack(bytes, count, length);
}

std::vector<std::string> any_strings_attribute(hid_t object, const std::string& name, std::size_t most) {
    const Handle attribute = open_attribute(object, name);
    const Handle type(H5Aget_type(attribute), H5Tclose, "read a type");
    if (H5Tget_class(type) != H5T_STRING || check(H5Tis_variable_str(type), "read a type") == 0) {
        return strings_attribute(object, name);
    }
    std::vector<char*> texts(value_count_of_attribute(attribute, sizeof(char*)), nullptr);
    // Each may be as long as the file.
    if (texts.size() > most) throw Error("attribute `" + name + "` has more texts than it can have");
    check(H5Aread(attribute, type, texts.data()), "read an attribute");
    std::vector<std::string> values;
    for (char* const text : texts) {
        values.emplace_back(text == nullptr ? "" : text);
        H5free_memory(text);
    }
    return values;
}

std::string string_attribute(hid_t object, const std::string& name) {
    const std::vector<std::string> values = strings_attribute(object, name);
    if (values.size() != 1) throw Error("attribute `" + name + "` is not one text");
    return values.front();
}

std::vector<double> doubles_attribute(hid_t object, const std::string& name) {
    const Handle attribute = open_attribute(object, name);
    std::vector<double> values(value_count_of_attribute(attribute, sizeof(double)));
    check(H5Aread(attribute, H5T_NATIVE_DOUBLE, values.data()), "read an attribute");
    return values;
}

double double_attribute(hid_t object, const std::string& name) {
    const std::vector<double> values = doubles_attribute(object, name);
    if (values.size() != 1) throw Error("attribute `" + name + "` is not one number");
    return values.front();
}

std::int64_t integer_attribute(hid_t object, const std::string& name) {
    const Handle attribute = open_attribute(object, name);
    if (value_count_of_attribute(attribute, sizeof(std::int64_t)) != 1)
        throw Error("attribute `" + name + "` is not one number");
    std::int64_t value = 0;
    check(H5Aread(attribute, H5T_NATIVE_INT64, &value), "read an attribute");
    return value;
}

void write_string(hid_t parent, const std::string& name, const std::string& value, std::size_t capacity) {
    const Handle type = string_type(std::max(value.size(), capacity));
    const Handle dataset(H5Dcreate2(parent, name.c_str(), type, scalar_space(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                         H5Dclose, "create a dataset");
    if (!value.empty()) rewrite_string(parent, name, value);
}

void rewrite_string(hid_t parent, const std::string& name, const std::string& value) {
    const Handle dataset = open_dataset(parent, name);
    const Handle type(H5Dget_type(dataset), H5Tclose, "read a type");
    const std::size_t length = fixed_length(type);
    if (value.size() > length) throw Error("`" + name + "` has room for " + std::to_string(length) + " bytes only");
    check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, pack({&value, 1}, length).data()), "write a dataset");
}

std::string read_string(hid_t parent, const std::string& name) {
    const std::vector<std::string> values = read_strings(parent, name);
    if (values.size() != 1) throw Error("dataset `" + name + "` is not one text");
    return values.front();
}

void write_strings(hid_t parent, const std::string& name, std::span<const std::string> values) {
    const std::size_t length = longest(values);
    const Handle type = string_type(length);
    write_array_of(parent, name, type, pack(values, length).data(), values.size());
}

std::vector<std::string> read_strings(hid_t parent, const std::string& name) {
    const Handle dataset = open_dataset(parent, name);
    const Handle type(H5Dget_type(dataset), H5Tclose, "read a type");
    const std::size_t length = fixed_length(type);
    const std::size_t count = stored_count(dataset, length);
    std::vector<char> bytes(std::max<std::size_t>(count * length, 1));
    read(dataset, type, H5S_ALL, H5S_ALL, bytes.data());
    return unpack(bytes, count, length);
}

bool is_written(hid_t parent, const std::string& name) { return H5Dget_storage_size(open_dataset(parent, name)) > 0; }

void write_array_of(hid_t parent, const std::string& name, hid_t type, const void* values, std::size_t count) {
    const Handle dataset(
        H5Dcreate2(parent, name.c_str(), type, line_space(count), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose,
        "create a dataset");
    if (count > 0) check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "write a dataset");
}

ArrayInParts::ArrayInParts(hid_t parent, const std::string& name, hid_t type, std::size_t count)
    : dataset_(H5Dcreate2(parent, name.c_str(), type, line_space(count), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
               H5Dclose, "create a dataset"),
      type_(type),
      count_(count) {}

namespace {

/// Entries of a dataset of one dimension. \pre there are any
Handle part_of(hid_t dataset, std::size_t first, std::size_t count) {
    Handle space(H5Dget_space(dataset), H5Sclose, "read a dataspace");
    const hsize_t start = first;
    const hsize_t length = count;
    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &length, nullptr), "select a part");
    return space;
}

}  // namespace

void ArrayInParts::write(std::size_t first, std::size_t count, const void* values) {
    if (count == 0) return;
    check(H5Dwrite(dataset_, type_, line_space(count), part_of(dataset_, first, count), H5P_DEFAULT, values),
          "write a dataset");
}

void read_part_of(hid_t dataset, hid_t type, std::size_t first, std::size_t count, void* values) {
    if (count == 0) return;
    read(dataset, type, line_space(count), part_of(dataset, first, count), values);
}

bool may_hold(hid_t dataset, std::size_t values) {
    const Handle type(H5Dget_type(dataset), H5Tclose, "read a type");
    const hsize_t file = file_bytes(dataset);
    if (values > file / size_of(type)) return false;
    Reading::add(values * size_of(type), file);
    return true;
}

void require_room(hid_t object, std::size_t bytes) { Reading::take_room(bytes, file_bytes(object)); }

std::size_t array_size(hid_t dataset) {
    const Handle type(H5Dget_type(dataset), H5Tclose, "read a type");
    return stored_count(dataset, size_of(type));
}

void read_array_of(hid_t dataset, hid_t type, void* values) {
    if (array_size(dataset) > 0) read(dataset, type, H5S_ALL, H5S_ALL, values);
}

namespace {

constexpr std::size_t kHashedAtOnce = std::size_t{1} << 17;  // values

/// The hash of all that an object holds, one thing after the other.
class ContentsHash {
public:
    void text(const std::string& text) { bytes(text.data(), text.size()); }
    void number(std::uint64_t number) { hash_ = absorb_bits(hash_, number); }
    void bytes(const void* from, std::size_t size) { hash_ = absorb_bytes(hash_, from, size); }
    /// bytes() but for how many there are: in parts of whole words, of which the last alone may end within one.
    void words(const void* from, std::size_t size) { hash_ = absorb_words(hash_, from, size); }
    [[nodiscard]] std::uint64_t value() const { return hash_; }

private:
    std::uint64_t hash_ = 0;
};

/// \param part  values that are read at once, whole words of them
/// \param read  gives so many values from a first one on
void hash_values(ContentsHash& hash, const Handle& type, std::size_t count, std::size_t part,
                 const std::function<void(std::size_t first, std::size_t count, void* values)>& read) {
    // Of texts of any length in arrays or records HDF5 knows no more than that they are texts.
    const H5T_class_t kind = H5Tget_class(type);
    if ((kind != H5T_INTEGER && kind != H5T_FLOAT && kind != H5T_STRING) ||
        check(H5Tis_variable_str(type), "read a type") > 0) {
        throw Error("numbers or texts of fixed length expected");
    }
    const std::size_t size = size_of(type);
    hash.number(static_cast<std::uint64_t>(H5Tget_class(type)));
    hash.number(size);
    hash.number(count * size);
    std::vector<char> values(std::min(count, part) * size);
    for (std::size_t first = 0; first < count; first += part) {
        const std::size_t some = std::min(part, count - first);
        read(first, some, values.data());
        hash.words(values.data(), some * size);
    }
}

void hash_attributes(ContentsHash& hash, hid_t object, const std::string& except) {
    for (const std::string& name : names_of_attributes(object)) {
        if (name == except) continue;
        hash.text(name);
        const Handle attribute = open_attribute(object, name);
        const Handle type(H5Aget_type(attribute), H5Tclose, "read a type");
        const std::size_t count = value_count_of_attribute(attribute, size_of(type));
        hash_values(hash, type, count, count, [&](std::size_t, std::size_t, void* values) {
            check(H5Aread(attribute, type, values), "read an attribute");
        });
    }
}

/// \param objects  how many have been read
void hash_group(ContentsHash& hash, hid_t group, const std::string& except, int depth, std::size_t& objects) {
    constexpr int kDeepest = 8;  // groups in groups; a group may hold itself
    constexpr std::size_t kMost = 100'000;
    if (depth > kDeepest) throw Error("groups lie in groups without an end");
    hash_attributes(hash, group, except);
    const std::vector<std::string> inside = names(group);
    for (const std::string& name : inside) {
        if (++objects > kMost) throw Error("it holds more than any file of carom");
        hash.text(name);
        require_own(group, name);
        const Handle object(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose, "open an object");
        if (H5Iget_type(object) == H5I_GROUP) {
            hash_group(hash, object, "", depth + 1, objects);
        } else if (H5Iget_type(object) == H5I_DATASET) {
            hash_attributes(hash, object, "");
            const Handle dataset = open_dataset(group, name);
            const Handle type(H5Dget_type(dataset), H5Tclose, "read a type");
            const std::size_t count = stored_count(dataset, size_of(type));
            const bool line = extents(dataset).size() == 1;
            const std::size_t part = line ? kHashedAtOnce : count;
            hash_values(hash, type, count, part, [&](std::size_t first, std::size_t some, void* values) {
                if (line) return read_part_of(dataset, type, first, some, values);
                h5::read(dataset, type, H5S_ALL, H5S_ALL, values);
            });
        }
    }
    hash.number(inside.size());
}

}  // namespace

std::uint64_t contents_hash(hid_t group, const std::string& except) {
    ContentsHash hash;
    std::size_t objects = 0;
    hash_group(hash, group, except, 0, objects);
    return hash.value();
}

namespace {

/// Stops HDF5 from printing its errors, in the thread that calls this.
void silence() {
    // Before any other call: at the end of the program HDF5 would close once more, without looking, a file whose
    // closing has failed for want of memory, or for what is in it.
    static const herr_t left_alone = H5dont_atexit();
    static_cast<void>(left_alone);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

std::recursive_mutex& turns() {
    // In the child of a fork nobody else is there to give it back; it was the parent's turn, so HDF5 is whole.
    static union Kept {
        Kept() : mutex() {}
        ~Kept() {}  // threads may outlive what is static
        std::recursive_mutex mutex;
    } kept;
    static const int forks = pthread_atfork([] { kept.mutex.lock(); }, [] { kept.mutex.unlock(); },
                                            [] { new (&kept.mutex) std::recursive_mutex; });
    static_cast<void>(forks);
    return kept.mutex;
}

}  // namespace

}  // namespace carom::h5

namespace carom {

Hdf5Turn::Hdf5Turn() : lock_(h5::turns()) { h5::silence(); }

}  // namespace carom

namespace carom {

namespace {

/// How long a writer is waited for that is in the middle of a change. One that has the processor for itself takes
/// milliseconds.
constexpr std::chrono::seconds kPatience{5};

/// Of a wait of many looks, whether it has been long enough. Between two looks `most` counts and no more: a reader that
/// was stopped itself has not waited.
class Wait {
public:
    explicit Wait(std::chrono::milliseconds most) : most_(most) {}
    bool was_long() {
        const auto now = std::chrono::steady_clock::now();
        left_ -= std::min<std::chrono::steady_clock::duration>(now - last_, most_);
        last_ = now;
        return left_ <= left_.zero();
    }

private:
    std::chrono::milliseconds most_;
    std::chrono::steady_clock::duration left_ = kPatience;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// Set where a read was given up since its writer did not end a change: HDF5 has no way to say so.
thread_local bool waited_in_vain = false;

// The driver of HDF5 that reads a file which may grow.
namespace growing {

/// What HDF5 holds for an open file; the first member is its own part.
struct OpenFile {
    H5FD_t base;
    int descriptor;
    bool written;  // somebody may be writing it
    haddr_t end;   // of what the superblock knew
};

struct DriverInfo {
    int descriptor;
    bool written;
};

const OpenFile* self(const H5FD_t* base) { return reinterpret_cast<const OpenFile*>(base); }

H5FD_t* open_file(const char* /*name*/, unsigned /*flags*/, hid_t access, haddr_t /*largest*/) {
    const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access));
    if (info == nullptr) return nullptr;
    auto* file = new (std::nothrow) OpenFile{};
    if (file == nullptr) return nullptr;
    file->descriptor = info->descriptor;
    file->written = info->written;
    return &file->base;
}

herr_t close_file(H5FD_t* base) {
    delete reinterpret_cast<OpenFile*>(base);
    return 0;
}

herr_t query(const H5FD_t* /*base*/, unsigned long* flags) {
    *flags = H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

haddr_t get_end_of_file(const H5FD_t* base, H5FD_mem_t /*type*/) {
    struct stat status {};
    return ::fstat(self(base)->descriptor, &status) == 0 ? static_cast<haddr_t>(status.st_size) : HADDR_UNDEF;
}

haddr_t get_end_of_allocated(const H5FD_t* base, H5FD_mem_t type) {
    return std::max(self(base)->end, get_end_of_file(base, type));
}

herr_t set_end_of_allocated(H5FD_t* base, H5FD_mem_t /*type*/, haddr_t address) {
    reinterpret_cast<OpenFile*>(base)->end = address;
    return 0;
}

bool read_bytes(int descriptor, haddr_t address, size_t size, char* out) {
    while (size > 0) {
        const ssize_t got = ::pread(descriptor, out, size, static_cast<off_t>(address));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return false;
        if (got == 0) break;
        out += got;
        address += static_cast<haddr_t>(got);
        size -= static_cast<size_t>(got);
    }
    std::memset(out, 0, size);  // beyond the end, as HDF5's own driver has it
    return true;
}

/// Structure is written over while others read it, and a read may come by half a write. So it is read until it is the
/// same twice, with a moment between at which nothing was being written over: the same half twice would then be of two
/// writes. A writer that was stopped within one is waited for in vain, and nothing is read.
bool read_structure(int descriptor, haddr_t address, size_t size, char* out) {
    constexpr std::chrono::microseconds kPause{20};
    Wait wait(std::chrono::milliseconds(100));
    std::vector<char> again(size);
    if (!read_bytes(descriptor, address, size, out)) return false;
    for (;;) {
        const bool overwrites = told_by_writer(descriptor).overwrites;
        if (overwrites) std::this_thread::sleep_for(kPause);
        if (!read_bytes(descriptor, address, size, again.data())) return false;
        const bool same = std::memcmp(out, again.data(), size) == 0;
        if (same && !overwrites) return true;
        if (wait.was_long()) {
            waited_in_vain = true;
            return false;
        }
        std::memcpy(out, again.data(), size);
    }
}

herr_t read_file(H5FD_t* base, H5FD_mem_t type, hid_t /*transfer*/, haddr_t address, size_t size,
                 void* buffer) noexcept {
    const int descriptor = self(base)->descriptor;
    auto* out = static_cast<char*>(buffer);
    try {
        // Over a network each look at a lock is a message.
        const bool twice = self(base)->written && type != H5FD_MEM_DRAW;
        const bool read =
            twice ? read_structure(descriptor, address, size, out) : read_bytes(descriptor, address, size, out);
        return read ? 0 : -1;
    } catch (const std::bad_alloc&) {  // must not pass through HDF5
        return -1;
    }
}

herr_t write_file(H5FD_t*, H5FD_mem_t, hid_t, haddr_t, size_t, const void*) { return -1; }

hid_t driver() {
    // Registered once, for as long as the program runs: HDF5 keeps the pointer.
    static const H5FD_class_t driver_class = [] {
        H5FD_class_t result{};
#if H5_VERSION_GE(1, 13, 0)
        result.version = H5FD_CLASS_VERSION;
        result.value = static_cast<H5FD_class_value_t>(601);  // 512 and above are free for use
#endif
        result.name = "carom_growing";
        result.maxaddr = HADDR_MAX / 4;
        result.fc_degree = H5F_CLOSE_STRONG;
        result.fapl_size = sizeof(DriverInfo);
        result.open = open_file;
        result.close = close_file;
        result.query = query;
        result.get_eoa = get_end_of_allocated;
        result.set_eoa = set_end_of_allocated;
        result.get_eof = get_end_of_file;
        result.read = read_file;
        result.write = write_file;
        constexpr H5FD_mem_t kRawDataApart[] = H5FD_FLMAP_DICHOTOMY;
        for (int type = 0; type < H5FD_MEM_NTYPES; ++type) result.fl_map[type] = kRawDataApart[type];
        return result;
    }();
    static const hid_t id = h5::check(H5FDregister(&driver_class), "register the file driver");
    return id;
}

}  // namespace growing

/// Asks the system first: its reasons are clearer than those of HDF5.
int open_regular(const std::string& path) {
    // A pipe would otherwise be waited for.
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) throw SystemError(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
    struct stat status {};
    if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) return descriptor;
    ::close(descriptor);
    throw InputError(fmt::format("{}: is not a regular file", path));
}

}  // namespace

ReadableFile::ReadableFile(std::string path, std::string kind, int descriptor)
    : path_(std::move(path)), kind_(std::move(kind)), descriptor_(descriptor < 0 ? open_regular(path_) : descriptor) {
    try {
        require_hdf5();
        const Hdf5Turn turn;       // before any call of HDF5
        H5PLset_loading_state(0);  // no code that a file asks for
        read([](hid_t) {});
    } catch (...) {
        ::close(descriptor_);
        throw;
    }
}

ReadableFile::~ReadableFile() {
    const Hdf5Turn turn;
    file_.reset();
    ::close(descriptor_);
}

void ReadableFile::require_hdf5() const {
    constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
    std::string begin(4096, '\0');  // enough to tell kinds of files by
    const ssize_t size = ::pread(descriptor_, begin.data(), begin.size(), 0);
    begin.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    if (begin.starts_with(kSignature)) return;
    const std::string_view is = file_kind(begin);
    throw InputError(is.empty() ? fmt::format("{}: is not {} {} (no HDF5 file)", path_, article(), kind_)
                                : fmt::format("{}: is {}, not {} {}", path_, is, article(), kind_));
}

ReadableFile::Version ReadableFile::version() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) return {};
    return {status.st_size,        status.st_mtim.tv_sec,  status.st_mtim.tv_nsec,
            status.st_ctim.tv_sec, status.st_ctim.tv_nsec, told_by_writer(descriptor_).shape};
}

/// Parts of B-trees that were read before and after nodes were split do not: balls between them would be missing. Nor
/// do parts of a file that others cut off, or write anew, while it is read: what is beyond the end is read as zeros. A
/// writer of ours only adds to it.
bool ReadableFile::consistent() const {
    const Version now = version();
    if (!has_writer_) return now == opened_;
    return opened_.shape % 2 == 0 && opened_.shape == now.shape && now.size >= opened_.size;
}

void ReadableFile::open() const {
    file_.reset();
    opened_ = version();
    const h5::Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "create properties");
    has_writer_ = has_writer(descriptor_);
    const growing::DriverInfo info{descriptor_, has_writer_};
    h5::check(H5Pset_driver(access, growing::driver(), &info), "set the file driver");
    h5::check(H5Pset_fclose_degree(access, H5F_CLOSE_STRONG), "set how files are closed");
    file_ = h5::Handle(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, access), H5Fclose, "open it");
}

void ReadableFile::throw_out_of_memory() const {
    throw SystemError(fmt::format("{}: cannot be read: out of memory", path_));
}

void ReadableFile::throw_in_change() const {
    if (waited_in_vain || (opened_.shape % 2 == 1 && opened_.shape == told_by_writer(descriptor_).shape)) {
        throw SystemError(
            fmt::format("{}: cannot be read: the run that writes it has been in the middle of a change for {} s; is it "
                        "stopped?",
                        path_, kPatience.count()));
    }
    throw SystemError(fmt::format("{}: cannot be read while {}: it changed at each try; read it later{}", path_,
                                  has_writer_ ? "the run writes it so fast" : "another program writes it",
                                  has_writer_ ? ", or have rows and frames written less often" : ""));
}

void ReadableFile::read(const Action& action) const { read_parts({&action, 1}); }

void ReadableFile::read_parts(std::span<const Action> parts) const {
    h5::Reading reading;
    for (const Action& part : parts) {
        Wait wait(std::chrono::seconds(1));
        const Hdf5Turn turn;
        for (bool whole = false; !whole;) {
            waited_in_vain = false;
            reading.again();
            try {
                h5::require_memory();
                if (!file_ || opened_ != version()) open();
                part(file_);
                whole = consistent();
                if (!whole && wait.was_long()) throw_in_change();
                if (!whole) file_.reset();
            } catch (const h5::OutOfMemory&) {
                throw_out_of_memory();
            } catch (const h5::Error& error) {
                if (waited_in_vain) throw_in_change();
                if (opened_ == version() || wait.was_long())
                    throw InputError(fmt::format("{}: is not a whole {}: {}", path_, kind_, error.what()));
                file_.reset();
            } catch (const std::length_error&) {
                throw InputError(fmt::format("{}: is not a whole {}: a size makes no sense", path_, kind_));
            } catch (const std::bad_alloc&) {
                throw_out_of_memory();
            }
        }
        reading.part_is_whole();
    }
}

}  // namespace carom
