#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace carom {

/// Times and values of a run's rows as far as theory wants them, in memory that has an end: where they become too many,
/// every second goes, and from then on every second is kept. The first and the last are always there.
class RowNotes {
public:
    static constexpr std::size_t kMost = (std::size_t{1} << 14U) + 1;  // odd, so that the last stays

    /// \param columns  of the times and of each value
    explicit RowNotes(std::vector<std::vector<double>*> columns) : columns_(std::move(columns)) {}

    /// \param row  as many as there are columns
    void add(std::initializer_list<double> row) {
        const double* value = row.begin();
        for (std::vector<double>* const column : columns_) {
            if (last_goes_) column->pop_back();
            column->push_back(*value++);
        }
        last_goes_ = seen_++ % stride_ != 0;
        if (last_goes_ || columns_.front()->size() < kMost) return;
        for (std::vector<double>* const column : columns_) halve(*column);
        stride_ *= 2;
    }

private:
    static void halve(std::vector<double>& all) {
        for (std::size_t k = 0; 2 * k < all.size(); ++k) all[k] = all[2 * k];
        all.resize((all.size() + 1) / 2);
    }

    std::vector<std::vector<double>*> columns_;
    std::uint64_t seen_ = 0;
    std::uint64_t stride_ = 1;
    bool last_goes_ = false;  // the last one is kept only until the next comes
};

}  // namespace carom
