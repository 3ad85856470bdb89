// Every number of a scene, one after the other, given values that nobody expects: it is taken, or refused in one line
// that begins with file, line, column and key. Which keys there are is the scene's own table.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "host/run/prepare.hpp"
#include "host/scene/keys.hpp"
#include "host/state/errors.hpp"
#include "host/state/solver.hpp"

namespace carom::scene_numbers_test {

constexpr const char* kValues[] = {"nan",    "inf",     "-inf",   "-1.0", "0.0",   "1e300", "-1e300",
                                   "1e-310", "-1e-310", "9.2e18", "0.1",  "\"a\"", "true",  "[[1.0]]"};

/// A table of a scene: its keys with their values, in the order of their lines.
using Lines = std::vector<std::pair<std::string, std::string>>;

/// Tables by name, as a scene has them before one number is changed. Repeated ones come once, `wall` and `stage` too.
struct Base {
    int dimension = 2;
    std::string solver;
    std::map<std::string, Lines> tables;
};

std::string vector_of(int dimension, const std::string& first, const std::string& other) {
    std::string text = "[" + first;
    for (int axis = 1; axis < dimension; ++axis) text += ", " + other;
    return text + "]";
}

/// That is right for a key of a scene like this one.
std::string usual(const Key& key, int dimension) {
    const std::string path = fmt::format("{}.{}", key.table, key.name);
    static const std::map<std::string, std::string, std::less<>> kUsual{{"run.until", "0.01"},
                                                                        {"species.radius", "0.2"},
                                                                        {"ball.radius", "0.2"},
                                                                        {"fill.radius", "0.2"},
                                                                        {"fill.count", "4"},
                                                                        {"fill.packing_fraction", "0.02"},
                                                                        {"wall.radius", "40.0"},
                                                                        {"stage.until", "0.01"},
                                                                        {"observe.every", "0.001"},
                                                                        {"box.size", "9.0"},
                                                                        {"ball.position", "4.0"},
                                                                        {"wall.center", "4.5"},
                                                                        {"observe.max", "2.0"},
                                                                        {"load.radius", "0.2"},
                                                                        {"observe.bins", "8"},
                                                                        {"fill.region.max", "8.0"},
                                                                        {"observe.region.max", "8.0"},
                                                                        {"fill.sizes.spread", "0.1"},
                                                                        {"species.sizes.spread", "0.1"},
                                                                        {"fill.sizes.max", "2.0"},
                                                                        {"species.sizes.max", "2.0"},
                                                                        {"fill.sizes.min", "0.5"},
                                                                        {"species.sizes.min", "0.5"}};
    const auto found = kUsual.find(path);
    const std::string number = found == kUsual.end() ? "1.0" : found->second;
    switch (key.type) {
        case KeyType::kVector:
        case KeyType::kDirection:
            return vector_of(dimension, number, number);
        case KeyType::kSpin:
            return dimension == 2 ? number : vector_of(3, number, number);
        case KeyType::kPairs:
            return vector_of(dimension, fmt::format("[{0}, {0}]", number), number);
        case KeyType::kNumbers:
        case KeyType::kList:
            return fmt::format("[{}]", number);
        default:
            return number;
    }
}

/// The key with one number changed.
std::string with_value(const Key& key, int dimension, const std::string& value) {
    switch (key.type) {
        case KeyType::kVector:
        case KeyType::kDirection:
            return vector_of(dimension, value, usual(key, 1).substr(1, usual(key, 1).size() - 2));
        case KeyType::kSpin:
            return dimension == 2 ? value : vector_of(3, value, "1.0");
        case KeyType::kPairs:
            return vector_of(dimension, fmt::format("[{}, 1.0]", value), "1.0");
        case KeyType::kNumbers:
        case KeyType::kList:
            return fmt::format("[{}]", value);
        default:
            return value;
    }
}

bool takes_numbers(const Key& key) {
    static const std::set<KeyType> kWithout{KeyType::kText,  KeyType::kFlag,    KeyType::kChoice,  KeyType::kKind,
                                            KeyType::kTable, KeyType::kChoices, KeyType::kBoundary};
    return !kWithout.contains(key.type);
}

Base base_scene(int dimension, const std::string& solver) {
    const auto all = [dimension](const std::string& number) { return vector_of(dimension, number, number); };
    return {dimension,
            solver,
            {{"scene", {{"dimension", std::to_string(dimension)}}},
             {"box", {{"size", all("9.0")}}},
             {"run", {{"until", "0.01"}, {"solver", '"' + solver + '"'}}},
             {"wall", {{"shape", "\"plane\""}, {"normal", all("1.0")}, {"offset", "0.1"}}},
             {"species", {{"name", "\"a\""}, {"radius", "0.2"}, {"mass", "1.0"}}},
             {"ball", {{"radius", "0.2"}, {"mass", "1.0"}, {"position", all("4.0")}, {"velocity", all("0.5")}}},
             {"load", {{"file", "\"balls.csv\""}, {"radius", "0.2"}, {"mass", "1.0"}}},
             {"fill", {{"species", "\"a\""}, {"count", "4"}, {"temperature", "1.0"}}},
             {"observe", {{"name", "\"o\""}, {"kind", "\"speed\""}, {"every", "0.001"}}},
             {"stage", {{"until", "0.01"}}}}};
}

void set(Lines& lines, const std::string& key, const std::string& value) {
    const auto found = std::ranges::find(lines, key, &std::pair<std::string, std::string>::first);
    if (found != lines.end()) {
        found->second = value;
    } else {
        lines.emplace_back(key, value);
    }
}

void drop(Lines& lines, const std::string& key) {
    std::erase_if(lines, [&](const auto& line) { return line.first == key; });
}

struct Trial {
    std::string text;
    int line = 0;  ///< of the key
};

/// The base scene with a table that takes the key, and the key with a value.
Trial trial(Base base, const Key& key, const std::string& value) {
    std::string table(key.table);
    std::string inside;
    if (const auto dot = table.find('.'); dot != std::string::npos) {
        inside = table.substr(dot + 1) + ".";
        table.resize(dot);
    }
    Lines& lines = base.tables[table];
    const std::string name = inside + std::string(key.name);
    if (const Key* kind = kind_key(key.table)) {
        // Of a kind that takes it, and with what that needs.
        for (const std::string_view one : choices_of(*kind)) {
            if (!takes(key, one) || one == "none") continue;
            if (takes(key, "none") && !key.kinds.empty()) continue;
            if (!key.kinds.empty()) set(lines, inside + std::string(kind->name), fmt::format("\"{}\"", one));
            if (key.kinds.empty()) break;
            for (const Key& other : scene_keys()) {
                const bool own = other.table == key.table && !other.kinds.empty();
                if (own && !takes(other, one)) drop(lines, inside + std::string(other.name));
                if (own && takes(other, one) && other.fallback == "required") {
                    set(lines, inside + std::string(other.name), usual(other, base.dimension));
                }
            }
            break;
        }
    }
    const auto own_radius = [&] {
        drop(lines, "species");
        set(lines, "radius", "0.2");
        set(lines, "mass", "1.0");
    };
    const bool of_sizes = name.starts_with("sizes");
    if (table == "fill" && (name == "radius" || name == "mass" || name == "radius_of_gyration" || of_sizes))
        own_radius();
    if (of_sizes && name.ends_with(".weights")) set(lines, "sizes.values", "[1.0]");
    if (name == "packing_fraction") drop(lines, "count");
    if (table == "fill" && name == "speed") drop(lines, "temperature");
    if (table == "ball" && (name == "speed" || name == "angle" || name == "direction")) {
        drop(lines, "velocity");
        set(lines, "speed", "1.0");
        const std::string along = base.dimension == 2 && name != "direction" ? "angle" : "direction";
        set(lines, along, along == "angle" ? "30.0" : vector_of(base.dimension, "1.0", "1.0"));
    }
    drop(lines, name);  // it comes last
    lines.emplace_back(name, with_value(key, base.dimension, value));

    Trial result;
    int number = 0;
    for (const Table& one : scene_tables()) {
        const auto found = base.tables.find(std::string(one.name));
        if (found == base.tables.end()) continue;
        result.text += one.repeated ? fmt::format("[[{}]]\n", one.name) : fmt::format("[{}]\n", one.name);
        ++number;
        for (const auto& [left, right] : found->second) {
            result.text += left + " = " + right + "\n";
            ++number;
            if (one.name == table && left == name) result.line = number;
        }
    }
    return result;
}

/// Empty where the scene is taken.
/// \param folder  where [[load]] finds its file, with a slash; of messages that begin so it is left out
std::string refusal(const std::string& text, const std::string& folder = "") {
    SceneRequest request;
    request.text = SceneText{folder + "s.toml", text};
    request.threads = 1;
    request.force = true;
    try {
        const PreparedScene run = prepare_scene(request);
        static_cast<void>(run.plan->make_solver(run.state, ""));
    } catch (const InputError& error) {
        const std::string message = error.what();
        return message.starts_with(folder) ? message.substr(folder.size()) : message;
    } catch (const SystemError& error) {
        return std::string("system: ") + error.what();
    }
    return "";
}

class EveryNumber : public testing::TestWithParam<std::pair<int, const char*>> {};

TEST_P(EveryNumber, IsTakenOrRefusedByItsPlaceAndName) {
    const auto [dimension, solver] = GetParam();
    const Base base = base_scene(dimension, solver);
    const std::string folder = testing::TempDir() + fmt::format("carom_{}_{}/", dimension, solver);
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "balls.csv") << (dimension == 2 ? "time,x,y\n0,7,7\n" : "time,x,y,z\n0,7,7,7\n");
    int keys = 0;
    int taken = 0;
    int at_the_key = 0;  // not at another one that it does not go with
    for (const Key& key : scene_keys()) {
        if (!takes_numbers(key)) continue;
        if (dimension == 3 && key.name == "angle") continue;  // of disks alone
        if (dimension == 2 && key.kinds == "cylinder") continue;
        ++keys;
        for (const char* value : kValues) {
            const Trial one = trial(base, key, value);
            const std::string message = refusal(one.text, folder);
            if (message.empty()) {
                ++taken;
                continue;
            }
            static const std::regex kForm(R"(s\.toml:(\d+):(\d+): ([a-z]+)(\[\d+\])?\.([a-z_.]+)(\[\d+\])*: .+)");
            std::smatch match;
            ASSERT_TRUE(std::regex_match(message, match, kForm))
                << key.table << "." << key.name << " = " << value << ": " << message << "\n"
                << one.text;
            at_the_key += std::stoi(match[1]) == one.line ? 1 : 0;
        }
    }
    std::filesystem::remove_all(folder);
    EXPECT_GT(keys, 60);
    EXPECT_GT(taken, 200);
    EXPECT_GT(at_the_key, 600);
}

INSTANTIATE_TEST_SUITE_P(Solvers, EveryNumber,
                         testing::Values(std::pair(2, "spring"), std::pair(3, "spring"), std::pair(2, "events"),
                                         std::pair(3, "events")),
                         [](const auto& one) { return fmt::format("{}D_{}", one.param.first, one.param.second); });

/// A light and a heavy kind, with lines of their own for what is changed.
std::string two_kinds(const std::string& solver, const std::string& until, const std::string& mass,
                      const std::string& overlap, const std::string& speed) {
    return fmt::format(R"([scene]
dimension = 2
[box]
size = [9.0, 9.0]
[run]
solver = "{}"
until = {}
[spring]
max_overlap = {}
[[ball]]
radius = 0.2
mass = {}
position = [4.0, 4.0]
velocity = [{}, 0.0]
[[fill]]
radius = 0.2
mass = 1.0
count = 4
temperature = 1.0
)",
                       solver, until, overlap, mass, speed);
}

TEST(NumbersTogether, AreBlamedOnTheOneThatIsFarOut) {
    constexpr const char* kSprings = "the spring solver cannot run this: ";
    constexpr const char* kCount = "; the events solver counts up to 9.01e+15";
    struct {
        std::string text, place, why;
    } const refused[] = {
        {two_kinds("spring", "0.01", "1e50", "0.01", "0.5"), "s.toml:12:8: ball[0].mass: ", kSprings},
        {two_kinds("spring", "0.01", "1e300", "0.01", "0.5"), "s.toml:12:8: ball[0].mass: ", kSprings},
        {two_kinds("spring", "0.01", "1e-50", "0.01", "0.5"), "s.toml:12:8: ball[0].mass: ", kSprings},
        {two_kinds("spring", "0.01", "1.0", "1e-310", "0.5"), "s.toml:9:15: spring.max_overlap: ", kSprings},
        {two_kinds("spring", "0.01", "1.0", "1e-30", "0.5"), "s.toml:9:15: spring.max_overlap: ", kSprings},
        {two_kinds("spring", "0.01", "1.0", "0.01", "1e30"), "s.toml:14:12: ball[0].velocity: ", kSprings},
        {two_kinds("events", "0.01", "1.0", "0.01", "9.2e18"), "s.toml:14:12: ball[0].velocity: ", kCount},
        {two_kinds("events", "1e300", "1.0", "0.01", "0.5"), "s.toml:7:9: run.until: ", kCount},
    };
    for (const auto& [text, place, why] : refused) {
        const std::string message = refusal(text);
        EXPECT_TRUE(message.starts_with(place)) << place << " is not where this is blamed on: " << message;
        EXPECT_NE(message.find(why), std::string::npos) << message;
    }
    EXPECT_EQ(refusal(two_kinds("events", "0.01", "1.0", "0.01", "8e18")), "");
    EXPECT_EQ(refusal(two_kinds("spring", "0.01", "1.0", "0.01", "0.5")), "");
}

}  // namespace carom::scene_numbers_test
