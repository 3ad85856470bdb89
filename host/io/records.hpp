#pragma once

#include <string>
#include <vector>

#include "host/io/hdf5.hpp"
#include "host/state/balls.hpp"
#include "host/state/box.hpp"
#include "host/state/solver.hpp"

namespace carom {

// Plain records as groups of HDF5, for trajectories and checkpoints alike.

void write_species_table(hid_t parent, const std::string& name, const std::vector<Species>& table);
std::vector<Species> read_species_table(hid_t parent, const std::string& name);

void write_box(hid_t parent, const std::string& name, const Box& box);
Box read_box(hid_t parent, const std::string& name);

void write_description(hid_t parent, const std::string& name, const SolverDescription& description);
SolverDescription read_description(hid_t parent, const std::string& name);

/// The scene's text, with the path that the user gave.
void write_scene_text(hid_t parent, const std::string& name, const std::string& path, const std::string& source);
std::string read_scene_text(hid_t parent, const std::string& name, std::string& path);

/// "carom 0.1.0 (commit)", for the file's header.
std::string program_version();

}  // namespace carom
