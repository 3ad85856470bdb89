#include "host/viewer/cloud_feed.hpp"

#include <algorithm>
#include <stdexcept>

namespace carom {

namespace {

float largest_radius(const Balls& balls) {
    std::vector<bool> used(balls.species_table.size());
    for (const auto index : balls.species) used[index] = true;
    double largest = 0.0;
    for (std::size_t k = 0; k < used.size(); ++k) {
        if (used[k]) largest = std::max(largest, balls.species_table[k].radius);
    }
    return static_cast<float>(largest);
}

/// What write_picture of a CPU says no to.
bool written_on_host(const PictureSource& source, Quantity quantity) {
    return source.pictures_on_host() && quantity != Quantity::kOverlap;
}

}  // namespace

bool CloudFeed::needs_frame(CloudStore& store, int slot, Solver& solver, Quantity quantity) const {
    if (frames_only_) return true;
    if (store.arrays(slot)) return false;
    const PictureSource* source = solver.pictures();
    return source == nullptr || !written_on_host(*source, quantity);
}

/// Hands over the values that do not change with time.
void CloudFeed::give(Solver& solver, const Scene& scene, const Balls& balls, Quantity quantity, const Frame* frame) {
    if (given_ == quantity) return;
    if (frame == nullptr) {
        solver.request_frame(frame_);
        solver.finish_frame(frame_);
        frame = &frame_;
    }
    evaluate(quantity, scene, balls, *frame, values_);
    solver.pictures()->give_picture_values(values_);
    given_ = quantity;
}

ValueRange CloudFeed::fill(CloudStore& store, int slot, Solver& solver, const Scene& scene, const Balls& balls,
                           Quantity quantity, const Frame* frame) {
    if (needs_frame(store, slot, solver, quantity)) {
        evaluate(quantity, scene, balls, *frame, values_);
        store.fill(slot, clouds_.make(scene, balls, *frame, values_));
        return quantity == Quantity::kSpecies ? ValueRange{} : range_of(quantity, values_);
    }
    const PictureOrder order = picture_order(quantity, scene);
    if (order.value == PictureOrder::Value::kGiven) give(solver, scene, balls, quantity, frame);
    const std::size_t count = balls.size();
    const bool ranged = quantity != Quantity::kSpecies;
    sample_.resize(ranged ? std::min(count, kRangeSample) : 0);
    const auto write = [&](const PictureArrays& to) {
        if (solver.pictures()->write_picture(order, to, sample_)) return;
        // A solver that goes on with another engine, at a stage of the run, has to be told again.
        forget();
        give(solver, scene, balls, quantity, frame);
        if (!solver.pictures()->write_picture(order, to, sample_)) {
            throw std::runtime_error("this processor cannot draw balls by that quantity");
        }
    };
    CloudExtent extent{count, cloud_origin(scene.box), largest_radius(balls)};
    if (const auto shared = store.arrays(slot)) {
        write(*shared);
        if (scene.dimension() == 2) {
            for (int axis = 0; axis < 2; ++axis) {
                const auto k = static_cast<std::size_t>(axis);
                if (scene.box.periodic(axis)) extent.around[k] = static_cast<float>(scene.box.size[k]);
            }
        }
        store.filled(slot, extent);
    } else {
        places_.resize(count);
        values_.resize(count);
        write({places_.data(), values_.data()});
        const bool around = scene.dimension() == 2 && (scene.box.periodic(0) || scene.box.periodic(1));
        for (std::size_t id = 0; around && id < count; ++id) {
            const BallPlace place = places_[id];
            if (place.radius >= 0.0f) add_second_pictures(scene.box, place, values_[id], places_, values_);
        }
        store.fill(slot, {places_, values_, extent.origin, extent.largest_radius});
    }
    return ranged ? range_of(quantity, sample_) : ValueRange{};
}

}  // namespace carom
