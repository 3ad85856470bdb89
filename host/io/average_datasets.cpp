#include "host/io/average_datasets.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "host/io/hdf5.hpp"

namespace carom {

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

GrowingDataset make_dataset(hid_t group, const std::string& name, const std::vector<hsize_t>& entry) {
    std::size_t bytes = sizeof(double);
    for (const hsize_t extent : entry) bytes *= extent;
    return {group,
            name,
            H5T_IEEE_F64LE,
            {.entry = entry, .entries_per_chunk = std::max<std::size_t>(1, kChunkBytes / bytes)}};
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
    if (extents.size() != 2) throw h5::Error("an axis of an average has the wrong shape");
    return {h5::string_attribute(dataset, "label"), get_if_any(dataset, "unit"), extents[1]};
}

/// One entry of a dataset that has one per frame.
std::vector<double> read_entry(hid_t file, const std::string& path, std::size_t frame) {
    const h5::Handle dataset = h5::open_dataset(file, path);
    std::vector<hsize_t> extents = h5::extents(dataset);
    if (extents.empty() || frame >= extents[0]) throw h5::Error("`" + path + "` is too short");
    std::vector<hsize_t> start(extents.size(), 0);
    start[0] = frame;
    extents[0] = 1;
    std::size_t count = 1;
    for (const hsize_t extent : extents) count *= extent;
    const h5::Handle in_file(H5Dget_space(dataset), H5Sclose, "read a dataspace");
    h5::check(H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start.data(), nullptr, extents.data(), nullptr),
              "select a part");
    const h5::Handle in_memory(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose,
                               "create a dataspace");
    std::vector<double> values(count);
    h5::check(H5Dread(dataset, H5T_NATIVE_DOUBLE, in_memory, in_file, H5P_DEFAULT, values.data()), "read a dataset");
    return values;
}

void append_entry(GrowingDataset& dataset, std::size_t frame, const double* values) {
    dataset.extend(frame + 1);
    dataset.write(frame, 1, H5T_NATIVE_DOUBLE, values);
}

}  // namespace

double average_bytes(const AverageInfo& info) {
    const std::size_t numbers =
        2 * info.width() + 1 + (has_axis(info.x) ? info.x.points : 0) + (has_axis(info.y) ? info.y.points : 0);
    return static_cast<double>(numbers * sizeof(double));
}

AverageDatasets::AverageDatasets(hid_t file, const std::vector<AverageInfo>& infos) {
    for (const AverageInfo& info : infos) {
        const h5::Handle group = h5::create_group(h5::open_group(file, "observables"), info.name);
        Element element{info,
                        make_dataset(group, "value", shape_of(info)),
                        make_dataset(group, "error", shape_of(info)),
                        make_dataset(group, "samples", {}),
                        {},
                        {}};
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
            const GrowingDataset::Shape clock{.entry = {}, .entries_per_chunk = kChunkBytes / sizeof(double)};
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
    append_entry(*time_, frame, &time);
    for (std::size_t k = 0; k < elements_.size(); ++k) {
        Element& element = elements_[k];
        append_entry(element.value, frame, tables[k].values.data());
        append_entry(element.error, frame, tables[k].errors.data());
        append_entry(element.samples, frame, &tables[k].samples);
        if (element.x) append_entry(*element.x, frame, tables[k].x.data());
        if (element.y) append_entry(*element.y, frame, tables[k].y.data());
    }
}

void write_average_order(hid_t parameters, const std::vector<AverageInfo>& infos) {
    std::vector<std::string> names;
    for (const AverageInfo& info : infos) names.push_back(info.name);
    if (!names.empty()) h5::write_strings(parameters, kOrder, names);
}

std::vector<AverageInfo> read_average_infos(hid_t file) {
    std::vector<AverageInfo> infos;
    const h5::Handle parameters = h5::open_group(file, "parameters");
    if (!h5::exists(parameters, kOrder)) return infos;
    for (const std::string& name : h5::read_strings(parameters, kOrder)) {
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
        std::size_t width = 1;
        const auto extents = h5::extents(value);
        for (std::size_t k = 1; k < extents.size(); ++k) width *= extents[k];
        if (width != info.width()) throw h5::Error("average `" + name + "` has the wrong shape");
        infos.push_back(std::move(info));
    }
    return infos;
}

AverageTable read_average(hid_t file, const AverageInfo& info, std::size_t frame) {
    AverageTable table;
    table.values = read_entry(file, path_of(info, "value"), frame);
    table.errors = read_entry(file, path_of(info, "error"), frame);
    table.samples = read_entry(file, path_of(info, "samples"), frame)[0];
    if (has_axis(info.x)) table.x = read_entry(file, path_of(info, "x"), frame);
    if (has_axis(info.y)) table.y = read_entry(file, path_of(info, "y"), frame);
    return table;
}

}  // namespace carom
