#include "host/cli/options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

#include "host/backends/spring_backends.hpp"
#include "host/io/trajectory_reader.hpp"
#include "host/plot/stored_run.hpp"
#include "host/ranks/launched.hpp"
#include "host/run/say.hpp"
#include "host/scene/faults.hpp"
#include "host/state/errors.hpp"

namespace carom {

void add_scene_options(CommandOptions& command, SceneOptions& options) {
    command.argument("SCENE", options.scene, "Scene file, or the name of an installed scene");
    command.option("--solver", options.solver, "NAME", "spring or events");
    command.option("--backend", options.backend, "NAME", "auto, cpu or cuda");
    command.option("--precision", options.precision, "NAME", "single or double");
    command.option("--threads", options.threads, "N", "Threads of the CPU; all by default");
    command.option("--until", options.until, "T", "Simulated time to run to");
    command.option("--steps", options.steps, "N", "Steps to run to, instead of a time");
    command.option("--seed", options.seed, "S", "Seed of all randomness");
    command.option("--device", options.device, "N", "GPU to use, as numbered by 'carom info'; the first by default");
    // A value may look like anything, so only one is taken at a time.
    command.repeatable("--set", options.set, "KEY=VALUE", "Override any key of the scene; repeatable");
}

namespace {

/// An option that stands for a key of the scene.
struct KeyOption {
    const char* option;
    const char* key;
    std::string SceneOptions::*value;
};

constexpr KeyOption kKeyOptions[] = {
    {"--solver", "run.solver", &SceneOptions::solver},
    {"--backend", "run.backend", &SceneOptions::backend},
    {"--precision", "run.precision", &SceneOptions::precision},
    {"--until", "run.until", &SceneOptions::until},
    {"--seed", "scene.seed", &SceneOptions::seed},
};

}  // namespace

Action SceneOptions::naming_options(Action action) const {
    const auto named = [this](std::string message) {
        for (const KeyOption& key : kKeyOptions) {
            const std::string& value = this->*key.value;
            const std::string internal = fmt::format("--set {}={}: ", key.key, value);
            const auto at = message.find(internal);
            if (value.empty() || at == std::string::npos) continue;
            message.replace(at, internal.size(), fmt::format("{} {}: ", key.option, value));
            break;
        }
        return message;
    };
    return [this, named, action = std::move(action)] {
        try {
            use_device(device);
            return action();
        } catch (const SceneErrors& errors) {
            std::vector<std::string> lines;
            for (const std::string& line : errors.lines()) lines.push_back(named(line));
            throw SceneErrors(std::move(lines));
        } catch (const InputError& error) {
            throw InputError(named(error.what()));
        }
    };
}

SceneRequest SceneOptions::request() const {
    SceneRequest request;
    request.scene = scene;
    request.overrides = set;
    for (const KeyOption& key : kKeyOptions) {
        const std::string& value = this->*key.value;
        if (!value.empty()) request.overrides.push_back(std::string(key.key) + "=" + value);
    }
    if (!steps.empty() && !until.empty()) throw InputError("--until and --steps exclude each other; give one");
    if (!steps.empty()) request.steps = parse_whole("--steps", steps, 1);
    if (!threads.empty()) {
        constexpr std::uint64_t kMost = 4096;
        const std::uint64_t count = parse_whole("--threads", threads, 1);
        if (count > kMost) throw InputError(fmt::format("--threads: {} is too many; allowed: 1 to {}", count, kMost));
        request.threads = static_cast<int>(count);
    }
    return request;
}

void use_device(const std::string& number) {
    if (number.empty()) return;
    if (ranks_of_run() != nullptr) {
        throw InputError("--device: each rank takes one of its machine's GPUs by itself; allowed in one process");
    }
    const std::uint64_t device = parse_whole("--device", number, 0);
    try {
        choose_cuda_device(device);
    } catch (const std::runtime_error& error) {
        throw InputError(fmt::format("--device: {}", error.what()));
    }
}

std::exception_ptr thrown_by(const std::function<void()>& work) {
    try {
        work();
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

std::uint64_t parse_whole(const std::string& option, const std::string& text, std::uint64_t least) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least) {
        throw InputError(fmt::format("{}: '{}' is not a whole number from {} up", option, text, least));
    }
    return value;
}

double parse_number(const std::string& option, const std::string& text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
        throw InputError(fmt::format("{}: '{}' is not a number", option, text));
    }
    return value;
}

TimeWindow time_window(const std::string& from, const std::string& to) {
    TimeWindow window;
    if (!from.empty()) window.from = parse_number("--from", from);
    if (!to.empty()) window.to = parse_number("--to", to);
    return window;
}

std::array<int, 3> parse_layers(const std::string& text, int ranks) {
    std::array<int, 3> layers{1, 1, 1};
    std::size_t axis = 0;
    std::int64_t product = 1;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ','); ++axis) {
        const std::uint64_t count = parse_whole("--ranks-per-axis", part, 1);
        if (axis == layers.size() || count > static_cast<std::uint64_t>(ranks)) {
            product = 0;
            break;
        }
        layers[axis] = static_cast<int>(count);
        product *= layers[axis];
    }
    if (product == ranks && axis >= 2) return layers;
    throw InputError(fmt::format(
        "--ranks-per-axis: '{}' is not how {} ranks stand along the axes; allowed: a number an axis, as 2,1, "
        "whose product is {}",
        text, ranks, ranks));
}

double parse_time(const std::string& option, const std::string& text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value < 0.0) {
        throw InputError(fmt::format("{}: '{}' is not a time; allowed: a number from 0 up", option, text));
    }
    return value;
}

void add_frame_options(CommandOptions& command, FrameOptions& options) {
    command.flag("--last", options.last, "The last frame");
    command.option("--time", options.time, "T", "The frame nearest to this time");
    command.option("--frame", options.frame, "K", "The frame of this number, from 0");
}

std::size_t choose_frame(const FrameOptions& options, const TrajectoryReader& trajectory) {
    if (int{options.last} + int{!options.time.empty()} + int{!options.frame.empty()} > 1) {
        throw InputError("--last, --time and --frame exclude each other; give one");
    }
    const std::size_t count = trajectory.frame_count();
    if (count == 0) throw InputError(trajectory.path() + ": holds no frame");
    if (!options.time.empty()) {
        const double time = parse_time("--time", options.time);
        const std::string warning = beyond_frames(trajectory, time);
        if (!warning.empty()) say("carom: --time: {}\n", warning);
        return trajectory.frame_at(time);
    }
    if (options.frame.empty()) return count - 1;
    const std::uint64_t index = parse_whole("--frame", options.frame, 0);
    if (index >= count) {
        throw InputError(fmt::format("--frame: {} holds the frames 0 to {}", trajectory.path(), count - 1));
    }
    return index;
}

}  // namespace carom
