#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace carom {

/// What kind of value a key of the scene file takes.
enum class KeyType : std::uint8_t {
    kText,
    kFlag,
    kWhole,
    kNumber,
    kNumberOrAuto,
    kVector,    ///< as many numbers as the scene has dimensions
    kSpin,      ///< a number in 2D, three in 3D
    kChoice,    ///< one of `choices`
    kChoices,   ///< an array of different `choices`
    kBoundary,  ///< per axis one of `choices`, or two of them
    kPairs,     ///< per axis a number, or two of them
    kNumbers,   ///< as many as the scene has of something, each a number or "same": as it is elsewhere
    kTable,     ///< a table with keys of its own, named table.name in the list
};

/// Which numbers are allowed. Not-a-number never is.
struct Bounds {
    double min = -std::numeric_limits<double>::max();
    double max = std::numeric_limits<double>::max();
    bool above_min = false;  ///< min itself is not allowed
    bool infinity = false;   ///< +infinity is allowed beyond max
};

/// One key of the scene file. The list of them drives reading, messages and docs/scene-file.md.
struct Key {
    std::string_view table;  ///< "ball" for [[ball]], "fill.region" for a table inside
    std::string_view name;
    KeyType type = KeyType::kNumber;
    Bounds bounds;
    std::string_view choices;   ///< separated by |
    std::string_view fallback;  ///< the default: a literal, "required", or words for the reference
    std::string_view help;      ///< one line for the reference
    std::vector<std::string_view> (*registered)() = nullptr;  ///< choices from a registry, in place of `choices`
};

/// One table of the scene file.
struct Table {
    std::string_view name;
    bool repeated = false;  ///< [[name]]
    std::string_view help;
};

/// All keys, table by table in the order of the reference.
std::span<const Key> scene_keys();
/// All tables that stand at the top of the file, in the order of the reference.
std::span<const Table> scene_tables();

/// The key, or null.
const Key* find_key(std::string_view table, std::string_view name);

/// The choices of a key as a list.
std::vector<std::string_view> choices_of(const Key& key);
/// What a key takes, in words that follow "must be": `a number from 0 to 1`, `"wall" or "open"`.
std::string allowed_text(const Key& key, int dimension);

/// The candidate nearest to a misspelt name (edit distance), empty where none is near.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates);

/// The reference of all keys as Markdown tables: what docs/scene-file.md holds.
std::string key_reference();

}  // namespace carom
