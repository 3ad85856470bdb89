#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/io/trajectory_header.hpp"
#include "host/state/balls.hpp"

namespace carom {

/// All rows of observables of a file, as a table.
struct ObservableTable {
    std::vector<ObservableInfo> observables;
    std::vector<double> time;         ///< one per row
    std::vector<std::uint64_t> step;  ///< one per row
    std::vector<double> values;       ///< row after row; width() per row
    std::size_t width = 0;            ///< values of a row, all observables together

    [[nodiscard]] std::size_t rows() const { return time.size(); }
    [[nodiscard]] double at(std::size_t row, std::size_t column) const { return values[row * width + column]; }
    /// First column of an observable; `width` if there is none of that name.
    [[nodiscard]] std::size_t column(const std::string& name) const;
    /// An observable in the row of a time; none where no row is of it, to the rounding of sums of intervals.
    [[nodiscard]] std::optional<double> value(const std::string& name, double when) const;
};

/// Reads a trajectory that TrajectoryWriter wrote, also one whose writer was killed or is still writing.
class TrajectoryReader {
public:
    /// \param descriptor  of the file, if it is open already: it becomes this object's; else -1
    /// \throws SystemError  no such file, or it cannot be read
    /// \throws InputError   it is no trajectory of carom, or damaged; one line
    explicit TrajectoryReader(const std::string& path, int descriptor = -1);
    ~TrajectoryReader();
    TrajectoryReader(TrajectoryReader&&) noexcept;
    TrajectoryReader& operator=(TrajectoryReader&&) noexcept;

    [[nodiscard]] const std::string& path() const;
    [[nodiscard]] const TrajectoryHeader& header() const;
    [[nodiscard]] std::size_t frame_count() const;
    [[nodiscard]] std::span<const double> times() const;         ///< of the frames
    [[nodiscard]] std::span<const std::uint64_t> steps() const;  ///< of the frames
    /// The averages as of a frame, in the order of the header's.
    [[nodiscard]] std::vector<AverageTable> averages(std::size_t frame) const;
    /// One of them. \throws InputError  there is none of this name
    [[nodiscard]] AverageTable average(const std::string& name, std::size_t frame) const;
    /// The frame nearest in time; of two as near, the earlier. \pre frame_count() > 0
    [[nodiscard]] std::size_t frame_at(double time) const;
    /// What the file does not hold ([output] fields) is NaN. \throws InputError  for index >= frame_count()
    void read(std::size_t index, Frame& frame) const;
    /// \throws InputError  its frames hold no positions, by which to draw them
    void require_positions() const;
    [[nodiscard]] ObservableTable observables() const;
    /// What was changed of the run while it went on.
    [[nodiscard]] std::vector<RunChange> changes() const;
    /// The JSON object that ended the run; empty if it did not end in order.
    [[nodiscard]] std::string summary() const;
    /// What was run. \throws InputError  the file's scene is none; names both
    [[nodiscard]] Scene scene(const std::vector<std::string>& overrides = {}) const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

/// What to say to whoever asked for a time before the first frame or behind the last, by more than half of what lies
/// between frames there; empty for any other time. \pre frame_count() > 0
std::string beyond_frames(const TrajectoryReader& trajectory, double time);

}  // namespace carom
