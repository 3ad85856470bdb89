#include "host/io/trajectory_reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <string_view>

#include "host/io/checkpoint.hpp"
#include "host/io/hdf5.hpp"
#include "host/io/nearest_time.hpp"
#include "host/io/trajectory_layout.hpp"
#include "host/scene/load.hpp"
#include "host/state/errors.hpp"
#include "host/state/text.hpp"

namespace carom {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
/// Balls that are read at a time.
constexpr std::size_t kBlock = 1u << 18;

const std::string kParticles = "particles/all/";

std::string element_value(const std::string& element) { return kParticles + element + "/value"; }

}  // namespace

std::size_t ObservableTable::column(const std::string& name) const {
    std::size_t first = 0;
    for (const ObservableInfo& info : observables) {
        if (info.name == name) return first;
        first += info.width();
    }
    return width;
}

std::optional<double> ObservableTable::value(const std::string& name, double when) const {
    constexpr double kRounding = 1e-9;
    const double room = kRounding * std::abs(when);
    const std::size_t wanted = column(name);
    const auto row = std::ranges::lower_bound(time, when - room);
    if (wanted >= width || row == time.end() || !(*row <= when + room)) return std::nullopt;
    return at(static_cast<std::size_t>(row - time.begin()), wanted);
}

class TrajectoryReader::Impl {
public:
    Impl(const std::string& path, int descriptor) : path_(path), file_(path, "trajectory of carom", descriptor) {
        file_.read([&](hid_t file) {
            refuse_checkpoint(file);
            header_ = read_trajectory_header(file);
            read_clock(file);
        });
    }

    void read(std::size_t index, Frame& frame) const {
        if (index >= times_.size()) {
            throw InputError(fmt::format("{}: there is no frame {}; it has {} frame{}", path_, index, times_.size(),
                                         times_.size() == 1 ? "" : "s, counted from 0"));
        }
        frame.resize(header_.dimension(), header_.ball_count());
        frame.time = times_[index];
        frame.step = steps_[index];
        file_.read([&](hid_t file) {
            read_real(file, "position", index, frame, frame.position);
            read_real(file, "velocity", index, frame, frame.velocity);
            read_real(file, "spin", index, frame, frame.spin);
            read_element<std::int32_t>(file, "image", index, frame, frame.image, 0);
            read_gone(file, index, frame);
        });
    }

    [[nodiscard]] ObservableTable observables() const {
        ObservableTable table;
        table.observables = header_.observables;
        for (const ObservableInfo& info : table.observables) table.width += info.width();
        if (!table.observables.empty()) read_table(table);
        return table;
    }

    [[nodiscard]] std::vector<AverageTable> averages(std::size_t frame) const {
        std::vector<AverageTable> tables;
        file_.read([&](hid_t file) {
            tables.clear();
            for (const AverageInfo& info : header_.averages) tables.push_back(read_average(file, info, frame));
        });
        return tables;
    }

    [[nodiscard]] AverageTable average(const std::string& name, std::size_t frame) const {
        const auto info = std::ranges::find(header_.averages, name, &AverageInfo::name);
        if (info == header_.averages.end()) throw InputError(path_ + ": holds no average '" + name + "'");
        AverageTable table;
        file_.read([&](hid_t file) { table = read_average(file, *info, frame); });
        return table;
    }

    [[nodiscard]] std::vector<RunChange> changes() const {
        std::vector<RunChange> changes;
        file_.read([&](hid_t file) { changes = read_changes(file); });
        return changes;
    }

    [[nodiscard]] std::string summary() const {
        std::string text;
        file_.read([&](hid_t file) {
            // That of a run that goes on, or was killed, is room for one alone.
            if (h5::is_written(file, "parameters/summary")) text = h5::read_string(file, "parameters/summary");
            if (nests_too_deep(text)) throw h5::Error("its summary is none");
        });
        return text;
    }

    std::string path_;
    ReadableFile file_;
    TrajectoryHeader header_;
    std::vector<double> times_;
    std::vector<std::uint64_t> steps_;

private:
    /// It lies beside the trajectory, and is easily taken for it.
    void refuse_checkpoint(hid_t file) const {
        if (!h5::has_attribute(file, "format") || h5::string_attribute(file, "format") != kCheckpointFormat) return;
        constexpr std::string_view kCheckpointSuffix = ".checkpoint.h5";  // of NAME.h5, if nothing else is asked for
        std::string trajectory = path_;
        const std::size_t suffix = trajectory.rfind(kCheckpointSuffix);
        if (suffix != std::string::npos) trajectory.replace(suffix, std::string::npos, ".h5");
        const bool there = suffix != std::string::npos && ::access(trajectory.c_str(), F_OK) == 0;
        throw InputError(
            fmt::format("{}: is a checkpoint, which carom run --resume takes; give the trajectory of its run{}", path_,
                        there ? ", " + trajectory : ""));
    }

    /// A writer may have been killed between the lengths of two datasets: a frame is one that all of them have.
    void read_clock(hid_t file) {
        const std::string clock = kParticles + "id";
        times_ = h5::read_array<double>(file, clock + "/time");
        steps_ = h5::read_array<std::uint64_t>(file, clock + "/step");
        std::size_t frames = std::min(times_.size(), steps_.size());
        for (const std::string_view element : {"position", "velocity", "spin", "image", "species", "id"}) {
            const std::string name(element);
            if (!h5::exists(file, kParticles + name)) {
                if (has_field(header_, element == "image" ? "position" : name))
                    throw h5::Error("`" + name + "` is missing");
                continue;
            }
            const auto extents = h5::extents(h5::open_dataset(file, element_value(name)));
            const bool vectors = element != "species" && element != "id";
            if (extents.size() != (vectors ? 3 : 2) || extents[1] != header_.ball_count() ||
                (vectors && extents[2] != 3)) {
                throw h5::Error(fmt::format("`{}` has the wrong shape", element));
            }
            frames = std::min<std::size_t>(frames, extents[0]);
        }
        times_.resize(frames);
        steps_.resize(frames);
        if (!std::ranges::all_of(times_, [](double time) { return std::isfinite(time); })) {
            throw h5::Error("the time of a frame is no number");
        }
        if (!std::ranges::is_sorted(times_) || (frames > 0 && times_[0] < 0.0)) {
            throw h5::Error("the times of its frames do not rise from 0 on");
        }
    }

    void read_real(hid_t file, const std::string& element, std::size_t index, const Frame& frame,
                   std::array<std::vector<double>, 3>& target) const {
        if (!header_.single_precision() || element == "position") {
            read_element<double>(file, element, index, frame, target, kNan);
        } else {
            read_element<float>(file, element, index, frame, target, kNan);
        }
    }

    /// \param missing  stands for what the file does not hold
    template <class Stored, class Value>
    void read_element(hid_t file, const std::string& element, std::size_t index, const Frame& frame,
                      std::array<std::vector<Value>, 3>& target, Value missing) const {
        if (!h5::exists(file, kParticles + element)) {
            for (auto& axis : target) std::fill(axis.begin(), axis.end(), missing);
            return;
        }
        const h5::Handle dataset = h5::open_dataset(file, element_value(element));
        const h5::Handle in_file(H5Dget_space(dataset), H5Sclose, "read a dataspace");
        std::vector<Stored> block(std::min(kBlock, frame.size()) * 3);
        for (std::size_t begin = 0; begin < frame.size(); begin += kBlock) {
            const std::size_t rows = std::min(kBlock, frame.size() - begin);
            const hsize_t start[] = {index, begin, 0};
            const hsize_t count[] = {1, rows, 3};
            h5::check(H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, nullptr, count, nullptr), "select a part");
            const h5::Handle in_memory(H5Screate_simple(3, count, nullptr), H5Sclose, "create a dataspace");
            h5::read(dataset, h5::memory_type<Stored>(), in_memory, in_file, block.data());
            for (std::size_t axis = 0; axis < 3; ++axis) {
                if (target[axis].empty()) continue;
                for (std::size_t row = 0; row < rows; ++row) target[axis][begin + row] = block[3 * row + axis];
            }
        }
    }

    void read_gone(hid_t file, std::size_t index, Frame& frame) const {
        if (frame.size() == 0) return;
        const h5::Handle dataset = h5::open_dataset(file, element_value("id"));
        const h5::Handle in_file(H5Dget_space(dataset), H5Sclose, "read a dataspace");
        const hsize_t start[] = {index, 0};
        const hsize_t count[] = {1, frame.size()};
        h5::check(H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, nullptr, count, nullptr), "select a part");
        const h5::Handle in_memory(H5Screate_simple(2, count, nullptr), H5Sclose, "create a dataspace");
        std::vector<std::int32_t> ids(frame.size());
        h5::read(dataset, H5T_NATIVE_INT32, in_memory, in_file, ids.data());
        for (std::size_t id = 0; id < ids.size(); ++id) frame.gone[id] = ids[id] < 0 ? 1 : 0;
    }

    /// Column by column: rows only ever come behind others, and a file that grows fast would change while all are read.
    void read_table(ObservableTable& table) const {
        const std::string clock = "observables/" + table.observables.front().name;
        std::vector<std::vector<double>> columns(table.observables.size());
        std::vector<ReadableFile::Action> parts{[&](hid_t file) {
            table.time = h5::read_array<double>(file, clock + "/time");
            table.step = h5::read_array<std::uint64_t>(file, clock + "/step");
        }};
        for (std::size_t k = 0; k < columns.size(); ++k) {
            parts.emplace_back([&, k](hid_t file) {
                columns[k] = h5::read_array<double>(file, "observables/" + table.observables[k].name + "/value");
            });
        }
        file_.read_parts(parts);
        std::size_t rows = std::min(table.time.size(), table.step.size());
        for (std::size_t k = 0; k < columns.size(); ++k) {
            rows = std::min(rows, columns[k].size() / table.observables[k].width());
        }
        table.values.clear();
        std::size_t kept = 0;
        std::vector<double> values(table.width);
        for (std::size_t row = 0; row < rows; ++row) {
            auto out = values.begin();
            for (std::size_t i = 0; i < columns.size(); ++i) {
                const std::size_t width = table.observables[i].width();
                out = std::copy_n(columns[i].begin() + static_cast<std::ptrdiff_t>(row * width), width, out);
            }
            // Rows without any value are there for MDAnalysis only (RowDatasets::fill_up).
            if (std::all_of(values.begin(), values.end(), [](double value) { return std::isnan(value); })) continue;
            if (!std::isfinite(table.time[row])) {
                throw InputError(path_ + ": is not a whole trajectory of carom: the time of a row is no number");
            }
            table.values.insert(table.values.end(), values.begin(), values.end());
            table.time[kept] = table.time[row];
            table.step[kept] = table.step[row];
            ++kept;
        }
        table.time.resize(kept);
        table.step.resize(kept);
    }
};

TrajectoryReader::TrajectoryReader(const std::string& path, int descriptor)
    : impl_(std::make_unique<Impl>(path, descriptor)) {}
TrajectoryReader::~TrajectoryReader() = default;
TrajectoryReader::TrajectoryReader(TrajectoryReader&&) noexcept = default;
TrajectoryReader& TrajectoryReader::operator=(TrajectoryReader&&) noexcept = default;

const std::string& TrajectoryReader::path() const { return impl_->path_; }
const TrajectoryHeader& TrajectoryReader::header() const { return impl_->header_; }
std::size_t TrajectoryReader::frame_count() const { return impl_->times_.size(); }
std::span<const double> TrajectoryReader::times() const { return impl_->times_; }
std::span<const std::uint64_t> TrajectoryReader::steps() const { return impl_->steps_; }

std::size_t TrajectoryReader::frame_at(double time) const {
    std::size_t best = 0;
    for (std::size_t k = 1; k < impl_->times_.size(); ++k) {
        if (is_nearer(impl_->times_[k], impl_->times_[best], time)) best = k;
    }
    return best;
}

std::string beyond_frames(const TrajectoryReader& trajectory, double time) {
    const auto times = trajectory.times();
    const std::size_t last = times.size() - 1;
    const double before = last > 0 ? 0.5 * (times[1] - times[0]) : 0.0;
    const double behind = last > 0 ? 0.5 * (times[last] - times[last - 1]) : 0.0;
    const double rounding = 1e-9 * std::abs(time);
    const bool late = time > times[last] + behind + rounding;
    if (!late && time >= times[0] - before - rounding) return {};
    return fmt::format("{} has frames from t = {:.6g} to {:.6g}: the {} one is taken for {:.6g}", trajectory.path(),
                       times[0], times[last], late ? "last" : "first", time);
}

void TrajectoryReader::read(std::size_t index, Frame& frame) const { impl_->read(index, frame); }
ObservableTable TrajectoryReader::observables() const { return impl_->observables(); }
std::vector<AverageTable> TrajectoryReader::averages(std::size_t frame) const { return impl_->averages(frame); }
AverageTable TrajectoryReader::average(const std::string& name, std::size_t frame) const {
    return impl_->average(name, frame);
}
void TrajectoryReader::require_positions() const {
    if (!has_field(header(), "position")) throw InputError(path() + ": its frames hold no positions to draw balls at");
}

std::vector<RunChange> TrajectoryReader::changes() const { return impl_->changes(); }
std::string TrajectoryReader::summary() const { return impl_->summary(); }

Scene TrajectoryReader::scene(const std::vector<std::string>& overrides) const {
    Scene scene = parse_scene(header().scene_source, fmt::format("{}: its {}", path(), header().scene_path), overrides);
    if (scene.dimension() != header().dimension()) {
        throw InputError(fmt::format("{}: its balls have another dimension than its scene", path()));
    }
    scene.path = header().scene_path;
    return scene;
}

}  // namespace carom
