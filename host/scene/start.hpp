#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/scene/scene.hpp"

namespace carom {

/// Why a ball is not in the box.
struct OutOfBox {
    int axis = 0;
    double low = 0.0;   ///< where its centre may be [length]
    double high = 0.0;  ///< likewise

    [[nodiscard]] std::string text(const Vector3& position) const;
};

/// A ball that enters through an open face may have its centre outside, but not its whole. What is at the upper face of
/// a periodic axis is put at the lower one, which is the same place.
std::optional<OutOfBox> put_into_box(const Box& box, double radius, Vector3& position);

/// Why a ball is too large for the box; empty: it is not.
std::string too_wide(const Box& box, double radius);

/// Why a ball is too light for numbers; empty: it is not.
std::string too_light(double mass);

/// [length]; \pre  ball < balls.size()
Vector3 place_of_ball(const Balls& balls, std::size_t ball);

/// What messages call a [[ball]], or a ball of a [[load]].
struct EntryName {
    std::string name;    ///< "ball 3", "row 4"
    std::string source;  ///< " of balls.csv"; of a [[ball]] empty
    std::string place;   ///< "balls.csv:5", as messages begin; of a [[ball]] empty
};
EntryName entry_name(const Scene& scene, std::uint64_t id);

/// Two balls, each a [[ball]] or of a [[load]], that start nearer to each other than the solver can take.
struct StartOverlap {
    std::uint32_t i = 0;
    std::uint32_t j = 0;    ///< above i
    double overlap = 0.0;   ///< [length]
    double fraction = 0.0;  ///< of the sum of radii
};

/// The first pair (lowest j, then lowest i) of the scene's [[ball]]s and loaded balls that overlap too much: for
/// `events` by more than kTouching of the sum of their radii, for `spring` so deep that the centres are nearer than
/// half the smaller radius. Of very many, one of them.
/// \param deepest  where there is none: StartDepths::pair; null: nobody asks
std::optional<StartOverlap> start_overlap(const Scene& scene, double* deepest = nullptr);

/// How far a ball is in a wall, of its radius. \param distance  of its centre [length]
inline double depth_in_wall(double distance, double radius) { return 1.0 - distance / radius; }

/// A pair of balls that is nearer than any run lets it come (as start_overlap says, for `events` with a slack for what
/// collisions leave); in a time that grows as the number of balls. Bodies of infinite mass may overlap each other.
/// \pre  balls that are still in have places that are numbers
std::optional<StartOverlap> impossible_overlap(const Scene& scene, const Balls& balls);

/// What a user should know of the places of [[ball]]s and loaded balls before a spring run, one sentence each: those
/// that overlap, or reach into a wall, by more than spring.max_overlap of the (smaller) radius. Looks for them only
/// where the scene's depths do not say that there are none.
std::vector<std::string> start_warnings(const Scene& scene);

}  // namespace carom
