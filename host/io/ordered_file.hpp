#pragma once

#include <hdf5.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "host/io/replacement.hpp"

namespace carom {

/// An HDF5 file (earliest format) under construction that is whole at every moment, even if the process is killed
/// between two writes.
///
/// HDF5 by itself gives no such promise: a flush writes many small blocks of structure (object headers, B-trees, the
/// superblock) over the old ones in the order of their addresses, and a file cut off in between may not open, or show
/// frames that are not there. So structure is held back until commit(), which writes it in an order of which each
/// prefix is a valid file:
///   1. blocks that nothing on disk refers to yet, after the data, which went to disk at once;
///   2. the superblock, with the new end of the file;
///   3. B-tree nodes, parents before children: a child that was split is still whole while its parent knows already;
///   4. object headers, which hold the lengths of datasets: until its header is written, the new end of a dataset does
///      not exist. What was created last is written first, so a reader that trusts the length of the first dataset
///      finds the others at least as long.
/// A write within one page is not torn by a kill (Linux looks for signals between pages), so the driver
/// of use_ordered_file gives out space for structure such that no block that fits into a page crosses the border of
/// two.
///
/// Nor may a reader be misled that looks while blocks are written over: it may find a block that is half new, which
/// HDF5 takes for what it reads there, or know the parent from before a split and its child from after, and take balls
/// for zeros. So it is told what the writer is at (WriterState), and looks again.
///
/// Against loss of power, commit() also syncs the file before each of these groups, at most about once a second.
///
/// A write that fails freezes the file in its last committed state: everything later is dropped, and read() still
/// works.
class OrderedFile {
public:
    /// Creates the file under another name, until take_place().
    /// \param replace  a file that exists may be replaced; symbolic links stay, and lead to the new one
    /// \throws InputError, SystemError  as Replacement
    OrderedFile(const std::string& path, bool replace);

    // What fails returns false, and failure() tells why; only memory that runs out is thrown.
    bool write_data(std::uint64_t address, std::span<const std::byte> bytes);
    bool write_structure(std::uint64_t address, std::span<const std::byte> bytes);
    bool read(std::uint64_t address, std::span<std::byte> bytes) const;
    /// \param end  the end of allocated space, which the superblock names as the end of the file
    bool commit(std::uint64_t end);
    bool sync();
    /// Gives the file its name; whoever reads an older one keeps that. Without it the file goes.
    bool take_place();

    /// As it was given.
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] bool in_place() const { return replacement_.in_place(); }
    /// Whether it still has a name, else that is its failure(): nobody should compute for days into a file that is
    /// gone.
    [[nodiscard]] bool is_there() const;
    /// There was a file of this name before.
    [[nodiscard]] bool has_older() const { return replacement_.has_older(); }
    [[nodiscard]] std::uint64_t size() const { return size_; }
    /// What went wrong first; empty if nothing did.
    [[nodiscard]] const std::string& failure() const { return failure_; }
    /// As a write that fails.
    void fail_for_memory() noexcept {
        if (failure_.empty()) failure_ = "out of memory";  // short enough to need none
    }
    /// Drops everything from now on, but as if it went well: HDF5 can only close a file that it can write.
    void abandon() { abandoned_ = true; }

private:
    using Blocks = std::map<std::uint64_t, std::vector<std::byte>>;

    bool put(std::uint64_t address, std::span<const std::byte> bytes);
    bool resize(std::uint64_t size);
    bool sync_if(bool wanted) { return !wanted || sync(); }
    bool fail(const char* verb) const;
    [[nodiscard]] bool on_disk(std::uint64_t address, std::size_t size) const;
    bool overwrite(const std::vector<Blocks::const_iterator>& blocks, bool durable);

    std::string path_;
    Replacement replacement_;
    int descriptor_;  // of replacement_
    std::uint64_t size_ = 0;
    Blocks pending_;                                  // structure written since the last commit, by address
    std::map<std::uint64_t, std::uint64_t> on_disk_;  // structure that the file on disk refers to: address -> size
    std::chrono::steady_clock::time_point last_sync_;
    std::uint64_t shape_ = 0;  // WriterState
    mutable std::string failure_;
    bool abandoned_ = false;
};

/// Makes the file access property list `access` write through `file`, which must outlive the HDF5 file, in the format
/// that it knows. Each H5Fflush is a commit of it; closing the HDF5 file closes all that is open in it.
/// \throws h5::Error
void use_ordered_file(hid_t access, OrderedFile& file);

}  // namespace carom
