#include "host/viewer/scenery.hpp"

#include <algorithm>
#include <cmath>

#include "host/plot/letters.hpp"
#include "host/plot/picture_view.hpp"
#include "host/scene/stages.hpp"
#include "host/scene/walls.hpp"

namespace carom {

namespace {

using Place = std::array<float, 3>;

Place relative(const Vector3& point, const Vector3& origin) {
    return {static_cast<float>(point[0] - origin[0]), static_cast<float>(point[1] - origin[1]),
            static_cast<float>(point[2] - origin[2])};
}

/// The edge of the box from a corner along an axis: a wall's if either of the faces that meet there is one.
void add_edge(LineList& lines, const Box& box, const Vector3& origin, int corner, int axis, const Theme& theme,
              float scale) {
    bool wall = false;
    for (int other = 0; other < box.dimension; ++other) {
        if (other != axis) wall = wall || box.faces[other][corner >> other & 1] == Face::kWall;
    }
    const Place from = relative(box_corner(box, corner), origin);
    const Place to = relative(box_corner(box, corner | 1 << axis), origin);
    if (!wall) {
        // Dashes of one length on all edges.
        const double share = box.size[axis] / *std::ranges::max_element(box.size);
        const int dashes = std::max(2, static_cast<int>(40.0 * share));
        lines.add_dashes(from, to, dashes, 1.2f * scale, theme.faint);
    } else if (box.dimension == 3) {
        lines.add(from, to, 1.4f * scale, theme.faint);
    } else {
        lines.add(from, to, 2.2f * scale, theme.wall);
    }
}

/// Draws the outlines of walls.
class WallPen {
public:
    WallPen(LineList& lines, const Vector3& origin, const Theme& theme, float scale)
        : lines_(lines), origin_(origin), theme_(theme), scale_(scale) {}

    void line(const Vec<double, 3>& from, const Vec<double, 3>& to, bool main) {
        lines_.add(place(from), place(to), (main ? kMain : kLesser) * scale_, theme_.wall);
    }
    void circle(const Vec<double, 3>& center, double radius, const Vec<double, 3>& u, const Vec<double, 3>& v,
                bool main) {
        const auto direction = [](const Vec<double, 3>& unit) { return relative({unit[0], unit[1], unit[2]}, {}); };
        lines_.add_circle(place(center), static_cast<float>(radius), direction(u), direction(v),
                          (main ? kMain : kLesser) * scale_, theme_.wall);
    }

private:
    static constexpr float kMain = 2.2f;  // pixels
    static constexpr float kLesser = 1.4f;

    [[nodiscard]] Place place(const Vec<double, 3>& point) const {
        return relative({point[0], point[1], point[2]}, origin_);
    }

    LineList& lines_;
    const Vector3& origin_;
    const Theme& theme_;
    float scale_;
};

}  // namespace

void add_scenery(LineList& lines, const Scene& scene, double time, const Vector3& origin, const Theme& theme,
                 float scale) {
    const Box& box = scene.box;
    for (int corner = 0; corner < (1 << box.dimension); ++corner) {
        for (int axis = 0; axis < box.dimension; ++axis) {
            if ((corner >> axis & 1) == 0) add_edge(lines, box, origin, corner, axis, theme, scale);
        }
    }
    WallPen pen(lines, origin, theme, scale);
    for (const Wall& wall : walls_at(scene, time)) {
        const Boundary<3> boundary = make_boundary<3>(wall, WallNumber::entry(0));
        boundary.shape.visit([&](const auto& shape) { shape.outline(boundary.reference, wall_box(box), pen); });
    }
}

void add_inside(LineList& lines, const Scene& scene, double time, const Vector3& origin, const Theme& theme,
                const Camera& camera) {
    const Room room = room_at(scene, time);
    const double middle = 0.5 * (room.axis[1].low + room.axis[1].high);
    lines.add(relative({room.axis[0].low, middle, 0.0}, origin), relative({room.axis[0].high, middle, 0.0}, origin),
              static_cast<float>(room.axis[1].length() * camera.scale()), theme.inside, 1.0f, LineList::Ends::kFlat);
}

void add_cushions(LineList& lines, const Box& box, double width, const Vector3& origin, const Theme& theme,
                  const Camera& camera) {
    for (std::size_t axis = 0; axis < 2; ++axis) {
        const std::size_t along = 1 - axis;
        for (const int side : {0, 1}) {
            if (box.faces[axis][side] != Face::kWall) continue;
            Vector3 from = box.min;
            from[axis] += side == 0 ? -0.5 * width : box.size[axis] + 0.5 * width;
            Vector3 to = from;
            // Around the corners, too.
            from[along] -= box.faces[along][0] == Face::kWall ? width : 0.0;
            to[along] += box.size[along] + (box.faces[along][1] == Face::kWall ? width : 0.0);
            lines.add(relative(from, origin), relative(to, origin), static_cast<float>(width * camera.scale()),
                      theme.wall, 1.0f, LineList::Ends::kFlat);
        }
    }
}

void add_numbers(LineList& lines, const Balls& balls, const Frame& frame, std::span<const BallTurn> turns,
                 std::size_t from, const IsLeftOut& left_out, const Vector3& origin, const Camera& camera) {
    constexpr double kSmallest = 6.0;  // [pixels]
    constexpr Color kDisk{0.97f, 0.97f, 0.95f};
    constexpr Color kInk{0.08f, 0.08f, 0.08f};
    constexpr double kShare = 0.55;  // of the radius
    constexpr float kRowsPerPixel = 3.0f;
    constexpr float kFewestRows = 12.0f;
    constexpr float kMostRows = 64.0f;  // of larger ones steps of more than a pixel are too small to be seen
    constexpr float kSeam = 0.5f;       // by which rows reach into each other, so that no ball shows between [pixels]
    Letters letters;
    const bool flat = frame.dimension == 2;
    for (std::size_t id = from; id < frame.size(); ++id) {
        if (frame.gone[id] != 0 || left_out(id)) continue;
        Vector3 center{};
        for (int axis = 0; axis < frame.dimension; ++axis) center[axis] = frame.position[axis][id];
        const PicturePlace place = camera.project(center);
        const double radius = balls.species_of(id).radius;
        const double scale = camera.scale() * (camera.perspective() ? camera.distance() / place.depth : 1.0);
        const bool seen = radius * scale >= kSmallest && place.depth > 0.0;
        if (!seen || !std::isfinite(place.x) || !std::isfinite(place.y)) continue;
        // In 3D on the side of the eye.
        for (std::size_t axis = 0; axis < 3 && !flat; ++axis) center[axis] += 1.02 * radius * camera.back()[axis];
        const double angle = flat && !turns.empty() ? 2.0 * std::atan2(static_cast<double>(turns[id][2]),
                                                                       static_cast<double>(turns[id][3]))
                                                    : 0.0;
        const auto at = [&](double x, double y) {
            const double right = x * std::cos(angle) - y * std::sin(angle);
            const double up = x * std::sin(angle) + y * std::cos(angle);
            Vector3 point = center;
            for (std::size_t axis = 0; axis < 3; ++axis) {
                point[axis] += right * camera.right()[axis] + up * camera.up()[axis];
            }
            return relative(point, origin);
        };
        const std::string words = std::to_string(id);
        const auto pixels = static_cast<float>(radius * scale);
        lines.add(at(0.0, 0.0), at(0.0, 0.0), 2.0f * static_cast<float>(kShare) * pixels, kDisk);
        // In units of the picture's pixels, about the ball; y downwards, as text has it.
        const auto draw = [&](float x0, float y0, float x1, float y1, float width, float opacity, LineList::Ends ends) {
            lines.add(at(static_cast<double>(x0) / scale, -static_cast<double>(y0) / scale),
                      at(static_cast<double>(x1) / scale, -static_cast<double>(y1) / scale), width, kInk, opacity,
                      ends);
        };
        const float tall = 0.6f * pixels;
        const float wide = 0.8f * pixels;
        if (Letters::there()) {
            // Rows of the letters' own, finer than pixels, since they turn with the ball.
            const float rows = std::clamp(std::round(kRowsPerPixel * tall), kFewestRows, kMostRows);
            const float width = text_width(rows, words);
            const float step = std::min(tall / rows, wide / width);
            letters.set({0.0f, 0.0f}, rows, words, [&](int left, int row, int length, float coverage) {
                const float x = step * (static_cast<float>(left) - 0.5f * width);
                const float y = step * (static_cast<float>(row) + 0.5f + 0.5f * rows);
                draw(x, y, x + step * static_cast<float>(length), y, step + kSeam, coverage, LineList::Ends::kFlat);
            });
            continue;
        }
        const float height = std::min(tall, tall * wide / strokes_width(tall, words));
        const float half = 0.5f * strokes_width(height, words);
        for (const Stroke& stroke : text_strokes({-half, 0.5f * height}, height, words)) {
            draw(stroke.from.x, stroke.from.y, stroke.to.x, stroke.to.y, stroke_width(height), 1.0f,
                 LineList::Ends::kRound);
        }
    }
}

std::optional<FloorPlane> floor_of(const Scene& scene, const Vector3& origin, const Theme& theme,
                                   const Camera& camera) {
    const Box& box = scene.box;
    const auto down = static_cast<std::size_t>(camera.vertical_axis());
    const bool low = camera.upward() > 0.0;
    const bool falls = scene.physics.gravity[down] != 0.0;
    const bool above = camera.back()[down] * camera.upward() > 0.0;
    if (box.dimension != 3 || !falls || !above || box.faces[down][low ? 0 : 1] != Face::kWall) return std::nullopt;
    FloorPlane floor{.color = theme.floor};
    const std::size_t u = (down + 1) % 3;
    const std::size_t v = (down + 2) % 3;
    for (std::size_t k = 0; k < 4; ++k) {
        const int corner = (low ? 0 : 1) << down | static_cast<int>(k & 1) << u | static_cast<int>(k >> 1) << v;
        floor.corners[k] = relative(box_corner(box, corner), origin);
    }
    return floor;
}

void BallTrails::add(const Frame& frame) {
    if (frame.time <= time_) {
        if (frame.time == time_) return;
        for (auto& way : ways_) way.clear();
    }
    time_ = frame.time;
    for (std::size_t k = 0; k < ids_.size(); ++k) {
        const std::size_t id = ids_[k];
        if (id >= frame.size() || frame.gone[id] != 0) continue;
        std::deque<Place>& way = ways_[k];
        Place place;
        bool finite = true;
        for (int axis = 0; axis < frame.dimension; ++axis) {
            place.x[axis] = frame.position[axis][id];
            place.image[axis] = frame.image[axis][id];
            finite = finite && std::isfinite(place.x[axis]);
        }
        place.begins = way.empty() || place.image != way.back().image;
        if (finite) way.push_back(place);
        if (way.size() > kMost) way.pop_front();
    }
}

void BallTrails::draw(LineList& lines, const Vector3& origin, const Theme& theme, float scale) const {
    constexpr float kWidth = 1.6f;
    for (const std::deque<Place>& way : ways_) {
        for (std::size_t k = 1; k < way.size(); ++k) {
            if (way[k].begins) continue;
            const float age = static_cast<float>(way.size() - k) / static_cast<float>(way.size());
            lines.add(relative(way[k - 1].x, origin), relative(way[k].x, origin), kWidth * scale, theme.ink,
                      1.0f - 0.85f * age);
        }
    }
}

void add_contacts(LineList& lines, const Scene& scene, const Balls& balls, const Frame& frame,
                  const IsLeftOut& left_out, const Camera& camera, const Theme& theme, float scale) {
    struct Contact {
        std::size_t i = 0;
        std::size_t j = 0;
        double overlap = 0.0;
    };
    std::vector<Contact> contacts;
    visit_contacts(scene, balls, frame, [&](std::size_t i, std::size_t j, double overlap) {
        if (!left_out(i) && !left_out(j)) contacts.push_back({i, j, overlap});
    });
    double deepest = 0.0;
    for (const Contact& contact : contacts) deepest = std::max(deepest, contact.overlap);
    for (const Contact& contact : contacts) {
        Vector3 from{};
        Vector3 to{};
        for (int axis = 0; axis < frame.dimension; ++axis) {
            from[axis] = frame.position[axis][contact.i];
            double way = frame.position[axis][contact.j] - from[axis];
            if (scene.box.periodic(axis)) way = std::remainder(way, scene.box.size[axis]);
            to[axis] = from[axis] + way;
        }
        const PicturePlace a = camera.project(from);
        const PicturePlace b = camera.project(to);
        if (a.depth <= 0.0 || b.depth <= 0.0) continue;
        const double size = camera.scale() * (camera.perspective() ? camera.distance() / a.depth : 1.0);
        const double radius = std::min(balls.species_of(contact.i).radius, balls.species_of(contact.j).radius);
        const auto broadest = static_cast<float>(std::max(3.0, 0.8 * radius * size));
        const float width = std::max(0.6f * scale, broadest * static_cast<float>(contact.overlap / deepest));
        lines.add({static_cast<float>(a.x), static_cast<float>(a.y), 0.0f},
                  {static_cast<float>(b.x), static_cast<float>(b.y), 0.0f}, width, theme.ink, 0.8f);
    }
}

std::optional<VelocityKey> add_velocities(LineList& lines, const Scene& scene, const Balls& balls, const Frame& frame,
                                          const IsLeftOut& left_out, const Vector3& origin, const Theme& theme,
                                          const Camera& camera, float scale) {
    constexpr std::size_t kMost = 600;
    VelocityKey key;
    std::vector<std::size_t> chosen;  // with those that are gone: arrows shall not go over to others as some leave
    for (std::size_t id = 0; id < frame.size(); ++id) {
        if (left_out(id)) continue;
        chosen.push_back(id);
        key.balls += frame.gone[id] == 0 ? 1 : 0;
    }
    std::vector<std::size_t> ids;  // of balls that have an arrow
    for (std::size_t k = 0; k < chosen.size(); k += chosen.size() / kMost + 1) {
        const std::size_t id = chosen[k];
        if (frame.gone[id] == 0 && std::isfinite(frame.velocity[0][id])) ids.push_back(id);
    }
    key.drawn = ids.size();
    double fastest = 0.0;
    double radius = 0.0;
    for (const std::size_t id : ids) {
        double squared = 0.0;
        for (int axis = 0; axis < frame.dimension; ++axis)
            squared += frame.velocity[axis][id] * frame.velocity[axis][id];
        fastest = std::max(fastest, squared);
        radius = std::max(radius, balls.species_of(id).radius);
    }
    if (!(fastest > 0.0)) return std::nullopt;
    // So long that it is seen beyond its ball, and so short that arrows do not cover each other.
    constexpr double kRadii = 4.0;
    constexpr double kOfBox = 0.03;
    const double box = *std::min_element(scene.box.size.begin(), scene.box.size.begin() + frame.dimension);
    key.fastest = std::sqrt(fastest);
    key.seconds = std::max(kRadii * radius, kOfBox * box) / key.fastest;
    for (const std::size_t id : ids) {
        Vector3 from{};
        Vector3 along{};
        double length = 0.0;
        for (int axis = 0; axis < frame.dimension; ++axis) {
            from[axis] = frame.position[axis][id] - origin[axis];
            along[axis] = key.seconds * frame.velocity[axis][id];
            length += along[axis] * along[axis];
        }
        length = std::sqrt(length);
        if (!(length > 0.0)) continue;
        // The head lies in the plane that one looks at.
        const Vector3& back = camera.back();
        Vector3 across{along[1] * back[2] - along[2] * back[1], along[2] * back[0] - along[0] * back[2],
                       along[0] * back[1] - along[1] * back[0]};
        const auto at = [&](double forward, double aside) {
            std::array<float, 3> place{};
            for (std::size_t axis = 0; axis < 3; ++axis) {
                place[axis] = static_cast<float>(from[axis] + forward * along[axis] + aside * across[axis]);
            }
            return place;
        };
        constexpr float kWidth = 1.3f;
        const auto tip = at(1.0, 0.0);
        lines.add(at(0.0, 0.0), tip, kWidth * scale, theme.ink);
        lines.add(tip, at(0.72, 0.14), kWidth * scale, theme.ink);
        lines.add(tip, at(0.72, -0.14), kWidth * scale, theme.ink);
    }
    return key;
}

}  // namespace carom
