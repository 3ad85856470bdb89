#include "host/compare/comparison_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "host/run/say.hpp"

namespace carom {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kWidth = 118;  // of a line
constexpr std::size_t kIndent = 25;  // of the words of a check

const char* word(Verdict verdict) {
    switch (verdict) {
        case Verdict::kGood:
            return "good";
        case Verdict::kBad:
            return "BAD";
        case Verdict::kNone:
            break;
    }
    return "-";
}

const char* json_word(Verdict verdict) { return verdict == Verdict::kBad ? "bad" : word(verdict); }

/// Breaks `words` into lines; the first begins after `head`, the others under its words.
std::string wrapped(const std::string& head, const std::string& words) {
    std::string text = head;
    std::size_t column = head.size();
    bool first = true;
    for (std::size_t at = 0; at < words.size();) {
        const std::size_t end = std::min(words.find(' ', at), words.size());
        const std::string piece = words.substr(at, end - at);
        if (!first && column + 1 + piece.size() > kWidth) {
            text += "\n" + std::string(kIndent, ' ');
            column = kIndent;
        } else if (!first) {
            text += ' ';
            ++column;
        }
        text += piece;
        column += piece.size();
        first = false;
        at = end + 1;
    }
    return text + "\n";
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json check_json(const Check& check) {
    Json json{{"name", check.name}, {"verdict", json_word(check.verdict)}, {"words", check.words}};
    for (const auto& [key, value] : check.figures) json[key] = number(value);
    return json;
}

/// The rows that the figure of the convergence draws.
Json rows_json(const Convergence& convergence) {
    Json rows = Json::array();
    for (const ConvergenceRow& row : convergence.rows) {
        Json positions = Json::array();
        Json velocities = Json::array();
        for (const Deviation& deviation : row.from_hard) {
            positions.push_back({{"median", deviation.median_x}, {"rms", deviation.rms_x}, {"max", deviation.max_x}});
            velocities.push_back({{"median", deviation.median_v}, {"rms", deviation.rms_v}, {"max", deviation.max_v}});
        }
        rows.push_back({{"time", row.time},
                        {"collisions", row.collisions},
                        {"balls", row.met},
                        {"linear", row.linear},
                        {"position", positions},
                        {"velocity", velocities},
                        {"extrapolated", {{"position", row.limit.median_x}, {"velocity", row.limit.median_v}}}});
    }
    return rows;
}

std::string end_words(const Comparison& comparison) {
    std::size_t held = 0;
    std::size_t bad = 0;
    for (const Findings& section : comparison.sections) {
        for (const Check& check : section.checks) {
            held += check.verdict == Verdict::kNone ? 0 : 1;
            bad += check.verdict == Verdict::kBad ? 1 : 0;
        }
    }
    if (held == 0) return "nothing was compared";
    if (bad == 0) return fmt::format("{}, all good", plural(held, "check"));
    return fmt::format("{} of {} BAD", bad, plural(held, "check"));
}

}  // namespace

std::string comparison_text(const Comparison& comparison, const Scene& scene) {
    std::string text =
        fmt::format("{}{}\n", visible(scene.path), scene.title.empty() ? "" : ": " + visible(scene.title));
    for (const Findings& section : comparison.sections) {
        text += "\n" + section.name + "\n";
        for (const Check& check : section.checks) {
            text += wrapped(fmt::format("  {:<4} {:<{}}", word(check.verdict), check.name, kIndent - 7), check.words);
        }
        for (const std::string& note : section.notes) text += wrapped(std::string(kIndent, ' '), note);
    }
    return text + "\n" + end_words(comparison) + "\n";
}

std::string comparison_json(const Comparison& comparison, const Scene& scene, const std::string& figure) {
    Json json{{"scene", scene.path}, {"title", scene.title}, {"good", comparison.good()}};
    for (const Findings& section : comparison.sections) {
        Json checks = Json::array();
        for (const Check& check : section.checks) checks.push_back(check_json(check));
        json[section.name] = {{"good", section.good()}, {"checks", checks}, {"notes", section.notes}};
    }
    json["convergence"]["rows"] = rows_json(comparison.convergence);
    if (comparison.gas) {
        const GasStatistics& gas = *comparison.gas;
        Json lags = Json::array();
        for (std::size_t k = 0; k < gas.spring.lags.size() && k < gas.hard.lags.size(); ++k) {
            lags.push_back({{"time", static_cast<double>(gas.spring.lags[k]) * gas.plan.block},
                            {"spring", gas.spring.lag_displacement[k]},
                            {"events", gas.hard.lag_displacement[k]}});
        }
        json["statistics"]["displacement"] = lags;
    }
    json["figure"] = figure.empty() ? Json(nullptr) : Json(figure);
    return json_text(json);
}

}  // namespace carom
