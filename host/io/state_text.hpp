#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "host/io/trajectory_header.hpp"
#include "host/state/balls.hpp"

// Balls as text: numbers, lines of tables, and whole states.

namespace carom {

/// Appends the shortest text that reads back to the same value; it shows that it is no whole number: `1.0`.
template <class Real>
void append_number(std::string& text, Real value) {
    const std::size_t begin = text.size();
    fmt::format_to(std::back_inserter(text), "{}", value);
    // Neither a fraction, nor an exponent, nor `inf` or `nan`.
    if (std::string_view(text).substr(begin).find_first_of(".en") == std::string_view::npos) text += ".0";
}

/// Appends a value as it was stored: `single` says that it was a float.
inline void append_stored(std::string& text, double value, bool single) {
    if (single) {
        append_number(text, static_cast<float>(value));
    } else {
        append_number(text, value);
    }
}

/// The names of species for formats that divide their columns by spaces and have no way to quote them: blanks are
/// underscores, with more of them at the end where another has that word.
std::vector<std::string> words_of(const std::vector<Species>& species);
/// That of balls that have none.
inline constexpr std::string_view kUnnamed = "unnamed";

/// `id,species,x,y[,z],vx,vy[,vz],w|wx,wy,wz,radius,mass`, without the end of the line.
std::string ball_columns(int dimension);

/// Appends the line of one ball, with its end. What is unknown is an empty field.
void append_ball_line(std::string& text, const TrajectoryHeader& header, const Frame& frame, std::size_t id);

/// One JSON object, as `carom state --json` prints: time, step, dimension, balls sorted by id; balls that have left are
/// not there. Numbers are in the shortest form that reads back to the same value: that of a float for velocities and
/// spins of a single-precision run. Infinite mass, a nameless species, and what the file does not hold are null.
std::string state_json(const TrajectoryHeader& header, const Frame& frame);

/// The same as CSV, with the header `id,species,x,y[,z],vx,vy[,vz],w|wx,wy,wz,radius,mass`; infinite mass is `inf`, and
/// null an empty field.
std::string state_csv(const TrajectoryHeader& header, const Frame& frame);

}  // namespace carom
