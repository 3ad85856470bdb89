#include "host/sweep/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/scene/load.hpp"
#include "host/scene/section.hpp"
#include "host/scene/toml.hpp"
#include "host/state/errors.hpp"
#include "host/state/text.hpp"

namespace carom {

namespace {

constexpr double kMostValues = 1e7;
constexpr double kHit = 1e-9;  // of a step; a person who means another number of steps is farther off
constexpr double kRounding = 8.0 * std::numeric_limits<double>::epsilon();  // of the ends and the step, all decimals
constexpr int kMostDecimals = 17;  // beyond these a double's own rounding shows

/// Digits after the point that the shortest decimal has: 3 for 0.025 and for 2.5e-2.
int decimals_of(double value) {
    const std::string shortest = fmt::format("{}", std::abs(value));
    int exponent = 0;
    std::string_view mantissa = shortest;
    if (const auto e = shortest.find('e'); e != std::string::npos) {
        exponent = std::stoi(shortest.substr(e + 1));
        mantissa = mantissa.substr(0, e);
    }
    const auto point = mantissa.find('.');
    const int after = point == std::string_view::npos ? 0 : static_cast<int>(mantissa.size() - point - 1);
    return std::max(0, after - exponent);
}

double rounded(double value, int decimals) {
    constexpr double kNoDecimals = 9007199254740992.0;  // 2^53: from here on a double has none
    if (decimals > kMostDecimals || std::abs(value) >= kNoDecimals) return value;
    const std::string text = fmt::format("{:.{}f}", value, decimals);
    double result = 0.0;
    std::from_chars(text.data(), text.data() + text.size(), result);
    return result + 0.0;  // no negative zero
}

}  // namespace

std::string decimal_text(double value) { return fmt::format("{}", value + 0.0); }

std::vector<double> stepped_values(double from, double to, double step) {
    if (step == 0.0) throw InputError("step must not be 0");
    const double steps = (to - from) / step;
    if (!(steps > -kHit)) throw InputError(fmt::format("step {} leads away from {} to {}", step, from, to));
    if (!(steps < kMostValues)) throw InputError(fmt::format("these are more than {} values", kMostValues));
    const double whole = std::round(steps);
    const int decimals = std::max(decimals_of(from), decimals_of(step));
    if (std::abs(steps - whole) > kHit + kRounding * (std::abs(from) + std::abs(to)) / std::abs(step)) {
        throw InputError(fmt::format("steps of {} from {} do not hit {}: the nearest is {}", step, from, to,
                                     rounded(from + whole * step, decimals)));
    }
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(whole) + 1);
    for (double k = 0.0; k <= whole; k += 1.0) {
        const double value = rounded(from + k * step, decimals);
        if (!values.empty() && value == values.back()) {
            throw InputError(fmt::format("steps of {} are lost in rounding at {}", step, value));
        }
        values.push_back(value);
    }
    return values;
}

AxisValue AxisValues::operator[](std::size_t k) const {
    if (range_.empty()) return listed_[k];
    const std::string text = decimal_text(range_[k]);
    return {.text = text, .toml = text, .number = range_[k]};
}

std::uint64_t Sweep::all_rows() const {
    std::uint64_t rows = 1;
    for (std::size_t k = 0; k < axes.size(); ++k) {
        if (k != averaged) rows *= axes[k].values.size();
    }
    return rows;
}

std::uint64_t Sweep::rows() const {
    const std::uint64_t all = all_rows();
    return all <= shard ? 0 : (all - shard - 1) / shards + 1;
}

std::uint64_t Sweep::runs_per_row() const { return averaged ? axes[*averaged].values.size() : 1; }

std::vector<std::size_t> Sweep::values_of(std::uint64_t run) const {
    std::vector<std::size_t> values(axes.size());
    if (averaged) values[*averaged] = run % runs_per_row();
    std::uint64_t rest = row_number(run / runs_per_row());
    for (std::size_t k = axes.size(); k-- > 0;) {
        if (k == averaged) continue;
        values[k] = rest % axes[k].values.size();
        rest /= axes[k].values.size();
    }
    return values;
}

std::string Sweep::label_of(std::uint64_t run) const {
    const std::vector<std::size_t> values = values_of(run);
    std::string label;
    for (std::size_t k = 0; k < axes.size(); ++k) {
        label += fmt::format("{}{}={}", k > 0 ? ", " : "", axes[k].name, axes[k].values[values[k]].text);
    }
    return label;
}

std::vector<Assignment> Sweep::assignments(std::uint64_t run) const {
    const std::vector<std::size_t> values = values_of(run);
    std::vector<Assignment> all;
    const auto add = [&all](const std::string& key, const std::string& toml, const std::string& key_place,
                            const std::string& value_place) {
        all.push_back({fmt::format("{}={}", key, toml), key, &key_place, &value_place});
    };
    for (const Setting& setting : settings) {
        if (setting.formula) continue;
        for (const std::string& key : setting.keys) add(key, setting.toml, setting.place, setting.place);
    }
    for (const std::string& text : overrides) all.push_back({.text = text, .key = key_of_override(text)});
    std::vector<double> numbers;
    for (std::size_t k = 0; k < axes.size(); ++k) {
        const AxisValue value = axes[k].values[values[k]];
        numbers.push_back(value.number);
        for (const std::string& key : axes[k].keys) {
            add(key, value.toml, axes[k].place, axes[k].values.place(values[k]));
        }
    }
    for (const Setting& setting : settings) {
        if (!setting.formula) continue;
        const double number = setting.formula->evaluate(numbers);
        if (!std::isfinite(number)) {
            throw InputError(fmt::format("{}: set[{}].formula: gives {} at {}; it must be a number in every run",
                                         setting.place, &setting - settings.data(), number, label_of(run)));
        }
        for (const std::string& key : setting.keys) add(key, decimal_text(number), setting.place, setting.place);
    }
    return all;
}

std::vector<std::string> Sweep::axis_columns() const {
    std::vector<std::string> columns;
    for (std::size_t k = 0; k < axes.size(); ++k) {
        if (k != averaged) columns.push_back(axes[k].name);
    }
    return columns;
}

std::string name_without_unit(const std::string& name) {
    const auto bracket = name.rfind(" [");
    return bracket != std::string::npos && bracket > 0 && name.ends_with("]") ? name.substr(0, bracket) : name;
}

/// One table of the sweep file, for its reader.
class SweepEntry {
public:
    SweepEntry(const toml::table& table, std::string path, const std::string& file,
               std::initializer_list<std::string_view> keys)
        : table_(table), path_(std::move(path)), file_(file) {
        const std::vector<std::string_view> known(keys);
        for (const auto& [name, value] : table_) {
            if (std::ranges::find(known, name.str()) != known.end()) continue;
            const auto nearest = nearest_name(name.str(), known);
            const std::string begin =
                fmt::format("{}: {}{}: unknown {}; ", place_of(name.source(), file_), path_.empty() ? "" : path_ + ".",
                            name.str(), path_.empty() ? "table" : "key");
            throw InputError(nearest.empty() ? fmt::format("{}allowed: {}", begin, fmt::join(known, ", "))
                                             : fmt::format("{}did you mean \"{}\"?", begin, nearest));
        }
    }

    [[nodiscard]] const toml::node* find(std::string_view name) const { return table_.get(name); }
    [[nodiscard]] std::string place(std::string_view name) const {
        const toml::node* node = find(name);
        return node == nullptr ? place_of(table_, file_) : place_of(*node, file_);
    }
    [[nodiscard]] std::string label(std::string_view name) const {
        return fmt::format("{}: {}.{}", place(name), path_, name);
    }
    [[nodiscard]] std::string element(std::string_view name, const toml::node& node, std::size_t index) const {
        return fmt::format("{}: {}.{}[{}]", place_of(node, file_), path_, name, index);
    }
    [[noreturn]] void fail(std::string_view name, const std::string& message) const {
        throw InputError(fmt::format("{}: {}", label(name), message));
    }

    [[nodiscard]] const toml::node& required(std::string_view name, const char* what) const {
        const toml::node* node = find(name);
        if (node == nullptr) fail(name, fmt::format("is required: {}", what));
        return *node;
    }

    [[nodiscard]] std::string text(std::string_view name) const {
        const toml::node& node = required(name, "text in quotes");
        return plain(node, label(name));
    }

    [[nodiscard]] double number(std::string_view name) const {
        const toml::node& node = required(name, "a number");
        const double value = number_in(node);
        if (!std::isfinite(value)) fail(name, "must be a number, not " + value_text(node));
        return value;
    }

    /// The elements of an array that must have some.
    [[nodiscard]] const toml::array& array(std::string_view name, const char* what) const {
        const toml::node& node = required(name, what);
        const toml::array* array = node.as_array();
        if (array == nullptr) fail(name, fmt::format("must be {}, not {}", what, value_text(node)));
        if (array->empty()) fail(name, fmt::format("is empty; allowed: {}", what));
        return *array;
    }

    /// `key = "..."` or `keys = [...]`, as --set takes them.
    [[nodiscard]] std::vector<std::string> keys(bool may_lack) const {
        if (find("key") != nullptr && find("keys") != nullptr) fail("keys", "key is there too; give one of the two");
        std::vector<std::string> result;
        if (find("key") != nullptr) {
            result.push_back(stripped(text("key")));
        } else if (find("keys") != nullptr) {
            const toml::array& all = array("keys", "an array of keys of the scene");
            for (const toml::node& node : all) {
                result.push_back(stripped(plain(node, element("keys", node, result.size()))));
            }
        } else if (!may_lack) {
            fail("key", "is required: a key of the scene, as \"table.key\" or \"table[0].key[1]\"");
        }
        return result;
    }

    /// Text without control characters, not empty.
    static std::string plain(const toml::node& node, const std::string& label) {
        const auto text = node.value<std::string>();
        if (!node.is_string() || !text) {
            throw InputError(fmt::format("{}: must be text in quotes, not {}", label, value_text(node)));
        }
        const bool control = std::ranges::any_of(*text, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
        if (text->empty() || control) {
            throw InputError(label + (control ? ": must not hold control characters" : ": must not be empty"));
        }
        return *text;
    }

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] const std::string& file() const { return file_; }

private:
    const toml::table& table_;
    std::string path_;
    const std::string& file_;
};

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostRuns = 10'000'000;  // each is in memory, as a number

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
    value.number = number_in(node);
    return value;
}

AxisValues read_values(const SweepEntry& entry) {
    constexpr const char* kWhat = "a list, or { from = ..., to = ..., step = ... }";
    const toml::node& node = entry.required("values", kWhat);
    AxisValues values;
    if (node.is_array()) {
        std::set<std::string> seen;
        for (const toml::node& element : entry.array("values", "a list of at least one value")) {
            AxisValue value = axis_value(element, entry, values.size());
            if (!seen.insert(value.text).second) {
                throw InputError(
                    fmt::format("{}: {} is there twice", entry.element("values", element, values.size()), value.text));
            }
            values.add(std::move(value), place_of(element, entry.file()));
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
        values.set_range(stepped_values(from, to, step), entry.place("values"));
    } catch (const InputError& error) {
        entry.fail("values", error.what());
    }
    return values;
}

void require_runs(double runs, const std::string& file) {
    if (runs <= static_cast<double>(kMostRuns)) return;
    throw InputError(fmt::format("{}: {:.3g} runs are too many; allowed: {}", file, runs, kMostRuns));
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
        for (std::size_t at = 0; at < axes[k].values.size(); ++at) {
            if (const AxisValue value = axes[k].values[at]; !std::isfinite(value.number)) {
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
        return parse_toml(text, path);
    } catch (const toml::parse_error& error) {
        throw InputError(
            fmt::format("{}: not valid TOML: {}", place_of(error.source(), path), visible(error.description())));
    }
}

/// Beside the sweep file, or as the program finds scenes.
std::string scene_path(const std::string& scene, const std::string& sweep) {
    std::error_code error;
    const fs::path beside = fs::path(sweep).parent_path() / scene;
    if (fs::is_regular_file(beside, error)) return beside.string();
    std::string found = find_scene(scene);
    // A stranger's sweep would else wait for a pipe, or read a device that has no end.
    if (!fs::is_regular_file(found, error)) throw SystemError(found + ": is not a regular file");
    return found;
}

void read_head(const SweepEntry& entry, Sweep& sweep) {
    try {
        sweep.scene = scene_path(entry.text("scene"), sweep.path);
    } catch (const SystemError& error) {
        entry.fail("scene", error.what());
    }
    sweep.scene_text = read_text_file(sweep.scene);
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

/// The keys that a key is a part of: "fill[0].sizes", "fill[0]" and "fill" for "fill[0].sizes.spread".
std::vector<std::string> wholes_of(const std::string& key) {
    std::vector<std::string> wholes;
    for (std::size_t at = 1; at < key.size(); ++at) {
        if (key[at] == '.' || key[at] == '[') wholes.push_back(key.substr(0, at));
    }
    return wholes;
}

/// No key is set twice, no column is there twice, and there are not too many runs.
void check_keys(const Sweep& sweep, const std::string& file) {
    struct Claim {
        std::string who;
        bool fixed;  // the same in all runs, and so set first
    };
    std::map<std::string, Claim> seen;  // by key
    const auto claim = [&](const std::string& key, const Claim& mine, const std::string& place) {
        const auto [other, first] = seen.emplace(key, mine);
        if (!first) {
            throw InputError(fmt::format("{}: {}: {} is set by {} already", place, mine.who, key, other->second.who));
        }
        // A part may be set after the whole; else one of the two is not what the table says.
        const auto refuse = [&](const std::string& part_or_whole, const Claim& who) {
            throw InputError(
                fmt::format("{}: {}: {} is set beside {}, by {}", place, mine.who, key, part_or_whole, who.who));
        };
        for (const std::string& whole : wholes_of(key)) {
            const auto found = seen.find(whole);
            if (found != seen.end() && !found->second.fixed) refuse(whole, found->second);
        }
        for (const char separator : {'.', '['}) {
            const std::string begin = key + separator;
            for (auto part = seen.lower_bound(begin); part != seen.end() && part->first.starts_with(begin); ++part) {
                if (!mine.fixed || part->second.fixed) refuse(part->first, part->second);
            }
        }
    };
    std::vector<std::string> names;
    for (std::size_t k = 0; k < sweep.axes.size(); ++k) {
        const Axis& axis = sweep.axes[k];
        const std::string who = fmt::format("axis[{}]", k);
        for (const std::string& key : axis.keys) claim(key, {who, false}, axis.place);
        if (std::ranges::find(names, name_without_unit(axis.name)) != names.end()) {
            throw InputError(fmt::format("{}: {}.name: there are two axes \"{}\"", axis.place, who, axis.name));
        }
        names.push_back(name_without_unit(axis.name));
    }
    for (std::size_t k = 0; k < sweep.settings.size(); ++k) {
        for (const std::string& key : sweep.settings[k].keys) {
            claim(key, {fmt::format("set[{}]", k), !sweep.settings[k].formula}, sweep.settings[k].place);
        }
    }
    for (const std::string& text : sweep.overrides) {
        const std::string key = key_of_override(text);
        std::vector<std::string> later = wholes_of(key);
        later.push_back(key);
        for (const std::string& one : later) {
            const auto found = seen.find(one);
            if (found == seen.end() || found->second.fixed) continue;
            throw InputError(fmt::format("--set {}: {} of {} sets {}", text, found->second.who, file,
                                         one == key ? "this key" : one));
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
    throw SystemError(
        installed_scenes().empty()
            ? fmt::format("{}: no such file, and no scenes are installed in {}", path_or_name, installed_folder())
            : fmt::format("{}: no such file, and no installed sweep of this name", path_or_name));
}

Sweep load_sweep(const std::string& path_or_name, const std::vector<std::string>& overrides) {
    const std::string path = find_sweep(path_or_name);
    return parse_sweep(read_text_file(path), path, overrides);
}

Sweep parse_sweep(std::string_view text, const std::string& path, const std::vector<std::string>& overrides) {
    const toml::table root = parse_text(text, path);
    if (root.contains("scene") && !root.contains("sweep")) {
        throw InputError(path + ": is a scene, not a sweep; carom run runs it");
    }
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
    double runs = 1.0;
    for (const toml::table* table : tables_of(root, "axis", path)) {
        const SweepEntry axis(*table, fmt::format("axis[{}]", sweep.axes.size()), path,
                              {"key", "keys", "name", "values"});
        sweep.axes.push_back(read_axis(axis));
        runs *= static_cast<double>(sweep.axes.back().values.size());
        require_runs(runs, path);  // before there is another axis of many values
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
