#include "host/window/panels.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "host/scene/stages.hpp"
#include "host/state/errors.hpp"
#include "host/viewer/quantity.hpp"
#include "kernels/physics/contact_laws.hpp"
#include "kernels/physics/kinetic_theory.hpp"

namespace carom {

namespace {

constexpr std::size_t kBins = 40;

/// How many balls there are of each finite mass.
std::map<double, std::size_t> masses_of(const Balls& balls, const Frame& frame) {
    std::map<double, std::size_t> masses;
    for (std::size_t id = 0; id < frame.size(); ++id) {
        const double mass = balls.species_of(id).mass;
        if (frame.gone[id] == 0 && std::isfinite(mass)) ++masses[mass];
    }
    return masses;
}

/// Twice the mean kinetic energy per degree of freedom.
double temperature_of(const Balls& balls, const Frame& frame) {
    std::vector<float> energies;
    evaluate(Quantity::kKineticEnergy, {}, balls, frame, energies);
    double sum = 0.0;
    std::size_t count = 0;
    for (const float energy : energies) {
        if (!std::isfinite(energy)) continue;
        sum += static_cast<double>(energy);
        ++count;
    }
    return count > 0 ? 2.0 * sum / (static_cast<double>(count) * frame.dimension) : 0.0;
}

void count(Distribution& distribution, const std::vector<float>& values, const Balls& balls) {
    distribution.counted.assign(kBins, 0.0);
    const double width = distribution.most / kBins;
    std::size_t all = 0;
    for (std::size_t id = 0; id < values.size(); ++id) {
        const auto value = static_cast<double>(values[id]);
        if (!std::isfinite(value) || !std::isfinite(balls.species_of(id).mass)) continue;
        ++all;
        const double bin = std::floor(value / width);
        if (bin >= 0.0 && bin < kBins) distribution.counted[static_cast<std::size_t>(bin)] += 1.0;
    }
    if (all == 0) return;
    for (double& bin : distribution.counted) bin /= static_cast<double>(all) * width;
}

/// The mean over the balls' masses of density(x, mass) at the middles of the bins.
template <class Density>
void add_theory(Distribution& distribution, const std::map<double, std::size_t>& masses, const Density& density) {
    std::size_t all = 0;
    for (const auto& [mass, number] : masses) all += number;
    distribution.theory.assign(kBins, 0.0);
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        const double x = (static_cast<double>(bin) + 0.5) * distribution.most / kBins;
        for (const auto& [mass, number] : masses) {
            distribution.theory[bin] += static_cast<double>(number) / static_cast<double>(all) * density(x, mass);
        }
    }
}

}  // namespace

Distribution speed_distribution(const Balls& balls, const Frame& frame) {
    Distribution distribution{.label = "speed [m/s]"};
    std::vector<float> speeds;
    evaluate(Quantity::kSpeed, {}, balls, frame, speeds);
    distribution.most = 1.3 * static_cast<double>(range_of(Quantity::kSpeed, speeds).high);
    count(distribution, speeds, balls);
    const double temperature = temperature_of(balls, frame);
    const auto masses = masses_of(balls, frame);
    if (temperature > 0.0 && !masses.empty()) {
        add_theory(distribution, masses, [&](double speed, double mass) {
            const double thermal = std::sqrt(temperature / mass);
            return maxwell_speed_density(frame.dimension, speed / thermal) / thermal;
        });
    }
    return distribution;
}

Distribution height_distribution(const Scene& scene, const Balls& balls, const Frame& frame) {
    Distribution distribution{.label = "height [m]"};
    std::vector<float> heights;
    evaluate(Quantity::kHeight, scene, balls, frame, heights);
    double gravity = 0.0;
    int axis = frame.dimension - 1;
    for (int other = 0; other < frame.dimension; ++other) {
        if (std::abs(scene.physics.gravity[other]) > gravity) {
            gravity = std::abs(scene.physics.gravity[other]);
            axis = other;
        }
    }
    const auto top = static_cast<double>(range_of(Quantity::kHeight, heights).high);
    distribution.most = std::min(scene.box.size[axis], 1.2 * top);
    count(distribution, heights, balls);
    const double temperature = temperature_of(balls, frame);
    const auto masses = masses_of(balls, frame);
    if (gravity > 0.0 && temperature > 0.0 && !masses.empty()) {
        add_theory(distribution, masses, [&](double height, double mass) {
            const double scale_height = temperature / (mass * gravity);
            return barometric_density(height / scale_height, scene.box.size[axis] / scale_height) / scale_height;
        });
    }
    return distribution;
}

namespace {

constexpr ImU32 kBack = IM_COL32(12, 14, 18, 255);
constexpr ImU32 kBar = IM_COL32(70, 130, 180, 255);
constexpr ImU32 kCurve = IM_COL32(240, 180, 60, 255);
constexpr ImU32 kSecond = IM_COL32(110, 200, 130, 255);
constexpr ImU32 kCursor = IM_COL32(235, 235, 235, 255);

/// A rectangle of the panel with an x axis from x0 to x1 and a y axis from y0 to y1.
class Chart {
public:
    Chart(double x0, double x1, double y0, double y1) : x0_(x0), x1_(x1), y0_(y0), y1_(y1) {
        const float scale = ImGui::GetFontSize() / 13.0f;
        size_ = ImVec2(ImGui::GetContentRegionAvail().x, 92.0f * scale);
        corner_ = ImGui::GetCursorScreenPos();
        ImGui::Dummy(size_);
        list_ = ImGui::GetWindowDrawList();
        list_->AddRectFilled(corner_, ImVec2(corner_.x + size_.x, corner_.y + size_.y), kBack);
    }
    [[nodiscard]] ImVec2 at(double x, double y) const {
        return ImVec2(corner_.x + size_.x * static_cast<float>((x - x0_) / (x1_ - x0_)),
                      corner_.y + size_.y * static_cast<float>((y1_ - y) / (y1_ - y0_)));
    }
    void bar(double from, double to, double height) { list_->AddRectFilled(at(from, height), at(to, y0_), kBar); }
    void line(const std::vector<ImVec2>& points, ImU32 color) {
        const float width = 1.6f * ImGui::GetFontSize() / 13.0f;
        list_->AddPolyline(points.data(), static_cast<int>(points.size()), color, 0, width);
    }

private:
    double x0_;
    double x1_;
    double y0_;
    double y1_;
    ImVec2 size_;
    ImVec2 corner_;
    ImDrawList* list_;
};

}  // namespace

void draw_distribution(const Distribution& distribution) {
    double most = 0.0;
    for (const double value : distribution.counted) most = std::max(most, value);
    for (const double value : distribution.theory) most = std::max(most, std::min(value, 3.0 * most));
    if (!(most > 0.0) || !(distribution.most > 0.0)) {
        ImGui::TextDisabled("%s: nothing to count", distribution.label.c_str());
        return;
    }
    Chart chart(0.0, distribution.most, 0.0, 1.1 * most);
    const double width = distribution.most / static_cast<double>(distribution.counted.size());
    std::vector<ImVec2> curve;
    for (std::size_t bin = 0; bin < distribution.counted.size(); ++bin) {
        const double from = static_cast<double>(bin) * width;
        chart.bar(from, from + 0.9 * width, distribution.counted[bin]);
        if (!distribution.theory.empty()) {
            curve.push_back(chart.at(from + 0.5 * width, std::min(distribution.theory[bin], 1.1 * most)));
        }
    }
    chart.line(curve, kCurve);
    ImGui::TextDisabled("0 to %.3g, %s", distribution.most, distribution.label.c_str());
}

std::vector<std::pair<double, double>> outline_of(std::span<const EnergySample> samples, double EnergySample::*member,
                                                  std::size_t columns) {
    std::vector<std::pair<double, double>> points;
    const double begin = samples.front().time;
    const double length = samples.back().time - begin;
    for (std::size_t k = 0; k < samples.size();) {
        const auto column_of = [&](std::size_t row) {
            const double share = length > 0.0 ? (samples[row].time - begin) / length : 0.0;
            return static_cast<std::size_t>(share * static_cast<double>(columns));
        };
        const std::size_t column = column_of(k);
        std::size_t least = k;
        std::size_t most = k;
        for (; k < samples.size() && column_of(k) == column; ++k) {
            if (samples[k].*member < samples[least].*member) least = k;
            if (samples[k].*member > samples[most].*member) most = k;
        }
        points.emplace_back(samples[std::min(least, most)].time, samples[std::min(least, most)].*member);
        if (least == most) continue;
        points.emplace_back(samples[std::max(least, most)].time, samples[std::max(least, most)].*member);
    }
    return points;
}

void draw_energies(std::span<const EnergySample> samples, std::optional<double> cursor) {
    if (samples.size() < 2) {
        ImGui::TextDisabled("energy over time: %s", cursor ? "no rows in the file" : "not yet");
        return;
    }
    double low = 0.0;
    double high = 0.0;
    for (const EnergySample& sample : samples) {
        low = std::min({low, sample.kinetic, sample.total});
        high = std::max({high, sample.kinetic, sample.total});
    }
    if (high <= low) high = low + 1.0;
    const double margin = 0.06 * (high - low);
    // Beside the lines they would cover them: these run along the top where energy is kept.
    const auto words = [](const char* name, ImU32 color) {
        ImGui::SameLine();
        ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(color), "%s", name);
    };
    ImGui::TextDisabled("energy:");
    words("total", kCurve);
    words("kinetic", kSecond);
    Chart chart(samples.front().time, samples.back().time, low - margin, high + margin);
    constexpr std::size_t kColumns = 600;  // more than a panel has pixels
    for (const auto& [member, color] :
         {std::pair{&EnergySample::total, kCurve}, std::pair{&EnergySample::kinetic, kSecond}}) {
        std::vector<ImVec2> line;
        for (const auto& [time, value] : outline_of(samples, member, kColumns)) line.push_back(chart.at(time, value));
        chart.line(line, color);
    }
    if (cursor) {
        const double at = std::clamp(*cursor, samples.front().time, samples.back().time);
        chart.line({chart.at(at, low - margin), chart.at(at, high + margin)}, kCursor);
    }
    ImGui::TextDisabled("%.4g to %.4g s, up to %.4g J", samples.front().time, samples.back().time, high);
}

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
    while (!samples_.empty() && time <= samples_.back().time) samples_.pop_back();
    samples_.push_back({time, kinetic, total});
    if (samples_.size() > kMost) samples_.erase(samples_.begin());
}

float Panels::left_room() { return 24.0f * ImGui::GetFontSize(); }
float Panels::bottom_room(const Show& show) { return (show.frame_count() > 0 ? 7.4f : 2.4f) * ImGui::GetFontSize(); }

Wishes Panels::draw(Show& show, Painter& painter, ViewState& state) {
    Wishes wishes;
    if (const auto energies = show.live() ? show.energies() : std::nullopt) {
        history_.add(show.time(), energies->first, energies->second);
    }
    if (state.help) help(state);
    if (state.leaving) ask(show, state, wishes);
    if (!state.panels) return wishes;
    const ImGuiIO& io = ImGui::GetIO();
    const float unit = ImGui::GetFontSize();
    // A window of another size has them where they are at first; in between one may move them.
    const std::array size{io.DisplaySize.x, io.DisplaySize.y};
    when_ = std::exchange(size_, size) == size ? ImGuiCond_Once : ImGuiCond_Always;
    ImGui::SetNextWindowPos(ImVec2(0.6f * unit, 3.6f * unit), when_);
    ImGui::SetNextWindowSize(ImVec2(23.0f * unit, io.DisplaySize.y - 8.0f * unit), when_);
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
        ImGui::TextDisabled("%s", reached > 0.0 ? "reached" : show.playing() ? "reached: not known yet" : "paused");
    }
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
        if (ImGui::SliderFloat("cut off", &cut, 0.0f, 1.0f)) {
            state.clip = cut > 0.0f ? std::optional(static_cast<double>(cut)) : std::nullopt;
        }
    }
}

void Panels::plots(Show& show) {
    if (show.frame() == nullptr) return;
    if (show.live()) {
        draw_energies(history_.samples(), std::nullopt);
    } else {
        draw_energies(show.energy_rows(), show.time());
    }
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
               {"K", "copy as a command; its look into a file"},
               {"R", "record a movie, end it"},
               {"tab", "panels"},
               {"F1, ?", "this help"},
               {"Z", "undo the last kick"},
               {"escape", "close this help, let go of a ball, close"},
               {"left button", "2D: move, 3D: turn; click: pick a ball"},
               {"ctrl + drag a ball", "kick it that way; with shift: added to what it has"},
               {"right button", "move"},
               {"wheel", "zoom about the pointer"}});
    }
    ImGui::End();
}

}  // namespace carom
