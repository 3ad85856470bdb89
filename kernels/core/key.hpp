#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/core/vec.hpp"

// How a key of the scene file is described. A thing that there are several kinds of (contact laws, wall shapes,
// observables, arrangements) says with such rows which keys it takes; host/scene/keys.hpp puts them all together.

namespace carom {

/// What kind of value a key of the scene file takes.
enum class KeyType : std::uint8_t {
    kText,
    kFlag,
    kWhole,
    kNumber,
    kNumberOrAuto,
    kVector,     ///< as many numbers as the scene has dimensions
    kDirection,  ///< the same, of any length but 0: made a unit vector
    kSpin,       ///< a number in 2D, three in 3D
    kChoice,     ///< one of `choices`
    kKind,       ///< one of `choices`, which decides what other keys the table takes
    kChoices,    ///< an array of different `choices`
    kBoundary,   ///< per axis one of `choices`, or two of them
    kPairs,      ///< per axis a number, or two of them
    kNumbers,    ///< as many as the scene has of something, each a number or "same": as it is elsewhere
    kList,       ///< an array of numbers
    kTable,      ///< a table with keys of its own, named table.name in the list
};

/// Which numbers are allowed. Not-a-number never is.
struct Bounds {
    double min = -std::numeric_limits<double>::max();
    double max = std::numeric_limits<double>::max();
    bool above_min = false;  ///< min itself is not allowed
    bool infinity = false;   ///< +infinity is allowed beyond max
    bool operator==(const Bounds&) const = default;
};

inline constexpr Bounds kAnyNumber{};
inline constexpr Bounds kPositive{.min = 0.0, .above_min = true};
inline constexpr Bounds kNotNegative{.min = 0.0};
inline constexpr Bounds kFraction{.min = 0.0, .max = 1.0};

/// One key of the scene file. The list of them drives reading, messages and docs/scene-file.md.
struct Key {
    std::string_view table{};  ///< "ball" for [[ball]], "fill.region" for a table inside; of a kind's rows: left empty
    std::string_view name{};
    KeyType type = KeyType::kNumber;
    Bounds bounds{};
    std::string_view choices{};   ///< separated by |
    std::string_view fallback{};  ///< the default: a literal, "required" (for its kinds), or words for the reference
    std::string_view help{};      ///< one line for the reference, with its unit
    std::string_view kinds{};     ///< that take it, separated by |; empty: all. Of a kind's rows: left empty
};

/// One kind of a thing that there are several kinds of.
struct Kind {
    std::string_view name;      ///< as scenes write it
    std::span<const Key> keys;  ///< that it takes beside those of all kinds; a row's table and kinds stay empty
    std::string_view help;      ///< a few words for the reference; may be empty
};

/// What a scene says of a thing of some kind, by the names of the kind's keys: a number, a vector, or the number of a
/// choice.
class KindValues {
public:
    using Value = std::array<double, 3>;

    KindValues() = default;
    KindValues(std::initializer_list<std::pair<const std::string, Value>> values) : values_(values) {}

    void set(std::string_view key, const Value& value) { values_.insert_or_assign(std::string(key), value); }
    void add(std::string_view key, double much) { values_.find(key)->second[0] += much; }
    [[nodiscard]] double number(std::string_view key) const { return find(key)[0]; }
    [[nodiscard]] int choice(std::string_view key) const { return static_cast<int>(find(key)[0]); }
    template <int Dim>
    [[nodiscard]] Vec<double, Dim> vector(std::string_view key) const {
        Vec<double, Dim> result;
        for (int axis = 0; axis < Dim; ++axis) result[axis] = find(key)[static_cast<std::size_t>(axis)];
        return result;
    }

private:
    [[nodiscard]] const Value& find(std::string_view key) const {
        const auto found = values_.find(key);
        if (found == values_.end()) throw std::logic_error("a kind lacks its " + std::string(key));
        return found->second;
    }
    std::map<std::string, Value, std::less<>> values_;
};

}  // namespace carom
