#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/scene/section.hpp"
#include "host/scene/toml.hpp"
#include "host/state/errors.hpp"

namespace carom {

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
        const auto value = node.is_number() ? node.value<double>() : std::nullopt;
        if (!value || !std::isfinite(*value)) fail(name, "must be a number, not " + value_text(node));
        return *value;
    }

    /// The elements of an array that must have some.
    [[nodiscard]] const toml::array& array(std::string_view name, const char* what) const {
        const toml::node& node = required(name, what);
        const toml::array* array = node.as_array();
        if (array == nullptr) fail(name, fmt::format("must be {}, not {}", what, value_text(node)));
        if (array->empty()) fail(name, fmt::format("is empty; allowed: {}", what));
        return *array;
    }

    /// `key = "..."` or `keys = [...]`.
    [[nodiscard]] std::vector<std::string> keys(bool may_lack) const {
        if (find("key") != nullptr && find("keys") != nullptr) fail("keys", "key is there too; give one of the two");
        std::vector<std::string> result;
        if (find("key") != nullptr) {
            result.push_back(text("key"));
        } else if (find("keys") != nullptr) {
            const toml::array& all = array("keys", "an array of keys of the scene");
            for (const toml::node& node : all) result.push_back(plain(node, element("keys", node, result.size())));
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

}  // namespace carom
