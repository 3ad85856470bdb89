#include "host/plot/bench_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "host/plot/figure.hpp"
#include "host/plot/table_view.hpp"
#include "host/run/bench_file.hpp"
#include "host/run/say.hpp"
#include "host/state/errors.hpp"
#include "host/state/text.hpp"

namespace carom {

namespace {

using Json = nlohmann::json;

/// By packing fraction, from dilute to dense.
constexpr std::array kByFraction{kCurveColors[5], kCurveColors[0], kCurveColors[2], kCurveColors[6]};
constexpr Word kTextbookColor = kCurveColors[1];
constexpr Word kIntegrateColor = kCurveColors[4];
constexpr Word kLimitColor = "#909090";

/// The rows of a file, by what they are.
class Rows {
public:
    Rows(const Json& json, std::string precision) : precision_(std::move(precision)) {
        for (const Json& row : json.at("rows")) {
            if (!row.contains("balls")) continue;
            rows_.push_back(row);
            const int dimension = row.at("dimension").get<int>();
            if (fits(row, "spring", dimension) || fits(row, "events", dimension))
                ++fractions_[dimension][row.at("packing_fraction").get<double>()];
            backends_.insert(row.at("backend").get<std::string>());
        }
    }

    [[nodiscard]] std::vector<double> fractions(int dimension) const {
        const auto found = fractions_.find(dimension);
        if (found == fractions_.end()) return {};
        std::vector<double> all;
        for (const auto& [fraction, rows] : found->second) all.push_back(fraction);
        return all;
    }
    /// The one of which most was measured.
    [[nodiscard]] double middle(int dimension) const {
        const auto found = fractions_.find(dimension);
        if (found == fractions_.end()) return 0.0;
        return std::ranges::max_element(found->second, {}, [](const auto& entry) { return entry.second; })->first;
    }
    [[nodiscard]] std::vector<std::string> backends() const { return {backends_.begin(), backends_.end()}; }

    /// The fastest of each number of balls, as `value` makes a point of a row.
    template <class Value>
    std::map<double, BenchPoint> best(const std::string& rung, int dimension, double fraction,
                                      const std::string& backend, Value value) const {
        std::map<double, BenchPoint> points;
        for (const Json& row : rows_) {
            if (!fits(row, rung, dimension) || row.at("packing_fraction").get<double>() != fraction ||
                row.at("backend").get<std::string>() != backend) {
                continue;
            }
            const std::optional<BenchPoint> point = value(row);
            if (!point) continue;
            BenchPoint& there = points[row.at("balls").get<double>()];
            if (point->y > there.y) there = *point;
        }
        return points;
    }

    /// carom's step by the CPU's threads, of the largest gas of a packing fraction that was measured with several.
    [[nodiscard]] std::pair<double, std::map<double, BenchPoint>> by_threads(int dimension, double fraction) const {
        std::map<double, std::map<double, BenchPoint>> by_balls;
        for (const Json& row : rows_) {
            if (!fits(row, "spring", dimension) || row.at("packing_fraction").get<double>() != fraction ||
                !row.contains("threads")) {
                continue;
            }
            BenchPoint& there = by_balls[row.at("balls").get<double>()][row.at("threads").get<double>()];
            if (const BenchPoint point = rate(row); point.y > there.y) there = point;
        }
        for (auto largest = by_balls.rbegin(); largest != by_balls.rend(); ++largest) {
            if (largest->second.size() > 1) return *largest;
        }
        return {};
    }

    static BenchPoint rate(const Json& row) {
        return {row.at("per_second").get<double>(), row.at("per_second_least").get<double>(),
                row.at("per_second_most").get<double>()};
    }

private:
    [[nodiscard]] bool fits(const Json& row, const std::string& rung, int dimension) const {
        return row.at("rung").get<std::string>() == rung && row.at("dimension").get<int>() == dimension &&
               (rung == "events" || row.at("precision").get<std::string>() == precision_);
    }

    std::string precision_;
    std::vector<Json> rows_;
    std::map<int, std::map<double, int>> fractions_;  // rows of each
    std::set<std::string> backends_;
};

std::optional<BenchPoint> rate_of(const Json& row) { return Rows::rate(row); }

std::optional<BenchPoint> limit_of(const Json& row) {
    if (!row.contains("limit_per_second")) return std::nullopt;
    const double limit = row.at("limit_per_second").get<double>();
    return BenchPoint{limit, limit, limit};
}

std::optional<BenchPoint> share_of(const Json& row) {
    const auto limit = limit_of(row);
    if (!limit) return std::nullopt;
    const BenchPoint rate = Rows::rate(row);
    return BenchPoint{100.0 * rate.y / limit->y, 100.0 * rate.low / limit->y, 100.0 * rate.high / limit->y};
}

void add(BenchPanel& panel, BenchSeries series) {
    if (!series.points.empty()) panel.series.push_back(std::move(series));
}

/// \param count  of packing fractions; a single one takes the middle colour
Word color_of(std::size_t index, std::size_t count) {
    return kByFraction[count == 1 ? 1 : std::min(index, kByFraction.size() - 1)];
}

template <class Value>
void add_step(BenchPanel& panel, const Rows& rows, const char* rung, const std::string& backend, int dimension,
              bool open, Value value) {
    const auto fractions = rows.fractions(dimension);
    for (std::size_t k = 0; k < fractions.size(); ++k) {
        add(panel, {fmt::format("{} {}, {}", backend, rung, fractions[k]), color_of(k, fractions.size()), true, open,
                    rows.best(rung, dimension, fractions[k], backend, value)});
    }
}

void add_backend(BenchPanel& panel, const Rows& rows, const std::string& quantity, const std::string& backend,
                 int dimension) {
    const bool open = backend == "cpu" && rows.backends().size() > 1;
    if (quantity == "events") return add_step(panel, rows, "events", backend, dimension, open, rate_of);
    if (quantity == "limit") return add_step(panel, rows, "spring", backend, dimension, open, share_of);
    const double middle = rows.middle(dimension);
    // The limit belongs to processor and precision; whichever row knows it.
    std::map<double, BenchPoint> limit;
    for (const char* rung : {"integrate", "textbook", "spring"}) {
        for (const double fraction : rows.fractions(dimension))
            limit.merge(rows.best(rung, dimension, fraction, backend, limit_of));
    }
    add(panel, {backend + " limit: memory", kLimitColor, false, open, std::move(limit)});
    add(panel, {fmt::format("{} integrate", backend), kIntegrateColor, true, open,
                rows.best("integrate", dimension, middle, backend, rate_of)});
    add_step(panel, rows, "spring", backend, dimension, open, rate_of);
    add(panel, {fmt::format("{} textbook, {}", backend, middle), kTextbookColor, true, open,
                rows.best("textbook", dimension, middle, backend, rate_of)});
}

void add_threads(BenchPanel& panel, const Rows& rows, int dimension) {
    const auto fractions = rows.fractions(dimension);
    BenchSeries ideal{"in proportion", kLimitColor, false};
    for (std::size_t k = 0; k < fractions.size(); ++k) {
        auto [balls, points] = rows.by_threads(dimension, fractions[k]);
        if (points.empty()) continue;
        if (ideal.points.empty()) {
            const double one = points.begin()->second.y / points.begin()->first;
            for (const auto& [threads, point] : points) ideal.points[threads] = {one * threads, 0.0, 0.0};
        }
        add(panel, {fmt::format("spring, {}, {}", fractions[k], plural(static_cast<std::uint64_t>(balls), "ball")),
                    color_of(k, fractions.size()), true, false, std::move(points)});
    }
    add(panel, std::move(ideal));
}

void add_plots(Script& script, std::vector<Script>& plots, const BenchSeries& series, std::size_t number) {
    std::vector<std::vector<double>> rows;
    for (const auto& [x, point] : series.points) rows.push_back({x, point.y, point.low, point.high});
    script.block(Script("s{}", number), rows);
    if (!series.measured) {
        plots.emplace_back("$s{} using 1:2 with lines linecolor rgb \"{}\" linewidth 3 dashtype {} title {}", number,
                           series.color, series.open ? 3 : 2, Text{series.label});
        return;
    }
    plots.emplace_back(
        "$s{0} using 1:2 with lines linecolor rgb \"{1}\" linewidth {2} notitle, "
        "$s{0} using 1:2:3:4 with yerrorbars linecolor rgb \"{1}\" linewidth {2} pointtype {3} pointsize 1.1 title {4}",
        number, series.color, series.open ? 1.2 : 1.8, series.open ? 6 : 7, Text{series.label});
}

struct Range {
    double low = HUGE_VAL;
    double high = 0.0;
};

constexpr double kLeast = 1e-300;  // below, a power of ten has no room for its digits

/// Of all points of all panels that a logarithmic axis has a place for, so that panels share it. Of none, up to 0.
Range range_of(const std::vector<BenchPanel>& panels, bool of_x) {
    Range range;
    for (const BenchPanel& panel : panels) {
        for (const BenchSeries& series : panel.series) {
            for (const auto& [x, point] : series.points) {
                const double value = of_x ? x : point.y;
                if (value > 0.0) range.low = std::min(range.low, value);
                range.high = std::max(range.high, of_x ? x : std::max(point.y, point.high));
            }
        }
    }
    const double margin = of_x ? std::pow(range.high / range.low, 0.06) + 0.05 : 1.4;
    return {range.low / margin, range.high * margin};
}

/// Where powers of ten are few, 2 and 5 times them as well.
Script y_tics(const Range& range) {
    if (range.high / range.low >= 60.0) return Script("set format y \"10^{{%L}}\"\n");
    std::vector<Script> tics;
    for (double power = std::pow(10.0, std::floor(std::log10(range.low))); power <= range.high; power *= 10.0) {
        for (const double digit : {2.0, 5.0}) tics.emplace_back("{:g}", digit * power);
    }
    return Script("set format y \"%h\"\nset ytics add ({})\n", joined(tics));
}

/// Tics at the counts of threads that were measured.
Script thread_tics(const std::vector<BenchPanel>& panels) {
    std::set<double> counts;
    for (const BenchPanel& panel : panels) {
        for (const BenchSeries& series : panel.series) {
            for (const auto& [threads, point] : series.points) counts.insert(threads);
        }
    }
    std::vector<Script> tics;
    for (const double count : counts) tics.emplace_back("{}", count);
    return Script("set xtics ({})\nset format x \"%g\"\n", joined(tics));
}

/// What the measured points are in.
std::string label_of(const std::string& quantity) {
    if (quantity == "limit") return "% of what the memory's bandwidth allows";
    return quantity == "events" ? "events / s" : "ball-steps / s";
}

Range wished(Range range, const AxisRange& wish, const char* option) {
    range = {wish.low.value_or(range.low), wish.high.value_or(range.high)};
    if (range.low <= 0.0)
        throw InputError(fmt::format("{}: a logarithmic axis begins above 0, not at {}", option, range.low));
    if (range.low < kLeast || !can_be_drawn(range.high)) {
        throw InputError(fmt::format("{}: a logarithmic axis goes from 1e-300 to 1e300, not from {:g} to {:g}", option,
                                     range.low, range.high));
    }
    if (range.low >= range.high) {
        throw InputError(fmt::format("{}: from {:g} to {:g} there is nothing", option, range.low, range.high));
    }
    return range;
}

Script script_of(const std::vector<BenchPanel>& panels, const std::string& quantity, const std::string& title,
                 const Canvas& canvas, const FigureWishes& wishes) {
    const bool threads = quantity == "threads";
    std::size_t labels = 0;
    for (const BenchPanel& panel : panels) labels = std::max(labels, panel.series.size());
    Canvas page = with_key(canvas, labels);
    page.title = "";  // stands over all panels
    Script script = figure_head("", page);
    script.add("set logscale xy\n{}", threads ? thread_tics(panels) : Script("set format x \"10^{{%L}}\"\n"));
    script.add("set xlabel {}\n", Text{threads ? "threads" : "balls"});
    const Range x = wished(range_of(panels, true), wishes.x, "--xrange");
    const Range y = wished(range_of(panels, false), wishes.y, "--yrange");
    script.add("set xrange [{:.6g}:{:.6g}]\nset yrange [{:.6g}:{:.6g}]\n", x.low, x.high, y.low, y.high);
    script.add(y_tics(y));
    script.add("set grid back linecolor rgb \"#d8d8d8\" linewidth 1 dashtype 3\nset tics scale 0.7,0.35\n");
    script.add("set key outside below center maxcols 2 samplen 2.2 spacing 1.15 Left reverse\n");
    script.add("set multiplot layout 1,{} title {} offset 0,0.2\n", panels.size(), Text{canvas.title_of(title)});
    std::size_t number = 0;
    for (const BenchPanel& panel : panels) {
        script.add("set title {} offset 0,-0.6\nset ylabel {}\n", Text{panel.title},
                   Text{&panel == panels.data() ? label_of(quantity) : std::string()});
        std::vector<Script> plots;
        for (const BenchSeries& series : panel.series) add_plots(script, plots, series, number++);
        script.plot(plots);
    }
    return script.add("unset multiplot\n");
}

std::string title_of(const Json& json, const std::string& quantity) {
    const Json& machine = json.at("machine");
    std::string title = machine.at("processor").at("name").get<std::string>();
    for (const Json& gpu : machine.at("gpus")) title += ", " + gpu.at("name").get<std::string>();
    if (quantity != "events") title += quantity == "double" ? ", double precision" : ", single precision";
    return fmt::format("{} ({}, {})", title, machine.at("commit").get<std::string>(),
                       machine.at("date").get<std::string>().substr(0, 10));
}

}  // namespace

const std::vector<std::string>& bench_quantities() {
    static const std::vector<std::string> kAll{"speed", "double", "limit", "threads", "events"};
    return kAll;
}

BenchFigure::BenchFigure(const std::string& text, const std::string& file, std::string quantity)
    : quantity_(std::move(quantity)) {
    if (std::ranges::find(bench_quantities(), quantity_) == bench_quantities().end()) {
        throw InputError(fmt::format("{}: holds no quantity '{}'; allowed: {}", file, quantity_,
                                     fmt::join(bench_quantities(), ", ")));
    }
    const Json json = bench_results(text, file);
    try {
        const Rows rows(json, quantity_ == "double" ? "double" : "single");
        constexpr std::size_t kMostKinds = 20;
        if (std::max({rows.backends().size(), rows.fractions(2).size(), rows.fractions(3).size()}) > kMostKinds) {
            throw InputError(fmt::format("{}: has more processors or packing fractions than a figure can show ({})",
                                         file, kMostKinds));
        }
        for (const int dimension : {2, 3}) {
            BenchPanel panel;
            panel.title = dimension == 2 ? "disks (2D), by packing fraction" : "spheres (3D), by packing fraction";
            if (quantity_ == "threads") {
                add_threads(panel, rows, dimension);
            } else {
                for (const std::string& backend : rows.backends())
                    add_backend(panel, rows, quantity_, backend, dimension);
            }
            if (!panel.series.empty()) panels_.push_back(std::move(panel));
        }
        if (panels_.empty()) throw InputError(fmt::format("{}: holds nothing to draw for '{}'", file, quantity_));
        for (const bool of_x : {true, false}) {
            const Range range = range_of(panels_, of_x);
            if (!(range.high > 0.0 && std::isfinite(range.low))) {
                throw InputError(fmt::format("{}: '{}' has no number above 0 to draw", file, quantity_));
            }
            if (range.low < kLeast || !can_be_drawn(range.high)) {
                throw InputError(fmt::format("{}: '{}' has numbers beyond what a figure can show", file, quantity_));
            }
        }
        title_ = title_of(json, quantity_);
    } catch (const nlohmann::json::exception&) {
        throw InputError(file + ": is no result of carom bench");
    }
}

Script BenchFigure::script(const Canvas& canvas, const FigureWishes& wishes) const {
    return script_of(panels_, quantity_, title_, canvas, wishes);
}

std::string BenchFigure::csv() const {
    std::string table = fmt::format("panel,curve,{},{},least,most\n", quantity_ == "threads" ? "threads" : "balls",
                                    csv_field(label_of(quantity_)));
    for (const BenchPanel& panel : panels_) {
        for (const BenchSeries& series : panel.series) {
            for (const auto& [x, point] : series.points) {
                table += fmt::format("{},{},{},{},", csv_field(panel.title), csv_field(series.label), csv_number(x),
                                     csv_number(point.y));
                table +=
                    series.measured ? fmt::format("{},{}\n", csv_number(point.low), csv_number(point.high)) : ",\n";
            }
        }
    }
    return table;
}

BenchFigure bench_figure(const std::string& file, const std::string& quantity) {
    return {read_text_file(file), file, quantity};
}

}  // namespace carom
