#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "host/compare/context.hpp"
#include "host/compare/convergence.hpp"
#include "host/state/frame.hpp"

namespace carom {

/// One of several runs beside each other, and what of it is looked at.
struct WatchedRun {
    std::unique_ptr<Solver> solver;
    Frame before;  ///< a little before the time of a row
    Frame frame;   ///< as much after it

    /// \throws SimulationError, Interrupted
    void look(double time_before, double time, const CompareContext& context);
};

/// Times at which to look: soon after impacts, the first ones and then ever fewer.
/// \param quiet  half of the stretch around each that is to be free of contacts [time]
std::vector<double> row_times(const HardCourse& course, double quiet);

/// Whether the ball is in, and in no contact between the two frames. A contact changes a velocity by more than gravity;
/// what overlaps is not asked, since a run may be late for a contact that another has behind it.
/// \param speed  of the balls, rms
bool in_no_contact(const WatchedRun& run, std::size_t ball, const Vector3& gravity, double speed);

/// Root mean square of the speeds of the balls that are in.
double rms_speed(const Frame& frame);
double rms_speed(const Balls& balls);

/// What is fixed for all rows.
struct RowRules {
    double speed = 0.0;    ///< of the balls, rms: what differences of velocity are held against [length/time]
    double floor_x = 0.0;  ///< what the time step's part of velocities has made of positions since the start [length]
    double floor_v = 0.0;  ///< differences of velocity below this are the time step's [length/time]
};

/// Fills a row from the runs at k, 4k, 16k and the reference, in this order.
/// \param met  1 for balls that have collided
void fill_row(const Scene& scene, const std::array<WatchedRun, 4>& runs, const std::vector<std::uint8_t>& met,
              const RowRules& rules, ConvergenceRow& row);

}  // namespace carom
