#pragma once

#include <string>
#include <string_view>

namespace carom {

/// [units]: what the numbers of a scene are in, for figures and tables. Nothing is converted.
struct UnitNames {
    bool reduced = false;  ///< numbers without units
    std::string length = "m";
    std::string mass = "kg";
    std::string time = "s";
    std::string energy = {};  ///< empty: by the other three

    bool operator==(const UnitNames&) const = default;

    /// A unit as H5MD writes it in SI ("kg m s-1", "J") in these names, with exponents and dots; empty where there is
    /// none.
    [[nodiscard]] std::string of(const std::string& unit) const;
    /// What stands behind a number in a line of text: a blank and a unit that SI writes as "m/s^2", in these names;
    /// empty where there is none.
    [[nodiscard]] std::string behind(std::string_view unit) const;

private:
    [[nodiscard]] bool si() const { return energy.empty() && length == "m" && mass == "kg" && time == "s"; }
};

}  // namespace carom
