#include "host/plot/gnuplot.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "host/io/replacement.hpp"
#include "host/plot/key_place.hpp"
#include "host/plot/logarithmic_tics.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

namespace fs = std::filesystem;

/// Okabe and Ito 2008, black last: told apart by the colour-blind too.
constexpr std::array kColors{"#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#444444"};
/// The same, half as bright.
constexpr std::array kShades{"#003959", "#734F00", "#004F39", "#6A2F00", "#663C53", "#2B5A74", "#222222"};

std::string script_string(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return result + "\"";
}

/// How many letters of a title a line takes. gnuplot cuts what is wider than the picture, and puts the middle of a
/// title over that of the axes, which labels beside them push to the left.
constexpr std::size_t kTitleLetters = 88;
constexpr std::size_t kTitleLettersInPdf = 62;  // larger letters, for paper
constexpr std::size_t kTitleLettersOnSmallScreens = 60;

/// The end of the letter of UTF-8 that begins at `at`.
std::size_t next_letter(std::string_view text, std::size_t at) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U) ++at;
    return at;
}

/// Lines of at most so many letters, broken behind the space between words, and within a word only if it fills a line
/// by itself. Together they are the text.
std::vector<std::string> broken_into_lines(std::string_view text, std::size_t most) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        std::size_t end = 0;
        std::size_t word = 0;  // where the last one begins
        for (std::size_t letters = 0; end < text.size() && (letters < most || text[end] == ' '); ++letters) {
            if (text[end] == ' ') word = end + 1;
            end = next_letter(text, end);
        }
        if (end < text.size() && word > 0) end = word;
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return lines;
}

/// The command for a title: gnuplot starts a new line at the two letters \n of a string.
std::string title_command(std::string_view text, std::size_t most_letters) {
    std::string all;
    for (const std::string& line : broken_into_lines(text, most_letters)) {
        const std::string quoted = script_string(line);
        all += (all.empty() ? "" : "\\n") + quoted.substr(1, quoted.size() - 2);
    }
    return "set title \"" + all + "\" noenhanced offset 0,0.3\n";
}

/// The text that title_command was given.
std::string title_of(std::string_view command) {
    std::string text;
    for (std::size_t k = command.find('"') + 1; k < command.size() && command[k] != '"'; ++k) {
        const bool escape = command[k] == '\\';
        if (escape) ++k;
        if (!escape || command[k] != 'n') text += command[k];
    }
    return text;
}

std::string terminal(const std::string& path) {
    const std::string ending = fs::path(path).extension().string();
    if (ending == ".png") return "pngcairo size 1200,760 font \"sans,14\" linewidth 1.2";
    if (ending == ".svg") return "svg size 1200,760 dynamic font \"sans,18\" background \"#ffffff\" linewidth 1.2";
    if (ending == ".pdf") return "pdfcairo size 8in,5in font \"sans,12\" linewidth 1.2";
    throw InputError(path + ": figures end in .png, .svg or .pdf");
}

bool on_path(const std::string& program) {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path != nullptr ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');) {
        folder += '/';
        folder += program;
        if (access(folder.c_str(), X_OK) == 0) return true;
    }
    return false;
}

}  // namespace

std::string gnuplot_literal(std::string_view text) { return script_string(text) + " noenhanced"; }

std::string gnuplot_head(const std::string& title, const std::string& path) {
    std::string script = "set terminal " + terminal(path) + "\n";
    script += "set encoding utf8\n";
    script += title_command(title, path.ends_with(".pdf") ? kTitleLettersInPdf : kTitleLetters);
    script += "set border 3 linecolor rgb \"#404040\"\nset tics nomirror textcolor rgb \"#202020\"\n";
    script += "set format y \"%.6g\"\nset format x \"%.6g\"\n";
    return script;
}

std::string gnuplot_script(const Figure& figure, const std::string& path) {
    std::string script = gnuplot_head(figure.title, path);
    script +=
        "set xlabel " + gnuplot_literal(figure.x_label) + "\nset ylabel " + gnuplot_literal(figure.y_label) + "\n";
    script += "set grid back linecolor rgb \"#c8c8c8\" linewidth 1 dashtype 3\n";
    const AxisLimits y_axis = y_limits(figure);
    const std::string key = figure.key_inside ? place_of_key(figure, x_limits(figure), y_axis) : kKeyOutside;
    script += figure.curves.size() > 1 ? "set key " + key + " Left reverse samplen 2.5 spacing 1.3\n" : "unset key\n";
    if (figure.log_x) script += "set logscale x\n" + logarithmic_tics('x', x_limits(figure));
    if (figure.log_y) script += "set logscale y\n" + logarithmic_tics('y', y_axis);
    script += fmt::format("set xrange [{}:] noextend\n", figure.x_from ? fmt::format("{}", *figure.x_from) : "");
    script += fmt::format("set yrange [{:.9g}:{:.9g}]\n", y_axis.low, y_axis.high);
    for (std::size_t k = 0; k < figure.curves.size(); ++k) {
        const Curve& curve = figure.curves[k];
        script += fmt::format("$curve{} << END_OF_DATA\n", k);
        for (std::size_t row = 0; row < curve.x.size(); ++row) {
            script += std::isfinite(curve.y[row]) ? fmt::format("{} {}", curve.x[row], curve.y[row])
                                                  : fmt::format("{} NaN", curve.x[row]);
            if (!curve.error.empty()) {
                // Without an error it is still a point.
                script += fmt::format(" {}", std::isfinite(curve.error[row]) ? curve.error[row] : 0.0);
            }
            script += '\n';
        }
        script += "END_OF_DATA\n";
    }
    script += "plot ";
    for (std::size_t k = 0; k < figure.curves.size(); ++k) {
        const Curve& curve = figure.curves[k];
        // One row is no line.
        const bool one = curve.x.size() < 2;
        const std::string style = curve.band             ? (one ? "yerrorbars pointtype 7" : "lines")
                                  : !curve.error.empty() ? "yerrorbars pointtype 7 pointsize 0.6"
                                  : curve.points         ? "points pointtype 7 pointsize 0.6"
                                  : one && curve.thick   ? "points pointtype 2 pointsize 2"
                                  : one                  ? "points pointtype 7"
                                                         : "lines";
        const int own = curve.color >= 0 ? curve.color : static_cast<int>(k);
        const std::size_t place = static_cast<std::size_t>(curve.mean_of >= 0 ? curve.mean_of : own) % kColors.size();
        const char* color = curve.mean_of >= 0 ? kShades[place] : curve.thick ? "#101010" : kColors[place];
        const std::string errors = curve.error.empty() || (curve.band && !one) ? "" : ":3";
        if (curve.band && !one) {
            script += fmt::format(
                "{}$curve{} using 1:($2-$3):($2+$3) with filledcurves fillcolor rgb \"{}\" "
                "fillstyle transparent solid 0.25 noborder notitle",
                k > 0 ? ", " : "", k, color);
        }
        const double width = curve.thick ? 2.2 : (curve.error.empty() ? 1.8 : 1.2);
        script += fmt::format("{}$curve{} using 1:2{} with {} linecolor rgb \"{}\" linewidth {}{} {}",
                              k > 0 || (curve.band && !one) ? ", " : "", k, errors, style, color, width,
                              curve.dashed ? " dashtype 2" : "",
                              curve.label.empty() ? "notitle" : "title " + gnuplot_literal(curve.label));
    }
    return script + "\n";
}

std::string for_small_screens(std::string script) {
    const auto replace = [&script](std::string_view from, std::string_view to) {
        const std::size_t at = script.find(from);
        if (at != std::string::npos) script.replace(at, from.size(), to);
    };
    replace("svg size 1200,760", "svg size 760,560");
    if (const std::size_t title = script.find("set title \""); title != std::string::npos) {
        const std::string command = script.substr(title, script.find('\n', title) + 1 - title);
        replace(command, title_command(title_of(command), kTitleLettersOnSmallScreens));
    }
    replace(std::string("set key ") + kKeyOutside, "set key below");
    for (const char* place : kKeysInside) {
        replace(std::string("set key ") + place, "set key below");
    }
    return script;
}

void run_gnuplot(const std::string& script, const std::string& path) {
    if (!on_path("gnuplot")) {
        throw SystemError("figures are drawn by gnuplot, which is not installed; apt-get install gnuplot-nox");
    }
    Replacement figure(path);  // an older one stays until this one is whole
    // What it says about fonts and the like is of no use; that it failed is seen by its status and the file.
    std::FILE* pipe = popen("gnuplot >/dev/null 2>&1", "w");
    if (pipe == nullptr) throw SystemError("cannot start gnuplot");
    const std::string all = "set output " + script_string(figure.temporary()) + "\n" + script;
    const bool sent = std::fwrite(all.data(), 1, all.size(), pipe) == all.size();
    const int status = pclose(pipe);
    std::error_code ignored;
    const auto bytes = fs::file_size(figure.temporary(), ignored);
    if (!sent || status != 0 || ignored || bytes == 0) {
        throw SystemError(
            fmt::format("gnuplot could not draw {} (status {})", path, WIFEXITED(status) ? WEXITSTATUS(status) : -1));
    }
    figure.commit(false);
}

void draw_figure(const Figure& figure, const std::string& path) { run_gnuplot(gnuplot_script(figure, path), path); }

}  // namespace carom
