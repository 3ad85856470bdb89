#include <H5public.h>
#include <fmt/format.h>
#include <png.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "carom_build_info.hpp"
#include "host/backends/spring_backends.hpp"
#include "host/cli/command_line.hpp"
#include "host/ranks/launched.hpp"
#include "host/run/memory.hpp"
#include "host/run/say.hpp"
#include "kernels/core/hardware.hpp"
#ifdef CAROM_HAVE_VIEWER
#include "host/state/errors.hpp"
#include "host/viewer/opengl.hpp"
#endif

namespace carom {

namespace {

struct InfoOptions {
    bool json = false;
};

/// What pictures are drawn with, or why there can be none.
std::string opengl() {
#ifdef CAROM_HAVE_VIEWER
    try {
        const EglContext context;
        return gl_description();
    } catch (const SystemError& error) {
        const std::string what = error.what();
        return "none: " + what.substr(0, what.find(';'));
    }
#else
    return "none in this build: " CAROM_VIEWER_LACKS;
#endif
}

nlohmann::ordered_json gather() {
    nlohmann::ordered_json info;
    info["version"] = build_info::kVersion;
    info["commit"] = build_info::commit();
    info["build"] = {{"type", build_info::kBuildType},
                     {"compiler", build_info::kCompiler},
                     {"cpu_architecture", build_info::kCpuArchitecture},
                     {"options", build_info::kOptions}};
    if (cuda_built()) {
        info["build"]["cuda_compiler"] = build_info::kCudaCompiler;
        info["build"]["cuda_architectures"] = build_info::kCudaArchitectures;
    }
    info["processor"] = {{"name", processor_name()},
                         {"threads", std::thread::hardware_concurrency()},
                         {"memory_bytes", machine_memory_bytes()}};
    info["gpus"] = nlohmann::ordered_json::array();
    std::string why;
    for (const DeviceInfo& device : cuda_devices(&why)) {
        info["gpus"].push_back({{"name", device.name},
                                {"memory_bytes", device.memory_bytes},
                                {"compute_capability", fmt::format("{}.{}", device.major, device.minor)},
                                {"driver", device.driver}});
    }
    if (info["gpus"].empty()) info["no_gpu"] = why;
    const std::string module = mpi_module();
    info["mpi"] = module.empty() ? "none: no module carom_mpi.so" : module;
    info["opengl"] = opengl();
    info["window"] = CAROM_WINDOW_REASON;
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    H5get_libversion(&major, &minor, &release);
    info["libraries"] = {
        {"HDF5", fmt::format("{}.{}.{}", major, minor, release)},
        {"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
        {"CLI11", command_line_library()},
        {"libpng", png_get_libpng_ver(nullptr)}};
    return info;
}

void print_text(const nlohmann::ordered_json& info) {
    const auto text = [](const nlohmann::ordered_json& value) { return value.get<std::string>(); };
    const auto line = [](const std::string& name, const std::string& value) {
        fmt::print("  {:<12}{}\n", name, value);
    };
    fmt::print("carom {} ({})\n", text(info["version"]), text(info["commit"]));
    const auto& build = info["build"];
    line("build",
         fmt::format("{}, {}, for {}", text(build["type"]), text(build["compiler"]), text(build["cpu_architecture"])));
    line("options", text(build["options"]));
    if (build.contains("cuda_compiler")) {
        line("CUDA", fmt::format("{}, for {}", text(build["cuda_compiler"]), text(build["cuda_architectures"])));
    }
    const auto& processor = info["processor"];
    line("processor", fmt::format("{}, {}, {} of memory", text(processor["name"]),
                                  plural(processor["threads"].get<std::uint64_t>(), "thread"),
                                  bytes_text(processor["memory_bytes"].get<std::uint64_t>())));
    for (const auto& gpu : info["gpus"]) {
        line("GPU", fmt::format("{}, {}, compute capability {}, driver for CUDA {}", text(gpu["name"]),
                                bytes_text(gpu["memory_bytes"].get<std::uint64_t>()), text(gpu["compute_capability"]),
                                text(gpu["driver"])));
    }
    if (info["gpus"].empty()) line("GPU", "none: " + text(info["no_gpu"]));
    line("OpenGL", text(info["opengl"]));
    line("MPI", text(info["mpi"]));
    line("window", text(info["window"]));
    std::string libraries;
    for (const auto& [name, version] : info["libraries"].items()) {
        libraries += (libraries.empty() ? "" : ", ") + name + " " + text(version);
    }
    line("libraries", libraries);
}

}  // namespace

Action add_info_command(CommandOptions& command, const std::string&) {
    const auto options = std::make_shared<InfoOptions>();
    command.flag("--json", options->json, "As one JSON object");
    return [options] {
        const nlohmann::ordered_json info = gather();
        if (options->json) {
            fmt::print("{}\n", json_text(info));
        } else {
            print_text(info);
        }
        return 0;
    };
}

}  // namespace carom
