#pragma once

#include <fmt/format.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace carom {

/// Anybody's words in a figure: shown as they are, without gnuplot's markup in them. Tabs and new lines become spaces.
struct Text {
    std::string words;
};
/// The same of a label in several lines, behind which markup is switched off once.
struct LineText {
    std::string words;
};
/// The same of a label in a list of tics: there markup is switched off for all of them, and a label is a format.
struct TicText {
    std::string words;
};
/// A word of gnuplot's language that the program chooses: a literal.
struct Word {
    const char* text;
    consteval Word(const char* literal) : text(literal) {}  // NOLINT: a literal is one
};

class Script;
template <class Part>
concept ScriptPart = std::is_arithmetic_v<Part> || std::same_as<Part, Text> || std::same_as<Part, LineText> ||
    std::same_as<Part, TicText> || std::same_as<Part, Word> || std::same_as<Part, Script>;

/// A stranger's text as it stands in a figure, or in the table of one, which may go to a terminal: white space as
/// blanks, bytes that are no UTF-8 as \xNN. \throws InputError  it holds a control character
std::string figure_text(std::string_view text);

/// Commands for gnuplot. Only literals, numbers and Texts make them, so that nothing of a stranger's file can stand in
/// them unquoted: in double quotes, or in none, gnuplot would run it.
class Script {
public:
    Script() = default;
    /// As `add`.
    template <std::size_t N, ScriptPart... Parts>
    explicit Script(const char (&form)[N], const Parts&... parts) {
        add(form, parts...);
    }

    /// \param form   gnuplot's words, with {} for each of the parts as fmt has it
    /// \param parts  numbers, Words, Texts, other scripts
    /// \throws InputError  a Text holds a control character
    template <std::size_t N, ScriptPart... Parts>
    Script& add(const char (&form)[N], const Parts&... parts) {
        text_ += fmt::format(fmt::runtime(form), piece(parts)...);
        return *this;
    }
    Script& add(const Script& other) {
        text_ += other.text_;
        return *this;
    }
    /// A block of numbers, a line a row, that plots read as $name.
    Script& block(const Script& name, const std::vector<std::vector<double>>& rows);
    /// Plots one over the other; none draws nothing.
    Script& plot(const std::vector<Script>& curves);

    [[nodiscard]] bool empty() const { return text_.empty(); }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    template <class Number>
    requires std::integral<Number> || std::floating_point<Number>
    static Number piece(Number number) { return number; }
    static std::string piece(const Text& text);
    static std::string piece(const LineText& text);
    static std::string piece(const TicText& text);
    static const char* piece(Word word) { return word.text; }
    static const std::string& piece(const Script& script) { return script.text_; }

    std::string text_;
};

/// Scripts with ", " between them.
Script joined(const std::vector<Script>& scripts);

/// How large a figure and its letters are: for screens, or to be printed as wide as a column of a journal or as two.
enum class FigureStyle : std::uint8_t { kScreen, kOneColumn, kTwoColumns };
inline constexpr std::array<std::string_view, 3> kFigureStyles{"screen", "one-column", "two-column"};

/// Width and height of a figure: pixels, or inches.
struct FigureSize {
    double width = 0.0;
    double height = 0.0;
    bool pixels = true;
};

/// What a figure is drawn on.
struct Canvas {
    std::string path;  ///< its ending chooses .png, .svg or .pdf
    bool small =
        false;  ///< an .svg for a page that is read on small screens too: fewer units wide, so letters are larger
    FigureStyle style = FigureStyle::kScreen;
    std::optional<FigureSize> size = std::nullopt;    ///< none: the style's
    std::optional<double> font_size = std::nullopt;   ///< [1/72 in; in pixels, pixels]; none: the style's
    std::optional<std::string> title = std::nullopt;  ///< in the place of the figure's own; empty: none
    std::string note = {};                            ///< in a corner, small, of figures for screens that have titles

    Canvas(const char* file) : path(file) {}  // NOLINT: a file is one
    Canvas(std::string file, bool on_small = false) : path(std::move(file)), small(on_small) {}  // NOLINT: as above

    /// What stands above a figure that calls itself so. Printed figures have captions, and no titles unless one is
    /// asked for.
    [[nodiscard]] std::string title_of(const std::string& own) const {
        return title.value_or(style == FigureStyle::kScreen ? own : "");
    }
};

/// How many letters a line has room for: below a figure, in its key; and beside it.
struct LabelRoom {
    std::size_t across = 1000;
    std::size_t up = 1000;
    bool narrow = false;  ///< for two labels beside each other, or many numbers along the axis
};
LabelRoom room_on(const Canvas& canvas);

/// A canvas that is higher by so many lines of the key, where its height is a printed style's own: the axes keep
/// theirs.
Canvas with_key(const Canvas& canvas, std::size_t lines);

/// Lines of at most so many letters, broken behind the space between words, and within a word only if it fills a line
/// by itself. Together they are the text.
std::vector<std::string> broken_into_lines(std::string_view text, std::size_t most);

/// The commands that every figure begins with: the file's format, the title, in as many lines as it needs, lines and
/// letters.
/// \throws InputError  an ending that is not .png, .svg or .pdf; or a size in pixels of what has none
Script figure_head(const std::string& title, const Canvas& canvas);

/// Runs gnuplot on a script. Returns the picture, as it would stand in a file. \param name  of it, for messages
/// \throws SystemError  gnuplot is not installed, or fails
std::string drawn_by_gnuplot(const Script& script, const std::string& name);

/// The same, into a file. \param replace  one that is there; else that, too, if it came only while this was drawn
/// \throws SystemError  as above; or the file cannot be written
/// \throws InputError   there is a file, and it may not be replaced
void run_gnuplot(const Script& script, const std::string& path, bool replace);

}  // namespace carom
