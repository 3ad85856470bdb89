#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "host/plot/ball_picture.hpp"

namespace carom {

/// Where a scale of colours ends: at what two values in a thousand exceed, so that a few far above do not make all
/// others look alike; of up to 500 at the largest. \param values  at least one; put into another order
template <class Number>
Number end_of_scale(std::vector<Number>& values) {
    constexpr double kShare = 0.998;
    const auto rank = static_cast<std::ptrdiff_t>(std::ceil(kShare * static_cast<double>(values.size() - 1)));
    std::nth_element(values.begin(), values.begin() + rank, values.end());
    return values[static_cast<std::size_t>(rank)];
}

/// Which species of the table have balls.
std::vector<bool> species_in_use(const Balls& balls);

/// Which ball has which colour, and what the legend says about it.
struct BallColors {
    std::vector<Color> color;  ///< one per ball
    double fastest = 0.0;      ///< the speed at the end of the scale, 0: not coloured by speed
    std::vector<std::pair<std::string, Color>> entries;  ///< coloured by species: name and colour
};

BallColors color_balls(const Balls& balls, const Frame& frame, ColorBy color_by);

/// The colour that a scene gives to a species, or else one of a palette that the colour-blind can tell apart, too.
/// \param index  in the table of species
Color species_color(const Species& species, std::size_t index);

/// A speed's colour on a scale that ends at `fastest`; the darkest part of the map is left out, to be seen on black.
Color speed_color(double speed, double fastest);

}  // namespace carom
