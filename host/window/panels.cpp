#include "host/window/panels.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "host/scene/stages.hpp"
#include "host/viewer/overlaps.hpp"
#include "host/window/charts.hpp"
#include "host/window/statistics.hpp"

namespace carom {

namespace {

void text(const std::string& words) { ImGui::TextUnformatted(words.c_str()); }

void table(const std::vector<Reading>& readings) {
    // Tables of one name have the widths of the last in common, which cuts off what is longer.
    if (readings.empty() || !ImGui::BeginTable(readings[0].first.c_str(), 2, ImGuiTableFlags_SizingFixedFit)) return;
    for (const auto& [name, value] : readings) {
        ImGui::TableNextColumn();
        ImGui::TextDisabled("%s", name.c_str());
        ImGui::TableNextColumn();
        text(value);
    }
    ImGui::EndTable();
}

}  // namespace

void EnergyHistory::add(double time, double kinetic, double total) {
    constexpr std::size_t kMost = 1200;
    if (!samples_.empty() && time < samples_.back().time) samples_.clear();
    if (!samples_.empty() && time == samples_.back().time) return;
    samples_.push_back({time, kinetic, total});
    if (samples_.size() > kMost) samples_.pop_front();
}

float Panels::left_room() { return 24.0f * ImGui::GetFontSize(); }
float Panels::bottom_room(const Show& show) { return (show.frame_count() > 0 ? 7.4f : 2.4f) * ImGui::GetFontSize(); }

Wishes Panels::draw(Show& show, Painter& painter, ViewState& state) {
    Wishes wishes;
    if (const auto energies = show.energies()) {
        history_.add(show.time(), energies->first, energies->second);
    }
    if (state.help) help(state);
    if (!state.panels) return wishes;
    const ImGuiIO& io = ImGui::GetIO();
    const float unit = ImGui::GetFontSize();
    ImGui::SetNextWindowPos(ImVec2(0.6f * unit, 3.6f * unit), ImGuiCond_FirstUseEver);
    ImGui::SetNextWindowSize(ImVec2(23.0f * unit, io.DisplaySize.y - 8.0f * unit), ImGuiCond_FirstUseEver);
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
        const std::string rate = show.playing() ? fmt::format("; {:.0f} frames/s", state.frames_per_second) : "";
        const std::string usual = fmt::format("{}{}   F1: help", show.status(), rate);
        text(state.message.empty() ? usual : state.message);  // both do not fit beside each other
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
}

void Panels::look(Show& show, Painter& painter, ViewState& state, Wishes& wishes) {
    const auto all = quantities();
    if (ImGui::BeginCombo("colour", all[static_cast<std::size_t>(painter.quantity())].label)) {
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
            const float speed = 0.01f * (range.high - range.low);
            if (ImGui::DragFloatRange2("##range", &range.low, &range.high, speed) && range.high > range.low) {
                painter.set_range(range);
            }
        }
    }
    if (ImGui::Checkbox("title and legend", &state.labels)) painter.set_labels(state.labels);
    ImGui::SameLine();
    if (ImGui::Button("Fit")) wishes.fit = true;
    bool arrows = painter.arrows();
    if (ImGui::Checkbox("velocities", &arrows)) painter.set_arrows(arrows);
    if (show.scene().dimension() == 3) {
        bool perspective = painter.camera().perspective();
        if (ImGui::Checkbox("perspective", &perspective)) painter.camera().set_perspective(perspective);
        float cut = static_cast<float>(state.clip.value_or(0.0));
        if (ImGui::SliderFloat("cut off", &cut, 0.0f, 1.0f)) {
            state.clip = cut > 0.0f ? std::optional(static_cast<double>(cut)) : std::nullopt;
        }
    }
}

void Panels::plots(Show& show) {
    if (show.frame() == nullptr) return;
    draw_energies(history_);
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
    draw_distribution(speeds_);
    draw_distribution(heights_);
}

void Panels::ball(const Show& show, ViewState& state) {
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
}

void Panels::playback_bar(Show& show) {
    const ImGuiIO& io = ImGui::GetIO();
    const float unit = ImGui::GetFontSize();
    const float left = left_room() + 2.0f * unit;
    ImGui::SetNextWindowPos(ImVec2(left, io.DisplaySize.y - 3.0f * unit), ImGuiCond_FirstUseEver, ImVec2(0.0f, 1.0f));
    ImGui::SetNextWindowSize(ImVec2(io.DisplaySize.x - left - 2.0f * unit, 0.0f), ImGuiCond_FirstUseEver);
    if (ImGui::Begin("Frames", nullptr, ImGuiWindowFlags_NoCollapse)) {
        int index = static_cast<int>(show.frame_index());
        ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - 6.0f * unit);
        if (ImGui::SliderInt("##frame", &index, 0, static_cast<int>(show.frame_count()) - 1)) {
            show.set_playing(false);
            show.go_to(static_cast<std::size_t>(std::max(0, index)));
        }
        ImGui::SameLine();
        bool loop = show.looping();
        if (ImGui::Checkbox("loop", &loop)) show.set_looping(loop);
    }
    ImGui::End();
}

void Panels::help(ViewState& state) {
    const ImGuiIO& io = ImGui::GetIO();
    ImGui::SetNextWindowPos(ImVec2(0.5f * io.DisplaySize.x, 0.5f * io.DisplaySize.y), ImGuiCond_Always,
                            ImVec2(0.5f, 0.5f));
    if (ImGui::Begin("Keys and mouse", &state.help, ImGuiWindowFlags_AlwaysAutoResize)) {
        table({{"space", "play, pause"},
               {"right, left", "one step; in a stored run one frame on or back"},
               {"home, end", "back to the start; the last frame"},
               {"+, -", "faster, slower"},
               {"O", "loop (stored run)"},
               {"C", "next colouring"},
               {"L", "title, legend and scale"},
               {"F", "fit the box"},
               {"P", "perspective (3D)"},
               {"V", "velocities as arrows"},
               {"S", "picture into a file"},
               {"R", "record a movie, end it"},
               {"tab", "panels"},
               {"F1, ?", "this help"},
               {"escape", "close"},
               {"left button", "2D: move, 3D: turn; click: pick a ball"},
               {"drag a ball", "kick it that way (3D: with ctrl)"},
               {"right button", "move"},
               {"wheel", "zoom about the pointer"}});
    }
    ImGui::End();
}

}  // namespace carom
