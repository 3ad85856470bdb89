#include "host/viewer/movie_writer.hpp"

#include <fmt/format.h>

#include "host/state/errors.hpp"

namespace carom {

namespace {

// H.264 in the form that all players know: 4:2:0, which wants even sizes.
std::vector<std::string> ffmpeg(int width, int height, double frames_per_second, const std::string& preset,
                                const std::string& file) {
    return {"ffmpeg",
            "-hide_banner",
            "-loglevel",
            "error",
            "-nostdin",
            "-y",
            "-f",
            "rawvideo",
            "-pixel_format",
            "rgb24",
            "-video_size",
            fmt::format("{}x{}", width, height),
            "-framerate",
            fmt::format("{}", frames_per_second),
            "-i",
            "pipe:0",
            "-vf",
            "pad=ceil(iw/2)*2:ceil(ih/2)*2,format=yuv420p",
            "-c:v",
            "libx264",
            "-crf",
            "18",
            "-preset",
            preset,
            "-movflags",
            "+faststart",
            "-f",
            "mp4",
            "file:" + file};  // else a colon in it ends a protocol's name
}

}  // namespace

MovieWriter::MovieWriter(const std::string& path, int width, int height, double frames_per_second,
                         const std::string& preset)
    : path_(path),
      replacement_(path),
      ffmpeg_(ffmpeg(width, height, frames_per_second, preset, replacement_.temporary()),
              "movies are made by ffmpeg, which is not installed; apt-get install ffmpeg") {}

void MovieWriter::fail(int status) {
    const std::string said = ffmpeg_.last_line();
    throw SystemError(
        fmt::format("ffmpeg could not write {} (status {}){}{}", path_, status, said.empty() ? "" : ": ", said));
}

void MovieWriter::add(const Pixels& pixels) {
    if (!ffmpeg_.write({reinterpret_cast<const char*>(pixels.rgb.data()), pixels.rgb.size()})) fail(ffmpeg_.wait());
}

void MovieWriter::finish() {
    const int status = ffmpeg_.wait();
    if (status != 0) fail(status);
    replacement_.commit(false);
}

}  // namespace carom
