#include "host/io/frame_datasets.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "host/io/trajectory_layout.hpp"

namespace carom {

namespace {

/// Balls in a chunk: 6 MB of positions, which keeps the buffer small and the B-trees smaller.
constexpr std::size_t kMostRowsPerChunk = 1u << 18;
/// Several frames of few balls share a chunk of about this size [bytes].
constexpr std::size_t kSmallChunk = 16384;

/// Chunks of equal size, so that the last one is full as well.
std::size_t rows_per_chunk(std::size_t balls) {
    const std::size_t chunks = (balls + kMostRowsPerChunk - 1) / kMostRowsPerChunk;
    return chunks <= 1 ? std::max<std::size_t>(balls, 1) : (balls + chunks - 1) / chunks;
}

std::size_t frames_per_chunk(std::size_t balls, std::uint64_t expected_frames) {
    const std::size_t fit = kSmallChunk / (std::max<std::size_t>(balls, 1) * 3 * sizeof(double));
    const std::uint64_t expected = expected_frames == 0 ? kSmallChunk : expected_frames;
    return static_cast<std::size_t>(std::clamp<std::uint64_t>(fit, 1, std::max<std::uint64_t>(expected, 1)));
}

/// The box as basis vectors, one per row; MDAnalysis understands no shorter form. A 2D system is a layer as thick as
/// its largest ball.
std::array<double, 9> edge_matrix(const TrajectoryHeader& header) {
    double depth = header.box.size[2];
    if (header.dimension() == 2) {
        double largest = 0.0;
        for (const Species& species : header.species_table) largest = std::max(largest, 2.0 * species.radius);
        depth = largest > 0.0 ? largest : 1.0;
    }
    return {header.box.size[0], 0.0, 0.0, 0.0, header.box.size[1], 0.0, 0.0, 0.0, depth};
}

bool all_zero(const std::vector<std::byte>& bytes, std::size_t size) {
    return std::all_of(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size),
                       [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace

FrameDatasets::FrameDatasets(hid_t particles, const TrajectoryHeader& header)
    : count_(header.ball_count()),
      rows_per_chunk_(rows_per_chunk(count_)),
      frames_per_chunk_(frames_per_chunk(count_, header.expected_frames)),
      single_(header.single_precision()),
      edge_matrix_(edge_matrix(header)),
      gone_(count_, 0) {
    const hid_t real = single_ ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
    // Small chunks are written more than once, which a compressed one cannot be.
    const bool compressed = frames_per_chunk_ == 1;
    if (has_field(header, "position")) position_ = create(particles, "position", H5T_IEEE_F64LE, true);
    if (has_field(header, "velocity")) velocity_ = create(particles, "velocity", real, true);
    if (has_field(header, "spin")) spin_ = create(particles, "spin", real, true);
    if (has_field(header, "position")) image_ = create(particles, "image", H5T_STD_I32LE, true);
    if (has_field(header, "species")) {
        species_.emplace(Repeated{create(particles, "species", H5T_STD_I32LE, false, compressed), {}, {}});
        species_->values.assign(header.species.begin(), header.species.end());
    }
    id_.emplace(Repeated{create(particles, "id", H5T_STD_I32LE, false, compressed), {}, {}});
    id_->values.resize(count_);
    std::iota(id_->values.begin(), id_->values.end(), 0);

    const h5::Handle edges = h5::create_group(h5::open_group(particles, "box"), "edges");
    edges_.emplace(
        edges, "value", H5T_IEEE_F64LE,
        GrowingDataset::Shape{.entry = {3, 3}, .entries_per_chunk = frames_per_chunk_ == 1 ? 64 : frames_per_chunk_});
    h5::hard_link(step_->id(), edges, "step");
    h5::hard_link(time_->id(), edges, "time");
}

GrowingDataset FrameDatasets::create(hid_t particles, const std::string& name, hid_t type, bool vectors,
                                     bool compressed) {
    const h5::Handle group = h5::create_group(particles, name);
    GrowingDataset::Shape shape{.entry = {count_},
                                .entries_per_chunk = frames_per_chunk_,
                                .rows_per_chunk = rows_per_chunk_,
                                .compressed = compressed};
    if (vectors) shape.entry.push_back(3);
    GrowingDataset dataset(group, "value", type, shape);
    if (!step_) {
        const GrowingDataset::Shape clock{.entry = {}, .entries_per_chunk = 512};
        step_.emplace(group, "step", H5T_STD_I64LE, clock);
        time_.emplace(group, "time", H5T_IEEE_F64LE, clock);
    } else {
        h5::hard_link(step_->id(), group, "step");
        h5::hard_link(time_->id(), group, "time");
    }
    return dataset;
}

void FrameDatasets::append(std::size_t index, const Frame& frame) {
    const auto step = static_cast<std::int64_t>(frame.step);
    step_->extend(index + 1);
    step_->write(index, 1, H5T_NATIVE_INT64, &step);
    time_->extend(index + 1);
    time_->write(index, 1, H5T_NATIVE_DOUBLE, &frame.time);
    edges_->extend(index + 1);
    edges_->write(index, 1, H5T_NATIVE_DOUBLE, edge_matrix_.data());

    if (position_) append_vectors(*position_, index, frame, frame.position);
    if (velocity_) append_vectors(*velocity_, index, frame, frame.velocity);
    if (spin_) append_vectors(*spin_, index, frame, frame.spin);
    if (image_) append_blocks<std::int32_t>(*image_, index, frame, frame.image, 0);

    const bool left = frame.gone != gone_;
    if (left) {
        gone_ = frame.gone;
        for (std::size_t id = 0; id < count_; ++id) id_->values[id] = gone_[id] ? -1 : static_cast<std::int32_t>(id);
    }
    append_repeated(*id_, index, left);
    if (species_) append_repeated(*species_, index, false);
}

void FrameDatasets::append_vectors(GrowingDataset& dataset, std::size_t index, const Frame& frame,
                                   const std::array<std::vector<double>, 3>& source) {
    if (single_ && &source != &frame.position) {
        append_blocks<float>(dataset, index, frame, source, std::numeric_limits<float>::quiet_NaN());
    } else {
        append_blocks<double>(dataset, index, frame, source, std::numeric_limits<double>::quiet_NaN());
    }
}

template <class Value, class Source>
void FrameDatasets::append_blocks(GrowingDataset& dataset, std::size_t index, const Frame& frame, const Source& source,
                                  Value gone) {
    dataset.extend(index + 1);
    buffer_.resize(std::min(count_, rows_per_chunk_) * 3 * sizeof(Value));
    auto* const values = reinterpret_cast<Value*>(buffer_.data());
    for (std::size_t begin = 0; begin < count_; begin += rows_per_chunk_) {
        const std::size_t rows = std::min(rows_per_chunk_, count_ - begin);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            Value* out = values + axis;
            if (source[axis].empty()) {
                for (std::size_t row = 0; row < rows; ++row) out[3 * row] = Value{};
            } else {
                const auto* in = source[axis].data() + begin;
                for (std::size_t row = 0; row < rows; ++row) out[3 * row] = static_cast<Value>(in[row]);
            }
        }
        for (std::size_t row = 0; row < rows; ++row) {
            if (frame.gone[begin + row]) std::fill_n(values + 3 * row, 3, gone);
        }
        // What is not written reads as zero. Only whole chunks: a shared one may hold another frame already.
        if (frames_per_chunk_ == 1 && all_zero(buffer_, rows * 3 * sizeof(Value))) continue;
        dataset.write_rows(index, begin, rows, h5::memory_type<Value>(), values);
    }
}

void FrameDatasets::append_repeated(Repeated& element, std::size_t index, bool changed) {
    element.dataset.extend(index + 1);
    if (!changed && !element.chunks.empty()) {
        element.dataset.write_raw_chunks(index, element.chunks);
        return;
    }
    element.dataset.write(index, 1, H5T_NATIVE_INT32, element.values.data());
    if (frames_per_chunk_ == 1 && count_ > 0) element.chunks = element.dataset.raw_chunks(index);
}

}  // namespace carom
