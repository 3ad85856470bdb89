#include "host/io/state_text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

namespace carom {

namespace {

/// As RFC 4180 quotes it; blanks at its ends, too, which readers leave out.
void append_field(std::string& text, const std::string& field) {
    constexpr std::string_view kBlank = " \t";
    const bool padded = !field.empty() && (kBlank.find(field.front()) != std::string_view::npos ||
                                           kBlank.find(field.back()) != std::string_view::npos);
    if (!padded && field.find_first_of(",\"\r\n") == std::string::npos) {
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

void append_json_text(std::string& text, const std::string& value) {
    text += '"';
    for (const char c : value) {
        if (c == '"' || c == '\\') {
            text += '\\';
            text += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            fmt::format_to(std::back_inserter(text), "\\u{:04x}", static_cast<unsigned>(c));
        } else {
            text += c;
        }
    }
    text += '"';
}

/// JSON knows neither NaN nor infinity.
void append_json_number(std::string& text, double value, bool single) {
    if (std::isfinite(value)) {
        append_stored(text, value, single);
    } else {
        text += "null";
    }
}

void append_json_vector(std::string& text, const std::array<std::vector<double>, 3>& vectors, int dimension,
                        std::size_t id, bool single) {
    text += '[';
    for (int axis = 0; axis < dimension; ++axis) {
        if (axis > 0) text += ", ";
        append_json_number(text, vectors[axis][id], single);
    }
    text += ']';
}

void append_json_ball(std::string& text, const TrajectoryHeader& header, const Frame& frame, std::size_t id) {
    const bool single = header.single_precision();
    const Species& species = header.species_table[header.species[id]];
    fmt::format_to(std::back_inserter(text), "{{\"id\": {}, \"species\": ", id);
    if (species.name.empty()) {
        text += "null";
    } else {
        append_json_text(text, species.name);
    }
    text += ", \"position\": ";
    append_json_vector(text, frame.position, frame.dimension, id, false);
    text += ", \"velocity\": ";
    append_json_vector(text, frame.velocity, frame.dimension, id, single);
    text += ", \"spin\": ";
    if (frame.dimension == 2) {
        append_json_number(text, frame.spin[2][id], single);
    } else {
        append_json_vector(text, frame.spin, 3, id, single);
    }
    text += ", \"radius\": ";
    append_json_number(text, species.radius, false);
    text += ", \"mass\": ";
    append_json_number(text, species.mass, false);
    text += '}';
}

}  // namespace

namespace {

/// Words that are taken. Of each without its underscores at the end: behind a number of them that is taken, one from
/// which on to look for the next that is not.
class Words {
public:
    /// The word, with as many more underscores as it takes to be another than all before.
    std::string take(std::string word) {
        const std::size_t length = word.find_last_not_of('_') + 1;  // 0 if there is nothing else
        std::map<std::size_t, std::size_t>& next = next_[word.substr(0, length)];
        std::size_t free = word.size() - length;
        std::vector<std::size_t> passed;
        for (auto at = next.find(free); at != next.end(); at = next.find(free)) {
            passed.push_back(free);
            free = at->second;
        }
        passed.push_back(free);
        for (const std::size_t number : passed) next[number] = free + 1;
        word.resize(length + free, '_');
        return word;
    }

private:
    std::map<std::string, std::map<std::size_t, std::size_t>> next_;
};

}  // namespace

std::vector<std::string> words_of(const std::vector<Species>& species) {
    const auto word_of = [](std::string name) {
        std::ranges::replace_if(
            name, [](unsigned char c) { return c <= ' '; }, '_');
        return name;
    };
    Words taken;
    std::map<std::string, std::string> words;  // by name; whose name is a word keeps it
    words.emplace("", taken.take(std::string(kUnnamed)));
    for (const bool are_words : {true, false}) {
        for (const Species& one : species) {
            std::string word = word_of(one.name);
            if ((word == one.name) != are_words || words.contains(one.name)) continue;
            words.emplace(one.name, taken.take(std::move(word)));
        }
    }
    std::vector<std::string> all;
    for (const Species& one : species) all.push_back(words.at(one.name));
    return all;
}

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

std::string state_json(const TrajectoryHeader& header, const Frame& frame) {
    std::string text = "{\"time\": ";
    append_json_number(text, frame.time, false);
    fmt::format_to(std::back_inserter(text), ", \"step\": {}, \"dimension\": {},\n \"balls\": [", frame.step,
                   frame.dimension);
    const char* separator = "\n";
    for (std::size_t id = 0; id < frame.size(); ++id) {
        if (frame.gone[id]) continue;
        text += separator;
        append_json_ball(text, header, frame, id);
        separator = ",\n";
    }
    text += "]}\n";
    return text;
}

std::string state_csv(const TrajectoryHeader& header, const Frame& frame) {
    std::string text = ball_columns(frame.dimension) + "\n";
    for (std::size_t id = 0; id < frame.size(); ++id) {
        if (!frame.gone[id]) append_ball_line(text, header, frame, id);
    }
    return text;
}

}  // namespace carom
