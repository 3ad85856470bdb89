#include "host/run/bench_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "host/state/errors.hpp"
#include "host/state/text.hpp"

namespace carom {

namespace {

/// \param where  the row, as in messages
void require_measurement(const nlohmann::json& row, const std::string& where) {
    const auto require = [&](const char* key, const char* what, const auto& good) {
        const auto value = row.at(key).get<double>();
        if (!good(value)) throw InputError(fmt::format("{}.{}: must be {}, not {:g}", where, key, what, value));
        return value;
    };
    const auto positive = [](double value) { return value > 0.0; };
    const auto whole = [](double most) {
        return [most](double value) { return value >= 1.0 && value <= most && value == std::floor(value); };
    };
    const double rate = require("per_second", "above 0", positive);
    require("per_second_least", "above 0 and at most per_second",
            [&](double value) { return value > 0.0 && value <= rate; });
    require("per_second_most", "at least per_second", [&](double value) { return value >= rate; });
    if (row.contains("limit_per_second")) require("limit_per_second", "above 0", positive);
    if (row.contains("threads")) require("threads", "a whole number from 1 to 1e6", whole(1e6));
    if (!row.contains("balls")) return;
    require("balls", "a whole number from 1 to 1e12", whole(1e12));
    require("dimension", "2 or 3", [](double value) { return value == 2.0 || value == 3.0; });
    require("packing_fraction", "above 0 and at most 1", [](double value) { return value > 0.0 && value <= 1.0; });
}

}  // namespace

nlohmann::json bench_results(const std::string& text, const std::string& file) {
    const std::string none = file + ": is no result of carom bench";
    if (nests_too_deep(text)) throw InputError(none);
    try {
        nlohmann::json json = nlohmann::json::parse(text);
        if (json.at("carom_bench") != 1) throw InputError(file + ": is of another version of carom bench");
        const nlohmann::json& rows = json.at("rows");
        if (!rows.is_array()) throw InputError(none);
        constexpr std::size_t kMostRows = 10'000;
        if (rows.size() > kMostRows) {
            throw InputError(fmt::format("{}: holds more rows than any bench has ({})", file, kMostRows));
        }
        for (std::size_t k = 0; k < rows.size(); ++k)
            require_measurement(rows[k], fmt::format("{}: rows[{}]", file, k));
        return json;
    } catch (const nlohmann::json::exception&) {
        throw InputError(none);
    }
}

}  // namespace carom
