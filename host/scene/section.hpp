#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/scene/faults.hpp"
#include "host/scene/keys.hpp"
#include "host/scene/sources.hpp"
#include "host/scene/toml.hpp"
#include "host/state/box.hpp"

namespace carom {

/// Where in the user's input something stands; a table that an override made stands where what is in it does.
SourcePlace source_place_of(const toml::source_region& source);
SourcePlace source_place_of(const toml::node& node);
/// The same as messages say it.
std::string place_of(const toml::source_region& source, const std::string& file);
std::string place_of(const toml::node& node, const std::string& file);

/// A value in the words of a message: 2.5, "text", an array of 3.
std::string value_text(const toml::node& node);

/// One table of the scene file, read by the list of keys: names, types and ranges are checked here, and every
/// message says place, key, what is allowed and what was found. What is wrong is noted, and a value that would be right
/// is given instead. All readers take names from scene_keys().
class Section {
public:
    /// \param node  null where the file has no such table: all defaults
    /// \param path  as in messages: "ball[2]"
    /// \param table  as in scene_keys(): "ball"
    /// \param faults  what is wrong is noted there: keys that are not in the list too
    /// \throws Faults::Abandoned  it is not of a kind, has keys of another one, or lacks some of its own
    Section(const toml::table* node, std::string path, std::string_view table, const std::string& file, int dimension,
            Faults& faults);

    [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
    /// Whether an override gave the value.
    [[nodiscard]] bool overridden(std::string_view name) const { return !place(name).assignment.empty(); }

    /// Each of these gives the value, the literal default of the list, or the one given; without any of them the key
    /// is required.
    [[nodiscard]] double number(std::string_view name) const;
    [[nodiscard]] double number(std::string_view name, double fallback) const;
    [[nodiscard]] std::uint64_t whole(std::string_view name) const;
    [[nodiscard]] std::string text(std::string_view name) const;
    [[nodiscard]] bool flag(std::string_view name) const;
    /// Index into the key's choices.
    [[nodiscard]] std::size_t choice(std::string_view name) const;
    [[nodiscard]] std::vector<std::string> choices(std::string_view name, std::vector<std::string> fallback) const;
    [[nodiscard]] Vector3 vector(std::string_view name) const;
    [[nodiscard]] Vector3 vector(std::string_view name, const Vector3& fallback) const;
    /// The same, of any length but 0, made a unit vector.
    [[nodiscard]] Vector3 direction(std::string_view name) const;
    /// What the section says under the keys of its kind.
    /// \param but  the names of keys that are left out
    [[nodiscard]] KindValues values(std::span<const Key> keys, std::span<const std::string_view> but = {}) const;
    /// Angular velocity: in 2D only component 2.
    [[nodiscard]] Vector3 spin(std::string_view name) const;
    /// Empty where the key is absent or "auto".
    [[nodiscard]] std::optional<double> number_or_auto(std::string_view name) const;
    /// Per axis and side an index into the key's choices, 0 by default.
    [[nodiscard]] std::array<std::array<std::size_t, 2>, 3> boundary(std::string_view name) const;
    /// Per axis and side a number, 0 by default.
    [[nodiscard]] std::array<std::array<double, 2>, 3> pairs(std::string_view name) const;
    /// One number or more.
    [[nodiscard]] std::vector<double> list(std::string_view name) const;
    /// One number for each [[wall]], or whatever `same` is of.
    /// \param same  what the word "same" stands for in each place, and the default
    [[nodiscard]] std::vector<double> numbers(std::string_view name, const std::vector<double>& same) const;
    /// A table inside this one.
    [[nodiscard]] Section table(std::string_view name) const;

    /// Where the key stands, or where its table does.
    [[nodiscard]] std::string where(std::string_view name) const;
    /// "file:line:column: table.key", as messages begin.
    [[nodiscard]] std::string label(std::string_view name) const;
    [[nodiscard]] const std::string& path() const { return path_; }
    /// Throws a PlacedError: place, key, message.
    [[noreturn]] void fail(std::string_view name, const std::string& message) const;
    /// The same for one element of an array.
    [[noreturn]] void fail_at(std::string_view name, int index, const std::string& message) const;

private:
    void note_unknown(const toml::key& name, const toml::node& value) const;
    /// A key of another kind would be read by no one, and one without a default must be there.
    void check_kind(const Key& of) const;
    [[nodiscard]] const toml::node* find(std::string_view name) const;
    [[nodiscard]] SourcePlace place(std::string_view name) const;
    /// The error of a key, or of an element of its array where `index` is none below 0.
    [[nodiscard]] PlacedError error(std::string_view name, int index, const std::string& message) const;
    void note(const PlacedError& error) const { faults_->note(error.place(), error.what()); }
    /// Null, and noted, where the key is not there.
    [[nodiscard]] const toml::node* required(const Key& key) const;
    /// Element `index` of an array value, or with -1 the value itself, as a number within the key's bounds; one that is
    /// there where it is not.
    [[nodiscard]] double checked(const Key& key, const toml::node& node, int index) const;
    void wrong(const Key& key, const toml::node& node, int index = -1) const;

    const toml::table* node_;
    std::string path_;
    std::string table_;
    std::string file_;
    int dimension_;
    Faults* faults_;
};

}  // namespace carom
