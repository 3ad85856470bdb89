#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include "host/run/progress.hpp"

namespace carom {

/// " 42 % [==========>             ]  27 of 64 runs  120 runs/s  0:32 left", at most `width` wide; no bar if `width`
/// is 0.
/// \param per_second  0: not known yet
/// \param word        what is done with the runs, if they are not run: "checked"
std::string sweep_progress_text(std::uint64_t done, std::uint64_t runs, double per_second, int width,
                                const std::string& word = "");

/// Prints how many runs are done, and how long the rest may take.
class SweepProgress {
public:
    /// \param before  runs that were done before this process
    /// \param word    as sweep_progress_text
    SweepProgress(ProgressStyle style, std::FILE* stream, std::uint64_t runs, std::uint64_t before,
                  std::string word = "");

    void update(std::uint64_t done);
    /// Takes the bar away, so that a message can follow.
    void clear();

private:
    using Clock = std::chrono::steady_clock;

    ProgressStyle style_;
    std::FILE* stream_;
    std::uint64_t runs_;
    std::uint64_t before_;
    std::string word_;
    Clock::time_point begin_;
    Clock::time_point last_print_;
    bool drawn_ = false;
};

}  // namespace carom
