#pragma once

#include <string>

#include "host/io/trajectory_header.hpp"
#include "host/state/frame.hpp"

namespace carom {

/// One JSON object, as `carom state --json` prints: time, step, dimension, balls sorted by id; balls that have left are
/// not there. Numbers are in the shortest form that reads back to the same value: that of a float for velocities and
/// spins of a single-precision run. Infinite mass, a nameless species, and what the file does not hold are null.
std::string state_json(const TrajectoryHeader& header, const Frame& frame);

/// The same as CSV, with the header `id,species,x,y[,z],vx,vy[,vz],w|wx,wy,wz,radius,mass`; infinite mass is `inf`, and
/// null an empty field.
std::string state_csv(const TrajectoryHeader& header, const Frame& frame);

}  // namespace carom
