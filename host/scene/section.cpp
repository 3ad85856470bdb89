#include "host/scene/section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "host/scene/keys.hpp"
#include "host/scene/sources.hpp"
#include "host/state/errors.hpp"
#include "host/state/text.hpp"

namespace carom {

namespace {

constexpr std::size_t kLongestText = 10'000;  // bytes: HDF5 holds an attribute of at most 64 kB
constexpr std::size_t kMostInList = 4096;
constexpr double kLargestExactWhole = 9007199254740992.0;   // 2^53
constexpr double kBeyondTomlWhole = 9223372036854775808.0;  // 2^63

/// The list's literal default as a number.
double literal(const Key& key) {
    double value = 0.0;
    std::from_chars(key.fallback.data(), key.fallback.data() + key.fallback.size(), value);
    return value;
}

bool within(const Bounds& bounds, double value) {
    if (std::isnan(value)) return false;
    if (bounds.infinity && value > bounds.max) return true;
    return value <= bounds.max && (bounds.above_min ? value > bounds.min : value >= bounds.min);
}

/// One that a key takes, where the file has none.
double allowed_number(const Bounds& bounds) {
    const bool from = bounds.min > Bounds{}.min;
    return from && bounds.above_min ? std::min(bounds.min + 1.0, bounds.max) : from ? bounds.min : 0.0;
}

/// The number that a node holds, if it is one.
std::optional<double> number_of(const toml::node& node) {
    // toml++ refuses to round, and a whole number above 2^53 may be no double.
    if (const auto* whole = node.as_integer()) return static_cast<double>(whole->get());
    if (const auto* real = node.as_floating_point()) return real->get();
    return std::nullopt;
}

/// "; did you mean "gr"?", or nothing.
std::string meant_choice(const Key& key, std::string_view word) {
    if (key.choices.empty()) return "";
    const auto meant = meant_name(fmt::format("{}.{}", key.table, key.name), word, choices_of(key));
    return meant.empty() ? "" : fmt::format("; did you mean \"{}\"?", meant);
}

const Key& known(std::string_view table, std::string_view name) {
    const Key* key = find_key(table, name);
    if (key == nullptr) throw std::logic_error(fmt::format("no key {}.{} in the list of keys", table, name));
    return *key;
}

}  // namespace

SourcePlace source_place_of(const toml::source_region& source) {
    SourcePlace place{.line = std::max<std::uint32_t>(1, source.begin.line),
                      .column = std::max<std::uint32_t>(1, source.begin.column)};
    if (source.path && source.path->starts_with("--set ")) place.assignment = *source.path;
    return place;
}

SourcePlace source_place_of(const toml::node& node) {
    const toml::table* table = node.as_table();
    const bool made = !node.source().path;
    return made && table != nullptr && !table->empty() ? source_place_of(table->begin()->second)
                                                       : source_place_of(node.source());
}

std::string place_of(const toml::source_region& source, const std::string& file) {
    return source_place_of(source).text(file);
}
std::string place_of(const toml::node& node, const std::string& file) { return source_place_of(node).text(file); }

std::string value_text(const toml::node& node) {
    if (const auto* text = node.as_string()) return fmt::format("\"{}\"", text->get());
    if (const auto* whole = node.as_integer()) return fmt::format("{}", whole->get());
    if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
    if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
    if (const auto* array = node.as_array()) return fmt::format("an array of {}", array->size());
    if (node.is_table()) return "a table";
    return "a date or time";
}

Section::Section(const toml::table* node, std::string path, std::string_view table, const std::string& file,
                 int dimension, Faults& faults)
    : node_(node), path_(std::move(path)), table_(table), file_(file), dimension_(dimension), faults_(&faults) {
    if (node_ == nullptr) return;
    for (const auto& [name, value] : *node_) {
        if (find_key(table_, name.str()) == nullptr) note_unknown(name, value);
    }
    if (const Key* kind = kind_key(table_)) check_kind(*kind);
}

void Section::note_unknown(const toml::key& name, const toml::node& value) const {
    std::vector<std::string_view> names;
    const Key* elsewhere = nullptr;
    for (const Key& key : scene_keys()) {
        if (key.table == table_) names.push_back(key.name);
        if (key.name == name.str() && elsewhere == nullptr) elsewhere = &key;
    }
    // Keys made by an override have no place of their own; their values have.
    const SourcePlace at = source_place_of(name.source().begin ? name.source() : value.source());
    std::string why;
    if (const auto meant = meant_name(table_, name.str(), names); !meant.empty()) {
        why = fmt::format("did you mean \"{}\"?", meant);
    } else if (table_ == "stage" && elsewhere != nullptr && elsewhere->table == "thermostat") {
        why = fmt::format("a stage has a thermostat of its own: thermostat.{}", name.str());
    } else if (elsewhere != nullptr) {
        why = fmt::format("it belongs to {}", elsewhere->table);
    } else {
        why = fmt::format("allowed: {}", fmt::join(names, ", "));
    }
    faults_->note(at, fmt::format("{}: {}.{}: unknown key; {}", at.text(file_), path_, name.str(), why));
}

void Section::check_kind(const Key& of) const {
    const std::size_t before = faults_->count();
    const auto abandon_if_noted = [&] {
        if (faults_->count() > before) throw Faults::Abandoned{};
    };
    const std::string_view kind = choices_of(of)[choice(of.name)];
    abandon_if_noted();
    for (const Key& key : scene_keys()) {
        if (key.table == table_ && has(key.name) && !takes(key, kind)) {
            note(error(key.name, -1, other_kind_text(key, kind)));
        }
    }
    for (const Key& key : scene_keys()) {
        const bool own = key.table == table_ && !key.kinds.empty() && takes(key, kind);
        if (own && key.fallback == "required" && !has(key.name)) {
            note(error(key.name, -1, kind_requires_text(key, kind)));
        }
    }
    abandon_if_noted();
}

const toml::node* Section::find(std::string_view name) const { return node_ == nullptr ? nullptr : node_->get(name); }

SourcePlace Section::place(std::string_view name) const {
    if (const toml::node* node = find(name)) return source_place_of(*node);
    return node_ == nullptr ? source_place_of(toml::source_region{}) : source_place_of(*node_);
}

std::string Section::where(std::string_view name) const { return place(name).text(file_); }

std::string Section::label(std::string_view name) const { return fmt::format("{}: {}.{}", where(name), path_, name); }

PlacedError Section::error(std::string_view name, int index, const std::string& message) const {
    const toml::node* node = find(name);
    const toml::array* array = node == nullptr || index < 0 ? nullptr : node->as_array();
    const toml::node* element = array == nullptr ? nullptr : array->get(static_cast<std::size_t>(index));
    if (element == nullptr) return {place(name), fmt::format("{}: {}", label(name), message)};
    return {source_place_of(*element),
            fmt::format("{}: {}.{}[{}]: {}", place_of(*element, file_), path_, name, index, message)};
}

void Section::fail(std::string_view name, const std::string& message) const { throw error(name, -1, message); }

void Section::fail_at(std::string_view name, int index, const std::string& message) const {
    throw error(name, index, message);
}

void Section::wrong(const Key& key, const toml::node& node, int index) const {
    const Key element{.table = key.table, .name = key.name, .type = KeyType::kNumber, .bounds = key.bounds};
    const auto text = node.value<std::string_view>();
    note(error(
        key.name, index,
        fmt::format("must be {}, not {}", allowed_text(index >= 0 ? element : key, dimension_), value_text(node)) +
            (text ? meant_choice(key, *text) : "")));
}

const toml::node* Section::required(const Key& key) const {
    const toml::node* node = find(key.name);
    if (node == nullptr) note(error(key.name, -1, fmt::format("is required: {}", allowed_text(key, dimension_))));
    return node;
}

double Section::checked(const Key& key, const toml::node& node, int index) const {
    const auto value = number_of(node);
    if (value && within(key.bounds, *value)) return *value;
    wrong(key, node, index);
    return allowed_number(key.bounds);
}

double Section::number(std::string_view name) const {
    const Key& key = known(table_, name);
    if (!has(name) && key.fallback != "required") return literal(key);
    const toml::node* node = required(key);
    return node == nullptr ? allowed_number(key.bounds) : checked(key, *node, -1);
}

double Section::number(std::string_view name, double fallback) const {
    const Key& key = known(table_, name);
    const toml::node* node = find(name);
    return node == nullptr ? fallback : checked(key, *node, -1);
}

std::optional<double> Section::number_or_auto(std::string_view name) const {
    const Key& key = known(table_, name);
    const toml::node* node = find(name);
    if (node == nullptr || node->value<std::string_view>() == "auto") return std::nullopt;
    return checked(key, *node, -1);
}

std::uint64_t Section::whole(std::string_view name) const {
    const Key& key = known(table_, name);
    if (!has(name) && key.fallback != "required") return static_cast<std::uint64_t>(literal(key));
    const toml::node* node = required(key);
    if (node == nullptr) return static_cast<std::uint64_t>(allowed_number(key.bounds));
    const double value = checked(key, *node, -1);
    if (node->is_integer() && value >= 0.0 && within(key.bounds, static_cast<double>(*node->value<std::int64_t>()))) {
        return static_cast<std::uint64_t>(*node->value<std::int64_t>());
    }
    // 1e6 is a whole number to people, and a floating-point one to TOML.
    const bool is_whole = value == std::floor(value);
    if (is_whole && value <= kLargestExactWhole) return static_cast<std::uint64_t>(value);
    if (is_whole && node->is_floating_point() && value < kBeyondTomlWhole) {
        note(error(key.name, -1,
                   fmt::format("must be written without point and exponent beyond {:.0f}, not as {}",
                               kLargestExactWhole, value_text(*node))));
    } else {
        wrong(key, *node);
    }
    return static_cast<std::uint64_t>(allowed_number(key.bounds));
}

std::string Section::text(std::string_view name) const {
    const Key& key = known(table_, name);
    if (!has(name) && key.fallback != "required") return "";
    const toml::node* node = required(key);
    if (node == nullptr) return "";
    if (!node->is_string()) {
        wrong(key, *node);
        return "";
    }
    auto text = *node->value<std::string>();
    if (text.size() > kLongestText)
        fail(name, fmt::format("must be at most {} bytes long, not {}", kLongestText, text.size()));
    if (visible(text, false) != text) fail(name, "must not hold control characters");
    return text;
}

bool Section::flag(std::string_view name) const {
    const Key& key = known(table_, name);
    if (!has(name)) return key.fallback == "true";
    const toml::node& node = *find(name);
    if (!node.is_boolean()) wrong(key, node);
    return node.value<bool>().value_or(true);
}

std::size_t Section::choice(std::string_view name) const {
    const Key& key = known(table_, name);
    if (!has(name) && key.fallback != "required") return 0;  // the list's first choice is the default
    const toml::node* node = required(key);
    if (node == nullptr) return 0;
    const auto choices = choices_of(key);
    for (std::size_t at = 0; at < choices.size(); ++at) {
        if (node->value<std::string_view>() == choices[at]) return at;
    }
    wrong(key, *node);
    return 0;
}

std::vector<std::string> Section::choices(std::string_view name, std::vector<std::string> fallback) const {
    const Key& key = known(table_, name);
    const toml::node* node = find(name);
    if (node == nullptr) return fallback;
    const toml::array* array = node->as_array();
    if (array == nullptr) {
        wrong(key, *node);
        return fallback;
    }
    std::vector<std::string> result;
    for (const toml::node& element : *array) {
        const std::string text = element.value<std::string>().value_or("");
        const auto allowed = choices_of(key);
        const int index = static_cast<int>(result.size());
        if (std::find(allowed.begin(), allowed.end(), std::string_view(text)) == allowed.end()) {
            const Key one{.table = key.table, .name = key.name, .type = KeyType::kChoice, .choices = key.choices};
            note(error(name, index,
                       fmt::format("must be {}, not {}", allowed_text(one, dimension_), value_text(element)) +
                           meant_choice(key, text)));
        }
        if (std::find(result.begin(), result.end(), text) != result.end()) {
            fail_at(name, index, fmt::format("\"{}\" is there twice", text));
        }
        result.push_back(text);
    }
    return result;
}

Vector3 Section::vector(std::string_view name) const {
    const Key& key = known(table_, name);
    Vector3 result{};
    for (int axis = 0; axis < dimension_; ++axis) result[axis] = allowed_number(key.bounds);
    const toml::node* node = required(key);
    if (node == nullptr) return result;
    const toml::array* array = node->as_array();
    if (array == nullptr || array->size() != static_cast<std::size_t>(dimension_)) {
        wrong(key, *node);
        return result;
    }
    for (int axis = 0; axis < dimension_; ++axis) {
        result[axis] = checked(key, *array->get(static_cast<std::size_t>(axis)), axis);
    }
    return result;
}

Vector3 Section::vector(std::string_view name, const Vector3& fallback) const {
    return has(name) ? vector(name) : fallback;
}

Vector3 Section::direction(std::string_view name) const {
    Vector3 unit = vector(name);
    double largest = 0.0;
    for (const double component : unit) largest = std::max(largest, std::abs(component));
    if (largest == 0.0) fail(name, "must not be zero");
    double square = 0.0;
    for (double& component : unit) {
        component /= largest;  // so that the square neither overflows nor vanishes
        square += component * component;
    }
    for (double& component : unit) component /= std::sqrt(square);
    return unit;
}

KindValues Section::values(std::span<const Key> keys, std::span<const std::string_view> but) const {
    KindValues values;
    for (const Key& key : keys) {
        if (std::ranges::find(but, key.name) != but.end()) continue;
        switch (key.type) {
            case KeyType::kVector:
                values.set(key.name, vector(key.name));
                break;
            case KeyType::kDirection:
                values.set(key.name, direction(key.name));
                break;
            case KeyType::kChoice:
                values.set(key.name, {static_cast<double>(choice(key.name))});
                break;
            case KeyType::kNumber:
                values.set(key.name, {number(key.name)});
                break;
            case KeyType::kWhole:
                values.set(key.name, {static_cast<double>(whole(key.name))});
                break;
            default:
                throw std::logic_error(fmt::format("{}: a kind cannot take such values yet", key.name));
        }
    }
    return values;
}

Vector3 Section::spin(std::string_view name) const {
    const Key& key = known(table_, name);
    if (!has(name)) return {};
    if (dimension_ == 3) return vector(name);
    return {0.0, 0.0, checked(key, *find(name), -1)};
}

std::array<std::array<std::size_t, 2>, 3> Section::boundary(std::string_view name) const {
    const Key& key = known(table_, name);
    std::array<std::array<std::size_t, 2>, 3> result{};
    const toml::node* node = find(name);
    if (node == nullptr) return result;
    const auto allowed = choices_of(key);
    const auto all = node->value<std::string_view>();
    if (const auto found = all ? std::ranges::find(allowed, *all) : allowed.end(); found != allowed.end()) {
        const auto choice = static_cast<std::size_t>(found - allowed.begin());
        std::fill_n(result.begin(), dimension_, std::array{choice, choice});
        return result;
    }
    const toml::array* axes = node->as_array();
    if (axes == nullptr || axes->size() != static_cast<std::size_t>(dimension_)) {
        wrong(key, *node);
        return result;
    }
    for (int axis = 0; axis < dimension_; ++axis) {
        const toml::node& entry = *axes->get(static_cast<std::size_t>(axis));
        const toml::array* pair = entry.as_array();
        for (std::size_t side = 0; side < 2; ++side) {
            const toml::node* word = pair == nullptr ? &entry : pair->get(side);
            const auto text = word == nullptr ? std::nullopt : word->value<std::string_view>();
            const auto found = text ? std::find(allowed.begin(), allowed.end(), *text) : allowed.end();
            if (found == allowed.end() || (pair != nullptr && pair->size() != 2)) {
                const Key one{.table = key.table, .name = key.name, .type = KeyType::kChoice, .choices = key.choices};
                note(error(name, axis,
                           fmt::format("must be {}, or a pair of these, not {}", allowed_text(one, dimension_),
                                       value_text(pair != nullptr && pair->size() == 2 ? *word : entry)) +
                               (text && (pair == nullptr || pair->size() == 2) ? meant_choice(key, *text) : "")));
                break;
            }
            result[axis][side] = static_cast<std::size_t>(found - allowed.begin());
        }
    }
    return result;
}

std::array<std::array<double, 2>, 3> Section::pairs(std::string_view name) const {
    const Key& key = known(table_, name);
    std::array<std::array<double, 2>, 3> result{};
    const toml::node* node = find(name);
    if (node == nullptr) return result;
    const toml::array* axes = node->as_array();
    if (axes == nullptr || axes->size() != static_cast<std::size_t>(dimension_)) {
        wrong(key, *node);
        return result;
    }
    for (int axis = 0; axis < dimension_; ++axis) {
        const toml::node& entry = *axes->get(static_cast<std::size_t>(axis));
        const toml::array* pair = entry.as_array();
        for (std::size_t side = 0; side < 2; ++side) {
            const toml::node* one = pair == nullptr ? &entry : pair->get(side);
            const auto value = one == nullptr ? std::nullopt : number_of(*one);
            if (!value || !within(key.bounds, *value) || (pair != nullptr && pair->size() != 2)) {
                const Key element{.table = key.table, .name = key.name, .type = KeyType::kNumber, .bounds = key.bounds};
                note(error(name, axis,
                           fmt::format("must be {}, or a pair of these, not {}", allowed_text(element, dimension_),
                                       value_text(pair != nullptr && pair->size() == 2 ? *one : entry))));
                break;
            }
            result[axis][side] = *value;
        }
    }
    return result;
}

std::vector<double> Section::numbers(std::string_view name, const std::vector<double>& same) const {
    const Key& key = known(table_, name);
    const toml::node* node = find(name);
    if (node == nullptr) return same;
    const toml::array* array = node->as_array();
    if (array == nullptr || array->size() != same.size()) {
        note(error(name, -1,
                   same.empty() ? "the scene has no [[wall]] that it could be for"
                                : fmt::format("must be an array of {}, for each [[wall]] a number or \"same\", not {}",
                                              same.size(), value_text(*node))));
        return same;
    }
    std::vector<double> result = same;
    for (std::size_t at = 0; at < same.size(); ++at) {
        const toml::node& element = *array->get(at);
        if (element.value<std::string_view>() == "same") continue;
        const auto value = number_of(element);
        if (!value || !within(key.bounds, *value)) {
            const Key one{.table = key.table, .name = key.name, .type = KeyType::kNumber, .bounds = key.bounds};
            note(error(
                name, static_cast<int>(at),
                fmt::format("must be {}, or \"same\", not {}", allowed_text(one, dimension_), value_text(element))));
            continue;
        }
        result[at] = *value;
    }
    return result;
}

std::vector<double> Section::list(std::string_view name) const {
    const Key& key = known(table_, name);
    const toml::node* node = required(key);
    const toml::array* array = node == nullptr ? nullptr : node->as_array();
    if (array == nullptr || array->empty() || array->size() > kMostInList) {
        if (node != nullptr) wrong(key, *node);
        return {allowed_number(key.bounds)};
    }
    std::vector<double> result;
    for (const toml::node& element : *array) result.push_back(checked(key, element, static_cast<int>(result.size())));
    return result;
}

Section Section::table(std::string_view name) const {
    const Key& key = known(table_, name);
    const toml::node* node = find(name);
    if (node != nullptr && !node->is_table()) {
        wrong(key, *node);
        throw Faults::Abandoned{};  // what it would have had to say is not missing
    }
    return Section(node == nullptr ? nullptr : node->as_table(), fmt::format("{}.{}", path_, name),
                   fmt::format("{}.{}", table_, name), file_, dimension_, *faults_);
}

std::string SourcePlace::text(const std::string& file) const {
    return assignment.empty() ? fmt::format("{}:{}:{}", file, line, column) : assignment;
}

void Sources::add(const Key& key, std::size_t entry, const SourcePlace& place, double largest) {
    std::int32_t assignment = -1;
    if (!place.assignment.empty()) {
        const auto found = std::ranges::find(assignments_, place.assignment);
        assignment = static_cast<std::int32_t>(found - assignments_.begin());
        if (found == assignments_.end()) assignments_.push_back(place.assignment);
    }
    records_.push_back({&key, static_cast<std::uint32_t>(entry), place.line, place.column, assignment, largest});
}

std::string Sources::label(std::string_view path) const {
    std::string table(path.substr(0, path.rfind('.')));
    std::uint32_t entry = 0;
    if (const auto open = table.find('['); open != std::string::npos) {
        const auto close = table.find(']', open);
        std::from_chars(table.data() + open + 1, table.data() + close, entry);
        table.erase(open, close + 1 - open);
    }
    const Key* key = find_key(table, path.substr(path.rfind('.') + 1));
    const auto found =
        std::ranges::find_if(records_, [&](const Record& one) { return one.key == key && one.entry == entry; });
    return found == records_.end() ? "" : label(*found);
}

std::string Sources::label_of_largest(std::initializer_list<std::string_view> keys, double at_most) const {
    const Record* largest = nullptr;
    for (const std::string_view path : keys) {
        const Key* key = find_key(path.substr(0, path.rfind('.')), path.substr(path.rfind('.') + 1));
        for (const Record& one : records_) {
            const bool larger = one.largest > (largest == nullptr ? 0.0 : largest->largest);
            if (one.key == key && larger && one.largest <= at_most) largest = &one;
        }
    }
    return largest == nullptr ? "" : label(*largest);
}

std::string Sources::label(const Record& record) const {
    // "stage" and "thermostat" of "stage.thermostat": the entry's number stands between them.
    const std::string_view table = record.key->table;
    const std::string_view top = table.substr(0, table.find('.'));
    const auto known = std::ranges::find(scene_tables(), top, &Table::name);
    const std::string path = fmt::format("{}{}{}.{}", top, known->repeated ? fmt::format("[{}]", record.entry) : "",
                                         table.substr(top.size()), record.key->name);
    SourcePlace place{.line = record.line, .column = record.column};
    if (record.assignment >= 0) place.assignment = assignments_[static_cast<std::size_t>(record.assignment)];
    return fmt::format("{}: {}", place.text(file_), path);
}

}  // namespace carom
