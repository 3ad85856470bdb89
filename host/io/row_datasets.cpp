#include "host/io/row_datasets.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace carom {

namespace {

constexpr std::size_t kMostRowsPerChunk = 1024;

/// A chunk is in memory as a whole while a part of it is written, and on disk as a whole with its first row.
constexpr std::size_t kLargestChunk = std::size_t{1} << 20;

/// Whether names are too many for an attribute: with its header it must fit into 64 kB.
bool long_names(const std::vector<std::string>& names) {
    constexpr std::size_t kMost = 60'000;
    std::size_t longest = 0;
    for (const std::string& name : names) longest = std::max(longest, name.size());
    return names.size() * (longest + 1) > kMost;
}

void describe(hid_t dataset, const ObservableInfo& info) {
    if (!info.unit.empty()) h5::set_attribute(dataset, "unit", info.unit);
    h5::set_attribute(dataset, "label", info.label);
    if (!info.components.empty() && !long_names(info.components)) {
        h5::set_attribute(dataset, "components", std::span<const std::string>(info.components));
    }
}

}  // namespace

std::size_t rows_per_chunk(std::uint64_t expected_rows, std::size_t width) {
    const std::uint64_t fit = std::clamp<std::uint64_t>(kLargestChunk / (width * sizeof(double)), 1, kMostRowsPerChunk);
    return static_cast<std::size_t>(expected_rows == 0 ? fit : std::clamp<std::uint64_t>(expected_rows, 1, fit));
}

RowDatasets::RowDatasets(hid_t file, const TrajectoryHeader& header) {
    const h5::Handle observables = h5::create_group(file, "observables");
    for (const ObservableInfo& info : header.observables) {
        const h5::Handle group = h5::create_group(observables, info.name);
        GrowingDataset::Shape shape{.entry = {},
                                    .entries_per_chunk = rows_per_chunk(header.expected_rows, info.width())};
        if (!info.components.empty()) shape.entry.push_back(info.components.size());
        describe(values_.emplace_back(group, "value", H5T_IEEE_F64LE, shape).id(), info);
        if (long_names(info.components)) h5::write_strings(group, "components", info.components);
        widths_.push_back(info.width());
        width_ += info.width();
        if (!step_) {
            const GrowingDataset::Shape clock{.entry = {},
                                              .entries_per_chunk = rows_per_chunk(header.expected_rows, 1)};
            step_.emplace(group, "step", H5T_STD_I64LE, clock);
            time_.emplace(group, "time", H5T_IEEE_F64LE, clock);
        } else {
            h5::hard_link(step_->id(), group, "step");
            h5::hard_link(time_->id(), group, "time");
        }
    }
}

void RowDatasets::collect(const ObservableRow& row) {
    if (row.values.size() != width_) throw std::invalid_argument("a row has another number of values than the header");
    times_.push_back(row.time);
    steps_.push_back(static_cast<std::int64_t>(row.step));
    collected_.insert(collected_.end(), row.values.begin(), row.values.end());
}

void RowDatasets::fill_up(std::size_t rows, double time, std::uint64_t step) {
    const ObservableRow empty{time, step, std::vector<double>(width_, std::numeric_limits<double>::quiet_NaN())};
    while (!values_.empty() && size() < rows) collect(empty);
}

void RowDatasets::write() {
    const std::size_t count = times_.size();
    if (count > 0 && step_) {
        step_->extend(written_ + count);
        step_->write(written_, count, H5T_NATIVE_INT64, steps_.data());
        time_->extend(written_ + count);
        time_->write(written_, count, H5T_NATIVE_DOUBLE, times_.data());
        std::size_t first = 0;
        for (std::size_t i = 0; i < values_.size(); ++i) {
            column_.clear();
            for (std::size_t row = 0; row < count; ++row) {
                const auto begin = collected_.begin() + static_cast<std::ptrdiff_t>(row * width_ + first);
                column_.insert(column_.end(), begin, begin + static_cast<std::ptrdiff_t>(widths_[i]));
            }
            values_[i].extend(written_ + count);
            values_[i].write(written_, count, H5T_NATIVE_DOUBLE, column_.data());
            first += widths_[i];
        }
    }
    written_ += count;
    times_.clear();
    steps_.clear();
    collected_.clear();
}

}  // namespace carom
