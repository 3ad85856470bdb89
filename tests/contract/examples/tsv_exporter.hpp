#pragma once

#include <fmt/format.h>

#include "host/io/exporter.hpp"
#include "host/io/replacement.hpp"

namespace carom::examples {

/// Positions separated by tabs, frames by empty lines, for gnuplot.
class TsvExporter final : public Exporter {
public:
    explicit TsvExporter(const ExportTarget& target) : file_(target.path) {}

    void add(const Frame& frame) override {
        for (std::size_t id = 0; id < frame.size(); ++id) {
            if (frame.gone[id]) continue;
            std::string line;
            for (int axis = 0; axis < frame.dimension; ++axis) line += fmt::format("{}\t", frame.position[axis][id]);
            line.back() = '\n';
            file_.write(line);
        }
        file_.write("\n");
    }

    std::string finish() override {
        file_.commit();  // only now does the file appear under its name
        return "done";
    }

private:
    ReplacementFile file_;
};

inline std::unique_ptr<Exporter> make_tsv_exporter(const ExportTarget& target) {
    return std::make_unique<TsvExporter>(target);
}

inline ExportFormat tsv_format() { return {".tsv", "positions, for gnuplot", OneFile{make_tsv_exporter}}; }

/// The same, a file for each frame.
inline void write_places(const std::string& path, const TrajectoryHeader& header, const Frame& frame, bool replace) {
    ReplacementFile file(path, replace);
    for (std::size_t id = 0; id < frame.size(); ++id) {
        if (frame.gone[id]) continue;
        std::string line;
        for (int axis = 0; axis < header.dimension(); ++axis) line += fmt::format("{} ", frame.position[axis][id]);
        line.back() = '\n';
        file.write(line);
    }
    file.commit();
}

inline ExportFormat places_format() { return {".pts", "places alone", FilePerFrame{write_places}}; }

}  // namespace carom::examples
