#include "host/run/memory.hpp"

#include <unistd.h>

#include <algorithm>

#include "host/io/trajectory_header.hpp"
#include "host/observables/registry.hpp"

namespace carom {

namespace {

constexpr std::uint64_t kFileBuffers = 6'000'000;  // of the HDF5 library when files are large: measured
constexpr std::uint64_t kFileBuffersPerBall = 25;  // until they are full

std::uint64_t numbers_per_ball(int dimension) {
    // Position and velocity; spin has one component in 2D and three in 3D.
    return dimension == 2 ? 2 + 2 + 1 : 3 + 3 + 3;
}

std::uint64_t frame_bytes_per_ball(int dimension) {
    return 8 * numbers_per_ball(dimension) + 4 * static_cast<std::uint64_t>(dimension) + 1;  // image counts, gone
}

}  // namespace

std::size_t frames_in_flight(std::size_t balls, bool in_parts) {
    constexpr std::size_t kManyBalls = 800'000;  // a frame then takes some 50 MB
    return in_parts || balls > kManyBalls ? 2 : 4;
}

std::uint64_t memory_beside_solver(int dimension, std::size_t balls, std::uint64_t frames) {
    const std::uint64_t frame = frame_bytes_per_ball(dimension);
    const std::uint64_t checkpoint = frame + 4;           // with the species
    const std::uint64_t spins = dimension == 2 ? 8 : 24;  // that the solver keeps
    const std::uint64_t species = 4 + 4;                  // in the solver and in the file's header
    const std::uint64_t held = std::min<std::uint64_t>(frames, frames_in_flight(balls));
    const std::uint64_t buffers = std::min<std::uint64_t>(kFileBuffers, kFileBuffersPerBall * balls);
    return kMemoryOfProgram + buffers + balls * (held * frame + checkpoint + spins + species);
}

std::uint64_t memory_of_parts(int dimension, std::size_t balls) {
    const std::uint64_t frame = frame_bytes_per_ball(dimension);
    const std::uint64_t part = std::min(balls, balls_per_chunk(balls));
    const std::uint64_t chunk = 3 * 8;  // on its way to the file
    const std::uint64_t buffers = std::min<std::uint64_t>(kFileBuffers, kFileBuffersPerBall * balls);
    return buffers + part * (frames_in_flight(balls, true) * frame + frame + 4 + chunk);
}

std::uint64_t memory_of_dealing(int dimension, std::size_t balls) {
    const std::uint64_t properties = 2 * 8;  // radius and inverse mass
    return balls * (frame_bytes_per_ball(dimension) + 4 + properties);
}

std::uint64_t memory_of_copies(int dimension, std::size_t balls) { return balls * frame_bytes_per_ball(dimension); }

std::uint64_t observables_memory(const Scene& scene, const SolverState& state) {
    if (scene.observables.empty()) return 0;
    const Balls& balls = state.balls;
    const std::size_t count = state.ball_count();
    const auto dimension = static_cast<std::uint64_t>(scene.dimension());
    std::uint64_t bytes = count * frame_bytes_per_ball(scene.dimension());  // the frame that they look at
    bool rows = false;
    bool averages = false;
    for (const ObserveEntry& entry : scene.observables) {
        if (is_average(entry.kind)) {
            averages =
                true;  // their tables are small beside the balls, but for what follows single ones, and that is bounded
            continue;
        }
        rows = true;
        std::uint64_t watched = 0;
        for (std::size_t id = 0; id < balls.size(); ++id) {
            watched += entry.species.empty() || balls.species_of(id).name == entry.species ? 1 : 0;
        }
        bytes += watched * (4 + 8 * dimension);  // its id, and where it was at the start
    }
    if (averages) bytes += count * 4;  // species
    // Rows and averages have a frame each.
    if (rows && averages) bytes += count * frame_bytes_per_ball(scene.dimension());
    return bytes;
}

std::uint64_t memory_of_looking(const Scene& scene, std::size_t balls) {
    constexpr std::uint64_t kSpecies = 4;
    constexpr std::uint64_t kPlaces = 2 * 32;  // of those whose pairs are counted, and of their partners
    std::uint64_t bytes = 0;
    for (const ObserveEntry& entry : scene.observables) {
        if (!is_average(entry.kind)) continue;
        bytes = std::max(bytes, kSpecies + (find_observable_kind(entry.kind).pairs ? kPlaces : 0));
    }
    return balls * bytes;
}

std::uint64_t machine_memory_bytes() {
    return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
}

}  // namespace carom
