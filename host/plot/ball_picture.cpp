#include "host/plot/ball_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

#include "host/plot/ball_colors.hpp"
#include "host/plot/image.hpp"
#include "host/plot/letters.hpp"
#include "host/plot/picture_view.hpp"
#include "host/run/say.hpp"
#include "host/scene/stages.hpp"
#include "host/scene/walls.hpp"

namespace carom {

namespace {

constexpr Color kPaper{1.0f, 1.0f, 1.0f};
constexpr Color kInside{0.055f, 0.065f, 0.09f};
constexpr Color kInk{0.13f, 0.15f, 0.18f};
constexpr Color kFaceLine{0.45f, 0.49f, 0.55f};
constexpr Color kWallLine{0.92f, 0.92f, 0.88f};

// All in pixels of the finished picture.
constexpr float kMargin = 28.0f;
constexpr float kTitleRoom = 62.0f;
constexpr float kTitle = 15.0f;
constexpr float kLabel = 11.0f;
constexpr float kLegendRoom = 130.0f;
/// The radius that a ball is drawn with at least, so that the few of a dilute gas in a large box are seen.
constexpr float kLeastRadius = 1.0f;
/// Boxes of more pixels are drawn at their own size: twice as wide and high they would take gigabytes, and what is that
/// large has smooth edges.
constexpr float kLarge = 8e6f;

/// The same, but less where there are so many balls that the enlarged ones would cover more than half of the box: then
/// how dense they are is seen by their brightness.
float least_radius(std::size_t balls, float width, float height) {
    constexpr float kCovered = 0.5f;
    const float area = kCovered * width * height / static_cast<float>(std::max<std::size_t>(balls, 1));
    return std::min(kLeastRadius, std::sqrt(area / std::numbers::pi_v<float>));
}

class BallPicture {
public:
    BallPicture(const Scene& scene, const Balls& balls, const Frame& frame, const PictureOptions& options)
        : scene_(scene),
          balls_(balls),
          frame_(frame),
          colors_(color_balls(balls, frame, options.color_by)),
          view_(scene),
          scale_(std::min(
              (static_cast<double>(options.width) - 2.0 * double{kMargin} - double{kLegendRoom}) / view_.width(),
              (static_cast<double>(options.height) - double{kMargin} - double{kTitleRoom}) / view_.height())),
          width_(static_cast<float>(view_.width() * scale_)),
          height_(static_cast<float>(view_.height() * scale_)),
          oversampling_(width_ * height_ > kLarge ? 1 : 2),
          least_radius_(least_radius(frame.size(), width_, height_)),
          // The title and the legend need their room also beside a narrow or flat box.
          image_(oversampling_ * std::max(420, static_cast<int>(width_ + 2.0f * kMargin + kLegendRoom)),
                 oversampling_ * std::max(240, static_cast<int>(height_ + kMargin + kTitleRoom)), kPaper) {
        view_.place(px({kMargin, kTitleRoom}), scale_ * oversampling_);
    }

    Image draw() {
        if (scene_.dimension() == 2) {
            draw_2d();
        } else {
            draw_3d();
        }
        title();
        if (colors_.fastest > 0.0) {
            speed_legend();
        } else {
            species_legend();
        }
        return oversampling_ == 1 ? std::move(image_) : image_.halved();
    }

private:
    [[nodiscard]] float px(float length) const { return length * static_cast<float>(oversampling_); }
    [[nodiscard]] Point px(Point point) const { return {px(point.x), px(point.y)}; }

    [[nodiscard]] Vector3 position(std::size_t id) const {
        Vector3 x{};
        for (int axis = 0; axis < frame_.dimension; ++axis) x[axis] = frame_.position[axis][id];
        return x;
    }
    [[nodiscard]] bool visible(std::size_t id) const {
        const Vector3 x = position(id);
        return !frame_.gone[id] && std::isfinite(x[0]) && std::isfinite(x[1]) && std::isfinite(x[2]);
    }
    [[nodiscard]] float radius(std::size_t id) const {
        return std::max(static_cast<float>(balls_.species_of(id).radius * view_.scale()), px(least_radius_));
    }

    void draw_2d() {
        // What walls that move have left is outside.
        const Room room = room_at(scene_, frame_.time);
        fill_rectangle(image_, view_.project({room.axis[0].low, room.axis[1].high, 0.0}),
                       view_.project({room.axis[0].high, room.axis[1].low, 0.0}), kInside);
        for (std::size_t id = 0; id < frame_.size(); ++id) {
            if (visible(id)) disk_and_its_images(id);
        }
        outline_walls(FlatPen{*this});
        // What hangs over the box's edge is seen at the opposite one, if that edge is periodic.
        const float right = kMargin + width_;
        const float bottom = kTitleRoom + height_;
        const float far = 1e6f;
        fill_rectangle(image_, {-far, -far}, px({far, kTitleRoom}), kPaper);
        fill_rectangle(image_, px({-far, bottom}), {far, far}, kPaper);
        fill_rectangle(image_, {-far, -far}, px({kMargin, far}), kPaper);
        fill_rectangle(image_, px({right, -far}), {far, far}, kPaper);
        for (int axis = 0; axis < 2; ++axis) {
            for (int side = 0; side < 2; ++side) face_2d(axis, side);
        }
    }

    void disk_and_its_images(std::size_t id) {
        const Vector3 x = position(id);
        const double r = balls_.species_of(id).radius;
        std::array<std::array<double, 2>, 2> shifts{};  // per axis: none, and the way around where it overhangs
        for (int axis = 0; axis < 2; ++axis) {
            if (!scene_.box.periodic(axis)) continue;
            const double from_min = x[axis] - scene_.box.min[axis];
            if (from_min < r) shifts[axis][1] = scene_.box.size[axis];
            if (scene_.box.size[axis] - from_min < r) shifts[axis][1] = -scene_.box.size[axis];
        }
        for (int k = 0; k < 4; ++k) {
            if ((k & 1 && shifts[0][1] == 0.0) || (k & 2 && shifts[1][1] == 0.0)) continue;
            const Vector3 image{x[0] + shifts[0][k & 1], x[1] + shifts[1][k >> 1], 0.0};
            draw_disk(image_, view_.project(image), radius(id), colors_.color[id]);
        }
    }

    /// Walls are drawn as lines, periodic and open faces as dashes.
    void face_2d(int axis, int side) {
        const Box& box = scene_.box;
        const Point from = view_.project(box_corner(box, side << axis));
        const Point to = view_.project(box_corner(box, side << axis | 1 << (1 - axis)));
        if (box.faces[axis][side] == Face::kWall) {
            draw_line(image_, from, to, px(2.0f), kInk);
            return;
        }
        constexpr int kDashes = 40;
        for (int dash = 0; dash < kDashes; ++dash) {
            const auto along = [&](float t) {
                return Point{from.x + t * (to.x - from.x), from.y + t * (to.y - from.y)};
            };
            const float begin = (static_cast<float>(dash) + 0.25f) / kDashes;
            draw_line(image_, along(begin), along(begin + 0.5f / kDashes), px(1.2f), kFaceLine);
        }
    }

    [[nodiscard]] Point project(const Vec<double, 3>& place) const {
        return view_.project({place[0], place[1], place[2]});
    }

    /// What walls draw their outlines with in 2D.
    struct FlatPen {
        BallPicture& picture;

        void line(const Vec<double, 3>& from, const Vec<double, 3>& to, bool /*main*/) {
            draw_line(picture.image_, picture.project(from), picture.project(to), picture.px(2.0f), kWallLine);
        }
        void circle(const Vec<double, 3>& center, double radius, const Vec<double, 3>& /*u*/,
                    const Vec<double, 3>& /*v*/, bool /*main*/) {
            draw_circle(picture.image_, picture.project(center), static_cast<float>(radius * picture.view_.scale()),
                        picture.px(2.0f), kWallLine);
        }
    };

    /// In 3D: short pieces, which lie before some balls and behind others.
    struct Piece {
        Vec<double, 3> from;
        Vec<double, 3> to;
        bool main;
    };
    struct DeepPen {
        std::vector<Piece>& pieces;

        void line(const Vec<double, 3>& from, const Vec<double, 3>& to, bool main) {
            constexpr int kPieces = 32;
            const Vec<double, 3> along = (1.0 / kPieces) * (to - from);
            for (int k = 0; k < kPieces; ++k) {
                pieces.push_back(
                    {from + static_cast<double>(k) * along, from + static_cast<double>(k + 1) * along, main});
            }
        }
        void circle(const Vec<double, 3>& center, double radius, const Vec<double, 3>& u, const Vec<double, 3>& v,
                    bool main) {
            constexpr int kPieces = 128;
            const auto at = [&](int k) {
                const double angle = 2.0 * std::numbers::pi * k / kPieces;
                return center + (radius * std::cos(angle)) * u + (radius * std::sin(angle)) * v;
            };
            for (int k = 0; k < kPieces; ++k) pieces.push_back({at(k), at(k + 1), main});
        }
    };

    template <class Pen>
    void outline_walls(Pen&& pen) const {
        for (const Wall& wall : walls_at(scene_, frame_.time)) {
            const Boundary<3> boundary = make_boundary<3>(wall, WallNumber::entry(0));
            boundary.shape.visit(
                [&](const auto& shape) { shape.outline(boundary.reference, wall_box(scene_.box), pen); });
        }
    }

    void draw_3d() {
        // The corner of the box that is farthest away: its three edges lie behind the balls.
        int back = 0;
        for (int corner = 1; corner < 8; ++corner) {
            if (view_.depth(box_corner(scene_.box, corner)) > view_.depth(box_corner(scene_.box, back))) back = corner;
        }
        edges_3d(back, true);
        std::vector<Piece> walls;
        outline_walls(DeepPen{walls});
        std::vector<std::pair<double, std::size_t>> order;  // behind the balls' numbers those of pieces
        for (std::size_t id = 0; id < frame_.size(); ++id) {
            if (visible(id)) order.emplace_back(view_.depth(position(id)), id);
        }
        for (std::size_t k = 0; k < walls.size(); ++k) {
            const Vec<double, 3> middle = 0.5 * (walls[k].from + walls[k].to);
            order.emplace_back(view_.depth({middle[0], middle[1], middle[2]}), frame_.size() + k);
        }
        std::ranges::sort(order, std::greater<>());
        constexpr float kHaze = 0.45f;  // of the farthest ball
        for (const auto& [depth, id] : order) {
            if (id >= frame_.size()) {
                const Piece& piece = walls[id - frame_.size()];
                draw_line(image_, project(piece.from), project(piece.to), px(piece.main ? 2.0f : 1.3f), kInk);
                continue;
            }
            const float fade = kHaze * static_cast<float>(std::clamp(depth, 0.0, 1.0));
            draw_sphere(image_, view_.project(position(id)), radius(id), colors_.color[id], fade, kPaper);
        }
        edges_3d(back, false);
    }

    void edges_3d(int back, bool behind) {
        for (int corner = 0; corner < 8; ++corner) {
            for (int axis = 0; axis < 3; ++axis) {
                const int other = corner | 1 << axis;
                if (other == corner) continue;
                if ((corner == back || other == back) != behind) continue;
                draw_line(image_, view_.project(box_corner(scene_.box, corner)),
                          view_.project(box_corner(scene_.box, other)), px(1.3f), kFaceLine);
            }
        }
    }

    void title() {
        std::uint64_t count = 0;
        for (const auto gone : frame_.gone) count += gone == 0 ? 1 : 0;
        const std::string facts =
            fmt::format("{}, t = {:.6g}{}", plural(count, "ball"), frame_.time, unit_text(scene_.units, "s"));
        const float end = static_cast<float>(image_.width()) - px(kMargin);
        float size = px(kTitle);
        const std::string text = scene_.title.empty() ? facts : scene_.title + ":  " + facts;
        size = std::min(size, size * (end - px(kMargin)) / text_width(size, text));
        draw_text(image_, px({kMargin, kTitleRoom - 22.0f}), size, text, kInk);
    }

    void speed_legend() {
        constexpr float kBar = 16.0f;  // width
        const float left = kMargin + width_ + 22.0f;
        const float length = std::clamp(height_ - 40.0f, 60.0f, 360.0f);
        const float bottom = kTitleRoom + 30.0f + length;
        for (float y = 0.0f; y < length; y += 0.5f) {
            fill_rectangle(image_, px({left, bottom - y - 0.5f}), px({left + kBar, bottom - y}),
                           speed_color(static_cast<double>(y / length) * colors_.fastest, colors_.fastest));
        }
        const std::string unit = unit_text(scene_.units, "m/s");
        draw_text(image_, px({left, kTitleRoom + 14.0f}), px(kLabel),
                  unit.empty() ? "speed" : fmt::format("speed [{}]", unit.substr(1)), kInk);
        // Round numbers, four to nine of them.
        double step = std::pow(10.0, std::floor(std::log10(colors_.fastest)));
        if (colors_.fastest / step < 2.0) {
            step /= 5.0;
        } else if (colors_.fastest / step < 4.0) {
            step /= 2.0;
        }
        for (int k = 0; k * step <= colors_.fastest * (1.0 + 1e-9); ++k) {
            const float y = bottom - length * static_cast<float>(k * step / colors_.fastest);
            draw_line(image_, px({left + kBar, y}), px({left + kBar + 4.0f, y}), px(1.0f), kInk);
            draw_text(image_, px({left + kBar + 9.0f, y + 0.4f * kLabel}), px(0.9f * kLabel),
                      fmt::format("{:.4g}", k * step), kInk);
        }
    }

    void species_legend() {
        const float left = kMargin + width_ + 28.0f;
        float y = kTitleRoom + 16.0f;
        constexpr std::size_t kMost = 20;
        for (std::size_t k = 0; k < std::min(kMost, colors_.entries.size()); ++k) {
            const auto& [name, color] = colors_.entries[k];
            draw_disk(image_, px({left, y}), px(7.4f), kInk);
            draw_disk(image_, px({left, y}), px(6.5f), color);
            draw_text(image_, px({left + 16.0f, y + 0.4f * kLabel}), px(kLabel), name, kInk);
            y += 24.0f;
        }
    }

    const Scene& scene_;
    const Balls& balls_;
    const Frame& frame_;
    BallColors colors_;
    PictureView view_;
    double scale_;  // pixels of the finished picture per length
    float width_;   // of the box in the finished picture
    float height_;
    int oversampling_;  // drawn this much larger, then halved
    float least_radius_;
    Image image_;
};

}  // namespace

Image draw_balls(const Scene& scene, const Balls& balls, const Frame& frame, const PictureOptions& options) {
    return BallPicture(scene, balls, frame, options).draw();
}

}  // namespace carom
