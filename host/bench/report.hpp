#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "host/bench/results.hpp"

namespace carom {

/// The tables that `carom bench` prints: a block a gas, then ratios, which solver when, and what was left out.
std::string bench_text(const BenchResults& results);

/// All of the results. `carom_bench` is the format's version, 1; docs/bench.md explains each key.
nlohmann::ordered_json bench_json(const BenchResults& results, const BenchRequest& request);

}  // namespace carom
