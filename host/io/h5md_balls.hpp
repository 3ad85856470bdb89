#pragma once

#include "host/io/ball_collector.hpp"
#include "host/io/hdf5.hpp"

namespace carom {

/// Whether a file is one of carom's own, which its own readers take.
bool is_of_carom(hid_t file);

/// Reads a frame of an H5MD file of whichever program: places, velocities and what else it has of the balls of one
/// group. As in a table each number of a ball has a name, that of its element; of several numbers "position[0]" and so
/// on. \throws InputError  it has none, or what it has fits neither together nor the scene
void read_h5md(const ReadableFile& file, BallCollector& collector);

}  // namespace carom
