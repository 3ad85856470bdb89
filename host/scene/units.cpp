#include "host/scene/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

namespace carom {

namespace {

/// Powers of energy, mass, length and time.
using Powers = std::array<int, 4>;

std::optional<Powers> powers_of(std::string_view symbol) {
    if (symbol == "J") return Powers{1, 0, 0, 0};
    if (symbol == "N") return Powers{1, 0, -1, 0};
    if (symbol == "Pa") return Powers{1, 0, -3, 0};
    if (symbol == "kg") return Powers{0, 1, 0, 0};
    if (symbol == "m") return Powers{0, 0, 1, 0};
    if (symbol == "s") return Powers{0, 0, 0, 1};
    return std::nullopt;
}

/// A name to a power, with raised digits; nothing for the power 0.
void append(std::string& text, std::string_view name, int power) {
    static constexpr std::array kRaised{"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                                        "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
    if (power == 0) return;
    if (!text.empty()) text += "\u00b7";
    text += name;
    if (power == 1) return;
    if (power < 0) text += "\u207b";
    for (const char digit : std::to_string(std::abs(power))) text += kRaised[static_cast<std::size_t>(digit - '0')];
}

/// The factors of a unit, each a symbol and its power: "kg m s-1".
std::vector<std::pair<std::string_view, int>> factors_of(std::string_view unit) {
    std::vector<std::pair<std::string_view, int>> factors;
    while (!unit.empty()) {
        const std::string_view word = unit.substr(0, unit.find(' '));
        unit.remove_prefix(word.size() < unit.size() ? word.size() + 1 : unit.size());
        const std::size_t power = word.find_first_of("-0123456789");
        const bool plain = power == 0 || power == std::string_view::npos;  // "1" is a word, too
        factors.emplace_back(plain ? word : word.substr(0, power),
                             plain ? 1 : std::atoi(std::string(word.substr(power)).c_str()));
    }
    return factors;
}

}  // namespace

std::string UnitNames::of(const std::string& unit) const {
    if (reduced) return {};
    std::string text;
    Powers sum{};
    for (const auto& [symbol, power] : factors_of(unit)) {
        const std::optional<Powers> powers = si() ? std::nullopt : powers_of(symbol);
        if (!powers) append(text, symbol, power);
        for (std::size_t k = 0; powers && k < sum.size(); ++k) sum[k] += power * (*powers)[k];
    }
    if (energy.empty()) {
        sum[1] += sum[0];
        sum[2] += 2 * sum[0];
        sum[3] -= 2 * sum[0];
        sum[0] = 0;
    }
    const std::array<std::string_view, 4> names{energy, mass, length, time};
    for (std::size_t k = 0; k < names.size(); ++k) append(text, names[k], sum[k]);
    return text;
}

std::string UnitNames::behind(std::string_view unit) const {
    if (reduced) return {};
    if (si()) return fmt::format(" {}", unit);
    std::array<double, 4> sum{};
    double sign = 1.0;
    while (!unit.empty()) {
        const std::string_view factor = unit.substr(0, unit.find('/'));
        const std::size_t raised = std::min(factor.find('^'), factor.size());
        const double power = raised == factor.size() ? 1.0 : std::atof(std::string(factor.substr(raised + 1)).c_str());
        const std::optional<Powers> powers = powers_of(factor.substr(0, raised));
        for (std::size_t k = 0; powers && k < sum.size(); ++k) sum[k] += sign * power * (*powers)[k];
        sign = -1.0;
        unit.remove_prefix(std::min(factor.size() + 1, unit.size()));
    }
    if (energy.empty()) sum = {0.0, sum[1] + sum[0], sum[2] + 2.0 * sum[0], sum[3] - 2.0 * sum[0]};
    const std::array<std::string_view, 4> names{energy, mass, length, time};
    std::array<std::string, 2> sides;  // above and below the line
    for (std::size_t k = 0; k < names.size(); ++k) {
        const double power = std::abs(sum[k]);
        if (power == 0.0) continue;
        std::string& side = sides[sum[k] > 0.0 ? 0 : 1];
        side +=
            fmt::format("{}{}{}", side.empty() ? "" : " ", names[k], power == 1.0 ? "" : fmt::format("^{:g}", power));
    }
    if (sides[1].find(' ') != std::string::npos) sides[1] = "(" + sides[1] + ")";
    return fmt::format(" {}{}{}", sides[0].empty() ? "1" : sides[0], sides[1].empty() ? "" : "/", sides[1]);
}

}  // namespace carom
