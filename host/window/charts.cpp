#include "host/window/charts.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

namespace carom {

namespace {

constexpr ImU32 kBack = IM_COL32(12, 14, 18, 255);
constexpr ImU32 kBar = IM_COL32(70, 130, 180, 255);
constexpr ImU32 kCurve = IM_COL32(240, 180, 60, 255);
constexpr ImU32 kSecond = IM_COL32(110, 200, 130, 255);

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

void draw_energies(const EnergyHistory& history) {
    const auto& samples = history.samples();
    if (samples.size() < 2) {
        ImGui::TextDisabled("energy over time: not yet");
        return;
    }
    double low = 0.0;
    double high = 0.0;
    for (const auto& sample : samples) {
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
    std::vector<ImVec2> kinetic;
    std::vector<ImVec2> total;
    for (const auto& sample : samples) {
        kinetic.push_back(chart.at(sample.time, sample.kinetic));
        total.push_back(chart.at(sample.time, sample.total));
    }
    chart.line(total, kCurve);
    chart.line(kinetic, kSecond);
    ImGui::TextDisabled("%.4g to %.4g s, up to %.4g J", samples.front().time, samples.back().time, high);
}

}  // namespace carom
