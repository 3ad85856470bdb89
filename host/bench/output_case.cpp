#include "host/bench/output_case.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "host/bench/gas.hpp"
#include "host/bench/measure.hpp"
#include "host/run/run_in_memory.hpp"
#include "host/run/simulate.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

namespace fs = std::filesystem;

constexpr double kFrames = 20.0;
constexpr int kMostRepeats = 3;  // each is a whole run, three times

/// A folder that goes away with all that is in it.
class TemporaryFolder {
public:
    TemporaryFolder() : path_((fs::temp_directory_path() / "carom-bench-XXXXXX").string()) {
        if (mkdtemp(path_.data()) == nullptr) throw SystemError("cannot make a folder like " + path_);
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

double since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

PreparedScene prepare(const BenchCase& what, const std::string& scene, std::uint64_t steps) {
    SceneRequest request;
    request.scene = scene;
    request.overrides = {"run.backend=" + what.backend,
                         std::string("run.precision=") + (what.double_precision ? "double" : "single")};
    request.steps = steps;
    request.threads = what.threads;
    PreparedScene run = prepare_scene(request);
    run.scene.output.every = run.scene.run.until / kFrames;
    run.scene.output.observables_every = run.scene.run.until / kFrames;
    return run;
}

}  // namespace

BenchRow output_case(const BenchCase& what, const BenchRequest& request, const std::function<int()>& interrupted) {
    BenchRow row{.what = what, .start = "lattice"};
    const TemporaryFolder folder;
    const std::string scene = folder.file("gas.toml");
    std::ofstream(scene) << bench_scene_text(*what.gas);

    // How many steps fill the time, from a few.
    constexpr double kRepeatsLong = 5.0;
    const double wanted = kRepeatsLong * request.repeat_seconds();
    double kernel_rate = 0.0;
    {
        const PreparedScene run = prepare(what, scene, 1);
        const auto solver = run.plan->make_solver(run.state, "");
        MeasureOptions options{.repeat_seconds = request.repeat_seconds(), .repeats = kMostRepeats};
        options.least_steps = 100;
        const Measured measured = measure(
            [&](std::uint64_t steps) { solver->advance_to(run.plan->time_of_step(solver->step() + steps), 1e9); },
            options);
        kernel_rate = measured.steps_per_second.median;
    }
    row.steps = std::max<std::uint64_t>(100, static_cast<std::uint64_t>(wanted * kernel_rate));

    const double work = static_cast<double>(what.gas->balls) * static_cast<double>(row.steps);
    std::vector<double> without;
    std::vector<double> with;
    double start_seconds = 0.0;
    double loop_seconds = 0.0;
    std::uintmax_t bytes = 0;
    for (int repeat = 0; repeat < std::min(kMostRepeats, request.repeats_or_default()); ++repeat) {
        if (interrupted() != 0) throw SystemError("interrupted");
        PreparedScene run = prepare(what, scene, row.steps);
        auto begin = std::chrono::steady_clock::now();
        const MemoryRun memory = run_in_memory(std::move(run), interrupted);
        if (!memory.outcome.error.empty()) throw SimulationError(memory.outcome.error);
        without.push_back(work / since(begin));

        run = prepare(what, scene, row.steps);
        const OutputFiles files{folder.file("gas.h5"), folder.file("gas.checkpoint.h5")};
        begin = std::chrono::steady_clock::now();
        const Simulation simulation = simulate(std::move(run), {.files = files, .force = true, .quiet = true});
        if (!simulation.outcome.error.empty()) throw SimulationError(simulation.outcome.error);
        if (simulation.outcome.signal != 0) throw SystemError("interrupted");
        const double total = since(begin);
        with.push_back(work / total);
        loop_seconds = simulation.outcome.wall_seconds;
        start_seconds = total - loop_seconds;
        bytes = fs::file_size(files.trajectory);
    }
    row.rate = rate_of(with);
    row.more = {{"kernel_ball_steps_per_second", kernel_rate * static_cast<double>(what.gas->balls)},
                {"without_output_ball_steps_per_second", rate_of(without).median},
                {"with_output_ball_steps_per_second", row.rate.median},
                {"frames", kFrames + 1.0},
                {"output_bytes", static_cast<double>(bytes)},
                {"loop_seconds", loop_seconds},
                {"seconds_beside_loop", start_seconds}};
    return row;
}

}  // namespace carom
