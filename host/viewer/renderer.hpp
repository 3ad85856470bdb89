#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "host/plot/image.hpp"
#include "host/plot/letters.hpp"
#include "host/state/box.hpp"
#include "host/viewer/camera.hpp"
#include "host/viewer/color_map.hpp"
#include "host/viewer/opengl.hpp"
#include "host/viewer/quantity.hpp"

namespace carom {

/// Straight lines, circles and text, to be drawn in one go. In a picture's own lines places are pixels from its upper
/// left corner, y down; in a scene's lines they are lengths from an origin.
class LineList {
public:
    /// One line as shaders/line.vert reads it.
    struct Line {
        std::array<float, 3> a;
        std::array<float, 3> b;
        float width;  ///< [pixels]
        float round;  ///< 1: round ends, 0: flat ones
        std::array<float, 4> color;
    };

    enum class Ends : std::uint8_t { kRound, kFlat };

    void add(const std::array<float, 3>& a, const std::array<float, 3>& b, float width, const Color& color,
             float opacity = 1.0f, Ends ends = Ends::kRound);
    /// Every other of `count` equal pieces.
    void add_dashes(const std::array<float, 3>& a, const std::array<float, 3>& b, int count, float width,
                    const Color& color);
    /// In pixels, axis-aligned.
    void add_rectangle(float left, float top, float right, float bottom, const Color& color, float opacity = 1.0f);
    /// A circle about `center` in the plane of two unit vectors that are at right angles.
    void add_circle(const std::array<float, 3>& center, float radius, const std::array<float, 3>& u,
                    const std::array<float, 3>& v, float width, const Color& color);
    /// In pixels. \param height  of a capital letter
    void add_text(float x, float base_line, float height, std::string_view text, const Color& color);
    void append(const LineList& other) { lines_.insert(lines_.end(), other.lines_.begin(), other.lines_.end()); }
    void clear() { lines_.clear(); }

    [[nodiscard]] const std::vector<Line>& lines() const { return lines_; }

private:
    std::vector<Line> lines_;
    Letters letters_;
};

/// How many balls there are, and from where they are measured.
struct CloudExtent {
    std::size_t count = 0;
    Vector3 origin{};
    float largest_radius = 0.0f;
    /// 2D: the box's size along the periodic axes whose second pictures are still to be drawn, at the faces opposite to
    /// those that balls hang over; 0: none, or they are in the cloud. The origin is the box's middle.
    std::array<float, 2> around{};
};

/// Balls that are already in OpenGL's memory: BallPlace and float, one each a ball.
struct CloudBuffers {
    GLuint places = 0;
    GLuint values = 0;
    std::size_t values_offset = 0;  ///< where they begin in their buffer [bytes]
    CloudExtent extent;
    GLuint turns = 0;  ///< BallTurn, one each a ball; 0: balls have no pattern
    /// The same where the processor can read it fast; else empty.
    std::span<const BallPlace> host_places = {};
    std::span<const float> host_values = {};
    std::span<const BallTurn> host_turns = {};
};

/// 3D: what is beyond a plane is left out, and balls that it cuts are closed there.
struct ClipPlane {
    Vector3 normal{};
    double offset = 0.0;  ///< with normal . x > offset [length]
};

constexpr std::size_t kMostClips = 6;

/// 3D: a face of the box that balls may lie on.
struct FloorPlane {
    std::array<std::array<float, 3>, 4> corners{};  ///< two of each of two opposite edges, from the cloud's origin
    Color color{};
};

/// All that a picture shows.
struct PictureContent {
    int dimension = 2;
    const Palette* palette = nullptr;
    ValueRange range;
    const Theme* theme = &kDarkTheme;
    const LineList* behind = nullptr;       ///< below the balls; places from the cloud's origin
    const LineList* scenery = nullptr;      ///< among the balls; places from the cloud's origin
    const LineList* overlay = nullptr;      ///< above all; places in pixels
    bool clip_to_box = false;               ///< 2D: nothing of a ball is seen outside the box
    Box box;                                ///< with its copies
    std::span<const ClipPlane> clips = {};  ///< kMostClips at most
    std::span<const Vector3> copies = {};   ///< where else all balls are drawn [length]
    bool glow = false;                      ///< balls as light that adds up; on white paper as ink
    std::optional<FloorPlane> floor;
    bool transparent = false;  ///< nothing around what is drawn
    bool light = false;        ///< 3D: shadows, less light in gaps, dark lines around what is nearer
    bool hasty = false;        ///< 3D: each sphere is before or behind another as a whole; without light
};

/// Draws balls and lines with OpenGL into the target. Reads 20 bytes a ball and frame. Balls are squares that the
/// fragment shader turns into disks (2D) or spheres with their own depth (3D); points once the largest is smaller than
/// a pixel. Where the processor draws, spheres that lie behind others are left out. \pre the same context is current
/// whenever it is used
class Renderer {
public:
    Renderer();
    ~Renderer();
    Renderer(const Renderer&) = delete;
    Renderer& operator=(const Renderer&) = delete;

    /// \throws std::logic_error  an OpenGL error, with its text
    void draw(const OffscreenTarget& target, const Camera& camera, const BallCloud& cloud,
              const PictureContent& content);
    void draw(const OffscreenTarget& target, const Camera& camera, const CloudBuffers& cloud,
              const PictureContent& content);

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace carom
