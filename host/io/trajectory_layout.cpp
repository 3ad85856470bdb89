#include "host/io/trajectory_layout.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "host/io/records.hpp"
#include "host/state/text.hpp"

namespace carom {

// The header.

namespace {

void write_h5md(hid_t file, const std::string& version) {
    const h5::Handle group = h5::create_group(file, "h5md");
    const std::array<std::int32_t, 2> h5md_version{1, 1};
    h5::set_attribute(group, "version", std::span<const std::int32_t>(h5md_version));
    const h5::Handle author = h5::create_group(group, "author");
    h5::set_attribute(author, "name", std::string("unknown"));  // H5MD demands one
    const h5::Handle creator = h5::create_group(group, "creator");
    h5::set_attribute(creator, "name", std::string("carom"));
    h5::set_attribute(creator, "version", version);
}

/// What H5MD calls the box, as far as MDAnalysis can bear it: dimension 3, and all axes periodic or none. The truth is
/// in /parameters/box.
void write_h5md_box(hid_t particles, const Box& box) {
    const h5::Handle group = h5::create_group(particles, "box");
    h5::set_attribute(group, "dimension", std::int64_t{3});
    bool all_periodic = true;
    for (int axis = 0; axis < box.dimension; ++axis) all_periodic = all_periodic && box.periodic(axis);
    const std::vector<std::string> boundary(3, all_periodic ? "periodic" : "none");
    h5::set_attribute(group, "boundary", std::span<const std::string>(boundary));
}

void write_units(hid_t parameters) {
    const h5::Handle group = h5::create_group(parameters, "units");
    h5::set_attribute(group, "system", std::string("any consistent one; SI assumed"));
    constexpr std::array<std::pair<const char*, const char*>, 6> kUnits{
        {{"length", "m"}, {"time", "s"}, {"mass", "kg"}, {"velocity", "m s-1"}, {"spin", "rad s-1"}, {"energy", "J"}}};
    for (const auto& [quantity, unit] : kUnits) h5::set_attribute(group, quantity, std::string(unit));
}

/// Groups of HDF5 forget the order of what is in them.
void write_observable_order(hid_t parameters, const std::vector<ObservableInfo>& observables) {
    std::vector<std::string> names;
    for (const ObservableInfo& info : observables) names.push_back(info.name);
    h5::write_strings(parameters, "observables", names);
}

/// Names of what a file holds become names of figures and tables, and stand in lines on a terminal.
/// \throws h5::Error  one is none, leads elsewhere, has control characters, or is there twice
std::vector<std::string> read_names(hid_t parameters, const char* of) {
    std::vector<std::string> names = h5::read_strings(parameters, of);
    std::set<std::string_view> seen;
    for (const std::string& name : names) {
        const bool usable = !name.empty() && !name.starts_with('.') && name.find('/') == std::string::npos;
        if (!usable || visible(name) != name) throw h5::Error("`" + visible(name) + "` is no name of an observable");
        if (!seen.insert(name).second) throw h5::Error("observable `" + name + "` is there twice");
    }
    return names;
}

std::vector<ObservableInfo> read_observable_infos(hid_t file, hid_t parameters) {
    std::vector<ObservableInfo> infos;
    for (const std::string& name : read_names(parameters, "observables")) {
        const h5::Handle value = h5::open_dataset(file, "observables/" + name + "/value");
        ObservableInfo info;
        info.name = name;
        if (h5::has_attribute(value, "unit")) info.unit = h5::string_attribute(value, "unit");
        if (h5::has_attribute(value, "label")) info.label = h5::string_attribute(value, "label");
        if (h5::has_attribute(value, "components")) {
            info.components = h5::strings_attribute(value, "components");
        } else if (const std::string names = "observables/" + name + "/components"; h5::exists(file, names)) {
            info.components = h5::read_strings(file, names);  // too many for an attribute
        }
        const auto extents = h5::extents(value);
        const bool scalar = info.components.empty() && extents.size() == 1;
        if (!scalar && (extents.size() != 2 || extents[1] != info.components.size())) {
            throw h5::Error("observable `" + name + "` has the wrong shape");
        }
        infos.push_back(std::move(info));
    }
    return infos;
}

}  // namespace

bool has_field(const TrajectoryHeader& header, const std::string& field) {
    return std::find(header.fields.begin(), header.fields.end(), field) != header.fields.end();
}

void write_trajectory_header(hid_t file, const TrajectoryHeader& header) {
    const std::string version = header.version.empty() ? program_version() : header.version;
    write_h5md(file, version);
    write_h5md_box(h5::open_group(file, "particles/all"), header.box);

    const h5::Handle parameters = h5::create_group(file, "parameters");
    h5::set_attribute(parameters, "format", std::string(kTrajectoryFormat));
    h5::set_attribute(parameters, "format_version", std::int64_t{kTrajectoryFormatVersion});
    h5::set_attribute(parameters, "title", header.title);
    h5::set_attribute(parameters, "fields", std::span<const std::string>(header.fields));
    if (!header.joined.empty()) h5::write_strings(parameters, "joined", header.joined);
    write_scene_text(parameters, "scene", header.scene_path, header.scene_source);
    write_box(parameters, "box", header.box);
    write_species_table(parameters, "species", header.species_table);
    h5::ArrayInParts species(parameters, "species_of_ball", H5T_NATIVE_UINT32, header.species.size());
    std::vector<std::uint32_t> rows(std::min(header.species.size(), balls_per_chunk(header.species.size())));
    for (std::size_t first = 0; first < header.species.size(); first += rows.size()) {
        rows.resize(std::min(rows.size(), header.species.size() - first));
        header.species.copy(first, rows);
        species.write(first, rows.size(), rows.data());
    }
    write_description(parameters, "solver", header.description);
    write_units(parameters);
    write_observable_order(parameters, header.observables);
    write_average_order(parameters, header.averages);
    h5::write_string(parameters, "summary", "", summary_capacity(header));
}

std::size_t summary_capacity(const TrajectoryHeader& header) {
    constexpr std::size_t kOfAll = 61440;    // what runs without averages, rows, walls and files of their own say
    constexpr std::size_t kRowsOfAll = 30;   // rather more than they have
    constexpr std::size_t kOfNumber = 1024;  // its mean, its error and what theory says, some 350
    const auto room = [](const std::string& name, std::size_t numbers) {
        return std::max<std::size_t>(numbers, 1) * (kOfNumber + 8 * name.size());
    };
    std::size_t capacity = kOfAll + header.summary_bytes;
    for (const AverageInfo& average : header.averages) {
        capacity += room(average.name, average.x.label.empty() ? average.components.size() : 1);
    }
    for (std::size_t k = kRowsOfAll; k < header.observables.size(); ++k) {
        capacity += room(header.observables[k].name, header.observables[k].width());
    }
    return capacity;
}

namespace {

/// Balls overlap little, and so do not fill much more than their box; drawing takes time as what they cover.
/// \throws h5::Error  they would
void require_room(const TrajectoryHeader& header) {
    constexpr double kMost = 100.0;  // times the box, for balls that stay where they are may overlap
    double room = kMost;
    double longest = 0.0;
    for (int axis = 0; axis < header.dimension(); ++axis) {
        room *= header.box.size[axis];
        longest = std::max(longest, header.box.size[axis]);
    }
    std::vector<double> counts(header.species_table.size());
    header.species.for_each_stretch(
        [&](std::uint32_t row, std::size_t count) { counts[row] += static_cast<double>(count); });
    double filled = 0.0;
    for (std::size_t row = 0; row < counts.size(); ++row) {
        const double radius = header.species_table[row].radius;
        if (counts[row] > 0.0 && radius > longest) throw h5::Error("a ball is larger than the box");
        // Bodies of infinite mass go through each other, and may all be in one place.
        if (std::isfinite(header.species_table[row].mass)) filled += counts[row] * std::pow(radius, header.dimension());
    }
    if (filled > room) throw h5::Error("its balls have no room in the box");
}

}  // namespace

TrajectoryHeader read_trajectory_header(hid_t file) {
    if (!h5::exists(file, "h5md") || !h5::exists(file, "parameters")) throw h5::Error("it is not from carom");
    const h5::Handle parameters = h5::open_group(file, "parameters");
    if (!h5::has_attribute(parameters, "format") || h5::string_attribute(parameters, "format") != kTrajectoryFormat) {
        throw h5::Error("it is no trajectory");
    }
    if (const auto version = h5::integer_attribute(parameters, "format_version"); version > kTrajectoryFormatVersion) {
        throw h5::Error("it is of format version " + std::to_string(version) + ", newer than this program's " +
                        std::to_string(kTrajectoryFormatVersion));
    }
    TrajectoryHeader header;
    header.version = h5::string_attribute(h5::open_group(file, "h5md/creator"), "version");
    header.title = h5::string_attribute(parameters, "title");
    header.fields = h5::strings_attribute(parameters, "fields");
    header.scene_source = read_scene_text(parameters, "scene", header.scene_path);
    if (h5::exists(parameters, "joined")) header.joined = h5::read_strings(parameters, "joined");
    header.box = read_box(parameters, "box");
    header.species_table = read_species_table(parameters, "species");
    header.species = h5::read_array<std::uint32_t>(parameters, "species_of_ball");
    header.species.for_each_stretch([&](std::uint32_t row, std::size_t) {
        if (row >= header.species_table.size()) throw h5::Error("a ball is of an unknown species");
    });
    require_room(header);
    header.description = read_description(parameters, "solver");
    header.observables = read_observable_infos(file, parameters);
    header.averages = read_average_infos(file, header.dimension());
    return header;
}

// A dataset that grows.

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

std::size_t GrowingDataset::entry_size() const {
    return std::accumulate(extents_.begin() + 1, extents_.end(), std::size_t{1}, std::multiplies<>());
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

GrowingDataset::Chunk GrowingDataset::raw_chunk(std::size_t entry, std::size_t row) const {
    const hsize_t offset[] = {entry, row, 0, 0};
    hsize_t size = 0;
    h5::check(H5Dget_chunk_storage_size(dataset_, offset, &size), "read the size of a chunk");
    Chunk chunk(size);
    std::uint32_t skipped_filters = 0;
    h5::check(H5Dread_chunk(dataset_, H5P_DEFAULT, offset, &skipped_filters, chunk.data()), "read a chunk");
    return skipped_filters == 0 ? chunk : Chunk{};
}

void GrowingDataset::write_raw_chunk(std::size_t entry, std::size_t row, const Chunk& chunk) {
    const hsize_t offset[] = {entry, row, 0, 0};
    h5::check(H5Dwrite_chunk(dataset_, H5P_DEFAULT, 0, offset, chunk.size(), chunk.data()), "write a chunk");
}

// Frames.

namespace {

/// Balls in a chunk: 6 MB of positions, which keeps the buffer small and the B-trees smaller.
constexpr std::size_t kMostBallsPerChunk = 1u << 18;
/// Several frames of few balls share a chunk of about this size [bytes].
constexpr std::size_t kSmallChunk = 16384;

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

/// Chunks of equal size, so that the last one is full as well.
std::size_t balls_per_chunk(std::size_t balls) {
    const std::size_t chunks = (balls + kMostBallsPerChunk - 1) / kMostBallsPerChunk;
    return chunks <= 1 ? std::max<std::size_t>(balls, 1) : (balls + chunks - 1) / chunks;
}

std::size_t frames_per_chunk(std::size_t balls, std::uint64_t expected_frames) {
    const std::size_t fit = kSmallChunk / (std::max<std::size_t>(balls, 1) * 3 * sizeof(double));
    const std::uint64_t expected = expected_frames == 0 ? kSmallChunk : expected_frames;
    return static_cast<std::size_t>(std::clamp<std::uint64_t>(fit, 1, std::max<std::uint64_t>(expected, 1)));
}

FrameDatasets::FrameDatasets(hid_t particles, const TrajectoryHeader& header)
    : count_(header.ball_count()),
      rows_per_chunk_(balls_per_chunk(count_)),
      frames_per_chunk_(frames_per_chunk(count_, header.expected_frames)),
      single_(header.single_precision()),
      edge_matrix_(edge_matrix(header)),
      species_of_(header.species),
      gone_((count_ + rows_per_chunk_ - 1) / rows_per_chunk_) {
    const hid_t real = single_ ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
    // Small chunks are written more than once, which a compressed one cannot be.
    const bool compressed = frames_per_chunk_ == 1;
    if (has_field(header, "position")) position_ = create(particles, "position", H5T_IEEE_F64LE, true);
    if (has_field(header, "velocity")) velocity_ = create(particles, "velocity", real, true);
    if (has_field(header, "spin")) spin_ = create(particles, "spin", real, true);
    if (has_field(header, "position")) image_ = create(particles, "image", H5T_STD_I32LE, true);
    const auto repeated = [&](const char* name) {
        return Repeated{create(particles, name, H5T_STD_I32LE, false, compressed),
                        std::vector<GrowingDataset::Chunk>(gone_.size())};
    };
    if (has_field(header, "species")) species_.emplace(repeated("species"));
    id_.emplace(repeated("id"));

    const h5::Handle edges = h5::create_group(h5::open_group(particles, "box"), "edges");
    edges_.emplace(edges, "value", H5T_IEEE_F64LE,
                   GrowingDataset::Shape{
                       .entry = {3, 3}, .entries_per_chunk = frames_per_chunk_ == 1 ? kEdgesChunk : frames_per_chunk_});
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
        const GrowingDataset::Shape clock{.entry = {}, .entries_per_chunk = kClockChunk};
        step_.emplace(group, "step", H5T_STD_I64LE, clock);
        time_.emplace(group, "time", H5T_IEEE_F64LE, clock);
    } else {
        h5::hard_link(step_->id(), group, "step");
        h5::hard_link(time_->id(), group, "time");
    }
    return dataset;
}

void FrameDatasets::begin(std::size_t index, const Frame& frame) {
    const auto step = static_cast<std::int64_t>(frame.step);
    step_->extend(index + 1);
    step_->write(index, 1, H5T_NATIVE_INT64, &step);
    time_->extend(index + 1);
    time_->write(index, 1, H5T_NATIVE_DOUBLE, &frame.time);
    edges_->extend(index + 1);
    edges_->write(index, 1, H5T_NATIVE_DOUBLE, edge_matrix_.data());
    for (auto* const dataset : {&position_, &velocity_, &spin_, &image_}) {
        if (*dataset) (*dataset)->extend(index + 1);
    }
    for (auto* const element : {&id_, &species_}) {
        if (*element) (*element)->dataset.extend(index + 1);
    }
}

void FrameDatasets::append(std::size_t index, const Frame& frame) {
    if (frame.first == 0) begin(index, frame);
    for (std::size_t at = 0; at < frame.size(); at += rows_per_chunk_) {
        const Rows rows{frame, at, std::min(rows_per_chunk_, frame.size() - at)};
        if (position_) write_vectors(*position_, index, rows, frame.position);
        if (velocity_) write_vectors(*velocity_, index, rows, frame.velocity);
        if (spin_) write_vectors(*spin_, index, rows, frame.spin);
        if (image_) write_block<std::int32_t>(*image_, index, rows, frame.image, 0);

        const auto gone = std::span(frame.gone).subspan(at, rows.count);
        std::vector<std::uint8_t>& before = gone_[rows.id() / rows_per_chunk_];
        const bool any = std::ranges::any_of(gone, [](std::uint8_t one) { return one != 0; });
        const bool left = before.empty() ? any : !std::ranges::equal(before, gone);
        if (left) before.assign(gone.begin(), gone.end());
        const auto id_of = [&](std::size_t id) {
            return gone[id - rows.id()] != 0 ? -1 : static_cast<std::int32_t>(id);
        };
        const auto species_of = [&](std::size_t id) { return static_cast<std::int32_t>(species_of_[id]); };
        write_repeated(*id_, index, rows, left, id_of);
        if (species_) write_repeated(*species_, index, rows, false, species_of);
    }
}

void FrameDatasets::write_vectors(GrowingDataset& dataset, std::size_t index, const Rows& rows,
                                  const std::array<std::vector<double>, 3>& source) {
    if (single_ && &source != &rows.frame.position) {
        write_block<float>(dataset, index, rows, source, std::numeric_limits<float>::quiet_NaN());
    } else {
        write_block<double>(dataset, index, rows, source, std::numeric_limits<double>::quiet_NaN());
    }
}

template <class Value, class Source>
void FrameDatasets::write_block(GrowingDataset& dataset, std::size_t index, const Rows& rows, const Source& source,
                                Value gone) {
    buffer_.resize(rows.count * 3 * sizeof(Value));
    auto* const values = reinterpret_cast<Value*>(buffer_.data());
    for (std::size_t axis = 0; axis < 3; ++axis) {
        Value* out = values + axis;
        if (source[axis].empty()) {
            for (std::size_t row = 0; row < rows.count; ++row) out[3 * row] = Value{};
        } else {
            const auto* in = source[axis].data() + rows.begin;
            for (std::size_t row = 0; row < rows.count; ++row) out[3 * row] = static_cast<Value>(in[row]);
        }
    }
    for (std::size_t row = 0; row < rows.count; ++row) {
        if (rows.frame.gone[rows.begin + row]) std::fill_n(values + 3 * row, 3, gone);
    }
    // What is not written reads as zero. Only whole chunks: a shared one may hold another frame already.
    if (frames_per_chunk_ == 1 && all_zero(buffer_, buffer_.size())) return;
    dataset.write_rows(index, rows.id(), rows.count, h5::memory_type<Value>(), values);
}

template <class Value>
void FrameDatasets::write_repeated(Repeated& element, std::size_t index, const Rows& rows, bool changed,
                                   const Value& value) {
    GrowingDataset::Chunk& chunk = element.chunks[rows.id() / rows_per_chunk_];
    if (!changed && !chunk.empty()) {
        element.dataset.write_raw_chunk(index, rows.id(), chunk);
        return;
    }
    buffer_.resize(rows.count * sizeof(std::int32_t));
    auto* const values = reinterpret_cast<std::int32_t*>(buffer_.data());
    for (std::size_t row = 0; row < rows.count; ++row) values[row] = value(rows.id() + row);
    element.dataset.write_rows(index, rows.id(), rows.count, H5T_NATIVE_INT32, values);
    if (frames_per_chunk_ == 1) chunk = element.dataset.raw_chunk(index, rows.id());
}

// Rows.

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
    for (; !values_.empty() && size() < rows; ++filled_) collect(empty);
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

// Averages.

namespace {

constexpr const char* kOrder = "averages";
/// Entries share a chunk up to this size: few tables would else take a page each.
constexpr std::size_t kChunkBytes = 1u << 14;

bool has_axis(const AverageAxis& axis) { return !axis.label.empty(); }

/// Extents of one value: components, then y, then x, as far as there are several.
std::vector<hsize_t> shape_of(const AverageInfo& info) {
    std::vector<hsize_t> shape;
    if (!info.components.empty()) shape.push_back(info.components.size());
    if (has_axis(info.y)) shape.push_back(info.y.points);
    if (has_axis(info.x)) shape.push_back(info.x.points);
    return shape;
}

/// How many frames are in one chunk: no more than are expected, so that small files stay small.
std::size_t frames_in_chunk(std::uint64_t expected_frames, std::size_t numbers) {
    const std::uint64_t fit = std::max<std::uint64_t>(1, kChunkBytes / (numbers * sizeof(double)));
    return static_cast<std::size_t>(expected_frames == 0 ? fit : std::min(expected_frames, fit));
}

void set_if_any(hid_t object, const std::string& name, const std::string& value) {
    if (!value.empty()) h5::set_attribute(object, name, value);
}

std::string get_if_any(hid_t object, const std::string& name) {
    return h5::has_attribute(object, name) ? h5::string_attribute(object, name) : "";
}

std::string path_of(const AverageInfo& info, const std::string& name) {
    return "observables/" + info.name + "/" + name;
}

AverageAxis read_axis(hid_t group, const std::string& name) {
    if (!h5::exists(group, name)) return {};
    const h5::Handle dataset = h5::open_dataset(group, name);
    const auto extents = h5::extents(dataset);
    AverageAxis axis{h5::string_attribute(dataset, "label"), get_if_any(dataset, "unit"), 0};
    if (extents.size() == 2) axis.points = extents[1];
    if (axis.points == 0 || !has_axis(axis)) throw h5::Error("an axis of an average has the wrong shape");
    return axis;
}

/// One entry of a dataset that has one per frame, of so many numbers.
std::vector<double> read_entry(hid_t file, const std::string& path, std::size_t frame, std::size_t numbers) {
    const h5::Handle dataset = h5::open_dataset(file, path);
    std::vector<hsize_t> extents = h5::extents(dataset);
    if (extents.empty() || frame >= extents[0]) throw h5::Error("`" + path + "` is too short");
    std::vector<hsize_t> start(extents.size(), 0);
    start[0] = frame;
    extents[0] = 1;
    const std::size_t count = h5::product(extents);
    if (count != numbers) throw h5::Error("`" + path + "` has the wrong shape");
    if (!h5::may_hold(dataset, count)) throw h5::Error("`" + path + "` holds less than its extent says");
    const h5::Handle in_file(H5Dget_space(dataset), H5Sclose, "read a dataspace");
    h5::check(H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start.data(), nullptr, extents.data(), nullptr),
              "select a part");
    const h5::Handle in_memory(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose,
                               "create a dataspace");
    std::vector<double> values(count);
    h5::read(dataset, H5T_NATIVE_DOUBLE, in_memory, in_file, values.data());
    return values;
}

void append_entry(GrowingDataset& dataset, std::size_t frame, std::span<const double> values) {
    if (values.size() != dataset.entry_size()) throw std::invalid_argument("an average of another shape");
    dataset.extend(frame + 1);
    dataset.write(frame, 1, H5T_NATIVE_DOUBLE, values.data());
}

}  // namespace

double average_bytes(const AverageInfo& info, std::uint64_t frames, std::uint64_t expected_frames) {
    constexpr double kStructure = 26'000;  // a group, its datasets and their attributes [bytes]: measured
    const auto dataset = [&](std::size_t numbers) {
        const std::uint64_t chunk = frames_in_chunk(expected_frames, numbers);
        const std::uint64_t entries = (frames + chunk - 1) / chunk * chunk;
        return static_cast<double>(entries) * static_cast<double>(numbers * sizeof(double));
    };
    double bytes = kStructure + 3.0 * dataset(1) + (has_axis(info.x) ? 2.0 : 3.0) * dataset(info.width());
    for (const AverageAxis* axis : {&info.x, &info.y}) {
        if (has_axis(*axis)) bytes += dataset(axis->points);
    }
    return bytes;
}

AverageDatasets::AverageDatasets(hid_t file, const TrajectoryHeader& header) {
    const auto make_dataset = [&](hid_t group, const std::string& name, const std::vector<hsize_t>& entry) {
        const auto numbers = std::accumulate(entry.begin(), entry.end(), std::size_t{1}, std::multiplies<>());
        const GrowingDataset::Shape shape{.entry = entry,
                                          .entries_per_chunk = frames_in_chunk(header.expected_frames, numbers)};
        return GrowingDataset(group, name, H5T_IEEE_F64LE, shape);
    };
    for (const AverageInfo& info : header.averages) {
        const h5::Handle group = h5::create_group(h5::open_group(file, "observables"), info.name);
        Element element{info,
                        make_dataset(group, "value", shape_of(info)),
                        make_dataset(group, "error", shape_of(info)),
                        make_dataset(group, "samples", {}),
                        make_dataset(group, "independent", {}),
                        make_dataset(group, "drift", {}),
                        {},
                        {},
                        {}};
        if (!has_axis(info.x))
            element.correlation_time.emplace(make_dataset(group, "correlation_time", shape_of(info)));
        h5::set_attribute(group, "kind", info.kind);
        h5::set_attribute(group, "normalisation", info.normalisation);
        set_if_any(group, "species", info.species);
        h5::set_attribute(group, "every", info.every);
        h5::set_attribute(group, "from", info.from);
        for (const GrowingDataset* dataset : {&element.value, &element.error}) {
            set_if_any(dataset->id(), "unit", info.unit);
            h5::set_attribute(dataset->id(), "label", info.label);
            if (!info.components.empty()) {
                h5::set_attribute(dataset->id(), "components", std::span<const std::string>(info.components));
            }
        }
        const auto make_axis = [&](std::optional<GrowingDataset>& target, const AverageAxis& axis, const char* name) {
            if (!has_axis(axis)) return;
            target.emplace(make_dataset(group, name, {axis.points}));
            h5::set_attribute(target->id(), "label", axis.label);
            set_if_any(target->id(), "unit", axis.unit);
        };
        make_axis(element.x, info.x, "x");
        make_axis(element.y, info.y, "y");
        if (!step_) {
            const GrowingDataset::Shape clock{.entry = {},
                                              .entries_per_chunk = frames_in_chunk(header.expected_frames, 1)};
            step_.emplace(group, "step", H5T_STD_I64LE, clock);
            time_.emplace(group, "time", H5T_IEEE_F64LE, clock);
        } else {
            h5::hard_link(step_->id(), group, "step");
            h5::hard_link(time_->id(), group, "time");
        }
        elements_.push_back(std::move(element));
    }
}

void AverageDatasets::append(std::size_t frame, double time, std::uint64_t step,
                             const std::vector<AverageTable>& tables) {
    if (elements_.empty()) return;
    const auto whole_step = static_cast<std::int64_t>(step);
    step_->extend(frame + 1);
    step_->write(frame, 1, H5T_NATIVE_INT64, &whole_step);
    append_entry(*time_, frame, {&time, 1});
    for (std::size_t k = 0; k < elements_.size(); ++k) {
        Element& element = elements_[k];
        append_entry(element.value, frame, tables[k].values);
        append_entry(element.error, frame, tables[k].errors);
        append_entry(element.samples, frame, {&tables[k].samples, 1});
        const double independent = tables[k].steadiness.independent();
        const double drift = tables[k].steadiness.drift();
        append_entry(element.independent, frame, {&independent, 1});
        append_entry(element.drift, frame, {&drift, 1});
        if (element.correlation_time) {
            std::vector<double> times = tables[k].correlation_times;
            times.resize(tables[k].values.size(), std::numeric_limits<double>::quiet_NaN());
            append_entry(*element.correlation_time, frame, times);
        }
        if (element.x) append_entry(*element.x, frame, tables[k].x);
        if (element.y) append_entry(*element.y, frame, tables[k].y);
    }
}

void write_average_order(hid_t parameters, const std::vector<AverageInfo>& infos) {
    std::vector<std::string> names;
    for (const AverageInfo& info : infos) names.push_back(info.name);
    if (!names.empty()) h5::write_strings(parameters, kOrder, names);
}

std::vector<AverageInfo> read_average_infos(hid_t file, int dimension) {
    std::vector<AverageInfo> infos;
    const h5::Handle parameters = h5::open_group(file, "parameters");
    if (!h5::exists(parameters, kOrder)) return infos;
    for (const std::string& name : read_names(parameters, kOrder)) {
        const h5::Handle group = h5::open_group(file, "observables/" + name);
        const h5::Handle value = h5::open_dataset(group, "value");
        AverageInfo info;
        info.name = name;
        info.kind = h5::string_attribute(group, "kind");
        info.normalisation = h5::string_attribute(group, "normalisation");
        info.species = get_if_any(group, "species");
        info.every = h5::double_attribute(group, "every");
        info.from = h5::double_attribute(group, "from");
        info.unit = get_if_any(value, "unit");
        info.label = h5::string_attribute(value, "label");
        if (h5::has_attribute(value, "components")) info.components = h5::strings_attribute(value, "components");
        info.x = read_axis(group, "x");
        info.y = read_axis(group, "y");
        const auto extents = h5::extents(value);
        const std::array<hsize_t, 3> expected{std::max<hsize_t>(info.components.size(), 1), info.x.points,
                                              info.y.points};
        if (extents.empty() || h5::product(std::span(extents).subspan(1)) != h5::product(expected) ||
            !info.is_sound(dimension)) {
            throw h5::Error("average `" + name + "` has the wrong shape");
        }
        infos.push_back(std::move(info));
    }
    return infos;
}

AverageTable read_average(hid_t file, const AverageInfo& info, std::size_t frame) {
    const auto read = [&](const char* name, std::size_t numbers) {
        return read_entry(file, path_of(info, name), frame, numbers);
    };
    AverageTable table;
    table.values = read("value", info.width());
    table.errors = read("error", info.width());
    table.samples = read("samples", 1)[0];
    if (h5::exists(file, path_of(info, "independent"))) {  // not in files of before
        table.steadiness = {read("independent", 1)[0], read("drift", 1)[0]};
    }
    if (h5::exists(file, path_of(info, "correlation_time"))) {
        table.correlation_times = read("correlation_time", info.width());
    }
    if (has_axis(info.x)) table.x = read("x", info.x.points);
    if (has_axis(info.y)) table.y = read("y", info.y.points);
    for (const auto* axis : {&table.x, &table.y}) {
        const bool whole = std::ranges::all_of(*axis, [](double at) { return std::isfinite(at); });
        if (!whole) throw h5::Error("an axis of average `" + info.name + "` is not finite");
    }
    return table;
}

// Changes.

namespace {

constexpr std::size_t kChangeBytes = 256;  // of a text, its closing zero included
constexpr std::size_t kChangesPerChunk = 16;
const std::string kChanges = "parameters/changes";

h5::Handle text_type() {
    h5::Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "create a type");
    h5::check(H5Tset_size(type, kChangeBytes), "create a type");
    h5::check(H5Tset_cset(type, H5T_CSET_UTF8), "create a type");
    return type;
}

GrowingDataset make_change(hid_t file, const std::string& name, hid_t type) {
    return {h5::open_group(file, kChanges), name, type, {.entry = {}, .entries_per_chunk = kChangesPerChunk}};
}

hid_t make_change_group(hid_t file) {
    h5::create_group(file, kChanges);
    return file;
}

/// As many bytes as fit, whole characters.
std::string shortened(const std::string& text) {
    constexpr std::size_t kMost = 250;
    std::size_t end = std::min(text.size(), kMost);
    while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    return text.substr(0, end);
}

}  // namespace

ChangeDatasets::ChangeDatasets(hid_t file)
    : time_(make_change(make_change_group(file), "time", H5T_IEEE_F64LE)),
      step_(make_change(file, "step", H5T_STD_I64LE)),
      what_(make_change(file, "what", text_type())) {}

void ChangeDatasets::append(const RunChange& change) {
    const auto step = static_cast<std::int64_t>(change.step);
    std::array<char, kChangeBytes> text{};
    std::ranges::copy(shortened(change.what), text.begin());
    time_.extend(count_ + 1);
    step_.extend(count_ + 1);
    what_.extend(count_ + 1);
    time_.write(count_, 1, H5T_NATIVE_DOUBLE, &change.time);
    step_.write(count_, 1, H5T_NATIVE_INT64, &step);
    what_.write(count_, 1, text_type(), text.data());
    ++count_;
}

std::vector<RunChange> read_changes(hid_t file) {
    std::vector<RunChange> changes;
    if (!h5::exists(file, kChanges)) return changes;
    const auto times = h5::read_array<double>(file, kChanges + "/time");
    const auto steps = h5::read_array<std::uint64_t>(file, kChanges + "/step");
    const auto texts = h5::read_strings(file, kChanges + "/what");
    for (std::size_t k = 0; k < std::min({times.size(), steps.size(), texts.size()}); ++k) {
        changes.push_back({times[k], steps[k], texts[k]});
    }
    return changes;
}

}  // namespace carom
