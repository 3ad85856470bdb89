#include "host/io/checkpoint.hpp"

#include <fmt/format.h>

#include <array>

#include "host/io/hdf5.hpp"
#include "host/io/open_file.hpp"
#include "host/io/ordered_driver.hpp"
#include "host/io/records.hpp"
#include "host/io/replacement.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

constexpr int kFormatVersion = 1;
constexpr const char* kKind = "checkpoint";
constexpr std::array<const char*, 3> kAxes{"x", "y", "z"};

template <class Value>
void write_axes(hid_t parent, const std::string& name, const std::array<std::vector<Value>, 3>& values) {
    const h5::Handle group = h5::create_group(parent, name);
    for (std::size_t axis = 0; axis < 3; ++axis) h5::write_array(group, kAxes[axis], values[axis]);
}

/// Each axis is as long as the number of balls, or empty.
template <class Value>
void read_axes(hid_t parent, const std::string& name, std::size_t count, std::array<std::vector<Value>, 3>& values) {
    const h5::Handle group = h5::open_group(parent, name);
    for (std::size_t axis = 0; axis < 3; ++axis) {
        values[axis] = h5::read_array<Value>(group, kAxes[axis]);
        if (!values[axis].empty() && values[axis].size() != count)
            throw h5::Error("`" + name + "` has the wrong length");
    }
}

void write_balls(hid_t parent, const Balls& balls) {
    const h5::Handle group = h5::create_group(parent, "balls");
    h5::set_attribute(group, "dimension", std::int64_t{balls.dimension});
    write_species_table(group, "species_table", balls.species_table);
    h5::write_array(group, "species", balls.species);
    write_axes(group, "position", balls.position);
    write_axes(group, "velocity", balls.velocity);
    write_axes(group, "spin", balls.spin);
    write_axes(group, "image", balls.image);
    h5::write_array(group, "gone", balls.gone);
}

Balls read_balls(hid_t parent) {
    const h5::Handle group = h5::open_group(parent, "balls");
    Balls balls;
    balls.dimension = static_cast<int>(h5::integer_attribute(group, "dimension"));
    if (balls.dimension != 2 && balls.dimension != 3) throw h5::Error("dimension is neither 2 nor 3");
    balls.species_table = read_species_table(group, "species_table");
    balls.species = h5::read_array<std::uint32_t>(group, "species");
    for (const std::uint32_t species : balls.species) {
        if (species >= balls.species_table.size()) throw h5::Error("a ball is of an unknown species");
    }
    read_axes(group, "position", balls.size(), balls.position);
    read_axes(group, "velocity", balls.size(), balls.velocity);
    read_axes(group, "spin", balls.size(), balls.spin);
    read_axes(group, "image", balls.size(), balls.image);
    balls.gone = h5::read_array<std::uint8_t>(group, "gone");
    if (balls.gone.size() != balls.size()) throw h5::Error("`gone` has the wrong length");
    return balls;
}

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
    tallies.balls_left = static_cast<std::uint64_t>(h5::integer_attribute(group, "balls_left"));
    tallies.sorts = static_cast<std::uint64_t>(h5::integer_attribute(group, "sorts"));
    tallies.events = static_cast<std::uint64_t>(h5::integer_attribute(group, "events"));
    tallies.collisions = static_cast<std::uint64_t>(h5::integer_attribute(group, "collisions"));
    return tallies;
}

using Extra = std::vector<std::pair<std::string, std::vector<double>>>;

/// Datasets are numbered: a solver's names need not be fit for HDF5.
void write_extra(hid_t parent, const Extra& extra) {
    const h5::Handle group = h5::create_group(parent, "extra");
    std::vector<std::string> names;
    for (const auto& [name, values] : extra) {
        h5::write_array(group, std::to_string(names.size()), values);
        names.push_back(name);
    }
    h5::write_strings(group, "names", names);
}

Extra read_extra(hid_t parent) {
    const h5::Handle group = h5::open_group(parent, "extra");
    Extra extra;
    for (const std::string& name : h5::read_strings(group, "names")) {
        extra.emplace_back(name, h5::read_array<double>(group, std::to_string(extra.size())));
    }
    return extra;
}

void write_checkpoint(hid_t file, const Checkpoint& checkpoint) {
    h5::set_attribute(file, "format", std::string(kCheckpointFormat));
    h5::set_attribute(file, "format_version", std::int64_t{kFormatVersion});
    h5::set_attribute(file, "version", checkpoint.version.empty() ? program_version() : checkpoint.version);
    h5::set_attribute(file, "step", static_cast<std::int64_t>(checkpoint.state.step));
    h5::set_attribute(file, "time", checkpoint.state.time);
    write_scene_text(file, "scene", checkpoint.scene_path, checkpoint.scene_source);
    write_description(file, "solver", checkpoint.description);
    write_balls(file, checkpoint.state.balls);
    write_tallies(file, checkpoint.state.tallies);
    write_extra(file, checkpoint.state.extra);
}

}  // namespace

void save_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
    h5::silence();
    Replacement replacement(path);
    OrderedFile file(replacement.temporary(), true);
    h5::Handle hdf5;
    try {
        const h5::Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "create properties");
        use_ordered_file(access, file);
        h5::check(H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST), "set the format");
        h5::check(H5Pset_fclose_degree(access, H5F_CLOSE_STRONG), "set how files are closed");
        hdf5 = h5::Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose, "create a file");
        write_checkpoint(hdf5, checkpoint);
        h5::check(H5Fflush(hdf5, H5F_SCOPE_LOCAL), "flush");
        hdf5.reset();
        if (!file.failure().empty()) throw h5::Error("cannot close");
        // Where a killed process left its temporary file, this one was written beside it.
        if (!file.take_place()) throw h5::Error("cannot replace what a killed run left");
    } catch (const h5::Error& error) {
        const std::string cause = file.failure().empty() ? error.what() : file.failure();
        file.abandon();
        hdf5.reset();
        throw SystemError(fmt::format("{}: {}; no checkpoint was written, an older one is untouched", path, cause));
    }
    replacement.commit(true);
}

Checkpoint load_checkpoint(const std::string& path) {
    const h5::Handle file = open_hdf5_to_read(path, kKind);
    Checkpoint checkpoint;
    explain_errors(path, kKind, [&] {
        if (!h5::has_attribute(file, "format") || h5::string_attribute(file, "format") != kCheckpointFormat) {
            throw h5::Error("it is something else");
        }
        if (const auto version = h5::integer_attribute(file, "format_version"); version > kFormatVersion) {
            throw h5::Error(
                fmt::format("it is of format version {}, newer than this program's {}", version, kFormatVersion));
        }
        checkpoint.version = h5::string_attribute(file, "version");
        checkpoint.scene_source = read_scene_text(file, "scene", checkpoint.scene_path);
        checkpoint.description = read_description(file, "solver");
        checkpoint.state.step = static_cast<std::uint64_t>(h5::integer_attribute(file, "step"));
        checkpoint.state.time = h5::double_attribute(file, "time");
        checkpoint.state.balls = read_balls(file);
        checkpoint.state.tallies = read_tallies(file);
        checkpoint.state.extra = read_extra(file);
    });
    return checkpoint;
}

}  // namespace carom
