// A large atmosphere beside local-density theory: profile and force on the floor, by the event-driven engine.
//
//   carom_atmosphere_bench SCENE.toml RESULT.json MACHINE SETTLE MEASURE [KEY=VALUE...]
//
// Runs the scene's first fill, of arrangement "atmosphere", for SETTLE units of time, then measures over MEASURE, in
// blocks from which the standard errors come. RESULT.json is written anew after each block, so a run that is ended
// early leaves what it has. KEY=VALUE override keys of the scene.
//
// Force: by the balance of momentum its mean over a time T is off by (P(T) - P(0)) / T, P the momentum along gravity,
// so the standard error in equilibrium is sqrt(2 N m T_k) / T, T_k the temperature: `force_error_expected`, as a
// fraction of the weight sqrt(2 / N) (l / v) (1 / T) with the scale height l and v^2 = T_k / m.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "carom_build_info.hpp"
#include "host/events/events_engine.hpp"
#include "host/scene/arrange.hpp"
#include "host/scene/load.hpp"
#include "host/scene/place.hpp"
#include "kernels/physics/atmosphere.hpp"

namespace {

constexpr int kBlocks = 20;
constexpr int kSamples = 10;        // of the profile, per block
constexpr double kBin = 1.0;        // [diameters]
constexpr double kLowest = 2.0;     // above which the profile is judged [diameters]
constexpr double kThinnest = 3e-3;  // packing fraction down to which it is

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Mean {
    double value = 0.0;
    double error = 0.0;
};

Mean mean_of(const std::vector<double>& values) {
    const auto n = static_cast<double>(values.size());
    double sum = 0.0;
    double square = 0.0;
    for (const double x : values) sum += x;
    for (const double x : values) square += (x - sum / n) * (x - sum / n);
    return {sum / n, n > 1.0 ? std::sqrt(square / (n - 1.0) / n) : 0.0};
}

class Column {
public:
    Column(int argc, char** argv)
        : result_(argv[2]), machine_(argv[3]), settle_(std::atof(argv[4])), measure_(std::atof(argv[5])) {
        for (int k = 1; k < argc; ++k) command_ += fmt::format(" {}", k == 2 ? "FILE" : k == 3 ? "MACHINE" : argv[k]);
        std::FILE* file = std::fopen(argv[1], "r");
        if (file == nullptr) throw std::runtime_error(fmt::format("{}: cannot be read", argv[1]));
        std::string text;
        for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text.push_back(static_cast<char>(c));
        std::fclose(file);
        scene_ = carom::parse_scene(text, argv[1], std::vector<std::string>(argv + 6, argv + argc));
        gas_ = carom::atmosphere_of(scene_, scene_.fills.at(0));
        const double begin = cpu_seconds();
        carom::SolverState state;
        state.balls = carom::make_balls(scene_);
        placing_seconds_ = cpu_seconds() - begin;
        carom::EventsSetup setup;
        setup.box = scene_.box;
        setup.gravity = scene_.physics.gravity;
        engine_ = carom::make_events_engine(setup, state);
        start_energy_ = engine_->totals().energy();
    }

    void run() {
        engine_->advance(settle_, ~0ULL);
        for (int block = 1; block <= kBlocks; ++block) {
            measure_block(block);
            write();
        }
    }

private:
    [[nodiscard]] const carom::Species& species() const { return scene_.species[scene_.fills[0].species]; }
    [[nodiscard]] double diameter() const { return 2.0 * species().radius; }
    [[nodiscard]] double count() const { return static_cast<double>(scene_.fills[0].count); }
    [[nodiscard]] double volume() const {
        const double r = species().radius;
        return carom::kPi * r * r * (scene_.dimension() == 2 ? 1.0 : 4.0 / 3.0 * r);
    }

    void measure_block(int block) {
        const int floor = 2 * gas_.axis + (gas_.down ? 0 : 1);
        const double length = measure_ / kBlocks;
        const double impulse = engine_->tallies().wall_impulse[static_cast<std::size_t>(floor)];
        const double heat = engine_->statistics().twice_kinetic_time;
        std::vector<double> bins(static_cast<std::size_t>(gas_.top * gas_.scale_height / (kBin * diameter())) + 2, 0.0);
        carom::Frame frame;
        const double low = scene_.box.min[gas_.axis] + species().radius;
        const double high = scene_.box.min[gas_.axis] + scene_.box.size[gas_.axis] - species().radius;
        for (int sample = 1; sample <= kSamples; ++sample) {
            engine_->advance(settle_ + length * (block - 1 + static_cast<double>(sample) / kSamples), ~0ULL);
            engine_->frame(frame);
            for (std::size_t id = 0; id < frame.position[gas_.axis].size(); ++id) {
                if (frame.gone[id] != 0) continue;
                const double x = frame.position[gas_.axis][id];
                const double z = std::max(0.0, (gas_.down ? x - low : high - x) / (kBin * diameter()));
                if (z < static_cast<double>(bins.size())) bins[static_cast<std::size_t>(z)] += 1.0 / kSamples;
            }
        }
        const double area = count() * volume() / (gas_.load * gas_.scale_height);
        if (profile_.empty()) profile_.resize(bins.size());
        for (std::size_t bin = 0; bin < bins.size(); ++bin) {
            profile_[bin].push_back(bins[bin] * volume() / (area * kBin * diameter()));
        }
        const double pressed = engine_->tallies().wall_impulse[static_cast<std::size_t>(floor)] - impulse;
        const double g = std::abs(scene_.physics.gravity[gas_.axis]);
        force_.push_back(pressed / length / (count() * species().mass * g));
        temperature_.push_back((engine_->statistics().twice_kinetic_time - heat) / length /
                               (scene_.dimension() * count()));
    }

    void write() const {
        const Mean temperature = mean_of(temperature_);
        const Mean force = mean_of(force_);
        const double warmer = temperature.value / *scene_.fills[0].temperature;
        const double scale_height = gas_.scale_height * warmer;
        const int d = scene_.dimension();
        const double bottom = carom::bottom_packing_below(d, gas_.load / warmer, gas_.top / warmer);
        std::string rows;
        double worst = 0.0;
        double worst_error = 0.0;
        for (std::size_t bin = 0; bin < profile_.size(); ++bin) {
            const double z = (static_cast<double>(bin) + 0.5) * kBin * diameter();
            double expected = 0.0;  // mean over the bin, Simpson
            for (int k = -1; k <= 1; ++k) {
                const double at = std::max(0.0, z + 0.5 * k * kBin * diameter()) / scale_height;
                expected += (k == 0 ? 4.0 : 1.0) / 6.0 * carom::local_packing(d, bottom, at);
            }
            const Mean measured = mean_of(profile_[bin]);
            if (expected < kThinnest) break;
            rows += fmt::format("{}  [{:.4g}, {:.6g}, {:.2g}, {:.6g}]", bin == 0 ? "" : ",\n", z / diameter(),
                                measured.value, measured.error, expected);
            if (z < kLowest * diameter()) continue;
            const double off = std::abs(measured.value / expected - 1.0);
            if (off > worst) {
                worst = off;
                worst_error = measured.error / expected;
            }
        }
        const double measured_time = measure_ / kBlocks * static_cast<double>(force_.size());
        const double expected_error = std::sqrt(2.0 * temperature.value / species().mass / count()) /
                                      (std::abs(scene_.physics.gravity[gas_.axis]) * measured_time);
        const auto statistics = engine_->statistics();
        std::string text =
            "{\n \"what\": \"Atmosphere of hard balls from its local-density profile, event-driven: "
            "profile and floor force beside theory\",\n";
        text += fmt::format(" \"command\": \"{}\",\n \"machine\": \"{}\",\n \"commit\": \"{}\",\n", command_, machine_,
                            carom::build_info::commit());
        text += fmt::format(" \"dimension\": {},\n \"balls\": {},\n \"scale_height_in_diameters\": {:.6g},\n", d,
                            scene_.fills[0].count, gas_.scale_height / diameter());
        text += fmt::format(" \"settled\": {:.6g},\n \"measured\": {:.6g},\n \"blocks\": {},\n", settle_, measured_time,
                            force_.size());
        text += fmt::format(" \"temperature\": {:.8g},\n \"temperature_error\": {:.2g},\n", temperature.value,
                            temperature.error);
        text += fmt::format(" \"force_over_weight\": {:.8g},\n \"force_error_of_blocks\": {:.2g},\n", force.value,
                            force.error);
        text += fmt::format(" \"force_error_expected\": {:.2g},\n \"floor_packing_theory\": {:.6g},\n", expected_error,
                            bottom);
        text += fmt::format(" \"profile_worst_deviation\": {:.4g},\n \"profile_error_there\": {:.2g},\n", worst,
                            worst_error);
        text += fmt::format(
            " \"profile_judged\": \"from {} diameters above the lowest centre up to where the packing "
            "fraction is {}\",\n",
            kLowest, kThinnest);
        text += fmt::format(" \"energy_drift\": {:.2g},\n \"virial_defect\": {:.2g},\n \"worst_overlap\": {:.2g},\n",
                            engine_->totals().energy() / start_energy_ - 1.0, statistics.virial_defect(),
                            statistics.worst_overlap);
        text += fmt::format(" \"ball_collisions\": {},\n \"balls_left\": {},\n \"cpu_seconds\": {:.4g},\n",
                            statistics.ball_collisions, engine_->tallies().balls_left, cpu_seconds());
        text += fmt::format(" \"cpu_seconds_to_place\": {:.4g},\n", placing_seconds_);
        text +=
            " \"profile_fields\": [\"height [diameters]\", \"packing fraction\", \"standard error\", \"local-density "
            "theory at the measured temperature\"],\n";
        text += " \"profile\": [\n" + rows + "\n ]\n}\n";
        const std::string part = result_ + ".part";
        std::FILE* file = std::fopen(part.c_str(), "w");
        if (file == nullptr || std::fputs(text.c_str(), file) < 0 || std::fclose(file) != 0 ||
            std::rename(part.c_str(), result_.c_str()) != 0) {
            throw std::runtime_error(fmt::format("{}: cannot be written", result_));
        }
    }

    std::string command_ = "carom_atmosphere_bench";
    std::string result_;
    std::string machine_;
    double settle_;
    double measure_;
    carom::Scene scene_;
    carom::Atmosphere gas_;
    std::unique_ptr<carom::EventsEngine> engine_;
    double start_energy_ = 0.0;
    double placing_seconds_ = 0.0;
    std::vector<std::vector<double>> profile_;  // by bin, of each block
    std::vector<double> force_;                 // of each block, over the weight
    std::vector<double> temperature_;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc < 6) {
        std::fprintf(stderr, "usage: %s SCENE.toml RESULT.json MACHINE SETTLE MEASURE [KEY=VALUE...]\n", argv[0]);
        return 2;
    }
    try {
        Column(argc, argv).run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
