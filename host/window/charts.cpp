#include "host/window/charts.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "host/viewer/chart.hpp"
#include "host/viewer/quantity.hpp"
#include "kernels/physics/kinetic_theory.hpp"

namespace carom {

void History::add(double time, std::span<const double> values) {
    constexpr std::size_t kMost = 4000;
    while (!times_.empty() && time <= times_.back()) {
        times_.pop_back();
        for (auto& column : columns_) column.pop_back();
    }
    if (times_.size() >= kMost) {
        const auto thin = [](std::vector<double>& all) {
            for (std::size_t k = 0; 2 * k < all.size(); ++k) all[k] = all[2 * k];
            all.resize((all.size() + 1) / 2);
        };
        thin(times_);
        for (auto& column : columns_) thin(column);
    }
    times_.push_back(time);
    for (std::size_t k = 0; k < columns_.size(); ++k) columns_[k].push_back(values[k]);
}

void History::clear() {
    times_.clear();
    for (auto& column : columns_) column.clear();
}

void BallHistory::watch(std::optional<std::size_t> id) {
    if (id == id_) return;
    id_ = id;
    history_.clear();
}

void BallHistory::add(const Balls& balls, const Frame& frame) {
    if (!id_ || *id_ >= frame.size() || frame.gone[*id_] != 0) return;
    double squared = 0.0;
    for (int axis = 0; axis < frame.dimension; ++axis) {
        squared += frame.velocity[axis][*id_] * frame.velocity[axis][*id_];
    }
    history_.add(frame.time, std::array{std::sqrt(squared), energy_of(balls, frame, *id_)});
}

Figure BallHistory::speed(const Scene& scene) const {
    return figure_over_time(history_, {0}, {""}, fmt::format("speed of ball {}", id_.value_or(0)), "m s-1", scene);
}

Figure BallHistory::energy(const Scene& scene) const {
    return figure_over_time(history_, {1}, {""}, fmt::format("kinetic energy of ball {}", id_.value_or(0)), "J", scene);
}

Figure figure_over_time(const History& history, const std::vector<std::size_t>& columns,
                        const std::vector<std::string>& labels, const std::string& label, const std::string& unit,
                        const Scene& scene) {
    Figure figure{.title = label,
                  .x_label = "time",
                  .y_label = label,
                  .curves = {},
                  .x_unit = "s",
                  .y_unit = unit,
                  .units = scene.units};
    for (std::size_t k = 0; k < columns.size(); ++k) {
        figure.curves.push_back({.label = labels[k], .x = history.times(), .y = history.column(columns[k])});
    }
    return figure;
}

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
    Distribution distribution{.label = "speed", .unit = "m s-1"};
    std::vector<float> speeds;
    evaluate(Quantity::kSpeed, {}, balls, frame, speeds);
    distribution.most = std::max(0.0, 1.3 * static_cast<double>(range_of(Quantity::kSpeed, speeds).high));
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
    Distribution distribution{.label = "height", .unit = "m"};
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
    distribution.most = std::max(0.0, std::min(1.2 * top, scene.box.size[axis]));
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

Figure figure_of(const Distribution& distribution, const Scene& scene) {
    Figure figure{.title = "",
                  .x_label = distribution.label,
                  .y_label = "density of balls",
                  .curves = {},
                  .x_from = 0.0,
                  .x_to = distribution.most,
                  .x_unit = distribution.unit,
                  .units = scene.units};
    Curve counted{.label = "counted", .boxes = true};
    Curve theory{.label = "theory", .theory = true};
    const double width = distribution.most / static_cast<double>(std::max<std::size_t>(1, distribution.counted.size()));
    double most = 0.0;
    for (const double value : distribution.counted) most = std::max(most, value);
    for (std::size_t bin = 0; bin < distribution.counted.size(); ++bin) {
        const double x = (static_cast<double>(bin) + 0.5) * width;
        counted.x.push_back(x);
        counted.y.push_back(distribution.counted[bin]);
        if (distribution.theory.empty()) continue;
        theory.x.push_back(x);
        theory.y.push_back(std::min(distribution.theory[bin], 3.0 * most));
    }
    if (most > 0.0) figure.curves.push_back(counted);
    if (most > 0.0 && !theory.x.empty()) figure.curves.push_back(theory);
    return figure;
}

namespace {

constexpr ImU32 kBack = IM_COL32(12, 14, 18, 255);
constexpr ImU32 kGrid = IM_COL32(46, 50, 58, 255);
constexpr ImU32 kAxis = IM_COL32(150, 154, 162, 255);
constexpr ImU32 kCursor = IM_COL32(235, 235, 235, 255);
ImU32 color_of(const Figure& figure, std::size_t k) {
    const Color color = chart_color(figure, k, true);
    return ImGui::ColorConvertFloat4ToU32(ImVec4(color[0], color[1], color[2], 1.0f));
}

/// A rectangle of the panel with an x axis and a y axis.
class Chart {
public:
    explicit Chart(const ChartAxes& axes) : axes_(axes) {
        const float unit = ImGui::GetFontSize();
        const float width = ImGui::GetContentRegionAvail().x;
        const float height = 8.5f * unit;
        constexpr int kUp = 3;
        constexpr int kAcross = 5;
        const Ticks y_ticks = axes.y_ticks(kUp);
        float left = 0.0f;
        for (const auto& [value, text] : y_ticks.marks) left = std::max(left, ImGui::CalcTextSize(text.c_str()).x);
        left += 0.5f * unit;
        const ImVec2 at = ImGui::GetCursorScreenPos();
        corner_ = ImVec2(at.x + left, at.y + 0.4f * unit);
        size_ = ImVec2(std::max(unit, width - left - 0.6f * unit), height - 1.9f * unit);
        ImGui::Dummy(ImVec2(width, height));
        list_ = ImGui::GetWindowDrawList();
        const ImVec2 end(corner_.x + size_.x, corner_.y + size_.y);
        list_->AddRectFilled(corner_, end, kBack);
        for (const auto& [value, text] : y_ticks.marks) {
            const ImVec2 tick = place(0.0, axes.up_tick(value));
            list_->AddLine(tick, ImVec2(end.x, tick.y), kGrid);
            list_->AddText(ImVec2(tick.x - 0.3f * unit - ImGui::CalcTextSize(text.c_str()).x, tick.y - 0.5f * unit),
                           kAxis, text.c_str());
        }
        // Of many each second or third is told, so that they stand apart.
        const auto marks = axes.x_ticks(kAcross).marks;
        const auto tick_of = [&](std::size_t k) { return place(axes.across_tick(marks[k].first), 0.0); };
        float widest = 0.0f;
        for (const auto& [value, text] : marks) widest = std::max(widest, ImGui::CalcTextSize(text.c_str()).x);
        const float apart = marks.size() > 1 ? std::max(1.0f, tick_of(1).x - tick_of(0).x) : size_.x;
        const auto each = static_cast<std::size_t>(std::max(1.0f, std::ceil((widest + 0.5f * unit) / apart)));
        for (std::size_t k = 0; k < marks.size(); ++k) {
            const ImVec2 tick = tick_of(k);
            list_->AddLine(ImVec2(tick.x, tick.y), ImVec2(tick.x, corner_.y), kGrid);
            if (k % each != 0) continue;
            const char* const text = marks[k].second.c_str();
            const float length = ImGui::CalcTextSize(text).x;
            const float from = std::min(tick.x - 0.5f * length, at.x + width - length);
            list_->AddText(ImVec2(from, end.y + 0.2f * unit), kAxis, text);
        }
        list_->AddLine(ImVec2(corner_.x, end.y), end, kAxis);
        list_->AddLine(corner_, ImVec2(corner_.x, end.y), kAxis);
        from_ = y_ticks.from;
    }
    /// That the ticks of y are told from; empty: from 0.
    [[nodiscard]] const std::string& from() const { return from_; }

    void curve(const Curve& curve, ImU32 color) {
        const float unit = ImGui::GetFontSize() / 13.0f;
        list_->PushClipRect(corner_, ImVec2(corner_.x + size_.x, corner_.y + size_.y), true);
        if (curve.boxes) {
            const double width = curve.x.size() > 1 ? curve.x[1] - curve.x[0] : 0.0;
            for (std::size_t k = 0; k < curve.x.size(); ++k) {
                if (!std::isfinite(curve.y[k])) continue;
                list_->AddRectFilled(at(curve.x[k] - 0.45 * width, curve.y[k]),
                                     ImVec2(at(curve.x[k] + 0.45 * width, 0.0).x, corner_.y + size_.y), color);
            }
        } else if (curve.points) {
            for (std::size_t k = 0; k < curve.x.size(); ++k) {
                if (std::isfinite(curve.y[k])) list_->AddCircleFilled(at(curve.x[k], curve.y[k]), 2.0f * unit, color);
            }
        } else {
            constexpr std::size_t kColumns = 600;  // more than a panel has pixels
            std::vector<ImVec2> line;
            const auto draw = [&] {
                list_->AddPolyline(line.data(), static_cast<int>(line.size()), color, 0, 1.6f * unit);
                line.clear();
            };
            for (const auto& [x, y] : outline_of(curve.x, curve.y, kColumns)) {
                if (std::isnan(y)) {
                    draw();
                } else {
                    line.push_back(at(x, y));
                }
            }
            draw();
        }
        for (std::size_t k = 0; k < std::min(curve.error.size(), curve.x.size()); ++k) {
            const double error = curve.error[k];
            if (!std::isfinite(error) || !std::isfinite(curve.y[k])) continue;
            list_->AddLine(at(curve.x[k], curve.y[k] - error), at(curve.x[k], curve.y[k] + error), color, unit);
        }
        list_->PopClipRect();
    }
    void cursor(double x) {
        const float where = place(std::clamp(axes_.across(x), 0.0, 1.0), 0.0).x;
        list_->AddLine(ImVec2(where, corner_.y), ImVec2(where, corner_.y + size_.y), kCursor, 1.6f);
    }

private:
    [[nodiscard]] ImVec2 place(double across, double up) const {
        return ImVec2(corner_.x + size_.x * static_cast<float>(across),
                      corner_.y + size_.y * static_cast<float>(1.0 - up));
    }
    [[nodiscard]] ImVec2 at(double x, double y) const { return place(axes_.across(x), axes_.up(y)); }

    const ChartAxes& axes_;
    ImVec2 size_;
    ImVec2 corner_;
    ImDrawList* list_ = nullptr;
    std::string from_;
};

}  // namespace

void draw_chart(const Figure& figure, const std::optional<double>& cursor) {
    const std::string label = chart_label(figure.y_label, figure.y_unit, figure.units);
    const auto axes = ChartAxes::of(figure);
    if (!axes) {
        ImGui::TextDisabled("%s: nothing to show yet", label.c_str());
        return;
    }
    // Beside the lines they would cover them. What does not fit goes on in another line.
    const std::string below = chart_label(figure.x_label, figure.x_unit, figure.units);
    ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
    ImGui::TextWrapped("%s over %s%s", label.c_str(), below.c_str(), figure.curves.size() > 1 ? ":" : "");
    ImGui::PopStyleColor();
    constexpr std::size_t kNamed = 8;
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    for (std::size_t k = 0; figure.curves.size() > 1 && k < std::min(kNamed, figure.curves.size()); ++k) {
        const std::string& name = figure.curves[k].label;
        if (name.empty()) continue;
        const float end =
            ImGui::GetItemRectMax().x + ImGui::GetStyle().ItemSpacing.x + ImGui::CalcTextSize(name.c_str()).x;
        if (end < right) ImGui::SameLine();
        ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(color_of(figure, k)), "%s", name.c_str());
    }
    Chart chart(*axes);
    const bool above = std::ranges::any_of(figure.curves, [](const Curve& curve) { return curve.boxes; });
    for (const bool theory : {!above, above}) {  // below what was measured, but over bars
        for (std::size_t k = 0; k < figure.curves.size(); ++k) {
            if (figure.curves[k].theory == theory) chart.curve(figure.curves[k], color_of(figure, k));
        }
    }
    if (cursor) chart.cursor(*cursor);
    if (!chart.from().empty()) ImGui::TextDisabled("told from %s on", chart.from().c_str());
}

}  // namespace carom
