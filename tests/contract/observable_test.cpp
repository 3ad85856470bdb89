#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "host/io/trajectory_reader.hpp"
#include "host/observables/registry.hpp"
#include "host/run/observe.hpp"
#include "host/run/run_loop.hpp"
#include "host/scene/load.hpp"
#include "host/state/errors.hpp"
#include "tests/contract/examples/mean_momentum.hpp"
#include "tests/support/kinds.hpp"

namespace carom::test::observable_test {

ObservableContext context_of(int dimension) {
    ObservableContext context;
    context.box.dimension = dimension;
    context.box.size = {10.0, 10.0, dimension == 3 ? 10.0 : 0.0};
    context.mean_radius = 0.5;
    return context;
}

std::vector<std::unique_ptr<Observable>> all_of(const ObservableContext& context) {
    auto all = default_observables(context);
    const auto example = examples::mean_momentum_kinds().front();  // of docs/extending.md
    all.push_back(std::get<ObservableKind::MakeRow>(example.make)({.name = "mean_momentum"}, context));
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
        const carom::Sample sample{
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
        observable->evaluate(carom::Sample{.totals = totals, .tallies = tallies}, values);
        for (const double value : values) EXPECT_FALSE(std::isinf(value)) << observable->info().name;
    }
}

TEST_P(ObservableContract, RowsOfEveryRunAreCalledAsTheirList) {
    ObservableContext context = context_of(GetParam());
    context.driven = true;
    const auto all = default_observables(context);
    ASSERT_EQ(all.size(), row_kinds().size());
    for (std::size_t k = 0; k < all.size(); ++k) EXPECT_EQ(all[k]->info().name, row_kinds()[k].name);
}

/// docs/scene-file.md has a row for each kind in the tables of "Observables", and for no other.
TEST(ObservableKinds, AreThoseOfTheReference) {
    std::ifstream reference(CAROM_SOURCE_DIR "/docs/scene-file.md");
    std::set<std::string> told;
    bool here = false;
    for (std::string line; std::getline(reference, line);) {
        if (line.starts_with("## ")) here = line == "## Observables";
        if (here && line.starts_with("| `")) told.insert(line.substr(3, line.find('`', 3) - 3));
    }
    const auto kinds = kinds_of("observe");
    EXPECT_EQ(told, std::set<std::string>(kinds.begin(), kinds.end()));
}

class ObservableInAScene : public KindInAScene {
protected:
    /// A gas of two kinds of balls between walls, under gravity, with one [[observe]].
    [[nodiscard]] std::string scene() const {
        const std::string solver = row().events_only ? "events" : "spring";
        std::string text = of_dimension(dimension(), R"(
[scene]
dimension = <2|3>
seed = 4
[box]
size = [8.0, 6.0<|, 6.0>]
boundary = ["periodic", "wall"<|, "wall">]
[physics]
gravity = [0.0, -0.1<|, 0.0>]
[run]
solver = ")" + solver + R"("
backend = "cpu"
precision = "double"
until = 0.4
[output]
every = 0.2
observables_every = 0.1
[[species]]
name = "light"
radius = 0.3
mass = 1.0
[[species]]
name = "heavy"
radius = 0.5
mass = 5.0
[[ball]]
species = "light"
position = [1.0, 1.0<|, 1.0>]
spin = <2.0|[0.0, 2.0, 0.0]>
[[ball]]
species = "heavy"
position = [6.5, 4.5<|, 4.5>]
spin = <1.0|[1.0, 0.0, 0.0]>
[[fill]]
species = "light"
count = <30|60>
temperature = 1.0
[[fill]]
species = "heavy"
count = <15|30>
temperature = 1.0
[[observe]]
name = "seen"
)");
        text += "kind = \"" + kind() + "\"\n" + required_lines("observe", kind(), dimension()).at(0);
        if (row().averaged()) text += "every = 0.02\n";
        if (has_bins()) text += "bins = 4\n";  // wide ones, with balls enough
        return text;
    }
    [[nodiscard]] const ObservableKind& row() const {
        return *std::ranges::find(observable_kinds(), kind(), &ObservableKind::name);
    }
    [[nodiscard]] bool has_bins() const {
        const Key* const bins = find_key("observe", "bins");
        return bins != nullptr && takes(*bins, kind());
    }
    /// The average as a run on a processor ends, without the program.
    static AverageTable averaged(const std::string& text, const Processor& processor) {
        const PreparedScene run = prepare_scene({.scene = "", .threads = 1, .text = SceneText{"test.toml", text}});
        const auto solver = make_solver_on(processor, run);
        RunAverages averages(run, {});
        averages.start(*solver);
        const double end = solver->reachable_time(run.scene.run.until);
        while (solver->time() < end) {
            while (!solver->advance_to(std::min(averages.next(), end), 1000.0)) {
            }
            averages.take(*solver);
        }
        return averages.tables().at(0);
    }
};

std::vector<std::uint64_t> bits(const std::vector<double>& values) {
    std::vector<std::uint64_t> result;
    for (const double value : values) result.push_back(std::bit_cast<std::uint64_t>(value));
    return result;
}

/// In the file of a run stands what the same run gives on another processor; and something that can be looked at.
TEST_P(ObservableInAScene, StandsInTheFile) {
    const TemporaryFolder folder;
    const std::string text = scene();
    std::ofstream(folder.file("scene.toml")) << text;
    carom(folder, "run scene.toml -o out.h5 --quiet --threads 1");
    ASSERT_FALSE(HasFatalFailure());
    EXPECT_FALSE(row().what.empty());
    const TrajectoryReader file(folder.file("out.h5"));
    const auto is_seen = [](const auto& info) { return info.name == "seen"; };
    const auto some = [](const std::vector<double>& values) {
        return std::ranges::any_of(values, [](double value) { return std::isfinite(value) && value != 0.0; });
    };

    const auto& averages = file.header().averages;
    const auto average = std::ranges::find_if(averages, is_seen);
    ASSERT_EQ(average != averages.end(), row().averaged());
    if (!row().averaged()) {
        const ObservableTable rows = file.observables();
        const auto info = std::ranges::find_if(rows.observables, is_seen);
        ASSERT_NE(info, rows.observables.end());
        std::vector<double> values;
        for (std::size_t k = 0; k < info->width(); ++k)
            values.push_back(rows.at(rows.rows() - 1, rows.column("seen") + k));
        EXPECT_TRUE(some(values));
        EXPECT_FALSE(info->label.empty());
        const MemoryRun again = run_in_memory(
            prepare_scene({.scene = "", .threads = 1, .text = SceneText{"test.toml", text}}), [] { return 0; });
        const std::size_t column = find_value(again.infos, "seen").value();
        EXPECT_EQ(std::vector(again.values.begin() + column, again.values.begin() + column + info->width()), values);
        return;
    }
    EXPECT_EQ(average->kind, kind());
    EXPECT_FALSE(average->label.empty());
    EXPECT_GT(average->normalisation.size(), 20U);
    const AverageTable last = file.average("seen", file.frame_count() - 1);
    // Of springs at whole steps, so the last may be too late; and what happened between two looks is one less.
    EXPECT_NEAR(last.samples, 21.0, 1.0);
    EXPECT_EQ(last.values.size(), average->width());
    EXPECT_EQ(last.errors.size(), average->width());
    EXPECT_EQ(last.x.size(), average->x.label.empty() ? 0 : average->x.points);
    EXPECT_TRUE(!has_bins() || average->x.points == 4);
    EXPECT_TRUE(some(last.values));
    for (const Processor& processor : usual_processors()) {
        const AverageTable again = averaged(text, processor);
        EXPECT_EQ(bits(again.values), bits(last.values)) << processor.name;
        EXPECT_EQ(bits(again.errors), bits(last.errors)) << processor.name;
    }
}

/// What takes a `species` looks at no others; what has no use for one says so.
TEST_P(ObservableInAScene, IsOfTheSpeciesThatTheSceneNames) {
    const auto of = [&](const std::string& species) {
        return scene() + (species.empty() ? "" : "species = \"" + species + "\"\n");
    };
    if (row().of == ObservableKind::Of::kAll) {
        EXPECT_THROW(parse_scene(of("light"), "test.toml"), InputError);
        return;
    }
    const auto values = [&](const std::string& species) {
        if (row().averaged()) return bits(averaged(of(species), {"cpu1", 1}).values);
        const MemoryRun run = run_in_memory(
            prepare_scene({.scene = "", .threads = 1, .text = SceneText{"test.toml", of(species)}}), [] { return 0; });
        const std::size_t column = find_value(run.infos, "seen").value();
        return bits({run.values.begin() + column, run.values.end()});
    };
    EXPECT_NE(values("light"), values("heavy"));
    EXPECT_NE(values("light"), values(""));
}

INSTANTIATE_TEST_SUITE_P(Registered, ObservableInAScene, each_kind_of("observe"), name_of_kind);

}  // namespace carom::test::observable_test
