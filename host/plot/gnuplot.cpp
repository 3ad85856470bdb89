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
#include <limits>
#include <sstream>
#include <string_view>

#include "host/io/replacement.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

namespace fs = std::filesystem;

/// Okabe and Ito 2008, black last: told apart by the colour-blind too.
constexpr std::array kColors{"#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#444444"};

std::string script_string(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return result + "\"";
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

/// Equal values everywhere would give gnuplot a range of nothing, and rounding noise on a conserved quantity a range
/// of its own; so the range is at least a little of the largest value.
std::string y_range(const Figure& figure) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    bool any_negative = false;
    for (const Curve& curve : figure.curves) {
        if (curve.dashed && !curve.thick) continue;  // for comparison only: may be cut off
        for (std::size_t k = 0; k < curve.y.size(); ++k) {
            const double error = k < curve.error.size() && std::isfinite(curve.error[k]) ? curve.error[k] : 0.0;
            if (!std::isfinite(curve.y[k]) || (figure.log_y && !(curve.y[k] > 0.0))) continue;
            any_negative = any_negative || curve.y[k] < 0.0;
            low = std::min(low, figure.log_y ? curve.y[k] : curve.y[k] - error);
            high = std::max(high, curve.y[k] + error);
        }
    }
    if (!any_negative) {
        low = std::max(low, 0.0);  // bars may reach below what there can be
        // Densities and the like begin at 0, when they nearly do.
        const bool measured = std::ranges::any_of(figure.curves, &Curve::points);
        if (measured && !figure.log_y && low < 0.1 * high) low = 0.0;
    }
    if (!(low <= high)) return figure.log_y ? "set yrange [0.1:10]\n" : "set yrange [-1:1]\n";
    if (figure.log_y) return fmt::format("set yrange [{:.9g}:{:.9g}]\n", 0.8 * low, 1.25 * high);
    constexpr double kLeast = 1e-3;
    const double size = std::max(std::abs(low), std::abs(high));
    double margin = 0.06 * (high - low);
    if (high - low < kLeast * size) margin = kLeast * size;
    if (size == 0.0) margin = 1.0;
    return fmt::format("set yrange [{:.9g}:{:.9g}]\n", low == 0.0 ? low : low - margin, high + margin);
}

}  // namespace

std::string gnuplot_literal(std::string_view text) { return script_string(text) + " noenhanced"; }

std::string gnuplot_head(const std::string& title, const std::string& path) {
    std::string script = "set terminal " + terminal(path) + "\n";
    script += "set encoding utf8\n";
    script += "set title " + gnuplot_literal(title) + " offset 0,0.3\n";
    script += "set border 3 linecolor rgb \"#404040\"\nset tics nomirror textcolor rgb \"#202020\"\n";
    script += "set format y \"%.6g\"\nset format x \"%.6g\"\n";
    return script;
}

std::string gnuplot_script(const Figure& figure, const std::string& path) {
    std::string script = gnuplot_head(figure.title, path);
    script +=
        "set xlabel " + gnuplot_literal(figure.x_label) + "\nset ylabel " + gnuplot_literal(figure.y_label) + "\n";
    script += "set grid back linecolor rgb \"#c8c8c8\" linewidth 1 dashtype 3\n";
    script +=
        figure.curves.size() > 1 ? "set key " + figure.key + " Left reverse samplen 2.5 spacing 1.3\n" : "unset key\n";
    if (figure.log_x) script += "set logscale x\n";
    if (figure.log_y) script += "set logscale y\n";
    script += fmt::format("set xrange [{}:] noextend\n", figure.x_from ? fmt::format("{}", *figure.x_from) : "");
    script += y_range(figure);
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
        const std::size_t color = curve.color >= 0 ? static_cast<std::size_t>(curve.color) : k;
        const std::string errors = curve.error.empty() || (curve.band && !one) ? "" : ":3";
        if (curve.band && !one) {
            script += fmt::format(
                "{}$curve{} using 1:($2-$3):($2+$3) with filledcurves fillcolor rgb \"{}\" "
                "fillstyle transparent solid 0.25 noborder notitle",
                k > 0 ? ", " : "", k, kColors[color % kColors.size()]);
        }
        const double width = curve.thick ? 2.2 : (curve.error.empty() ? 1.8 : 1.2);
        script += fmt::format("{}$curve{} using 1:2{} with {} linecolor rgb \"{}\" linewidth {}{} title {}",
                              k > 0 || (curve.band && !one) ? ", " : "", k, errors, style,
                              curve.thick ? "#101010" : kColors[color % kColors.size()], width,
                              curve.dashed ? " dashtype 2" : "", gnuplot_literal(curve.label));
    }
    return script + "\n";
}

std::string for_small_screens(std::string script) {
    const auto replace = [&script](std::string_view from, std::string_view to) {
        const std::size_t at = script.find(from);
        if (at != std::string::npos) script.replace(at, from.size(), to);
    };
    replace("svg size 1200,760", "svg size 760,560");
    replace("set key outside right top", "set key below");
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
