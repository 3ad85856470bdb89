#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/io/trajectory_reader.hpp"
#include "host/theory/measured_run.hpp"

namespace carom {

/// Part of a run's time.
struct TimeWindow {
    std::optional<double> from = std::nullopt;  ///< below 0: so long before the run's end
    std::optional<double> to = std::nullopt;    ///< as `from`

    [[nodiscard]] bool given() const { return from || to; }
    /// Times of frames and rows, and those reckoned from the end, are sums with roundings: 0.3 holds
    /// 0.30000000000000004.
    [[nodiscard]] bool holds(double time) const {
        constexpr double kRounding = 1e-9;
        const double room = kRounding * std::abs(time);
        return !(from && time < *from - room) && !(to && time > *to + room);
    }
    /// With the times of a run, none below 0. \throws InputError  it is empty
    [[nodiscard]] TimeWindow of(const TrajectoryReader& trajectory) const;
    /// ", t = 5 to 10" for titles; empty for the whole run.
    [[nodiscard]] std::string words() const;
};

/// Means of rows within a window that are of stages that measure; the first row, which holds nothing that is counted
/// since the one before, is left out.
std::vector<MeasuredMean> means_of_rows(const ObservableTable& table, const Scene& scene, const TimeWindow& window);

/// A stored run as theory sees it. Means are those of its summary; of a run without one those of the second half of its
/// rows, by blocks.
MeasuredRun stored_run(const TrajectoryReader& trajectory);

/// Whether keys of its scene were changed while it went on: then theory of that scene is not theory of the run. Kicks
/// leave the laws as they are.
[[nodiscard]] bool keys_changed(const TrajectoryReader& trajectory);

/// What a run is called in figures: its title, or else its file.
std::string run_name(const TrajectoryReader& trajectory);

/// "500 balls, dt = 0.001, seed 7, carom 0.1.0": what a figure of a run must say to be made again.
std::string run_note(const TrajectoryReader& trajectory);

/// What each of several runs is called in a figure of them all: where titles are alike, as of one scene with other
/// seeds, by its file; where these are alike too, by its path.
std::vector<std::string> run_names(const std::vector<const TrajectoryReader*>& runs);

/// The average of that name, or the first of that kind; null if the run observed none.
const AverageInfo* find_average(const TrajectoryReader& trajectory, const std::string& quantity);

/// The averages of a kind that find_average does not return when it is asked for that kind; none where `quantity` is
/// the name of one.
std::vector<std::string> others_of_kind(const TrajectoryReader& trajectory, const std::string& quantity);

/// Whether an average of this kind follows from frames alone, without further words.
[[nodiscard]] bool follows_from_frames(const std::string& kind);

/// Averages that there are figures of: those of the run by name, and the kinds that its frames give.
std::vector<std::string> known_averages(const TrajectoryReader& trajectory);

/// What `plot --all` draws of averages that are no single numbers: those of the run, and speed and density if frames
/// have what these need.
std::vector<std::string> average_quantities(const TrajectoryReader& trajectory);

/// What the run observed under this name or of this kind, over the whole of it; else, if it follows from frames, that
/// of the frames of the second half: by then most runs have forgotten their start. Of these only the ones that are
/// equally far apart in time count, or what compares frames (msd, vacf) would be told wrong lags.
/// \param window  of that run: what was observed ends with it; one that begins later than the average did is taken from
///     the frames that are in the window
/// \throws InputError  neither is there, or there are no frames
RunAverage run_average(const TrajectoryReader& trajectory, const Scene& scene, const std::string& quantity,
                       const TimeWindow& window = {});

/// An average that is a number, so far, at each frame.
struct NumberCourse {
    AverageInfo info;
    std::vector<double> time;
    std::vector<AverageTable> tables;
};

/// Whether the number is that since its own beginning, though the window begins later: frames do not give it.
[[nodiscard]] bool stays_since_its_beginning(const TrajectoryReader& trajectory, const AverageInfo& info,
                                             const TimeWindow& window);

/// \param window  of that run; where it begins later than the average did, it is taken anew from the frames that are in
///     it, if they give it
NumberCourse number_course(const TrajectoryReader& trajectory, const Scene& scene, const AverageInfo& info,
                           const TimeWindow& window);

/// The averages that theory is held against: those of the run, and what is drawn of its frames. None without frames.
std::vector<RunAverage> run_averages(const TrajectoryReader& trajectory, const Scene& scene);

}  // namespace carom
