#include "host/io/records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "carom_build_info.hpp"

namespace carom {

namespace {

/// In the order of enum Face.
constexpr std::array<std::string_view, 3> kFaceNames{"wall", "periodic", "open"};

Face face_named(const std::string& name) {
    for (std::size_t i = 0; i < kFaceNames.size(); ++i) {
        if (name == kFaceNames[i]) return static_cast<Face>(i);
    }
    throw h5::Error("unknown boundary `" + name + "`");
}

template <class Value>
std::vector<Value> column(const std::vector<Species>& table, Value Species::*member) {
    std::vector<Value> values;
    for (const Species& species : table) values.push_back(species.*member);
    return values;
}

}  // namespace

void write_species_table(hid_t parent, const std::string& name, const std::vector<Species>& table) {
    const h5::Handle group = h5::create_group(parent, name);
    h5::write_strings(group, "name", column(table, &Species::name));
    h5::write_array(group, "radius", column(table, &Species::radius));
    h5::write_array(group, "mass", column(table, &Species::mass));
    h5::write_array(group, "radius_of_gyration", column(table, &Species::radius_of_gyration));
    h5::write_strings(group, "color", column(table, &Species::color));
    if (std::ranges::none_of(table, [](const Species& species) { return species.size_of >= 0; })) return;
    h5::write_array(group, "size_of", column(table, &Species::size_of));
}

std::vector<Species> read_species_table(hid_t parent, const std::string& name) {
    const h5::Handle group = h5::open_group(parent, name);
    const auto names = h5::read_strings(group, "name");
    const auto radius = h5::read_array<double>(group, "radius");
    const auto mass = h5::read_array<double>(group, "mass");
    const auto gyration = h5::read_array<double>(group, "radius_of_gyration");
    const auto color = h5::read_strings(group, "color");
    const std::size_t count = names.size();
    const auto size_of = h5::exists(group, "size_of") ? h5::read_array<std::int32_t>(group, "size_of")
                                                      : std::vector<std::int32_t>(count, -1);
    if (size_of.size() != count || radius.size() != count || mass.size() != count || gyration.size() != count ||
        color.size() != count) {
        throw h5::Error("columns of `" + name + "` differ in length");
    }
    std::vector<Species> table(count);
    for (std::size_t i = 0; i < count; ++i)
        table[i] = {names[i], radius[i], mass[i], gyration[i], color[i], size_of[i]};
    for (const Species& species : table) {
        const bool sound = species.size_of < 0 || (static_cast<std::size_t>(species.size_of) < count &&
                                                   table[static_cast<std::size_t>(species.size_of)].size_of < 0);
        if (!sound) throw h5::Error("`" + name + "` has a size of no species");
        if (!(species.radius >= 0.0 && std::isfinite(species.radius)))
            throw h5::Error("`" + name + "` has a radius that is none");
        if (!(species.mass >= 0.0)) throw h5::Error("`" + name + "` has a mass that is none");
        if (!(species.radius_of_gyration >= 0.0 && std::isfinite(species.radius_of_gyration)))
            throw h5::Error("`" + name + "` has a radius of gyration that is none");
    }
    return table;
}

void write_box(hid_t parent, const std::string& name, const Box& box) {
    const h5::Handle group = h5::create_group(parent, name);
    h5::set_attribute(group, "dimension", std::int64_t{box.dimension});
    h5::set_attribute(group, "min", std::span<const double>(box.min));
    h5::set_attribute(group, "size", std::span<const double>(box.size));
    std::vector<std::string> faces;
    for (int axis = 0; axis < box.dimension; ++axis) {
        for (const Face face : box.faces[axis]) faces.emplace_back(kFaceNames[static_cast<std::size_t>(face)]);
    }
    h5::set_attribute(group, "boundary", std::span<const std::string>(faces));
}

Box read_box(hid_t parent, const std::string& name) {
    const h5::Handle group = h5::open_group(parent, name);
    Box box;
    box.dimension = static_cast<int>(h5::integer_attribute(group, "dimension"));
    const auto min = h5::doubles_attribute(group, "min");
    const auto size = h5::doubles_attribute(group, "size");
    const auto faces = h5::strings_attribute(group, "boundary");
    if ((box.dimension != 2 && box.dimension != 3) || min.size() != 3 || size.size() != 3 ||
        faces.size() != 2 * static_cast<std::size_t>(box.dimension)) {
        throw h5::Error("`" + name + "` is no box");
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
        constexpr double kMost = 1e150;  // whose square is a number
        const bool used = static_cast<int>(axis) < box.dimension;
        if (used && !(std::abs(min[axis]) < kMost && size[axis] > 0.0 && size[axis] < kMost)) {
            throw h5::Error("`" + name + "` has no usable size");
        }
        box.min[axis] = min[axis];
        box.size[axis] = size[axis];
    }
    for (std::size_t i = 0; i < faces.size(); ++i) box.faces[i / 2][i % 2] = face_named(faces[i]);
    return box;
}

void write_description(hid_t parent, const std::string& name, const SolverDescription& description) {
    const h5::Handle group = h5::create_group(parent, name);
    h5::set_attribute(group, "name", description.solver);
    h5::set_attribute(group, "backend", description.backend);
    h5::set_attribute(group, "device", description.device);
    h5::set_attribute(group, "threads", std::int64_t{description.threads});
    h5::set_attribute(group, "precision", description.precision);
    h5::set_attribute(group, "dt", description.dt);
    h5::set_attribute(group, "memory_bytes", static_cast<std::int64_t>(description.memory_bytes));
    std::vector<std::string> names;
    std::vector<double> values;
    for (const auto& [key, value] : description.parameters) {
        names.push_back(key);
        values.push_back(value);
    }
    h5::write_strings(group, "parameter_names", names);
    h5::write_array(group, "parameter_values", values);
}

SolverDescription read_description(hid_t parent, const std::string& name) {
    const h5::Handle group = h5::open_group(parent, name);
    SolverDescription description;
    description.solver = h5::string_attribute(group, "name");
    description.backend = h5::string_attribute(group, "backend");
    description.device = h5::string_attribute(group, "device");
    description.threads = static_cast<int>(h5::integer_attribute(group, "threads"));
    description.precision = h5::string_attribute(group, "precision");
    description.dt = h5::double_attribute(group, "dt");
    description.memory_bytes = static_cast<std::uint64_t>(h5::integer_attribute(group, "memory_bytes"));
    const auto names = h5::read_strings(group, "parameter_names");
    const auto values = h5::read_array<double>(group, "parameter_values");
    if (names.size() != values.size()) throw h5::Error("parameters of `" + name + "` differ in number");
    for (std::size_t i = 0; i < names.size(); ++i) description.parameters.emplace_back(names[i], values[i]);
    return description;
}

void write_scene_text(hid_t parent, const std::string& name, const std::string& path, const std::string& source) {
    h5::write_string(parent, name, source);
    h5::set_attribute(h5::open_dataset(parent, name), "path", path);
}

std::string read_scene_text(hid_t parent, const std::string& name, std::string& path) {
    path = h5::string_attribute(h5::open_dataset(parent, name), "path");
    return h5::read_string(parent, name);
}

std::string program_version() { return fmt::format("{} ({})", build_info::kVersion, build_info::commit()); }

}  // namespace carom
