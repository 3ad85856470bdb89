#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "host/observables/frame_sampler.hpp"
#include "host/observables/registry.hpp"
#include "tests/support/events_gas.hpp"

namespace carom::test {

/// Runs an event-driven scene and averages.
class AveragedGas {
public:
    explicit AveragedGas(const EventsScene& scene) : box_(scene.setup.box), engine_(scene.engine()) {
        auto population = std::make_shared<Population>();
        population->table = scene.state.balls.species_table;
        population->species = scene.state.balls.species;
        population_ = std::move(population);
    }
    /// An average with a sample every so often; to be told before run.
    std::size_t watch(const ObserveEntry& request, std::uint64_t samples) {
        averagers_.push_back(
            make_average(request, {.box = box_, .population = population_, .every = 1.0, .samples = samples}));
        if (!averagers_.back()->followed().empty()) {
            engine_->set_log([this](const LoggedImpact& hit) {
                for (const auto& averager : averagers_) averager->impact(hit);
            });
        }
        return averagers_.size() - 1;
    }
    void settle(double time) { engine_->advance(time_ += time, ~0ULL); }
    /// Goes on by `every`, then looks; so many times.
    void run(double every, std::uint64_t samples) {
        const std::vector<double> masses = finite_masses(population_->table);
        const std::vector<std::uint32_t> species = population_->species.rows();
        Frame frame;
        for (std::uint64_t k = 0; k < samples; ++k) {
            engine_->advance(time_ += every, ~0ULL);
            engine_->frame(frame);
            Tallies tallies = engine_->tallies();
            const EventsStatistics statistics = engine_->statistics();
            tallies.collisional_virial = statistics.collisional_virial;
            tallies.collisional_stress = statistics.collisional_stress;
            tallies.meetings = statistics.meetings();
            for (const auto& averager : averagers_) {
                averager->account(
                    {.time = time_, .tallies = tallies, .totals = {}, .path_length = statistics.path_length});
                FrameSampler balls(frame, {.species = species, .mass = masses});
                averager->add(balls, {.time = time_, .index = index_});
            }
            ++index_;
        }
    }
    [[nodiscard]] AverageTable table(std::size_t k) const { return averagers_[k]->table(); }
    [[nodiscard]] EventsEngine& engine() { return *engine_; }

private:
    Box box_;
    std::unique_ptr<EventsEngine> engine_;
    std::shared_ptr<const Population> population_;
    std::vector<std::unique_ptr<Average>> averagers_;
    double time_ = 0.0;
    std::uint64_t index_ = 0;
};

}  // namespace carom::test
