#include "host/viewer/movie_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "host/state/errors.hpp"

namespace carom {

namespace {

/// How ffmpeg makes a kind of movie, by the ending of its name.
struct MovieKind {
    std::string_view ending;
    std::vector<std::string> options;
};

std::vector<MovieKind> movie_kinds(const std::string& preset) {
    const std::string even = "pad=ceil(iw/2)*2:ceil(ih/2)*2,format=yuv420p";  // 4:2:0 wants even sizes
    return {{".mp4",                                                          // H.264 in the form that all players know
             {"-vf", even, "-c:v", "libx264", "-crf", "18", "-preset", preset, "-movflags", "+faststart", "-f", "mp4"}},
            {".webm", {"-vf", even, "-c:v", "libvpx-vp9", "-crf", "24", "-b:v", "0", "-row-mt", "1", "-f", "webm"}},
            {".gif",  // 256 colours, chosen from what moves
             {"-vf", "split[a][b];[a]palettegen=stats_mode=diff[p];[b][p]paletteuse=dither=bayer:bayer_scale=4", "-f",
              "gif"}}};
}

std::vector<std::string> ffmpeg(const std::string& path, int width, int height, double frames_per_second,
                                const std::string& preset, const std::string& file) {
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
    for (const MovieKind& kind : movie_kinds(preset)) {
        if (path.ends_with(kind.ending)) words.insert(words.end(), kind.options.begin(), kind.options.end());
    }
    words.push_back("file:" + file);  // else a colon in it ends a protocol's name
    return words;
}

}  // namespace

bool is_movie_name(const std::string& path) {
    return std::ranges::any_of(movie_kinds({}), [&](const MovieKind& kind) { return path.ends_with(kind.ending); });
}

MovieWriter::MovieWriter(const std::string& path, int width, int height, double frames_per_second,
                         const std::string& preset)
    : path_(path),
      replacement_(path),
      ffmpeg_(ffmpeg(path, width, height, frames_per_second, preset, replacement_.temporary()),
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
