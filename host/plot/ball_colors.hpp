#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "host/plot/ball_picture.hpp"

namespace carom {

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
