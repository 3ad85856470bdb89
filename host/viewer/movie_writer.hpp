#pragma once

#include <string>

#include "host/io/child_process.hpp"
#include "host/io/replacement.hpp"
#include "host/plot/image.hpp"

namespace carom {

/// .mp4, .webm or .gif
bool is_movie_name(const std::string& path);

/// A movie, encoded by ffmpeg, which gets the pictures through a pipe. It takes its place when it is whole.
class MovieWriter {
public:
    /// \param path    by its ending: .mp4, .webm or .gif
    /// \param preset  of x264: how much time it takes to make the movie small
    /// \throws SystemError  ffmpeg is not installed or cannot be started
    MovieWriter(const std::string& path, int width, int height, double frames_per_second,
                const std::string& preset = "medium");

    /// \throws SystemError  ffmpeg has ended: with the last line that it said
    void add(const Pixels& pixels);
    /// \throws SystemError  ffmpeg could not write the movie
    void finish();

private:
    [[noreturn]] void fail(int status);

    std::string path_;
    Replacement replacement_;
    ChildProcess ffmpeg_;  // ended before its unfinished file is removed
};

}  // namespace carom
