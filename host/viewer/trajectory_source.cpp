#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/io/trajectory_reader.hpp"
#include "host/run/text.hpp"
#include "host/scene/load.hpp"
#include "host/state/errors.hpp"
#include "host/viewer/frame_source.hpp"

namespace carom {

namespace {

class TrajectorySource final : public FrameSource {
public:
    TrajectorySource(const std::string& path, const FrameChoice& choice)
        : reader_(path), scene_(parse_scene(reader_.header().scene_source, reader_.header().scene_path)) {
        const TrajectoryHeader& header = reader_.header();
        balls_.dimension = header.dimension();
        balls_.species_table = header.species_table;
        balls_.species = header.species;
        const std::size_t stored = reader_.frame_count();
        if (stored == 0) throw InputError(path + ": holds no frame");
        switch (choice.kind) {
            case FrameChoice::Kind::kAll:
                choose_all(choice.every);
                break;
            case FrameChoice::Kind::kLast:
                indices_.push_back(stored - 1);
                break;
            case FrameChoice::Kind::kTime:
                indices_.push_back(reader_.frame_at(choice.time));
                break;
            case FrameChoice::Kind::kIndex:
                if (choice.index >= stored) {
                    throw InputError(fmt::format("--frame: {} holds the frames 0 to {}", path, stored - 1));
                }
                indices_.push_back(choice.index);
                break;
        }
    }

    [[nodiscard]] const Scene& scene() const override { return scene_; }
    [[nodiscard]] const Balls& balls() const override { return balls_; }
    [[nodiscard]] std::size_t count() const override { return indices_.size(); }

    const Frame* next() override {
        if (next_ >= indices_.size()) return nullptr;
        reader_.read(indices_[next_++], frame_);
        return &frame_;
    }

    [[nodiscard]] std::vector<std::string> notes() override {
        std::vector<std::string> lines{fmt::format("frame {} of {}", indices_[next_ - 1], reader_.frame_count() - 1),
                                       fmt::format("step {}", count_text(frame_.step))};
        if (table_.width == 0) table_ = reader_.observables();
        if (table_.rows() == 0) return lines;
        std::size_t row = 0;
        for (std::size_t k = 1; k < table_.rows(); ++k) {
            if (std::abs(table_.time[k] - frame_.time) < std::abs(table_.time[row] - frame_.time)) row = k;
        }
        for (const auto* name : {"kinetic_energy", "total_energy", "temperature"}) {
            const std::size_t column = table_.column(name);
            if (column >= table_.width) continue;
            std::string words = name;
            std::ranges::replace(words, '_', ' ');
            lines.push_back(fmt::format("{} {:.6g}", words, table_.at(row, column)));
        }
        return lines;
    }

private:
    void choose_all(double every) {
        const auto times = reader_.times();
        if (every <= 0.0) {
            for (std::size_t k = 0; k < times.size(); ++k) indices_.push_back(k);
            return;
        }
        check_frame_count("--every", (times.back() - times.front()) / every);
        for (double k = 0.0; times.front() + k * every <= times.back() * (1.0 + 1e-12); k += 1.0) {
            indices_.push_back(reader_.frame_at(times.front() + k * every));
        }
    }

    TrajectoryReader reader_;
    Scene scene_;
    Balls balls_;
    std::vector<std::size_t> indices_;
    std::size_t next_ = 0;
    Frame frame_;
    ObservableTable table_;
};

}  // namespace

std::unique_ptr<FrameSource> open_trajectory(const std::string& path, const FrameChoice& choice) {
    return std::make_unique<TrajectorySource>(path, choice);
}

}  // namespace carom
