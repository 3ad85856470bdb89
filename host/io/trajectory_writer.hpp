#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "host/io/trajectory_header.hpp"
#include "host/observables/observable.hpp"
#include "host/state/balls.hpp"

namespace carom {

/// Writes a trajectory: HDF5 in the layout of docs/file-format.md (H5MD 1.1). What append has returned from is in the
/// file and stays readable whatever happens to the process, kill -9 included. Used from one thread.
class TrajectoryWriter {
public:
    /// When the file has its name: as soon as it is worth more than an older one, or when it is closed.
    enum class Appears : std::uint8_t { kSoon, kWhole };

    /// Creates the file with its header; so an output that cannot be written is found before anything is computed.
    /// \param force  an existing file is replaced, once the first frame has been written, or the file is whole
    /// \throws InputError   the file exists, and `force` is not given; or it is no regular file
    /// \throws SystemError  it cannot be created or written
    TrajectoryWriter(const std::string& path, const TrajectoryHeader& header, bool force,
                     Appears appears = Appears::kSoon);
    /// Leaves what has been appended, if the file has its name; no summary.
    ~TrajectoryWriter();
    TrajectoryWriter(const TrajectoryWriter&) = delete;
    TrajectoryWriter& operator=(const TrajectoryWriter&) = delete;

    /// Appends a frame and the rows before it; both are in the file when this returns. A row that belongs to the time
    /// of a frame is appended before it. A frame may come in parts, of balls_per_chunk() balls each, with nothing else
    /// between; the last one makes it a frame.
    /// \throws SystemError  names the file, the cause, and the frames that are safely in it; further calls then throw
    /// too
    void append(const Frame& frame);
    /// Appends a row of observables, values in the order of the header's. It is in the file after the next frame,
    /// flush, or about a second.
    void append_row(const ObservableRow& row);
    /// The averages as of the frame that is appended next, in the order of the header's.
    void append_averages(const std::vector<AverageTable>& tables);
    /// A note of what was changed of the run; in the file when this returns. \pre the header's `changeable`
    void append_change(const RunChange& change);
    /// Writes the rows appended so far.
    void flush();
    /// Writes the end summary, and syncs the file to the disk. Nothing can be appended afterwards.
    /// \param summary  one JSON object, as `run --json` prints; at most summary_capacity() of the header
    void close(const std::string& summary);

    [[nodiscard]] const std::string& path() const;
    /// Frames in the file.
    [[nodiscard]] std::size_t frames() const;
    /// Rows in the file, 0 before it has its name.
    [[nodiscard]] std::size_t rows() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace carom
