#include "host/plot/average_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "host/observables/averager.hpp"
#include "host/plot/gnuplot.hpp"
#include "host/plot/run_theory.hpp"
#include "host/plot/unit_text.hpp"
#include "host/scene/load.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

/// An average of one run, from its file or computed from its frames.
struct RunAverage {
    AverageInfo info;
    AverageTable table;
};

/// The kinds that follow from frames alone without further words.
constexpr std::array<std::string_view, 9> kFromFrames{
    "speed", "velocity", "density", "temperature_profile", "velocity_profile", "density_map", "gr", "msd", "vacf"};

bool from_frames(const std::string& kind) { return std::ranges::find(kFromFrames, kind) != kFromFrames.end(); }

/// The average of that name, or the first of that kind.
const AverageInfo* find_info(const TrajectoryReader& trajectory, const std::string& quantity) {
    const auto& infos = trajectory.header().averages;
    auto found = std::ranges::find(infos, quantity, &AverageInfo::name);
    if (found == infos.end()) found = std::ranges::find(infos, quantity, &AverageInfo::kind);
    return found == infos.end() ? nullptr : &*found;
}

int default_axis(const Scene& scene, const std::string& kind) {
    if (kind == "density_map") return scene.dimension() - 1;
    for (int axis = 0; axis < scene.dimension(); ++axis) {
        if (scene.physics.gravity[static_cast<std::size_t>(axis)] != 0.0) return axis;
    }
    return 0;
}

/// From the frames of the second half: by then most runs have forgotten their start.
RunAverage computed(const TrajectoryReader& trajectory, const Scene& scene, const std::string& kind) {
    const std::size_t frames = trajectory.frame_count();
    const std::size_t first = frames / 2;
    if (frames == 0) throw InputError(trajectory.path() + ": holds no frames");
    const auto times = trajectory.times();
    const double every = frames - first > 1
                             ? (times[frames - 1] - times[first]) / static_cast<double>(frames - 1 - first)
                             : std::max(scene.run.until, 1.0);
    const auto population =
        std::make_shared<Population>(Population{trajectory.header().species_table, trajectory.header().species});
    const auto averager = make_averager(
        {.name = kind, .kind = kind, .axis = default_axis(scene, kind), .from = times[first]},
        {.box = trajectory.header().box, .population = population, .every = every, .samples = frames - first});
    Frame frame;
    for (std::size_t k = first; k < frames; ++k) {
        trajectory.read(k, frame);
        averager->add(frame, k - first);
    }
    return {averager->info(), averager->table()};
}

RunAverage average_of(const TrajectoryReader& trajectory, const Scene& scene, const std::string& quantity) {
    if (const AverageInfo* info = find_info(trajectory, quantity)) {
        if (trajectory.frame_count() == 0) throw InputError(trajectory.path() + ": holds no frames");
        const auto place = static_cast<std::size_t>(info - trajectory.header().averages.data());
        return {*info, trajectory.averages(trajectory.frame_count() - 1)[place]};
    }
    if (from_frames(quantity)) return computed(trajectory, scene, quantity);
    std::vector<std::string> known;
    for (const AverageInfo& info : trajectory.header().averages) known.push_back(info.name);
    throw InputError(fmt::format("{}: holds no average '{}'; allowed: {}{}{}", trajectory.path(), quantity,
                                 fmt::join(known, ", "), known.empty() ? "" : ", ", fmt::join(kFromFrames, ", ")));
}

std::string run_name(const TrajectoryReader& trajectory) {
    const std::string& title = trajectory.header().title;
    return title.empty() ? std::filesystem::path(trajectory.path()).stem().string() : title;
}

/// Bins that hold something, with a little beside; everything for what is no histogram.
std::pair<std::size_t, std::size_t> shown(const RunAverage& average) {
    const std::size_t points = average.info.x.points;
    const bool histogram = average.info.kind == "speed" || average.info.kind == "velocity";
    const auto has_value = [&](std::size_t k) {
        bool any = false;
        for (std::size_t at = k; at < average.table.values.size(); at += points) {
            const double value = average.table.values[at];
            any = any || (std::isfinite(value) && (!histogram || value > 0.0));
        }
        return any;
    };
    std::size_t first = 0;
    std::size_t last = points;
    while (first < last && !has_value(first)) ++first;
    while (last > first && !has_value(last - 1)) --last;
    if (histogram && average.info.kind == "speed") first = 0;
    if (average.info.kind == "density" && last > 0) {
        // The empty heights of an atmosphere.
        constexpr double kNothing = 2e-3;
        double most = 0.0;
        for (const double value : average.table.values) most = std::max(most, std::isfinite(value) ? value : 0.0);
        while (last > first + 1 && average.table.values[last - 1] < kNothing * most) --last;
    }
    return {first, last};
}

Curve data_curve(const RunAverage& average, std::size_t component, std::pair<std::size_t, std::size_t> range) {
    Curve curve;
    curve.points = true;
    const std::size_t begin = component * average.info.x.points;
    for (std::size_t k = range.first; k < range.second; ++k) {
        const double value = average.table.values[begin + k];
        // A correlation over a lag of nothing says nothing on a logarithmic axis.
        if (average.info.kind == "msd" && average.table.x[k] == 0.0) continue;
        curve.x.push_back(average.table.x[k]);
        curve.y.push_back(value);
        curve.error.push_back(average.table.errors[begin + k]);
    }
    return curve;
}

/// Leaves out slices that a wall keeps centres out of in part: their density is that of another volume.
void leave_out_walls(RunAverage& average, const GasFacts& facts, const Box& box) {
    const std::size_t axis = static_cast<std::size_t>(average.info.x.label[0] - 'x');
    const double half = 0.5 * box.size[axis] / static_cast<double>(average.info.x.points);
    const double low = box.min[axis] + (box.faces[axis][0] == Face::kWall ? facts.radius : 0.0);
    const double high = box.min[axis] + box.size[axis] - (box.faces[axis][1] == Face::kWall ? facts.radius : 0.0);
    const double slack = 1e-9 * box.size[axis];
    for (std::size_t k = 0; k < average.info.x.points; ++k) {
        const double at = average.table.x[k];
        if (at - half < low - slack || at + half > high + slack) average.table.values[k] = std::nan("");
    }
}

std::string quantity_label(const AverageInfo& info) {
    return info.kind == "msd" ? "mean square displacement" : info.label;
}

std::string what_it_is(const AverageInfo& info) {
    if (info.kind == "speed") return "speeds";
    if (info.kind == "velocity") return "velocity components";
    if (info.kind == "density") return "density profile";
    if (info.kind == "temperature_profile") return "temperature profile";
    if (info.kind == "velocity_profile") return "flow";
    if (info.kind == "gr") return "radial distribution function";
    return info.label;
}

Figure line_figure(const std::vector<const TrajectoryReader*>& runs, const std::string& quantity) {
    Figure figure;
    for (std::size_t k = 0; k < runs.size(); ++k) {
        const TrajectoryReader& run = *runs[k];
        const Scene scene = parse_scene(run.header().scene_source, run.header().scene_path);
        RunAverage average = average_of(run, scene, quantity);
        const AverageInfo& info = average.info;
        const GasFacts facts = gas_facts(run, scene, info.species, info.from);
        if (info.kind == "density") leave_out_walls(average, facts, run.header().box);
        if (info.x.label.empty()) {
            throw InputError(fmt::format("{}: '{}' is a single number, not a curve", run.path(), quantity));
        }
        const auto range = shown(average);
        const bool any = std::ranges::any_of(average.table.values, [](double value) { return std::isfinite(value); });
        if (range.first >= range.second || !any) {
            throw InputError(fmt::format("{}: '{}' has no value in this run", run.path(), quantity));
        }
        if (k == 0) {
            figure.title = runs.size() == 1 ? fmt::format("{}: {}", run_name(run), what_it_is(info)) : what_it_is(info);
            figure.x_label = axis_label(info.x.label, info.x.unit);
            figure.y_label = axis_label(quantity_label(info), info.unit);
            figure.log_x = figure.log_y = info.kind == "msd";
            figure.key = info.kind == "msd" ? "inside left top" : "inside right top";
        }
        const std::size_t components = std::max<std::size_t>(1, info.components.size());
        for (std::size_t component = 0; component < components; ++component) {
            Curve curve = data_curve(average, component, range);
            const std::string name = info.components.empty() ? "" : info.components[component];
            curve.label = runs.size() > 1 ? run_name(run) + (name.empty() ? "" : ", " + name)
                                          : (name.empty() ? "measured" : name);
            curve.color = static_cast<int>(runs.size() > 1 ? k : component);
            figure.curves.push_back(std::move(curve));
        }
        const double low = info.kind == "msd" ? average.table.x[1] : average.table.x[range.first];
        const double x_from = info.kind == "speed" || info.kind == "vacf" ? 0.0 : low;
        for (Curve& curve : theory_curves(facts, scene, info, x_from, average.table.x[range.second - 1])) {
            if (runs.size() > 1) {
                curve.label += ", " + run_name(run);
                curve.color = static_cast<int>(k);
                curve.thick = false;
            }
            figure.curves.push_back(std::move(curve));
        }
    }
    return figure;
}

std::string map_script(const TrajectoryReader& run, const RunAverage& average, const std::string& path) {
    const AverageInfo& info = average.info;
    const AverageTable& table = average.table;
    std::string script = gnuplot_head(run_name(run) + ": density map", path);
    const Box& box = run.header().box;
    const auto place = [](const std::string& label) { return static_cast<std::size_t>(label[0] - 'x'); };
    const std::size_t across = place(info.x.label);
    const std::size_t up = place(info.y.label);
    script += "set xlabel " + gnuplot_literal(axis_label(info.x.label, info.x.unit)) + "\n";
    script += "set ylabel " + gnuplot_literal(axis_label(info.y.label, info.y.unit)) + "\n";
    script += "set cblabel " + gnuplot_literal(axis_label(info.label, info.unit)) + "\n";
    script += fmt::format("set size ratio {}\n", box.size[up] / box.size[across]);
    script += fmt::format("set xrange [{}:{}]\nset yrange [{}:{}]\n", box.min[across],
                          box.min[across] + box.size[across], box.min[up], box.min[up] + box.size[up]);
    // Viridis, by a few of its colours.
    script += "set palette defined (0 \"#440154\", 1 \"#3b528b\", 2 \"#21918c\", 3 \"#5ec962\", 4 \"#fde725\")\n";
    script += "set border 15\nset tics out scale 0.5\nunset key\nset cbrange [0:*]\n";
    script += "$map << END_OF_DATA\n";
    for (std::size_t row = 0; row < info.y.points; ++row) {
        for (std::size_t column = 0; column < info.x.points; ++column) {
            script +=
                fmt::format("{} {} {}\n", table.x[column], table.y[row], table.values[row * info.x.points + column]);
        }
    }
    return script + "END_OF_DATA\nplot $map using 1:2:3 with image\n";
}

}  // namespace

bool is_average_quantity(const TrajectoryReader& trajectory, const std::string& quantity) {
    // "temperature" is over time, which every run has, unless the scene named an average so.
    return find_info(trajectory, quantity) != nullptr ? quantity != "temperature" : from_frames(quantity);
}

std::string average_figure_script(const std::vector<const TrajectoryReader*>& runs, const std::string& quantity,
                                  const std::string& path) {
    const TrajectoryReader& first = *runs.front();
    const AverageInfo* info = find_info(first, quantity);
    if (info != nullptr ? info->kind == "density_map" : quantity == "density_map") {
        if (runs.size() > 1) throw InputError("maps cannot be laid over each other");
        const Scene scene = parse_scene(first.header().scene_source, first.header().scene_path);
        return map_script(first, average_of(first, scene, quantity), path);
    }
    return gnuplot_script(line_figure(runs, quantity), path);
}

std::vector<std::string> average_quantities(const TrajectoryReader& trajectory) {
    std::vector<std::string> names;
    for (const AverageInfo& info : trajectory.header().averages) {
        if (!info.x.label.empty()) names.push_back(info.name);
    }
    if (trajectory.frame_count() == 0) return names;
    const auto observed = [&](const std::string& kind) {
        return std::ranges::find(trajectory.header().averages, kind, &AverageInfo::kind) !=
               trajectory.header().averages.end();
    };
    const auto& fields = trajectory.header().fields;
    const auto stored = [&](const char* field) { return std::ranges::find(fields, field) != fields.end(); };
    if (!observed("speed") && stored("velocity")) names.emplace_back("speed");
    if (!observed("density") && stored("position")) names.emplace_back("density");
    return names;
}

}  // namespace carom
