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
    require_free(target.path, target.force);
    return std::make_unique<TsvExporter>(target);
}

}  // namespace carom::examples
