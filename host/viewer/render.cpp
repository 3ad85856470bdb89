#include "host/viewer/render.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "host/io/replacement.hpp"
#include "host/run/output_files.hpp"
#include "host/run/say.hpp"
#include "host/state/errors.hpp"
#include "host/viewer/chart.hpp"
#include "host/viewer/movie_writer.hpp"
#include "host/viewer/opengl.hpp"

namespace carom {

namespace {

namespace fs = std::filesystem;

/// The number of a picture that render writes into a folder; none for other files.
std::optional<std::size_t> number_of(const std::string& name) {
    constexpr std::string_view kStart = "frame-";
    constexpr std::string_view kEnd = ".png";
    constexpr std::size_t kDigits = 6;  // at least
    if (!name.starts_with(kStart) || !name.ends_with(kEnd) || name.size() < kStart.size() + kDigits + kEnd.size()) {
        return std::nullopt;
    }
    const char* first = name.data() + kStart.size();
    const char* last = name.data() + name.size() - kEnd.size();
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(first, last, number);
    if (error != std::errc() || end != last) return std::nullopt;
    return number;
}

/// The pictures of an earlier call, by their numbers.
std::vector<std::pair<std::size_t, fs::path>> stored_pictures(const fs::path& folder) {
    std::vector<std::pair<std::size_t, fs::path>> pictures;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
        if (const auto number = number_of(entry->path().filename().string())) {
            pictures.emplace_back(*number, entry->path());
        }
    }
    return pictures;
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
    std::error_code ignored;  // what is there and cannot be looked at, says the writing of it
    if (output.ends_with('/') || fs::is_directory(output, ignored)) return RenderKind::kFolder;
    if (output.ends_with(".png")) return RenderKind::kPicture;
    if (is_movie_name(output)) return RenderKind::kMovie;
    throw InputError(
        fmt::format("--output {}: a picture ends in .png, a movie in .mp4, .webm or .gif, a folder in /", output));
}

void require_inputs_stay(const std::string& output, std::span<const std::string> inputs) {
    require_no_input({{output}}, inputs);
    for (const auto& [number, path] : stored_pictures(output)) require_no_input({{path.string()}}, inputs);
}

void check_render_output(const RenderRequest& request, const std::string& input) {
    require_inputs_stay(request.output, {{input}});
    if (render_kind(request.output) != RenderKind::kFolder) {
        check_output_file(request.output, input, request.force);
        return;
    }
    std::error_code error;
    if (!fs::exists(request.output, error)) return;
    if (!fs::is_directory(request.output, error)) throw InputError(request.output + ": exists and is no folder");
    if (!request.force && !stored_pictures(request.output).empty()) {
        throw InputError(request.output + ": holds pictures already; --force overwrites them");
    }
}

namespace {

void add_charts(LineList& lines, const RenderRequest& request, const Theme& theme, float room, const Frame& frame) {
    if (request.charts.empty()) return;
    const float scale = overlay_scale(request.width, request.height);
    const float rim = 20.0f * scale;
    const auto width = static_cast<float>(request.width);
    const float each = (static_cast<float>(request.height) - 2.0f * rim) / static_cast<float>(request.charts.size());
    for (std::size_t k = 0; k < request.charts.size(); ++k) {
        const float top = rim + each * static_cast<float>(k);
        const Figure& figure = request.charts[k];
        add_chart(lines, figure, {width - room + rim, top, width - rim, top + each}, theme, scale,
                  figure.x_label == "time" ? std::optional(frame.time) : std::nullopt);
    }
}

}  // namespace

std::size_t render(FrameSource& source, const RenderRequest& request, const std::function<int()>& interrupted) {
    const RenderKind kind = render_kind(request.output);
    const Appearance appearance(request.style, source.scene(), source.balls());
    const EglContext context;
    Painter painter(source.scene(), source.balls(), appearance, request.width, request.height);
    if (request.notes) painter.make_room_for_notes();
    constexpr float kChartsShare = 0.36f;  // of the width
    const float chart_room = request.charts.empty() ? 0.0f : kChartsShare * static_cast<float>(request.width);
    painter.set_chart_room(chart_room);
    painter.camera().fit();
    const CameraWish& wish = appearance.camera;
    wish.apply(painter.camera());
    const Camera fitted = painter.camera();
    if (request.follow && *request.follow >= source.balls().size()) {
        throw InputError(fmt::format("--follow: there is no ball {}; there {}", *request.follow,
                                     source.balls().size() == 0
                                         ? "are none"
                                         : fmt::format("are those from 0 to {}", source.balls().size() - 1)));
    }
    std::optional<MovieWriter> movie;
    if (kind == RenderKind::kMovie) {
        movie.emplace(request.output, request.force, request.width, request.height, request.frames_per_second);
    } else if (kind == RenderKind::kFolder) {
        std::error_code error;
        fs::create_directories(request.output, error);
        if (error) throw SystemError(fmt::format("cannot make the folder {}: {}", request.output, error.message()));
    }
    Counter counter(source.count(), request.quiet);
    Pixels pixels;
    LineList beside;
    std::size_t done = 0;
    const auto before = stored_pictures(request.output);  // none where it is no folder
    while (interrupted() == 0) {
        const Frame* frame = source.next();
        if (frame == nullptr) break;
        if (!request.camera_keys.empty()) {
            camera_at(request.camera_keys, wish, fitted, frame->time).apply(painter.camera());
        }
        painter.require_numbers(*frame);
        if (request.follow) painter.follow(*frame, *request.follow);
        beside.clear();
        add_charts(beside, request, painter.theme(), chart_room, *frame);
        painter.draw(*frame, request.notes ? source.notes() : std::vector<std::string>{}, &beside);
        painter.read(pixels);
        switch (kind) {
            case RenderKind::kPicture:
                write_png(pixels, request.output, request.force);
                break;
            case RenderKind::kFolder:
                keep_earlier(done, [&] {
                    write_png(pixels, (fs::path(request.output) / fmt::format("frame-{:06}.png", done)).string(),
                              request.force);
                });
                break;
            case RenderKind::kMovie:
                movie->add(pixels);
                break;
        }
        counter.update(++done);
    }
    if (movie && interrupted() == 0) movie->finish();
    if (kind == RenderKind::kFolder && interrupted() == 0) {
        // Of a longer run, which had been there before: they would pass for the end of this one.
        for (const auto& [number, path] : before) {
            std::error_code error;
            if (number >= done && !fs::remove(path, error) && error) {
                throw SystemError(fmt::format("cannot remove {}: {}", path.string(), error.message()));
            }
        }
    }
    return done;
}

}  // namespace carom
