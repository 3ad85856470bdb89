#include "host/scene/load.hpp"

#include <fmt/format.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "host/scene/look.hpp"
#include "host/scene/read.hpp"
#include "host/scene/section.hpp"
#include "host/state/errors.hpp"
#include "host/state/text.hpp"

namespace carom {

namespace {

/// One step into the tree: a key, or an index of an array.
struct Step {
    std::string name;
    std::size_t index = 0;
    bool indexed = false;
};

[[noreturn]] void fail(const std::string& assignment, const std::string& message) {
    throw InputError(fmt::format("--set {}: {}", assignment, message));
}

std::vector<Step> parse_path(const std::string& path, const std::string& assignment) {
    constexpr std::size_t kMostSteps = 32;
    constexpr const char* kForm = "the key must look like table.key or table[0].key[1]";
    std::vector<Step> steps;
    std::string_view rest = path;
    while (true) {
        const auto end = std::find_if_not(rest.begin(), rest.end(), [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
        });
        const auto length = static_cast<std::size_t>(end - rest.begin());
        if (length == 0) fail(assignment, kForm);
        steps.push_back({.name = std::string(rest.substr(0, length))});
        rest.remove_prefix(length);
        while (!rest.empty() && rest.front() == '[') {
            const auto close = rest.find(']');
            if (close == std::string_view::npos) fail(assignment, kForm);
            Step step{.indexed = true};
            const char* last = rest.data() + close;
            const auto [stop, error] = std::from_chars(rest.data() + 1, last, step.index);
            const bool twofold = rest[1] == '0' && close > 2;  // 00: a key has one form, by which it is known
            if (error != std::errc{} || stop != last || twofold) fail(assignment, kForm);
            steps.push_back(step);
            rest.remove_prefix(close + 1);
        }
        if (rest.empty()) return steps;
        if (steps.size() > kMostSteps) fail(assignment, "the key has more parts than any");
        if (rest.front() != '.') fail(assignment, kForm);
        rest.remove_prefix(1);
    }
}

/// The value as a table with the one key "v"; its nodes carry the override as their source.
toml::table parse_value(const std::string& value, const std::string& assignment) {
    const std::string source = "--set " + assignment;
    try {
        toml::table parsed = parse_toml("v = " + value, source);
        if (parsed.size() == 1 && parsed.contains("v")) return parsed;
    } catch (const toml::parse_error&) {
        // not TOML: text without quotes
    }
    std::string quoted;
    for (const char c : value) {
        if (static_cast<unsigned char>(c) < 0x20) fail(assignment, "the value must not hold control characters");
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c;
    }
    try {
        return parse_toml("v = \"" + quoted + "\"", source);
    } catch (const toml::parse_error&) {
        fail(assignment, "the value is neither TOML nor text");
    }
}

/// Sets one key of a parsed scene: "table.key=VALUE", with [index] for elements of arrays ("ball[0].position[1]=0.4").
/// VALUE is TOML, or else text without quotes. Tables and keys that are not there are made; array elements are not.
/// \throws InputError  "--set KEY=VALUE: ..."
void apply_override(toml::table& root, const std::string& assignment) {
    const auto equals = assignment.find('=');
    if (equals == std::string::npos) fail(assignment, "must be KEY=VALUE");
    const std::vector<Step> steps = parse_path(key_of_override(assignment), assignment);
    toml::table parsed = parse_value(stripped(std::string_view(assignment).substr(equals + 1)), assignment);

    toml::node* at = &root;
    std::string reached;
    for (std::size_t number = 0; number < steps.size(); ++number) {
        const Step& step = steps[number];
        const bool last = number + 1 == steps.size();
        if (step.indexed) {
            toml::array* array = at->as_array();
            if (array == nullptr) fail(assignment, fmt::format("{} is no array", reached));
            if (step.index >= array->size()) {
                fail(assignment, array->empty() ? fmt::format("{} is empty", reached)
                                                : fmt::format("{} has {} entries, the last is {}[{}]", reached,
                                                              array->size(), reached, array->size() - 1));
            }
            const auto position = array->begin() + static_cast<std::ptrdiff_t>(step.index);
            if (last) {
                parsed.get("v")->visit([&](auto& value) { array->replace(position, std::move(value)); });
                return;
            }
            at = &*position;
            reached += fmt::format("[{}]", step.index);
        } else {
            toml::table* table = at->as_table();
            if (table == nullptr) {
                if (!at->is_array()) fail(assignment, fmt::format("{} is no table", reached));
                const bool place = std::ranges::all_of(step.name, [](char c) { return c >= '0' && c <= '9'; });
                fail(assignment, fmt::format(fmt::runtime(place ? "{0} is an array: write {0}[{1}]"
                                                                : "{0} is an array: write {0}[0].{1}"),
                                             reached, step.name));
            }
            if (last) {
                parsed.get("v")->visit([&](auto& value) { table->insert_or_assign(step.name, std::move(value)); });
                return;
            }
            if (!table->contains(step.name)) {
                if (steps[number + 1].indexed) {
                    fail(assignment,
                         fmt::format("the scene has no {}{}{}", reached, reached.empty() ? "" : ".", step.name));
                }
                table->insert(step.name, toml::table{});
            }
            at = table->get(step.name);
            reached += (reached.empty() ? "" : ".") + step.name;
        }
    }
}

namespace fs = std::filesystem;

/// Where installed scenes are, relative to the program; the build has the same layout. Empty if there is no telling.
fs::path scene_folder() {
    std::error_code error;
    fs::path program = fs::read_symlink("/proc/self/exe", error);
    if (error) {  // a root without /proc: by the name that it was started with
        // The kernel hands over addresses as numbers. NOLINTNEXTLINE(performance-no-int-to-ptr)
        const auto* name = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
        if (name != nullptr) program = fs::canonical(name, error);
    }
    return error ? fs::path() : program.parent_path().parent_path() / "share" / "carom" / "scenes";
}

toml::table parse_text(std::string_view text, const std::string& name) {
    try {
        return parse_toml(text, name);
    } catch (const toml::parse_error& error) {
        if (const std::string_view kind = file_kind(text); !kind.empty() && kind != kTomlKind) {
            throw InputError(fmt::format("{}: is {}, not a scene", name, kind));
        }
        throw InputError(
            fmt::format("{}: not valid TOML: {}", place_of(error.source(), name), visible(error.description())));
    }
}

}  // namespace

namespace {

/// Of the comment that a file begins with, without its full stop. One that cannot be read has none; who runs it is told
/// why.
std::string first_sentence(const fs::path& path) {
    std::ifstream file(path);
    std::string comment;
    for (std::string line; std::getline(file, line) && line.starts_with("# ");) {
        comment += (comment.empty() ? "" : " ") + line.substr(2);
    }
    if (const auto stop = comment.find(". "); stop != std::string::npos) comment.resize(stop);
    while (comment.ends_with('.')) comment.pop_back();
    return comment;
}

}  // namespace

std::string key_of_override(std::string_view assignment) {
    return stripped(assignment.substr(0, assignment.find('=')));
}

std::string installed_folder() { return scene_folder().lexically_normal().string(); }

std::vector<InstalledScene> installed_scenes(const std::string& folder) {
    constexpr std::string_view kSweep = ".sweep";
    std::vector<InstalledScene> scenes;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        if (entry.path().extension() != ".toml") continue;
        InstalledScene scene{.name = entry.path().stem().string()};
        scene.sweep = scene.name.ends_with(kSweep);
        if (scene.sweep) scene.name.resize(scene.name.size() - kSweep.size());
        scene.what = first_sentence(entry.path());
        scenes.push_back(std::move(scene));
    }
    std::ranges::sort(scenes, {}, &InstalledScene::name);
    return scenes;
}

std::string find_scene(const std::string& path_or_name, const std::string& folder) {
    std::error_code error;
    if (fs::exists(path_or_name, error) && !fs::is_directory(path_or_name, error)) return path_or_name;
    const bool is_name = path_or_name.find('/') == std::string::npos && !path_or_name.empty();
    if (is_name) {
        for (const char* ending : {".toml", ""}) {
            const fs::path candidate = fs::path(folder) / (path_or_name + ending);
            if (fs::is_regular_file(candidate, error)) return candidate.string();
        }
    }
    if (fs::is_directory(path_or_name, error)) {
        throw SystemError(fmt::format("{}: is a folder, not a scene file", path_or_name));
    }
    if (!is_name) throw SystemError(fmt::format("{}: no such file", path_or_name));
    std::vector<std::string> names;
    for (const InstalledScene& scene : installed_scenes(folder)) {
        if (!scene.sweep) names.push_back(scene.name);
    }
    throw SystemError(names.empty()
                          ? fmt::format("{}: no such file, and no scenes are installed in {}", path_or_name, folder)
                          : fmt::format("{}: no such file, and no installed scene of this name ({})", path_or_name,
                                        fmt::join(names, ", ")));
}

Scene load_scene(const std::string& path_or_name, const std::vector<std::string>& overrides) {
    const std::string path = find_scene(path_or_name);
    return parse_scene(read_text_file(path), path, overrides);
}

namespace {

constexpr std::string_view kLoaded = "# loaded: ";

/// What was read for each [[load]] is a comment at the end of the scene that a run keeps, whose balls are those of the
/// files as they were; and stays there when that is read again.
void note_loaded(std::string_view before, Scene& scene) {
    std::string lines;
    for (const LoadEntry& load : scene.loads) {
        if (load.loaded != nullptr) lines += fmt::format("{}{}\n", kLoaded, visible(load.loaded->summary()));
    }
    if (lines.empty() && !scene.source.ends_with(before)) {
        for (auto at = before.find(kLoaded); at != std::string_view::npos; at = before.find(kLoaded, at + 1)) {
            if (at > 0 && before[at - 1] != '\n') continue;
            lines += fmt::format("{}\n", before.substr(at, before.find('\n', at) - at));
        }
    }
    // Those of an earlier reading are no longer true: of other files, or of the same ones as they were.
    if (lines.empty()) return;
    std::string kept;
    for (std::size_t at = 0; at < scene.source.size();) {
        const auto end = std::min(scene.source.find('\n', at), scene.source.size() - 1) + 1;
        const auto line = std::string_view(scene.source).substr(at, end - at);
        if (!line.starts_with(kLoaded)) kept += line;
        at = end;
    }
    scene.source = kept + (kept.ends_with('\n') ? "" : "\n") + lines;
}

}  // namespace

std::vector<std::string> look_overrides(const std::string& path) {
    const toml::table root = parse_text(read_text_file(path), path);
    const toml::table* look = root["look"].as_table();
    if (look == nullptr || root.size() != 1) throw InputError(path + ": must hold the table [look], and nothing else");
    Faults faults;
    constexpr int kAnyDimension = 3;
    static_cast<void>(read_look(Section(look, "look", "look", path, kAnyDimension, faults)));
    faults.tell();
    std::vector<std::string> overrides;
    for (const auto& [key, value] : *look) {
        std::ostringstream text;
        value.visit([&](const auto& of) { text << of; });
        overrides.push_back(fmt::format("look.{}={}", std::string_view(key), text.str()));
    }
    return overrides;
}

Look look_of(const Scene& scene) {
    // Most have none, and some are many megabytes.
    if (scene.source.find("look") == std::string::npos) return {};
    const toml::table root = parse_text(scene.source, scene.path);
    const toml::table* look = root["look"].as_table();
    Faults faults;
    return read_look(Section(look, "look", "look", scene.path, scene.dimension(), faults));
}

Scene parse_scene(std::string_view text, const std::string& name, const std::vector<std::string>& overrides,
                  const BallReader& reader) {
    toml::table root = parse_text(text, name);
    for (const auto& assignment : overrides) apply_override(root, assignment);
    Scene scene = read_scene(root, name, reader);
    if (overrides.empty()) {
        scene.source = text;
    } else {
        std::ostringstream source;
        source << "# " << visible(name);
        for (const auto& assignment : overrides) source << " --set " << visible(assignment);
        source << "\n\n" << toml::toml_formatter(root) << "\n";
        scene.source = source.str();
    }
    note_loaded(text, scene);
    return scene;
}

namespace {

/// What follows `start` in a text that begins with it.
std::optional<std::string> behind(std::string_view text, std::string_view start) {
    if (!text.starts_with(start)) return std::nullopt;
    return std::string(text.substr(start.size()));
}

/// Whether the file says it of this very stage.
bool stage_has(const Scene& scene, std::size_t stage, std::string_view key) {
    return scene.sources->has(fmt::format("stage[{}].{}", stage, key));
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
