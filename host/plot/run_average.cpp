#include "host/plot/run_average.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "host/observables/frame_sampler.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

/// A kind that frames give, and the fields of them that it needs.
struct FromFrames {
    std::string_view kind;
    bool position;
    bool velocity;
};

constexpr std::array<FromFrames, 11> kFromFrames{{{"speed", false, true},
                                                  {"velocity", false, true},
                                                  {"density", true, false},
                                                  {"temperature_profile", true, true},
                                                  {"velocity_profile", true, true},
                                                  {"density_map", true, false},
                                                  {"temperature_map", true, true},
                                                  {"velocity_map", true, true},
                                                  {"gr", true, false},
                                                  {"msd", true, false},
                                                  {"vacf", false, true}}};

/// Off its multiple by more of the interval than this, a frame is no regular one. Steps round times by less, unless
/// frames are a few steps apart.
constexpr double kOffTime = 0.05;

int default_axis(const Scene& scene, const std::string& kind) {
    if (kind.ends_with("_map")) return scene.dimension() - 1;
    for (int axis = 0; axis < scene.dimension(); ++axis) {
        if (scene.physics.gravity[static_cast<std::size_t>(axis)] != 0.0) return axis;
    }
    return 0;
}

/// The interval that most frames have: the median of theirs.
double usual_interval(std::span<const double> times) {
    std::vector<double> intervals;
    for (std::size_t k = 0; k + 1 < times.size(); ++k) intervals.push_back(times[k + 1] - times[k]);
    if (intervals.empty()) return 0.0;
    const auto middle = intervals.begin() + static_cast<std::ptrdiff_t>(intervals.size() / 2);
    std::ranges::nth_element(intervals, middle);
    return *middle;
}

RunAverage computed(const TrajectoryReader& trajectory, const Scene& scene, const std::string& kind) {
    const std::size_t frames = trajectory.frame_count();
    if (frames == 0) throw InputError(trajectory.path() + ": holds no frames");
    const auto times = trajectory.times().subspan(frames / 2);
    double every = usual_interval(times);
    if (!(every > 0.0)) every = std::max(scene.run.until, 1.0);
    const auto population =
        std::make_shared<Population>(Population{trajectory.header().species_table, trajectory.header().species});
    const auto averager = make_averager(
        {.name = kind, .kind = kind, .axis = default_axis(scene, kind), .from = times[0]},
        {.box = trajectory.header().box, .population = population, .every = every, .samples = times.size()});
    const std::vector<double> masses = finite_masses(population->table);
    Frame frame;
    for (std::size_t k = 0; k < times.size(); ++k) {
        const double intervals = (times[k] - times[0]) / every;
        if (!scene.measures(times[k]) || std::abs(intervals - std::round(intervals)) > kOffTime) continue;
        trajectory.read(frames / 2 + k, frame);
        FrameSampler balls(frame, {.species = population->species, .mass = masses});
        averager->add(balls, {.time = times[k], .index = static_cast<std::uint64_t>(std::llround(intervals))});
    }
    return {averager->info(), averager->table()};
}

}  // namespace

std::string run_name(const TrajectoryReader& trajectory) {
    const std::string& title = trajectory.header().title;
    return title.empty() ? std::filesystem::path(trajectory.path()).stem().string() : title;
}

std::vector<std::string> run_names(const std::vector<const TrajectoryReader*>& runs) {
    std::vector<std::string> names;
    for (const TrajectoryReader* run : runs) names.push_back(run_name(*run));
    const auto rename_alike = [&](const auto& other) {
        const std::vector<std::string> before = names;
        for (std::size_t k = 0; k < runs.size(); ++k) {
            if (std::ranges::count(before, before[k]) > 1) names[k] = other(runs[k]->path());
        }
    };
    rename_alike([](const std::string& path) { return std::filesystem::path(path).stem().string(); });
    rename_alike([](const std::string& path) { return path; });
    return names;
}

const AverageInfo* find_average(const TrajectoryReader& trajectory, const std::string& quantity) {
    const auto& infos = trajectory.header().averages;
    auto found = std::ranges::find(infos, quantity, &AverageInfo::name);
    if (found == infos.end()) found = std::ranges::find(infos, quantity, &AverageInfo::kind);
    return found == infos.end() ? nullptr : &*found;
}

std::vector<std::string> others_of_kind(const TrajectoryReader& trajectory, const std::string& quantity) {
    const AverageInfo* chosen = find_average(trajectory, quantity);
    std::vector<std::string> others;
    if (chosen == nullptr || chosen->name == quantity) return others;
    for (const AverageInfo& info : trajectory.header().averages) {
        if (info.kind == quantity && &info != chosen) others.push_back(info.name);
    }
    return others;
}

bool follows_from_frames(const std::string& kind) {
    return std::ranges::find(kFromFrames, std::string_view(kind), &FromFrames::kind) != kFromFrames.end();
}

std::vector<std::string> known_averages(const TrajectoryReader& trajectory) {
    std::vector<std::string> known;
    for (const AverageInfo& info : trajectory.header().averages) known.push_back(info.name);
    if (trajectory.frame_count() == 0) return known;
    const auto& fields = trajectory.header().fields;
    const auto stored = [&](const char* field) { return std::ranges::find(fields, field) != fields.end(); };
    for (const FromFrames& one : kFromFrames) {
        const bool there = (!one.position || stored("position")) && (!one.velocity || stored("velocity"));
        if (there && std::ranges::find(known, one.kind) == known.end()) known.emplace_back(one.kind);
    }
    return known;
}

RunAverage run_average(const TrajectoryReader& trajectory, const Scene& scene, const std::string& quantity) {
    if (const AverageInfo* info = find_average(trajectory, quantity)) {
        if (trajectory.frame_count() == 0) throw InputError(trajectory.path() + ": holds no frames");
        const auto place = static_cast<std::size_t>(info - trajectory.header().averages.data());
        return {*info, trajectory.averages(trajectory.frame_count() - 1)[place]};
    }
    if (follows_from_frames(quantity)) return computed(trajectory, scene, quantity);
    throw InputError(fmt::format("{}: holds no average '{}'; allowed: {}", trajectory.path(), quantity,
                                 fmt::join(known_averages(trajectory), ", ")));
}

void leave_out_walls(RunAverage& average, double radius, const Box& box) {
    const auto axis = static_cast<std::size_t>(average.info.x.label[0] - 'x');
    const double half = 0.5 * box.size[axis] / static_cast<double>(average.info.x.points);
    const double low = box.min[axis] + (box.faces[axis][0] == Face::kWall ? radius : 0.0);
    const double high = box.min[axis] + box.size[axis] - (box.faces[axis][1] == Face::kWall ? radius : 0.0);
    const double slack = 1e-9 * box.size[axis];
    for (std::size_t k = 0; k < average.info.x.points; ++k) {
        const double at = average.table.x[k];
        if (at - half < low - slack || at + half > high + slack) average.table.values[k] = std::nan("");
    }
}

}  // namespace carom
