#include "host/io/trajectory_layout.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "host/io/average_datasets.hpp"
#include "host/io/hdf5.hpp"
#include "host/io/records.hpp"

namespace carom {

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

std::vector<ObservableInfo> read_observable_infos(hid_t file, hid_t parameters) {
    std::vector<ObservableInfo> infos;
    for (const std::string& name : h5::read_strings(parameters, "observables")) {
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
    write_scene_text(parameters, "scene", header.scene_path, header.scene_source);
    write_box(parameters, "box", header.box);
    write_species_table(parameters, "species", header.species_table);
    h5::write_array(parameters, "species_of_ball", header.species);
    write_description(parameters, "solver", header.description);
    write_units(parameters);
    write_observable_order(parameters, header.observables);
    write_average_order(parameters, header.averages);
    h5::write_string(parameters, "summary", "", kSummaryCapacity);
}

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
    header.box = read_box(parameters, "box");
    header.species_table = read_species_table(parameters, "species");
    header.species = h5::read_array<std::uint32_t>(parameters, "species_of_ball");
    for (const std::uint32_t species : header.species) {
        if (species >= header.species_table.size()) throw h5::Error("a ball is of an unknown species");
    }
    header.description = read_description(parameters, "solver");
    header.observables = read_observable_infos(file, parameters);
    header.averages = read_average_infos(file);
    return header;
}

}  // namespace carom
