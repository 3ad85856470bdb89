#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/io/growing_dataset.hpp"
#include "host/io/trajectory_header.hpp"
#include "host/state/frame.hpp"

namespace carom {

/// The elements of /particles/all, which have an entry per frame.
class FrameDatasets {
public:
    /// Creates them; the one that readers take the number of frames from comes first (see OrderedFile).
    FrameDatasets(hid_t particles, const TrajectoryHeader& header);

    /// Makes all of them index + 1 long, and writes that entry.
    void append(std::size_t index, const Frame& frame);

private:
    /// Numbers per ball that seldom change from frame to frame: compressed once, and written again as they are.
    struct Repeated {
        GrowingDataset dataset;
        GrowingDataset::Chunks chunks;
        std::vector<std::int32_t> values;
    };

    GrowingDataset create(hid_t particles, const std::string& name, hid_t type, bool vectors, bool compressed = false);
    void append_vectors(GrowingDataset& dataset, std::size_t index, const Frame& frame,
                        const std::array<std::vector<double>, 3>& source);
    template <class Value, class Source>
    void append_blocks(GrowingDataset& dataset, std::size_t index, const Frame& frame, const Source& source,
                       Value gone);
    void append_repeated(Repeated& element, std::size_t index, bool changed);

    const std::size_t count_;
    const std::size_t rows_per_chunk_;
    const std::size_t frames_per_chunk_;
    const bool single_;
    std::optional<GrowingDataset> position_, velocity_, spin_, image_, edges_, step_, time_;
    std::optional<Repeated> species_, id_;
    std::array<double, 9> edge_matrix_{};
    std::vector<std::uint8_t> gone_;  // as of the last frame
    std::vector<std::byte> buffer_;   // one chunk of vectors
};

}  // namespace carom
