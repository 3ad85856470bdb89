#include "host/io/growing_dataset.hpp"

#include <algorithm>

namespace carom {

namespace {

h5::Handle creation_properties(const std::vector<hsize_t>& chunk, bool compressed) {
    h5::Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "create properties");
    h5::check(H5Pset_chunk(properties, static_cast<int>(chunk.size()), chunk.data()), "set chunks");
    if (compressed) {
        h5::check(H5Pset_shuffle(properties), "set a filter");
        h5::check(H5Pset_deflate(properties, 1), "set a filter");
    }
    return properties;
}

h5::Handle access_without_cache() {
    h5::Handle properties(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose, "create properties");
    h5::check(H5Pset_chunk_cache(properties, 1, 0, 1.0), "set a cache");
    return properties;
}

}  // namespace

GrowingDataset::GrowingDataset(hid_t group, const std::string& name, hid_t file_type, const Shape& shape)
    : extents_{0} {
    std::vector<hsize_t> most{H5S_UNLIMITED};
    std::vector<hsize_t> chunk{std::max<std::size_t>(shape.entries_per_chunk, 1)};
    for (const hsize_t extent : shape.entry) {
        extents_.push_back(extent);
        most.push_back(extent == 0 ? H5S_UNLIMITED : extent);  // HDF5 knows no chunk within 0
        chunk.push_back(std::max<hsize_t>(extent, 1));
    }
    if (shape.rows_per_chunk > 0 && chunk.size() > 1) chunk[1] = std::min<hsize_t>(chunk[1], shape.rows_per_chunk);
    if (chunk.size() > 1) rows_per_chunk_ = chunk[1];
    const h5::Handle space(H5Screate_simple(static_cast<int>(extents_.size()), extents_.data(), most.data()), H5Sclose,
                           "create a dataspace");
    dataset_ = h5::Handle(H5Dcreate2(group, name.c_str(), file_type, space, H5P_DEFAULT,
                                     creation_properties(chunk, shape.compressed), access_without_cache()),
                          H5Dclose, "create a dataset");
}

void GrowingDataset::extend(std::size_t entries) {
    extents_[0] = entries;
    h5::check(H5Dset_extent(dataset_, extents_.data()), "extend a dataset");
}

void GrowingDataset::write(std::size_t first, std::size_t count, hid_t memory_type, const void* values) {
    std::vector<hsize_t> start(extents_.size(), 0);
    std::vector<hsize_t> block = extents_;
    start[0] = first;
    block[0] = count;
    write_block(start, block, memory_type, values);
}

void GrowingDataset::write_rows(std::size_t entry, std::size_t first_row, std::size_t count, hid_t memory_type,
                                const void* values) {
    std::vector<hsize_t> start(extents_.size(), 0);
    std::vector<hsize_t> block = extents_;
    start[0] = entry;
    start[1] = first_row;
    block[0] = 1;
    block[1] = count;
    write_block(start, block, memory_type, values);
}

void GrowingDataset::write_block(const std::vector<hsize_t>& start, const std::vector<hsize_t>& count,
                                 hid_t memory_type, const void* values) {
    if (std::find(count.begin(), count.end(), hsize_t{0}) != count.end()) return;
    const h5::Handle in_file(H5Dget_space(dataset_), H5Sclose, "read a dataspace");
    h5::check(H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
              "select a part");
    const h5::Handle in_memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose,
                               "create a dataspace");
    h5::check(H5Dwrite(dataset_, memory_type, in_memory, in_file, H5P_DEFAULT, values), "write a dataset");
}

GrowingDataset::Chunks GrowingDataset::raw_chunks(std::size_t entry) const {
    Chunks chunks;
    for (std::size_t row = 0; row < extents_[1]; row += rows_per_chunk_) {
        const hsize_t offset[] = {entry, row, 0, 0};
        hsize_t size = 0;
        h5::check(H5Dget_chunk_storage_size(dataset_, offset, &size), "read the size of a chunk");
        std::vector<std::byte> chunk(size);
        std::uint32_t skipped_filters = 0;
        h5::check(H5Dread_chunk(dataset_, H5P_DEFAULT, offset, &skipped_filters, chunk.data()), "read a chunk");
        if (skipped_filters != 0) return {};
        chunks.push_back(std::move(chunk));
    }
    return chunks;
}

void GrowingDataset::write_raw_chunks(std::size_t entry, const Chunks& chunks) {
    hsize_t row = 0;
    for (const std::vector<std::byte>& chunk : chunks) {
        const hsize_t offset[] = {entry, row, 0, 0};
        h5::check(H5Dwrite_chunk(dataset_, H5P_DEFAULT, 0, offset, chunk.size(), chunk.data()), "write a chunk");
        row += rows_per_chunk_;
    }
}

}  // namespace carom
