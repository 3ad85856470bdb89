#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace carom {

/// Anybody's words in a figure: shown as they are, without gnuplot's markup in them. Tabs and new lines become spaces.
struct Text {
    std::string words;
};
/// The same as a label in a list of tics, where gnuplot wants markup to be switched off for all of them.
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
concept ScriptPart = std::is_arithmetic_v<Part> || std::same_as<Part, Text> || std::same_as<Part, TicText> ||
    std::same_as<Part, Word> || std::same_as<Part, Script>;

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
    static std::string piece(const TicText& text);
    static const char* piece(Word word) { return word.text; }
    static const std::string& piece(const Script& script) { return script.text_; }

    std::string text_;
};

/// Scripts with ", " between them.
Script joined(const std::vector<Script>& scripts);

/// What a figure is drawn on.
struct Canvas {
    std::string path;  ///< its ending chooses .png, .svg or .pdf
    bool small =
        false;  ///< an .svg for a page that is read on small screens too: fewer units wide, so letters are larger

    Canvas(const char* file) : path(file) {}  // NOLINT: a file is one
    Canvas(std::string file, bool on_small = false) : path(std::move(file)), small(on_small) {}  // NOLINT: as above
};

/// The commands that every figure begins with: the file's format, the title, in as many lines as it needs, lines and
/// letters.
/// \throws InputError  an ending that is not .png, .svg or .pdf
Script figure_head(const std::string& title, const Canvas& canvas);

/// Runs gnuplot on a script that draws `path`.
/// \throws SystemError  gnuplot is not installed, or fails; or the file cannot be written
void run_gnuplot(const Script& script, const std::string& path);

}  // namespace carom
