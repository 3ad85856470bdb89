#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/scene/look.hpp"
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
    std::string label;               ///< of the colours
    std::string unit;                ///< SI; empty: a pure number
    const Palette* palette = nullptr;
    ValueRange range;
    int dimension = 2;
    const UnitNames* units = nullptr;
    std::optional<VelocityKey> arrows = std::nullopt;
    float right_room = 0.0f;  ///< that is something else's [pixels]
};

/// Multiples of 1, 2 or 5 times a power of ten from `low` to `high`, as many as `most` or a few more.
std::vector<double> round_values(double low, double high, int most);

/// How large texts and lines are: 1 for a picture about 800 pixels high, less where the legend would take more than a
/// fifth of its width.
float overlay_scale(int width, int height);

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
    std::optional<Vector3> target;  ///< [length]; NaN: as without it

    void apply(Camera& camera) const;
};

/// "perspective,azimuth=30,elevation=20,zoom=2,target=1:2:3", in any order; "front", "side" and "top" are directions.
/// \throws InputError  naming the option --camera
/// \param option  as messages name it
CameraWish parse_camera(const std::string& text, const std::string& option = "--camera");
/// Where one looks from at a time of the run.
struct CameraKey {
    double time = 0.0;
    CameraWish wish;
};
/// In equal steps from key to key, of zooms in equal ratios; before the first and after the last as these are.
/// \param keys    in the order of their times; what a key does not say is as in the one before
/// \param camera  as it is without them
CameraWish camera_at(const std::vector<CameraKey>& keys, const CameraWish& first, const Camera& camera, double time);

/// By what colours are asked for: a quantity's name, or else a formula.
struct ColorWish {
    Quantity quantity = Quantity::kSpeed;
    std::string formula = {};  ///< of Quantity::kFormula
};

/// By the names on the command line. \param option  as messages name it \throws InputError  with those that are allowed
ColorWish parse_color_wish(const std::string& text, const std::string& option);
ColorMap parse_color_map(const std::string& text, const std::string& option);
/// "LOW:HIGH"
ValueRange parse_value_range(const std::string& text, const std::string& option);
/// "NX:NY:NZ:OFFSET", a normal of any length and how far the plane is from the scene's origin along it; several with
/// commas between.
std::vector<ClipPlane> parse_clips(const std::string& text, const std::string& option);

/// How a picture is to look. What is left empty is as [look] of the scene says, or as is best.
struct PictureStyle {
    std::optional<Quantity> quantity;
    std::string formula = {};         ///< of Quantity::kFormula
    std::string select = {};          ///< a formula: balls for which it is 0 are not drawn
    std::optional<ValueRange> range;  ///< automatic if empty
    std::optional<ColorMap> map;
    bool light = false;               ///< white around the box
    bool arrows = false;              ///< along the velocities
    bool contacts = false;            ///< lines between balls that touch, as broad as they press
    std::vector<std::size_t> trails;  ///< of these balls, by id: where they have been in the frames drawn so far
    bool transparent = false;  ///< nothing around the balls, and no inside of the box but one of the scene's own colour
    std::optional<int> oversampling;  ///< 1, 2 or 4 pixels in a row are one of the picture; 3D: 2 if empty, 2D: 1
    std::vector<ClipPlane> clips = {};
    std::optional<std::uint64_t> copies = std::nullopt;  ///< of the box on either side along each periodic axis
    bool glow = false;                                   ///< see PictureContent::glow
    bool labels = true;                                  ///< title, legend, scale bar
    bool shadows = true;                                 ///< 3D, see PictureContent::light
    CameraWish camera = {};
};

/// What a style and the scene's look say together.
struct Appearance {
    /// \throws InputError  either names what there is not
    Appearance(const PictureStyle& style, const Scene& scene, const Balls& balls);

    PictureStyle style;
    Look look;
    Theme theme;
    CameraWish camera;
    Quantity quantity = Quantity::kSpeed;
    std::optional<BallFormula> formula;    ///< of Quantity::kFormula
    std::optional<BallFormula> selection;  ///< none: all balls are drawn
    ColorMap map = ColorMap::kViridis;
    std::optional<ValueRange> range;
    std::vector<ClipPlane> clips;
    int copies = 0;
    bool glow = false;
};

/// Paints frames of one scene: the same picture whether a window, a file or a movie is to get it.
class Painter {
public:
    /// \pre an OpenGL context is current, as in all its functions
    Painter(const Scene& scene, const Balls& balls, const Appearance& appearance, int width, int height);
    /// \throws InputError  as Appearance
    Painter(const Scene& scene, const Balls& balls, const PictureStyle& style, int width, int height)
        : Painter(scene, balls, Appearance(style, scene, balls), width, height) {}

    void resize(int width, int height);
    /// 1: quicker, 2: spheres with smooth edges; disks always have them.
    void set_oversampling(int oversampling);
    /// 3D: whether shadows are drawn, where the style has them.
    void set_shadows(bool shadows) { shadows_ = shadows; }
    void set_quantity(Quantity quantity);
    /// In the place of a quantity. \throws InputError  it is none
    void set_formula(const std::string& text);
    /// Which balls are drawn: empty: all. \throws InputError  it is no formula
    void set_selection(const std::string& text);
    /// As after --color-by.
    [[nodiscard]] std::string coloring() const { return formula_ ? formula_->text() : info_of(quantity_).name; }
    [[nodiscard]] std::string selection() const { return selection_ ? selection_->text() : ""; }
    /// Whether a ball of the frame that was drawn last is left out by the selection.
    [[nodiscard]] bool left_out(std::size_t id) const { return id < chosen_.size() && !(std::abs(chosen_[id]) > 0.0f); }
    void set_copies(int copies);
    [[nodiscard]] int copies() const { return copies_; }
    void set_glow(bool glow) { glow_ = glow; }
    [[nodiscard]] bool glow() const { return glow_; }
    void set_color_map(ColorMap map);
    [[nodiscard]] ColorMap color_map() const { return map_; }
    void set_range(std::optional<ValueRange> range);
    /// One that moves, beside those that are kept.
    void set_clip(const std::optional<ClipPlane>& clip);
    /// Leaves the one that moves where it is.
    void keep_clip() { kept_clips_ = clips_.size(); }
    void drop_kept_clips();
    /// The style's at first.
    [[nodiscard]] std::size_t kept_clips() const { return kept_clips_; }
    [[nodiscard]] std::span<const ClipPlane> clips() const { return clips_; }
    void set_labels(bool labels);
    /// By which one sees balls turn.
    [[nodiscard]] const Look& look() const { return look_; }
    void set_pattern(Look::Pattern pattern) { pattern_ = pattern; }
    [[nodiscard]] Look::Pattern pattern() const { return pattern_; }
    /// Whether a frame's balls are drawn as they are turned.
    [[nodiscard]] bool turns(const Frame& frame);
    /// Whether balls must come by frames: of nothing else is known how they are turned, what formulas give, and which
    /// are second pictures.
    [[nodiscard]] bool draws_frames(const Frame& frame) {
        return quantity_ == Quantity::kFormula || selection_ || copies_ > 0 || turns(frame);
    }
    void set_arrows(bool arrows) { arrows_ = arrows; }
    [[nodiscard]] bool arrows() const { return arrows_; }
    void set_contacts(bool contacts) { contacts_ = contacts; }
    [[nodiscard]] bool contacts() const { return contacts_; }
    /// Whether something is drawn that wants a frame of the very time that is shown.
    [[nodiscard]] bool wants_frames(const Frame& frame) {
        return arrows_ || contacts_ || with_trails_ || look_.numbers_from || draws_frames(frame);
    }
    /// Leaves room to the left for the lines that draw() writes over the picture, so that they lie on no balls.
    void make_room_for_notes();
    /// Leaves room for charts at the right rim [pixels].
    void set_chart_room(float right) {
        right_room_ = right;
        place();
    }
    [[nodiscard]] const Theme& theme() const { return theme_; }
    /// Leaves room for panels, beside that for the labels [pixels].
    void set_panel_room(float left, float bottom);
    [[nodiscard]] Quantity quantity() const { return quantity_; }
    [[nodiscard]] ValueRange range() const { return range_; }
    [[nodiscard]] bool range_fixed() const { return fixed_range_.has_value(); }
    [[nodiscard]] Camera& camera() { return camera_; }
    [[nodiscard]] const OffscreenTarget& target() const { return *target_; }
    [[nodiscard]] const Palette& palette() const { return palette_; }

    /// The range of what is about to be drawn. An automatic one only ever grows: colours shall not flicker.
    void see(const ValueRange& now);
    /// Begins an automatic range anew: the run does.
    void forget_range() { seen_.reset(); }
    /// \throws InputError  a formula wants what the frame does not hold
    void require_numbers(const Frame& frame) const;
    /// \param extra  lines above the scene; places in pixels
    void draw(const Frame& frame, const std::vector<std::string>& notes, const LineList* extra = nullptr);
    /// The same for balls that are in OpenGL's memory already, with values of quantity().
    /// \param frame  for arrows; may be null
    void draw(const CloudBuffers& cloud, double time, std::size_t balls, const std::vector<std::string>& notes,
              const LineList* extra = nullptr, const Frame* frame = nullptr);
    void read(Pixels& pixels) const { target_->read(pixels, transparent_); }
    /// Looks at a ball: not out of an open face, nor to a place that is none.
    void follow(const Frame& frame, std::size_t id);

private:
    void place();
    /// The box with its copies.
    [[nodiscard]] Box whole() const;
    [[nodiscard]] PictureContent content(double time, std::size_t balls, const std::vector<std::string>& notes,
                                         const LineList* extra, const Frame* frame);

    const Scene& scene_;
    const Balls& balls_;
    Look look_;
    Renderer renderer_;
    bool labels_;
    bool arrows_;
    bool light_;
    bool shadows_ = true;
    float left_room_ = 0.0f;
    float bottom_room_ = 0.0f;
    float right_room_ = 0.0f;
    Theme theme_;
    Look::Pattern pattern_;
    bool spinning_ = false;  // balls have been seen to
    BallTurns turns_;
    bool contacts_;
    BallTrails trails_;
    bool with_trails_;
    std::span<const BallTurn> turned_;  // of the frame that is being drawn
    Quantity quantity_;
    ColorMap map_;
    Palette palette_;
    std::optional<ValueRange> fixed_range_;
    std::optional<ValueRange> seen_;
    ValueRange range_;
    std::optional<BallFormula> formula_;
    std::optional<BallFormula> selection_;
    std::vector<float> chosen_;  // by id: 0 of a ball that is not drawn; empty without a selection
    std::size_t kept_clips_;     // of clips_, from the first
    std::vector<ClipPlane> clips_;
    int copies_;
    std::vector<Vector3> shifts_;  // of copies
    bool glow_;
    bool transparent_;
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
