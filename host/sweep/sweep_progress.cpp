#include "host/sweep/sweep_progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "host/run/say.hpp"
#include "host/run/text.hpp"

namespace carom {

namespace {

constexpr double kBarSeconds = 0.1;    // between two drawings of the bar
constexpr double kLineSeconds = 10.0;  // between two plain lines
constexpr double kSpeedSeconds = 0.5;  // before these the speed says little
constexpr int kBarWidth = 24;          // characters

std::string duration(double seconds) {
    const auto total = static_cast<long long>(std::ceil(seconds));
    return total >= 3600 ? fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60)
                         : fmt::format("{}:{:02}", total / 60, total % 60);
}

int terminal_width(std::FILE* stream) {
    winsize size{};
    if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col;
}

}  // namespace

std::string sweep_progress_text(std::uint64_t done, std::uint64_t runs, double per_second, int width,
                                const std::string& word) {
    const double fraction = runs > 0 ? static_cast<double>(done) / static_cast<double>(runs) : 1.0;
    std::string text =
        fmt::format("  {} of {}", count_text(done), plural(runs, "run") + (word.empty() ? "" : " " + word));
    if (per_second > 0.0) {
        text += fmt::format("  {:.2g} runs/s  {} left", per_second,
                            duration(static_cast<double>(runs - done) / per_second));
    }
    const std::string percent = fmt::format("{:3.0f} %", std::floor(100.0 * fraction));
    const int room = width - static_cast<int>(percent.size() + text.size()) - 3;
    if (room < 5) return width > 0 ? (percent + text).substr(0, static_cast<std::size_t>(width)) : percent + text;
    const int bar = std::min(kBarWidth, room);
    const int filled = static_cast<int>(fraction * bar);
    std::string picture(static_cast<std::size_t>(bar), ' ');
    std::fill_n(picture.begin(), filled, '=');
    if (filled < bar) picture[static_cast<std::size_t>(filled)] = '>';
    return percent + " [" + picture + "]" + text;
}

SweepProgress::SweepProgress(ProgressStyle style, std::FILE* stream, std::uint64_t runs, std::uint64_t before,
                             std::string word)
    : style_(style),
      stream_(stream),
      runs_(runs),
      before_(before),
      word_(std::move(word)),
      begin_(Clock::now()),
      last_print_(begin_) {}

void SweepProgress::update(std::uint64_t done) {
    if (style_ == ProgressStyle::kNone) return;
    const auto now = Clock::now();
    const double waited = std::chrono::duration<double>(now - last_print_).count();
    if (waited < (style_ == ProgressStyle::kBar ? kBarSeconds : kLineSeconds)) return;
    last_print_ = now;
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    const double speed = seconds > kSpeedSeconds ? static_cast<double>(done - before_) / seconds : 0.0;
    if (style_ == ProgressStyle::kBar) {
        say_to(stream_, "\r" + sweep_progress_text(done, runs_, speed, terminal_width(stream_) - 1, word_) + "\x1b[K");
        drawn_ = true;
    } else {
        say_to(stream_, sweep_progress_text(done, runs_, speed, 0, word_) + "\n");
    }
}

void SweepProgress::clear() {
    if (!drawn_) return;
    say_to(stream_, "\r\x1b[K");
    drawn_ = false;
}

}  // namespace carom
