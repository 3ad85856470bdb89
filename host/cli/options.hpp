#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/cli/command_line.hpp"
#include "host/run/prepare.hpp"

namespace carom {

/// The options that stand for keys of the scene, and mean the same in every command that has them.
struct SceneOptions {
    std::string scene;
    std::string solver;
    std::string backend;
    std::string precision;
    std::string until;
    std::string seed;
    std::string steps;
    std::string threads;
    std::string device;
    std::vector<std::string> set;

    /// \throws InputError  a number that is none
    [[nodiscard]] SceneRequest request() const;
    /// The action, on the device that was chosen, with errors in keys that an option stands for told as errors in that
    /// option. These options must outlive it.
    [[nodiscard]] Action naming_options(Action action) const;
};

void add_scene_options(CommandOptions& command, SceneOptions& options);

/// The GPU of --device; empty: the first.
/// \throws InputError  a number that is none, a device that is not there, or a run that ranks share
void use_device(const std::string& number);

/// What `work` has thrown, if anything: for who first prints what was computed, and then throws it again.
std::exception_ptr thrown_by(const std::function<void()>& work);

/// A whole number from `least` up. \throws InputError  naming the option
std::uint64_t parse_whole(const std::string& option, const std::string& text, std::uint64_t least);
/// "2,1,4" of --ranks-per-axis: into how many layers each axis is cut. \throws InputError  their product is another
std::array<int, 3> parse_layers(const std::string& text, int ranks);
/// A finite number from 0 up. \throws InputError  naming the option
double parse_time(const std::string& option, const std::string& text);

/// Any finite number. \throws InputError  naming the option
double parse_number(const std::string& option, const std::string& text);

struct TimeWindow;
/// Of the options --from and --to; either may be empty.
TimeWindow time_window(const std::string& from, const std::string& to);

/// Which stored frame; at most one of the three is given.
struct FrameOptions {
    bool last = false;
    std::string time;
    std::string frame;

    [[nodiscard]] bool given() const { return last || !time.empty() || !frame.empty(); }
};

void add_frame_options(CommandOptions& command, FrameOptions& options);

class TrajectoryReader;

/// The index of the chosen frame; the last without a choice.
/// \throws InputError  there is no such frame
std::size_t choose_frame(const FrameOptions& options, const TrajectoryReader& trajectory);

}  // namespace carom
