#include "host/scene/override_stage.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "host/scene/toml.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

/// What follows `start` in a text that begins with it.
std::optional<std::string> behind(std::string_view text, std::string_view start) {
    if (!text.starts_with(start)) return std::nullopt;
    return std::string(text.substr(start.size()));
}

/// Whether the file says it of this very stage.
bool stage_has(const Scene& scene, std::size_t stage, std::string_view key) {
    if (stage >= scene.stages.size()) return false;
    const toml::table root = toml::parse(scene.source, scene.path);
    const toml::table* entry = root["stage"][stage].as_table();
    return entry != nullptr && entry->contains(key);
}

std::string pairs_text(const std::array<std::array<double, 2>, 3>& pairs, int dimension) {
    std::string text;
    for (int axis = 0; axis < dimension; ++axis) {
        text += fmt::format("{}[{}, {}]", axis > 0 ? ", " : "", pairs[axis][0], pairs[axis][1]);
    }
    return "[" + text + "]";
}

/// "[0][1]=2": of face x-max.
struct FaceValue {
    std::size_t axis = 0;
    std::size_t side = 0;
    double value = 0.0;
};

FaceValue parse_face(const std::string& text, const std::string& change, int dimension) {
    FaceValue face;
    const char* at = text.data();
    const char* end = at + text.size();
    bool good = true;
    const auto skip = [&](std::string_view what) {
        good = good && std::string_view(at, static_cast<std::size_t>(end - at)).starts_with(what);
        if (good) at += what.size();
    };
    const auto read = [&](auto& number) {
        const auto [stop, error] = std::from_chars(at, end, number);
        good = good && error == std::errc{};
        at = stop;
    };
    read(face.axis);
    skip("][");
    read(face.side);
    skip("]=");
    read(face.value);
    if (!good || at != end || face.axis >= static_cast<std::size_t>(dimension) || face.side > 1) {
        throw InputError(change + ": must be box.wall_temperature[AXIS][SIDE]=NUMBER");
    }
    return face;
}

}  // namespace

std::vector<std::string> overrides_from(const Scene& scene, const std::string& change, std::size_t stage) {
    if (const auto gravity = behind(change, "physics.gravity=")) {
        std::vector<std::string> all{change};
        if (stage_has(scene, stage, "gravity")) all.push_back(fmt::format("stage[{}].gravity={}", stage, *gravity));
        return all;
    }
    if (const auto face = behind(change, "box.wall_temperature[")) {
        const FaceValue to = parse_face(*face, change, scene.dimension());
        const auto with = [&](auto temperature) {
            temperature[to.axis][to.side] = to.value;
            return pairs_text(temperature, scene.dimension());
        };
        std::vector<std::string> all{"box.wall_temperature=" + with(scene.box.temperature)};
        if (stage_has(scene, stage, "wall_temperature")) {
            all.push_back(
                fmt::format("stage[{}].wall_temperature={}", stage, with(scene.stages[stage].wall_temperature)));
        }
        return all;
    }
    if (const auto wall = behind(change, "wall[")) {
        constexpr std::string_view kKey = "].temperature=";
        const auto at = wall->find(kKey);
        // Of all [[wall]] entries, one number each.
        constexpr const char* kOfStage = "wall_entry_temperature";
        if (at != std::string::npos && stage_has(scene, stage, kOfStage)) {
            return {change, fmt::format("stage[{}].{}[{}]={}", stage, kOfStage, wall->substr(0, at),
                                        wall->substr(at + kKey.size()))};
        }
    }
    return {change};
}

}  // namespace carom
