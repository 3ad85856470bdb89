#include "host/run/say.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>

namespace carom {

void say_to(std::FILE* stream, const std::string& text) noexcept {
    const bool written = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
    if (!written || std::fflush(stream) != 0) std::clearerr(stream);  // the next message may fit again
}

std::string count_text(std::uint64_t count) {
    std::string digits = std::to_string(count);
    for (auto k = static_cast<std::ptrdiff_t>(digits.size()) - 3; k > 0; k -= 3) {
        digits.insert(static_cast<std::size_t>(k), ",");
    }
    return digits;
}

std::string bytes_text(std::uint64_t bytes) {
    static constexpr const char* kUnits[] = {"kB", "MB", "GB", "TB", "PB"};
    if (bytes < 1000) return fmt::format("{} bytes", bytes);
    double value = static_cast<double>(bytes) / 1000.0;
    std::size_t unit = 0;
    while (value >= 999.5 && unit + 1 < std::size(kUnits)) {
        value /= 1000.0;
        ++unit;
    }
    return value < 9.95 ? fmt::format("{:.1f} {}", value, kUnits[unit]) : fmt::format("{:.0f} {}", value, kUnits[unit]);
}

std::string duration_text(double seconds) {
    constexpr double kMinute = 60.0;
    constexpr double kHour = 60.0 * kMinute;
    constexpr double kDay = 24.0 * kHour;
    constexpr double kYear = 365.25 * kDay;
    if (seconds < 100.0) return fmt::format("{:.2g} s", seconds);
    if (seconds < 100.0 * kMinute) return fmt::format("{:.0f} min", seconds / kMinute);
    if (seconds < 48.0 * kHour) return fmt::format("{:.0f} h", seconds / kHour);
    if (seconds < 2.0 * kYear) return fmt::format("{:.0f} days", seconds / kDay);
    return fmt::format("{:.2g} years", seconds / kYear);
}

std::string plural(std::uint64_t count, const std::string& noun) {
    return count_text(count) + " " + noun + (count == 1 ? "" : "s");
}

namespace {

/// Nothing that is left of a negative number by rounding has a sign.
std::string without_sign_of_zero(std::string text) {
    const std::string digits = text.substr(0, text.find('('));
    if (text.starts_with('-') && digits.find_first_of("123456789") == std::string::npos) text.erase(0, 1);
    return text;
}

}  // namespace

std::string with_error(double value, double error) {
    constexpr double kRounding = 1e-12;
    constexpr double kLeastPower = -4.0;  // of what is written without a power of 10
    constexpr int kMostPlaces = 7;        // behind the point, of what is below
    if (!std::isfinite(error) || error <= kRounding * std::abs(value)) return fmt::format("{:.6g}", value);
    const int digits = static_cast<int>(-std::floor(std::log10(error)));
    const double scale = std::pow(10.0, digits);
    const auto last = static_cast<int>(std::lround(error * scale));
    if (last == 10) return with_error(value, 1.0001 / scale * 10.0);
    const double power = std::floor(std::log10(std::max(std::abs(value), error)));
    if (power < kLeastPower && digits > kMostPlaces) {
        const double unit = std::pow(10.0, power);
        return fmt::format("{}e{:+03.0f}", with_error(value / unit, error / unit), power);
    }
    return without_sign_of_zero(digits < 1
                                    ? fmt::format("{:.0f}({:.0f})", std::round(value * scale) / scale, last / scale)
                                    : fmt::format("{:.{}f}({})", value, digits, last));
}

std::string json_text(const nlohmann::ordered_json& json, int indent) {
    return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace carom
