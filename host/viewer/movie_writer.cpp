#include "host/viewer/movie_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "host/state/errors.hpp"

namespace carom {

namespace {

constexpr std::string_view kEndings[] = {".mp4", ".webm", ".gif"};

/// How ffmpeg makes a movie, by the ending of its name.
std::vector<std::string> encoding(const std::string& path, bool haste) {
    const std::string even = "pad=ceil(iw/2)*2:ceil(ih/2)*2,format=yuv420p";  // 4:2:0 wants even sizes
    if (path.ends_with(".mp4")) {                                             // H.264 in the form that all players know
        return {"-vf",       even,         "-c:v", "libx264", "-crf", "18", "-preset", haste ? "veryfast" : "medium",
                "-movflags", "+faststart", "-f",   "mp4"};
    }
    if (path.ends_with(".webm")) {
        return {"-vf",       even,
                "-c:v",      "libvpx-vp9",
                "-crf",      "24",
                "-b:v",      "0",
                "-deadline", haste ? "realtime" : "good",
                "-cpu-used", haste ? "8" : "1",
                "-row-mt",   "1",
                "-f",        "webm"};
    }
    // 256 colours: chosen from what moves, when all is known, or picture by picture.
    return {"-vf",
            haste ? "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1:dither=bayer:bayer_scale=4"
                  : "split[a][b];[a]palettegen=stats_mode=diff[p];[b][p]paletteuse=dither=bayer:bayer_scale=4",
            "-f", "gif"};
}

std::vector<std::string> ffmpeg(const std::string& path, int width, int height, double frames_per_second, bool haste,
                                const std::string& file) {
    std::vector<std::string> words{"ffmpeg",
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
                                   "pipe:0"};
    std::ranges::move(encoding(path, haste), std::back_inserter(words));
    words.push_back("file:" + file);  // else a colon in it ends a protocol's name
    return words;
}

}  // namespace

std::span<const std::string_view> movie_endings() { return kEndings; }

bool is_movie_name(const std::string& path) {
    return std::ranges::any_of(kEndings, [&](std::string_view ending) { return path.ends_with(ending); });
}

MovieWriter::MovieWriter(const std::string& path, bool replace, int width, int height, double frames_per_second,
                         bool haste)
    : path_(path),
      replacement_(path, replace),
      ffmpeg_(ffmpeg(path, width, height, frames_per_second, haste, replacement_.temporary()),
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
    // Where the disk is full at the end of the file it says so, and nothing but an error is said, but its status is 0.
    if (status != 0 || !ffmpeg_.last_line().empty()) fail(status);
    replacement_.commit(false);
}

}  // namespace carom
