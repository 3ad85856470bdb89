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

/// What an axis shows.
struct Limits {
    double low = 0.0;
    double high = 1.0;
};

double error_at(const Curve& curve, std::size_t k) {
    return k < curve.error.size() && std::isfinite(curve.error[k]) ? curve.error[k] : 0.0;
}

/// Equal values everywhere would give gnuplot a range of nothing, and rounding noise on a conserved quantity a range
/// of its own; so the range is at least a little of the largest value.
Limits y_limits(const Figure& figure) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    bool any_negative = false;
    for (const Curve& curve : figure.curves) {
        if (curve.dashed && !curve.thick) continue;  // for comparison only: may be cut off
        for (std::size_t k = 0; k < curve.y.size(); ++k) {
            const double error = error_at(curve, k);
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
    if (!(low <= high)) return figure.log_y ? Limits{0.1, 10.0} : Limits{-1.0, 1.0};
    if (figure.log_y) return {0.8 * low, 1.25 * high};
    constexpr double kLeast = 1e-3;
    const double size = std::max(std::abs(low), std::abs(high));
    double margin = 0.06 * (high - low);
    if (high - low < kLeast * size) margin = kLeast * size;
    if (size == 0.0) margin = 1.0;
    return {low == 0.0 ? low : low - margin, high + margin};
}

Limits x_limits(const Figure& figure) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const Curve& curve : figure.curves) {
        for (const double x : curve.x) {
            if (figure.log_x && !(x > 0.0)) continue;
            low = std::min(low, x);
            high = std::max(high, x);
        }
    }
    return {figure.x_from.value_or(low), high};
}

/// Where between the ends of an axis a value is drawn: 0 to 1.
double share_of(const Limits& limits, double value, bool logarithmic) {
    if (!logarithmic) return (value - limits.low) / (limits.high - limits.low);
    return value > 0.0 ? std::log(value / limits.low) / std::log(limits.high / limits.low) : -1.0;
}

/// Whether anything is drawn in a part of the figure, all shares of its axes. A line is looked at in steps that are
/// smaller than any label.
bool is_free(const Figure& figure, const Limits& x_axis, const Limits& y_axis, const Limits& x, const Limits& y) {
    constexpr int kSteps = 32;
    const auto across = [&](const Curve& curve, std::size_t k) { return share_of(x_axis, curve.x[k], figure.log_x); };
    const auto up = [&](double value) { return share_of(y_axis, value, figure.log_y); };
    const auto within = [](const Limits& part, double at) { return at >= part.low && at <= part.high; };
    for (const Curve& curve : figure.curves) {
        for (std::size_t k = 0; k < curve.x.size(); ++k) {
            if (!std::isfinite(curve.y[k])) continue;
            const double error = error_at(curve, k);
            const bool beside = up(curve.y[k] + error) < y.low || up(curve.y[k] - error) > y.high;
            if (within(x, across(curve, k)) && !beside) return false;
            const bool line = !curve.points && k > 0 && std::isfinite(curve.y[k - 1]);
            for (int step = 1; line && step < kSteps; ++step) {
                const double share = static_cast<double>(step) / kSteps;
                const double at = across(curve, k - 1) + share * (across(curve, k) - across(curve, k - 1));
                const double height = up(curve.y[k - 1]) + share * (up(curve.y[k]) - up(curve.y[k - 1]));
                if (within(x, at) && within(y, height)) return false;
            }
        }
    }
    return true;
}

/// The corner in which labels hide nothing; if there is none, beside the axes.
std::string place_of_key(const Figure& figure, const Limits& y_axis) {
    // Of a .pdf, whose letters are the largest, and with a little air: a letter's width and a line's height over the
    // axes' lengths, and what a label has beside its text.
    constexpr double kLetter = 0.012;
    constexpr double kSample = 0.08;
    constexpr double kLine = 0.068;
    std::size_t letters = 0;
    for (const Curve& curve : figure.curves) letters = std::max(letters, curve.label.size());
    const double width = kSample + kLetter * static_cast<double>(letters);
    const double height = kLine * static_cast<double>(figure.curves.size()) + 0.5 * kLine;
    const Limits x_axis = x_limits(figure);
    for (const char* corner : {"right top", "left top", "left bottom", "right bottom"}) {
        const bool left = corner[0] == 'l';
        const bool top = std::string_view(corner).ends_with("top");
        const Limits x = left ? Limits{0.0, width} : Limits{1.0 - width, 1.0};
        const Limits y = top ? Limits{1.0 - height, 1.0} : Limits{0.0, height};
        if (is_free(figure, x_axis, y_axis, x, y)) return std::string("inside ") + corner;
    }
    return "outside right top";
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
    const Limits y_axis = y_limits(figure);
    const std::string key = figure.key_inside ? place_of_key(figure, y_axis) : "outside right top";
    script += figure.curves.size() > 1 ? "set key " + key + " Left reverse samplen 2.5 spacing 1.3\n" : "unset key\n";
    if (figure.log_x) script += "set logscale x\n";
    if (figure.log_y) script += "set logscale y\n";
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
    for (const char* place :
         {"outside right top", "inside right top", "inside left top", "inside left bottom", "inside right bottom"}) {
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
