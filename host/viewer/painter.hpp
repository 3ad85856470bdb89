#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/viewer/camera.hpp"
#include "host/viewer/color_map.hpp"
#include "host/viewer/quantity.hpp"
#include "host/viewer/renderer.hpp"
#include "host/viewer/scenery.hpp"

namespace carom {

/// What is written over a picture.
struct OverlayContent {
    std::string title;
    std::vector<std::string> notes;  ///< numbers of the run, one a line; empty: none
    Quantity quantity = Quantity::kSpeed;
    const Palette* palette = nullptr;
    ValueRange range;
    int dimension = 2;
    const UnitNames* units = nullptr;
    std::optional<VelocityKey> arrows = std::nullopt;
};

/// How large texts and lines are: 1 for a picture about 800 pixels high.
float overlay_scale(int height);

/// The rim that the overlay needs around the box.
/// \param legend  whether there will be one
Viewport overlay_viewport(int width, int height, bool legend);

/// Title, legend, scale bar, and in 3D the axes. Places are pixels.
void add_overlay(LineList& lines, const OverlayContent& content, const Camera& camera, const Theme& theme);

/// Whether a legend says anything.
bool has_legend(const Palette& palette);

/// Where to look from, as a user says it; what is not given is chosen by fitting.
struct CameraWish {
    std::optional<bool> perspective;
    std::optional<double> azimuth;    ///< [degrees]
    std::optional<double> elevation;  ///< [degrees]
    std::optional<double> zoom;
    std::optional<Vector3> target;  ///< [length]

    void apply(Camera& camera) const;
};

/// "perspective,azimuth=30,elevation=20,zoom=2,target=1:2:3", in any order; "front", "side" and "top" are directions.
/// \throws InputError  naming the option --camera
CameraWish parse_camera(const std::string& text);

/// How a picture is to look.
struct PictureStyle {
    std::optional<Quantity> quantity;  ///< default_quantity if empty
    std::optional<ValueRange> range;   ///< automatic if empty
    ColorMap map = ColorMap::kViridis;
    const Theme* theme = &kDarkTheme;
    bool arrows = false;  ///< along the velocities
    bool labels = true;   ///< title, legend, scale bar
    bool shadows = true;  ///< 3D, see PictureContent::light
};

/// Paints frames of one scene: the same picture whether a window, a file or a movie is to get it.
class Painter {
public:
    /// \pre an OpenGL context is current, as in all its functions
    Painter(const Scene& scene, const Balls& balls, const PictureStyle& style, int width, int height);

    void resize(int width, int height);
    /// 1: quicker, 2: spheres with smooth edges; disks always have them.
    void set_oversampling(int oversampling);
    /// 3D: whether shadows are drawn, where the style has them.
    void set_shadows(bool shadows) { shadows_ = shadows; }
    void set_quantity(Quantity quantity);
    void set_color_map(ColorMap map);
    [[nodiscard]] ColorMap color_map() const { return map_; }
    void set_range(std::optional<ValueRange> range);
    void set_clip(std::optional<ClipPlane> clip) { clip_ = clip; }
    [[nodiscard]] const std::optional<ClipPlane>& clip() const { return clip_; }
    void set_labels(bool labels);
    void set_arrows(bool arrows) { arrows_ = arrows; }
    [[nodiscard]] bool arrows() const { return arrows_; }
    /// Leaves room to the left for the lines that draw() writes over the picture, so that they lie on no balls.
    void make_room_for_notes();
    /// Leaves room for panels, beside that for the labels [pixels].
    void set_panel_room(float left, float bottom);
    [[nodiscard]] Quantity quantity() const { return quantity_; }
    [[nodiscard]] ValueRange range() const { return range_; }
    [[nodiscard]] Camera& camera() { return camera_; }
    [[nodiscard]] const OffscreenTarget& target() const { return *target_; }
    [[nodiscard]] const Palette& palette() const { return palette_; }

    /// The range of what is about to be drawn. An automatic one only ever grows: colours shall not flicker.
    void see(const ValueRange& now);
    /// Begins an automatic range anew: the run does.
    void forget_range() { seen_.reset(); }
    /// \param extra  lines above the scene; places in pixels
    void draw(const Frame& frame, const std::vector<std::string>& notes, const LineList* extra = nullptr);
    /// The same for balls that are in OpenGL's memory already, with values of quantity().
    /// \param frame  for arrows; may be null
    void draw(const CloudBuffers& cloud, double time, std::size_t balls, const std::vector<std::string>& notes,
              const LineList* extra = nullptr, const Frame* frame = nullptr);
    void read(Pixels& pixels) const { target_->read(pixels); }

private:
    void place();
    [[nodiscard]] PictureContent content(double time, std::size_t balls, const std::vector<std::string>& notes,
                                         const LineList* extra, const Frame* frame);

    const Scene& scene_;
    const Balls& balls_;
    Renderer renderer_;
    bool labels_;
    bool arrows_;
    bool light_;
    bool shadows_ = true;
    float left_room_ = 0.0f;
    float bottom_room_ = 0.0f;
    const Theme* theme_;
    Quantity quantity_;
    ColorMap map_;
    Palette palette_;
    std::optional<ValueRange> fixed_range_;
    std::optional<ValueRange> seen_;
    ValueRange range_;
    std::optional<ClipPlane> clip_;
    Camera camera_;
    int oversampling_;
    std::optional<OffscreenTarget> target_;
    CloudMaker clouds_;
    std::vector<float> values_;
    LineList behind_;
    LineList scenery_;
    LineList overlay_;
};

}  // namespace carom
