#include "host/viewer/drawing_speed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <new>
#include <stdexcept>

#include "host/backends/spring_backends.hpp"
#include "host/run/prepare.hpp"
#include "host/run/say.hpp"
#include "host/state/errors.hpp"
#include "host/viewer/cloud_feed.hpp"
#include "host/viewer/opengl.hpp"
#include "host/viewer/painter.hpp"

namespace carom {

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

/// A gas in a box of walls, as the bench's of a moderate density.
std::string scene_text(int dimension, std::uint64_t balls) {
    constexpr double kPi = 3.14159265358979323846;
    const auto n = static_cast<double>(balls);
    const double side = dimension == 2 ? std::sqrt(n * kPi / 4.0 / 0.4) : std::cbrt(n * kPi / 6.0 / 0.3);
    std::string size = fmt::format("{:.9g}, {:.9g}", side, side);
    if (dimension == 3) size += fmt::format(", {:.9g}", side);
    return fmt::format(
        "[scene]\ndimension = {}\n[box]\nsize = [{}]\n[spring]\nstiffness = 1.0e4\n[[fill]]\n"
        "arrangement = \"lattice\"\ncount = {}\nradius = 0.5\nmass = 1.0\ntemperature = 1.0\n",
        dimension, size, balls);
}

class Course {
public:
    Course(const DrawingRequest& request, int dimension, std::uint64_t balls, const std::string& backend)
        : request_(request),
          scene_(prepare_scene({.scene = "",
                                .overrides = {"run.backend=\"" + backend + "\""},
                                .threads = request.threads,
                                .text = SceneText{"bench", scene_text(dimension, balls)}})),
          painter_(scene_.scene, scene_.state.balls, {.quantity = Quantity::kSpeed, .labels = false}, request.width,
                   request.height) {
        row_.dimension = dimension;
        row_.balls = balls;
        row_.backend = scene_.plan->processor();
        painter_.set_oversampling(1);  // as a window draws what moves where drawing is slow
        painter_.set_shadows(false);
        solver_ = scene_.plan->make_solver(scene_.state, "");
        constexpr std::uint64_t kSteps = 20;  // from the lattice
        advance(kSteps);
    }

    [[nodiscard]] std::unique_ptr<CloudStore> best_store() {
        return make_cloud_store(scene_.state.balls.size(), pictures_of(*solver_));
    }

    DrawingRow measure(CloudStore& store, CloudFeed& feed, const std::string& path) {
        row_.path = path;
        std::vector<double> fills;
        std::vector<double> draws;
        std::vector<double> steps;
        const auto begin = Clock::now();
        constexpr std::size_t kLeast = 4;  // of which the first does not count: buffers are made with it
        constexpr std::size_t kMost = 2000;
        for (std::size_t k = 0; k < kMost && (k < kLeast || since(begin) < request_.seconds); ++k) {
            const int slot = static_cast<int>(k) % FrameRing::kSlots;
            const auto first = Clock::now();
            advance(1);
            const auto second = Clock::now();
            store.wait(slot);
            fill(store, slot, feed);
            const auto third = Clock::now();
            draw(store, slot);
            glFinish();
            if (k == 0) continue;
            steps.push_back(std::chrono::duration<double>(second - first).count());
            fills.push_back(std::chrono::duration<double>(third - second).count());
            draws.push_back(since(third));
        }
        row_.fill_seconds = median(fills);
        row_.draw_seconds = median(draws);
        row_.step_seconds = median(steps);
        row_.pictures = fills.size();
        return row_;
    }

    /// How the picture by this store differs from that by a frame of the same moment.
    void compare(CloudStore& store, CloudFeed& feed, DrawingRow& row) {
        store.wait(0);
        fill(store, 0, feed);
        draw(store, 0);
        Pixels one;
        painter_.read(one);
        solver_->request_frame(frame_);
        solver_->finish_frame(frame_);
        painter_.set_range(range_);
        painter_.draw(frame_, {});
        painter_.set_range(std::nullopt);
        Pixels other;
        painter_.read(other);
        std::size_t differing = 0;
        for (std::size_t k = 0; k < one.rgb.size(); ++k) {
            const int off = std::abs(static_cast<int>(one.rgb[k]) - static_cast<int>(other.rgb[k]));
            row.largest_difference = std::max(row.largest_difference, off);
            differing += off > 1 ? 1 : 0;
        }
        row.differing_share = static_cast<double>(differing) / static_cast<double>(one.rgb.size());
    }

private:
    void advance(std::uint64_t steps) {
        const double target = scene_.plan->time_of_step(solver_->step() + steps);
        while (!solver_->advance_to(target, 1.0)) {
        }
    }
    void fill(CloudStore& store, int slot, CloudFeed& feed) {
        const Frame* frame = nullptr;
        if (feed.needs_frame(store, slot, *solver_, Quantity::kSpeed)) {
            solver_->request_frame(frame_);
            solver_->finish_frame(frame_);
            frame = &frame_;
        }
        range_ = feed.fill(store, slot, *solver_, scene_.scene, scene_.state.balls, Quantity::kSpeed, frame);
    }
    void draw(CloudStore& store, int slot) {
        painter_.set_range(range_);
        painter_.see(range_);
        painter_.draw(store.buffers(slot), solver_->time(), scene_.state.balls.size(), {});
        store.drawn(slot);
    }

    const DrawingRequest& request_;
    PreparedScene scene_;
    Painter painter_;
    std::unique_ptr<Solver> solver_;
    DrawingRow row_;
    Frame frame_;
    ValueRange range_;
};

void measure_course(const DrawingRequest& request, int dimension, std::uint64_t balls, const std::string& backend,
                    const std::function<void(const std::string&)>& tell, DrawingSpeeds& speeds) {
    const std::string what = fmt::format("{}D, {}", dimension, plural(balls, "ball"));
    try {
        tell("placing " + what);
        Course course(request, dimension, balls, backend);
        {
            const auto store = course.best_store();
            const bool shared = store->arrays(0).has_value();
            CloudFeed feed;
            const std::string path = shared ? "shared" : backend == "cuda" ? "frames" : "written";
            speeds.store = store->way(path == "frames");
            if (path != "frames") {
                tell(fmt::format("{}, {}", what, path));
                DrawingRow row = course.measure(*store, feed, path);
                course.compare(*store, feed, row);
                speeds.rows.push_back(row);
            } else {
                speeds.left_out.push_back(fmt::format("{}, shared: {}", what, store->way(true)));
            }
        }
        tell(what + ", frames");
        const auto store = make_mapped_store(balls);
        CloudFeed feed(true);
        speeds.rows.push_back(course.measure(*store, feed, "frames"));
    } catch (const std::bad_alloc&) {
        speeds.left_out.push_back(what + ": out of memory");
    } catch (const std::runtime_error& error) {
        speeds.left_out.push_back(fmt::format("{}: {}", what, error.what()));
    }
}

}  // namespace

DrawingSpeeds measure_drawing(const DrawingRequest& request, const std::function<void(const std::string&)>& tell,
                              const std::function<int()>& interrupted) {
    ProcessorChoice choice = ProcessorChoice::kAuto;
    if (request.backend == "cpu") choice = ProcessorChoice::kCpu;
    if (request.backend == "cuda") choice = ProcessorChoice::kCuda;
    std::string backend;
    try {
        backend = choose_processor(choice, kAutoCudaBalls);
    } catch (const std::runtime_error& error) {
        throw SystemError(error.what());
    }
    const EglContext context;
    DrawingSpeeds speeds;
    speeds.gl = gl_description();
    std::vector<std::uint64_t> sizes = request.sizes;
    if (sizes.empty()) sizes = {100'000, 1'000'000};
    if (request.sizes.empty() && backend == "cuda") sizes.push_back(10'000'000);
    for (const int dimension : request.dimensions) {
        for (const std::uint64_t balls : sizes) {
            if (interrupted() != 0) return speeds;
            measure_course(request, dimension, balls, backend, tell, speeds);
        }
    }
    return speeds;
}

}  // namespace carom
