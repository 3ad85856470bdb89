#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "host/observables/registry.hpp"
#include "tests/contract/examples/mean_momentum.hpp"

namespace carom {
namespace {

ObservableContext context_of(int dimension) {
    ObservableContext context;
    context.box.dimension = dimension;
    context.box.size = {10.0, 10.0, dimension == 3 ? 10.0 : 0.0};
    context.mean_radius = 0.5;
    return context;
}

std::vector<std::unique_ptr<Observable>> all_of(const ObservableContext& context) {
    auto all = default_observables(context);
    all.push_back(std::make_unique<examples::MeanMomentum>(context));  // of docs/extending.md
    return all;
}

class ObservableContract : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Dimensions, ObservableContract, testing::Values(2, 3));

TEST_P(ObservableContract, NamesAreDistinctAndLabelsTold) {
    std::set<std::string> names;
    for (const auto& observable : all_of(context_of(GetParam()))) {
        EXPECT_TRUE(names.insert(observable->info().name).second) << observable->info().name;
        EXPECT_FALSE(observable->info().label.empty()) << observable->info().name;
        EXPECT_EQ(observable->info().name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"),
                  std::string::npos);
    }
}

TEST_P(ObservableContract, WritesAsManyValuesAsItSaysAndNoMore) {
    Totals totals;
    totals.kinetic = 3.0;
    totals.momentum = {1.0, 2.0, 3.0};
    totals.balls = totals.mobile = 4;
    Tallies tallies;
    tallies.wall_impulse.assign(6, 1.0);
    for (const auto& observable : all_of(context_of(GetParam()))) {
        if (observable->needs_frame()) continue;
        constexpr double kUntouched = -12345.0;
        const std::size_t width = observable->info().width();
        std::vector<double> values(width + 1, kUntouched);
        const Tallies before = tallies;
        const Sample sample{
            .time = 2.0, .step = 7, .totals = totals, .tallies = tallies, .previous_time = 1.0, .previous = &before};
        observable->evaluate(sample, std::span(values).first(width));
        for (std::size_t k = 0; k < width; ++k) EXPECT_NE(values[k], kUntouched) << observable->info().name << " " << k;
        EXPECT_EQ(values[width], kUntouched) << observable->info().name;
    }
}

TEST_P(ObservableContract, AnEmptyBoxGivesNumbersOrNaNAndNoCrash) {
    const Totals totals;
    Tallies tallies;
    tallies.wall_impulse.assign(6, 0.0);
    for (const auto& observable : all_of(context_of(GetParam()))) {
        if (observable->needs_frame()) continue;
        std::vector<double> values(observable->info().width());
        observable->evaluate(Sample{.totals = totals, .tallies = tallies}, values);
        for (const double value : values) EXPECT_FALSE(std::isinf(value)) << observable->info().name;
    }
}

}  // namespace
}  // namespace carom
