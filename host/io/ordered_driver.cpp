#include "host/io/ordered_driver.hpp"

#include <new>

#include "host/io/hdf5.hpp"

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

namespace carom {

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

herr_t status(bool done) { return done ? 0 : -1; }

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
    const bool done = open->file->commit(open->end);
    delete open;
    return status(done);
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
    return status(self(base)->file->read(address, {static_cast<std::byte*>(buffer), size}));
}

herr_t write_file(H5FD_t* base, H5FD_mem_t type, hid_t /*transfer*/, haddr_t address, size_t size, const void* buffer) {
    OrderedFile& file = *self(base)->file;
    const std::span bytes{static_cast<const std::byte*>(buffer), size};
    return status(type == H5FD_MEM_DRAW ? file.write_data(address, bytes) : file.write_structure(address, bytes));
}

herr_t flush_file(H5FD_t* base, hid_t /*transfer*/, hbool_t /*closing*/) {
    return status(self(base)->file->commit(self(base)->end));
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
}

}  // namespace carom
