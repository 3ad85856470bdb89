#include "host/scene/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "host/scene/overrides.hpp"
#include "host/scene/read.hpp"
#include "host/scene/section.hpp"
#include "host/state/errors.hpp"
#include "host/state/text_file.hpp"

namespace carom {
namespace {

namespace fs = std::filesystem;

/// Where installed scenes are, relative to the program; the build has the same layout. Empty if there is no telling.
fs::path scene_folder() {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    return error ? fs::path() : program.parent_path().parent_path() / "share" / "carom" / "scenes";
}

std::vector<std::string> installed_scenes() {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(scene_folder(), error)) {
        const fs::path name = entry.path().stem();
        if (entry.path().extension() == ".toml" && name.extension() != ".sweep") names.push_back(name.string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::string one_line(std::string_view text) {
    std::string result(text);
    std::replace_if(
        result.begin(), result.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
    return result;
}

toml::table parse_text(std::string_view text, const std::string& name) {
    try {
        return toml::parse(text, name);
    } catch (const toml::parse_error& error) {
        throw InputError(
            fmt::format("{}: not valid TOML: {}", place_of(error.source(), name), one_line(error.description())));
    }
}

}  // namespace

std::string find_scene(const std::string& path_or_name) {
    std::error_code error;
    if (fs::exists(path_or_name, error) && !fs::is_directory(path_or_name, error)) return path_or_name;
    const bool is_name = path_or_name.find('/') == std::string::npos && !path_or_name.empty();
    if (is_name) {
        for (const char* ending : {".toml", ""}) {
            const fs::path candidate = scene_folder() / (path_or_name + ending);
            if (fs::is_regular_file(candidate, error)) return candidate.string();
        }
    }
    if (fs::is_directory(path_or_name, error)) {
        throw SystemError(fmt::format("{}: is a folder, not a scene file", path_or_name));
    }
    if (!is_name) throw SystemError(fmt::format("{}: no such file", path_or_name));
    const auto installed = installed_scenes();
    throw SystemError(installed.empty() ? fmt::format("{}: no such file", path_or_name)
                                        : fmt::format("{}: no such file, and no installed scene of this name ({})",
                                                      path_or_name, fmt::join(installed, ", ")));
}

Scene load_scene(const std::string& path_or_name, const std::vector<std::string>& overrides) {
    const std::string path = find_scene(path_or_name);
    return parse_scene(read_text_file(path), path, overrides);
}

Scene parse_scene(std::string_view text, const std::string& name, const std::vector<std::string>& overrides) {
    toml::table root = parse_text(text, name);
    for (const auto& assignment : overrides) apply_override(root, assignment);
    Scene scene = read_scene(root, name);
    scene.path = name;
    if (overrides.empty()) {
        scene.source = text;
    } else {
        std::ostringstream source;
        source << "# " << one_line(name);
        for (const auto& assignment : overrides) source << " --set " << one_line(assignment);
        source << "\n\n" << toml::toml_formatter(root) << "\n";
        scene.source = source.str();
    }
    return scene;
}

}  // namespace carom
