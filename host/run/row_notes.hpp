#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace carom {

/// Times and values of a run's rows as far as theory wants them, in memory that has an end: where they become too many,
/// every second goes, and from then on every second is kept. The first and the last are always there.
class RowNotes {
public:
    static constexpr std::size_t kMost = (std::size_t{1} << 14U) + 1;  // odd, so that the last stays

    /// \param value  is dropped where `values` is null
    RowNotes(std::vector<double>& times, std::vector<double>* values) : times_(times), values_(values) {}

    void add(double time, double value) {
        if (last_goes_) pop();
        times_.push_back(time);
        if (values_ != nullptr) values_->push_back(value);
        last_goes_ = seen_++ % stride_ != 0;
        if (last_goes_ || times_.size() < kMost) return;
        halve(times_);
        if (values_ != nullptr) halve(*values_);
        stride_ *= 2;
    }

private:
    void pop() {
        times_.pop_back();
        if (values_ != nullptr) values_->pop_back();
    }
    static void halve(std::vector<double>& all) {
        for (std::size_t k = 0; 2 * k < all.size(); ++k) all[k] = all[2 * k];
        all.resize((all.size() + 1) / 2);
    }

    std::vector<double>& times_;
    std::vector<double>* values_;
    std::uint64_t seen_ = 0;
    std::uint64_t stride_ = 1;
    bool last_goes_ = false;  // the last one is kept only until the next comes
};

}  // namespace carom
