#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace carom {

/// All that a file holds.
/// \throws SystemError  it cannot be read
std::string read_text_file(const std::string& path);

/// Bytes of the character of UTF-8 at the front, 0 if it is none (Unicode 15, table 3-7: no overlong forms, no
/// surrogates), nor are U+FFFE and U+FFFF, which XML forbids. \pre the text is not empty
std::size_t character_bytes(std::string_view text);

/// A text of somebody else's for a terminal or a comment, in one line: control characters, which would end the line or
/// command the terminal, and bytes that are no UTF-8, as \xNN; characters that turn the direction of what is written,
/// or hide in it, as \u{NNNN}. \param with_deceptive  false: leaves the latter as they are
std::string visible(std::string_view text, bool with_deceptive = true);

/// Somebody else's words where a format of printf is asked for: a per cent sign stands for itself.
std::string as_format(std::string_view words);

/// Without white space at its ends.
std::string stripped(std::string_view text);

/// What a file seems to be that begins so, in words that follow "is": "a CSV table"; empty where nobody knows.
std::string_view file_kind(std::string_view begin);
/// One of them: what scenes and sweeps are.
inline constexpr std::string_view kTomlKind = "a scene or another TOML file";

/// "angle" for "angle [deg]".
std::string column_without_unit(const std::string& name);

/// Arrays and objects of a JSON text lie in each other deeper than in any that carom writes: whoever goes down such a
/// tree may run out of stack.
bool nests_too_deep(std::string_view json);

/// The candidate that needs the fewest insertions, deletions, replacements and swaps of neighbours to become a misspelt
/// name; empty where none is near. As many as a third of its letters are near, and `slips` always.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates,
                              std::size_t slips = 2);

/// For words of a command line, of which many are short: "; did you mean X?" or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace carom
