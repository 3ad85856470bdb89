#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/scene/scene.hpp"

namespace carom {

class Section;

/// On either side along an axis; of three axes that is already 342 copies.
constexpr std::uint64_t kMostCopies = 3;

/// [look]: how pictures show the scene. No physics, and no state, knows of it.
struct Look {
    enum class Pattern : std::uint8_t { kAuto, kNone, kStripe };

    // "#RRGGBB", or empty
    std::string background;
    std::string floor;
    std::string walls;
    std::vector<std::string> colors;            ///< of balls, by id; from the last one on again from the first
    double cushion = 0.0;                       ///< 2D: how wide walls are drawn [length]
    std::optional<std::uint64_t> numbers_from;  ///< balls with this id and higher ones have it written on them
    Pattern pattern = Pattern::kAuto;           ///< by which one sees balls turn
    std::string range;                          ///< as after --range
    std::string clip;                           ///< as after --clip
    std::string select;                         ///< as after --select
    std::uint64_t copies = 0;                   ///< as after --copies
    bool glow = false;
    std::string camera;    ///< as after --camera; by whoever draws it is read
    std::string color_by;  ///< as after --color-by
    std::string colormap;  ///< as after --colormap
    bool light = false;    ///< white around the box
    bool shadows = true;
};

/// \throws PlacedError  by the section
Look read_look(const Section& section);

/// What a file says, which holds [look] and nothing else, as overrides of a scene: "look.floor=...".
/// \throws InputError, SystemError  as load_scene
std::vector<std::string> look_overrides(const std::string& path);

/// Of a scene that has been read. It stands in the scene's text alone, so that nothing but pictures can know of it.
Look look_of(const Scene& scene);

}  // namespace carom
