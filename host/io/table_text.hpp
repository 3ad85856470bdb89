#pragma once

#include <string>

#include "host/io/trajectory_header.hpp"
#include "host/state/frame.hpp"

namespace carom {

/// `id,species,x,y[,z],vx,vy[,vz],w|wx,wy,wz,radius,mass`, without the end of the line.
std::string ball_columns(int dimension);

/// Appends the line of one ball, with its end. What is unknown is an empty field.
void append_ball_line(std::string& text, const TrajectoryHeader& header, const Frame& frame, std::size_t id);

}  // namespace carom
