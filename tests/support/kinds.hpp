#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "host/io/trajectory_reader.hpp"
#include "host/scene/keys.hpp"
#include "tests/support/driven_run.hpp"
#include "tests/support/sample_trajectory.hpp"

// For tests of whatever is registered, asked for by a scene as a user would. The lists are the registries', so that a
// new thing is tested without being named.

namespace carom::test {

/// `carom` with these arguments in a folder; the test fails if it does.
inline void carom(const TemporaryFolder& folder, const std::string& arguments) {
    const std::string command = "cd '" + folder.path().string() + "' && '" +
                                std::filesystem::absolute(CAROM_PROGRAM).string() + "' " + arguments + " >log.txt 2>&1";
    const int status = std::system(command.c_str());
    std::ostringstream said;
    said << std::ifstream(folder.file("log.txt")).rdbuf();
    std::filesystem::remove(folder.file("log.txt"));
    ASSERT_EQ(WEXITSTATUS(status), 0) << arguments << "\n" << said.str();
}

/// What kinds of a table's things there are, by name.
inline std::vector<std::string> kinds_of(std::string_view table) {
    const auto choices = choices_of(*kind_key(table));
    return {choices.begin(), choices.end()};
}

/// A value that the key of a kind takes: of a choice the first; 3, or what is near it where that is not allowed.
inline KindValues::Value example_value(const Key& key, int dimension) {
    const bool flat = dimension == 2;
    if (key.type == KeyType::kVector) return {0.5, 0.3, flat ? 0.0 : 0.1};
    if (key.type == KeyType::kDirection) return flat ? KindValues::Value{0.6, 0.8} : KindValues::Value{0.48, 0.64, 0.6};
    if (key.type == KeyType::kChoice) return {};
    const bool whole = key.type == KeyType::kWhole;
    const auto [min, max] = std::pair{key.bounds.min, key.bounds.max};
    if (min >= 3.0) return {whole ? std::min(min + 1.0, max) : 0.5 * (min + std::min(min + 1.0, max))};
    if (max < 3.0) return {whole ? max : 0.5 * (std::max(min, max - 1.0) + max)};
    return {3.0};
}

/// The same for each key but some.
inline KindValues example_values(std::span<const Key> keys, int dimension, std::span<const std::string_view> but = {}) {
    KindValues values;
    for (const Key& key : keys) {
        if (std::ranges::find(but, key.name) == but.end()) values.set(key.name, example_value(key, dimension));
    }
    return values;
}

/// The lines that a kind's own keys need at least: for each way to choose among words a text of its own.
inline std::vector<std::string> required_lines(std::string_view table, std::string_view kind, int dimension) {
    std::vector<std::string> texts{""};
    for (const Key& key : scene_keys()) {
        if (key.table != table || key.kinds.empty() || !takes(key, kind)) continue;
        const bool each_word = table == "wall" && key.type == KeyType::kChoice;
        if (!each_word && !key.fallback.starts_with("required")) continue;
        std::vector<std::string> values;
        for (const std::string_view word : choices_of(key)) values.push_back('"' + std::string(word) + '"');
        if (values.empty()) {
            const auto value = example_value(key, dimension);
            const bool several = key.type == KeyType::kVector || key.type == KeyType::kDirection;
            const auto numbers = std::span(value).first(several ? static_cast<std::size_t>(dimension) : 1);
            const std::string text = fmt::format("{}", fmt::join(numbers, ", "));
            values.push_back(several ? "[" + text + "]" : text);
        } else if (!each_word) {
            values.resize(1);
        }
        std::vector<std::string> more;
        for (const std::string& text : texts) {
            for (const std::string& one : values) more.push_back(text + std::string(key.name) + " = " + one + "\n");
        }
        texts = more;
    }
    return texts;
}

/// Of each "<a|b>" in a text a in two dimensions, b in three.
inline std::string of_dimension(int dimension, const std::string& text) {
    std::string result;
    for (std::size_t k = 0; k < text.size(); ++k) {
        if (text[k] != '<') {
            result += text[k];
            continue;
        }
        const auto bar = text.find('|', k);
        const auto end = text.find('>', k);
        result += dimension == 2 ? text.substr(k + 1, bar - k - 1) : text.substr(bar + 1, end - bar - 1);
        k = end;
    }
    return result;
}

/// A kind by its name, in two dimensions and in three.
class KindInAScene : public testing::TestWithParam<std::tuple<std::string, int>> {
protected:
    [[nodiscard]] std::string kind() const { return std::get<0>(GetParam()); }
    [[nodiscard]] int dimension() const { return std::get<1>(GetParam()); }
};
inline auto each_kind_of(std::string_view table) {
    return testing::Combine(testing::ValuesIn(kinds_of(table)), testing::Values(2, 3));
}
inline std::string name_of_kind(const testing::TestParamInfo<std::tuple<std::string, int>>& info) {
    return std::get<0>(info.param) + "_" + std::to_string(std::get<1>(info.param)) + "d";
}

/// The processors that tests always have: the first is the program's.
inline std::vector<Processor> usual_processors() {
    std::vector<Processor> all{{"cpu1", 1}};
    if (missing({"emulated"}).empty()) all.push_back({"emulated"});
    return all;
}

/// The state hash at the end of a scene's run by the program; each of the usual processors must give the same.
inline void expect_same_run(const std::string& text) {
    const TemporaryFolder folder;
    std::ofstream(folder.file("scene.toml")) << text;
    carom(folder, "run scene.toml -o out.h5 --quiet --threads 1");
    if (testing::Test::HasFatalFailure()) return;
    const std::string summary = TrajectoryReader(folder.file("out.h5")).summary();
    for (const Processor& processor : usual_processors()) {
        DrivenRun run(text, {}, processor);
        run.to(run.solver().reachable_time(run.scene().scene.run.until));
        EXPECT_THAT(summary, testing::HasSubstr(fmt::format("{:016x}", state_hash(run.frame())))) << processor.name;
    }
}

}  // namespace carom::test
