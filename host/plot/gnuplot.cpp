#include "host/plot/gnuplot.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <utility>

#include "host/io/child_process.hpp"
#include "host/io/replacement.hpp"
#include "host/state/errors.hpp"
#include "host/state/text.hpp"

namespace carom {

namespace {

namespace fs = std::filesystem;

/// Ends a string in single quotes and goes on with it behind a single quote, for which gnuplot 5.4 does not take two of
/// them at a string's start.
constexpr std::string_view kQuote = "'.\"'\".'";

// In double quotes gnuplot runs what stands in backquotes, and knows escapes; in single quotes it knows nothing.
std::string in_quotes(std::string_view text) {
    std::string result = "'";
    for (const char c : figure_text(text)) result += c == '\'' ? kQuote : std::string_view(&c, 1);
    return result + "'";
}

/// The end of the letter of UTF-8 that begins at `at`.
std::size_t next_letter(std::string_view text, std::size_t at) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U) ++at;
    return at;
}

/// A style where it is printed: its size [in], its letters [pt], and how thick lines and how large points are.
struct Print {
    double width, height, font, line, point;
};
constexpr Print kScreenInPdf{8.0, 5.0, 7.2, 1.2, 1.0};
/// Most journals' columns are 86 mm wide, and two with the room between them 178 mm.
constexpr Print kOneColumn{86.0 / 25.4, 66.0 / 25.4, 8.0, 1.0, 0.5};
constexpr Print kTwoColumns{178.0 / 25.4, 90.0 / 25.4, 9.0, 1.1, 0.6};
constexpr double kPointsPerInch = 72.0;
constexpr double kPixelsPerInch = 600.0;  // of a .png that is printed
constexpr double kUnitsPerInch = 96.0;    // of an .svg, as browsers have it

/// Of one format, how large everything is.
struct Sheet {
    Script terminal;
    double letters_wide;  ///< width over the size of the letters
    double letters_high;
};

const Print& print_of(FigureStyle style) {
    return style == FigureStyle::kOneColumn    ? kOneColumn
           : style == FigureStyle::kTwoColumns ? kTwoColumns
                                               : kScreenInPdf;
}

Sheet in_pixels(const Canvas& canvas, bool svg) {
    const FigureSize size = canvas.size.value_or(canvas.small ? FigureSize{760.0, 560.0} : FigureSize{1200.0, 760.0});
    const double font = canvas.font_size.value_or(svg ? 18.0 : 14.0);
    const Script form("size {:g},{:g}{} font \"sans,{:g}\"{} linewidth 1.2", size.width, size.height,
                      svg && !canvas.size ? Word(" dynamic") : Word(""), font,
                      svg ? Word(" background \"#ffffff\"") : Word(""));
    return {Script("{} {}", svg ? Word("svg") : Word("pngcairo"), form), size.width / font, size.height / font};
}

Sheet printed(const Canvas& canvas, Word format, double per_inch) {
    const Print& print = print_of(canvas.style);
    const FigureSize size = canvas.size.value_or(FigureSize{print.width, print.height, false});
    const double font = canvas.font_size.value_or(print.font);
    const double letters = kPointsPerInch * size.width / font;
    const double height = kPointsPerInch * size.height / font;
    // An .svg and a .png have their lengths in units, and lines of twice the width.
    if (per_inch == 0.0) {  // a .pdf, which knows lengths itself
        return {Script("{} size {:.6g}in,{:.6g}in font \"sans,{:g}\" fontscale 1 linewidth {:g} pointscale {:g}",
                       format, size.width, size.height, font, print.line, print.point),
                letters, height};
    }
    const double scale = per_inch / kPointsPerInch;
    Script form("{} size {:.0f},{:.0f} font \"sans,{:.4g}\" background \"#ffffff\" linewidth {:.3g}", format,
                per_inch * size.width, per_inch * size.height, scale * font, 0.5 * scale * print.line);
    if (per_inch == kPixelsPerInch) form.add(" pointscale {:.3g}", scale * print.point);  // an .svg has none
    return {form, letters, height};
}

Sheet sheet_of(const Canvas& canvas) {
    const std::string ending = fs::path(canvas.path).extension().string();
    const bool screen = canvas.style == FigureStyle::kScreen;
    if (canvas.size && canvas.size->pixels && (!screen || ending == ".pdf")) {
        throw InputError(fmt::format("--size: {} is as large as it is printed; give it in mm, cm or in, as 86x62mm",
                                     screen ? "a .pdf" : "a column"));
    }
    const bool pixels = screen && (!canvas.size || canvas.size->pixels);
    if (ending == ".png") return pixels ? in_pixels(canvas, false) : printed(canvas, "pngcairo", kPixelsPerInch);
    if (ending == ".svg") return pixels ? in_pixels(canvas, true) : printed(canvas, "svg", kUnitsPerInch);
    if (ending == ".pdf") return printed(canvas, "pdfcairo", 0.0);
    throw InputError(canvas.path + ": figures end in .png, .svg or .pdf");
}

bool is_svg(std::string_view picture) { return picture.starts_with("<?xml"); }

/// Whether a picture ends as one of its format does.
bool is_whole(std::string_view picture) {
    while (!picture.empty() && std::isspace(static_cast<unsigned char>(picture.back())) != 0) picture.remove_suffix(1);
    if (picture.starts_with("\x89PNG")) return picture.ends_with("IEND\xae\x42\x60\x82");
    if (picture.starts_with("%PDF")) return picture.ends_with("%%EOF");
    return picture.ends_with("</svg>");
}

/// What gnuplot leaves in texts as it is, and XML forbids there or takes for another letter.
std::string with_texts_as_given(std::string svg) {
    constexpr std::pair<std::string_view, std::string_view> kLeft[] = {{"]]>", "]]&gt;"}, {"&#x", "&amp;#x"}};
    for (const auto& [left, escaped] : kLeft) {
        for (std::size_t at = 0; (at = svg.find(left, at)) != std::string::npos; at += escaped.size()) {
            svg.replace(at, left.size(), escaped);
        }
    }
    return svg;
}

}  // namespace

std::string figure_text(std::string_view text) {
    std::string result;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto code = static_cast<unsigned char>(text[at]);
        const std::size_t bytes = character_bytes(text.substr(at));
        const std::string_view letter = text.substr(at, bytes);
        const bool c1 = bytes == 2 && letter >= "\xc2\x80" && letter < "\xc2\xa0";
        if (bytes == 0) {  // no UTF-8, which an .svg must be
            result += fmt::format("\\x{:02x}", code);
        } else if (bytes == 1 && std::isspace(code) != 0) {
            result += ' ';
        } else if (c1 || (bytes == 1 && std::iscntrl(code) != 0)) {
            throw InputError(
                fmt::format("a text with the control character {} cannot stand in a figure", visible(letter)));
        } else {
            result += letter;
        }
        at += std::max<std::size_t>(bytes, 1) - 1;
    }
    return result;
}

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

std::string Script::piece(const Text& text) { return in_quotes(text.words) + " noenhanced"; }
std::string Script::piece(const LineText& text) { return in_quotes(text.words); }
std::string Script::piece(const TicText& text) { return in_quotes(as_format(text.words)); }

Script& Script::block(const Script& name, const std::vector<std::vector<double>>& rows) {
    add("${} << END_OF_DATA\n", name);
    for (const std::vector<double>& row : rows) {
        for (std::size_t k = 0; k < row.size(); ++k) {
            if (k > 0) text_ += ' ';
            text_ += std::isfinite(row[k]) ? fmt::format("{:.15g}", row[k]) : "NaN";
        }
        text_ += '\n';
    }
    return add("END_OF_DATA\n");
}

Script& Script::plot(const std::vector<Script>& curves) {
    return curves.empty() ? *this : add("plot {}\n", joined(curves));
}

Script joined(const std::vector<Script>& scripts) {
    Script all;
    for (const Script& script : scripts) {
        if (!all.empty()) all.add(", ");
        all.add(script);
    }
    return all;
}

LabelRoom room_on(const Canvas& canvas) {
    // A letter is about 0.65 times as wide as it is high. Beside a line of the key stand the axis's numbers and the
    // line's sample; what stands beside the axis to the left has the picture's height less that of the key.
    constexpr double kOfWidth = 1.05;
    constexpr double kOfHeight = 1.15;
    constexpr double kNarrow = 36.0;  // letters' heights
    const Sheet sheet = sheet_of(canvas);
    const auto room = [](double letters) { return std::max<std::size_t>(12, static_cast<std::size_t>(letters)); };
    return {room(kOfWidth * sheet.letters_wide), room(kOfHeight * sheet.letters_high), sheet.letters_wide < kNarrow};
}

Canvas with_key(const Canvas& canvas, std::size_t lines) {
    constexpr std::size_t kInStyle = 2;  // that a style's height has room for
    constexpr double kLine = 1.4;        // heights of letters
    if (canvas.style == FigureStyle::kScreen || canvas.size || lines <= kInStyle) return canvas;
    const Print& print = print_of(canvas.style);
    const double more = kLine * static_cast<double>(lines - kInStyle) * canvas.font_size.value_or(print.font);
    Canvas higher = canvas;
    higher.size = FigureSize{print.width, print.height + more / kPointsPerInch, false};
    return higher;
}

Script figure_head(const std::string& title, const Canvas& canvas) {
    const Sheet sheet = sheet_of(canvas);
    Script script("set terminal {}\nset encoding utf8\n", sheet.terminal);
    // gnuplot cuts what is wider than the picture, and puts the middle of a title over that of the axes, which labels
    // beside them push to the left.
    constexpr double kTitleWidth = 1.32;
    constexpr double kOnSmallScreens = 60.0 / 42.0;
    const double per_width = canvas.small ? kOnSmallScreens : kTitleWidth;
    Script lines;
    const auto letters = static_cast<std::size_t>(per_width * sheet.letters_wide);
    for (const std::string& line : broken_into_lines(canvas.title_of(title), std::max<std::size_t>(letters, 8))) {
        if (!lines.empty()) lines.add(".\"\\n\".");
        lines.add("{}", LineText{line});
    }
    if (!lines.empty()) script.add("set title {} noenhanced offset 0,0.3\n", lines);
    if (!canvas.note.empty() && !lines.empty() && canvas.style == FigureStyle::kScreen) {
        script.add("set label 1 {} noenhanced at screen 0.995,0.987 right font \",11\" textcolor rgb \"#707070\"\n",
                   Text{canvas.note});
    }
    script.add("set border 3 linecolor rgb \"#404040\"\nset tics nomirror textcolor rgb \"#202020\"\n");
    script.add("set format xy \"%.6g\"\n");
    if (canvas.style != FigureStyle::kScreen) script.add("set tics scale 0.6,0.3\nset errorbars 0.4\n");
    return script;
}

std::string drawn_by_gnuplot(const Script& script, const std::string& name) {
    ChildProcess gnuplot({"gnuplot", "--default-settings", "-"},
                         "figures are drawn by gnuplot, which is not installed; apt-get install gnuplot-nox");
    // It is given no name of a file, and ignores that a disk is full: what it draws comes through memory. What it says
    // about fonts and the like is of no use.
    const bool sent = gnuplot.write(script.text());
    const int status = gnuplot.wait();
    std::string drawn = gnuplot.output();
    if (!sent || status != 0 || !is_whole(drawn)) {
        throw SystemError(fmt::format("gnuplot could not draw {} (status {})", name, status));
    }
    return is_svg(drawn) ? with_texts_as_given(std::move(drawn)) : drawn;
}

void run_gnuplot(const Script& script, const std::string& path, bool replace) {
    const std::string drawn = drawn_by_gnuplot(script, path);
    ReplacementFile figure(path, replace);
    figure.write(drawn);
    figure.commit();
}

}  // namespace carom
