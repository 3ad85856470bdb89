#include <algorithm>
#include <array>
#include <string_view>

#include "host/io/exporter.hpp"
#include "host/io/replacement.hpp"
#include "host/io/state_text.hpp"

namespace carom {

namespace {

class LammpsExporter final : public Exporter {
public:
    explicit LammpsExporter(const ExportTarget& target)
        : target_(target), file_(target.path), bounds_(box_in_3d(*target.header)) {
        const auto stores = [&](std::string_view field) {
            const auto& fields = target.header->fields;
            return std::ranges::find(fields, field) != fields.end();
        };
        position_ = stores("position");
        velocity_ = stores("velocity");
        spin_ = stores("spin");
    }

    void add(const Frame& frame) override {
        const Box& box = target_.header->box;
        std::string text = "ITEM: TIME\n";
        append_number(text, frame.time);
        const auto balls = std::count(frame.gone.begin(), frame.gone.end(), std::uint8_t{0});
        text += fmt::format("\nITEM: TIMESTEP\n{}\nITEM: NUMBER OF ATOMS\n{}\nITEM: BOX BOUNDS", frame.step, balls);
        // A layer of disks is periodic, as LAMMPS wants it in 2D.
        for (int axis = 0; axis < 3; ++axis) text += axis >= box.dimension || box.periodic(axis) ? " pp" : " ff";
        text += '\n';
        for (std::size_t axis = 0; axis < 3; ++axis) {
            append_number(text, bounds_.min[axis]);
            text += ' ';
            append_number(text, bounds_.min[axis] + bounds_.size[axis]);
            text += '\n';
        }
        text += "ITEM: ATOMS id type";
        if (position_) text += " x y z ix iy iz";
        if (velocity_) text += " vx vy vz";
        if (spin_) text += " omegax omegay omegaz";
        file_.write(text + " radius mass\n");
        for (std::size_t id = 0; id < frame.size(); ++id) {
            if (frame.gone[id]) continue;
            text.clear();
            append_ball(text, frame, id);
            file_.write(text);
        }
        ++frames_;
    }

    std::string finish() override {
        file_.commit();
        return fmt::format("{}: {} frame{}", target_.path, frames_, frames_ == 1 ? "" : "s");
    }

private:
    void append_ball(std::string& text, const Frame& frame, std::size_t id) const {
        const TrajectoryHeader& header = *target_.header;
        const Species& species = header.species_table[header.species[id]];
        const bool single = header.single_precision();
        fmt::format_to(std::back_inserter(text), "{} {}", id + 1,
                       species_row(header.species_table, header.species[id]) + 1);  // both count from 1
        const auto vector = [&](const std::array<std::vector<double>, 3>& of, bool as_single) {
            for (const auto& component : of) {
                text += ' ';
                append_stored(text, component.empty() ? 0.0 : component[id], as_single);
            }
        };
        if (position_) {
            vector(frame.position, false);
            for (const auto& component : frame.image) {
                fmt::format_to(std::back_inserter(text), " {}", component.empty() ? 0 : component[id]);
            }
        }
        if (velocity_) vector(frame.velocity, single);
        if (spin_) vector(frame.spin, single);
        text += ' ';
        append_number(text, species.radius);
        text += ' ';
        append_number(text, species.mass);
        text += '\n';
    }

    ExportTarget target_;
    ReplacementFile file_;
    BoxIn3D bounds_;
    bool position_ = false;
    bool velocity_ = false;
    bool spin_ = false;
    std::size_t frames_ = 0;
};

std::unique_ptr<Exporter> make_lammps_exporter(const ExportTarget& target) {
    return std::make_unique<LammpsExporter>(target);
}

}  // namespace

/// A dump of LAMMPS, which its `rerun` and `read_dump`, OVITO, VMD and others read: all frames in one file. Balls that
/// have left are left out. https://docs.lammps.org/dump.html
ExportFormat lammps_format() {
    return {".lammpstrj", "a dump of LAMMPS, for it, OVITO and VMD", OneFile{make_lammps_exporter}};
}

}  // namespace carom
