#ifdef CAROM_HAVE_VIEWER

#include "host/cli/picture_request.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "host/state/errors.hpp"

namespace carom {

PictureSize picture_size(const ViewerOptions& options) {
    PictureSize size;
    if (options.size.empty()) return size;
    const auto x = options.size.find('x');
    if (x == std::string::npos) throw InputError("--size: '" + options.size + "' is not WIDTHxHEIGHT");
    constexpr std::uint64_t kLeast = 64;
    constexpr std::uint64_t kMost = 16384;
    const std::uint64_t width = parse_whole("--size", options.size.substr(0, x), kLeast);
    const std::uint64_t height = parse_whole("--size", options.size.substr(x + 1), kLeast);
    if (width > kMost || height > kMost) throw InputError("--size: more than 16384 pixels");
    size.width = static_cast<int>(width);
    size.height = static_cast<int>(height);
    return size;
}

PictureStyle picture_style(const ViewerOptions& options) {
    PictureStyle style;
    style.theme = options.light ? &kLightTheme : &kDarkTheme;
    style.labels = !options.bare;
    style.arrows = options.arrows;
    if (!options.color_by.empty()) {
        std::string allowed;
        for (const QuantityInfo& info : quantities()) {
            if (options.color_by == info.name) style.quantity = info.quantity;
            allowed += (allowed.empty() ? "" : ", ") + std::string(info.name);
        }
        if (!style.quantity) {
            throw InputError(fmt::format("--color-by: '{}' is not known; allowed: {}", options.color_by, allowed));
        }
    }
    if (!options.colormap.empty()) {
        std::string allowed;
        bool known = false;
        for (const ColorMapInfo& info : color_maps()) {
            if (options.colormap == info.name) {
                style.map = info.map;
                known = true;
            }
            allowed += (allowed.empty() ? "" : ", ") + std::string(info.name);
        }
        if (!known) {
            throw InputError(fmt::format("--colormap: '{}' is not known; allowed: {}", options.colormap, allowed));
        }
    }
    if (!options.range.empty()) {
        const auto colon = options.range.find(':');
        const auto number = [&](const std::string& text) {
            float value = 0.0f;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
                throw InputError("--range: '" + options.range + "' is not LOW:HIGH");
            }
            return value;
        };
        if (colon == std::string::npos) throw InputError("--range: '" + options.range + "' is not LOW:HIGH");
        style.range = ValueRange{number(options.range.substr(0, colon)), number(options.range.substr(colon + 1))};
        if (style.range->high <= style.range->low) throw InputError("--range: HIGH must be greater than LOW");
    }
    return style;
}

}  // namespace carom

#endif
