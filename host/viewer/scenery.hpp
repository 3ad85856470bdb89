#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "host/state/balls.hpp"
#include "host/viewer/camera.hpp"
#include "host/viewer/color_map.hpp"
#include "host/viewer/renderer.hpp"

namespace carom {

/// The box and the walls as lines, places from `origin` [length]. Walls are drawn through, periodic and open faces in
/// dashes.
/// \param time   of the picture: walls may move
/// \param scale  of the user interface: 1 for a picture about 800 pixels high
void add_scenery(LineList& lines, const Scene& scene, double time, const Vector3& origin, const Theme& theme,
                 float scale);

/// 2D: the inside of the box, as far as walls across its axes leave it to the balls, as one broad line. Its width
/// depends on the camera.
void add_inside(LineList& lines, const Scene& scene, double time, const Vector3& origin, const Theme& theme,
                const Camera& camera);

/// 2D: the walls of the box as bands of a width outwards [length].
void add_cushions(LineList& lines, const Box& box, double width, const Vector3& origin, const Theme& theme,
                  const Camera& camera);

/// Whether a ball of this id is left out of the picture.
using IsLeftOut = std::function<bool(std::size_t)>;

/// The ids of balls on them, from one id on; where they are too small to be read, none.
/// \param turns  2D: how balls stand, by id; none: upright
void add_numbers(LineList& lines, const Balls& balls, const Frame& frame, std::span<const BallTurn> turns,
                 std::size_t from, const IsLeftOut& left_out, const Vector3& origin, const Camera& camera);

/// 3D: the face that gravity draws balls to, if it is a wall and is seen from above.
std::optional<FloorPlane> floor_of(const Scene& scene, const Vector3& origin, const Theme& theme, const Camera& camera);

/// Where balls have been, for lines behind them.
class BallTrails {
public:
    explicit BallTrails(std::vector<std::size_t> ids) : ids_(std::move(ids)), ways_(ids_.size()) {}
    /// Goes on to a frame; where time goes back, begins anew.
    void add(const Frame& frame);
    void draw(LineList& lines, const Vector3& origin, const Theme& theme, float scale) const;

private:
    static constexpr std::size_t kMost = 2000;  // places of each
    struct Place {
        Vector3 x{};
        std::array<std::int32_t, 3> image{};
        bool begins = false;  ///< nothing leads here: the ball has come around a face
    };
    std::vector<std::size_t> ids_;
    std::vector<std::deque<Place>> ways_;
    double time_ = -1.0;
};

/// A line between the centres of each two drawn balls that overlap, the broader the deeper: in a soft contact that is
/// how the force goes. Places are pixels: in 3D, too, nothing hides them.
void add_contacts(LineList& lines, const Scene& scene, const Balls& balls, const Frame& frame,
                  const IsLeftOut& left_out, const Camera& camera, const Theme& theme, float scale);

/// How arrows are to be read.
struct VelocityKey {
    double seconds = 0.0;   ///< a ball flies the length of its arrow in [time]
    double fastest = 0.0;   ///< of the balls that have one [length/time]
    std::size_t drawn = 0;  ///< balls that have one
    std::size_t balls = 0;  ///< of so many that are drawn
};

/// An arrow at each ball along its velocity, of many balls at some at equal distances in the order of their ids. The
/// longest is a small part of the box.
/// \returns  how to read them; nothing if there are none
std::optional<VelocityKey> add_velocities(LineList& lines, const Scene& scene, const Balls& balls, const Frame& frame,
                                          const IsLeftOut& left_out, const Vector3& origin, const Theme& theme,
                                          const Camera& camera, float scale);

}  // namespace carom
