#include "host/cli/viewer_bench.hpp"

#include <fmt/format.h>

#include "host/bench/machine.hpp"
#include "host/state/errors.hpp"
#ifdef CAROM_HAVE_VIEWER
#include "host/viewer/drawing_speed.hpp"
#endif

namespace carom {

#ifdef CAROM_HAVE_VIEWER

namespace {

nlohmann::ordered_json json_of(const DrawingSpeeds& speeds, const DrawingRequest& request) {
    nlohmann::ordered_json json{{"carom_viewer_bench", 1}};
    json["machine"] = describe_machine();
    json["opengl"] = speeds.gl;
    json["store"] = speeds.store;
    json["width"] = request.width;
    json["height"] = request.height;
    json["rows"] = nlohmann::ordered_json::array();
    for (const DrawingRow& row : speeds.rows) {
        json["rows"].push_back({{"path", row.path},
                                {"backend", row.backend},
                                {"dimension", row.dimension},
                                {"balls", row.balls},
                                {"fill_seconds", row.fill_seconds},
                                {"draw_seconds", row.draw_seconds},
                                {"step_seconds", row.step_seconds},
                                {"frames_per_second", row.frames_per_second()},
                                {"live_frames_per_second", row.live_frames_per_second()},
                                {"pictures", row.pictures},
                                {"largest_difference", row.largest_difference},
                                {"differing_share", row.differing_share}});
    }
    json["left_out"] = speeds.left_out;
    return json;
}

std::string text_of(const DrawingSpeeds& speeds, const DrawingRequest& request) {
    std::string text =
        fmt::format("OpenGL {}; {} x {} pixels; balls {}\n\n", speeds.gl, request.width, request.height, speeds.store);
    text += fmt::format("{:<3} {:>10} {:<8} {:<8} {:>10} {:>10} {:>10} {:>10} {:>10}  {}\n", "", "balls", "backend",
                        "path", "step [ms]", "fill [ms]", "draw [ms]", "frames/s", "live", "from frames");
    constexpr double kMilli = 1e3;
    for (const DrawingRow& row : speeds.rows) {
        const std::string difference = row.path == "frames" ? "-"
                                                            : fmt::format("{} levels, {:.2g} of pixels",
                                                                          row.largest_difference, row.differing_share);
        text += fmt::format("{}D  {:>10} {:<8} {:<8} {:>10.3g} {:>10.3g} {:>10.3g} {:>10.3g} {:>10.3g}  {}\n",
                            row.dimension, row.balls, row.backend, row.path, kMilli * row.step_seconds,
                            kMilli * row.fill_seconds, kMilli * row.draw_seconds, row.frames_per_second(),
                            row.live_frames_per_second(), difference);
    }
    text += "\nframes/s: of balls at rest; live: with one step before each picture\n";
    for (const std::string& left : speeds.left_out) text += "left out: " + left + "\n";
    return text;
}

}  // namespace

ViewerBench run_viewer_bench(const BenchRequest& request, const std::string& backend,
                             const std::function<void(const std::string&)>& tell,
                             const std::function<int()>& interrupted) {
    DrawingRequest drawing;
    if (!request.dimensions.empty()) drawing.dimensions = request.dimensions;
    drawing.sizes = request.sizes;
    drawing.backend = backend;
    if (!request.threads.empty()) drawing.threads = request.threads.front();
    constexpr double kQuick = 0.3;  // [s]
    if (request.quick) drawing.seconds = kQuick;
    const DrawingSpeeds speeds = measure_drawing(drawing, tell, interrupted);
    return {json_of(speeds, drawing), text_of(speeds, drawing)};
}

#else

ViewerBench run_viewer_bench(const BenchRequest&, const std::string&, const std::function<void(const std::string&)>&,
                             const std::function<int()>&) {
    throw SystemError("this build draws no pictures through OpenGL: " CAROM_VIEWER_LACKS);
}

#endif

}  // namespace carom
