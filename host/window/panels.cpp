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

/// Rows of names, sliders, numbers and units. All such tables have the same columns: the sliders take what is left.
bool begin_dials() {
    if (!ImGui::BeginTable("dials", 4, ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_NoSavedSettings)) return false;
    const auto column = [](const char* name, float width) {
        ImGui::TableSetupColumn(name, ImGuiTableColumnFlags_WidthFixed, width);
    };
    column("name", ImGui::CalcTextSize("restitution").x);
    ImGui::TableSetupColumn("slider", ImGuiTableColumnFlags_WidthStretch);
    column("number", ImGui::CalcTextSize("-1.234e-05").x);
    column("unit", ImGui::CalcTextSize("m/s2").x);
    return true;
}

/// Below the row that cannot be used.
void explain(const std::string& why_not) {
    if (why_not.empty()) return;
    ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
    ImGui::TextWrapped("%s", why_not.c_str());
    ImGui::PopStyleColor();
}

}  // namespace

/// \returns  the number that the user has settled on, at that moment
std::optional<double> PhysicsPanel::draw(const Dial& dial) {
    Held& held = held_[dial.key];
    if (held.first == 0.0) held.first = dial.now;
    std::optional<double> settled;
    ImGui::PushID(dial.key.c_str());
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(dial.label.c_str());
    ImGui::BeginDisabled(!dial.why_not.empty());

    // A logarithmic slider of Dear ImGui takes what is below a thousandth for 0, so these move a factor.
    const bool factor = dial.reach > 0.0;
    const double unit = factor ? held.first : 1.0;
    auto place = held.slider.value_or(static_cast<float>(held.typed.value_or(dial.now) / unit));
    ImGui::TableNextColumn();
    ImGui::SetNextItemWidth(-1.0f);
    ImGui::SliderFloat("##slider", &place, static_cast<float>(factor ? 1.0 / dial.reach : dial.low),
                       static_cast<float>(factor ? dial.reach : dial.high), "",
                       ImGuiSliderFlags_NoInput | (factor ? ImGuiSliderFlags_Logarithmic : 0));
    held.slider = ImGui::IsItemActive() ? std::optional(place) : std::nullopt;
    if (ImGui::IsItemDeactivatedAfterEdit()) settled = static_cast<double>(place) * unit;

    double number = held.slider || settled ? static_cast<double>(place) * unit : held.typed.value_or(dial.now);
    ImGui::TableNextColumn();
    ImGui::SetNextItemWidth(-1.0f);
    ImGui::InputDouble("##number", &number, 0.0, 0.0, "%.4g", ImGuiInputTextFlags_CharsScientific);
    // Whoever leaves it as it was, or takes back what he typed, has not settled on what it was rounded to.
    const auto shown = [](double value) { return fmt::format("{:.4g}", value); };
    if (ImGui::IsItemDeactivatedAfterEdit() && shown(number) != shown(dial.now)) settled = number;
    held.typed = ImGui::IsItemActive() ? std::optional(number) : std::nullopt;

    ImGui::EndDisabled();
    ImGui::TableNextColumn();
    ImGui::AlignTextToFramePadding();
    ImGui::TextDisabled("%s", dial.unit.c_str());
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
              .unit = "m/s2",
              .now = now.physics.gravity[axis],
              .low = -20.0,
              .high = 20.0};
    if (now.box.periodic(axis)) fall.why_not = "no gravity in a periodic box: balls would fall for ever";
    Dial bounce{
        .key = "physics.restitution", .label = "restitution", .now = now.physics.restitution, .low = 0.05, .high = 1.0};
    if (show.spring() && now.spring.damping) bounce.why_not = "restitution has no effect: spring.damping is a number";
    if (begin_dials()) {
        if (const auto gravity = draw(fall)) {
            std::string vector;
            for (int k = 0; k < now.dimension(); ++k) {
                if (k > 0) vector += ", ";
                vector += k == axis ? fmt::format("{:.6g}", *gravity) : fmt::format("{}", now.physics.gravity[k]);
            }
            change(show, fall.label, "physics.gravity=[" + vector + "]", message);
        }
        if (const auto restitution = draw(bounce)) {
            change(show, bounce.label, fmt::format("physics.restitution={:.4g}", *restitution), message);
        }
        ImGui::EndTable();
    }
    explain(fall.why_not);
    explain(bounce.why_not);
}

void PhysicsPanel::springs(Show& show, std::string& message) {
    const auto spring = show.spring();
    if (!spring) return;
    const SoftContact law{contact_law_called(show.scene().spring.law, show.scene().spring.own), 0.0};
    if (begin_dials()) {
        for (const Dial& dial : {Dial{.key = "spring.stiffness",
                                .label = "stiffness",
                                .unit = std::string(law.stiffness_unit()),
                                .now = spring->stiffness,
                                .reach = kReachOfSprings},
                                 Dial{.key = "spring.dt",
                                 .label = "time step",
                                 .unit = "s",
                                 .now = spring->dt,
                                 .reach = kReachOfSprings}}) {
            if (const auto value = draw(dial))
                change(show, dial.label, fmt::format("{}={:.4g}", dial.key, *value), message);
        }
        ImGui::EndTable();
    }
    if (spring->longest_dt > 0.0) {
        ImGui::TextDisabled("at most %.3g s, for the contacts", spring->longest_dt);
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
    if (dials.empty()) return;
    ImGui::TextDisabled("temperatures of walls");
    if (!begin_dials()) return;
    for (const Dial& dial : dials) {
        if (const auto value = draw(dial))
            change(show, dial.label, fmt::format("{}={:.4g}", dial.key, *value), message);
    }
    ImGui::EndTable();
}

namespace {

/// Of the speed asked for: what is less than that cannot be kept.
constexpr double kKept = 0.9;

void text(const std::string& words) { ImGui::TextUnformatted(words.c_str()); }

/// No table of ImGui's, which is as wide as what stood there a picture ago and cuts off a value that grows.
void table(const std::vector<Reading>& readings) {
    float widest = 0.0f;
    for (const auto& [name, value] : readings) widest = std::max(widest, ImGui::CalcTextSize(name.c_str()).x);
    const float values = ImGui::GetCursorPosX() + widest + ImGui::GetStyle().ItemSpacing.x;
    for (const auto& [name, value] : readings) {
        ImGui::TextDisabled("%s", name.c_str());
        ImGui::SameLine(values);
        text(value);
    }
}

}  // namespace

namespace {

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
    ImGui::SetNextWindowPos(ImVec2(0.6f * unit, 3.6f * unit), when_);
    ImGui::SetNextWindowSize(ImVec2(panel_width(), io.DisplaySize.y - 8.0f * unit), when_);
    ImGui::SetNextWindowBgAlpha(0.86f);
    if (ImGui::Begin("carom", nullptr, ImGuiWindowFlags_NoCollapse)) {
        control(show, state, wishes);
        table(show.readings());
        if (!show.error().empty()) {
            ImGui::PushStyleColor(ImGuiCol_Text, ImVec4(1.0f, 0.5f, 0.4f, 1.0f));
            ImGui::TextWrapped("%s", show.error().c_str());
            ImGui::PopStyleColor();
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
    ImGui::SameLine();
    if (ImGui::Button("Step")) show.step(1);
    ImGui::SameLine();
    if (ImGui::Button("Reset")) show.reset();
    ImGui::SameLine();
    if (ImGui::Button("Picture")) wishes.screenshot = true;
    ImGui::SameLine();
    if (ImGui::Button(state.recording ? "End" : "Record")) wishes.record = true;
    auto speed = static_cast<float>(show.speed());
    // Beside the slider: its grab would cover the words.
    const std::string words = fmt::format("{:.3g} s per second", speed);
    ImGui::SetNextItemWidth(-ImGui::CalcTextSize("0.0123 s per second").x - ImGui::GetStyle().ItemSpacing.x);
    if (ImGui::SliderFloat("##speed", &speed, 1e-4f, 1e3f, "", ImGuiSliderFlags_Logarithmic)) {
        show.set_speed(static_cast<double>(speed));
    }
    ImGui::SameLine();
    text(words);
    if (!show.live()) return;
    const double reached = show.reached();
    if (reached > 0.0 && reached < kKept * show.speed()) {
        ImGui::TextColored(ImVec4(1.0f, 0.75f, 0.3f, 1.0f), "only %.3g s per second reached", reached);
    } else {
        ImGui::TextDisabled("%s", reached > 0.0    ? "which is reached"
                                  : show.playing() ? "reached: not known yet"
                                                   : "paused");
    }
    const Rewind rewind = show.rewind();
    const double end = std::max(rewind.to, show.time());
    auto share = static_cast<float>(end > rewind.from ? (show.time() - rewind.from) / (end - rewind.from) : 1.0);
    const std::string kept =
        fmt::format("{}, {:.3g} MB", plural(rewind.states, "state"), static_cast<double>(rewind.bytes) / 1e6);
    ImGui::SetNextItemWidth(-ImGui::CalcTextSize("9999 states, 256 MB").x - ImGui::GetStyle().ItemSpacing.x);
    const std::string at = fmt::format("t = {:.4g}", show.time());
    ImGui::BeginDisabled(rewind.states == 0);
    if (ImGui::SliderFloat("##back", &share, 0.0f, 1.0f, at.c_str(), ImGuiSliderFlags_NoInput)) {
        show.rewind_to(rewind.from + static_cast<double>(share) * (end - rewind.from));
    }
    ImGui::EndDisabled();
    ImGui::SameLine();
    ImGui::TextDisabled("%s", kept.c_str());
}

void Panels::look(Show& show, Painter& painter, ViewState& state, Wishes& wishes) {
    const auto all = quantities();
    if (ImGui::BeginCombo("colour", info_of(painter.quantity()).label)) {
        for (const QuantityInfo& info : all) {
            if (ImGui::Selectable(info.label, info.quantity == painter.quantity())) {
                painter.set_quantity(info.quantity);
                show.set_quantity(info.quantity);
                fixed_range_ = false;
            }
        }
        ImGui::EndCombo();
    }
    if (!painter.palette().categories) {
        const auto maps = color_maps();
        if (ImGui::BeginCombo("map", maps[static_cast<std::size_t>(painter.color_map())].name)) {
            for (const ColorMapInfo& info : maps) {
                if (ImGui::Selectable(info.name, info.map == painter.color_map())) painter.set_color_map(info.map);
            }
            ImGui::EndCombo();
        }
        if (ImGui::Checkbox("fixed range", &fixed_range_)) {
            painter.set_range(fixed_range_ ? std::optional(painter.range()) : std::nullopt);
        }
        if (fixed_range_) {
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
        if (!ImGui::InputTextWithHint(name, hint, typed.data(), typed.size(), ImGuiInputTextFlags_EnterReturnsTrue)) {
            return;
        }
        try {
            set(std::string(typed.data()));
        } catch (const InputError& error) {
            state.message = error.what();
        }
    };
    formula("by formula", "speed / radius", painter.quantity() == Quantity::kFormula ? painter.coloring() : "",
            [&](const std::string& typed) {
                if (!typed.empty()) painter.set_formula(typed);
            });
    formula("show", "all; or: x < 2 and vy > 0", painter.selection(),
            [&](const std::string& typed) { painter.set_selection(typed); });
    if (ImGui::Checkbox("title and legend", &state.labels)) painter.set_labels(state.labels);
    ImGui::SameLine();
    if (ImGui::Button("Fit")) wishes.fit = true;
    ImGui::SameLine();
    if (ImGui::Button("Copy")) wishes.copy = true;
    ImGui::SameLine();
    ImGui::BeginDisabled(state.recording);
    if (ImGui::Button((std::string(state.movie.substr(1)) + "###movie").c_str())) {  // the next kind
        const auto kinds = movie_endings();
        const auto at = std::ranges::find(kinds, state.movie);
        state.movie = kinds[static_cast<std::size_t>(at - kinds.begin() + 1) % kinds.size()];
    }
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("what Record makes: mp4, webm or gif");
    ImGui::EndDisabled();
    bool arrows = painter.arrows();
    if (ImGui::Checkbox("velocities", &arrows)) painter.set_arrows(arrows);
    ImGui::SameLine();
    bool contacts = painter.contacts();
    if (ImGui::Checkbox("contacts", &contacts)) painter.set_contacts(contacts);
    bool glow = painter.glow();
    if (ImGui::Checkbox("glow", &glow)) painter.set_glow(glow);
    const Box& box = show.scene().box;
    if (box.periodic(0) || box.periodic(1) || box.periodic(2)) {
        int copies = painter.copies();
        ImGui::SameLine();
        ImGui::SetNextItemWidth(6.0f * ImGui::GetFontSize());
        if (ImGui::SliderInt("copies", &copies, 0, static_cast<int>(kMostCopies))) painter.set_copies(copies);
    }
    if (show.scene().dimension() == 3) {
        bool perspective = painter.camera().perspective();
        if (ImGui::Checkbox("perspective", &perspective)) painter.camera().set_perspective(perspective);
        float cut = static_cast<float>(state.clip.value_or(0.0));
        const std::size_t kept = painter.kept_clips();
        ImGui::BeginDisabled(kept >= kMostClips);
        if (ImGui::SliderFloat("cut off", &cut, 0.0f, 1.0f)) {
            state.clip = cut > 0.0f ? std::optional(static_cast<double>(cut)) : std::nullopt;
        }
        ImGui::EndDisabled();
        ImGui::BeginDisabled(!state.clip);
        if (ImGui::Button("Keep this cut")) wishes.keep_clip = true;
        ImGui::EndDisabled();
        ImGui::SameLine();
        ImGui::BeginDisabled(kept == 0);
        if (ImGui::Button("Drop")) wishes.drop_clips = true;
        ImGui::EndDisabled();
        ImGui::SameLine();
        ImGui::TextDisabled("%s kept", plural(kept, "cut").c_str());
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
        ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - 9.5f * unit);
        if (ImGui::BeginCombo("##of", chart.name.c_str())) {
            for (const std::string& name : names) {
                if (ImGui::Selectable(name.c_str(), name == chart.name)) chart = {.name = name, .drift = chart.drift};
            }
            ImGui::EndCombo();
        }
        ImGui::SameLine();
        if (ImGui::Checkbox("drift", &chart.drift)) chart.edition.reset();
        ImGui::SameLine();
        constexpr std::size_t kMost = 8;
        if (ImGui::Button("+") && charts_.size() < kMost)
            charts_.insert(charts_.begin() + static_cast<std::ptrdiff_t>(k), chart);
        if (charts_.size() > 1) {
            ImGui::SameLine();
            if (ImGui::Button("-")) taken = k;
        }
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
    if (frame.step != counted_step_ && due) {
        speeds_ = speed_distribution(show.balls(), frame);
        heights_ = height_distribution(scene_at(show.scene(), frame.time), show.balls(), frame);
        counted_at_ = ImGui::GetTime();
        counted_step_ = frame.step;
    }
    draw_chart(figure_of(speeds_, show.scene()));
    draw_chart(figure_of(heights_, show.scene()));
}

void Panels::ball(Show& show, ViewState& state) {
    const std::size_t id = *state.selected;
    const Frame& frame = *show.frame();
    if (id >= frame.size()) return;
    const Species& species = show.balls().species_of(id);
    const auto vector = [&](const auto& components) {
        std::string words;
        for (const auto& component : components) {
            if (!component.empty()) words += fmt::format("{}{:.4g}", words.empty() ? "" : ", ", component[id]);
        }
        return words;
    };
    std::string partners;
    for (const std::size_t other : partners_of(show.scene(), show.balls(), frame, id)) {
        partners += fmt::format("{}{}", partners.empty() ? "" : ", ", other);
    }
    table({{"id", std::to_string(id)},
           {"species", species.name},
           {"position", vector(frame.position)},
           {"velocity", vector(frame.velocity)},
           {"spin", vector(frame.spin)},
           {"touches", partners.empty() ? "no ball" : partners},
           {"radius, mass", fmt::format("{:.5g}, {:.5g}", species.radius, species.mass)}});
    ImGui::Checkbox("follow", &state.follow);
    ImGui::SameLine();
    if (ImGui::Button("Let go")) state.selected.reset();
    if (show.watched().id() != id) return;
    const auto cursor = show.live() ? std::nullopt : std::optional(show.time());
    draw_chart(show.watched().speed(show.scene()), cursor);
    draw_chart(show.watched().energy(show.scene()), cursor);
}

void Panels::playback_bar(Show& show) {
    const ImGuiIO& io = ImGui::GetIO();
    const float unit = ImGui::GetFontSize();
    const float left = left_room() + 2.0f * unit;
    ImGui::SetNextWindowPos(ImVec2(left, io.DisplaySize.y - 3.0f * unit), when_, ImVec2(0.0f, 1.0f));
    ImGui::SetNextWindowSize(ImVec2(io.DisplaySize.x - left - 2.0f * unit, 0.0f), when_);
    if (ImGui::Begin("Frames", nullptr, ImGuiWindowFlags_NoCollapse)) {
        int index = static_cast<int>(show.frame_index());
        ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - 6.0f * unit);
        const int last = static_cast<int>(show.frame_count()) - 1;
        const std::string words = fmt::format("t = {:.5g} s  ({} of {})", show.frame()->time, index, last);
        if (ImGui::SliderInt("##frame", &index, 0, last, words.c_str(), ImGuiSliderFlags_NoInput)) {
            show.set_playing(false);
            show.go_to(static_cast<std::size_t>(std::max(0, index)));
        }
        ImGui::SameLine();
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
        text(file.empty() ? "The run ends, and is not stored."
                          : fmt::format("The run ends; it is stored in {}.", file));
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
        table(found);
        if (found.empty()) ImGui::TextDisabled("nothing is called so");
    }
    ImGui::End();
}

}  // namespace carom
