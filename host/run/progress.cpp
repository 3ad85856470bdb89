#include "host/run/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "host/run/say.hpp"

namespace carom {

namespace {

constexpr double kBarSeconds = 0.1;    // between two drawings of the bar
constexpr double kLineSeconds = 10.0;  // between two plain lines
constexpr double kMarkSeconds = 5.0;   // over which the speed is measured
constexpr int kBarWidth = 24;          // characters

int terminal_width(std::FILE* stream) {
    winsize size{};
    if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col;
}

std::string duration(double seconds) {
    const auto total = static_cast<long long>(std::ceil(seconds));
    const long long hours = total / 3600;
    const long long minutes = total / 60 % 60;
    if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, total % 60);
    return fmt::format("{}:{:02}", minutes, total % 60);
}

}  // namespace

ProgressStyle progress_style(bool quiet, std::FILE* stream) {
    if (quiet) return ProgressStyle::kNone;
    return isatty(fileno(stream)) != 0 ? ProgressStyle::kBar : ProgressStyle::kLines;
}

std::string progress_text(const ProgressState& state, int width) {
    std::string text = fmt::format("  t = {:.4g} of {:.4g}", state.time, state.until);
    if (state.work_per_second > 0.0) text += fmt::format("  {:.2g} {}/s", state.work_per_second, state.work_name);
    if (std::isfinite(state.seconds_left) && state.seconds_left < 1e8) {
        text += fmt::format("  {} left", duration(state.seconds_left));
    }
    const std::string percent = fmt::format("{:3.0f} %", std::floor(100.0 * state.fraction));
    const int room = width - static_cast<int>(percent.size() + text.size()) - 3;
    if (room < 5) return width > 0 ? (percent + text).substr(0, static_cast<std::size_t>(width)) : percent + text;
    const int bar = std::min(kBarWidth, room);
    const int filled = static_cast<int>(state.fraction * bar);
    std::string picture(static_cast<std::size_t>(bar), ' ');
    std::fill_n(picture.begin(), filled, '=');
    if (filled < bar) picture[static_cast<std::size_t>(filled)] = '>';
    return percent + " [" + picture + "]" + text;
}

Progress::Progress(ProgressStyle style, std::FILE* stream, std::string work_name, double work_per_step)
    : style_(style), stream_(stream), work_name_(std::move(work_name)), work_per_step_(work_per_step) {}

void Progress::start(double time, double until, std::uint64_t step) {
    begin_ = time;
    until_ = until;
    last_print_ = mark_ = Clock::now();
    mark_time_ = time;
    mark_step_ = step;
}

void Progress::update(double time, std::uint64_t step) {
    if (style_ == ProgressStyle::kNone) return;
    const auto now = Clock::now();
    const double waited = std::chrono::duration<double>(now - last_print_).count();
    if (waited < (style_ == ProgressStyle::kBar ? kBarSeconds : kLineSeconds)) return;
    last_print_ = now;
    const double measured = std::chrono::duration<double>(now - mark_).count();
    time_per_second_ = (time - mark_time_) / measured;
    work_per_second_ = static_cast<double>(step - mark_step_) * work_per_step_ / measured;
    print(time, measured);
    if (measured > kMarkSeconds) {
        mark_ = now;
        mark_time_ = time;
        mark_step_ = step;
    }
}

void Progress::print(double time, double measured) {
    ProgressState state;
    state.time = time;
    state.until = until_;
    state.fraction = until_ > begin_ ? std::clamp((time - begin_) / (until_ - begin_), 0.0, 1.0) : 1.0;
    state.work_per_second = work_per_second_;
    state.work_name = work_name_;
    // The first moments say little about the speed.
    state.seconds_left = measured > 0.5 && time_per_second_ > 0.0 ? (until_ - time) / time_per_second_
                                                                  : std::numeric_limits<double>::quiet_NaN();
    if (style_ == ProgressStyle::kBar) {
        say_to(stream_, "\r" + progress_text(state, terminal_width(stream_) - 1) + "\x1b[K");
        drawn_ = true;
    } else {
        say_to(stream_, progress_text(state, 0) + "\n");
    }
}

void Progress::clear() {
    if (!drawn_) return;
    say_to(stream_, "\r\x1b[K");
    drawn_ = false;
}

}  // namespace carom
