#include "host/observables/observable.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>

namespace carom {

ObservableSet::ObservableSet(std::vector<std::unique_ptr<Observable>> observables) {
    for (auto& observable : observables) add(std::move(observable));
}

void ObservableSet::add(std::shared_ptr<const Observable> observable) {
    ObservableInfo info = observable->info();
    if (std::ranges::find(infos_, info.name, &ObservableInfo::name) != infos_.end()) {
        throw std::invalid_argument(info.name);
    }
    width_ += info.width();
    needs_frame_ = needs_frame_ || observable->needs_frame();
    infos_.push_back(std::move(info));
    observables_.push_back(std::move(observable));
}

ObservableRow ObservableSet::evaluate(double time, std::uint64_t step, const Totals& totals, const Tallies& tallies,
                                      const Frame* frame) {
    const Sample sample{.time = time,
                        .step = step,
                        .totals = totals,
                        .tallies = tallies,
                        .previous_time = previous_time_,
                        .previous = first_ ? nullptr : &previous_,
                        .frame = frame};
    ObservableRow row = evaluate_since(sample);
    first_ = false;
    previous_time_ = time;
    previous_ = tallies;
    return row;
}

ObservableRow ObservableSet::evaluate_since(const Sample& sample) const {
    ObservableRow row{.time = sample.time, .step = sample.step, .values = std::vector<double>(width_)};
    std::size_t begin = 0;
    for (std::size_t k = 0; k < observables_.size(); ++k) {
        const std::size_t width = infos_[k].width();
        observables_[k]->evaluate(sample, std::span(row.values).subspan(begin, width));
        begin += width;
    }
    return row;
}

}  // namespace carom
