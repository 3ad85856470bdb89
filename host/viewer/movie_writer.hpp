#pragma once

#include <sys/types.h>

#include <string>

#include "host/io/replacement.hpp"
#include "host/viewer/pixels.hpp"

namespace carom {

/// A movie, encoded by ffmpeg, which gets the pictures through a pipe. It takes its place when it is whole.
class MovieWriter {
public:
    /// \param preset  of x264: how much time it takes to make the movie small
    /// \throws SystemError  ffmpeg is not installed or cannot be started
    MovieWriter(const std::string& path, int width, int height, double frames_per_second,
                const std::string& preset = "medium");
    /// Ends ffmpeg, and removes an unfinished movie.
    ~MovieWriter();
    MovieWriter(const MovieWriter&) = delete;
    MovieWriter& operator=(const MovieWriter&) = delete;

    /// \throws SystemError  ffmpeg has ended: with the last line that it said
    void add(const Pixels& pixels);
    /// \throws SystemError  ffmpeg could not write the movie
    void finish();

private:
    [[noreturn]] void fail(int status);
    int wait();

    std::string path_;
    Replacement replacement_;
    pid_t child_ = -1;
    int to_child_ = -1;
    int log_ = -1;  // a file without a name that holds what ffmpeg says
};

}  // namespace carom
