#pragma once

#include <span>
#include <string>
#include <string_view>

#include "host/io/child_process.hpp"
#include "host/io/replacement.hpp"
#include "host/plot/image.hpp"

namespace carom {

/// The endings of movies' names: .mp4, .webm and .gif.
std::span<const std::string_view> movie_endings();
bool is_movie_name(const std::string& path);

/// A movie, encoded by ffmpeg, which gets the pictures through a pipe. It takes its place when it is whole.
class MovieWriter {
public:
    /// \param path     by its ending: .mp4, .webm or .gif
    /// \param replace  an older file may be replaced
    /// \param haste    somebody waits for each picture: a larger movie in less time
    /// \throws InputError   as Replacement
    /// \throws SystemError  ffmpeg is not installed or cannot be started
    MovieWriter(const std::string& path, bool replace, int width, int height, double frames_per_second,
                bool haste = false);

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
