#include "host/window/pointer.hpp"

#include <imgui.h>

#include <cmath>

namespace carom {

namespace {

Vector3 position_of(const Frame& frame, std::size_t id) {
    Vector3 x{};
    for (int axis = 0; axis < frame.dimension; ++axis) x[axis] = frame.position[axis][id];
    return x;
}

/// [pixels] of a length at some depth.
double scale_at(const Camera& camera, double depth) {
    return camera.perspective() ? camera.scale() * camera.distance() / depth : camera.scale();
}

/// A stroke as long as the distance it shows would take a ball that far in this time [s].
constexpr double kStrokeSeconds = 1.0;

}  // namespace

std::optional<std::size_t> ball_at(const Frame& frame, const Balls& balls, const Camera& camera,
                                   const std::optional<ClipPlane>& clip, double x, double y) {
    const auto cut_off = [&](const Vector3& at) {
        double along = 0.0;
        for (int axis = 0; clip && axis < 3; ++axis) along += clip->normal[axis] * at[axis];
        return clip && along > clip->offset;
    };
    std::optional<std::size_t> found;
    double nearest = 0.0;
    for (std::size_t id = 0; id < frame.size(); ++id) {
        if (frame.gone[id] != 0) continue;
        const Vector3 position = position_of(frame, id);
        if (cut_off(position)) continue;
        const PicturePlace place = camera.project(position);
        // A ball of less than a few pixels could not be met otherwise.
        constexpr double kLeast = 4.0;
        const double radius = std::max(kLeast, balls.species_of(id).radius * scale_at(camera, place.depth));
        if (!(std::hypot(place.x - x, place.y - y) <= radius)) continue;
        const double depth = frame.dimension == 3 ? place.depth : std::hypot(place.x - x, place.y - y);
        if (found && depth >= nearest) continue;
        found = id;
        nearest = depth;
    }
    return found;
}

bool Pointer::act(Show& show, Painter& painter, ViewState& state, double pixels) {
    const ImGuiIO& io = ImGui::GetIO();
    Camera& camera = painter.camera();
    const double x = static_cast<double>(io.MousePos.x) * pixels;
    const double y = static_cast<double>(io.MousePos.y) * pixels;
    const bool deep = show.scene().dimension() == 3;
    bool changed = false;
    if (drag_ == Drag::kNone && !io.WantCaptureMouse && show.frame() != nullptr) {
        if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
            drag_ = deep ? Drag::kTurn : Drag::kMove;
            moved_ = false;
            cue_ = ball_at(*show.frame(), show.balls(), camera, painter.clip(), x, y);
            if (cue_ && show.live() && (!deep || io.KeyCtrl)) drag_ = Drag::kKick;
        } else if (ImGui::IsMouseClicked(ImGuiMouseButton_Right) || ImGui::IsMouseClicked(ImGuiMouseButton_Middle)) {
            drag_ = Drag::kMove;
            moved_ = true;  // picks nothing
            cue_.reset();
        }
        if (io.MouseWheel != 0.0f) {
            constexpr double kNotch = 1.15;
            camera.zoom(std::pow(kNotch, static_cast<double>(io.MouseWheel)), x, y);
            changed = true;
        }
    } else if (drag_ != Drag::kNone) {
        const double right = x - x_;
        const double down = y - y_;
        const bool held = io.MouseDown[0] || io.MouseDown[1] || io.MouseDown[2];
        // Where pictures are slow, the pointer may have gone on after the button was let go.
        if (held && (right != 0.0 || down != 0.0)) {
            changed = true;
            moved_ = moved_ || ImGui::IsMouseDragging(ImGuiMouseButton_Left, 3.0f);
            if (drag_ == Drag::kMove) {
                state.follow = false;
                camera.pan(right, down);
            } else if (drag_ == Drag::kTurn) {
                constexpr double kDegreesPerPixel = 0.4;
                camera.look_from(camera.azimuth() - kDegreesPerPixel * right,
                                 camera.elevation() + kDegreesPerPixel * down);
            }
        }
        if (!held) {
            changed = true;
            if (!moved_) {
                state.selected = cue_;
                if (!cue_) state.follow = false;
            } else if (drag_ == Drag::kKick && cue_ && *cue_ < show.frame()->size()) {
                const Vector3 from = position_of(*show.frame(), *cue_);
                const Vector3 to = camera.unproject(x, y, from);
                Vector3 velocity{};
                for (int axis = 0; axis < 3; ++axis) velocity[axis] = (to[axis] - from[axis]) / kStrokeSeconds;
                show.kick(*cue_, velocity);
                state.message = "kicked ball " + std::to_string(*cue_);
            }
            drag_ = Drag::kNone;
            cue_.reset();
        }
    }
    x_ = x;
    y_ = y;
    return changed;
}

void Pointer::add_marks(LineList& lines, const Show& show, Painter& painter, const ViewState& state) const {
    const Frame& frame = *show.frame();
    const Camera& camera = painter.camera();
    constexpr Color kMark{1.0f, 0.85f, 0.3f};
    const auto place = [](double x, double y) {
        return std::array{static_cast<float>(x), static_cast<float>(y), 0.0f};
    };
    if (state.selected && *state.selected < frame.size() && frame.gone[*state.selected] == 0) {
        const PicturePlace at = camera.project(position_of(frame, *state.selected));
        const double radius = show.balls().species_of(*state.selected).radius * scale_at(camera, at.depth);
        lines.add_circle(place(at.x, at.y), static_cast<float>(radius) + 3.0f, {1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f},
                         2.0f, kMark);
    }
    if (drag_ == Drag::kKick && moved_ && cue_ && *cue_ < frame.size()) {
        const PicturePlace from = camera.project(position_of(frame, *cue_));
        lines.add(place(from.x, from.y), place(x_, y_), 3.0f, kMark);
        const double length = std::hypot(x_ - from.x, y_ - from.y);
        if (length > 1.0) {
            const double u = (x_ - from.x) / length;
            const double v = (y_ - from.y) / length;
            lines.add(place(x_, y_), place(x_ - 12.0 * u - 6.0 * v, y_ - 12.0 * v + 6.0 * u), 3.0f, kMark);
            lines.add(place(x_, y_), place(x_ - 12.0 * u + 6.0 * v, y_ - 12.0 * v - 6.0 * u), 3.0f, kMark);
        }
    }
}

}  // namespace carom
