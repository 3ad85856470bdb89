#include <gtest/gtest.h>

#include <limits>

#include "host/run/progress.hpp"

namespace carom {
namespace {

ProgressState half_way() {
    return {.fraction = 0.5,
            .time = 5.0,
            .until = 10.0,
            .work_per_second = 1.9e8,
            .work_name = "ball-steps",
            .seconds_left = 3725.0};
}

TEST(ProgressText, SaysHowFarHowFastAndHowLong) {
    EXPECT_EQ(progress_text(half_way(), 0), " 50 %  t = 5 of 10  1.9e+08 ball-steps/s  1:02:05 left");
}

TEST(ProgressText, DrawsABarWhereThereIsRoom) {
    EXPECT_EQ(progress_text(half_way(), 90),
              " 50 % [============>           ]  t = 5 of 10  1.9e+08 ball-steps/s  1:02:05 left");
}

TEST(ProgressText, FitsAnyWidth) {
    for (int width = 1; width < 120; ++width) {
        EXPECT_LE(progress_text(half_way(), width).size(), static_cast<std::size_t>(width));
    }
}

TEST(ProgressText, ClaimsNoTimeLeftBeforeItIsKnown) {
    ProgressState state = half_way();
    state.seconds_left = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(progress_text(state, 0).find("left"), std::string::npos);
}

}  // namespace
}  // namespace carom
