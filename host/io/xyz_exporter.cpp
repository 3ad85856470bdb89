#include <algorithm>

#include "host/io/exporter.hpp"
#include "host/io/replacement.hpp"
#include "host/io/state_text.hpp"

namespace carom {

namespace {

class XyzExporter final : public Exporter {
public:
    explicit XyzExporter(const ExportTarget& target)
        : target_(target), words_(words_of(target.header->species_table)), file_(target.path) {}

    void add(const Frame& frame) override {
        const auto balls = std::count(frame.gone.begin(), frame.gone.end(), std::uint8_t{0});
        file_.write(fmt::format("{}\n{}", balls, comment_line(frame)));
        std::string line;
        for (std::size_t id = 0; id < frame.size(); ++id) {
            if (frame.gone[id]) continue;
            line.clear();
            append_ball(line, frame, id);
            file_.write(line);
        }
        ++frames_;
    }

    std::string finish() override {
        file_.commit();
        return fmt::format("{}: {} frame{}", target_.path, frames_, frames_ == 1 ? "" : "s");
    }

private:
    [[nodiscard]] std::string comment_line(const Frame& frame) const {
        const Box& box = target_.header->box;
        const BoxIn3D bounds = box_in_3d(*target_.header);
        std::string text = "Lattice=\"";
        for (std::size_t row = 0; row < 3; ++row) {
            for (std::size_t column = 0; column < 3; ++column) {
                if (row + column > 0) text += ' ';
                append_number(text, row == column ? bounds.size[row] : 0.0);
            }
        }
        text += "\" Origin=\"";
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if (axis > 0) text += ' ';
            append_number(text, bounds.min[axis]);
        }
        text += "\" pbc=\"";
        for (int axis = 0; axis < 3; ++axis) {
            if (axis > 0) text += ' ';
            text += axis < box.dimension && box.periodic(axis) ? 'T' : 'F';
        }
        text += "\" Properties=species:S:1:pos:R:3:velo:R:3:angular_velocity:R:3:radius:R:1:mass:R:1:id:I:1 Time=";
        append_number(text, frame.time);
        fmt::format_to(std::back_inserter(text), " Step={}\n", frame.step);
        return text;
    }

    static void append_vector(std::string& text, const std::array<std::vector<double>, 3>& vectors, std::size_t id,
                              bool single) {
        for (const auto& component : vectors) {
            text += ' ';
            append_stored(text, component.empty() ? 0.0 : component[id], single);
        }
    }

    void append_ball(std::string& text, const Frame& frame, std::size_t id) const {
        const TrajectoryHeader& header = *target_.header;
        const std::size_t row = header.species[id];
        const Species& species = header.species_table[row];
        text += words_[row];
        append_vector(text, frame.position, id, false);
        append_vector(text, frame.velocity, id, header.single_precision());
        append_vector(text, frame.spin, id, header.single_precision());
        text += ' ';
        append_number(text, species.radius);
        text += ' ';
        append_number(text, species.mass);
        fmt::format_to(std::back_inserter(text), " {}\n", id);
    }

    ExportTarget target_;
    std::vector<std::string> words_;  // of species
    ReplacementFile file_;
    std::size_t frames_ = 0;
};

std::unique_ptr<Exporter> make_xyz_exporter(const ExportTarget& target) {
    return std::make_unique<XyzExporter>(target);
}

}  // namespace

/// Extended XYZ, which OVITO, ASE and others read: all frames in one file, one after the other. Balls that have left
/// are left out. https://github.com/libAtoms/extxyz
ExportFormat xyz_format() { return {".xyz", "extended XYZ, for OVITO and ASE", OneFile{make_xyz_exporter}}; }

}  // namespace carom
