#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "host/io/growing_dataset.hpp"
#include "host/io/trajectory_header.hpp"
#include "host/observables/observable_set.hpp"

namespace carom {

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

private:
    std::vector<std::size_t> widths_;
    std::vector<GrowingDataset> values_;
    std::optional<GrowingDataset> step_, time_;
    std::size_t width_ = 0;
    std::size_t written_ = 0;
    std::vector<double> times_;
    std::vector<std::int64_t> steps_;
    std::vector<double> collected_;  // row after row
    std::vector<double> column_;
};

}  // namespace carom
