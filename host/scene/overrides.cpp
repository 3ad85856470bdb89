#include "host/scene/overrides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <vector>

#include "host/state/errors.hpp"

namespace carom {
namespace {

/// One step into the tree: a key, or an index of an array.
struct Step {
    std::string name;
    std::size_t index = 0;
    bool indexed = false;
};

[[noreturn]] void fail(const std::string& assignment, const std::string& message) {
    throw InputError(fmt::format("--set {}: {}", assignment, message));
}

std::string trimmed(std::string_view text) {
    const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return std::string(text);
}

std::vector<Step> parse_path(const std::string& path, const std::string& assignment) {
    constexpr const char* kForm = "the key must look like table.key or table[0].key[1]";
    std::vector<Step> steps;
    std::string_view rest = path;
    while (true) {
        const auto end = std::find_if_not(rest.begin(), rest.end(), [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
        });
        const auto length = static_cast<std::size_t>(end - rest.begin());
        if (length == 0) fail(assignment, kForm);
        steps.push_back({.name = std::string(rest.substr(0, length))});
        rest.remove_prefix(length);
        while (!rest.empty() && rest.front() == '[') {
            const auto close = rest.find(']');
            if (close == std::string_view::npos) fail(assignment, kForm);
            Step step{.indexed = true};
            const char* last = rest.data() + close;
            const auto [stop, error] = std::from_chars(rest.data() + 1, last, step.index);
            if (error != std::errc{} || stop != last) fail(assignment, kForm);
            steps.push_back(step);
            rest.remove_prefix(close + 1);
        }
        if (rest.empty()) return steps;
        if (rest.front() != '.') fail(assignment, kForm);
        rest.remove_prefix(1);
    }
}

/// The value as a table with the one key "v"; its nodes carry the override as their source.
toml::table parse_value(const std::string& value, const std::string& assignment) {
    const std::string source = "--set " + assignment;
    try {
        toml::table parsed = toml::parse("v = " + value, source);
        if (parsed.size() == 1 && parsed.contains("v")) return parsed;
    } catch (const toml::parse_error&) {
        // not TOML: text without quotes
    }
    std::string quoted;
    for (const char c : value) {
        if (static_cast<unsigned char>(c) < 0x20) fail(assignment, "the value must not hold control characters");
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c;
    }
    try {
        return toml::parse("v = \"" + quoted + "\"", source);
    } catch (const toml::parse_error&) {
        fail(assignment, "the value is neither TOML nor text");
    }
}

}  // namespace

void apply_override(toml::table& root, const std::string& assignment) {
    const auto equals = assignment.find('=');
    if (equals == std::string::npos) fail(assignment, "must be KEY=VALUE");
    const std::string path = trimmed(std::string_view(assignment).substr(0, equals));
    const std::vector<Step> steps = parse_path(path, assignment);
    toml::table parsed = parse_value(trimmed(std::string_view(assignment).substr(equals + 1)), assignment);

    toml::node* at = &root;
    std::string reached;
    for (std::size_t number = 0; number < steps.size(); ++number) {
        const Step& step = steps[number];
        const bool last = number + 1 == steps.size();
        if (step.indexed) {
            toml::array* array = at->as_array();
            if (array == nullptr) fail(assignment, fmt::format("{} is no array", reached));
            if (step.index >= array->size()) {
                fail(assignment, array->empty() ? fmt::format("{} is empty", reached)
                                                : fmt::format("{} has {} entries, the last is {}[{}]", reached,
                                                              array->size(), reached, array->size() - 1));
            }
            const auto position = array->begin() + static_cast<std::ptrdiff_t>(step.index);
            if (last) {
                parsed.get("v")->visit([&](auto& value) { array->replace(position, std::move(value)); });
                return;
            }
            at = &*position;
            reached += fmt::format("[{}]", step.index);
        } else {
            toml::table* table = at->as_table();
            if (table == nullptr) {
                fail(assignment, at->is_array() ? fmt::format("{0} is an array: write {0}[0].{1}", reached, step.name)
                                                : fmt::format("{} is no table", reached));
            }
            if (last) {
                parsed.get("v")->visit([&](auto& value) { table->insert_or_assign(step.name, std::move(value)); });
                return;
            }
            if (!table->contains(step.name)) {
                if (steps[number + 1].indexed) {
                    fail(assignment,
                         fmt::format("the scene has no {}{}{}", reached, reached.empty() ? "" : ".", step.name));
                }
                table->insert(step.name, toml::table{});
            }
            at = table->get(step.name);
            reached += (reached.empty() ? "" : ".") + step.name;
        }
    }
}

}  // namespace carom
