#pragma once

#include "host/scene/scene.hpp"

namespace carom {

class Section;

/// The column of gas that a fill of arrangement "atmosphere" is, by the local-density theory of
/// kernels/physics/atmosphere.hpp, as if it were alone.
struct Atmosphere {
    int axis = 0;               ///< of gravity
    bool down = true;           ///< gravity points to the lower face
    double scale_height = 0.0;  ///< [length]
    double top = 0.0;           ///< of the highest centre above the lowest [scale heights]
    double load = 0.0;          ///< N v / (A l)
    double bottom = 0.0;        ///< packing fraction at the floor
};

/// Of a fill that check_atmosphere has passed.
Atmosphere atmosphere_of(const Scene& scene, const FillEntry& fill);

/// \throws InputError  where a fill cannot be an atmosphere: without gravity along one axis, a floor or a temperature,
///                     or too dense at the floor for a fluid
void check_atmosphere(const Section& section, const Scene& scene, const FillEntry& fill);

}  // namespace carom
