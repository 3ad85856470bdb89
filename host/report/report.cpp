#include "host/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "carom_build_info.hpp"
#include "host/observables/average.hpp"
#include "host/observables/observable.hpp"
#include "host/plot/figure.hpp"
#include "host/plot/gnuplot.hpp"
#include "host/plot/image.hpp"
#include "host/plot/quantity_figure.hpp"
#include "host/plot/run_figure.hpp"
#include "host/plot/stored_run.hpp"
#include "host/report/html.hpp"
#include "host/run/say.hpp"
#include "host/state/errors.hpp"
#include "host/state/text.hpp"
#include "host/theory/theory_checks.hpp"

namespace carom {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// What a summary holds may be anything, in a file that somebody made up. \returns NaN where it is no number
double number_in(const Json& object, const char* key) {
    return object.contains(key) && object[key].is_number() ? object[key].get<double>()
                                                           : std::numeric_limits<double>::quiet_NaN();
}
using Rows = std::vector<std::vector<Html>>;

/// More rows are drawn as dots, not as lines in a vector format, of which a browser would draw each.
constexpr std::size_t kMostVectorRows = 4000;
constexpr PictureOptions kPicture{.width = 900, .height = 720};

/// Braces are doubled, as in all markup.
constexpr char kHead[] = R"(<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<style>
:root {{ color-scheme: light dark; --ink: #202428; --soft: #50565c; --paper: #fff; --line: #d4d8dc; --box: #f5f6f8;
  --good: #00704f; --bad: #b3261e; --open: #6b6f74; --link: #00558c; }}
@media (prefers-color-scheme: dark) {{ :root {{ --ink: #e4e7ea; --soft: #aab1b8; --paper: #16191d; --line: #3a4047;
  --box: #20242a; --good: #5fd0a5; --bad: #ff8a80; --open: #9aa1a8; --link: #7cc0f0; }} }}
body {{ margin: 0 auto; max-width: 62rem; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; color: var(--ink);
  background: var(--paper); overflow-wrap: anywhere; }}
h1 {{ font-size: 1.6rem; line-height: 1.25; margin: 0.4rem 0; }}
h2 {{ font-size: 1.2rem; margin: 2rem 0 0.6rem; border-bottom: 1px solid var(--line); padding-bottom: 0.2rem; }}
nav {{ display: flex; flex-wrap: wrap; gap: 0.2rem 1.2rem; font-size: 0.92rem; }}
a {{ color: var(--link); }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: 0.92rem; overflow-wrap: normal; }}
th, td {{ text-align: left; vertical-align: top; padding: 0.25rem 0.9rem 0.25rem 0; border-bottom: 1px solid var(--line);
  font-variant-numeric: tabular-nums; }}
th[scope=row] {{ font-weight: 500; color: var(--soft); }}
thead th {{ font-weight: 600; }}
.good {{ color: var(--good); }} .bad {{ color: var(--bad); font-weight: 600; }} .open {{ color: var(--open); }}
.note {{ color: var(--soft); font-size: 0.92rem; }}
.figures {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 28rem), 1fr)); gap: 1rem; }}
figure {{ margin: 0; }}
img {{ max-width: 100%; height: auto; display: block; background: #fff; }}
.figures img {{ width: 100%; }}
figcaption {{ font-size: 0.88rem; color: var(--soft); }}
pre {{ background: var(--box); padding: 0.8rem; overflow-x: auto; font-size: 0.82rem; line-height: 1.4; overflow-wrap: normal; }}
@media screen and (max-width: 40rem) {{
  .headed thead {{ display: none; }}
  .headed, .headed tbody, .headed tr, .headed th, .headed td {{ display: block; border: 0; padding: 0; }}
  .headed tr {{ border-bottom: 1px solid var(--line); padding: 0.4rem 0; }}
  .headed th[scope=row] {{ color: var(--ink); }}
  .headed td:empty {{ display: none; }}
  .headed td::before {{ content: attr(data-label) ": "; color: var(--soft); }}
}}
@media print {{
  :root {{ --ink: #000; --soft: #333; --paper: #fff; --line: #aaa; --box: #fff; --good: #00704f; --bad: #b3261e;
    --open: #555; }}
  body {{ max-width: none; padding: 0; font-size: 10pt; }}
  nav {{ display: none; }}
  h2 {{ break-after: avoid; }}
  figure, tr {{ break-inside: avoid; }}
  .figures {{ display: block; }}
  .figures figure {{ width: 60%; margin: 0 auto 0.8rem; }}
  .wide {{ overflow: visible; }}
  pre {{ white-space: pre-wrap; overflow: visible; border: 1px solid var(--line); }}
}}
</style>
)";

class Report {
public:
    explicit Report(const TrajectoryReader& trajectory)
        : trajectory_(trajectory),
          header_(trajectory.header()),
          run_(stored_run(trajectory)),
          summary_(Json::parse(trajectory.summary(), nullptr, false)),
          rows_(run_.time.size()) {
        if (!summary_.is_object()) summary_ = Json::object();
    }

    Html page() {
        const std::string name =
            header_.title.empty() ? fs::path(trajectory_.path()).filename().string() : header_.title;
        Html html = Html::markup("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<title>{}</title>\n", name);
        html.add(kHead);
        html.add("</head>\n<body>\n<h1>{}</h1>\n", name);
        html += paragraph(fmt::format("{}, simulated by carom {}", fs::path(trajectory_.path()).filename().string(),
                                      header_.version));
        Html sections = run_section();
        sections += theory_section();
        sections += pictures_section();
        sections += figures_section();
        sections += numbers_section();
        sections += means_section();
        sections += heading("Machine and build");
        sections += html_table({}, machine_rows());
        sections += heading("Scene");
        sections += paragraph(header_.scene_path);
        // The first end of line is none of the text's.
        sections.add("<pre>\n{}</pre>\n", header_.scene_source);
        return html.add("<nav aria-label=\"Contents\">\n{}</nav>\n{}</body>\n</html>\n", contents_, sections);
    }

private:
    /// With an entry in the list of contents.
    Html heading(const char* text) {
        std::string id = text;
        std::ranges::transform(id, id.begin(), [](char c) {
            return c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        });
        contents_.add("<a href=\"#{}\">{}</a>\n", id, text);
        return Html::markup("<h2 id=\"{}\">{}</h2>\n", id, text);
    }
    static Html paragraph(const std::string& text) { return Html::markup("<p class=\"note\">{}</p>\n", text); }
    /// A heading over a table and what is said of it.
    Html section(const char* name, const std::vector<Html>& head, const Rows& rows, const std::string& note) {
        return Html::markup("{}{}{}", heading(name), html_table(head, rows), note.empty() ? Html() : paragraph(note));
    }
    static void add(Rows& rows, const char* name, const std::string& value) {
        if (!value.empty()) rows.push_back({name, value});
    }
    /// A member of the summary as text; empty if it is not there.
    [[nodiscard]] std::string told(const char* key) const {
        if (!summary_.contains(key) || summary_[key].is_null()) return "";
        const Json& value = summary_[key];
        if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
        return value.is_string() ? value.get<std::string>() : value.dump();
    }

    /// The same with its unit.
    [[nodiscard]] std::string told(const char* key, const char* unit) const {
        const std::string value = told(key);
        return value.empty() ? "" : value + run_.scene.units.behind(unit);
    }

    /// Whether the run's summary tells of heat or work; of other runs the drift of the energy says it all.
    [[nodiscard]] bool driven() const {
        const auto passed = [&](const char* key) {
            return summary_.contains(key) && summary_[key].is_number() && summary_[key].get<double>() != 0.0;
        };
        return summary_.contains("wall_heat") || passed("heat") || passed("work");
    }

    /// What speaks against equilibrium, or leaves it unknown.
    [[nodiscard]] std::string why() const {
        const Json means = summary_.value("means", Json());
        return means.contains("reason") && means["reason"].is_string() ? means["reason"].get<std::string>()
                                                                       : "too few rows to tell";
    }

    Html run_section() {
        const UnitNames& units = run_.scene.units;
        Rows rows;
        std::string box;
        for (int axis = 0; axis < header_.dimension(); ++axis) {
            static constexpr std::array kFaces{"wall", "periodic", "open"};
            const auto face = [&](std::size_t side) {
                return std::string(
                    kFaces[static_cast<std::size_t>(header_.box.faces[static_cast<std::size_t>(axis)][side])]);
            };
            box +=
                fmt::format("{}{:.6g}{} ({})", axis > 0 ? " x " : "", header_.box.size[static_cast<std::size_t>(axis)],
                            units.behind("m"), face(0) == face(1) ? face(0) : face(0) + ", " + face(1));
        }
        const SolverDescription& solver = header_.description;
        add(rows, "balls", fmt::format("{} in {}D", count_text(header_.ball_count()), header_.dimension()));
        add(rows, "box", box);
        add(rows, "solver",
            solver.solver + (solver.dt > 0.0 ? fmt::format(", dt = {:.6g}{}", solver.dt, units.behind("s")) : ""));
        const auto times = trajectory_.times();
        if (!times.empty()) {
            add(rows, "time",
                fmt::format("{:.6g} to {:.6g}{}, {}, {}", times.front(), times.back(), units.behind("s"),
                            plural(times.size(), "frame"), plural(rows_, "row")));
        }
        if (summary_.empty()) {
            add(rows, "end", "the run did not end in order, or has not ended yet: there is no summary");
            return section("Run", {}, rows, "");
        }
        for (const char* key : {"steps", "events", "collisions"}) {
            if (summary_.contains(key) && summary_[key].is_number_unsigned()) {
                add(rows, key, count_text(summary_[key].get<std::uint64_t>()));
            }
        }
        add(rows, "computed in", told("wall_seconds") + " s");
        for (const char* key : {"ball_steps_per_second", "events_per_second"}) {
            constexpr double kMost = 1e18;  // that can be counted; a file may say anything
            const double rate =
                summary_.contains(key) && summary_[key].is_number() ? summary_[key].get<double>() : -1.0;
            std::string name = key;
            std::ranges::replace(name, '_', ' ');
            const bool counted = rate >= 0.0 && rate < kMost;
            add(rows, name.c_str(), counted ? count_text(static_cast<std::uint64_t>(rate)) : told(key));
        }
        add(rows, "total energy", told("energy_total", "J"));
        add(rows, "energy drift, relative", told("energy_drift"));
        if (driven()) {
            add(rows, "heat given to the balls", told("heat", "J"));
            add(rows, "work done on the balls", told("work", "J"));
            add(rows, "energy lost in contacts",
                summary_.contains("energy_lost") && summary_["energy_lost"].is_null() ? "not counted"
                                                                                      : told("energy_lost", "J"));
            add(rows, "energy balance, relative defect", told("energy_balance"));
        }
        add(rows, "virial identity, relative defect", told("virial_defect"));
        add(rows, "largest overlap, of the smaller radius", told("max_overlap"));
        add(rows, "balls that left", told("balls_left") == "0" ? "" : told("balls_left"));
        if (const Json means = summary_.value("means", Json()); means.is_object()) {
            const Json known = means.contains("equilibrated") ? means["equilibrated"] : Json();
            add(rows, "equilibrium",
                !known.is_boolean() ? "unknown: " + why()
                : known.get<bool>() ? fmt::format("from t = {:.6g}{} on", number_in(means, "since"), units.behind("s"))
                                    : "not reached: " + why() + "; means are over all of the run");
        }
        if (summary_.contains("warnings")) {
            for (const Json& warning : summary_["warnings"]) {
                if (warning.is_string()) add(rows, "warning", warning.get<std::string>());
            }
        }
        add(rows, "error", told("error"));
        add(rows, "state hash", told("state_hash"));
        return section("Run", {}, rows, "");
    }

    [[nodiscard]] Rows machine_rows() const {
        Rows rows;
        const SolverDescription& solver = header_.description;
        add(rows, "processor",
            fmt::format("{} ({}), {}", solver.device, solver.backend,
                        plural(static_cast<std::uint64_t>(solver.threads), "thread")));
        add(rows, "precision", solver.precision);
        add(rows, "memory of the solver", bytes_text(solver.memory_bytes));
        add(rows, "carom, of the run", header_.version);
        add(rows, "carom, of this page",
            fmt::format("{} ({}), {}, {}, for {}", build_info::kVersion, build_info::commit(), build_info::kBuildType,
                        build_info::kCompiler, build_info::kCpuArchitecture));
        add(rows, "build options", build_info::kOptions);
        for (const auto& [name, value] : solver.parameters) rows.push_back({name, fmt::format("{:.6g}", value)});
        return rows;
    }

    Html theory_section() {
        const std::vector<TheoryCheck> checks = theory_checks(run_, run_averages(trajectory_, run_.scene));
        constexpr const char* kName = "Measured against theory";
        if (checks.empty()) {
            return Html::markup("{}{}", heading(kName),
                                paragraph("There is no theory of carom's for what this run measured."));
        }
        Rows rows;
        for (const TheoryCheck& check : checks) {
            const bool curve = check.points > 0;
            const char* kind = check.verdict == TheoryVerdict::kAgrees    ? "good"
                               : check.verdict == TheoryVerdict::kDiffers ? "bad"
                                                                          : "open";
            const std::string doubt = check.uncertainty <= 0.0 ? ""
                                      : curve ? fmt::format(" (to {:.2g} %)", 100.0 * check.uncertainty)
                                              : fmt::format(" (to {:.1g})", check.uncertainty);
            rows.push_back({axis_label(check.what, curve ? "" : check.unit, run_.scene.units),
                            Html::markup("<span class=\"{}\">{}</span>", kind, check.words()),
                            !std::isfinite(check.sigmas)
                                ? ""
                                : fmt::format(fmt::runtime(curve ? "{:.2f} rms" : "{:+.2f}"), check.sigmas),
                            std::isfinite(check.would_show) ? share_text(check.would_show) : "",
                            curve ? plural(check.points, "point") : with_error(check.measured, check.error),
                            (curve ? check.theory : fmt::format("{:.6g}, {}", check.expected, check.theory)) + doubt});
        }
        return section(kName, {"quantity", "verdict", "sigma", "would show", "measured", "theory"}, rows,
                       "Sigma is the difference over the standard error and the theory's own uncertainty together; of "
                       "a curve the root of the mean square over its points, about 1 where all is well. Numbers agree "
                       "within 4, curves within 2 (of fewer than nine points within 1 + 3 / sqrt(points)). Would show: "
                       "the fault that would have been seen, as a share of theory's value. There is no verdict on a "
                       "run that is not at equilibrium, on what drifts, on fewer than ten independent samples, and "
                       "where no fault of less than 100 % would show.");
    }

    Html pictures_section() {
        const std::size_t frames = trajectory_.frame_count();
        const auto& fields = header_.fields;
        if (frames == 0 || std::ranges::find(fields, "position") == fields.end()) return {};
        // A gas that was at equilibrium from the start on looks alike throughout.
        const auto times = trajectory_.times();
        const double soon = times.front() + 0.1 * (times.back() - times.front());
        const bool changes = !run_.equilibrated_since || *run_.equilibrated_since > soon;
        Html pictures = picture(0, "first frame");
        if (changes && frames > 3) {
            for (const std::size_t frame : {frames / 3, 2 * frames / 3}) {
                pictures += picture(frame, fmt::format("frame {} of {}", frame, frames - 1));
            }
        }
        if (frames > 1) pictures += picture(frames - 1, "last frame");
        return Html::markup("{}<div class=\"figures\">\n{}</div>\n", heading("Balls"), pictures);
    }

    Html picture(std::size_t frame, const std::string& which) {
        const std::vector<std::uint8_t> png = png_of(draw_frame(trajectory_, frame, kPicture), which);
        const std::string time = fmt::format("t = {:.6g}{}", trajectory_.times()[frame], run_.scene.units.behind("s"));
        return html_figure(data_url(std::string(png.begin(), png.end()), "image/png"), which + ", " + time,
                           fmt::format("the balls in their box at {}", time));
    }

    Html figures_section() {
        Html figures;
        std::string without;
        for (const std::string& quantity : all_quantities(trajectory_)) {
            const AverageInfo* average = nullptr;
            for (const AverageInfo& info : header_.averages) average = info.name == quantity ? &info : average;
            const bool dots = average != nullptr ? !average->y.label.empty() : rows_ > kMostVectorRows;
            std::string drawn;
            std::string words;
            try {
                const Drawing drawing = quantity_figure({&trajectory_}, quantity);
                Canvas canvas(dots ? "figure.png" : "figure.svg", !dots);
                canvas.note = run_note(trajectory_);
                drawn = drawn_by_gnuplot(figure_script(drawing, canvas), quantity);
                words = figure_words(drawing);
            } catch (const InputError&) {
                without += (without.empty() ? "" : ", ") + quantity;
                continue;
            }
            figures += html_figure(data_url(drawn, dots ? "image/png" : "image/svg+xml"), quantity, words);
        }
        return Html::markup("{}<div class=\"figures\">\n{}</div>\n{}", heading("Figures"), figures,
                            without.empty() ? Html() : paragraph("No values in this run: " + without + "."));
    }

    /// The averages that are single numbers, of the whole run; those that theory has one for are in its table too.
    Html numbers_section() {
        if (trajectory_.frame_count() == 0) return {};
        Rows rows;
        const std::vector<AverageTable> tables = trajectory_.averages(trajectory_.frame_count() - 1);
        for (const AveragedNumber& number : averaged_numbers(header_.averages, tables)) {
            rows.push_back(
                {axis_label(number.name, number.unit, run_.scene.units), number.kind,
                 std::isfinite(number.mean) ? with_error(number.mean, number.error) : "",
                 fmt::format("{:.0f}", number.samples),
                 std::isfinite(number.correlation_time) ? fmt::format("{:.3g}", number.correlation_time) : ""});
        }
        if (rows.empty()) return {};
        return section(
            "Averages", {"average", "kind", "mean", "samples", axis_label("correlation time", "s", run_.scene.units)},
            rows, "In brackets the standard error, in units of the last digit. How they settled is drawn above.");
    }

    Html means_section() {
        Rows rows;
        const std::vector<ObservableInfo> infos = trajectory_.observables().observables;
        for (const MeasuredMean& mean : run_.means) {
            const auto info = std::ranges::find(infos, mean.name.substr(0, mean.name.find('.')), &ObservableInfo::name);
            const std::string unit = info == infos.end() ? "" : row_unit(*info, header_.dimension());
            rows.push_back({axis_label(mean.name, unit, run_.scene.units), with_error(mean.mean, mean.error),
                            std::isfinite(mean.correlation_time) ? fmt::format("{:.3g}", mean.correlation_time) : ""});
        }
        if (rows.empty()) return {};
        return section("Means over time", {"quantity", "mean", axis_label("correlation time", "s", run_.scene.units)},
                       rows, "In brackets the standard error, in units of the last digit.");
    }

    const TrajectoryReader& trajectory_;
    const TrajectoryHeader& header_;
    const MeasuredRun run_;
    Json summary_;
    std::size_t rows_;
    Html contents_;
};

}  // namespace

std::string report_page(const TrajectoryReader& trajectory) { return Report(trajectory).page().text(); }

}  // namespace carom
