#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "kernels/physics/boundaries.hpp"

namespace carom::test {

/// A wall of the shape of that name. \param values  of the keys that the shape takes
inline Wall make_wall(std::string_view shape, KindValues values) {
    return {shape_number(shape), std::move(values), 0.0, 0.0};
}

/// A wall as a scene says it: plane_wall({1, 0, 0}, 2.0), sphere_wall({0, 0, 0}, 3.0, "outside").
inline Wall plane_wall(const std::array<double, 3>& normal, double offset) {
    return make_wall("plane", {{"normal", normal}, {"offset", {offset}}});
}
inline Wall sphere_wall(const std::array<double, 3>& center, double radius, std::string_view side = "inside") {
    return make_wall("sphere", {{"center", center}, {"radius", {radius}}, {"side", {side == "inside" ? 0.0 : 1.0}}});
}
inline Wall cylinder_wall(const std::array<double, 3>& center, const std::array<double, 3>& axis, double radius) {
    return make_wall("cylinder", {{"center", center}, {"axis", axis}, {"radius", {radius}}, {"side", {0.0}}});
}

}  // namespace carom::test
