#include "host/window/physics_panel.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <array>
#include <cmath>
#include <vector>

#include "host/scene/stages.hpp"
#include "host/state/errors.hpp"

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
    if (begin_dials()) {
        for (const Dial& dial : {Dial{.key = "spring.stiffness",
                                .label = "stiffness",
                                .unit = "N/m",
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

}  // namespace carom
