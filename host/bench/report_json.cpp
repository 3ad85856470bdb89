#include "host/bench/findings.hpp"
#include "host/bench/gas.hpp"
#include "host/bench/report.hpp"

namespace carom {

namespace {

using Json = nlohmann::ordered_json;

Json case_json(const BenchCase& what) {
    Json json{{"rung", rung_name(what.rung)}, {"backend", what.backend}};
    if (what.backend == "cpu") json["threads"] = what.threads;
    if (what.gas) {
        json["dimension"] = what.gas->dimension;
        json["packing_fraction"] = what.gas->fraction;
        json["balls"] = what.gas->balls;
        json["precision"] = what.double_precision ? "double" : "single";
    }
    return json;
}

Json row_json(const BenchRow& row) {
    Json json = case_json(row.what);
    if (!row.start.empty()) json["start"] = row.start;
    json["unit"] = row.what.rung == BenchRung::kCopy     ? "bytes"
                   : row.what.rung == BenchRung::kEvents ? "events"
                                                         : "ball-steps";
    json["per_second"] = row.rate.median;
    json["per_second_least"] = row.rate.least;
    json["per_second_most"] = row.rate.most;
    json["spread"] = row.rate.spread();
    json["repeats"] = row.rate.repeats;
    json["steps"] = row.steps;
    const auto add = [&json](const char* key, const std::optional<double>& value) {
        if (value) json[key] = *value;
    };
    add("bytes_counted", row.bytes_counted);
    add("bytes_streamed", row.bytes_streamed);
    add("copy_bytes_per_second", row.copy_bandwidth);
    add("limit_per_second", row.limit);
    if (row.limit) json["fraction_of_limit"] = row.rate.median / *row.limit;
    add("contacts_per_ball", row.contacts_per_ball);
    add("steps_between_sorts", row.steps_between_sorts);
    add("seconds_per_time", row.seconds_per_time);
    for (const auto& [key, value] : row.more) json[key] = value;
    return json;
}

Json crossing_json(const Crossing& crossing) {
    Json json{{"dimension", crossing.dimension}, {"balls", crossing.balls}, {"points", Json::array()}};
    for (const Crossing::Point& point : crossing.points) {
        json["points"].push_back({{"packing_fraction", point.fraction},
                                  {"spring_seconds_per_time", point.spring_seconds},
                                  {"events_seconds_per_time", point.events_seconds},
                                  {"break_even_ball_steps_per_second", point.break_even},
                                  {"spring", point.spring}});
    }
    json["packing_fraction"] = crossing.fraction ? Json(*crossing.fraction) : Json(nullptr);
    json["sentence"] = crossing.sentence;
    return json;
}

}  // namespace

Json bench_json(const BenchResults& results, const BenchRequest& request) {
    Json json{{"carom_bench", 1}};
    json["machine"] = results.machine;
    json["settings"] = {{"quick", request.quick},
                        {"repeats", request.repeats_or_default()},
                        {"repeat_seconds", request.repeat_seconds()},
                        {"stiffness", kBenchStiffness},
                        {"steps_per_contact", 50},
                        {"rms_speed", 1.0},
                        {"boundary", "wall"}};
    json["seconds"] = results.seconds;
    json["interrupted"] = results.signal != 0;
    json["rows"] = Json::array();
    for (const BenchRow& row : results.rows) json["rows"].push_back(row_json(row));
    json["ratios"] = Json::array();
    for (const Speedup& speedup : speedups(results)) {
        Json ratio{{"of", speedup.of}, {"ratio", speedup.ratio}, {"spread", speedup.spread}};
        ratio.update(case_json(speedup.what));
        json["ratios"].push_back(std::move(ratio));
    }
    json["crossings"] = Json::array();
    for (const Crossing& crossing : crossings(results)) json["crossings"].push_back(crossing_json(crossing));
    json["left_out"] = Json::array();
    for (const LeftOut& left : results.left_out) {
        Json out = case_json(left.what);
        out["why"] = left.why;
        json["left_out"].push_back(std::move(out));
    }
    return json;
}

}  // namespace carom
