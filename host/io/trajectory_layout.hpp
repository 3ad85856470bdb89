#pragma once

#include <hdf5.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/io/hdf5.hpp"
#include "host/io/trajectory_header.hpp"
#include "host/observables/average.hpp"
#include "host/observables/observable.hpp"
#include "host/state/balls.hpp"

// How a trajectory lies in HDF5: its header, and the datasets that grow by frames, rows, averages and changes.

namespace carom {

/// `format` attribute of /parameters, and the version of what docs/file-format.md says.
inline constexpr const char* kTrajectoryFormat = "carom trajectory";
inline constexpr int kTrajectoryFormatVersion = 1;

/// Room for the summary, which is written when all else stands [bytes].
[[nodiscard]] std::size_t summary_capacity(const TrajectoryHeader& header);

/// Whether [output] fields names it.
[[nodiscard]] bool has_field(const TrajectoryHeader& header, const std::string& field);

/// Writes /h5md, /parameters and /particles/all/box, without the datasets that grow.
void write_trajectory_header(hid_t file, const TrajectoryHeader& header);

/// \throws h5::Error  it is not there, or does not make sense
TrajectoryHeader read_trajectory_header(hid_t file);

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

    using Chunk = std::vector<std::byte>;
    /// The chunk of an entry that begins with a row as it is in the file, compressed; empty if it did not become
    /// smaller.
    [[nodiscard]] Chunk raw_chunk(std::size_t entry, std::size_t row) const;
    /// Writes such a chunk as that of another entry.
    void write_raw_chunk(std::size_t entry, std::size_t row, const Chunk& chunk);

    [[nodiscard]] hid_t id() const { return dataset_; }
    /// Numbers in one entry.
    [[nodiscard]] std::size_t entry_size() const;

private:
    void write_block(const std::vector<hsize_t>& start, const std::vector<hsize_t>& count, hid_t memory_type,
                     const void* values);

    std::size_t rows_per_chunk_ = 0;
    std::vector<hsize_t> extents_;
    h5::Handle dataset_;
};

/// Frames in a chunk: few balls share one of 16 kB. \param expected_frames  of the whole run; 0: unknown
std::size_t frames_per_chunk(std::size_t balls, std::uint64_t expected_frames);
/// Entries in a chunk of step and time of frames, and of the box where frames do not share chunks.
inline constexpr std::size_t kClockChunk = 512;
inline constexpr std::size_t kEdgesChunk = 64;

/// The elements of /particles/all, which have an entry per frame.
class FrameDatasets {
public:
    /// Creates them; the one that readers take the number of frames from comes first (see OrderedFile).
    FrameDatasets(hid_t particles, const TrajectoryHeader& header);

    /// Makes all of them index + 1 long, and writes that entry, chunk after chunk of all.
    /// \param frame  whole, or parts of whole chunks one after the other
    void append(std::size_t index, const Frame& frame);

private:
    /// Numbers per ball that seldom change from frame to frame: compressed once, and written again as they are.
    struct Repeated {
        GrowingDataset dataset;
        std::vector<GrowingDataset::Chunk> chunks;
    };
    /// Balls of a frame that are a chunk.
    struct Rows {
        const Frame& frame;
        std::size_t begin;  // in the frame
        std::size_t count;
        [[nodiscard]] std::size_t id() const { return frame.first + begin; }
    };

    GrowingDataset create(hid_t particles, const std::string& name, hid_t type, bool vectors, bool compressed = false);
    void begin(std::size_t index, const Frame& frame);
    void write_vectors(GrowingDataset& dataset, std::size_t index, const Rows& rows,
                       const std::array<std::vector<double>, 3>& source);
    template <class Value, class Source>
    void write_block(GrowingDataset& dataset, std::size_t index, const Rows& rows, const Source& source, Value gone);
    /// \param value  of a ball, by id
    template <class Value>
    void write_repeated(Repeated& element, std::size_t index, const Rows& rows, bool changed, const Value& value);

    const std::size_t count_;
    const std::size_t rows_per_chunk_;
    const std::size_t frames_per_chunk_;
    const bool single_;
    std::optional<GrowingDataset> position_, velocity_, spin_, image_, edges_, step_, time_;
    std::optional<Repeated> species_, id_;
    std::array<double, 9> edge_matrix_{};
    SpeciesById species_of_;
    std::vector<std::vector<std::uint8_t>> gone_;  // as of the last frame, by chunks; empty: none of them
    std::vector<std::byte> buffer_;                // one chunk of vectors
};

/// Rows of `width` numbers in a chunk of an element of /observables.
/// \param expected_rows  of the whole run; 0: unknown
std::size_t rows_per_chunk(std::uint64_t expected_rows, std::size_t width);

/// The elements of /observables, which have an entry per row. Rows are collected, and written many at a time.
class RowDatasets {
public:
    RowDatasets(hid_t file, const TrajectoryHeader& header);

    void collect(const ObservableRow& row);
    /// Collects a row without values until there are `rows` of them: MDAnalysis reads, with frame k, row k of every
    /// observable, and gives up if it is not there. Readers leave such rows out.
    void fill_up(std::size_t rows, double time, std::uint64_t step);
    /// Writes what has been collected.
    void write();

    /// Rows written and collected.
    [[nodiscard]] std::size_t size() const { return written_ + times_.size(); }
    /// Those of them that have values.
    [[nodiscard]] std::size_t given() const { return size() - filled_; }

private:
    std::vector<std::size_t> widths_;
    std::vector<GrowingDataset> values_;
    std::optional<GrowingDataset> step_, time_;
    std::size_t width_ = 0;
    std::size_t written_ = 0;
    std::size_t filled_ = 0;
    std::vector<double> times_;
    std::vector<std::int64_t> steps_;
    std::vector<double> collected_;  // row after row
    std::vector<double> column_;
};

/// What so many frames of an average take on disk [bytes].
double average_bytes(const AverageInfo& info, std::uint64_t frames, std::uint64_t expected_frames);

/// The elements of /observables that are averages over the run. Each has an entry per frame, the average up to then:
/// H5MD wants a time with each value, MDAnalysis an entry for each frame, and of a run that is killed the averages of
/// its last frame are there.
class AverageDatasets {
public:
    AverageDatasets(hid_t file, const TrajectoryHeader& header);

    /// Makes all of them frame + 1 long, and writes that entry.
    void append(std::size_t frame, double time, std::uint64_t step, const std::vector<AverageTable>& tables);

private:
    struct Element {
        AverageInfo info;
        GrowingDataset value, error, samples, independent, drift;
        std::optional<GrowingDataset> x, y, correlation_time;
    };
    std::vector<Element> elements_;
    std::optional<GrowingDataset> step_, time_;
};

/// Writes the names of the averages, which tell them from the other observables.
void write_average_order(hid_t parameters, const std::vector<AverageInfo>& infos);
/// None in a file from before there were any. \throws h5::Error  it is not there, or does not make sense
std::vector<AverageInfo> read_average_infos(hid_t file, int dimension);
/// \throws h5::Error  there is no such frame
AverageTable read_average(hid_t file, const AverageInfo& info, std::size_t frame);

/// /parameters/changes of a trajectory: time, step and what, one entry a change. Only files of runs that can be changed
/// have it.
class ChangeDatasets {
public:
    explicit ChangeDatasets(hid_t file);
    void append(const RunChange& change);

private:
    GrowingDataset time_;
    GrowingDataset step_;
    GrowingDataset what_;
    std::size_t count_ = 0;
};

/// None where the file has no place for them.
std::vector<RunChange> read_changes(hid_t file);

}  // namespace carom
