#include "host/plot/logarithmic_tics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace carom {

std::string logarithmic_tics(char axis, const AxisLimits& limits) {
    if (!(limits.low > 0.0) || !(limits.high > limits.low)) return "";
    constexpr double kSlack = 1e-9;
    const int first = static_cast<int>(std::floor(std::log10(limits.low)));
    const int last = static_cast<int>(std::floor(std::log10(limits.high)));
    const auto tics = [&](auto wanted) {
        std::vector<std::pair<int, int>> found;  // digit and power of ten
        for (int power = first; power <= last; ++power) {
            for (int digit = 1; digit < 10; ++digit) {
                const double at = digit * std::pow(10.0, power);
                const bool shown = at >= limits.low * (1.0 - kSlack) && at <= limits.high * (1.0 + kSlack);
                if (shown && wanted(digit, power)) found.emplace_back(digit, power);
            }
        }
        return found;
    };
    constexpr double kFewDecades = 3.5;
    constexpr std::size_t kLeastLabels = 3;
    const bool few = std::log10(limits.high / limits.low) <= kFewDecades;
    const int step = 1 + (last - first) / 10;  // decades between labels
    auto labels = tics([&](int digit, int power) {
        return digit == 1 ? (power - first) % step == 0 : few && (digit == 2 || digit == 5);
    });
    if (labels.size() < kLeastLabels) labels = tics([](int, int) { return true; });
    if (labels.size() < 2) return "";
    std::string text;
    for (const auto& [digit, power] : labels) text += fmt::format("{}{}e{}", text.empty() ? "" : ", ", digit, power);
    for (const auto& tic : tics([](int, int) { return true; })) {
        if (std::ranges::find(labels, tic) == labels.end())
            text += fmt::format(", \"\" {}e{} 1", tic.first, tic.second);
    }
    return fmt::format("set {}tics ({})\n", axis, text);
}

}  // namespace carom
