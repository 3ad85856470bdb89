#include "host/viewer/render.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "host/run/output_files.hpp"
#include "host/run/say.hpp"
#include "host/state/errors.hpp"
#include "host/viewer/egl_context.hpp"
#include "host/viewer/movie_writer.hpp"

namespace carom {

namespace {

namespace fs = std::filesystem;

void write_picture(const Pixels& pixels, const std::string& path) {
    Replacement replacement(path);
    write_png(pixels.rgb, pixels.width, pixels.height, replacement.temporary());
    replacement.commit(false);
}

/// One line that is redrawn, on a terminal alone.
class Counter {
public:
    Counter(std::size_t count, bool quiet) : count_(count), shown_(!quiet && count > 1 && isatty(STDERR_FILENO) != 0) {}
    ~Counter() {
        if (shown_) say("\r{:40}\r", "");
    }
    Counter(const Counter&) = delete;
    Counter& operator=(const Counter&) = delete;

    void update(std::size_t done) {
        const auto now = std::chrono::steady_clock::now();
        if (!shown_ || now - last_ < std::chrono::milliseconds(200)) return;
        last_ = now;
        say("\rframe {} of {}", done, count_);
    }

private:
    std::size_t count_;
    bool shown_;
    std::chrono::steady_clock::time_point last_;
};

}  // namespace

RenderKind render_kind(const std::string& output) {
    if (output.ends_with('/') || fs::is_directory(output)) return RenderKind::kFolder;
    if (output.ends_with(".png")) return RenderKind::kPicture;
    if (output.ends_with(".mp4")) return RenderKind::kMovie;
    throw InputError(fmt::format("--output {}: a picture ends in .png, a movie in .mp4, a folder in /", output));
}

void check_render_output(const RenderRequest& request, const std::string& input) {
    if (render_kind(request.output) != RenderKind::kFolder) {
        check_output_file(request.output, input, request.force);
        return;
    }
    std::error_code error;
    if (!fs::exists(request.output, error)) return;
    if (!fs::is_directory(request.output, error)) throw InputError(request.output + ": exists and is no folder");
    if (!request.force && fs::exists(fs::path(request.output) / "frame-000000.png", error)) {
        throw InputError(request.output + ": holds pictures already; --force overwrites them");
    }
}

std::size_t render(FrameSource& source, const RenderRequest& request, const std::function<int()>& interrupted) {
    const RenderKind kind = render_kind(request.output);
    const EglContext context;
    Painter painter(source.scene(), source.balls(), request.style, request.width, request.height);
    request.camera.apply(painter.camera());
    std::optional<MovieWriter> movie;
    if (kind == RenderKind::kMovie) {
        movie.emplace(request.output, request.width, request.height, request.frames_per_second);
    } else if (kind == RenderKind::kFolder) {
        std::error_code error;
        fs::create_directories(request.output, error);
        if (error) throw SystemError(fmt::format("cannot make the folder {}: {}", request.output, error.message()));
    }
    Counter counter(source.count(), request.quiet);
    Pixels pixels;
    std::size_t done = 0;
    while (interrupted() == 0) {
        const Frame* frame = source.next();
        if (frame == nullptr) break;
        painter.draw(*frame, request.notes ? source.notes() : std::vector<std::string>{});
        painter.read(pixels);
        switch (kind) {
            case RenderKind::kPicture:
                write_picture(pixels, request.output);
                break;
            case RenderKind::kFolder:
                write_picture(pixels, (fs::path(request.output) / fmt::format("frame-{:06}.png", done)).string());
                break;
            case RenderKind::kMovie:
                movie->add(pixels);
                break;
        }
        counter.update(++done);
    }
    if (movie && interrupted() == 0) movie->finish();
    return done;
}

}  // namespace carom
