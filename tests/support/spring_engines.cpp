#include "tests/support/spring_engines.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "host/ranks/ranked_engine.hpp"
#include "host/run/prepare.hpp"
#include "host/run/solver_plan.hpp"
#include "host/spring/spring_solver.hpp"
#include "kernels/cpu/spring_cpu.hpp"
#include "kernels/cuda/spring_cuda.hpp"
#include "kernels/ranks/cut.hpp"
#include "tests/support/make_walls.hpp"

namespace carom::test {

void Gas::add(std::array<double, 3> at, std::array<double, 3> v, double r, double m_inverse) {
    for (int axis = 0; axis < 3; ++axis) {
        position[axis].push_back(at[axis]);
        velocity[axis].push_back(v[axis]);
        image[axis].push_back(0);
    }
    gone.push_back(0);
    radius.push_back(r);
    inverse_mass.push_back(m_inverse);
}

RawBalls Gas::raw() const {
    RawBalls balls;
    balls.count = size();
    for (int axis = 0; axis < 3; ++axis) {
        balls.position[axis] = position[axis].data();
        balls.velocity[axis] = velocity[axis].data();
        balls.image[axis] = image[axis].data();
    }
    balls.gone = gone.data();
    balls.radius = radius.data();
    balls.inverse_mass = inverse_mass.data();
    return balls;
}

BallArrays Gas::arrays() {
    BallArrays balls;
    for (int axis = 0; axis < 3; ++axis) {
        balls.position[axis] = position[axis].data();
        balls.velocity[axis] = velocity[axis].data();
        balls.image[axis] = image[axis].data();
    }
    balls.gone = gone.data();
    return balls;
}

Gas empty_box(int dimension, std::array<double, 3> size) {
    Gas gas;
    SpringSetup& setup = gas.setup;
    setup.dimension = dimension;
    setup.box_size = size;
    for (auto& axis : setup.sides) axis = {Side::kWall, Side::kWall};
    setup.stiffness = 1e4;
    setup.wall_stiffness = 1e4;
    setup.dt = 1e-3;
    setup.design_speed = 10.0;
    return gas;
}

/// SplitMix64 (Steele, Lea & Flood 2014).
double scatter(std::uint64_t id, std::uint64_t purpose) {
    std::uint64_t z = (id * 64 + purpose + 1) * 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    z ^= z >> 31;
    return static_cast<double>(z >> 11) * 0x1p-52 - 1.0;
}

void add_lattice(Gas& gas, const LatticeOptions& options) {
    const int dimension = gas.setup.dimension;
    const int depth = dimension == 3 ? options.counts[2] : 1;
    const double relative = options.largest_radius / 0.5;
    const double top_mass = relative * relative * (dimension == 3 ? relative : 1.0);
    for (int z = 0; z < depth; ++z) {
        for (int y = 0; y < options.counts[1]; ++y) {
            for (int x = 0; x < options.counts[0]; ++x) {
                const std::uint64_t id = gas.size();
                // Ten sizes, a tenth of the largest apart; no pow(), which may differ between machines.
                const int shrink = static_cast<int>(id % 10);
                double radius = options.largest_radius;
                double mass = top_mass;
                if (options.mixed) {
                    const double share = 0.1 + 0.1 * (9 - shrink);
                    radius = options.largest_radius * share;
                    mass = top_mass * share * share * (dimension == 3 ? share : 1.0);
                }
                std::array<double, 3> at{};
                std::array<double, 3> v{};
                const std::array<int, 3> site{x, y, z};
                for (int axis = 0; axis < dimension; ++axis) {
                    at[axis] = options.corner[axis] + (site[axis] + 0.5) * options.spacing;
                    v[axis] = options.speed * scatter(id, static_cast<std::uint64_t>(axis));
                }
                gas.add(at, v, radius, 1.0 / mass);
            }
        }
    }
}

namespace {

/// counts^dimension balls of radius 0.5 with room of `spacing` each, and walls.
Gas lattice_box(int dimension, int along, double spacing, LatticeOptions options = {}) {
    const double size = along * spacing;
    Gas gas = empty_box(dimension, {size, size, dimension == 3 ? size : 0.0});
    options.counts = {along, along, along};
    options.spacing = spacing;
    add_lattice(gas, options);
    return gas;
}

void set_sides(Gas& gas, std::array<std::array<Side, 2>, 3> sides) { gas.setup.sides = sides; }

constexpr std::array<Side, 2> kPeriodicAxis{Side::kPeriodic, Side::kPeriodic};
constexpr std::array<Side, 2> kWalledAxis{Side::kWall, Side::kWall};

Gas walls_2d() { return lattice_box(2, 16, 1.2); }

Gas periodic_3d() {
    Gas gas = lattice_box(3, 6, 1.15);
    set_sides(gas, {kPeriodicAxis, kPeriodicAxis, kPeriodicAxis});
    return gas;
}

Gas gravity_2d() {
    Gas gas = lattice_box(2, 16, 1.3);
    set_sides(gas, {kPeriodicAxis, kWalledAxis, kWalledAxis});
    gas.setup.gravity = {0.0, -3.7, 0.0};
    return gas;
}

Gas gravity_3d() {
    Gas gas = lattice_box(3, 6, 1.3);
    set_sides(gas, {kPeriodicAxis, kWalledAxis, kWalledAxis});
    gas.setup.gravity = {0.0, 0.31, -9.81};
    return gas;
}

/// Radii from 0.05 to 0.5: the lightest ball sets dt.
Gas mixture(int dimension, int along) {
    LatticeOptions options;
    options.mixed = true;
    Gas gas = lattice_box(dimension, along, 1.05, options);
    set_sides(gas, {kWalledAxis, kPeriodicAxis, kWalledAxis});
    gas.setup.dt = dimension == 2 ? 2e-4 : 1e-4;
    gas.setup.gravity = {0.4, 0.0, 0.0};
    return gas;
}

Gas damped_3d() {
    Gas gas = lattice_box(3, 6, 1.1);
    set_sides(gas, {kWalledAxis, kPeriodicAxis, kWalledAxis});
    gas.setup.damping = 2.0;
    gas.setup.gravity = {0.0, 0.0, -1.0};
    return gas;
}

/// The same restitution for all pairs, and another at walls.
Gas damped_mixture_2d() {
    Gas gas = mixture(2, 14);
    gas.setup.damping_ratio = 0.1;
    gas.setup.wall_damping_ratio = 0.02;
    return gas;
}

Gas open_2d() {
    Gas gas = lattice_box(2, 14, 1.2);
    set_sides(gas, {std::array{Side::kOpen, Side::kWall}, std::array{Side::kWall, Side::kOpen}, kWalledAxis});
    gas.setup.gravity = {0.0, -0.5, 0.0};
    return gas;
}

Gas open_3d() {
    LatticeOptions options;
    options.mixed = true;
    Gas gas = lattice_box(3, 6, 1.2, options);
    set_sides(gas, {std::array{Side::kOpen, Side::kOpen}, kPeriodicAxis, std::array{Side::kWall, Side::kOpen}});
    gas.setup.dt = 2e-4;
    gas.setup.damping = 0.01;
    return gas;
}

/// A ramp across a corner, and a post that the balls flow around, across a periodic seam.
Gas shapes_2d() {
    Gas gas = empty_box(2, {16.0, 16.0, 0.0});
    add_lattice(gas, {.counts = {12, 8, 1}, .spacing = 1.3, .corner = {0.2, 5.0, 0.0}});
    set_sides(gas, {kPeriodicAxis, kWalledAxis, kWalledAxis});
    gas.setup.walls = {plane_wall({0.0, 1.0, 0.0}, 1.0), sphere_wall({16.0, 3.0, 0.0}, 1.5, "outside")};
    gas.setup.gravity = {0.0, -2.0, 0.0};
    return gas;
}

/// Inside a sphere, cut by a slanted plane; the box is not reached.
Gas shapes_3d() {
    Gas gas = empty_box(3, {14.0, 14.0, 14.0});
    add_lattice(gas, {.counts = {5, 5, 5}, .spacing = 1.2, .corner = {4.0, 4.0, 4.0}, .speed = 2.0});
    gas.setup.walls = {sphere_wall({7.0, 7.0, 7.0}, 6.5), plane_wall({0.6, 0.0, 0.8}, 0.6 * 7.0 + 0.8 * 7.0 - 5.0)};
    gas.setup.damping_ratio = 0.05;
    gas.setup.wall_damping_ratio = 0.05;
    return gas;
}

/// In a pipe askew, and between the box's walls along it.
Gas cylinder_3d() {
    Gas gas = empty_box(3, {14.0, 14.0, 14.0});
    add_lattice(gas, {.counts = {5, 5, 5}, .spacing = 1.2, .corner = {4.0, 4.0, 4.0}, .speed = 2.0});
    gas.setup.walls = {cylinder_wall({7.0, 7.0, 7.0}, {0.48, 0.64, 0.6}, 5.0)};
    gas.setup.gravity = {0.0, 0.0, -1.0};
    return gas;
}

Gas under_hertz(Gas gas) {
    gas.setup.law = contact_law_called("hertz");
    return gas;
}

/// Every seventh ball of infinite mass, some of them moving.
Gas heavy_2d() {
    Gas gas = lattice_box(2, 14, 1.25);
    set_sides(gas, {kPeriodicAxis, kPeriodicAxis, kWalledAxis});
    for (std::size_t id = 0; id < gas.size(); id += 7) {
        gas.inverse_mass[id] = 0.0;
        if (id % 2 == 0) gas.velocity[0][id] = gas.velocity[1][id] = 0.0;
    }
    gas.setup.damping = 0.5;
    return gas;
}

/// As level 6: symplectic Euler with a distance that is never 0.
Gas euler_2d() {
    Gas gas = lattice_box(2, 12, 1.1);
    gas.setup.symplectic_euler = true;
    gas.setup.distance_epsilon = 1e-6;
    gas.setup.gravity = {0.0, -1.0, 0.0};
    return gas;
}

Gas euler_3d() {
    Gas gas = lattice_box(3, 5, 1.1);
    set_sides(gas, {kPeriodicAxis, kPeriodicAxis, kWalledAxis});
    gas.setup.symplectic_euler = true;
    gas.setup.distance_epsilon = 1e-6;
    return gas;
}

/// A box one cell wide along y and two along z, periodic where a missed image would show.
Gas narrow_3d() {
    Gas gas = empty_box(3, {14.4, 2.2, 3.6});
    add_lattice(gas, {.counts = {12, 1, 3}, .spacing = 1.2, .corner = {0.0, 0.3, 0.0}, .speed = 2.0});
    set_sides(gas, {kPeriodicAxis, kPeriodicAxis, kPeriodicAxis});
    return gas;
}

/// Two clusters at opposite corners of a box so wide that cells are far wider than balls, at negative coordinates,
/// fast enough to cross the seams.
Gas sparse_3d() {
    Gas gas = empty_box(3, {3000.0, 3000.0, 3000.0});
    gas.setup.box_min = {-2999.0, -1000.0, -1.0};
    set_sides(gas, {kPeriodicAxis, kWalledAxis, kPeriodicAxis});
    for (const std::array<double, 3> corner : {std::array{-2999.0, -999.5, -1.0}, std::array{-3.6, 1996.0, 2995.4}}) {
        add_lattice(gas, {.counts = {3, 3, 3}, .spacing = 1.15, .corner = corner, .speed = 8.0});
    }
    return gas;
}

Gas single_2d() {
    Gas gas = empty_box(2, {3.0, 2.5, 0.0});
    set_sides(gas, {kWalledAxis, kPeriodicAxis, kWalledAxis});
    gas.add({1.5, 1.25, 0.0}, {1.0, 0.7, 0.0}, 0.5, 1.0);
    return gas;
}

Gas none_3d() { return empty_box(3, {3.0, 2.5, 4.0}); }

/// Walls at several temperatures, reflecting, open and periodic ones beside them, under gravity.
Gas thermal_2d() {
    Gas gas = lattice_box(2, 16, 1.3);
    set_sides(gas, {kWalledAxis, std::array{Side::kWall, Side::kOpen}, kWalledAxis});
    gas.setup.face_temperature = {{{1.0, 3.0}, {2.0, 0.0}, {0.0, 0.0}}};
    gas.setup.gravity = {0.0, -0.7, 0.0};
    gas.setup.seed = 11;
    return gas;
}

/// Radii, masses and dashpots; a hot post, and a bath for all.
Gas thermal_3d() {
    LatticeOptions options;
    options.mixed = true;
    options.corner = {0.0, 0.0, 1.0};
    Gas gas = empty_box(3, {7.2, 7.2, 9.0});
    options.counts = {6, 6, 6};
    options.spacing = 1.2;
    add_lattice(gas, options);
    set_sides(gas, {kWalledAxis, kPeriodicAxis, kWalledAxis});
    gas.setup.face_temperature[2] = {0.05, 0.0};
    Wall wall = plane_wall({0.6, 0.0, 0.8}, 0.1);
    wall.temperature = 0.2;
    gas.setup.walls = {wall};
    gas.setup.dt = 2e-4;
    gas.setup.damping = 0.02;
    gas.setup.thermostat_rate = 0.9;
    gas.setup.thermostat_temperature = 0.1;
    gas.setup.seed = 12;
    return gas;
}

/// Two walls close in on a gas with dashpots, one of them warm.
Gas piston_2d() {
    Gas gas = empty_box(2, {20.0, 14.0, 0.0});
    add_lattice(gas, {.counts = {12, 10, 1}, .spacing = 1.3, .corner = {2.0, 0.5, 0.0}});
    gas.setup.walls = {plane_wall({1.0, 0.0, 0.0}, 1.0), plane_wall({-1.0, 0.0, 0.0}, -19.0)};
    gas.setup.walls[0].velocity = 0.3;
    gas.setup.walls[1].velocity = 0.1;
    gas.setup.walls[1].temperature = 1.0;
    gas.setup.wall_damping_ratio = 0.02;
    gas.setup.damping_ratio = 0.02;
    gas.setup.seed = 13;
    return gas;
}

/// A wall that is faster than any ball: who may be near it cannot be told from how far balls have moved.
Gas fast_piston_3d() {
    Gas gas = empty_box(3, {12.0, 6.0, 6.0});
    add_lattice(gas, {.counts = {4, 4, 4}, .spacing = 1.3, .corner = {3.0, 0.3, 0.3}, .speed = 0.001});
    gas.setup.walls = {plane_wall({1.0, 0.0, 0.0}, 0.5), sphere_wall({10.5, 3.0, 3.0}, 1.0, "outside")};
    gas.setup.walls[0].velocity = 0.8;
    return gas;
}

}  // namespace

const std::vector<Scenario>& scenarios() {
    static const std::vector<Scenario> all = {
        {"walls_2d", 10000, walls_2d},
        {"periodic_3d", 10000, periodic_3d},
        {"gravity_2d", 10000, gravity_2d},
        {"gravity_3d", 10000, gravity_3d},
        {"mixture_2d", 10000, [] { return mixture(2, 16); }},
        {"mixture_3d", 10000, [] { return mixture(3, 6); }},
        {"damped_3d", 10000, damped_3d},
        {"damped_mixture_2d", 10000, damped_mixture_2d},
        {"open_2d", 5000, open_2d},
        {"open_3d", 5000, open_3d},
        {"shapes_2d", 5000, shapes_2d},
        {"shapes_3d", 5000, shapes_3d},
        {"cylinder_3d", 5000, cylinder_3d},
        {"hertz_2d", 5000, [] { return under_hertz(damped_mixture_2d()); }},
        {"hertz_3d", 5000, [] { return under_hertz(gravity_3d()); }},
        {"heavy_2d", 5000, heavy_2d},
        {"euler_2d", 5000, euler_2d},
        {"euler_3d", 5000, euler_3d},
        {"narrow_3d", 5000, narrow_3d},
        {"sparse_3d", 2000, sparse_3d},
        {"single_2d", 2000, single_2d},
        {"none_3d", 100, none_3d},
        {"thermal_2d", 5000, thermal_2d},
        {"thermal_3d", 5000, thermal_3d},
        {"piston_2d", 5000, piston_2d},
        {"fast_piston_3d", 6000, fast_piston_3d},
    };
    return all;
}

const Scenario& scenario(const std::string& name) {
    for (const Scenario& candidate : scenarios()) {
        if (candidate.name == name) return candidate;
    }
    throw std::invalid_argument("no scenario is called " + name);
}

namespace {

bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

/// Totals as a row of bits.
std::vector<std::uint64_t> words(const Totals& totals) {
    std::vector<std::uint64_t> row = {totals.contacts, totals.wall_contacts, totals.balls, totals.mobile};
    const auto add = [&](double value) { row.push_back(std::bit_cast<std::uint64_t>(value)); };
    for (const double value :
         {totals.kinetic, totals.spring, totals.gravitational, totals.virial, totals.overlap, totals.speed}) {
        add(value);
    }
    for (int axis = 0; axis < 3; ++axis) {
        add(totals.momentum[axis]);
        add(totals.angular_momentum[axis]);
    }
    return row;
}

std::vector<std::uint64_t> words(const Tallies& tallies) {
    std::vector<std::uint64_t> row = {tallies.balls_left, tallies.sorts,
                                      std::bit_cast<std::uint64_t>(tallies.max_overlap)};
    for (const double impulse : tallies.wall_impulse) row.push_back(std::bit_cast<std::uint64_t>(impulse));
    for (const double heat : tallies.wall_heat) row.push_back(std::bit_cast<std::uint64_t>(heat));
    row.push_back(std::bit_cast<std::uint64_t>(tallies.thermostat_heat));
    return row;
}

}  // namespace

testing::AssertionResult same_balls(const std::string& what, const Gas& expected, const Gas& actual) {
    if (expected.size() != actual.size()) return testing::AssertionFailure() << what << ": another number of balls";
    for (std::size_t id = 0; id < expected.size(); ++id) {
        if (expected.gone[id] != actual.gone[id]) return testing::AssertionFailure() << what << ": gone of ball " << id;
        for (int axis = 0; axis < expected.setup.dimension; ++axis) {
            const auto differ = [&](const char* of, auto a, auto b) {
                return testing::AssertionFailure()
                       << what << ": " << of << " of ball " << id << ", axis " << axis << ": "
                       << testing::PrintToString(a) << " and " << testing::PrintToString(b);
            };
            const auto& e = expected;
            if (!same(e.position[axis][id], actual.position[axis][id])) {
                return differ("position", e.position[axis][id], actual.position[axis][id]);
            }
            if (!same(e.velocity[axis][id], actual.velocity[axis][id])) {
                return differ("velocity", e.velocity[axis][id], actual.velocity[axis][id]);
            }
            if (e.image[axis][id] != actual.image[axis][id]) {
                return differ("image", e.image[axis][id], actual.image[axis][id]);
            }
        }
    }
    return testing::AssertionSuccess();
}

std::vector<Processor> processors() {
    return {{"cpu1", 1},  {"cpu2", 2},           {"cpu3", 3},        {"ranks", 1},
            {"emulated"}, {"emulated_launches"}, {"emulated_ranks"}, {"cuda"}};
}

std::string missing(const Processor& processor) {
    if (processor.name.starts_with("emulated")) {
#if !defined(CAROM_HAVE_EMULATED)
        return "this build has no emulated backend: Thrust's headers were not found";
#endif
    }
    if (processor.name == "cuda") {
#if defined(CAROM_HAVE_CUDA)
        if (list_cuda_devices().empty()) return "no CUDA device here";
#else
        return "this build has no CUDA backend";
#endif
    }
    return {};
}

bool gpu_required(const Processor& processor) {
    const char* required = std::getenv("CAROM_REQUIRE_GPU");
    return processor.name == "cuda" && required != nullptr && std::strcmp(required, "1") == 0;
}

namespace {

constexpr std::string_view kRanks = "ranks";
constexpr std::string_view kEmulatedRanks = "emulated_ranks";

/// "ranks4": so many. "ranks": one of several numbers, another one for other balls, so that all tests together see all
/// of them; with CAROM_RANKS=N in the environment it is that.
/// \param spread  for the same balls another number where this is another one
int ranks_for(const std::string& name, const RawBalls& balls, std::size_t spread) {
    constexpr int kNumbers[] = {2, 3, 4, 8};
    const std::size_t number = name.find(kRanks) + kRanks.size();
    if (number < name.size()) return std::atoi(name.c_str() + number);
    if (const char* const given = std::getenv("CAROM_RANKS")) return std::max(1, std::atoi(given));
    return kNumbers[(balls.count + spread) % std::size(kNumbers)];
}

/// An engine with ranks of its own.
class EngineOfRanks final : public SpringEngine {
public:
    EngineOfRanks(int ranks, const BrickMaker& maker, const SpringSetup& setup, const RawBalls& balls,
                  std::uint64_t step, const Tallies& tallies)
        : threads_(ranks, {}, maker, setup.double_precision),  // messages between devices go both ways
          ranks_(threads_.rank_0(), maker),
          engine_(ranks_.make_engine(setup, balls, step, tallies)) {}

    AdvanceResult advance(std::uint64_t steps) override { return engine_->advance(steps); }
    bool change(const SpringSetup& setup, bool same_setup, const VelocityChange& velocities) override {
        return engine_->change(setup, same_setup, velocities);
    }
    std::uint64_t step() const override { return engine_->step(); }
    std::uint64_t steps_at_once() const override { return engine_->steps_at_once(); }
    Totals totals() override { return engine_->totals(); }
    Tallies tallies() override { return engine_->tallies(); }
    void request_frame(const BallArrays& arrays) override { engine_->request_frame(arrays); }
    void finish_frame() override { engine_->finish_frame(); }
    BallSampler* sample_balls(const BallKinds& kinds) override { return engine_->sample_balls(kinds); }
    void store(const BallArrays& balls) override { engine_->store(balls); }
    bool in_parts() const override { return engine_->in_parts(); }
    void part(bool raw, std::size_t first, std::size_t count, const BallArrays& arrays) override {
        engine_->part(raw, first, count, arrays);
    }
    std::string device() const override { return engine_->device(); }
    int threads() const override { return engine_->threads(); }
    std::uint64_t memory_bytes() const override { return engine_->memory_bytes(); }
    double margin() const override { return engine_->margin(); }
    double largest_quantum() const override { return engine_->largest_quantum(); }
    bool pictures_on_host() const override { return true; }
    std::unique_ptr<SharedBuffer> share_buffer(unsigned number) override { return engine_->share_buffer(number); }
    void give_picture_values(std::span<const float> values) override { engine_->give_picture_values(values); }
    bool write_picture(const PictureOrder& order, const PictureArrays& to, std::span<float> sample) override {
        return engine_->write_picture(order, to, sample);
    }

private:
    ThreadRanks threads_;
    Ranks ranks_;
    std::unique_ptr<SpringEngine> engine_;
};

}  // namespace

BrickMaker brick_maker(const Processor& processor) {
    if (processor.name.starts_with(kRanks)) return make_spring_bricks;
#if defined(CAROM_HAVE_EMULATED)
    if (processor.name.starts_with(kEmulatedRanks)) {
        return [](const std::string&, Transport& transport, const SpringSetup* setup, const RawBalls* balls,
                  std::uint64_t step, const std::array<int, 3>& layers) {
            return make_emulated_brick(transport, setup, balls, step, layers);
        };
    }
#endif
    return {};
}

namespace {

std::unique_ptr<SpringEngine> engine_on(const Processor& processor, SpringSetup setup, const RawBalls& balls,
                                        std::uint64_t step, const Tallies& tallies,
                                        [[maybe_unused]] const std::shared_ptr<EnginePack>& pack = nullptr) {
    setup.threads = processor.threads;
    if (setup.dimension == 3) setup.faces_apart = 0;
#if defined(CAROM_HAVE_EMULATED)
    if (processor.name == "emulated" || processor.name == "emulated_launches") {
        return make_emulated_engine(setup, balls, step, tallies, {.crews = processor.name == "emulated", .pack = pack});
    }
#endif
#if defined(CAROM_HAVE_CUDA)
    if (processor.name == "cuda") return make_cuda_engine(setup, balls, step, tallies, {.pack = pack});
#endif
    if (const BrickMaker maker = brick_maker(processor)) {
        // Nearly all scenarios have as many balls as four divides.
        const std::size_t spread = processor.name.starts_with(kRanks) ? 0 : balls.count / 4 + (setup.margin > 0.0);
        for (int ranks = ranks_for(processor.name, balls, spread);; ranks /= 2) {
            try {
                return std::make_unique<EngineOfRanks>(ranks, maker, setup, balls, step, tallies);
            } catch (const CannotShare&) {  // the box of a few balls
                if (ranks < 2) throw;
            }
        }
    }
    if (!processor.name.starts_with("cpu")) throw std::invalid_argument(processor.name);
    return make_cpu_engine(setup, balls, step, tallies);
}

}  // namespace

std::unique_ptr<SpringEngine> make_engine(const Processor& processor, Gas& gas,
                                          const std::shared_ptr<EnginePack>& pack) {
    return engine_on(processor, gas.setup, gas.raw(), gas.step, gas.tallies, pack);
}

std::unique_ptr<Solver> make_solver_on(const Processor& processor, const PreparedScene& run) {
    if (run.plan->name() != "spring" || processor.name == "cpu1") return run.plan->make_solver(run.state, "");
    const SpringSetup setup = spring_setup(run.scene, design_spring(run.scene, run.state.balls), processor.threads);
    return make_spring_solver(
        {{.setup = setup}}, run.state, processor.name,
        [processor](const SpringSetup& of, const RawBalls& balls, std::uint64_t step, const Tallies& tallies) {
            return engine_on(processor, of, balls, step, tallies);
        });
}

Seen look(SpringEngine& engine, const Gas& start) {
    Seen seen{start, start, {}, {}};
    engine.request_frame(seen.frame.arrays());
    seen.totals = engine.totals();
    engine.finish_frame();
    engine.store(seen.raw.arrays());
    seen.tallies = engine.tallies();
    seen.raw.step = engine.step();
    seen.raw.tallies = seen.tallies;
    seen.sorts_at_need = engine.steps_at_once() == 1;
    return seen;
}

Seen run(const Processor& processor, Gas gas, std::uint64_t steps) {
    const auto engine = make_engine(processor, gas);
    const AdvanceResult result = engine->advance(steps);
    EXPECT_EQ(result.steps, steps);
    EXPECT_EQ(static_cast<int>(result.fault.kind), 0)
        << "ball " << result.fault.ball << ", other " << result.fault.other;
    return look(*engine, gas);
}

testing::AssertionResult same_bits(const Seen& expected, const Seen& actual) {
    if (expected.raw.step != actual.raw.step) return testing::AssertionFailure() << "another step";
    if (auto result = same_balls("state", expected.raw, actual.raw); !result) return result;
    if (auto result = same_balls("frame", expected.frame, actual.frame); !result) return result;
    if (words(expected.totals) != words(actual.totals)) {
        return testing::AssertionFailure() << "totals: " << testing::PrintToString(words(expected.totals)) << " and "
                                           << testing::PrintToString(words(actual.totals));
    }
    Tallies counted = actual.tallies;
    if (!actual.sorts_at_need) counted.sorts = expected.tallies.sorts;
    if (words(expected.tallies) != words(counted)) {
        return testing::AssertionFailure() << "tallies: " << testing::PrintToString(words(expected.tallies)) << " and "
                                           << testing::PrintToString(words(counted));
    }
    return testing::AssertionSuccess();
}

std::uint64_t hash_state(const Gas& gas) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    const auto add = [&](const void* data, std::size_t bytes) {
        const auto* byte = static_cast<const unsigned char*>(data);
        for (std::size_t at = 0; at < bytes; ++at) hash = (hash ^ byte[at]) * 0x100000001b3U;
    };
    for (std::size_t id = 0; id < gas.size(); ++id) {
        for (int axis = 0; axis < gas.setup.dimension; ++axis) {
            add(&gas.position[axis][id], sizeof(double));
            add(&gas.velocity[axis][id], sizeof(double));
            add(&gas.image[axis][id], sizeof(std::int32_t));
        }
        add(&gas.gone[id], 1);
    }
    return hash;
}

}  // namespace carom::test
