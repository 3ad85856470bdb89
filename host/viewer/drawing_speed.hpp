#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace carom {

/// What `carom bench --viewer` is to measure.
struct DrawingRequest {
    std::vector<int> dimensions{2, 3};
    std::vector<std::uint64_t> sizes;  ///< balls; empty: 1e5 and 1e6, on a GPU 1e7 too
    std::string backend = "auto";      ///< "auto" | "cpu" | "cuda"
    int threads = 0;                   ///< of the CPU; 0: all
    int width = 1280;
    int height = 800;
    double seconds = 1.0;  ///< for each measurement
};

/// One way for balls to get from a solver into a picture.
struct DrawingRow {
    int dimension = 2;
    std::uint64_t balls = 0;
    std::string backend;
    std::string path;              ///< "shared" | "written" | "frames": see docs/viewer.md
    double fill_seconds = 0.0;     ///< from the solver into OpenGL's buffers, median
    double draw_seconds = 0.0;     ///< the draw calls until OpenGL has done them, median
    double step_seconds = 0.0;     ///< of the solver, median
    std::uint64_t pictures = 0;    ///< measured
    int largest_difference = 0;    ///< of a picture from that by frames of the same moment [grey levels]
    double differing_share = 0.0;  ///< of its pixels, by more than one level

    /// Of balls that stand still.
    [[nodiscard]] double frames_per_second() const { return 1.0 / (fill_seconds + draw_seconds); }
    /// With a step before each picture.
    [[nodiscard]] double live_frames_per_second() const { return 1.0 / (step_seconds + fill_seconds + draw_seconds); }
};

struct DrawingSpeeds {
    std::string gl;     ///< OpenGL's version and renderer
    std::string store;  ///< by which way balls get to it, in the viewer's words
    std::vector<DrawingRow> rows;
    std::vector<std::string> left_out;  ///< what and why, one sentence each
};

/// Measures, without a display, with gases of lattices that have melted a little.
/// \param tell  gets a line before each measurement
/// \throws SystemError  no EGL with OpenGL 4.5; no CUDA device, where one is asked for
DrawingSpeeds measure_drawing(const DrawingRequest& request, const std::function<void(const std::string&)>& tell,
                              const std::function<int()>& interrupted);

}  // namespace carom
