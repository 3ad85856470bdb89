#include "host/viewer/painter.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/run/text.hpp"
#include "host/viewer/scenery.hpp"

namespace carom {

namespace {

Viewport viewport_for(int width, int height, bool labels, const Palette& palette) {
    if (labels) return overlay_viewport(width, height, has_legend(palette));
    const float rim = 16.0f * overlay_scale(height);
    return {.width = width, .height = height, .left = rim, .top = rim, .right = rim, .bottom = rim};
}

}  // namespace

Painter::Painter(const Scene& scene, const Balls& balls, const PictureStyle& style, int width, int height)
    : scene_(scene),
      balls_(balls),
      labels_(style.labels),
      arrows_(style.arrows),
      theme_(style.theme),
      quantity_(style.quantity.value_or(default_quantity(balls))),
      map_(style.map),
      palette_(palette_of(quantity_, balls, map_)),
      fixed_range_(style.range),
      camera_(scene, viewport_for(width, height, labels_, palette_)),
      oversampling_(scene.dimension() == 3 ? 2 : 1) {
    target_.emplace(width, height, oversampling_);
}

void Painter::resize(int width, int height) {
    if (target_->width() == width && target_->height() == height) return;
    target_.emplace(width, height, oversampling_);
    place();
}

void Painter::set_oversampling(int oversampling) {
    if (oversampling == oversampling_) return;
    oversampling_ = oversampling;
    target_.emplace(target_->width(), target_->height(), oversampling_);
}

void Painter::set_quantity(Quantity quantity) {
    if (quantity == quantity_) return;
    quantity_ = quantity;
    palette_ = palette_of(quantity, balls_, map_);
    fixed_range_.reset();
    seen_.reset();
    place();
}

void Painter::set_color_map(ColorMap map) {
    map_ = map;
    palette_ = palette_of(quantity_, balls_, map);
}

void Painter::set_range(std::optional<ValueRange> range) {
    fixed_range_ = range;
    seen_.reset();
}

void Painter::set_labels(bool labels) {
    labels_ = labels;
    place();
}

void Painter::set_panel_room(float left, float bottom) {
    left_room_ = left;
    bottom_room_ = bottom;
    place();
}

void Painter::place() {
    Viewport viewport = viewport_for(target_->width(), target_->height(), labels_, palette_);
    viewport.left += left_room_;
    viewport.bottom += bottom_room_;
    camera_.set_viewport(viewport);
}

void Painter::see(const ValueRange& now) {
    if (fixed_range_) {
        range_ = *fixed_range_;
        return;
    }
    if (seen_) {
        seen_->low = std::min(seen_->low, now.low);
        seen_->high = std::max(seen_->high, now.high);
    } else {
        seen_ = now;
    }
    range_ = *seen_;
}

PictureContent Painter::content(double time, std::size_t balls, const std::vector<std::string>& notes,
                                const LineList* extra, const Frame* frame) {
    const Vector3 origin = cloud_origin(scene_.box);
    const float scale = overlay_scale(target_->height());
    behind_.clear();
    scenery_.clear();
    overlay_.clear();
    const bool flat = scene_.dimension() == 2;
    if (flat) add_inside(behind_, scene_, origin, *theme_, camera_);
    add_scenery(scenery_, scene_, time, origin, *theme_, scale);
    if (arrows_ && frame != nullptr) {
        add_velocities(scenery_, scene_, balls_, *frame, origin, *theme_, camera_, scale);
    }
    if (extra != nullptr) overlay_.append(*extra);
    if (labels_) {
        const std::string facts = fmt::format("{}, t = {:.5g} s", plural(balls, "ball"), time);
        const OverlayContent words{.title = scene_.title.empty() ? facts : scene_.title + ":  " + facts,
                                   .notes = notes,
                                   .quantity = quantity_,
                                   .palette = &palette_,
                                   .range = range_,
                                   .dimension = scene_.dimension()};
        add_overlay(overlay_, words, camera_, *theme_);
    }
    return {.dimension = scene_.dimension(),
            .palette = &palette_,
            .range = range_,
            .theme = theme_,
            .behind = &behind_,
            .scenery = &scenery_,
            .overlay = &overlay_,
            .clip_to_box = flat && (scene_.box.periodic(0) || scene_.box.periodic(1)),
            .box = scene_.box,
            .clip = clip_};
}

void Painter::draw(const Frame& frame, const std::vector<std::string>& notes, const LineList* extra) {
    evaluate(quantity_, scene_, balls_, frame, values_);
    see(range_of(quantity_, values_));
    const BallCloud cloud = clouds_.make(scene_, balls_, frame, values_);
    const auto balls = static_cast<std::size_t>(std::ranges::count(frame.gone, std::uint8_t{0}));
    renderer_.draw(*target_, camera_, cloud, content(frame.time, balls, notes, extra, &frame));
}

void Painter::draw(const CloudBuffers& cloud, double time, std::size_t balls, const std::vector<std::string>& notes,
                   const LineList* extra, const Frame* frame) {
    renderer_.draw(*target_, camera_, cloud, content(time, balls, notes, extra, frame));
}

}  // namespace carom
