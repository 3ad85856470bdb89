#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace carom {

/// How a run shows on standard error that it goes on.
enum class ProgressStyle : std::uint8_t {
    kNone,   ///< --quiet
    kLines,  ///< a plain line now and then: standard error is no terminal
    kBar,    ///< one line, redrawn
};

/// kNone if quiet, else by whether `stream` is a terminal.
ProgressStyle progress_style(bool quiet, std::FILE* stream);

/// What the progress line says; kept apart from when and where it is printed.
struct ProgressState {
    double fraction = 0.0;  ///< of the way, 0 to 1
    double time = 0.0;      ///< simulated
    double until = 0.0;     ///< simulated
    double work_per_second = 0.0;
    std::string work_name;      ///< "ball-steps"
    double seconds_left = 0.0;  ///< NaN: not known yet
};

/// "42 % [=====>      ]  t = 4.2 of 10  1.9e8 ball-steps/s  0:32 left", at most `width` wide; no bar if `width` is 0.
std::string progress_text(const ProgressState& state, int width);

/// Prints progress, seldom enough not to cost anything.
class Progress {
public:
    /// \param work_per_step  what one step counts for: the number of balls
    Progress(ProgressStyle style, std::FILE* stream, std::string work_name, double work_per_step);

    void start(double time, double until, std::uint64_t step);
    void update(double time, std::uint64_t step);
    /// Takes the bar away, so that a message can follow.
    void clear();

private:
    using Clock = std::chrono::steady_clock;

    void print(double time, double measured);

    ProgressStyle style_;
    std::FILE* stream_;
    std::string work_name_;
    double work_per_step_;
    double begin_ = 0.0;  // simulated time
    double until_ = 0.0;
    Clock::time_point last_print_;
    Clock::time_point mark_;  // speed and time left are measured from here on, a few seconds back
    double mark_time_ = 0.0;
    std::uint64_t mark_step_ = 0;
    double time_per_second_ = 0.0;
    double work_per_second_ = 0.0;
    bool drawn_ = false;
};

}  // namespace carom
