#include "host/window/panels.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>
#include <vector>

#include "host/run/say.hpp"
#include "host/scene/stages.hpp"
#include "host/state/errors.hpp"
#include "host/state/text.hpp"
#include "host/viewer/movie_writer.hpp"
#include "host/viewer/quantity.hpp"
#include "kernels/physics/contact_laws.hpp"

namespace carom {

namespace {

constexpr std::array<const char*, 3> kAxes{"x", "y", "z"};
constexpr double kReachOfSprings = 50.0;
constexpr double kReachOfTemperatures = 10.0;

/// \param label  of the dial, for it is what a user sees of the key
void change(Show& show, const std::string& label, const std::string& override, std::string& message) {
    try {
        show.change(override);
        message = "from now on " + override;
    } catch (const InputError& error) {
        message = error.what();
        // "box.wall_temperature[0]: must be"
        if (message.starts_with(override.substr(0, override.find_first_of("[=")))) {
            const auto colon = message.find(": ");
            if (colon != std::string::npos) message = label + message.substr(colon);
        }
    }
}

void text(const std::string& words) { ImGui::TextUnformatted(words.c_str()); }
void wrapped(const ImVec4& color, const std::string& words) {
    ImGui::PushStyleColor(ImGuiCol_Text, color);
    ImGui::TextWrapped("%s", words.c_str());
    ImGui::PopStyleColor();
}
/// Below the row that cannot be used.
void explain(const std::string& why_not) {
    if (!why_not.empty()) wrapped(ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled), why_not);
}

// Where letters are large, half a window is narrow: what does not fit beside something stands below it.

float width_of(const std::string& words) { return ImGui::CalcTextSize(words.c_str()).x; }
float width_of_check(const char* words) {
    return ImGui::GetFrameHeight() + ImGui::GetStyle().ItemInnerSpacing.x + width_of(words);
}
float spacing() { return ImGui::GetStyle().ItemSpacing.x; }
/// The least that a slider is to have.
float least() { return 6.0f * ImGui::GetFontSize(); }

/// What comes next, so wide, stands beside the last thing if there is room.
void beside(float width) {
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    if (ImGui::GetItemRectMax().x + spacing() + width <= right) ImGui::SameLine();
}
bool next_button(const char* words) {
    beside(width_of(words) + 2.0f * ImGui::GetStyle().FramePadding.x);
    return ImGui::Button(words);
}
/// Gives what comes next all that so many pixels of other things leave, or all if that is too little.
void leave(float others) {
    const float rest = ImGui::GetContentRegionAvail().x - others - spacing();
    ImGui::SetNextItemWidth(rest >= least() ? rest : -1.0f);
}
/// What `draw` makes, of the usual width or a lesser one, and its name.
template <class Draw>
void named(const char* name, Draw&& draw) {
    const float rest = ImGui::GetContentRegionAvail().x - width_of(name) - ImGui::GetStyle().ItemInnerSpacing.x;
    ImGui::SetNextItemWidth(rest >= least() ? std::min(rest, ImGui::CalcItemWidth()) : -1.0f);
    ImGui::PushID(name);
    draw();
    ImGui::PopID();
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    if (ImGui::GetItemRectMax().x + width_of(name) < right) ImGui::SameLine(0.0f, ImGui::GetStyle().ItemInnerSpacing.x);
    text(name);
}

}  // namespace

/// \returns  the number that the user has settled on, at that moment
/// \param dial  with a unit as UnitNames::behind wants it
std::optional<double> PhysicsPanel::draw(const Dial& dial, const UnitNames& units) {
    Held& held = held_[dial.key];
    if (held.first == 0.0) held.first = dial.now;
    std::optional<double> settled;
    ImGui::PushID(dial.key.c_str());
    // A name, a slider, a number and a unit. All rows have the same columns: the slider takes what is left.
    const float number_width = width_of("-1.234e-05");
    const float before = width_of("restitution") + spacing();
    const float after = spacing() + number_width;
    const float behind = spacing() + width_of(units.behind("m/s^2"));
    const float room = ImGui::GetContentRegionAvail().x;
    const bool wide = room - before - after - behind >= least();
    ImGui::AlignTextToFramePadding();
    text(dial.label);
    const auto unit_of = [&] {
        ImGui::SameLine();
        ImGui::AlignTextToFramePadding();
        ImGui::TextDisabled("%s", dial.unit.empty() ? "" : units.behind(dial.unit).c_str());
    };
    if (wide) {
        ImGui::SameLine(ImGui::GetCursorPosX() + before);
    } else {
        unit_of();
    }
    ImGui::BeginDisabled(!dial.why_not.empty());

    // A logarithmic slider of Dear ImGui takes what is below a thousandth for 0, so these move a factor.
    const bool factor = dial.reach > 0.0;
    const double unit = factor ? held.first : 1.0;
    auto place = held.slider.value_or(static_cast<float>(held.typed.value_or(dial.now) / unit));
    ImGui::SetNextItemWidth(wide ? room - before - after - behind : std::max(1.0f, room - after));
    ImGui::SliderFloat("##slider", &place, static_cast<float>(factor ? 1.0 / dial.reach : dial.low),
                       static_cast<float>(factor ? dial.reach : dial.high), "",
                       ImGuiSliderFlags_NoInput | (factor ? ImGuiSliderFlags_Logarithmic : 0));
    held.slider = ImGui::IsItemActive() ? std::optional(place) : std::nullopt;
    if (ImGui::IsItemDeactivatedAfterEdit()) settled = static_cast<double>(place) * unit;

    double number = held.slider || settled ? static_cast<double>(place) * unit : held.typed.value_or(dial.now);
    ImGui::SameLine();
    ImGui::SetNextItemWidth(number_width);
    ImGui::InputDouble("##number", &number, 0.0, 0.0, "%.4g", ImGuiInputTextFlags_CharsScientific);
    // Whoever leaves it as it was, or takes back what he typed, has not settled on what it was rounded to.
    const auto shown = [](double value) { return fmt::format("{:.4g}", value); };
    if (ImGui::IsItemDeactivatedAfterEdit() && shown(number) != shown(dial.now)) settled = number;
    held.typed = ImGui::IsItemActive() ? std::optional(number) : std::nullopt;

    ImGui::EndDisabled();
    if (wide) unit_of();
    ImGui::PopID();
    return settled;
}

void PhysicsPanel::draw(Show& show, std::string& message) {
    const Scene now = scene_at(show.scene(), show.time());
    gravity(show, now, message);
    springs(show, message);
    temperatures(show, now, message);
}

void PhysicsPanel::gravity(Show& show, const Scene& now, std::string& message) {
    // Along the axis on which there is most; without any, the last one on which a ball does not fall for ever.
    int axis = now.dimension() - 1;
    for (int other = 0; other < now.dimension(); ++other) {
        const bool periodic = now.box.periodic(axis) && !now.box.periodic(other);
        if (periodic || std::abs(now.physics.gravity[other]) > std::abs(now.physics.gravity[axis])) axis = other;
    }
    Dial fall{.key = "physics.gravity",
              .label = fmt::format("gravity {}", kAxes[static_cast<std::size_t>(axis)]),
              .unit = "m/s^2",
              .now = now.physics.gravity[axis],
              .low = -20.0,
              .high = 20.0};
    if (now.box.periodic(axis)) fall.why_not = "no gravity in a periodic box: balls would fall for ever";
    Dial bounce{
        .key = "physics.restitution", .label = "restitution", .now = now.physics.restitution, .low = 0.05, .high = 1.0};
    if (show.spring() && now.spring.damping) bounce.why_not = "restitution has no effect: spring.damping is a number";
    if (const auto gravity = draw(fall, now.units)) {
        std::string vector;
        for (int k = 0; k < now.dimension(); ++k) {
            if (k > 0) vector += ", ";
            vector += k == axis ? fmt::format("{:.6g}", *gravity) : fmt::format("{}", now.physics.gravity[k]);
        }
        change(show, fall.label, "physics.gravity=[" + vector + "]", message);
    }
    if (const auto restitution = draw(bounce, now.units)) {
        change(show, bounce.label, fmt::format("physics.restitution={:.4g}", *restitution), message);
    }
    explain(fall.why_not);
    explain(bounce.why_not);
}

void PhysicsPanel::springs(Show& show, std::string& message) {
    const auto spring = show.spring();
    if (!spring) return;
    const SoftContact law{contact_law_called(show.scene().spring.law, show.scene().spring.own), 0.0};
    for (const Dial& dial :
         {Dial{.key = "spring.stiffness",
         .label = "stiffness",
         .unit = std::string(law.stiffness_unit()),
         .now = spring->stiffness,
         .reach = kReachOfSprings},
          Dial{.key = "spring.dt", .label = "time step", .unit = "s", .now = spring->dt, .reach = kReachOfSprings}}) {
        if (const auto value = draw(dial, show.scene().units)) {
            change(show, dial.label, fmt::format("{}={:.4g}", dial.key, *value), message);
        }
    }
    if (spring->longest_dt > 0.0) {
        explain(fmt::format("at most {:.3g} s, for the contacts", spring->longest_dt));
    }
}

void PhysicsPanel::temperatures(Show& show, const Scene& now, std::string& message) {
    // A wall that has been cooled down to 0, and reflects, can be heated again.
    std::vector<Dial> dials;
    for (int axis = 0; axis < now.dimension(); ++axis) {
        for (int side = 0; side < 2; ++side) {
            const double temperature = now.box.temperature[axis][side];
            const std::string key = fmt::format("box.wall_temperature[{}][{}]", axis, side);
            if (temperature == 0.0 && !held_.contains(key)) continue;
            dials.push_back(
                {.key = key,
                 .label = fmt::format("{}-{}", kAxes[static_cast<std::size_t>(axis)], side == 0 ? "min" : "max"),
                 .unit = "J",
                 .now = temperature,
                 .reach = kReachOfTemperatures});
        }
    }
    for (std::size_t wall = 0; wall < now.walls.size(); ++wall) {
        const std::string key = fmt::format("wall[{}].temperature", wall);
        if (now.walls[wall].temperature == 0.0 && !held_.contains(key)) continue;
        dials.push_back({.key = key,
                         .label = fmt::format("wall[{}]", wall),
                         .unit = "J",
                         .now = now.walls[wall].temperature,
                         .reach = kReachOfTemperatures});
    }
    if (!dials.empty()) explain("temperatures of walls");
    for (const Dial& dial : dials) {
        if (const auto value = draw(dial, now.units))
            change(show, dial.label, fmt::format("{}={:.4g}", dial.key, *value), message);
    }
}

namespace {

/// Of the speed asked for: what is less than that cannot be kept.
constexpr double kKept = 0.9;

/// No table of ImGui's, which is as wide as what stood there a picture ago and cuts off a value that grows.
/// \param right  where lines end, from the panel's left rim
void table(const std::vector<Reading>& readings, float right) {
    float widest = 0.0f;
    for (const auto& [name, value] : readings) widest = std::max(widest, width_of(name));
    const float left = ImGui::GetCursorPosX();
    const float values = left + widest + spacing();
    ImGui::PushTextWrapPos(right);
    for (const auto& [name, value] : readings) {
        ImGui::TextDisabled("%s", name.c_str());
        if (right - values >= least()) {
            ImGui::SameLine(values);
        } else {
            ImGui::SetCursorPosX(left + ImGui::GetFontSize());
        }
        text(value);
    }
    ImGui::PopTextWrapPos();
}
/// Within the panel.
void table(const std::vector<Reading>& readings) { table(readings, ImGui::GetWindowContentRegionMax().x); }

/// Of large letters in a small window no more than half of it: the rest is for the picture.
float panel_width() { return std::min(23.0f * ImGui::GetFontSize(), 0.5f * ImGui::GetIO().DisplaySize.x); }

}  // namespace

float Panels::left_room() { return panel_width() + ImGui::GetFontSize(); }
float Panels::bottom_room(const Show& show) { return (show.frame_count() > 0 ? 7.4f : 2.4f) * ImGui::GetFontSize(); }

Wishes Panels::draw(Show& show, Painter& painter, ViewState& state) {
    Wishes wishes;
    show.watch(state.selected);
    if (state.help) help(state);
    if (state.leaving) ask(show, state, wishes);
    if (!state.panels) return wishes;
    const ImGuiIO& io = ImGui::GetIO();
    const float unit = ImGui::GetFontSize();
    // A window of another size has them where they are at first; in between one may move them.
    const std::array size{io.DisplaySize.x, io.DisplaySize.y};
    when_ = std::exchange(size_, size) == size ? ImGuiCond_Once : ImGuiCond_Always;
    const float top = std::min(3.6f * unit, 0.1f * io.DisplaySize.y);  // below the title
    ImGui::SetNextWindowPos(ImVec2(0.6f * unit, top), when_);
    ImGui::SetNextWindowSize(ImVec2(panel_width(), io.DisplaySize.y - top - 4.4f * unit), when_);
    ImGui::SetNextWindowBgAlpha(0.86f);
    if (ImGui::Begin("carom", nullptr, ImGuiWindowFlags_NoCollapse)) {
        control(show, state, wishes);
        table(show.readings());
        if (!show.error().empty()) {
            wrapped(ImVec4(1.0f, 0.5f, 0.4f, 1.0f), show.error());
        }
        if (state.selected && ImGui::CollapsingHeader("Ball", ImGuiTreeNodeFlags_DefaultOpen)) ball(show, state);
        if (ImGui::CollapsingHeader("Look", ImGuiTreeNodeFlags_DefaultOpen)) look(show, painter, state, wishes);
        if (show.live() && ImGui::CollapsingHeader("Physics")) physics_.draw(show, state.message);
        if (ImGui::CollapsingHeader("Plots", ImGuiTreeNodeFlags_DefaultOpen)) plots(show);
    }
    ImGui::End();
    if (show.frame_count() > 0) playback_bar(show);

    ImGui::SetNextWindowPos(ImVec2(0.0f, io.DisplaySize.y), ImGuiCond_Always, ImVec2(0.0f, 1.0f));
    ImGui::SetNextWindowSize(ImVec2(io.DisplaySize.x, 0.0f));
    ImGui::SetNextWindowBgAlpha(0.8f);
    constexpr ImGuiWindowFlags kBar =
        ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoInputs | ImGuiWindowFlags_NoFocusOnAppearing;
    if (ImGui::Begin("status", nullptr, kBar)) {
        // While it stands, a picture is drawn when there is something new.
        // In a narrow window the end is cut off: what matters least.
        const std::string rate = show.playing() ? fmt::format("{:.0f} frames/s; ", state.frames_per_second) : "";
        const std::string usual = fmt::format("F1: help   {}{}", rate, show.status());
        ImGui::PushTextWrapPos(state.message.empty() ? -1.0f : 0.0f);
        text(state.message.empty() ? usual : state.message);  // both do not fit beside each other
        ImGui::PopTextWrapPos();
    }
    ImGui::End();
    return wishes;
}

void Panels::control(Show& show, ViewState& state, Wishes& wishes) {
    if (ImGui::Button(show.playing() ? "Pause" : "Play")) show.set_playing(!show.playing());
    if (next_button("Step")) show.step(1);
    if (next_button("Reset")) show.reset();
    if (next_button("Picture")) wishes.screenshot = true;
    if (next_button(state.recording ? "End" : "Record")) wishes.record = true;
    auto speed = static_cast<float>(show.speed());
    // Beside the slider: its grab would cover the words.
    const std::string second = show.scene().units.behind("s");
    const std::string words = fmt::format("{:.3g}{} per second", speed, second);
    leave(width_of(fmt::format("0.0123{} per second", second)));
    if (ImGui::SliderFloat("##speed", &speed, 1e-4f, 1e3f, "", ImGuiSliderFlags_Logarithmic)) {
        show.set_speed(static_cast<double>(speed));
    }
    beside(width_of(words));
    text(words);
    if (!show.live()) return;
    const double reached = show.reached();
    if (reached > 0.0 && reached < kKept * show.speed()) {
        wrapped(ImVec4(1.0f, 0.75f, 0.3f, 1.0f), fmt::format("only {:.3g}{} per second reached", reached, second));
    } else {
        explain(reached > 0.0 ? "which is reached" : show.playing() ? "reached: not known yet" : "paused");
    }
    const Rewind rewind = show.rewind();
    const double end = std::max(rewind.to, show.time());
    auto share = static_cast<float>(end > rewind.from ? (show.time() - rewind.from) / (end - rewind.from) : 1.0);
    const std::string kept =
        fmt::format("{}, {:.3g} MB", plural(rewind.states, "state"), static_cast<double>(rewind.bytes) / 1e6);
    leave(width_of("9999 states, 256 MB"));
    const std::string at = as_format(fmt::format("t = {:.4g}{}", show.time(), second));
    ImGui::BeginDisabled(rewind.states == 0);
    if (ImGui::SliderFloat("##back", &share, 0.0f, 1.0f, at.c_str(), ImGuiSliderFlags_NoInput)) {
        show.rewind_to(rewind.from + static_cast<double>(share) * (end - rewind.from));
    }
    ImGui::EndDisabled();
    beside(width_of(kept));
    explain(kept);
}

void Panels::look(Show& show, Painter& painter, ViewState& state, Wishes& wishes) {
    const auto all = quantities();
    named("colour", [&] {
        if (!ImGui::BeginCombo("##", info_of(painter.quantity()).label)) return;
        for (const QuantityInfo& info : all) {
            if (ImGui::Selectable(info.label, info.quantity == painter.quantity())) {
                painter.set_quantity(info.quantity);
                show.set_quantity(info.quantity);
            }
        }
        ImGui::EndCombo();
    });
    if (!painter.palette().categories) {
        const auto maps = color_maps();
        named("map", [&] {
            if (!ImGui::BeginCombo("##", maps[static_cast<std::size_t>(painter.color_map())].name)) return;
            for (const ColorMapInfo& info : maps) {
                if (ImGui::Selectable(info.name, info.map == painter.color_map())) painter.set_color_map(info.map);
            }
            ImGui::EndCombo();
        });
        bool fixed = painter.range_fixed();
        if (ImGui::Checkbox("fixed range", &fixed)) {
            painter.set_range(fixed ? std::optional(painter.range()) : std::nullopt);
        }
        if (fixed) {
            ValueRange range = painter.range();
            const float width = range.high - range.low;
            const float speed = 0.01f * (width > 0.0f ? width : std::max(1.0f, std::abs(range.high)));
            if (ImGui::DragFloatRange2("##range", &range.low, &range.high, speed) && range.high > range.low) {
                painter.set_range(range);
            }
        }
    }
    // What is wrong with a formula is said, and the picture stays as it was.
    const auto formula = [&](const char* name, const char* hint, std::string now, const auto& set) {
        std::array<char, 512> typed{};
        now.copy(typed.data(), typed.size() - 1);
        named(name, [&] {
            if (!ImGui::InputTextWithHint("##", hint, typed.data(), typed.size(), ImGuiInputTextFlags_EnterReturnsTrue))
                return;
            try {
                set(std::string(typed.data()));
            } catch (const InputError& error) {
                state.message = error.what();
            }
        });
    };
    formula("by formula", "speed / radius", painter.quantity() == Quantity::kFormula ? painter.coloring() : "",
            [&](const std::string& typed) {
                if (!typed.empty()) painter.set_formula(typed);
            });
    formula("show", "all; or: x < 2 and vy > 0", painter.selection(),
            [&](const std::string& typed) { painter.set_selection(typed); });
    if (ImGui::Checkbox("title and legend", &state.labels)) painter.set_labels(state.labels);
    if (next_button("Fit")) wishes.fit = true;
    if (next_button("Copy")) wishes.copy = true;
    ImGui::BeginDisabled(state.recording);
    if (next_button(std::string(state.movie.substr(1)).c_str())) {  // the next kind
        const auto kinds = movie_endings();
        const auto at = std::ranges::find(kinds, state.movie);
        state.movie = kinds[static_cast<std::size_t>(at - kinds.begin() + 1) % kinds.size()];
    }
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("what Record makes: mp4, webm or gif");
    ImGui::EndDisabled();
    bool arrows = painter.arrows();
    if (ImGui::Checkbox("velocities", &arrows)) painter.set_arrows(arrows);
    beside(width_of_check("contacts"));
    bool contacts = painter.contacts();
    if (ImGui::Checkbox("contacts", &contacts)) painter.set_contacts(contacts);
    bool glow = painter.glow();
    if (ImGui::Checkbox("glow", &glow)) painter.set_glow(glow);
    const Box& box = show.scene().box;
    if (box.periodic(0) || box.periodic(1) || box.periodic(2)) {
        int copies = painter.copies();
        beside(least() + width_of("copies"));
        ImGui::SetNextItemWidth(least());
        if (ImGui::SliderInt("copies", &copies, 0, static_cast<int>(kMostCopies))) painter.set_copies(copies);
    }
    if (show.scene().dimension() == 3) {
        bool perspective = painter.camera().perspective();
        if (ImGui::Checkbox("perspective", &perspective)) painter.camera().set_perspective(perspective);
        float cut = static_cast<float>(state.clip.value_or(0.0));
        const std::size_t kept = painter.kept_clips();
        ImGui::BeginDisabled(kept >= kMostClips);
        named("cut off", [&] {
            if (!ImGui::SliderFloat("##", &cut, 0.0f, 1.0f)) return;
            state.clip = cut > 0.0f ? std::optional(static_cast<double>(cut)) : std::nullopt;
        });
        ImGui::EndDisabled();
        ImGui::BeginDisabled(!state.clip);
        if (ImGui::Button("Keep this cut")) wishes.keep_clip = true;
        ImGui::EndDisabled();
        ImGui::BeginDisabled(kept == 0);
        if (next_button("Drop")) wishes.drop_clips = true;
        ImGui::EndDisabled();
        const std::string cuts = plural(kept, "cut") + " kept";
        beside(width_of(cuts));
        explain(cuts);
    }
}

void Panels::plots(Show& show) {
    if (show.frame() == nullptr) return;
    const std::vector<std::string> names = show.chart_names();
    if (names.empty()) ImGui::TextDisabled("no rows in the file");
    const float unit = ImGui::GetFontSize();
    std::optional<std::size_t> taken;
    for (std::size_t k = 0; k < charts_.size() && !names.empty(); ++k) {
        ChosenChart& chart = charts_[k];
        ImGui::PushID(static_cast<int>(k));
        leave(9.0f * unit);
        if (ImGui::BeginCombo("##of", chart.name.c_str())) {
            for (const std::string& name : names) {
                if (ImGui::Selectable(name.c_str(), name == chart.name)) chart = {.name = name, .drift = chart.drift};
            }
            ImGui::EndCombo();
        }
        beside(width_of_check("drift"));
        if (ImGui::Checkbox("drift", &chart.drift)) chart.edition.reset();
        constexpr std::size_t kMost = 8;
        if (next_button("+") && charts_.size() < kMost)
            charts_.insert(charts_.begin() + static_cast<std::ptrdiff_t>(k), chart);
        if (charts_.size() > 1 && next_button("-")) taken = k;
        ImGui::PopID();
        ChosenChart& shown = charts_[k];
        if (shown.edition != show.chart_edition()) {
            shown.edition = show.chart_edition();
            shown.refusal.clear();
            try {
                shown.figure = show.chart(shown.name, shown.drift);
            } catch (const std::exception& error) {
                shown.refusal = error.what();
            }
        }
        if (shown.refusal.empty()) {
            const bool over_time = shown.figure.x_unit == "s" && shown.figure.x_label == "time";
            draw_chart(shown.figure, !show.live() && over_time ? std::optional(show.time()) : std::nullopt);
        } else {
            explain(shown.refusal);
        }
    }
    if (taken) charts_.erase(charts_.begin() + static_cast<std::ptrdiff_t>(*taken));
    const Frame& frame = *show.frame();
    // Counting a million balls at each picture would take longer than drawing them.
    constexpr std::size_t kMost = 300000;
    if (frame.size() > kMost) {
        ImGui::TextDisabled("distributions: for up to 300,000 balls");
        return;
    }
    // Nor need each picture have its own count.
    constexpr double kSeconds = 0.2;
    const bool due = ImGui::GetTime() > counted_at_ + kSeconds || !show.playing();
    // A kick or a flight between collisions is no step.
    const std::pair of{frame.time, show.chart_edition()};
    if (of != counted_ && due) {
        speeds_ = speed_distribution(show.balls(), frame);
        heights_ = height_distribution(scene_at(show.scene(), frame.time), show.balls(), frame);
        counted_at_ = ImGui::GetTime();
        counted_ = of;
    }
    draw_chart(figure_of(speeds_, show.scene()));
    draw_chart(figure_of(heights_, show.scene()));
}

void Panels::ball(Show& show, ViewState& state) {
    const std::size_t id = *state.selected;
    const Frame& frame = *show.frame();
    if (id >= frame.size()) return;
    const Species& species = show.balls().species_of(id);
    const UnitNames& units = show.scene().units;
    const auto vector = [&](const auto& components, const char* unit) {
        std::string words;
        for (const auto& component : components) {
            if (!component.empty()) words += fmt::format("{}{:.4g}", words.empty() ? "" : ", ", component[id]);
        }
        return words.empty() ? words : words + units.behind(unit);
    };
    std::string partners;
    for (const std::size_t other : partners_of(show.scene(), show.balls(), frame, id)) {
        partners += fmt::format("{}{}", partners.empty() ? "" : ", ", other);
    }
    table({{"id", std::to_string(id)},
           {"species", species.name},
           {"position", vector(frame.position, "m")},
           {"velocity", vector(frame.velocity, "m/s")},
           {"spin", vector(frame.spin, "1/s")},
           {"touches", partners.empty() ? "no ball" : partners},
           {"radius, mass",
            fmt::format("{:.5g}{}, {:.5g}{}", species.radius, units.behind("m"), species.mass, units.behind("kg"))}});
    ImGui::Checkbox("follow", &state.follow);
    if (next_button("Let go")) state.selected.reset();
    if (show.watched().id() != id) return;
    const auto cursor = show.live() ? std::nullopt : std::optional(show.time());
    draw_chart(show.watched().speed(show.scene()), cursor);
    draw_chart(show.watched().energy(show.scene()), cursor);
}

void Panels::playback_bar(Show& show) {
    const ImGuiIO& io = ImGui::GetIO();
    const float unit = ImGui::GetFontSize();
    const float left = left_room() + 2.0f * unit;
    const float width = io.DisplaySize.x - left - 2.0f * unit;
    ImGui::SetNextWindowPos(ImVec2(left, io.DisplaySize.y - 3.0f * unit), when_, ImVec2(0.0f, 1.0f));
    ImGui::SetNextWindowSize(ImVec2(width, 0.0f), when_);
    // Where the slider needs a line of its own, that of the title is given to it.
    const bool narrow = width < 14.0f * unit;
    if (ImGui::Begin("Frames", nullptr, ImGuiWindowFlags_NoCollapse | (narrow ? ImGuiWindowFlags_NoTitleBar : 0))) {
        int index = static_cast<int>(show.frame_index());
        leave(width_of_check("loop"));
        const int last = static_cast<int>(show.frame_count()) - 1;
        std::string words = as_format(fmt::format("t = {:.5g}{}", show.frame()->time, show.scene().units.behind("s")));
        const std::string which = fmt::format("  ({} of {})", index, last);
        if (width_of(words + which) < ImGui::CalcItemWidth()) words += which;
        if (ImGui::SliderInt("##frame", &index, 0, last, words.c_str(), ImGuiSliderFlags_NoInput)) {
            show.set_playing(false);
            show.go_to(static_cast<std::size_t>(std::max(0, index)));
        }
        beside(width_of_check("loop"));
        bool loop = show.looping();
        if (ImGui::Checkbox("loop", &loop)) show.set_looping(loop);
    }
    ImGui::End();
}

namespace {

/// The next window is in the middle, where it is not overlooked.
void in_the_middle() {
    const ImGuiIO& io = ImGui::GetIO();
    ImGui::SetNextWindowPos(ImVec2(0.5f * io.DisplaySize.x, 0.5f * io.DisplaySize.y), ImGuiCond_Always,
                            ImVec2(0.5f, 0.5f));
}

}  // namespace

void Panels::ask(const Show& show, ViewState& state, Wishes& wishes) {
    in_the_middle();
    constexpr ImGuiWindowFlags kQuestion = ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoCollapse;
    if (ImGui::Begin("Leave?", nullptr, kQuestion)) {
        const std::string file = show.stored_in();
        ImGui::PushTextWrapPos(ImGui::GetIO().DisplaySize.x - 2.0f * ImGui::GetFontSize());
        text(file.empty() ? "The run ends, and is not stored."
                          : fmt::format("The run ends; it is stored in {}.", file));
        ImGui::PopTextWrapPos();
        if (ImGui::Button("Leave (escape)")) wishes.leave = true;
        ImGui::SameLine();
        if (ImGui::Button("Stay")) state.leaving = false;
    }
    ImGui::End();
}

void Panels::help(ViewState& state) {
    in_the_middle();
    if (ImGui::Begin("Keys and mouse", &state.help, ImGuiWindowFlags_AlwaysAutoResize)) {
        const std::vector<Reading> all{
            {"space", "play, pause"},
            {"right, left", "one step on, back to an earlier state; in a stored run one frame on or back"},
            {"home, end", "back to the start; the last frame"},
            {"+, -", "faster, slower"},
            {"O", "loop (stored run)"},
            {"C", "next colouring"},
            {"L", "title, legend and scale"},
            {"F", "fit the box"},
            {"P", "perspective (3D)"},
            {"V", "velocities as arrows"},
            {"S", "picture into a file"},
            {"K", "copy as a command; its look into a file"},
            {"R", "record a movie, end it"},
            {"tab", "panels"},
            {"F1, ?", "this help"},
            {"X", "keep the cut where it is, for another (3D)"},
            {"Z", "undo the last kick"},
            {"escape", "close this help, let go of a ball, close"},
            {"left button", "2D: move, 3D: turn; click: pick a ball"},
            {"ctrl + drag a ball", "kick it that way; with shift: added to what it has"},
            {"right button", "move"},
            {"wheel", "zoom about the pointer"}};
        ImGui::SetNextItemWidth(20.0f * ImGui::GetFontSize());
        if (std::exchange(state.search, false)) ImGui::SetKeyboardFocusHere();
        ImGui::InputTextWithHint("##search", "/: search", sought_.data(), sought_.size());
        const auto small = [](std::string text) {
            std::ranges::transform(text, text.begin(),
                                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
            return text;
        };
        std::vector<Reading> found;
        for (const Reading& line : all) {
            if (small(line.first + " " + line.second).find(small(sought_.data())) != std::string::npos)
                found.push_back(line);
        }
        table(found, ImGui::GetIO().DisplaySize.x - 2.0f * ImGui::GetFontSize());
        if (found.empty()) ImGui::TextDisabled("nothing is called so");
    }
    ImGui::End();
}

}  // namespace carom
