#include "host/sweep/read_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <map>

#include "host/scene/load.hpp"
#include "host/scene/toml.hpp"
#include "host/state/errors.hpp"
#include "host/state/text_file.hpp"
#include "host/sweep/axis_values.hpp"
#include "host/sweep/sweep_entry.hpp"

namespace carom {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostRuns = 1'000'000'000;

std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result + "\"";
}

/// A value as the scene file would hold it.
std::string toml_text(const toml::node& node, const std::string& label) {
    if (node.is_string()) return quoted(SweepEntry::plain(node, label));
    if (const auto* whole = node.as_integer()) return fmt::format("{}", whole->get());
    if (const auto* number = node.as_floating_point()) {
        if (std::isnan(number->get())) throw InputError(label + ": must not be nan");
        return decimal_text(number->get());
    }
    if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
    if (const auto* array = node.as_array()) {
        std::string text = "[";
        for (const toml::node& element : *array) text += (text.size() > 1 ? ", " : "") + toml_text(element, label);
        return text + "]";
    }
    throw InputError(
        fmt::format("{}: must be a number, text, true, false or an array of these, not {}", label, value_text(node)));
}

AxisValue axis_value(const toml::node& node, const SweepEntry& entry, std::size_t index) {
    AxisValue value;
    value.toml = toml_text(node, entry.element("values", node, index));
    value.text = node.is_string() ? *node.value<std::string>() : value.toml;
    if (node.is_number()) value.number = *node.value<double>();
    value.place = place_of(node, entry.file());
    return value;
}

std::vector<AxisValue> read_values(const SweepEntry& entry) {
    constexpr const char* kWhat = "a list, or { from = ..., to = ..., step = ... }";
    const toml::node& node = entry.required("values", kWhat);
    std::vector<AxisValue> values;
    if (node.is_array()) {
        std::map<std::string, std::size_t> seen;
        for (const toml::node& element : entry.array("values", "a list of at least one value")) {
            values.push_back(axis_value(element, entry, values.size()));
            if (!seen.emplace(values.back().text, values.size()).second) {
                throw InputError(fmt::format("{}: {} is there twice",
                                             entry.element("values", element, values.size() - 1), values.back().text));
            }
        }
        return values;
    }
    const toml::table* table = node.as_table();
    if (table == nullptr) entry.fail("values", fmt::format("must be {}, not {}", kWhat, value_text(node)));
    const SweepEntry range(*table, entry.path() + ".values", entry.file(), {"from", "to", "step"});
    const double from = range.number("from");
    const double to = range.number("to");
    const double step = range.number("step");
    try {
        for (const double number : stepped_values(from, to, step)) {
            const std::string text = decimal_text(number);
            values.push_back({.text = text, .toml = text, .number = number, .place = entry.place("values")});
        }
    } catch (const InputError& error) {
        entry.fail("values", error.what());
    }
    return values;
}

Axis read_axis(const SweepEntry& entry) {
    Axis axis;
    axis.keys = entry.keys(entry.find("name") != nullptr);
    axis.place = entry.place(entry.find("key") != nullptr ? "key" : "keys");
    axis.name = entry.find("name") != nullptr ? entry.text("name") : axis.keys.front();
    axis.values = read_values(entry);
    return axis;
}

Setting read_setting(const SweepEntry& entry, const std::vector<Axis>& axes) {
    Setting setting;
    setting.keys = entry.keys(false);
    const bool fixed = entry.find("value") != nullptr;
    if (fixed == (entry.find("formula") != nullptr)) {
        entry.fail(fixed ? "formula" : "value",
                   fixed ? "value is there too; give one of the two" : "is required, or a formula of the axes' names");
    }
    setting.place = entry.place(fixed ? "value" : "formula");
    if (fixed) {
        setting.toml = toml_text(*entry.find("value"), entry.label("value"));
        return setting;
    }
    setting.formula_text = entry.text("formula");
    std::vector<std::string> names;
    for (const Axis& axis : axes) names.push_back(name_without_unit(axis.name));
    try {
        setting.formula.emplace(setting.formula_text, names);
    } catch (const InputError& error) {
        entry.fail("formula", error.what());
    }
    for (std::size_t k = 0; k < axes.size(); ++k) {
        if (!setting.formula->uses(k)) continue;
        for (const AxisValue& value : axes[k].values) {
            if (!std::isfinite(value.number)) {
                entry.fail("formula",
                           fmt::format("the axis {} has values that are no numbers: {}", axes[k].name, value.text));
            }
        }
    }
    return setting;
}

/// The tables of [[name]], none if there is no such thing.
std::vector<const toml::table*> tables_of(const toml::table& root, std::string_view name, const std::string& file) {
    std::vector<const toml::table*> tables;
    const toml::node* node = root.get(name);
    if (node == nullptr) return tables;
    const toml::array* array = node->as_array();
    if (array != nullptr) {
        for (const toml::node& element : *array) tables.push_back(element.as_table());
    }
    if (array == nullptr || std::ranges::find(tables, nullptr) != tables.end()) {
        throw InputError(fmt::format("{}: {}: must be tables in a list: [[{}]]", place_of(*node, file), name, name));
    }
    return tables;
}

toml::table parse_text(std::string_view text, const std::string& path) {
    try {
        return toml::parse(text, path);
    } catch (const toml::parse_error& error) {
        std::string what(error.description());
        std::ranges::replace_if(
            what, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
        throw InputError(fmt::format("{}: not valid TOML: {}", place_of(error.source(), path), what));
    }
}

/// Beside the sweep file, or as the program finds scenes.
std::string scene_path(const std::string& scene, const std::string& sweep) {
    std::error_code error;
    const fs::path beside = fs::path(sweep).parent_path() / scene;
    return fs::is_regular_file(beside, error) ? beside.string() : find_scene(scene);
}

void read_head(const SweepEntry& entry, Sweep& sweep) {
    try {
        sweep.scene = scene_path(entry.text("scene"), sweep.path);
    } catch (const SystemError& error) {
        entry.fail("scene", error.what());
    }
    for (const toml::node& node : entry.array("record", "an array of names of observables")) {
        const std::string label = entry.element("record", node, sweep.record.size());
        const std::string name = SweepEntry::plain(node, label);
        if (std::ranges::find(sweep.record, name, &RecordName::name) != sweep.record.end()) {
            throw InputError(fmt::format("{}: \"{}\" is there twice", label, name));
        }
        sweep.record.push_back({name, label});
    }
}

void read_average(const SweepEntry& entry, Sweep& sweep) {
    if (entry.find("average_over") == nullptr) return;
    const std::string wanted = entry.text("average_over");
    std::vector<std::string> allowed;
    for (std::size_t k = 0; k < sweep.axes.size(); ++k) {
        const Axis& axis = sweep.axes[k];
        const bool by_key = std::ranges::find(axis.keys, wanted) != axis.keys.end();
        if (by_key || axis.name == wanted || name_without_unit(axis.name) == wanted) sweep.averaged = k;
        allowed.push_back(axis.name);
    }
    if (!sweep.averaged) {
        entry.fail("average_over", fmt::format("must be an axis: {}, not \"{}\"", fmt::join(allowed, ", "), wanted));
    }
    if (sweep.runs_per_row() < 2) {
        entry.fail("average_over", "the axis must have two values or more: one has no standard error");
    }
}

/// No key is set twice, no column is there twice, and there are not too many runs.
void check_keys(const Sweep& sweep, const std::string& file) {
    std::map<std::string, std::string> seen;  // key -> who sets it
    const auto claim = [&](const std::string& key, const std::string& who, const std::string& place) {
        const auto [other, first] = seen.emplace(key, who);
        if (!first) throw InputError(fmt::format("{}: {}: {} is set by {} already", place, who, key, other->second));
    };
    std::vector<std::string> names;
    double runs = 1.0;
    for (std::size_t k = 0; k < sweep.axes.size(); ++k) {
        const Axis& axis = sweep.axes[k];
        const std::string who = fmt::format("axis[{}]", k);
        for (const std::string& key : axis.keys) claim(key, who, axis.place);
        if (std::ranges::find(names, name_without_unit(axis.name)) != names.end()) {
            throw InputError(fmt::format("{}: {}.name: there are two axes \"{}\"", axis.place, who, axis.name));
        }
        names.push_back(name_without_unit(axis.name));
        runs *= static_cast<double>(axis.values.size());
    }
    for (std::size_t k = 0; k < sweep.settings.size(); ++k) {
        for (const std::string& key : sweep.settings[k].keys) {
            claim(key, fmt::format("set[{}]", k), sweep.settings[k].place);
        }
    }
    if (runs > static_cast<double>(kMostRuns)) {
        throw InputError(fmt::format("{}: {:.3g} runs are too many; allowed: {}", file, runs, kMostRuns));
    }
    for (const std::string& text : sweep.overrides) {
        std::string key = text.substr(0, text.find('='));
        std::erase(key, ' ');
        const auto found = seen.find(key);
        if (found == seen.end()) continue;
        const bool fixed =
            found->second.starts_with("set[") && !sweep.settings[std::stoul(found->second.substr(4))].formula;
        if (!fixed) {
            throw InputError(fmt::format("--set {}: {} of {} sets this key", text, found->second, file));
        }
    }
    for (std::size_t k = 0; k < sweep.axes.size(); ++k) {
        const bool used =
            !sweep.axes[k].keys.empty() || std::ranges::any_of(sweep.settings, [&](const Setting& setting) {
                return setting.formula && setting.formula->uses(k);
            });
        if (!used) {
            throw InputError(fmt::format("{}: axis[{}]: sets nothing; give it a key, or use its name in a formula",
                                         sweep.axes[k].place, k));
        }
    }
}

}  // namespace

std::string find_sweep(const std::string& path_or_name) {
    std::error_code error;
    if (fs::exists(path_or_name, error) || path_or_name.find('/') != std::string::npos) return path_or_name;
    for (const char* ending : {".sweep.toml", ""}) {
        try {
            return find_scene(path_or_name + ending);
        } catch (const SystemError&) {
            // The message would speak of scenes.
        }
    }
    throw SystemError(fmt::format("{}: no such file, and no installed sweep of this name", path_or_name));
}

Sweep load_sweep(const std::string& path_or_name, const std::vector<std::string>& overrides) {
    const std::string path = find_sweep(path_or_name);
    return parse_sweep(read_text_file(path), path, overrides);
}

Sweep parse_sweep(std::string_view text, const std::string& path, const std::vector<std::string>& overrides) {
    const toml::table root = parse_text(text, path);
    const SweepEntry top(root, "", path, {"sweep", "axis", "set"});
    const toml::node* head = root.get("sweep");
    if (head == nullptr || !head->is_table()) {
        throw InputError(
            fmt::format("{}: sweep: {}", head == nullptr ? path + ":1:1" : place_of(*head, path),
                        head == nullptr ? "is required: [sweep] with scene and record" : "must be one table: [sweep]"));
    }
    Sweep sweep;
    sweep.path = path;
    sweep.overrides = overrides;
    const SweepEntry entry(*head->as_table(), "sweep", path, {"scene", "record", "average_over"});
    read_head(entry, sweep);
    for (const toml::table* table : tables_of(root, "axis", path)) {
        const SweepEntry axis(*table, fmt::format("axis[{}]", sweep.axes.size()), path,
                              {"key", "keys", "name", "values"});
        sweep.axes.push_back(read_axis(axis));
    }
    if (sweep.axes.empty()) {
        throw InputError(fmt::format("{}: axis: is required: one [[axis]] or more, each with key and values", path));
    }
    for (const toml::table* table : tables_of(root, "set", path)) {
        const SweepEntry set(*table, fmt::format("set[{}]", sweep.settings.size()), path,
                             {"key", "keys", "value", "formula"});
        sweep.settings.push_back(read_setting(set, sweep.axes));
    }
    read_average(entry, sweep);
    check_keys(sweep, path);
    return sweep;
}

}  // namespace carom
