#include "host/sweep/check_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <thread>

#include "host/run/run_in_memory.hpp"
#include "host/scene/keys.hpp"
#include "host/state/errors.hpp"
#include "host/sweep/pool.hpp"

namespace carom {

namespace {

constexpr auto kLook = std::chrono::milliseconds(50);  // between two looks at signals

/// The same message in terms of the sweep file. "--set KEY=VALUE: ..." is what the scene's reader says of an override;
/// a key that does not exist is blamed on the key, anything else on the value.
std::string blamed(const Sweep& sweep, const std::vector<Assignment>& assignments, std::uint64_t run,
                   const std::string& message) {
    for (const Assignment& assignment : assignments) {
        const std::string prefix = "--set " + assignment.text + ": ";
        if (!message.starts_with(prefix)) continue;
        if (assignment.key_place == nullptr) return message;  // of the command line itself
        const std::string rest = message.substr(prefix.size());
        const bool of_value = rest.find(": must") != std::string::npos;
        return fmt::format("{}: {}", of_value ? *assignment.value_place : *assignment.key_place, rest);
    }
    return fmt::format("{} (in {}, row {}: {})", message, sweep.path, sweep.row_number(run / sweep.runs_per_row()) + 1,
                       sweep.label_of(run));
}

/// "stress.xx" and so on, for "stress": the components of an average, which are numbers of their own.
std::vector<std::string> components_of(const std::vector<ObservableInfo>& infos, const std::string& name) {
    std::vector<std::string> found;
    for (const ObservableInfo& info : infos) {
        if (info.name.starts_with(name + ".") && !info.name.ends_with("_se")) found.push_back(info.name);
    }
    return found;
}

/// The columns of `record`, by what one run can give.
std::vector<std::string> record_columns(const Sweep& sweep, const std::vector<ObservableInfo>& infos) {
    std::vector<std::string> columns;
    for (const RecordName& record : sweep.record) {
        const auto info = std::ranges::find(infos, record.name, &ObservableInfo::name);
        if (info != infos.end() && !info->components.empty()) {
            for (const std::string& component : info->components) columns.push_back(info->name + "." + component);
        } else if (find_value(infos, record.name)) {
            columns.push_back(record.name);
            // Of an average the error comes with it, unless the mean over runs has one of its own.
            if (!sweep.averaged && find_value(infos, record.name + "_se")) columns.push_back(record.name + "_se");
        } else if (const auto parts = components_of(infos, record.name); !parts.empty()) {
            for (const std::string& part : parts) {
                columns.push_back(part);
                if (!sweep.averaged) columns.push_back(part + "_se");
            }
        } else {
            std::vector<std::string> names;
            for (const ObservableInfo& known : infos) {
                if (!known.name.ends_with("_se")) names.push_back(known.name);
            }
            const std::vector<std::string_view> views(names.begin(), names.end());
            const auto nearest = nearest_name(record.name, views);
            throw InputError(nearest.empty() ? fmt::format("{}: there is no observable \"{}\"; allowed: {}",
                                                           record.place, record.name, fmt::join(names, ", "))
                                             : fmt::format("{}: there is no observable \"{}\"; did you mean \"{}\"?",
                                                           record.place, record.name, nearest));
        }
    }
    for (std::size_t k = 0; k < columns.size(); ++k) {
        const auto same = std::ranges::find(columns, columns[k]);
        const auto axes = sweep.axis_columns();
        if (same != columns.begin() + static_cast<std::ptrdiff_t>(k) ||
            std::ranges::find(axes, columns[k]) != axes.end())
            throw InputError(fmt::format("{}: two columns would be called {}", sweep.record.front().place, columns[k]));
    }
    return columns;
}

}  // namespace

PreparedScene prepare_run(const Sweep& sweep, const SweepOptions& options, std::uint64_t run) {
    const std::vector<Assignment> assignments = sweep.assignments(run);
    SceneRequest request{.scene = sweep.scene, .steps = options.steps, .threads = 1};
    for (const Assignment& assignment : assignments) request.overrides.push_back(assignment.text);
    try {
        return prepare_scene(request);
    } catch (const InputError& error) {
        throw InputError(blamed(sweep, assignments, run, error.what()));
    }
}

std::vector<std::string> check_sweep(const Sweep& sweep, const SweepOptions& options,
                                     const std::function<int()>& interrupted, SweepProgress& progress) {
    const auto infos_of = [&](std::uint64_t run) {
        const PreparedScene prepared = prepare_run(sweep, options, run);
        try {
            return infos_in_memory(prepared);
        } catch (const InputError& error) {
            throw InputError(blamed(sweep, {}, run, error.what()));
        }
    };
    const std::vector<std::string> columns = record_columns(sweep, infos_of(0));
    Pool pool(sweep_threads(options, sweep.runs()), sweep.runs(), [&](std::uint64_t run) {
        const auto infos = infos_of(run);
        for (const std::string& column : columns) {
            if (find_value(infos, column)) continue;
            throw InputError(fmt::format("{}: row {} ({}) has no {}", sweep.record.front().place,
                                         sweep.row_number(run / sweep.runs_per_row()) + 1, sweep.label_of(run),
                                         column));
        }
    });
    while (!pool.wait_for(kLook)) {
        progress.update(pool.begun());
        if (interrupted() != 0) pool.stop();
    }
    progress.clear();
    pool.wait();
    return interrupted() != 0 ? std::vector<std::string>{} : columns;
}

int sweep_threads(const SweepOptions& options, std::uint64_t runs) {
    const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    const int wanted = options.threads > 0 ? options.threads : cores;
    return static_cast<int>(std::clamp<std::uint64_t>(runs, 1, static_cast<std::uint64_t>(wanted)));
}

}  // namespace carom
