#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "host/io/hdf5.hpp"

namespace carom {

/// A dataset that grows by one entry per frame or row. What is written goes to the file at once, past HDF5's chunk
/// cache. What has never been written reads as zero and takes no space.
class GrowingDataset {
public:
    struct Shape {
        std::vector<hsize_t> entry;  ///< extents of one entry; none: a number
        std::size_t entries_per_chunk = 1;
        std::size_t rows_per_chunk = 0;  ///< part of entry[0] that is in one chunk; 0: all
        bool compressed = false;         ///< only with one entry per chunk, so that no chunk is written twice
    };

    GrowingDataset(hid_t group, const std::string& name, hid_t file_type, const Shape& shape);

    /// Makes it `entries` long.
    void extend(std::size_t entries);
    /// Writes whole entries from `first` on.
    void write(std::size_t first, std::size_t count, hid_t memory_type, const void* values);
    /// Writes some rows of one entry.
    void write_rows(std::size_t entry, std::size_t first_row, std::size_t count, hid_t memory_type, const void* values);

    using Chunks = std::vector<std::vector<std::byte>>;
    /// Chunks of an entry as they are in the file, compressed; none if they did not become smaller.
    [[nodiscard]] Chunks raw_chunks(std::size_t entry) const;
    /// Writes such chunks as those of another entry.
    void write_raw_chunks(std::size_t entry, const Chunks& chunks);

    [[nodiscard]] hid_t id() const { return dataset_; }

private:
    void write_block(const std::vector<hsize_t>& start, const std::vector<hsize_t>& count, hid_t memory_type,
                     const void* values);

    std::size_t rows_per_chunk_ = 0;
    std::vector<hsize_t> extents_;
    h5::Handle dataset_;
};

}  // namespace carom
