#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "host/observables/averager.hpp"
#include "tests/support/average_state.hpp"

namespace carom::test {

class AveragesTest : public testing::TestWithParam<int> {
protected:
    AverageTable after(const ObserveRequest& request, int samples = 3) {
        const auto averager = make_averager(request, state.context());
        for (int k = 0; k < samples; ++k) {
            state.shake(100 + k);
            state.show(*averager, k);
            each_sample();
        }
        info = averager->info();
        AverageTable table = averager->table();
        EXPECT_EQ(table.samples, samples);
        EXPECT_EQ(table.values.size(), info.width());
        EXPECT_EQ(table.errors.size(), info.width());
        return table;
    }
    int dimension() const { return GetParam(); }

    AverageState state{GetParam(), 200, Face::kPeriodic, 1};
    AverageInfo info;
    std::function<void()> each_sample = [] {};
};

}  // namespace carom::test
