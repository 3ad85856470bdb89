#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "host/theory/gas_facts.hpp"

namespace carom {

/// Sound between two opposite walls of a gas that starts out of balance: what linear theory makes of the first frame.
/// The pressure is a sum of standing waves cos(n pi x / L); each swings with the frequency n c / (2 L), less what walls
/// take of it, and fades as exp(-Gamma (n pi / L)^2 t).
struct StandingWave {
    static constexpr std::size_t kNotes = 9;  ///< shorter waves are gone before they have swung

    int axis = 0;
    double start = 0.0;                   ///< time of the first frame
    double length = 0.0;                  ///< L, of where centres can be [length]
    double speed = 0.0;                   ///< c [length/time]
    double slowed = 0.0;                  ///< share that walls take of it
    double attenuation = 0.0;             ///< Gamma [length^2/time]
    double pressure = 0.0;                ///< at rest
    double noise = 0.0;                   ///< of a wave's pressure in equilibrium, standard deviation
    std::array<double, kNotes> cosine{};  ///< pressure of each wave at the start, on the wall at min
    std::array<double, kNotes> sine{};    ///< of each wave a quarter of its period later, did it not fade

    [[nodiscard]] double wave_number(std::size_t note) const;
    [[nodiscard]] double frequency(std::size_t note) const;  ///< [radian/time]
    [[nodiscard]] double fading(std::size_t note) const;     ///< [1/time]
    /// On the wall at min (0) or max (1).
    [[nodiscard]] double pressure_at(std::size_t side, double time) const;
};

/// None where the fundamental is not five times the noise that every gas has, or more than 0.4 of the pressure, for
/// which no linear theory holds; along an axis that has no two walls, in a gas that something drives, that loses energy
/// or balls, has gravity, [[wall]]s or several kinds of balls.
/// \param facts  of all balls, over the whole run
/// \param first  the first frame, with positions and velocities
std::optional<StandingWave> standing_wave(const GasFacts& facts, const Box& box, const Frame& first, int axis);

/// Of a run the loudest such wave; of one that was changed while it went on, or that something drives in any stage
/// since its first frame, none.
std::optional<StandingWave> standing_wave(const MeasuredRun& run);

/// Theory's pressures on the two walls. \param from, to  [time]
std::vector<TheoryCurve> wave_curves(const StandingWave& wave, double from, double to);

/// The speed of sound, by the wave that fits best what the pressures on the two walls differ by: its amplitude, phase
/// and frequency are free. None of fewer than one and a half periods, and of waves that hardly swing before they are
/// gone; with a reason for no verdict where rows are so far apart that they fit a second frequency as well.
/// \param times       of the rows
/// \param difference  pressure on the wall at min less that at max, mean over the time since the row before
std::optional<TheoryCheck> sound_speed_check(const StandingWave& wave, const std::vector<double>& times,
                                             const std::vector<double>& difference);
std::optional<TheoryCheck> sound_speed_check(const MeasuredRun& run);

}  // namespace carom
