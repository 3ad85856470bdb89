#include "host/plot/gnuplot.hpp"

#include <cctype>
#include <cmath>
#include <filesystem>
#include <string_view>

#include "host/io/child_process.hpp"
#include "host/io/replacement.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

namespace fs = std::filesystem;

/// Ends a string in single quotes and goes on with it behind a single quote, for which gnuplot 5.4 does not take two of
/// them at a string's start.
constexpr std::string_view kQuote = "'.\"'\".'";

// In double quotes gnuplot runs what stands in backquotes, and knows escapes; in single quotes it knows nothing.
std::string in_quotes(std::string_view text) {
    std::string result = "'";
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (std::isspace(code) != 0) {
            result += ' ';
        } else if (std::iscntrl(code) != 0) {
            throw InputError(fmt::format("a text with the control character \\x{:02x} cannot stand in a figure", code));
        } else {
            result += c == '\'' ? kQuote : std::string_view(&c, 1);
        }
    }
    return result + "'";
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

Script terminal(const Canvas& canvas) {
    const std::string ending = fs::path(canvas.path).extension().string();
    if (ending == ".png") return Script("pngcairo size 1200,760 font \"sans,14\" linewidth 1.2");
    if (ending == ".svg") {
        return Script("svg size {} dynamic font \"sans,18\" background \"#ffffff\" linewidth 1.2",
                      canvas.small ? Word("760,560") : Word("1200,760"));
    }
    if (ending == ".pdf") return Script("pdfcairo size 8in,5in font \"sans,12\" linewidth 1.2");
    throw InputError(canvas.path + ": figures end in .png, .svg or .pdf");
}

/// Whether a picture ends as one of its format does.
bool is_whole(std::string_view picture) {
    while (!picture.empty() && std::isspace(static_cast<unsigned char>(picture.back())) != 0) picture.remove_suffix(1);
    if (picture.starts_with("\x89PNG")) return picture.ends_with("IEND\xae\x42\x60\x82");
    if (picture.starts_with("%PDF")) return picture.ends_with("%%EOF");
    return picture.ends_with("</svg>");
}

}  // namespace

std::string Script::piece(const Text& text) { return in_quotes(text.words) + " noenhanced"; }
std::string Script::piece(const TicText& text) { return in_quotes(text.words); }

Script& Script::block(const Script& name, const std::vector<std::vector<double>>& rows) {
    add("${} << END_OF_DATA\n", name);
    for (const std::vector<double>& row : rows) {
        for (std::size_t k = 0; k < row.size(); ++k) {
            if (k > 0) text_ += ' ';
            text_ += std::isfinite(row[k]) ? fmt::format("{:.12g}", row[k]) : "NaN";
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

Script figure_head(const std::string& title, const Canvas& canvas) {
    Script script("set terminal {}\nset encoding utf8\n", terminal(canvas));
    const std::size_t letters = canvas.small                    ? kTitleLettersOnSmallScreens
                                : canvas.path.ends_with(".pdf") ? kTitleLettersInPdf
                                                                : kTitleLetters;
    Script lines;
    for (const std::string& line : broken_into_lines(title, letters)) {
        if (!lines.empty()) lines.add(".\"\\n\".");
        lines.add("{}", TicText{line});
    }
    if (!lines.empty()) script.add("set title {} noenhanced offset 0,0.3\n", lines);
    script.add("set border 3 linecolor rgb \"#404040\"\nset tics nomirror textcolor rgb \"#202020\"\n");
    script.add("set format xy \"%.6g\"\n");
    return script;
}

void run_gnuplot(const Script& script, const std::string& path) {
    ReplacementFile figure(path);  // an older one stays until this one is whole
    ChildProcess gnuplot({"gnuplot", "--default-settings", "-"},
                         "figures are drawn by gnuplot, which is not installed; apt-get install gnuplot-nox");
    // It is given no name of a file, and ignores that a disk is full: what it draws comes through memory. What it says
    // about fonts and the like is of no use.
    const bool sent = gnuplot.write(script.text());
    const int status = gnuplot.wait();
    const std::string drawn = gnuplot.output();
    if (!sent || status != 0 || !is_whole(drawn)) {
        throw SystemError(fmt::format("gnuplot could not draw {} (status {})", path, status));
    }
    figure.write(drawn);
    figure.commit();
}

}  // namespace carom
