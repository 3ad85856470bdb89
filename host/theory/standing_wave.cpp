#include "host/theory/standing_wave.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/physics/equation_of_state.hpp"
#include "kernels/physics/viscosity.hpp"

namespace carom {

namespace {

constexpr double kLeastOverNoise = 5.0;
constexpr double kMostOverPressure = 0.4;
constexpr std::size_t kWavePoints = 1000;
constexpr std::size_t kLeastRows = 16;
constexpr double kLeastPeriods = 1.5;
constexpr double kFarthest = 0.3;  // of theory's frequency, that the best one is looked for in
constexpr int kTrials = 600;
/// Periods between rows: with f, rows have 1 / interval - f, which is in the range too if half of that is.
constexpr double kFarthestRows = 0.5 / (1.0 + kFarthest);
constexpr double kMostFading = 0.1;  // in 1 / w
// What the speed is off by:
constexpr double kLinear = 0.005;    // no wave is endlessly weak
constexpr double kOfWalls = 0.3;     // of what walls take
constexpr double kDispersion = 5.0;  // times the square of the fading in 1 / w: short waves are faster; measured

/// The best wave of one frequency, (a cos + b sin) exp(-fading t), and what it leaves.
struct Fit {
    double amplitude = 0.0;
    double residual = 0.0;  ///< sum of squares
};

Fit fit_of(const std::vector<double>& time, const std::vector<double>& value, double frequency, double fading) {
    double cc = 0.0;
    double cs = 0.0;
    double ss = 0.0;
    double cv = 0.0;
    double sv = 0.0;
    double vv = 0.0;
    for (std::size_t k = 0; k < time.size(); ++k) {
        const double left = std::exp(-fading * time[k]);
        const double c = left * std::cos(frequency * time[k]);
        const double s = left * std::sin(frequency * time[k]);
        cc += c * c;
        cs += c * s;
        ss += s * s;
        cv += c * value[k];
        sv += s * value[k];
        vv += value[k] * value[k];
    }
    const double determinant = cc * ss - cs * cs;
    const double a = (cv * ss - sv * cs) / determinant;
    const double b = (sv * cc - cv * cs) / determinant;
    return {std::hypot(a, b), vv - a * cv - b * sv};
}

bool has_room(const GasFacts& facts, const Box& box, int axis) {
    const auto k = static_cast<std::size_t>(axis);
    return box.faces[k][0] == Face::kWall && box.faces[k][1] == Face::kWall && box.size[k] > 4.0 * facts.radius;
}

}  // namespace

double StandingWave::wave_number(std::size_t note) const {
    return std::numbers::pi * static_cast<double>(note + 1) / length;
}

double StandingWave::frequency(std::size_t note) const { return (1.0 - slowed) * speed * wave_number(note); }

double StandingWave::fading(std::size_t note) const {
    const double k = wave_number(note);
    return attenuation * k * k;
}

double StandingWave::pressure_at(std::size_t side, double time) const {
    const double since = time - start;
    double sum = pressure;
    for (std::size_t note = 0; note < kNotes; ++note) {
        const double phase = frequency(note) * since;
        const double sign = side == 1 && note % 2 == 0 ? -1.0 : 1.0;  // cos(n pi), n = note + 1
        sum += sign * std::exp(-fading(note) * since) * (cosine[note] * std::cos(phase) + sine[note] * std::sin(phase));
    }
    return sum;
}

std::optional<StandingWave> standing_wave(const GasFacts& facts, const Box& box, const Frame& first, int axis) {
    const int d = facts.dimension;
    if (!facts.equilibrium() || !facts.uniform || facts.walls || facts.warmed || facts.has_gravity() ||
        !has_room(facts, box, axis) || !facts.is_fluid()) {
        return std::nullopt;
    }
    const auto at = static_cast<std::size_t>(axis);
    const double phi = facts.packing_fraction;
    const double n = facts.number_density;
    const double z = hard_compressibility(d, phi);
    const double stiffness = isothermal_stiffness(d, phi);
    StandingWave wave;
    wave.axis = axis;
    wave.start = first.time;
    wave.length = box.size[at] - 2.0 * facts.radius;
    wave.speed = sound_speed(d, phi) * std::sqrt(facts.temperature / facts.mass);
    double surface = 0.0;  // over the volume
    for (int side = 0; side < d; ++side) {
        if (!box.periodic(side)) surface += 2.0 / box.length(side, facts.radius);
    }
    wave.slowed = sound_slowed_by_walls(d, phi, facts.diameter * surface, wave.length / facts.diameter);
    wave.attenuation = sound_attenuation(d, phi, facts.diameter, facts.temperature, facts.mass);
    wave.pressure = z * n * facts.temperature;
    // Each wave has T / 2 in its compression: (dp)^2 V / (4 m n c^2) = T / 2.
    wave.noise = n * wave.speed * std::sqrt(2.0 * facts.mass * facts.temperature / facts.balls);
    const double low = box.min[at] + facts.radius;
    const std::size_t count = first.position[at].size();
    for (std::size_t note = 0; note < StandingWave::kNotes; ++note) {
        const double k = wave.wave_number(note);
        double places = 0.0;
        double energy = 0.0;
        double flow = 0.0;
        for (std::size_t i = 0; i < count; ++i) {
            const double phase = k * (first.position[at][i] - low);
            double square = 0.0;
            for (std::size_t other = 0; other < static_cast<std::size_t>(d); ++other) {
                square += first.velocity[other][i] * first.velocity[other][i];
            }
            places += std::cos(phase);
            energy += facts.mass * square / d * std::cos(phase);
            flow += first.velocity[at][i] * std::sin(phase);
        }
        // Amplitudes of density over n, of temperature, and of the flow, a sine for it is 0 at walls.
        const double share = 2.0 / static_cast<double>(count);
        const double denser = share * places;
        const double hotter = share * energy - facts.temperature * denser;
        wave.cosine[note] = n * (facts.temperature * stiffness * denser + z * hotter);
        wave.sine[note] = -facts.mass * n * wave.speed * share * flow;
    }
    const double loud = std::hypot(wave.cosine[0], wave.sine[0]);
    if (!(loud > kLeastOverNoise * wave.noise) || !(loud < kMostOverPressure * wave.pressure)) return std::nullopt;
    return wave;
}

std::optional<StandingWave> standing_wave(const MeasuredRun& run) {
    if (!run.first_frame || run.changed) return std::nullopt;
    const Frame& first = *run.first_frame;
    // Measured or not: the wave, and the rows that it is fitted to, begin with the first frame.
    const double end = run.time.empty() ? first.time : run.time.back();
    if (!std::ranges::all_of(stages_of(run.scene, first.time, end), only_walls_drive)) return std::nullopt;
    const GasFacts facts = gas_facts(run, "", first.time);
    std::optional<StandingWave> loudest;
    const auto loudness = [](const StandingWave& wave) { return std::hypot(wave.cosine[0], wave.sine[0]); };
    for (int axis = 0; axis < facts.dimension; ++axis) {
        const auto wave = standing_wave(facts, run.box(), first, axis);
        if (wave && (!loudest || loudness(*wave) > loudness(*loudest))) loudest = wave;
    }
    return loudest;
}

std::vector<TheoryCurve> wave_curves(const StandingWave& wave, double from, double to) {
    std::vector<TheoryCurve> curves;
    for (std::size_t side = 0; side < 2; ++side) {
        curves.push_back(sampled(
            std::string("linear sound, ") + "xyz"[wave.axis] + (side == 0 ? "-min" : "-max"), from, to,
            [&](double time) { return wave.pressure_at(side, time); }, kWavePoints));
    }
    curves.back().dashed = true;
    return curves;
}

std::optional<TheoryCheck> sound_speed_check(const StandingWave& wave, const std::vector<double>& times,
                                             const std::vector<double>& difference) {
    std::vector<double> time;  // the middle of what a row is the mean of, since the start
    std::vector<double> value;
    for (std::size_t row = 1; row < times.size(); ++row) {
        if (!std::isfinite(difference[row])) continue;
        time.push_back(0.5 * (times[row] + times[row - 1]) - wave.start);
        value.push_back(difference[row]);
    }
    const double expected = wave.frequency(0);
    const double fading = wave.fading(0);
    if (time.size() < kLeastRows || fading > kMostFading * expected ||
        expected * (time.back() - time.front()) < kLeastPeriods * 2.0 * std::numbers::pi) {
        return std::nullopt;
    }
    const auto residual = [&](double frequency) { return fit_of(time, value, frequency, fading).residual; };
    const double step = 2.0 * kFarthest * expected / kTrials;
    double best = expected;
    for (int k = 0; k <= kTrials; ++k) {
        const double frequency = (1.0 - kFarthest) * expected + step * k;
        if (residual(frequency) < residual(best)) best = frequency;
    }
    // The parabola through its neighbours: where it is lowest, and how far off frequencies are as good but for noise.
    const double middle = residual(best);
    const double bend = (residual(best + step) - 2.0 * middle + residual(best - step)) / (step * step);
    best -= (residual(best + step) - residual(best - step)) / (2.0 * step * bend);
    const Fit fit = fit_of(time, value, best, fading);
    const double variance = fit.residual / static_cast<double>(time.size() - 3);
    // Besides, what is born of the gas' own noise while the wave swings shifts its phase.
    const double phase = 2.0 * wave.noise / fit.amplitude / (expected * (time.back() - time.front()));
    TheoryCheck check{.what = "speed of sound",
                      .unit = "m s-1",
                      .theory = "equation of state",
                      .measured = best / expected * wave.speed,
                      .expected = wave.speed,
                      .sigmas = std::numeric_limits<double>::quiet_NaN()};
    check.uncertainty =
        wave.speed * std::hypot(kLinear, kOfWalls * wave.slowed, kDispersion * std::pow(fading / expected, 2.0));
    check.error = bend > 0.0 ? wave.speed * std::hypot(std::sqrt(2.0 * variance / bend) / expected, phase)
                             : std::numeric_limits<double>::quiet_NaN();
    double interval = 0.0;
    for (std::size_t row = 1; row < time.size(); ++row) interval = std::max(interval, time[row] - time[row - 1]);
    if (interval * expected > kFarthestRows * 2.0 * std::numbers::pi) check.reason = "rows too far apart";
    return check;
}

std::optional<TheoryCheck> sound_speed_check(const MeasuredRun& run) {
    const auto wave = standing_wave(run);
    if (!wave || run.wall_pressure.empty()) return std::nullopt;
    const std::size_t face = 2 * static_cast<std::size_t>(wave->axis);
    std::vector<double> difference;
    for (std::size_t row = 0; row < run.time.size(); ++row) {
        difference.push_back(run.wall_pressure[face][row] - run.wall_pressure[face + 1][row]);
    }
    return sound_speed_check(*wave, run.time, difference);
}

}  // namespace carom
