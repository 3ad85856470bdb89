#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "host/cli/options.hpp"
#include "host/io/replacement.hpp"
#include "host/io/trajectory_reader.hpp"
#include "host/plot/average_figure.hpp"
#include "host/plot/bench_figure.hpp"
#include "host/plot/gnuplot.hpp"
#include "host/plot/quantity_figure.hpp"
#include "host/plot/run_figure.hpp"
#include "host/plot/stored_run.hpp"
#include "host/plot/table_figure.hpp"
#include "host/plot/table_view.hpp"
#include "host/run/output_files.hpp"
#include "host/run/say.hpp"
#include "host/run/signals.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

struct PlotOptions {
    std::vector<std::string> words;  // files, and among them the quantities
    std::string file;
    std::vector<std::string> quantities;
    std::string output;
    std::string color_by = "auto";
    std::string size;
    FrameOptions frame;
    std::vector<std::string> by;
    std::vector<std::string> with;
    bool all = false;
    bool mean = false;
    bool quiet = false;
    bool force = false;

    std::string from, to, xrange, yrange, cbrange, log, title, style, font_size;
    bool no_title = false;
    bool no_units = false;
    bool residuals = false;
    bool drift = false;
    bool no_drift = false;
    bool rows = false;
    bool csv = false;
    bool follow = false;

    /// The quantity, of a kind of file that draws one at a time; empty: none is named.
    [[nodiscard]] std::string quantity() const {
        if (quantities.size() > 1) {
            throw InputError(fmt::format("unexpected argument '{}'; see carom plot --help", quantities[1]));
        }
        return quantities.empty() ? std::string() : quantities.front();
    }
    /// Options that only figures of a trajectory have, the first that is given; empty: none.
    [[nodiscard]] std::string of_runs_alone() const {
        return !from.empty() ? "--from"
               : !to.empty() ? "--to"
               : residuals   ? "--residuals"
               : drift       ? "--drift"
               : no_drift    ? "--no-drift"
               : rows        ? "--rows"
               : no_units    ? "--no-units"
                             : "";
    }
    /// Options that a picture of balls has not, the first that is given; empty: none.
    [[nodiscard]] std::string of_figures_alone() const {
        return !of_runs_alone().empty() ? of_runs_alone()
               : !xrange.empty()        ? "--xrange"
               : !yrange.empty()        ? "--yrange"
               : !cbrange.empty()       ? "--cbrange"
               : !log.empty()           ? "--log"
               : !title.empty()         ? "--title"
               : no_title               ? "--no-title"
               : !style.empty()         ? "--style"
               : !font_size.empty()     ? "--font-size"
               : csv                    ? "--csv"
                                        : "";
    }
};

AxisRange parse_range(const std::string& option, const std::string& text) {
    AxisRange range;
    if (text.empty()) return range;
    const auto colon = text.find(':');
    const std::string low = text.substr(0, colon);
    const std::string high = colon == std::string::npos ? "" : text.substr(colon + 1);
    const auto open = [](const std::string& end) { return end.empty() || end == "*"; };
    if (colon == std::string::npos || (open(low) && open(high))) {
        throw InputError(fmt::format("{}: '{}' is not LOW:HIGH; either may be left out", option, text));
    }
    if (!open(low)) range.low = parse_number(option, low);
    if (!open(high)) range.high = parse_number(option, high);
    if (range.low && range.high && *range.low >= *range.high) {
        throw InputError(fmt::format("{}: {} is not below {}", option, low, high));
    }
    return range;
}

FigureWishes wishes_of(const PlotOptions& options) {
    FigureWishes wishes{.x = parse_range("--xrange", options.xrange),
                        .y = parse_range("--yrange", options.yrange),
                        .colors = parse_range("--cbrange", options.cbrange),
                        .units = !options.no_units};
    if (options.log.empty()) return wishes;
    static constexpr std::array<std::string_view, 4> kAxes{"x", "y", "xy", "none"};
    if (std::ranges::find(kAxes, options.log) == kAxes.end()) {
        throw InputError(fmt::format("--log: '{}' is not known; allowed: {}", options.log, fmt::join(kAxes, ", ")));
    }
    wishes.log_x = options.log != "none" && options.log.find('x') != std::string::npos;
    wishes.log_y = options.log != "none" && options.log.find('y') != std::string::npos;
    return wishes;
}

QuantityView view_of(const PlotOptions& options) {
    if (options.residuals && options.drift) throw InputError("--residuals and --drift exclude each other; give one");
    if (options.drift && options.no_drift) throw InputError("--drift and --no-drift exclude each other; give one");
    QuantityView view{
        .window = time_window(options.from, options.to), .rows = options.rows, .residuals = options.residuals};
    const FigureWishes wishes = wishes_of(options);
    // Who says what the axis is to show, or wants numbers, means the values.
    if (options.drift || options.no_drift || options.csv || wishes.y.given() || wishes.log_y) {
        view.drift = options.drift;
    }
    view.absolute = wishes.log_y.value_or(false);
    return view;
}

/// "1200x900" in pixels, "86x62mm" on paper.
FigureSize parse_size(const std::string& text) {
    struct Unit {
        std::string_view name;
        double inches;
    };
    static constexpr std::array<Unit, 3> kUnits{{{"mm", 1.0 / 25.4}, {"cm", 1.0 / 2.54}, {"in", 1.0}}};
    const auto unit = std::ranges::find_if(kUnits, [&](const Unit& one) { return text.ends_with(one.name); });
    const bool pixels = unit == kUnits.end();
    const std::string numbers = pixels ? text : text.substr(0, text.size() - 2);
    const auto x = numbers.find('x');
    if (x == std::string::npos) throw InputError("--size: '" + text + "' is not WIDTHxHEIGHT");
    if (pixels) {
        constexpr std::uint64_t kMost = 16384;
        const std::uint64_t width = parse_whole("--size", numbers.substr(0, x), 300);
        const std::uint64_t height = parse_whole("--size", numbers.substr(x + 1), 200);
        if (width > kMost || height > kMost) throw InputError("--size: more than 16384 pixels");
        return {static_cast<double>(width), static_cast<double>(height), true};
    }
    const FigureSize size{parse_number("--size", numbers.substr(0, x)) * unit->inches,
                          parse_number("--size", numbers.substr(x + 1)) * unit->inches, false};
    constexpr double kLeast = 1.0;
    constexpr double kMost = 27.0;  // 16384 pixels of a .png
    for (const double side : {size.width, size.height}) {
        if (side < kLeast || side > kMost) {
            throw InputError(fmt::format("--size: '{}' is too {}; allowed: 25.4 to 685 mm", text,
                                         side < kLeast ? "small" : "large"));
        }
    }
    return size;
}

Canvas canvas_of(const PlotOptions& options, const std::string& output) {
    Canvas canvas(output);
    if (!options.style.empty()) {
        const auto style = std::ranges::find(kFigureStyles, options.style);
        if (style == kFigureStyles.end()) {
            throw InputError(
                fmt::format("--style: '{}' is not known; allowed: {}", options.style, fmt::join(kFigureStyles, ", ")));
        }
        canvas.style = static_cast<FigureStyle>(style - kFigureStyles.begin());
    }
    if (!options.size.empty()) canvas.size = parse_size(options.size);
    if (!options.font_size.empty()) {
        canvas.font_size = parse_number("--font-size", options.font_size);
        if (*canvas.font_size < 4.0 || *canvas.font_size > 200.0) {
            throw InputError(fmt::format("--font-size: {} is not from 4 to 200", options.font_size));
        }
    }
    if (options.no_title && !options.title.empty()) {
        throw InputError("--title and --no-title exclude each other; give one");
    }
    if (options.no_title || !options.title.empty()) canvas.title = options.title;
    return canvas;
}

PictureOptions picture_options(const PlotOptions& options) {
    PictureOptions picture;
    if (options.color_by == "species") {
        picture.color_by = ColorBy::kSpecies;
    } else if (options.color_by == "speed") {
        picture.color_by = ColorBy::kSpeed;
    } else if (options.color_by != "auto") {
        throw InputError(fmt::format("--color-by: '{}' is not known; allowed: auto, species, speed", options.color_by));
    }
    if (!options.size.empty()) {
        const FigureSize size = parse_size(options.size);
        if (!size.pixels) throw InputError("--size: a picture of balls is as large as it has pixels");
        picture.width = static_cast<int>(size.width);
        picture.height = static_cast<int>(size.height);
    }
    return picture;
}

/// FILE-WHAT.png in the current folder, unless the user names another.
std::string output_of(const PlotOptions& options, std::string what) {
    std::ranges::replace(what, '/', '-');
    if (!options.output.empty()) return options.output;
    return unled(std::filesystem::path(options.file).stem().string() + "-" + what + (options.csv ? ".csv" : ".png"));
}

/// Whether an option is given that only a picture of balls has.
bool wants_picture(const PlotOptions& options) { return options.frame.given() || options.color_by != "auto"; }

constexpr const char* kForPictures = "--last, --time, --frame and --color-by are for pictures of balls";

void write_table(const std::string& table, const std::string& output, bool replace) {
    if (!output.ends_with(".csv")) throw InputError(output + ": with --csv the file is a table, and ends in .csv");
    ReplacementFile file(output, replace);
    file.write(table);
    file.commit();
}

void check_figure(const PlotOptions& options, const std::string& output) {
    check_output_file(output, options.file, options.force);
    require_no_input({{output}}, options.with);
}

/// Draws a figure, or writes what it shows as a table.
/// \return  the name of what was written, for a terminal; empty: standard output
std::string finish(const PlotOptions& options, const std::string& output,
                   const std::function<Script(const Canvas&)>& script, const std::function<std::string()>& table) {
    if (options.csv) {
        if (output == "-") {
            fmt::print("{}", table());
            return "";
        }
        check_figure(options, output);
        write_table(table(), output, options.force);
        return visible(output);
    }
    check_figure(options, output);
    run_gnuplot(script(canvas_of(options, output)), output, options.force);
    return visible(output);
}

void refuse_for_tables(const PlotOptions& options, const char* of) {
    if (wants_picture(options)) throw InputError(fmt::format("{}, not for {}", kForPictures, of));
    if (const std::string option = options.of_runs_alone(); !option.empty()) {
        throw InputError(fmt::format("{}: is for trajectories, not for {}", option, of));
    }
}

std::string plot_table(const PlotOptions& options) {
    refuse_for_tables(options, "tables");
    const SweepTable table = read_table(options.file);
    const TableView view{.quantity = options.quantity(), .by = options.by, .mean = options.mean};
    const FigureWishes wishes = wishes_of(options);
    std::string what = table.names[choose_columns(table, view).quantity];
    for (const std::string& axis : options.by) what += "-by-" + axis;
    return finish(
        options, output_of(options, what),
        [&](const Canvas& canvas) { return table_figure_script(table, view, canvas, wishes); },
        [&] { return table_figure_csv(table, view); });
}

std::string plot_bench(const PlotOptions& options) {
    refuse_for_tables(options, "results of carom bench");
    if (!options.by.empty() || options.mean || !options.log.empty() || !options.cbrange.empty()) {
        throw InputError(
            "of a file of carom bench a quantity, its ranges, size and style may be chosen, and nothing else; both "
            "axes "
            "are logarithmic");
    }
    const std::string quantity = options.quantity().empty() ? bench_quantities().front() : options.quantity();
    const BenchFigure figure = bench_figure(options.file, quantity);
    const FigureWishes wishes = wishes_of(options);
    return finish(
        options, output_of(options, quantity), [&](const Canvas& canvas) { return figure.script(canvas, wishes); },
        [&] { return figure.csv(); });
}

/// Which average a kind's name stood for, where it could have been another.
void say_which(const TrajectoryReader& trajectory, const std::string& quantity) {
    if (!is_number_quantity(trajectory, quantity) && !is_average_quantity(trajectory, quantity)) return;
    const std::vector<std::string> others = others_of_kind(trajectory, quantity);
    if (others.empty()) return;
    say("{}: drawn is {}; others of this kind: {}\n", quantity, find_average(trajectory, quantity)->name,
        fmt::join(others, ", "));
}

/// Whose numbers begin earlier than what is drawn of the run.
void say_since_when(const TrajectoryReader& trajectory, const std::string& quantity, const TimeWindow& window) {
    if (!is_number_quantity(trajectory, quantity)) return;
    const AverageInfo& info = *find_average(trajectory, quantity);
    if (!stays_since_its_beginning(trajectory, info, window.of(trajectory))) return;
    say("{}: is the average since its samples began: frames do not give that of a later part\n", visible(info.name));
}

std::string plot_balls(const PlotOptions& options) {
    if (const std::string option = options.of_figures_alone(); !option.empty()) {
        throw InputError(
            fmt::format("{}: is for figures, not for the picture 'balls'; --rows draws the row of that name", option));
    }
    if (!options.with.empty()) throw InputError("several runs are for figures, not for pictures of balls");
    const TrajectoryReader trajectory(options.file);
    std::string output = output_of(options, "balls");
    if (!output.ends_with(".png")) throw InputError(output + ": a picture of the balls ends in .png");
    check_figure(options, output);
    write_png(draw_frame(trajectory, choose_frame(options.frame, trajectory), picture_options(options)), output,
              options.force);
    return visible(output);
}

std::string plot_trajectory(const PlotOptions& options) {
    if (!options.by.empty() || options.mean) throw InputError("--by and --mean are for tables, not for trajectories");
    const std::vector<std::string> quantities =
        options.quantities.empty() ? std::vector<std::string>{"energy"} : options.quantities;
    const bool balls = std::ranges::find(quantities, "balls") != quantities.end() && !options.rows;
    if (balls && quantities.size() == 1) return plot_balls(options);
    if (balls) throw InputError("'balls' is a picture, which stands alone; --rows draws the row of that name");
    if (wants_picture(options)) {
        throw InputError(
            fmt::format("{}, not for '{}', which is of the whole run; --from and --to choose a part of it, --from -D "
                        "the last D",
                        kForPictures, options.all ? "--all" : fmt::format("{}", fmt::join(quantities, " "))));
    }
    const TrajectoryReader trajectory(options.file);
    std::vector<TrajectoryReader> others;
    for (const std::string& file : options.with) others.emplace_back(file);
    std::vector<const TrajectoryReader*> runs{&trajectory};
    for (const TrajectoryReader& other : others) {
        runs.push_back(&other);
        if (other.scene().units == trajectory.scene().units) continue;
        throw InputError(fmt::format("{}: is in other units than {}, which cannot be laid over each other",
                                     other.path(), trajectory.path()));
    }
    Drawing drawing = quantities_figure(runs, quantities, view_of(options));
    apply_wishes(wishes_of(options), drawing);
    std::string written = finish(
        options, output_of(options, fmt::format("{}", fmt::join(quantities, "-"))),
        [&](Canvas canvas) {
            if (others.empty()) canvas.note = run_note(trajectory);
            return figure_script(drawing, canvas);
        },
        [&] { return figure_csv(drawing); });
    for (const std::string& quantity : quantities) {
        if (options.quiet || options.rows) continue;
        say_which(trajectory, quantity);
        say_since_when(trajectory, quantity, view_of(options).window);
    }
    return written;
}

/// FOLDER/WHAT.png for a folder; NAME-WHAT.png for NAME.png, or for the trajectory's name; with --csv .csv.
std::string name_in_all(const PlotOptions& options, const std::string& quantity) {
    if (options.output.empty()) return output_of(options, quantity);
    const std::filesystem::path named = options.output;
    std::error_code ignored;
    if (options.output.ends_with('/') || std::filesystem::is_directory(named, ignored))
        return unled(named / (quantity + (options.csv ? ".csv" : ".png")));
    return unled(named.parent_path() /
                 fmt::format("{}-{}{}", named.stem().string(), quantity, named.extension().string()));
}

/// What a run has no value of is left out, and said.
std::string plot_all(const PlotOptions& options) {
    if (!options.quantities.empty()) {
        throw InputError("--all draws every quantity; leave out '" + options.quantities.front() + "'");
    }
    const std::vector<std::string> quantities = all_quantities(TrajectoryReader(options.file));
    if (options.output.ends_with('/')) {
        std::error_code error;
        std::filesystem::create_directories(options.output, error);
        if (error) throw SystemError(fmt::format("cannot make the folder {}: {}", options.output, error.message()));
    }
    for (const std::string& quantity : quantities) {
        check_figure(options, name_in_all(options, quantity));
    }
    std::string written;
    std::size_t files = 0;
    for (const std::string& quantity : quantities) {
        PlotOptions one = options;
        one.quantities = {quantity};
        one.rows = options.rows || quantity == "balls";  // a row of the scene's own, and no picture
        one.output = name_in_all(options, quantity);
        try {
            keep_earlier(files, [&] { written += (written.empty() ? "" : "\n") + plot_trajectory(one); });
            ++files;
        } catch (const InputError& error) {
            // Energy is always there, so it is something else; and a file that is there now came meanwhile.
            std::error_code error_of_system;
            const bool came = !options.force && std::filesystem::exists(one.output, error_of_system);
            if (quantity == quantities.front() || came) throw;
            if (!options.quiet) say("left out: {}\n", visible(error.what()));
        }
    }
    return written;
}

/// Sorts files from the quantity: the first word is a file, and so is whatever ends as a trajectory does.
void sort_words(PlotOptions& options) {
    options.file = options.words.front();
    const auto other_file = [](const std::string& word) { return word.ends_with(".csv") || word.ends_with(".json"); };
    for (std::size_t k = 1; k < options.words.size(); ++k) {
        const std::string& word = options.words[k];
        if (other_file(word) || (word.ends_with(".h5") && other_file(options.file))) {
            throw InputError(
                fmt::format("{} and {} cannot be drawn together; allowed: runs (.h5), as many as you like, "
                            "one table (.csv), or one file of results of carom bench (.json)",
                            options.file, word));
        }
        if (word.ends_with(".h5")) {
            options.with.push_back(word);
        } else {
            options.quantities.push_back(word);
        }
    }
}

/// Draws anew whenever a run has written more, to its end or to a signal.
int plot_following(PlotOptions options) {
    if (options.output == "-") throw InputError("--follow: draws a file anew, and -o - is none");
    const auto draw = [](const PlotOptions& one) { return one.all ? plot_all(one) : plot_trajectory(one); };
    const auto runs = [&](const auto& of) { return of(options.file) || std::ranges::any_of(options.with, of); };
    const auto written = [&] {
        std::vector<std::filesystem::file_time_type> times;
        static_cast<void>(runs([&](const std::string& file) {
            std::error_code error;
            times.push_back(std::filesystem::last_write_time(file, error));
            return false;
        }));
        return times;
    };
    const SignalGuard signals;
    constexpr auto kLeast = std::chrono::seconds(1);  // from one drawing to the next
    constexpr auto kLook = std::chrono::milliseconds(50);
    for (std::size_t drawn = 1;; ++drawn) {
        // Both before the files are read: then the last drawing is of all that they hold.
        const bool more_comes = runs(is_being_written);
        const auto seen = written();
        const auto begin = std::chrono::steady_clock::now();
        std::string output;
        try {
            output = draw(options);
        } catch (const SystemError&) {
            if (signals.caught() != 0) return 128 + signals.caught();  // which gnuplot got, too
            throw;
        }
        if (drawn == 1 && !options.quiet) say("{}\n", output);
        if (!more_comes && !options.quiet) say("drawn {}\n", drawn == 1 ? "once" : fmt::format("{} times", drawn));
        if (!more_comes) return 0;
        options.force = true;  // it is ours now
        options.quiet = options.quiet || options.all;
        const auto waiting = [&] {
            return std::chrono::steady_clock::now() < begin + kLeast || (written() == seen && runs(is_being_written));
        };
        while (signals.caught() == 0 && waiting()) std::this_thread::sleep_for(kLook);
        if (signals.caught() != 0) return 128 + signals.caught();
    }
}

int plot(const PlotOptions& options) {
    const bool trajectory = !options.file.ends_with(".csv") && !options.file.ends_with(".json");
    if (options.follow && !trajectory) throw InputError("--follow: is for trajectories, which grow");
    if (options.follow) return plot_following(options);
    if (!trajectory && (options.all || !options.with.empty()))
        throw InputError("--all and several runs are for trajectories");
    const std::string output = options.all                       ? plot_all(options)
                               : options.file.ends_with(".csv")  ? plot_table(options)
                               : options.file.ends_with(".json") ? plot_bench(options)
                                                                 : plot_trajectory(options);
    if (!options.quiet && !output.empty()) say("{}\n", output);
    return 0;
}

}  // namespace

Action add_plot_command(CommandOptions& command, const std::string&) {
    const auto options = std::make_shared<PlotOptions>();
    command.required_arguments(
        "FILE", options->words,
        "A trajectory, or several (.h5) laid over each other; a table of carom sweep (.csv); or results "
        "of carom bench (.json). Then the quantity: energy (default), pressure, temperature, momentum or any other "
        "observable, over time; speed, velocity, density, density_map, temperature_profile, "
        "velocity_profile, gr, msd or vacf, or an average by its name, with theory (of one that is a number, how it "
        "settled); or balls: a picture of "
        "one frame. Several quantities are laid over each other. Of a table: a column; the first that is no axis by "
        "default. Of results: speed (default), double, limit, threads or events");
    command.option(
        "-o,--output", options->output, "FIGURE",
        "Figure: .png, .svg or .pdf; FILE-QUANTITY.png by default. With --all also a folder, by a / at its end");
    command.repeatable(
        "--by", options->by, "AXIS",
        "Of a table: over this axis alone, summed over the others; up to twice, for a heat map of two axes");
    command.flag("--mean", options->mean, "With --by: the mean over the other axes, not the sum");
    command.option("--from", options->from, "T",
                   "Only this time of the run and later; below 0: so long before its end. Averages are then taken from "
                   "the frames there; numbers that frames do not give, as pressure, stay averages since their start");
    command.option("--to", options->to, "T", "Only up to this time, told as for --from");
    command.option("--xrange", options->xrange, "LOW:HIGH", "What the axis shows; either end may be left out");
    command.option("--yrange", options->yrange, "LOW:HIGH", "The same of the other axis");
    command.option("--cbrange", options->cbrange, "LOW:HIGH", "The same of the colours of a map");
    command.option("--log", options->log, "AXES", "Logarithmic axes: x, y, xy or none");
    command.flag("--residuals", options->residuals, "Less theory, in standard errors where there are any");
    command.flag("--drift", options->drift,
                 "Rows less their first value, relative to it where it is one number and not 0; so drawn by default is "
                 "what a run conserves of energy, momentum and angular momentum");
    command.flag("--no-drift", options->no_drift, "The values of what is conserved; --yrange and --csv have them, too");
    command.flag("--rows", options->rows, "Quantities are rows, over time, whatever else has their names (balls)");
    command.flag("--csv", options->csv,
                 "A table of what would be drawn: FILE-QUANTITY.csv, or as -o says; -o - prints it");
    command.option("--style", options->style, "NAME",
                   "screen (default), or printed: one-column (86 mm wide, 8 pt) or two-column (178 mm, 9 pt) of a "
                   "journal, without a title unless one is given");
    command.option("--size", options->size, "WxH",
                   "Pixels, or as 86x62mm (cm, in); of the picture of balls, at most; 1200x900 by default");
    command.option("--font-size", options->font_size, "PT", "Of letters; in a figure of pixels, pixels");
    command.option("--title", options->title, "TEXT", "In the place of the figure's own");
    command.flag("--no-title", options->no_title, "No title");
    command.flag("--no-units", options->no_units, "Numbers without units; [units] of the scene names them");
    command.option("--color-by", options->color_by, "WHAT", "Of balls: auto, species or speed");
    add_frame_options(command, options->frame);
    command.repeatable("--with", options->with, "FILE",
                       "Another trajectory laid over the first, the same as giving it as a FILE");
    command.flag("--all", options->all, "Every figure that the trajectory gives: FILE-QUANTITY.png for each");
    command.flag("--follow", options->follow, "Draw anew as the run writes more, to its end");
    command.flag("--quiet", options->quiet, "Say nothing");
    command.flag("--force", options->force, "Overwrite the figure if it exists");
    return [options] {
        sort_words(*options);
        return plot(*options);
    };
}

}  // namespace carom
