#include "host/io/ordered_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "host/io/hdf5.hpp"
#include "host/state/errors.hpp"

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

namespace carom {

namespace {

constexpr std::uint64_t kSuperblock = 0;
/// Wall time that a loss of power may cost. A sync costs up to some 10 ms on a spinning disk, three are needed.
constexpr std::chrono::seconds kSyncInterval{1};

bool has_signature(const std::vector<std::byte>& block, const char* signature) {
    return block.size() >= 8 && std::memcmp(block.data(), signature, 4) == 0;
}

/// Where a block stands in the order of a commit; lower is earlier.
int rank_of(std::uint64_t address, const std::vector<std::byte>& block) {
    constexpr int kHeaders = 1000;
    if (address == kSuperblock) return 0;
    if (has_signature(block, "TREE")) return 1 + 255 - std::to_integer<int>(block[5]);  // byte 5: level, leaves are 0
    for (const char* signature : {"SNOD", "HEAP", "GCOL"}) {
        if (has_signature(block, signature)) return 500;
    }
    return kHeaders;
}

}  // namespace

OrderedFile::OrderedFile(const std::string& path, bool replace)
    : path_(path),
      replacement_(path, replace),
      descriptor_(replacement_.descriptor()),
      last_sync_(std::chrono::steady_clock::now()) {}

bool OrderedFile::take_place() {
    if (in_place()) return is_there();
    if (!sync()) return false;
    try {
        replacement_.commit(true);
    } catch (const SystemError&) {
        return fail(in_place() ? "sync its folder" : "rename into place");
    }
    return true;
}

bool OrderedFile::is_there() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0 || status.st_nlink > 0) return true;
    if (failure_.empty()) failure_ = "the file has been removed";
    return false;
}

bool OrderedFile::fail(const char* verb) const {
    if (failure_.empty()) failure_ = fmt::format("cannot {}: {}", verb, std::strerror(errno));
    return false;
}

bool OrderedFile::put(std::uint64_t address, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(address));
        if (written < 0) {
            if (errno == EINTR) continue;
            return fail("write");
        }
        address += static_cast<std::uint64_t>(written);
        bytes = bytes.subspan(static_cast<std::size_t>(written));
        size_ = std::max(size_, address);
    }
    return true;
}

bool OrderedFile::resize(std::uint64_t size) {
    if (size == size_) return true;
    if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) return fail("extend");
    size_ = size;
    return true;
}

bool OrderedFile::sync() {
    if (abandoned_ || !failure_.empty()) return abandoned_;
    last_sync_ = std::chrono::steady_clock::now();
    return ::fdatasync(descriptor_) == 0 || fail("sync");
}

bool OrderedFile::write_data(std::uint64_t address, std::span<const std::byte> bytes) {
    return abandoned_ || (failure_.empty() && put(address, bytes));
}

bool OrderedFile::write_structure(std::uint64_t address, std::span<const std::byte> bytes) {
    // Blocks come whole, so they are the same as one that is there or apart from all; if ever not, they are joined.
    std::uint64_t begin = address;
    std::uint64_t end = address + bytes.size();
    auto first = pending_.upper_bound(address);
    if (first != pending_.begin() && std::prev(first)->first + std::prev(first)->second.size() > address) --first;
    auto last = first;
    for (; last != pending_.end() && last->first < end; ++last) {
        begin = std::min(begin, last->first);
        end = std::max(end, last->first + last->second.size());
    }
    std::vector<std::byte> joined(end - begin);
    for (auto block = first; block != last; ++block) {
        std::copy(block->second.begin(), block->second.end(),
                  joined.begin() + static_cast<std::ptrdiff_t>(block->first - begin));
    }
    std::copy(bytes.begin(), bytes.end(), joined.begin() + static_cast<std::ptrdiff_t>(address - begin));
    pending_.erase(first, last);
    pending_.emplace(begin, std::move(joined));
    return true;
}

bool OrderedFile::read(std::uint64_t address, std::span<std::byte> bytes) const {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t got =
            ::pread(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(address + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail("read");
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(done), bytes.end(), std::byte{0});  // beyond the end

    const std::uint64_t end = address + bytes.size();
    auto block = pending_.upper_bound(address);
    if (block != pending_.begin()) --block;
    for (; block != pending_.end() && block->first < end; ++block) {
        const std::uint64_t from = std::max(address, block->first);
        const std::uint64_t to = std::min(end, block->first + block->second.size());
        if (from < to)
            std::memcpy(bytes.data() + (from - address), block->second.data() + (from - block->first), to - from);
    }
    return true;
}

bool OrderedFile::on_disk(std::uint64_t address, std::size_t size) const {
    const auto next = on_disk_.lower_bound(address + size);
    if (next == on_disk_.begin()) return false;
    const auto before = std::prev(next);
    return before->first + before->second > address;
}

bool OrderedFile::overwrite(const std::vector<Blocks::const_iterator>& blocks, bool durable) {
    int rank = 0;
    for (const auto& block : blocks) {
        const int next = rank_of(block->first, block->second);
        if (next != rank) {
            replacement_.tell({false, shape_});  // a sync may take long
            if (!sync_if(durable)) return false;
        }
        rank = next;
        replacement_.tell({true, shape_});
        if (!put(block->first, block->second)) return false;
    }
    return true;
}

bool OrderedFile::commit(std::uint64_t end) {
    if (abandoned_ || !failure_.empty()) return abandoned_;
    const bool durable = std::chrono::steady_clock::now() - last_sync_ >= kSyncInterval;

    std::vector<Blocks::const_iterator> in_place;
    bool new_nodes = false;
    for (auto block = pending_.cbegin(); block != pending_.cend(); ++block) {
        if (block->first == kSuperblock || on_disk(block->first, block->second.size())) {
            in_place.push_back(block);
        } else if (put(block->first, block->second)) {
            new_nodes = new_nodes || has_signature(block->second, "TREE");
        } else {
            return false;
        }
    }
    if (end > size_ && !resize(end)) return false;
    if (!sync_if(durable)) return false;

    std::sort(in_place.begin(), in_place.end(), [](const auto& a, const auto& b) {
        const int rank_a = rank_of(a->first, a->second);
        const int rank_b = rank_of(b->first, b->second);
        return rank_a != rank_b ? rank_a < rank_b : a->first > b->first;
    });
    shape_ += new_nodes ? 1 : 0;
    const bool written = overwrite(in_place, durable);
    shape_ += new_nodes ? 1 : 0;
    replacement_.tell({false, shape_});
    if (!written || !sync_if(durable)) return false;
    if (end < size_ && !resize(end)) return false;

    for (const auto& [address, block] : pending_) on_disk_.insert_or_assign(address, block.size());
    pending_.clear();
    return true;
}

// The driver of HDF5 that writes through such a file.

namespace {

/// What HDF5 holds for an open file; the first member is its own part.
struct OpenFile {
    H5FD_t base;
    OrderedFile* file;
    haddr_t end;  // of allocated space
};

struct DriverInfo {
    OrderedFile* file;
};

OpenFile* self(H5FD_t* base) { return reinterpret_cast<OpenFile*>(base); }
const OpenFile* self(const H5FD_t* base) { return reinterpret_cast<const OpenFile*>(base); }

/// What HDF5 calls throws nothing: an exception on its way through C would leave HDF5's lock held, and the next call of
/// it, perhaps in another thread, would wait for ever.
template <class Action>
herr_t guarded(OrderedFile& file, const Action& action) noexcept {
    try {
        return action() ? 0 : -1;
    } catch (...) {
        file.fail_for_memory();
        return -1;
    }
}

H5FD_t* open_file(const char* /*name*/, unsigned /*flags*/, hid_t access, haddr_t /*largest*/) {
    const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access));
    if (info == nullptr) return nullptr;
    auto* open = new (std::nothrow) OpenFile{};
    if (open == nullptr) return nullptr;
    open->file = info->file;
    return &open->base;
}

herr_t close_file(H5FD_t* base) {
    OpenFile* open = self(base);
    const herr_t status = guarded(*open->file, [open] { return open->file->commit(open->end); });
    delete open;
    return status;
}

herr_t query(const H5FD_t* /*base*/, unsigned long* flags) {
    // Structure is neither accumulated nor aggregated: OrderedFile must see each block by itself, and allocate() place
    // it.
    *flags = H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

/// The next free space; blocks of structure that fit into a page lie within one, so that each is written at one stroke.
haddr_t allocate(H5FD_t* base, H5FD_mem_t type, hid_t /*transfer*/, hsize_t size) {
    constexpr haddr_t kPage = 4096;
    haddr_t& end = self(base)->end;
    const bool crosses = end / kPage != (end + size - 1) / kPage;
    if (type != H5FD_MEM_DRAW && size <= kPage && crosses) end = (end / kPage + 1) * kPage;
    const haddr_t address = end;
    end += size;
    return address;
}

haddr_t get_end_of_allocated(const H5FD_t* base, H5FD_mem_t /*type*/) { return self(base)->end; }

herr_t set_end_of_allocated(H5FD_t* base, H5FD_mem_t /*type*/, haddr_t address) {
    self(base)->end = address;
    return 0;
}

haddr_t get_end_of_file(const H5FD_t* base, H5FD_mem_t /*type*/) { return self(base)->file->size(); }

herr_t read_file(H5FD_t* base, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t address, size_t size, void* buffer) {
    OrderedFile& file = *self(base)->file;
    return guarded(file, [&] { return file.read(address, {static_cast<std::byte*>(buffer), size}); });
}

herr_t write_file(H5FD_t* base, H5FD_mem_t type, hid_t /*transfer*/, haddr_t address, size_t size, const void* buffer) {
    OrderedFile& file = *self(base)->file;
    const std::span bytes{static_cast<const std::byte*>(buffer), size};
    return guarded(file, [&] {
        return type == H5FD_MEM_DRAW ? file.write_data(address, bytes) : file.write_structure(address, bytes);
    });
}

herr_t flush_file(H5FD_t* base, hid_t /*transfer*/, hbool_t /*closing*/) {
    const OpenFile& open = *self(base);
    return guarded(*open.file, [&open] { return open.file->commit(open.end); });
}

hid_t driver() {
    // Registered once, for as long as the program runs: HDF5 keeps the pointer.
    static const H5FD_class_t driver_class = [] {
        H5FD_class_t result{};
#if H5_VERSION_GE(1, 13, 0)
        result.version = H5FD_CLASS_VERSION;
        result.value = static_cast<H5FD_class_value_t>(600);  // 512 and above are free for use
#endif
        result.name = "carom_ordered";
        result.maxaddr = HADDR_MAX / 4;
        result.fc_degree = H5F_CLOSE_STRONG;
        result.fapl_size = sizeof(DriverInfo);
        result.open = open_file;
        result.close = close_file;
        result.query = query;
        result.alloc = allocate;
        result.get_eoa = get_end_of_allocated;
        result.set_eoa = set_end_of_allocated;
        result.get_eof = get_end_of_file;
        result.read = read_file;
        result.write = write_file;
        result.flush = flush_file;
        constexpr H5FD_mem_t kRawDataApart[] = H5FD_FLMAP_DICHOTOMY;
        for (int type = 0; type < H5FD_MEM_NTYPES; ++type) result.fl_map[type] = kRawDataApart[type];
        return result;
    }();
    static const hid_t id = h5::check(H5FDregister(&driver_class), "register the file driver");
    return id;
}

}  // namespace

void use_ordered_file(hid_t access, OrderedFile& file) {
    const DriverInfo info{&file};
    h5::check(H5Pset_driver(access, driver(), &info), "set the file driver");
    // Files in a later format, or in SWMR mode, refuse to open when their writer was killed.
    h5::check(H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST), "set the format");
    h5::check(H5Pset_fclose_degree(access, H5F_CLOSE_STRONG), "set how files are closed");
}

}  // namespace carom
