#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "host/observables/registry.hpp"

namespace carom {

namespace {

/// Counts the balls of a species that are farther than a threshold from where they were at time 0, the way around
/// periodic sides counted. A ball that has left the box has moved.
/// \param kEach  tells of each ball, by its id, whether it has moved, 1 or 0, instead of counting
template <bool kEach>
class Displaced final : public Observable {
public:
    /// \throws std::invalid_argument  the context has no start
    Displaced(const ObserveEntry& request, const ObservableContext& context)
        : name_(request.name),
          label_(fmt::format("{}{} farther than {:.6g} from the start", request.species,
                             request.species.empty() ? "balls" : ": balls", request.threshold)),
          box_(context.box),
          threshold_(request.threshold) {
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
        if (kEach) {
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
            if (kEach) values[k] = has_moved;
            moved += has_moved;
        }
        // Without balls to tell of there is still one value.
        if (!kEach || ids_.empty()) values[0] = moved;
    }

private:
    std::string name_;
    std::string label_;
    Box box_;
    double threshold_;                // [length]
    std::vector<std::uint32_t> ids_;  // the balls that are watched
    std::vector<double> start_;       // unwrapped [length], box_.dimension numbers per watched ball
};

constexpr Key kKeys[] = {{.name = "threshold",
                          .bounds = kNotNegative,
                          .fallback = "1.0e-9",
                          .help = "displaced, displaced_each: unwrapped distance [length]"}};

constexpr ObservableKind kKinds[] = {
    {.name = "displaced",
     .what = "how many balls are farther from their start than `threshold`, the way around periodic sides counted, or "
             "have left",
     .keys = kKeys,
     .from_start = true,
     .make = row_value<Displaced<false>>},
    {.name = "displaced_each",
     .what = "of each ball, by its id, whether it is: 1 or 0",
     .keys = kKeys,
     .from_start = true,
     .make = row_value<Displaced<true>>},
};

}  // namespace

std::span<const ObservableKind> displaced_kinds() { return kKinds; }

}  // namespace carom
