#include "host/run/output_files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "host/io/replacement.hpp"
#include "host/state/errors.hpp"
#include "host/state/text.hpp"

namespace carom {

namespace fs = std::filesystem;

namespace {

/// The name without `ending`, if it has it.
std::string without(std::string name, std::string_view ending) {
    if (name.size() > ending.size() && name.ends_with(ending)) name.resize(name.size() - ending.size());
    return name;
}

}  // namespace

std::vector<std::string> loaded_files(const Scene& scene) {
    std::vector<std::string> files;
    for (const LoadEntry& load : scene.loads) {
        if (load.loaded != nullptr) files.push_back(load.loaded->path);
    }
    return files;
}

void check_output_file(const std::string& path, const std::string& input, bool force) {
    require_no_input({{path}}, {{input}});
    require_replaceable(path, force, "--force overwrites it, -o names another");
    const fs::path target = target_of(path);
    const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
    std::error_code error;
    if (!fs::is_directory(folder, error)) {
        const bool none =
            !error || error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
        throw SystemError(none ? fmt::format("cannot write {}: there is no folder {}", path, folder.string())
                               : fmt::format("cannot write {}: {}: {}", path, folder.string(), error.message()));
    }
    if (access(folder.c_str(), W_OK) != 0) {
        throw SystemError("cannot write " + path + ": " + std::strerror(errno));
    }
}

void check_log_file(const std::string& path, const std::string& input, bool force) {
    std::error_code ignored;
    if (!fs::is_other(path, ignored)) check_output_file(path, input, force);
}

std::string default_trajectory(const std::string& scene) { return unled(fs::path(scene).stem().string() + ".h5"); }

std::string default_resumed_trajectory(const std::string& checkpoint) {
    std::string name = without(without(checkpoint, ".h5"), ".checkpoint");
    int number = 1;
    if (const auto dash = name.rfind('-'); dash != std::string::npos && dash + 1 < name.size()) {
        std::uint16_t parsed = 0;  // a larger one is part of the name
        const auto [end, error] = std::from_chars(name.data() + dash + 1, name.data() + name.size(), parsed);
        if (error == std::errc() && end == name.data() + name.size()) {
            number = parsed;
            name.resize(dash);
        }
    }
    std::string path;
    std::error_code ignored;
    do {
        ++number;
        path = name + "-" + std::to_string(number) + ".h5";
    } while (fs::exists(fs::symlink_status(path, ignored)));
    return path;
}

std::string default_checkpoint(const std::string& trajectory) {
    return unled(without(trajectory, ".h5") + ".checkpoint.h5");
}

std::string numbered_file(const std::string& path, std::uint64_t number, std::uint64_t most) {
    constexpr std::size_t kLeastDigits = 3;
    const std::size_t digits = std::max(kLeastDigits, std::to_string(most).size());
    std::string text = std::to_string(number);
    text.insert(0, digits - text.size(), '0');
    const fs::path whole(path);
    std::string ending = whole.extension().string();
    const std::string checkpoint = ".checkpoint" + ending;
    if (whole.filename().string().ends_with(checkpoint)) ending = checkpoint;
    return unled(without(path, ending) + "." + text + ending);
}

void check_output_files(const OutputFiles& files, const std::string& input, bool resumed, bool force) {
    if (same_file(files.trajectory, files.checkpoint)) {
        throw InputError(files.trajectory + ": is to be both the trajectory and the checkpoint");
    }
    check_output_file(files.trajectory, input, force);
    if (resumed && same_file(files.checkpoint, input)) {
        check_output_file(files.checkpoint, "", true);  // it is read before it is written
    } else {
        check_output_file(files.checkpoint, input, force);
    }
}

std::string shell_quoted(const std::string& word) {
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
    // What would command a terminal, or end the line. Three octal digits: none that follows is taken for one more.
    if (visible(word) != word) {
        std::string quoted = "$'";
        for (const char c : word) {
            const auto byte = static_cast<unsigned char>(c);
            const bool plain = byte >= 0x20 && byte < 0x7f && c != '\'' && c != '\\';
            quoted += plain ? std::string(1, c) : fmt::format("\\{:03o}", byte);
        }
        return quoted + "'";
    }
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

}  // namespace carom
