#include "host/io/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

#include "host/io/hdf5.hpp"
#include "host/io/ordered_file.hpp"
#include "host/io/records.hpp"
#include "host/scene/start.hpp"
#include "host/state/errors.hpp"
#include "kernels/core/wall_number.hpp"

namespace carom {

namespace {

constexpr int kFormatVersion = 1;
constexpr const char* kKind = "checkpoint of carom";
constexpr std::array<const char*, 3> kComponentNames{"x", "y", "z"};
constexpr const char* kChecksum = "checksum";  // attribute of the file: of all else in it

/// A number of things, as h5::set_attribute wrote it.
std::uint64_t count_attribute(hid_t object, const std::string& name) {
    const std::int64_t value = h5::integer_attribute(object, name);
    if (value < 0) throw h5::Error("`" + name + "` is below 0");
    return static_cast<std::uint64_t>(value);
}

/// Reads of an array what belongs to the balls of `part`. \param or_empty  it need not be there
template <class Value>
void read_part(hid_t parent, const std::string& name, const Balls& part, bool or_empty, std::vector<Value>& values) {
    const h5::Handle dataset = h5::open_dataset(parent, name);
    const std::size_t size = h5::array_size(dataset);
    values.resize(size == 0 && or_empty ? 0 : part.species.size());
    if (size != part.first + values.size() + part.rest && !values.empty()) {
        throw h5::Error("`" + name + "` has the wrong length");
    }
    if (h5::extents(dataset).size() != 1) throw h5::Error("`" + name + "` has the wrong shape");
    h5::read_part_of(dataset, h5::memory_type<Value>(), part.first, values.size(), values.data());
}

/// Each axis is as long as the number of balls, or empty.
template <class Value>
void read_axes(hid_t parent, const std::string& name, const Balls& part, std::array<std::vector<Value>, 3>& values) {
    const h5::Handle group = h5::open_group(parent, name);
    for (std::size_t axis = 0; axis < 3; ++axis) read_part(group, kComponentNames[axis], part, true, values[axis]);
}

std::size_t count_balls(hid_t parent) { return h5::array_size(h5::open_dataset(parent, "balls/species")); }

/// So many from `first` on.
Balls read_balls(hid_t parent, std::size_t first, std::size_t count) {
    const h5::Handle group = h5::open_group(parent, "balls");
    Balls balls;
    balls.dimension = static_cast<int>(h5::integer_attribute(group, "dimension"));
    if (balls.dimension != 2 && balls.dimension != 3) throw h5::Error("dimension is neither 2 nor 3");
    balls.species_table = read_species_table(group, "species_table");
    balls.first = first;
    balls.rest = count_balls(parent) - first - count;
    balls.species.resize(count);
    read_part(group, "species", balls, false, balls.species);
    for (const std::uint32_t species : balls.species) {
        if (species >= balls.species_table.size()) throw h5::Error("a ball is of an unknown species");
    }
    read_axes(group, "position", balls, balls.position);
    read_axes(group, "velocity", balls, balls.velocity);
    read_axes(group, "spin", balls, balls.spin);
    read_axes(group, "image", balls, balls.image);
    read_part(group, "gone", balls, false, balls.gone);
    return balls;
}

/// The balls of a checkpoint that stay in the file.
class StoredParts final : public BallParts {
public:
    StoredParts(std::shared_ptr<const ReadableFile> file, std::size_t count, std::vector<Species> table)
        : file_(std::move(file)), count_(count), table_(std::move(table)) {}
    [[nodiscard]] std::size_t size() const override { return count_; }
    [[nodiscard]] const std::vector<Species>& species_table() const override { return table_; }
    void each(const std::function<void(const Balls& part)>& take) const override {
        constexpr std::size_t kMost = std::size_t{1} << 16;
        for (std::size_t first = 0; first < count_; first += kMost) {
            Balls part;
            file_->read([&](hid_t file) { part = read_balls(file, first, std::min(kMost, count_ - first)); });
            take(part);
        }
    }

private:
    std::shared_ptr<const ReadableFile> file_;
    std::size_t count_;
    std::vector<Species> table_;
};

void write_tallies(hid_t parent, const Tallies& tallies) {
    const h5::Handle group = h5::create_group(parent, "tallies");
    h5::write_array(group, "wall_impulse", tallies.wall_impulse);
    h5::write_array(group, "wall_heat", tallies.wall_heat);
    h5::set_attribute(group, "thermostat_heat", tallies.thermostat_heat);
    h5::set_attribute(group, "work", tallies.work);
    if (tallies.lost) h5::set_attribute(group, "lost", *tallies.lost);
    h5::set_attribute(group, "max_overlap", tallies.max_overlap);
    h5::set_attribute(group, "balls_left", static_cast<std::int64_t>(tallies.balls_left));
    h5::set_attribute(group, "sorts", static_cast<std::int64_t>(tallies.sorts));
    h5::set_attribute(group, "events", static_cast<std::int64_t>(tallies.events));
    h5::set_attribute(group, "collisions", static_cast<std::int64_t>(tallies.collisions));
}

Tallies read_tallies(hid_t parent) {
    const h5::Handle group = h5::open_group(parent, "tallies");
    Tallies tallies;
    tallies.wall_impulse = h5::read_array<double>(group, "wall_impulse");
    if (h5::has_attribute(group, "work")) {  // not in checkpoints of versions before
        tallies.wall_heat = h5::read_array<double>(group, "wall_heat");
        tallies.thermostat_heat = h5::double_attribute(group, "thermostat_heat");
        tallies.work = h5::double_attribute(group, "work");
    }
    if (h5::has_attribute(group, "lost")) tallies.lost = h5::double_attribute(group, "lost");
    tallies.max_overlap = h5::double_attribute(group, "max_overlap");
    tallies.balls_left = count_attribute(group, "balls_left");
    tallies.sorts = count_attribute(group, "sorts");
    tallies.events = count_attribute(group, "events");
    tallies.collisions = count_attribute(group, "collisions");
    return tallies;
}

// Records lie in the group `extra` as arrays of doubles with names: `names`, and the datasets 0, 1, ... in its order.

/// Arrays of EventsRecord by axis, "events_position_x" and so on, in the order of a file, axis by axis.
constexpr std::array<std::pair<const char*, std::array<std::vector<double>, 3> EventsRecord::*>, 5> kEventsVectors{
    {{"events_position_", &EventsRecord::position},
     {"events_velocity_", &EventsRecord::velocity},
     {"events_cell_", &EventsRecord::cell},
     {"events_image_", &EventsRecord::image},
     {"events_bubble_", &EventsRecord::bubble}}};
constexpr std::array<std::pair<const char*, std::vector<double> EventsRecord::*>, 7> kEventsArrays{
    {{"events_own_time", &EventsRecord::own_time},
     {"events_event_time", &EventsRecord::event_time},
     {"events_event_partner", &EventsRecord::event_partner},
     {"events_contact_time", &EventsRecord::contact_time},
     {"events_contact_partner", &EventsRecord::contact_partner},
     {"events_contact_stale", &EventsRecord::contact_stale},
     {"events_last_hit", &EventsRecord::last_hit}}};

/// Calls `each` with the numbers of "events", doubles and counts, in the order of a file.
template <class Record, class Each>
void events_numbers(Record& record, const Each& each) {
    auto& counts = record.counts;
    each(record.clock_high, record.clock_low, record.now, record.calendar_end, record.speed_scale, counts.path_length,
         record.watch_events, record.watch_time, counts.ball_collisions, counts.wall_collisions, counts.clusters,
         counts.gave_up, counts.elastic_by_tc, counts.elastic_by_cutoff, counts.epochs, counts.collisional_virial,
         counts.wall_virial, counts.virial_start, counts.worst_overlap);
    for (auto& cells : record.cells) each(cells);
    each(counts.seam_virial, counts.heavy_collisions);
    for (auto& component : counts.collisional_stress) each(component);
}

/// The same for "events_flow".
template <class Record, class Each>
void events_flow(Record& record, int dimension, const Each& each) {
    each(record.twice_kinetic, record.mass, record.flow_time, record.twice_kinetic_time, record.gravity_virial_time);
    for (int axis = 0; axis < dimension; ++axis) each(record.momentum[axis], record.moment[axis]);
}

template <class Record, class Each>
void events_progress(Record& record, const Each& each) {
    each(record.stage, record.visits, record.draws);
}

template <class Record, class Each>
void spring_numbers(Record& record, const Each& each) {
    each(record.stiffness, record.wall_stiffness, record.damping, record.damping_ratio, record.wall_damping_ratio,
         record.dt, record.design_speed, record.contact_duration);
}

constexpr const char* kStage = "stage";  // one number of `spring`, three of `events`
constexpr const char* kDraws = "thermal_draws";
constexpr const char* kSpring = "spring_design";
constexpr const char* kAverage = "average ";  // and its name
constexpr const char* kRowMeans = "average row means";
constexpr const char* kChanged = "changed";

class RecordsWriter {
public:
    RecordsWriter(hid_t parent, int dimension) : group_(h5::create_group(parent, "extra")), dimension_(dimension) {}

    void write(const SolverRecords& records) {
        if (records.events) write_balls(*records.events);
        if (records.thermal_draws) numbers(kDraws, [&](const auto& each) { each(*records.thermal_draws); });
        if (const auto& events = records.events) {
            numbers("events", [&](const auto& each) { events_numbers(*events, each); });
        }
        if (const auto& progress = records.events_progress) {
            numbers(kStage, [&](const auto& each) { events_progress(*progress, each); });
        }
        if (records.spring_stage) numbers(kStage, [&](const auto& each) { each(*records.spring_stage); });
        for (const SavedAverage& average : records.averages) array(kAverage + average.name, average.numbers);
        if (!records.row_means.empty()) array(kRowMeans, records.row_means);
        if (records.spring) numbers(kSpring, [&](const auto& each) { spring_numbers(*records.spring, each); });
        if (records.changed) array(kChanged, {1.0});
        h5::write_strings(group_, "names", names_);
    }

private:
    void write_balls(const EventsRecord& record) {
        for (int axis = 0; axis < dimension_; ++axis) {
            for (const auto& [name, member] : kEventsVectors) {
                const std::vector<double>& values = (record.*member)[axis];
                if (member == &EventsRecord::bubble && values.empty()) continue;
                array(std::string(name) + "xyz"[axis], values);
            }
        }
        for (const auto& [name, member] : kEventsArrays) {
            if (member == &EventsRecord::last_hit && record.last_hit.empty()) continue;
            array(name, record.*member);
        }
        numbers("events_flow", [&](const auto& each) { events_flow(record, dimension_, each); });
    }
    void array(const std::string& name, const std::vector<double>& values) {
        h5::write_array(group_, std::to_string(names_.size()), values);
        names_.push_back(name);
    }
    template <class Of>
    void numbers(const std::string& name, const Of& of) {
        std::vector<double> values;
        of([&](const auto&... value) { (values.push_back(static_cast<double>(value)), ...); });
        array(name, values);
    }

    h5::Handle group_;
    int dimension_;
    std::vector<std::string> names_;
};

/// Puts numbers into the members that `of` goes through. \param name  for messages
template <class Of>
void take_numbers(const std::string& name, const std::vector<double>& values, const Of& of) {
    std::size_t at = 0;
    const auto take = [&](auto& value) {
        if (at == values.size()) throw h5::Error("`" + name + "` is too short");
        const double number = values[at++];
        using Value = std::remove_reference_t<decltype(value)>;
        constexpr double kMost = 1.8e19;  // of 64 bits
        if (std::is_integral_v<Value> && !(number >= 0.0 && number < kMost && number == std::floor(number))) {
            throw h5::Error("`" + name + "` has no count where one is expected");
        }
        value = static_cast<Value>(number);
    };
    of([&](auto&... value) { (take(value), ...); });
}

/// The array of an event-driven record that is called so; null if there is none.
std::vector<double>* events_array(EventsRecord& record, const std::string& name) {
    for (const auto& [prefix, member] : kEventsVectors) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if (name == std::string(prefix) + "xyz"[axis]) return &(record.*member)[axis];
        }
    }
    for (const auto& [known, member] : kEventsArrays) {
        if (name == known) return &(record.*member);
    }
    return nullptr;
}

/// What has another name is of a version that knows more, or less, and is left out.
SolverRecords read_records(hid_t parent, int dimension) {
    const h5::Handle group = h5::open_group(parent, "extra");
    SolverRecords records;
    EventsRecord events;
    bool flow = false;
    std::size_t number = 0;
    for (const std::string& name : h5::read_strings(group, "names")) {
        if (name.empty()) throw h5::Error("it is damaged, its records have no names");
        std::vector<double> values = h5::read_array<double>(group, std::to_string(number++));
        if (std::vector<double>* const array = events_array(events, name)) {
            *array = std::move(values);
        } else if (name == "events_flow") {
            take_numbers(name, values, [&](const auto& each) { events_flow(events, dimension, each); });
            flow = true;
        } else if (name == "events") {
            take_numbers(name, values, [&](const auto& each) { events_numbers(events, each); });
            records.events.emplace();
        } else if (name == kDraws) {
            take_numbers(name, values, [&](const auto& each) { each(records.thermal_draws.emplace()); });
        } else if (name == kStage && values.size() == 1) {
            take_numbers(name, values, [&](const auto& each) { each(records.spring_stage.emplace()); });
        } else if (name == kStage) {
            take_numbers(name, values,
                         [&](const auto& each) { events_progress(records.events_progress.emplace(), each); });
        } else if (name == kSpring) {
            take_numbers(name, values, [&](const auto& each) { spring_numbers(records.spring.emplace(), each); });
        } else if (name == kChanged) {
            records.changed = true;
        } else if (name == kRowMeans) {
            records.row_means = std::move(values);
        } else if (name.starts_with(kAverage)) {
            records.averages.push_back({name.substr(std::string_view(kAverage).size()), std::move(values)});
        }
    }
    if (records.events) {
        if (!flow) throw h5::Error("`events_flow` is missing");
        records.events = std::move(events);
    }
    return records;
}

}  // namespace

class CheckpointWriter::Impl {
    /// The balls of a checkpoint, while they come.
    class BallDatasets {
    public:
        /// \param balls  dimension and species table
        BallDatasets(hid_t parent, const Balls& balls, std::size_t count)
            : count_(count), group_(h5::create_group(parent, "balls")) {
            h5::set_attribute(group_, "dimension", std::int64_t{balls.dimension});
            write_species_table(group_, "species_table", balls.species_table);
            BallColumns empty;
            empty.resize(balls.dimension, 1);  // to see which axes there are
            create<std::uint32_t>(group_, "species", true);
            create_axes<double>("position", empty.position);
            create_axes<double>("velocity", empty.velocity);
            create_axes<double>("spin", empty.spin);
            create_axes<std::int32_t>("image", empty.image);
            create<std::uint8_t>(group_, "gone", true);
        }

        void write(const Balls& part) {
            if (part.first != written_ || part.first + part.size() + part.rest != count_) {
                throw std::invalid_argument("a part of the balls is missing");
            }
            std::size_t dataset = 0;
            const auto next = [&](const auto& values) {
                datasets_[dataset++].write(part.first, values.size(), values.data());
            };
            const auto next_axes = [&](const auto& axes) {
                for (const auto& values : axes) next(values);
            };
            next(part.species);
            next_axes(part.position);
            next_axes(part.velocity);
            next_axes(part.spin);
            next_axes(part.image);
            next(part.gone);
            written_ += part.size();
        }
        [[nodiscard]] bool whole() const { return written_ == count_; }

    private:
        template <class Value>
        void create(hid_t parent, const std::string& name, bool is_there) {
            datasets_.emplace_back(parent, name, h5::memory_type<Value>(), is_there ? count_ : 0);
        }
        template <class Value>
        void create_axes(const std::string& name, const std::array<std::vector<Value>, 3>& axes) {
            const h5::Handle group = h5::create_group(group_, name);
            for (std::size_t axis = 0; axis < 3; ++axis)
                create<Value>(group, kComponentNames[axis], !axes[axis].empty());
        }

        std::size_t count_;
        std::size_t written_ = 0;
        h5::Handle group_;
        std::vector<h5::ArrayInParts> datasets_;  // in the order of write()
    };

public:
    Impl(const std::string& path, const Checkpoint& checkpoint, std::size_t balls, bool replace)
        : path_(path), file_(path, replace) {
        attempt([&] {
            const h5::Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "create properties");
            use_ordered_file(access, file_);
            hdf5_ = h5::Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose, "create a file");
            h5::set_attribute(hdf5_, "format", std::string(kCheckpointFormat));
            h5::set_attribute(hdf5_, "format_version", std::int64_t{kFormatVersion});
            h5::set_attribute(hdf5_, "version", checkpoint.version.empty() ? program_version() : checkpoint.version);
            h5::set_attribute(hdf5_, "step", static_cast<std::int64_t>(checkpoint.state.step));
            h5::set_attribute(hdf5_, "time", checkpoint.state.time);
            write_scene_text(hdf5_, "scene", checkpoint.scene_path, checkpoint.scene_source);
            write_description(hdf5_, "solver", checkpoint.description);
            balls_.emplace(hdf5_, checkpoint.state.balls, balls);
        });
    }
    ~Impl() {
        if (hdf5_) abandon();
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    void add(const Balls& part) {
        attempt([&] {
            h5::require_memory(part.size() * sizeof(double));
            balls_.value().write(part);
        });
    }

    void finish(const SolverState& state) {
        attempt([&] {
            if (!balls_.value().whole()) throw std::invalid_argument("a part of the balls is missing");
            write_tallies(hdf5_, state.tallies);
            RecordsWriter(hdf5_, state.balls.dimension).write(state.records);
            h5::set_attribute(hdf5_, kChecksum, fmt::format("{:016x}", h5::contents_hash(hdf5_, kChecksum)));
            balls_.reset();
            h5::check(H5Fflush(hdf5_, H5F_SCOPE_LOCAL), "flush");
            hdf5_.reset();
            if (!file_.failure().empty()) throw h5::Error("cannot close");
            if (!file_.take_place()) throw h5::Error("cannot rename into place");
        });
    }

private:
    template <class Action>
    void attempt(const Action& action) {
        const Hdf5Turn turn;
        try {
            h5::require_memory();
            action();
        } catch (const h5::Error& error) {
            const std::string cause = file_.failure().empty() ? error.what() : file_.failure();
            abandon();
            throw SystemError(fmt::format("{}: {}; {}", path_, cause,
                                          file_.in_place() ? "it is written, but a loss of power may undo that"
                                                           : "no checkpoint was written, an older one is untouched"));
        }
    }
    void abandon() {
        file_.abandon();
        balls_.reset();
        hdf5_.reset();
    }

    std::string path_;
    OrderedFile file_;  // outlives the HDF5 file that writes through it
    h5::Handle hdf5_;
    std::optional<BallDatasets> balls_;
};

CheckpointWriter::CheckpointWriter(const std::string& path, const Checkpoint& checkpoint, std::size_t balls,
                                   bool replace)
    : impl_((Hdf5Turn(), std::make_unique<Impl>(path, checkpoint, balls, replace))) {}
CheckpointWriter::~CheckpointWriter() {
    const Hdf5Turn turn;
    impl_.reset();
}
void CheckpointWriter::add(const Balls& part) { impl_->add(part); }
void CheckpointWriter::finish(const SolverState& state) { impl_->finish(state); }

void save_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
    CheckpointWriter writer(path, checkpoint, checkpoint.state.balls.size());
    writer.add(checkpoint.state.balls);
    writer.finish(checkpoint.state);
}

Checkpoint load_checkpoint(const std::string& path, bool in_parts) {
    Checkpoint checkpoint;
    std::size_t count = 0;
    const auto readable = std::make_shared<const ReadableFile>(path, kKind);
    readable->read([&](hid_t file) {
        if (!h5::has_attribute(file, "format") || h5::string_attribute(file, "format") != kCheckpointFormat) {
            const bool trajectory = h5::exists(file, "particles");
            throw h5::Error(trajectory ? "it is a trajectory; the checkpoint of its run has checkpoint in its name"
                                       : "it is something else");
        }
        if (const auto version = h5::integer_attribute(file, "format_version"); version > kFormatVersion) {
            throw h5::Error(
                fmt::format("it is of format version {}, newer than this program's {}", version, kFormatVersion));
        }
        // Not in files of earlier versions.
        if (h5::has_attribute(file, kChecksum) &&
            h5::string_attribute(file, kChecksum) != fmt::format("{:016x}", h5::contents_hash(file, kChecksum))) {
            throw h5::Error("it is damaged, its checksum is that of something else");
        }
        checkpoint.version = h5::string_attribute(file, "version");
        checkpoint.scene_source = read_scene_text(file, "scene", checkpoint.scene_path);
        checkpoint.description = read_description(file, "solver");
        checkpoint.state.step = count_attribute(file, "step");
        checkpoint.state.time = h5::double_attribute(file, "time");
        count = count_balls(file);
        checkpoint.state.balls = read_balls(file, 0, in_parts ? 0 : count);
        checkpoint.state.tallies = read_tallies(file);
        checkpoint.state.records = read_records(file, checkpoint.state.balls.dimension);
    });
    if (in_parts) {
        checkpoint.state.balls.rest = 0;
        checkpoint.state.parts =
            std::make_shared<const StoredParts>(readable, count, checkpoint.state.balls.species_table);
    }
    return checkpoint;
}

namespace {

/// \param lowest, highest  where a ball that is still in may be, by axis
void require_possible_balls(const Balls& balls, const Vector3& lowest, const Vector3& highest) {
    const auto complete = [&](const auto& axis) { return axis.size() == balls.size(); };
    bool all = true;
    for (int axis = 0; axis < balls.dimension; ++axis) {
        all = all && complete(balls.position[axis]) && complete(balls.velocity[axis]) && complete(balls.image[axis]);
    }
    for (int axis = balls.dimension == 2 ? 2 : 0; axis < 3; ++axis) all = all && complete(balls.spin[axis]);
    if (!all) throw DamagedState("an axis of its balls is missing");
    for (const Species& species : balls.species_table) {
        if (!(species.radius > 0.0 && std::isfinite(species.radius) && species.mass > 0.0 &&
              species.radius_of_gyration > 0.0 && std::isfinite(species.radius_of_gyration))) {
            throw DamagedState("a species has no usable radius or mass");
        }
    }
    for (std::size_t id = 0; id < balls.size(); ++id) {
        if (balls.gone[id] > 1) throw DamagedState(fmt::format("ball {} is neither in nor gone", balls.first + id));
        if (balls.gone[id] == 1) continue;
        for (int axis = 0; axis < 3; ++axis) {
            const bool moves = axis < balls.dimension;
            if ((moves && !std::isfinite(balls.velocity[axis][id])) ||
                (!balls.spin[axis].empty() && !std::isfinite(balls.spin[axis][id]))) {
                throw DamagedState(fmt::format("ball {} has a velocity that is not a number", balls.first + id));
            }
            if (moves && !(balls.position[axis][id] >= lowest[axis] && balls.position[axis][id] <= highest[axis])) {
                throw DamagedState(fmt::format("ball {} is at {} = {:g}, which is not in the box", balls.first + id,
                                               kComponentNames[axis], balls.position[axis][id]));
            }
        }
    }
}

void require_possible_tallies(const Tallies& tallies, std::size_t walls) {
    if (tallies.wall_impulse.size() > walls || tallies.wall_heat.size() > walls) {
        throw DamagedState("it has more walls than its scene");
    }
    const auto finite = [](double value) { return std::isfinite(value); };
    if (!std::ranges::all_of(tallies.wall_impulse, finite) || !std::ranges::all_of(tallies.wall_heat, finite) ||
        !finite(tallies.thermostat_heat) || !finite(tallies.work) || !finite(tallies.lost.value_or(0.0)) ||
        !(tallies.max_overlap >= 0.0 && finite(tallies.max_overlap))) {
        throw DamagedState("what it has counted is not a number");
    }
}

void require_possible_springs(const SpringRecord& spring) {
    for (const double number : {spring.stiffness, spring.wall_stiffness, spring.damping, spring.damping_ratio,
                                spring.wall_damping_ratio, spring.dt, spring.design_speed, spring.contact_duration}) {
        if (!(number >= 0.0 && std::isfinite(number))) throw DamagedState("its springs are not numbers");
    }
    if (!(spring.dt > 0.0)) throw DamagedState("its time step is 0");
}

}  // namespace

void require_possible(const SolverState& state, const Scene& scene) {
    constexpr double kSame = 1.0e-9;
    const Balls& balls = state.balls;
    if (balls.dimension != scene.dimension()) throw DamagedState("its balls have another dimension than its scene");
    if (!(state.time >= 0.0 && std::isfinite(state.time))) throw DamagedState("its time is not a number");
    double largest = 0.0;
    for (const Species& species : balls.species_table) largest = std::max(largest, species.radius);
    Vector3 lowest{};
    Vector3 highest{};
    for (int axis = 0; axis < balls.dimension; ++axis) {
        // A ball may be on its way out through an open face, or have gone through another in the step that ended its
        // run.
        const double slack = scene.box.periodic(axis) ? kSame * scene.box.size[axis] : 2.0 * largest;
        lowest[axis] = scene.box.min[axis] - slack;
        highest[axis] = scene.box.min[axis] + scene.box.size[axis] + slack;
    }
    state.for_each_part([&](const Balls& part) { require_possible_balls(part, lowest, highest); });
    require_possible_tallies(state.tallies, WallNumber::count(scene.walls.size()));
    if (state.records.spring) {
        require_possible_springs(*state.records.spring);
        const double time = static_cast<double>(state.step) * state.records.spring->dt;
        if (!(std::abs(time - state.time) <= kSame * state.time)) {
            throw DamagedState(fmt::format("its time {:.9g} is not that of its step {}", state.time, state.step));
        }
    }
    // Where nobody has all balls, the guard of the first step finds it.
    if (state.parts != nullptr) return;
    if (const auto overlap = impossible_overlap(scene, balls)) {
        throw DamagedState(
            fmt::format("balls {} and {} overlap by {:.3g} of the sum of their radii, from which no run "
                        "goes on",
                        overlap->i, overlap->j, overlap->fraction));
    }
}

bool is_dead_end(const SolverState& state, const Scene& scene) {
    const Balls& balls = state.balls;
    if (!state.records.spring || balls.first != 0 || balls.rest != 0) return false;
    // Overlaps up to the last step are counted, and in that two balls come nearer by what both move.
    double fastest = state.records.spring->design_speed;
    for (std::size_t id = 0; id < balls.size(); ++id) {
        double square = 0.0;
        for (int axis = 0; axis < balls.dimension; ++axis)
            square += balls.velocity[axis][id] * balls.velocity[axis][id];
        fastest = std::max(fastest, std::sqrt(square));
    }
    double least = std::numeric_limits<double>::infinity();
    for (const Species& species : balls.species_table) least = std::min(least, species.radius);
    constexpr double kDeep = 1.0;  // of the smaller radius; the end is at 1.5 and more
    const bool may_be = state.tallies.max_overlap + 2.0 * fastest * state.records.spring->dt / least > kDeep;
    return may_be && impossible_overlap(scene, balls);
}

}  // namespace carom
