// Collisions per second of the event-driven engine: elastic equal balls in a periodic box, from a lattice.
//
//   events_bench DIMENSION BALLS PACKING_FRACTION [WARM_COLLISIONS_PER_BALL] [CPU_SECONDS] [CELL] [SHUFFLE] [SHELL]
//                [plain|walls|gravity|friction|mixture]
//
// The last word adds to the plain gas: reflecting walls; these and weak gravity; friction; every other ball half as
// wide. The mean free path says at which packing fraction two of them collide as often. Prints the median of three
// stretches, by CPU time, which other programs on the machine disturb least.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "host/events/events_engine.hpp"

namespace {

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Start {
    carom::EventsSetup setup;
    carom::SolverState state;
};

Start lattice(int dimension, std::size_t wanted, double packing_fraction, bool shuffle) {
    Start start;
    carom::Box& box = start.setup.box;
    box.dimension = dimension;
    std::vector<std::array<double, 3>> sites;
    if (dimension == 3) {
        const auto k = static_cast<int>(std::cbrt(static_cast<double>(wanted) / 4.0) + 1e-4);
        const double length = std::cbrt(4.0 * k * k * k * M_PI / (6.0 * packing_fraction));
        const double offsets[4][3] = {{.25, .25, .25}, {.75, .75, .25}, {.75, .25, .75}, {.25, .75, .75}};
        for (int z = 0; z < k; ++z) {
            for (int y = 0; y < k; ++y) {
                for (int x = 0; x < k; ++x) {
                    for (const auto& o : offsets)
                        sites.push_back({(x + o[0]) * length / k, (y + o[1]) * length / k, (z + o[2]) * length / k});
                }
            }
        }
        box.size = {length, length, length};
    } else {
        const int columns = static_cast<int>(std::sqrt(static_cast<double>(wanted) * 0.8660254)) & ~1;
        const int rows = static_cast<int>(wanted / static_cast<std::size_t>(columns)) & ~1;
        const double spacing = std::sqrt(M_PI / 4.0 / packing_fraction * 2.0 / std::sqrt(3.0));
        for (int y = 0; y < rows; ++y) {
            for (int x = 0; x < columns; ++x)
                sites.push_back(
                    {(x + 0.5 * (y & 1) + 0.25) * spacing, (y + 0.5) * spacing * std::sqrt(3.0) / 2.0, 0.0});
        }
        box.size = {columns * spacing, rows * spacing * std::sqrt(3.0) / 2.0, 0.0};
    }
    for (int axis = 0; axis < dimension; ++axis) box.faces[axis] = {carom::Face::kPeriodic, carom::Face::kPeriodic};
    std::mt19937_64 generator(1);
    if (shuffle) std::shuffle(sites.begin(), sites.end(), generator);
    carom::Balls& balls = start.state.balls;
    balls.dimension = dimension;
    balls.species_table = {{"", 0.5, 1.0, 0.5 * std::sqrt(dimension == 2 ? 0.5 : 0.4), ""}};
    balls.resize(sites.size());
    std::normal_distribution<double> normal;
    for (int axis = 0; axis < dimension; ++axis) {
        double mean = 0.0;
        double square = 0.0;
        for (std::size_t id = 0; id < sites.size(); ++id) {
            balls.position[axis][id] = sites[id][axis];
            balls.velocity[axis][id] = normal(generator);
            mean += balls.velocity[axis][id];
        }
        mean /= static_cast<double>(sites.size());
        for (double& v : balls.velocity[axis]) {
            v -= mean;
            square += v * v;
        }
        for (double& v : balls.velocity[axis]) v *= std::sqrt(static_cast<double>(sites.size()) / square);
    }
    return start;
}

void add_feature(Start& start, const std::string& feature) {
    carom::EventsSetup& setup = start.setup;
    const bool gravity = feature == "gravity";
    if (gravity || feature == "walls") {
        for (int axis = 0; axis < setup.box.dimension; ++axis) {
            setup.box.faces[axis] = {carom::Face::kWall, carom::Face::kWall};
            setup.box.size[axis] += 1.0;  // room for whole balls on all sites
            for (double& x : start.state.balls.position[axis]) x += 0.5;
        }
    }
    if (gravity) setup.gravity[1] = -0.01;  // weak, so that the density stays nearly the same everywhere
    if (feature == "friction") {
        setup.friction = 0.2;
        setup.simultaneous = carom::SimultaneousLaw::kSequential;
    }
    if (feature == "mixture") {
        carom::Balls& balls = start.state.balls;
        carom::Species small = balls.species_table[0];
        small.radius *= 0.5;
        small.radius_of_gyration *= 0.5;
        small.mass *= setup.box.dimension == 3 ? 0.125 : 0.25;
        balls.species_table.push_back(small);
        for (std::size_t id = 1; id < balls.size(); id += 2) balls.species[id] = 1;
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr,
                     "usage: %s DIMENSION BALLS PACKING_FRACTION [WARM_PER_BALL] [CPU_SECONDS] [CELL] [SHUFFLE] "
                     "[SHELL] [FEATURE]\n",
                     argv[0]);
        return 2;
    }
    const int dimension = std::atoi(argv[1]);
    const auto wanted = static_cast<std::size_t>(std::atoll(argv[2]));
    const double packing_fraction = std::atof(argv[3]);
    const double warm = argc > 4 ? std::atof(argv[4]) : 20.0;
    const double stretch = argc > 5 ? std::atof(argv[5]) : 1.0;
    Start start = lattice(dimension, wanted, packing_fraction, argc > 7 && std::atoi(argv[7]) != 0);
    start.setup.shell = argc > 8 ? std::atof(argv[8]) : 0.0;
    start.setup.cell = argc > 6 ? std::atof(argv[6]) : 0.0;
    if (argc > 9) add_feature(start, argv[9]);
    const std::size_t count = start.state.balls.size();
    const auto engine = carom::make_events_engine(start.setup, start.state);
    start.state = {};
    const auto collisions = [&] { return static_cast<double>(engine->statistics().ball_collisions); };
    while (collisions() < warm * static_cast<double>(count) / 2.0) engine->advance(1e300, 20000 + count / 4);
    std::vector<double> rates;
    const double events_before = static_cast<double>(engine->events());
    const double collisions_before = collisions();
    for (int round = 0; round < 3; ++round) {
        const double from = collisions();
        const double begin = cpu_seconds();
        double now = begin;
        while (now - begin < stretch) {
            engine->advance(1e300, 100000);
            now = cpu_seconds();
        }
        rates.push_back((collisions() - from) / (now - begin));
    }
    std::sort(rates.begin(), rates.end());
    const carom::EventsStatistics statistics = engine->statistics();
    const double z = 1.0 + statistics.collisional_virial / statistics.twice_kinetic_time;
    std::printf(
        "{\"dimension\": %d, \"balls\": %zu, \"packing_fraction\": %g, \"collisions_per_cpu_second\": %.4g, \"least\": "
        "%.4g, "
        "\"most\": %.4g, \"events_per_collision\": %.3f, \"Z\": %.4f, \"worst_overlap\": %.2g, \"virial_defect\": "
        "%.2g, "
        "\"mean_free_path\": %.4g, \"bytes_per_ball\": %.0f}\n",
        dimension, count, packing_fraction, rates[1], rates[0], rates[2],
        (static_cast<double>(engine->events()) - events_before) / (collisions() - collisions_before), z,
        statistics.worst_overlap, statistics.virial_defect(), statistics.mean_free_path(),
        static_cast<double>(engine->memory_bytes()) / static_cast<double>(count));
    return 0;
}
