#include "host/viewer/painter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <sstream>

#include "host/plot/image.hpp"
#include "host/plot/letters.hpp"
#include "host/run/say.hpp"
#include "host/state/errors.hpp"
#include "host/viewer/scenery.hpp"

namespace carom {

namespace {

// All for a picture 800 pixels high.
constexpr float kMargin = 26.0f;
constexpr float kTitleRoom = 58.0f;
constexpr float kFootRoom = 58.0f;
constexpr float kLegendRoom = 138.0f;
constexpr float kTitle = 14.0f;
constexpr float kLabel = 11.0f;
constexpr float kNotesRoom = 250.0f;
constexpr float kLegendShare = 0.2f;  // of the width, at most

/// The largest of 1, 2 and 5 times a power of ten that is no more than `most`.
double round_below(double most) {
    const double power = std::pow(10.0, std::floor(std::log10(most)));
    for (const double digit : {5.0, 2.0}) {
        if (digit * power <= most) return digit * power;
    }
    return power;
}

/// As much of words as has room.
std::string shortened(std::string words, float size, float room) {
    if (text_width(size, words) <= room) return words;
    while (!words.empty() && text_width(size, words + "...") > room) {
        while ((static_cast<unsigned char>(words.back()) & 0xC0U) == 0x80U)
            words.pop_back();  // to a letter's first byte
        words.pop_back();
    }
    return words + "...";
}

class Overlay {
public:
    Overlay(LineList& lines, const OverlayContent& content, const Camera& camera, const Theme& theme)
        : lines_(lines),
          content_(content),
          camera_(camera),
          theme_(theme),
          width_(static_cast<float>(camera.viewport().width) - content.right_room),
          height_(static_cast<float>(camera.viewport().height)),
          scale_(overlay_scale(camera.viewport().width, camera.viewport().height)) {}

    void add() {
        title();
        if (has_legend(*content_.palette)) {
            if (content_.palette->categories) {
                species();
            } else {
                color_bar();
            }
        }
        scale_bar();
        if (content_.dimension == 3) axes();
        notes();
    }

private:
    [[nodiscard]] float px(float length) const { return length * scale_; }

    /// What panels take of the lower rim.
    [[nodiscard]] float below() const { return std::max(0.0f, camera_.viewport().bottom - px(kFootRoom)); }

    void text(float x, float base_line, float height, const std::string& words) {
        lines_.add_text(x, base_line, height, words, theme_.ink);
    }

    /// So that words can be read also where balls lie below them.
    void back(float left, float top, float right, float bottom) {
        constexpr float kOpacity = 0.82f;
        lines_.add_rectangle(left, top, right, bottom, theme_.paper, kOpacity);
    }

    void title() {
        const float room = width_ - 2.0f * px(kMargin);
        const float wanted = text_width(px(kTitle), content_.title);
        const float size = wanted > room ? px(kTitle) * room / wanted : px(kTitle);
        const float line = px(kTitleRoom - 24.0f);
        back(px(kMargin - 10.0f), line - px(22.0f), px(kMargin + 10.0f) + std::min(wanted, room), line + px(9.0f));
        text(px(kMargin), line, size, content_.title);
    }

    void color_bar() {
        const float left = width_ - px(kLegendRoom - 24.0f);
        const float bar = px(16.0f);
        const float top = px(kTitleRoom + 28.0f);
        const float length = std::clamp(height_ - top - px(kFootRoom + 10.0f), px(60.0f), px(420.0f));
        const float bottom = top + length;
        const bool constant = !(content_.range.high > content_.range.low);
        back(left - px(10.0f), px(kTitleRoom - 10.0f), width_ - px(4.0f), (constant ? top + bar : bottom) + px(14.0f));
        const int slices = std::max(2, static_cast<int>(length));
        for (int k = 0; k < slices && !constant; ++k) {
            const float low = bottom - length * static_cast<float>(k) / static_cast<float>(slices);
            const float high = bottom - length * static_cast<float>(k + 1) / static_cast<float>(slices);
            const float t = (static_cast<float>(k) + 0.5f) / static_cast<float>(slices);
            lines_.add_rectangle(left, high - 0.5f, left + bar, low, content_.palette->at(t));
        }
        const std::string unit = unit_text(*content_.units, content_.unit);
        const std::string label =
            unit.empty() ? content_.label : fmt::format("{} [{}]", content_.label, unit.substr(1));
        constexpr float kLeast = 0.8f;
        const float room = std::max(width_ - left, kLegendShare * width_) - px(6.0f);
        const float size = px(kLabel) * std::clamp(room / std::max(1.0f, text_width(px(kLabel), label)), kLeast, 1.0f);
        const std::string words = shortened(label, size, room);
        const float start = std::min(left, width_ - px(6.0f) - text_width(size, words));
        if (start < left) back(start - px(4.0f), px(kTitleRoom - 6.0f), left, px(kTitleRoom + 16.0f));
        text(start, px(kTitleRoom + 10.0f), size, words);
        const auto low = static_cast<double>(content_.range.low);
        if (constant) {
            lines_.add_rectangle(left, top, left + bar, top + bar, content_.palette->at(0.5f));
            text(left + bar + px(9.0f), top + 0.5f * bar + 0.45f * px(kLabel), 0.9f * px(kLabel),
                 std::isfinite(low) ? fmt::format("all {:.4g}", low) : "no number");
            return;
        }
        const auto high = static_cast<double>(content_.range.high);
        constexpr int kTicks = 3;
        const std::vector<double> values = round_values(low, high, kTicks);
        const double step = values.size() > 1 ? values[1] - values[0] : high - low;
        constexpr double kDigits = 4.0;
        const double largest = std::max(std::abs(low), std::abs(high));
        const auto digits = static_cast<int>(std::clamp(std::ceil(std::log10(largest / step)) + 1.0, kDigits, 9.0));
        for (const double value : values) {
            const float y = bottom - length * static_cast<float>((value - low) / (high - low));
            lines_.add({left + bar, y, 0.0f}, {left + bar + px(4.0f), y, 0.0f}, std::max(1.0f, px(1.0f)), theme_.ink);
            text(left + bar + px(9.0f), y + 0.45f * px(kLabel), 0.9f * px(kLabel),
                 fmt::format("{:.{}g}", value, digits));
        }
    }

    void species() {
        const float left = width_ - px(kLegendRoom - 30.0f);
        float y = px(kTitleRoom + 12.0f);
        constexpr std::size_t kMost = 20;
        const auto& entries = content_.palette->entries;
        const auto count = static_cast<float>(std::min(kMost + 1, entries.size()));
        back(left - px(14.0f), y - px(14.0f), width_ - px(4.0f), y + px(24.0f) * (count - 1.0f) + px(14.0f));
        for (std::size_t k = 0; k < std::min(kMost, entries.size()); ++k) {
            lines_.add({left, y, 0.0f}, {left, y, 0.0f}, px(14.0f), entries[k].second);
            text(left + px(16.0f), y + 0.45f * px(kLabel), px(kLabel), entries[k].first);
            y += px(24.0f);
        }
        if (entries.size() > kMost) {
            text(left + px(16.0f), y + 0.45f * px(kLabel), px(kLabel),
                 fmt::format("and {} more", entries.size() - kMost));
        }
    }

    void scale_bar() {
        const double length = round_below(0.22 * static_cast<double>(width_) / camera_.scale());
        const auto pixels = static_cast<float>(length * camera_.scale());
        const float left = content_.notes.empty() ? camera_.viewport().left : px(kMargin);
        const float y = height_ - below() - px(20.0f);
        const float line = std::max(1.0f, px(1.8f));
        const std::string words = fmt::format("{:.4g}{}", length, unit_text(*content_.units, "m"));
        const float end = left + pixels + px(20.0f) + text_width(px(kLabel), words);
        back(left - px(10.0f), y - px(14.0f), end, y + px(14.0f));
        if (content_.arrows) arrow_key(*content_.arrows, end + px(16.0f), y);
        lines_.add({left, y, 0.0f}, {left + pixels, y, 0.0f}, line, theme_.ink);
        for (const float x : {left, left + pixels}) {
            lines_.add({x, y - px(4.0f), 0.0f}, {x, y + px(4.0f), 0.0f}, line, theme_.ink);
        }
        text(left + pixels + px(10.0f), y + 0.45f * px(kLabel), px(kLabel), words);
    }

    /// An arrow of a round speed, and how many there are where that is not all.
    void arrow_key(const VelocityKey& key, float left, float y) {
        const double speed = round_below(key.fastest);
        const auto pixels = static_cast<float>(speed * key.seconds * camera_.scale());
        std::string words = fmt::format("{:.4g}{}", speed, unit_text(*content_.units, "m/s"));
        if (key.drawn < key.balls) {
            words += fmt::format("; arrows of {} of {}", count_text(key.drawn), plural(key.balls, "ball"));
        }
        back(left - px(10.0f), y - px(14.0f), left + pixels + px(20.0f) + text_width(px(kLabel), words), y + px(14.0f));
        const float line = std::max(1.0f, px(1.3f));
        const float tip = left + pixels;
        const float head = std::min(px(7.0f), 0.5f * pixels);
        lines_.add({left, y, 0.0f}, {tip, y, 0.0f}, line, theme_.ink);
        lines_.add({tip, y, 0.0f}, {tip - head, y - 0.5f * head, 0.0f}, line, theme_.ink);
        lines_.add({tip, y, 0.0f}, {tip - head, y + 0.5f * head, 0.0f}, line, theme_.ink);
        text(tip + px(10.0f), y + 0.45f * px(kLabel), px(kLabel), words);
    }

    /// The axes as the eye sees them, in the lower right corner, the farthest one first.
    void axes() {
        static constexpr std::array<Color, 3> kColors{
            {{0.90f, 0.36f, 0.33f}, {0.36f, 0.72f, 0.36f}, {0.38f, 0.56f, 0.95f}}};
        const float length = px(30.0f);
        const float x0 = width_ - px(62.0f);
        const float y0 = height_ - below() - px(56.0f);
        std::array<std::size_t, 3> order{0, 1, 2};
        std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return camera_.back()[a] < camera_.back()[b]; });
        for (const std::size_t axis : order) {
            const float x = x0 + length * static_cast<float>(camera_.right()[axis]);
            const float y = y0 - length * static_cast<float>(camera_.up()[axis]);
            lines_.add({x0, y0, 0.0f}, {x, y, 0.0f}, px(2.4f), kColors[axis]);
            const float far = 1.35f;
            lines_.add_text(x0 + far * (x - x0) - px(3.0f), y0 + far * (y - y0) + px(4.0f), px(10.0f),
                            std::string(1, static_cast<char>('x' + axis)), kColors[axis]);
        }
    }

    void notes() {
        if (content_.notes.empty()) return;
        float widest = 0.0f;
        for (const std::string& note : content_.notes) widest = std::max(widest, text_width(px(kLabel), note));
        const float left = px(kMargin + 10.0f);
        const float top = px(kTitleRoom + 10.0f);
        const float line = px(19.0f);
        const float high = line * static_cast<float>(content_.notes.size()) + px(12.0f);
        back(left, top, left + widest + px(20.0f), top + high);
        float y = top + px(18.0f);
        for (const std::string& note : content_.notes) {
            text(left + px(10.0f), y, px(kLabel), note);
            y += line;
        }
    }

    LineList& lines_;
    const OverlayContent& content_;
    const Camera& camera_;
    const Theme& theme_;
    float width_;
    float height_;
    float scale_;
};

}  // namespace

std::vector<double> round_values(double low, double high, int most) {
    std::vector<double> values;
    const double step = round_below((high - low) / most);
    if (!(step > 0.0) || !std::isfinite(step)) return values;
    constexpr double kRounding = 1e-6;
    const double first = std::ceil(low / step - kRounding);
    for (double k = 0.0; k <= 20.0 * most && (first + k) * step <= high + kRounding * step; k += 1.0) {
        values.push_back((first + k) * step + 0.0);  // no negative zero
    }
    return values;
}

float overlay_scale(int width, int height) {
    constexpr float kHeight = 800.0f;
    return std::clamp(
        std::min(static_cast<float>(height) / kHeight, kLegendShare * static_cast<float>(width) / kLegendRoom), 0.55f,
        6.0f);
}

Viewport overlay_viewport(int width, int height, bool legend) {
    const float scale = overlay_scale(width, height);
    return {.width = width,
            .height = height,
            .left = scale * kMargin,
            .top = scale * kTitleRoom,
            .right = scale * (legend ? kLegendRoom : kMargin),
            .bottom = scale * kFootRoom};
}

bool has_legend(const Palette& palette) { return !palette.categories || !palette.entries.empty(); }

void add_overlay(LineList& lines, const OverlayContent& content, const Camera& camera, const Theme& theme) {
    Overlay(lines, content, camera, theme).add();
}

namespace {

Viewport viewport_for(int width, int height, bool labels, const Palette& palette) {
    if (labels) return overlay_viewport(width, height, has_legend(palette));
    const float rim = 16.0f * overlay_scale(width, height);
    return {.width = width, .height = height, .left = rim, .top = rim, .right = rim, .bottom = rim};
}

}  // namespace

ColorWish parse_color_wish(const std::string& text, const std::string& option) {
    std::string allowed;
    for (const QuantityInfo& info : quantities()) {
        if (text == info.name) return {info.quantity};
        allowed += (allowed.empty() ? "" : ", ") + std::string(info.name);
    }
    // A word that is misspelt is told of the others; what else there is may be a formula, down to "x" and "vy".
    const bool word =
        text.size() > 2 && std::ranges::all_of(text, [](char c) { return std::isalpha(c) != 0 || c == '-'; });
    if (!word || text == "radius" || text == "mass") return {Quantity::kFormula, text};
    throw InputError(fmt::format("{}: '{}' is not known; allowed: {}, or a formula", option, text, allowed));
}

ColorMap parse_color_map(const std::string& text, const std::string& option) {
    std::string allowed;
    for (const ColorMapInfo& info : color_maps()) {
        if (text == info.name) return info.map;
        allowed += (allowed.empty() ? "" : ", ") + std::string(info.name);
    }
    throw InputError(fmt::format("{}: '{}' is not known; allowed: {}", option, text, allowed));
}

ValueRange parse_value_range(const std::string& text, const std::string& option) {
    const auto colon = text.find(':');
    const auto number = [&](const std::string& part) {
        float value = 0.0f;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
        if (error != std::errc() || end != part.data() + part.size() || !std::isfinite(value)) {
            throw InputError(fmt::format("{}: '{}' is not LOW:HIGH", option, text));
        }
        return value;
    };
    if (colon == std::string::npos) throw InputError(fmt::format("{}: '{}' is not LOW:HIGH", option, text));
    const ValueRange range{number(text.substr(0, colon)), number(text.substr(colon + 1))};
    if (range.high <= range.low) throw InputError(option + ": HIGH must be greater than LOW");
    return range;
}

std::vector<ClipPlane> parse_clips(const std::string& text, const std::string& option) {
    std::vector<ClipPlane> clips;
    std::istringstream all(text);
    for (std::string one; std::getline(all, one, ',');) {
        std::array<double, 4> numbers{};
        std::size_t count = 0;
        std::istringstream parts(one);
        bool good = true;
        for (std::string part; std::getline(parts, part, ':'); ++count) {
            double value = 0.0;
            const char* last = part.data() + part.size();
            const auto [end, error] = std::from_chars(part.data(), last, value);
            good = good && count < 4 && error == std::errc() && end == last && std::isfinite(value);
            if (good) numbers[count] = value;
        }
        const double length = std::hypot(numbers[0], numbers[1], numbers[2]);
        if (!good || count != 4 || !(length > 0.0)) {
            throw InputError(
                fmt::format("{}: '{}' is not NX:NY:NZ:OFFSET, a normal and a distance along it", option, one));
        }
        if (clips.size() == kMostClips) throw InputError(fmt::format("{}: more than {} planes", option, kMostClips));
        clips.push_back({{numbers[0] / length, numbers[1] / length, numbers[2] / length}, numbers[3]});
    }
    return clips;
}

namespace {

Theme theme_by_look(const Look& look, bool light) {
    Theme theme = light || look.light ? kLightTheme : kDarkTheme;
    theme.paper = parse_color(look.background, theme.paper);
    theme.inside = parse_color(look.floor, theme.inside);
    theme.floor = parse_color(look.floor, theme.floor);
    theme.wall = parse_color(look.walls, theme.wall);
    return theme;
}

CameraWish camera_by_look(CameraWish wish, const Look& look, const Scene& scene) {
    if (look.camera.empty()) return wish;
    const CameraWish by_look = parse_camera(look.camera, scene.label("look.camera"));
    const auto fill = [](auto& own, const auto& other) {
        if (!own) own = other;
    };
    fill(wish.perspective, by_look.perspective);
    fill(wish.azimuth, by_look.azimuth);
    fill(wish.elevation, by_look.elevation);
    fill(wish.zoom, by_look.zoom);
    fill(wish.target, by_look.target);
    return wish;
}

}  // namespace

Appearance::Appearance(const PictureStyle& asked, const Scene& scene, const Balls& balls)
    : style(asked),
      look(look_of(scene)),
      theme(theme_by_look(look, asked.light)),
      camera(camera_by_look(asked.camera, look, scene)),
      range(asked.range),
      clips(asked.clips),
      copies(static_cast<int>(asked.copies.value_or(look.copies))),
      glow(asked.glow || look.glow) {
    const std::string color_label = asked.quantity ? "--color-by" : scene.label("look.color_by");
    ColorWish colors{asked.quantity.value_or(look.colors.empty() ? default_quantity(balls) : Quantity::kId),
                     asked.formula};
    if (!asked.quantity && !look.color_by.empty()) colors = parse_color_wish(look.color_by, color_label);
    quantity = colors.quantity;
    if (quantity == Quantity::kFormula) formula.emplace(colors.formula, balls, color_label);
    const std::string& chosen = asked.select.empty() ? look.select : asked.select;
    if (!chosen.empty()) {
        selection.emplace(chosen, balls, asked.select.empty() ? scene.label("look.select") : "--select");
    }
    for (const std::size_t id : asked.trails) {
        if (id >= balls.size()) throw InputError(fmt::format("--trails: there is no ball {}", id));
    }
    if (asked.map) {
        map = *asked.map;
    } else if (!look.colormap.empty()) {
        map = parse_color_map(look.colormap, scene.label("look.colormap"));
    }
    if (!range && !look.range.empty()) range = parse_value_range(look.range, scene.label("look.range"));
    if (clips.empty() && !look.clip.empty()) clips = parse_clips(look.clip, scene.label("look.clip"));
}

Painter::Painter(const Scene& scene, const Balls& balls, const Appearance& as, int width, int height)
    : scene_(scene),
      balls_(balls),
      look_(as.look),
      labels_(as.style.labels),
      arrows_(as.style.arrows),
      light_(as.style.shadows && look_.shadows),
      theme_(as.theme),
      pattern_(look_.pattern),
      contacts_(as.style.contacts),
      trails_(as.style.trails),
      with_trails_(!as.style.trails.empty()),
      quantity_(as.quantity),
      map_(as.map),
      palette_(palette_of(quantity_, balls, map_, look_.colors)),
      fixed_range_(as.range),
      formula_(as.formula),
      selection_(as.selection),
      kept_clips_(as.clips.size()),
      clips_(as.clips),
      copies_(0),
      glow_(as.glow),
      transparent_(as.style.transparent),
      camera_(scene, viewport_for(width, height, labels_, palette_)),
      oversampling_(as.style.oversampling.value_or(scene.dimension() == 3 ? 2 : 1)) {
    target_.emplace(width, height, oversampling_);
    if (as.copies > 0) set_copies(as.copies);
}

Box Painter::whole() const {
    Box box = scene_.box;
    for (int axis = 0; axis < box.dimension; ++axis) {
        if (!box.periodic(axis)) continue;
        box.min[axis] -= copies_ * scene_.box.size[axis];
        box.size[axis] *= 1 + 2 * copies_;
    }
    return box;
}

void Painter::set_copies(int copies) {
    if (copies == copies_) return;
    copies_ = copies;
    shifts_.clear();
    // 2D: what hangs over the rim of them all is cut off there, and comes in at the other side from one more copy.
    const int reach = copies > 0 && scene_.dimension() == 2 ? copies + 1 : copies;
    std::array<int, 3> most{};
    for (int axis = 0; axis < scene_.dimension(); ++axis) {
        if (scene_.box.periodic(axis)) most[static_cast<std::size_t>(axis)] = reach;
    }
    for (int z = -most[2]; z <= most[2]; ++z) {
        for (int y = -most[1]; y <= most[1]; ++y) {
            for (int x = -most[0]; x <= most[0]; ++x) {
                if (x == 0 && y == 0 && z == 0) continue;
                shifts_.push_back({x * scene_.box.size[0], y * scene_.box.size[1], z * scene_.box.size[2]});
            }
        }
    }
    camera_.set_box(whole());
}

void Painter::set_clip(const std::optional<ClipPlane>& clip) {
    clips_.resize(kept_clips_);
    if (clip && kept_clips_ < kMostClips) clips_.push_back(*clip);
}

void Painter::drop_kept_clips() {
    clips_.clear();
    kept_clips_ = 0;
}

void Painter::set_formula(const std::string& text) {
    formula_.emplace(text, balls_, "colour");
    quantity_ = Quantity::kSpecies;  // another one in any case
    set_quantity(Quantity::kFormula);
}

void Painter::set_selection(const std::string& text) {
    selection_ = text.empty() ? std::nullopt : std::optional(BallFormula(text, balls_, "show"));
    if (!selection_) chosen_.clear();
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
    if (quantity != Quantity::kFormula) formula_.reset();
    palette_ = palette_of(quantity, balls_, map_, look_.colors);
    fixed_range_.reset();
    seen_.reset();
    place();
}

void Painter::set_color_map(ColorMap map) {
    map_ = map;
    palette_ = palette_of(quantity_, balls_, map, look_.colors);
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

void Painter::make_room_for_notes() {
    constexpr float kMostOfWidth = 0.3f;
    const auto width = static_cast<float>(target_->width());
    set_panel_room(std::min(kNotesRoom * overlay_scale(target_->width(), target_->height()), kMostOfWidth * width),
                   bottom_room_);
}

void Painter::place() {
    Viewport viewport = viewport_for(target_->width(), target_->height(), labels_, palette_);
    viewport.left += left_room_;
    viewport.bottom += bottom_room_;
    viewport.right += right_room_;
    camera_.set_viewport(viewport);
}

void Painter::see(const ValueRange& now) {
    if (fixed_range_) {
        range_ = *fixed_range_;
        return;
    }
    if (!std::isfinite(now.low) || !std::isfinite(now.high)) {  // no ball has a number now
        range_ = seen_.value_or(now);
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
    const float scale = overlay_scale(target_->width(), target_->height());
    behind_.clear();
    scenery_.clear();
    overlay_.clear();
    const bool flat = scene_.dimension() == 2;
    if (flat && !(transparent_ && look_.floor.empty())) {
        add_inside(behind_, scene_, time, origin, theme_, camera_);
        for (const Vector3& shift : shifts_) {
            const auto within = [&](std::size_t axis) {
                return std::abs(shift[axis]) < (copies_ + 0.5) * scene_.box.size[axis];
            };
            if (!within(0) || !within(1)) continue;
            add_inside(behind_, scene_, time, {origin[0] - shift[0], origin[1] - shift[1], origin[2]}, theme_, camera_);
        }
    }
    if (flat && look_.cushion > 0.0) add_cushions(behind_, scene_.box, look_.cushion, origin, theme_, camera_);
    add_scenery(scenery_, scene_, time, origin, theme_, scale);
    const IsLeftOut out = [this](std::size_t id) { return left_out(id); };
    if (look_.numbers_from && frame != nullptr) {
        add_numbers(scenery_, balls_, *frame, turned_, *look_.numbers_from, out, origin, camera_);
    }
    if (with_trails_ && frame != nullptr) {
        trails_.add(*frame);
        trails_.draw(scenery_, origin, theme_, scale);
    }
    if (contacts_ && frame != nullptr) add_contacts(overlay_, scene_, balls_, *frame, out, camera_, theme_, scale);
    std::optional<VelocityKey> arrows;
    if (arrows_ && frame != nullptr) {
        arrows = add_velocities(scenery_, scene_, balls_, *frame, out, origin, theme_, camera_, scale);
    }
    if (extra != nullptr) overlay_.append(*extra);
    if (labels_) {
        std::size_t drawn = balls;
        for (std::size_t id = 0; frame != nullptr && id < chosen_.size(); ++id) {
            if (frame->gone[id] == 0 && left_out(id)) --drawn;
        }
        const std::string some = drawn < balls ? fmt::format("{} of ", count_text(drawn)) : "";
        const std::string facts =
            fmt::format("{}{}, t = {:.5g}{}", some, plural(balls, "ball"), time, unit_text(scene_.units, "s"));
        const OverlayContent words{.title = scene_.title.empty() ? facts : scene_.title + ":  " + facts,
                                   .notes = notes,
                                   .label = formula_ ? formula_->name() : info_of(quantity_).label,
                                   .unit = info_of(quantity_).unit,
                                   .palette = &palette_,
                                   .range = range_,
                                   .dimension = scene_.dimension(),
                                   .units = &scene_.units,
                                   .arrows = arrows,
                                   .right_room = right_room_};
        add_overlay(overlay_, words, camera_, theme_);
    }
    return {.dimension = scene_.dimension(),
            .palette = &palette_,
            .range = range_,
            .theme = &theme_,
            .behind = &behind_,
            .scenery = &scenery_,
            .overlay = &overlay_,
            .clip_to_box = flat && (scene_.box.periodic(0) || scene_.box.periodic(1)),
            .box = whole(),
            .clips = clips_,
            .copies = shifts_,
            .glow = glow_,
            .floor = floor_of(scene_, origin, theme_, camera_),
            .transparent = transparent_,
            .light = light_ && shadows_,
            .hasty = !shadows_};
}

void Painter::follow(const Frame& frame, std::size_t id) {
    if (id >= frame.size() || frame.gone[id] != 0) return;
    Vector3 target = camera_.target();
    for (int axis = 0; axis < frame.dimension; ++axis) {
        target[axis] = frame.position[axis][id];
        if (!std::isfinite(target[axis])) return;
    }
    camera_.set_target(target);
}

bool Painter::turns(const Frame& frame) {
    if (pattern_ == Look::Pattern::kNone || frame.spin[2].size() != frame.size()) return false;
    spinning_ = spinning_ || BallTurns::any_spin(frame);
    return spinning_ || pattern_ == Look::Pattern::kStripe;
}

void Painter::require_numbers(const Frame& frame) const {
    if (formula_) formula_->require_numbers(frame);
    if (selection_) selection_->require_numbers(frame);
}

void Painter::draw(const Frame& frame, const std::vector<std::string>& notes, const LineList* extra) {
    if (formula_) {
        formula_->evaluate(balls_, frame, values_);
    } else {
        evaluate(quantity_, scene_, balls_, frame, values_);
    }
    if (selection_) selection_->choose(balls_, frame, chosen_);
    see(range_of(quantity_, values_));
    turned_ = turns(frame) ? turns_.at(frame) : std::span<const BallTurn>();
    const BallCloud cloud = clouds_.make(scene_, balls_, frame, values_, turned_, chosen_, copies_ == 0);
    const auto balls = static_cast<std::size_t>(std::ranges::count(frame.gone, std::uint8_t{0}));
    renderer_.draw(*target_, camera_, cloud, content(frame.time, balls, notes, extra, &frame));
}

void Painter::draw(const CloudBuffers& cloud, double time, std::size_t balls, const std::vector<std::string>& notes,
                   const LineList* extra, const Frame* frame) {
    turned_ = {};
    renderer_.draw(*target_, camera_, cloud, content(time, balls, notes, extra, frame));
}

}  // namespace carom
