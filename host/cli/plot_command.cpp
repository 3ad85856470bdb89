#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <vector>

#include "host/cli/options.hpp"
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
#include "host/state/errors.hpp"

namespace carom {

namespace {

struct PlotOptions {
    std::vector<std::string> words;  // files, and among them the quantity
    std::string file;
    std::string quantity;
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
};

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
        const auto x = options.size.find('x');
        if (x == std::string::npos) throw InputError("--size: '" + options.size + "' is not WIDTHxHEIGHT");
        constexpr std::uint64_t kMost = 16384;
        const std::uint64_t width = parse_whole("--size", options.size.substr(0, x), 300);
        const std::uint64_t height = parse_whole("--size", options.size.substr(x + 1), 200);
        if (width > kMost || height > kMost) throw InputError("--size: more than 16384 pixels");
        picture.width = static_cast<int>(width);
        picture.height = static_cast<int>(height);
    }
    return picture;
}

/// FILE-WHAT.png in the current folder, unless the user names another.
std::string output_of(const PlotOptions& options, const std::string& what) {
    return options.output.empty() ? std::filesystem::path(options.file).stem().string() + "-" + what + ".png"
                                  : options.output;
}

/// Whether an option is given that only a picture of balls has.
bool wants_picture(const PlotOptions& options) {
    return options.frame.given() || !options.size.empty() || options.color_by != "auto";
}

std::string plot_table(const PlotOptions& options) {
    if (wants_picture(options)) {
        throw InputError("--last, --time, --frame, --size and --color-by are for pictures of balls, not for tables");
    }
    const SweepTable table = read_table(options.file);
    const TableView view{.quantity = options.quantity, .by = options.by, .mean = options.mean};
    std::string what = table.names[choose_columns(table, view).quantity];
    for (const std::string& axis : options.by) what += "-by-" + axis;
    std::ranges::replace(what, '/', '-');
    std::string output = output_of(options, what);
    check_output_file(output, options.file, options.force);
    run_gnuplot(table_figure_script(table, view, output), output);
    return output;
}

std::string plot_bench(const PlotOptions& options) {
    if (wants_picture(options) || !options.by.empty() || options.mean) {
        throw InputError("of a file of carom bench a quantity may be chosen, and nothing else");
    }
    const std::string quantity = options.quantity.empty() ? bench_quantities().front() : options.quantity;
    std::string output = output_of(options, quantity);
    const Script script = bench_figure_script(options.file, quantity, output);
    check_output_file(output, options.file, options.force);
    run_gnuplot(script, output);
    return output;
}

/// Which average a kind's name stood for, where it could have been another.
void say_which(const TrajectoryReader& trajectory, const std::string& quantity) {
    if (!is_number_quantity(trajectory, quantity) && !is_average_quantity(trajectory, quantity)) return;
    const std::vector<std::string> others = others_of_kind(trajectory, quantity);
    if (others.empty()) return;
    say("{}: drawn is {}; others of this kind: {}\n", quantity, find_average(trajectory, quantity)->name,
        fmt::join(others, ", "));
}

std::string plot_trajectory(const PlotOptions& options) {
    if (!options.by.empty() || options.mean) throw InputError("--by and --mean are for tables, not for trajectories");
    const std::string quantity = options.quantity.empty() ? "energy" : options.quantity;
    if (quantity != "balls" && wants_picture(options)) {
        throw InputError(
            fmt::format("--last, --time, --frame, --size and --color-by are for the picture 'balls', not for '{}', "
                        "which is of the whole run",
                        options.all ? "--all" : quantity));
    }
    const TrajectoryReader trajectory(options.file);
    std::string output = output_of(options, quantity);
    if (!options.with.empty() && quantity == "balls")
        throw InputError("several runs are for figures, not for pictures of balls");
    if (quantity == "balls" && !output.ends_with(".png"))
        throw InputError(output + ": a picture of the balls ends in .png");
    check_output_file(output, options.file, options.force);
    if (quantity == "balls") {
        write_png(draw_frame(trajectory, choose_frame(options.frame, trajectory), picture_options(options)), output);
        return output;
    }
    std::vector<TrajectoryReader> others;
    for (const std::string& file : options.with) others.emplace_back(file);
    std::vector<const TrajectoryReader*> runs{&trajectory};
    for (const TrajectoryReader& other : others) runs.push_back(&other);
    run_gnuplot(quantity_script(runs, quantity, output), output);
    if (!options.quiet) say_which(trajectory, quantity);
    return output;
}

/// FOLDER/WHAT.png for a folder; NAME-WHAT.png for NAME.png, or for the trajectory's name.
std::string name_in_all(const PlotOptions& options, const std::string& quantity) {
    if (options.output.empty()) return output_of(options, quantity);
    const std::filesystem::path named = options.output;
    if (options.output.ends_with('/') || std::filesystem::is_directory(named)) return named / (quantity + ".png");
    return named.parent_path() / fmt::format("{}-{}{}", named.stem().string(), quantity, named.extension().string());
}

/// What a run has no value of is left out, and said.
std::string plot_all(const PlotOptions& options) {
    if (!options.quantity.empty()) throw InputError("--all draws every quantity; leave out '" + options.quantity + "'");
    const std::vector<std::string> quantities = all_quantities(TrajectoryReader(options.file));
    if (options.output.ends_with('/')) {
        std::error_code error;
        std::filesystem::create_directory(options.output.substr(0, options.output.size() - 1), error);
        if (error) throw SystemError(fmt::format("cannot make the folder {}: {}", options.output, error.message()));
    }
    for (const std::string& quantity : quantities) {
        check_output_file(name_in_all(options, quantity), options.file, options.force);
    }
    std::string written;
    for (const std::string& quantity : quantities) {
        PlotOptions one = options;
        one.quantity = quantity;
        one.output = name_in_all(options, quantity);
        one.force = true;  // all have been checked
        try {
            written += (written.empty() ? "" : "\n") + plot_trajectory(one);
        } catch (const InputError& error) {
            if (quantity == quantities.front()) throw;  // energy is always there: it is something else
            if (!options.quiet) say("left out: {}\n", error.what());
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
        } else if (options.quantity.empty()) {
            options.quantity = word;
        } else {
            throw InputError(fmt::format("unexpected argument '{}'; see carom plot --help", word));
        }
    }
}

int plot(const PlotOptions& options) {
    const bool trajectory = !options.file.ends_with(".csv") && !options.file.ends_with(".json");
    if (!trajectory && (options.all || !options.with.empty()))
        throw InputError("--all and several runs are for trajectories");
    const std::string output = options.all                       ? plot_all(options)
                               : options.file.ends_with(".csv")  ? plot_table(options)
                               : options.file.ends_with(".json") ? plot_bench(options)
                                                                 : plot_trajectory(options);
    if (!options.quiet) say("{}\n", output);
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
        "one frame. Of a table: a column; the first that is no axis by default. Of results: speed (default), "
        "double, limit, threads or events");
    command.option(
        "-o,--output", options->output, "FIGURE",
        "Figure: .png, .svg or .pdf; FILE-QUANTITY.png by default. With --all also a folder, by a / at its end");
    command.repeatable(
        "--by", options->by, "AXIS",
        "Of a table: over this axis alone, summed over the others; up to twice, for a heat map of two axes");
    command.flag("--mean", options->mean, "With --by: the mean over the other axes, not the sum");
    command.option("--color-by", options->color_by, "WHAT", "Of balls: auto, species or speed");
    command.option("--size", options->size, "WxH", "Of the picture of balls, at most; 1200x900 by default");
    add_frame_options(command, options->frame);
    command.repeatable("--with", options->with, "FILE",
                       "Another trajectory laid over the first, the same as giving it as a FILE");
    command.flag("--all", options->all, "Every figure that the trajectory gives: FILE-QUANTITY.png for each");
    command.flag("--quiet", options->quiet, "Say nothing");
    command.flag("--force", options->force, "Overwrite the figure if it exists");
    return [options] {
        sort_words(*options);
        return plot(*options);
    };
}

}  // namespace carom
