#include "host/observables/displaced.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace carom {

namespace {

class Displaced final : public Observable {
public:
    /// \param each  tells of each ball instead of counting
    Displaced(const ObserveRequest& request, const ObservableContext& context, bool each)
        : name_(request.name),
          label_(fmt::format("{}{} farther than {:.6g} m from the start", request.species,
                             request.species.empty() ? "balls" : ": balls", request.threshold)),
          box_(context.box),
          threshold_(request.threshold),
          each_(each) {
        if (context.start == nullptr) throw std::invalid_argument("displaced needs the balls at the start");
        const Balls& start = *context.start;
        const auto watched = [&](std::size_t id) {
            return request.species.empty() || start.species_of(id).name == request.species;
        };
        std::size_t count = 0;
        for (std::size_t id = 0; id < start.size(); ++id) count += watched(id) ? 1 : 0;
        ids_.reserve(count);  // many balls: growing would take twice the memory
        start_.reserve(count * static_cast<std::size_t>(box_.dimension));
        for (std::size_t id = 0; id < start.size(); ++id) {
            if (!watched(id)) continue;
            ids_.push_back(static_cast<std::uint32_t>(id));
            for (int axis = 0; axis < box_.dimension; ++axis) {
                start_.push_back(start.position[axis][id] + start.image[axis][id] * box_.size[axis]);
            }
        }
    }

    [[nodiscard]] ObservableInfo info() const override {
        ObservableInfo info{.name = name_, .unit = "", .label = label_, .components = {}};
        if (each_) {
            for (const std::uint32_t id : ids_) info.components.push_back(std::to_string(id));
        }
        return info;
    }
    [[nodiscard]] bool needs_frame() const override { return true; }

    void evaluate(const Sample& sample, std::span<double> values) const override {
        const Frame& frame = *sample.frame;
        double moved = 0.0;
        for (std::size_t k = 0; k < ids_.size(); ++k) {
            const std::size_t id = ids_[k];
            double squared = 0.0;
            for (int axis = 0; axis < box_.dimension; ++axis) {
                const double now = frame.position[axis][id] + frame.image[axis][id] * box_.size[axis];
                const double distance = now - start_[k * static_cast<std::size_t>(box_.dimension) + axis];
                squared += distance * distance;
            }
            const double has_moved = frame.gone[id] || squared > threshold_ * threshold_ ? 1.0 : 0.0;
            if (each_) values[k] = has_moved;
            moved += has_moved;
        }
        // Without balls to tell of there is still one value.
        if (!each_ || ids_.empty()) values[0] = moved;
    }

private:
    std::string name_;
    std::string label_;
    Box box_;
    double threshold_;  // [length]
    bool each_;
    std::vector<std::uint32_t> ids_;  // the balls that are watched
    std::vector<double> start_;       // unwrapped [length], box_.dimension numbers per watched ball
};

}  // namespace

std::unique_ptr<Observable> make_displaced(const ObserveRequest& request, const ObservableContext& context) {
    return std::make_unique<Displaced>(request, context, false);
}

std::unique_ptr<Observable> make_displaced_each(const ObserveRequest& request, const ObservableContext& context) {
    return std::make_unique<Displaced>(request, context, true);
}

}  // namespace carom
