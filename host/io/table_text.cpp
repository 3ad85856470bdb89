#include "host/io/table_text.hpp"

#include <cmath>

#include "host/io/number_text.hpp"

namespace carom {

namespace {

/// As RFC 4180 quotes it.
void append_field(std::string& text, const std::string& field) {
    if (field.find_first_of(",\"\r\n") == std::string::npos) {
        text += field;
        return;
    }
    text += '"';
    for (const char c : field) {
        if (c == '"') text += '"';
        text += c;
    }
    text += '"';
}

void append_known(std::string& text, double value, bool single) {
    if (!std::isnan(value)) append_stored(text, value, single);
}

}  // namespace

std::string ball_columns(int dimension) {
    return dimension == 2 ? "id,species,x,y,vx,vy,w,radius,mass" : "id,species,x,y,z,vx,vy,vz,wx,wy,wz,radius,mass";
}

void append_ball_line(std::string& text, const TrajectoryHeader& header, const Frame& frame, std::size_t id) {
    const bool single = header.single_precision();
    const Species& species = header.species_table[header.species[id]];
    fmt::format_to(std::back_inserter(text), "{},", id);
    append_field(text, species.name);
    for (int axis = 0; axis < frame.dimension; ++axis) {
        text += ',';
        append_known(text, frame.position[axis][id], false);
    }
    for (int axis = 0; axis < frame.dimension; ++axis) {
        text += ',';
        append_known(text, frame.velocity[axis][id], single);
    }
    for (int axis = frame.dimension == 2 ? 2 : 0; axis < 3; ++axis) {
        text += ',';
        append_known(text, frame.spin[axis][id], single);
    }
    text += ',';
    append_number(text, species.radius);
    text += ',';
    append_number(text, species.mass);
    text += '\n';
}

}  // namespace carom
