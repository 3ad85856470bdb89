#include "host/state/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "host/state/errors.hpp"

namespace carom {

std::string read_text_file(const std::string& path) {
    constexpr std::size_t kMost = std::size_t{1} << 30;  // bytes; a device may have no end
    // Part by part: `<< file.rdbuf()` would take a failure on the way, or the end of memory, for the end of the file.
    std::ifstream file(path, std::ios::binary);
    std::string text;
    std::array<char, 1 << 16> part;
    while (file.read(part.data(), part.size()), file.gcount() > 0) {
        text.append(part.data(), static_cast<std::size_t>(file.gcount()));
        if (text.size() > kMost) throw InputError(path + ": is larger than any text that is read (1 GB)");
    }
    if (!file.is_open() || file.bad()) {
        throw SystemError(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
    }
    return text;
}

std::size_t character_bytes(std::string_view text) {
    const auto first = static_cast<unsigned char>(text[0]);
    if (first < 0x80) return 1;
    const std::size_t length = first >= 0xF0 ? 4 : (first >= 0xE0 ? 3 : 2);
    if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
    for (std::size_t k = 1; k < length; ++k) {
        if ((static_cast<unsigned char>(text[k]) & 0xC0U) != 0x80) return 0;
    }
    const auto second = static_cast<unsigned char>(text[1]);
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F)) return 0;
    if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) return 0;
    if (text.starts_with("\xEF\xBF\xBE") || text.starts_with("\xEF\xBF\xBF")) return 0;
    return length;
}

namespace {

/// Of a character that character_bytes() has measured.
char32_t code_point(std::string_view text, std::size_t bytes) {
    constexpr unsigned char kOfFirst[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    char32_t code = static_cast<unsigned char>(text[0]) & kOfFirst[bytes];
    for (std::size_t k = 1; k < bytes; ++k) code = code << 6U | (static_cast<unsigned char>(text[k]) & 0x3fU);
    return code;
}

/// Cannot be seen and makes a line look other than it is: turns its direction, ends it, or hides in a name. The joiners
/// (200c, 200d) are not among them: scripts are written with them.
bool is_deceptive(char32_t code) {
    struct Range {
        char32_t first, last;
    };
    static constexpr Range kRanges[] = {{0x61c, 0x61c},   {0x200b, 0x200b}, {0x200e, 0x200f},  {0x2028, 0x202e},
                                        {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xe0000, 0xe007f}};
    return std::ranges::any_of(kRanges, [&](const Range& range) { return code >= range.first && code <= range.last; });
}

}  // namespace

std::string visible(std::string_view text, bool with_deceptive) {
    std::string result;
    while (!text.empty()) {
        const std::size_t bytes = character_bytes(text);
        const char32_t code = bytes == 0 ? static_cast<unsigned char>(text[0]) : code_point(text, bytes);
        if (bytes == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0)) {
            result += fmt::format("\\x{:02x}", static_cast<unsigned>(code));
        } else if (with_deceptive && is_deceptive(code)) {
            result += fmt::format("\\u{{{:x}}}", static_cast<unsigned>(code));
        } else {
            result += text.substr(0, bytes);
        }
        text.remove_prefix(std::max<std::size_t>(bytes, 1));
    }
    return result;
}

std::string as_format(std::string_view words) {
    std::string format;
    for (const char letter : words) format.append(letter == '%' ? 2 : 1, letter);
    return format;
}

std::string stripped(std::string_view text) {
    const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return std::string(text);
}

std::string_view file_kind(std::string_view begin) {
    struct Magic {
        std::string_view bytes;
        std::string_view kind;
    };
    static constexpr Magic kMagic[] = {
        {"\x89HDF\r\n\x1a\n", "an HDF5 file, as trajectories and checkpoints are"},
        {"\x89PNG", "a picture (PNG)"},
        {"%PDF", "a PDF document"},
        {"\x1f\x8b", "compressed (gzip)"},
        {"PK\x03\x04", "a ZIP archive"},
        {"\x7f"
         "ELF",
         "a program"},
        {"<!DOCTYPE html", "an HTML page"},
        {"<!doctype html", "an HTML page"},
        {"<?xml", "an XML file"},
        {"<svg", "a picture (SVG)"},
        {"{", "a JSON file"},
    };
    if (begin.empty()) return "empty";
    for (const Magic& magic : kMagic) {
        if (begin.starts_with(magic.bytes)) return magic.kind;
    }
    if (begin.find('\0') != std::string_view::npos) return "a binary file";
    // The first line that is no comment tells tables of TOML, and names of columns, from the rest.
    while (begin.starts_with('#') || begin.starts_with('\n')) {
        const auto end = begin.find('\n');
        if (end == std::string_view::npos) return "";
        begin.remove_prefix(end + 1);
    }
    const std::string_view line = begin.substr(0, begin.find('\n'));
    if (line.starts_with('[') || line.find('=') != std::string_view::npos) return kTomlKind;
    if (line.find(',') != std::string_view::npos) return "a CSV table";
    return "";
}

std::string column_without_unit(const std::string& name) {
    const auto bracket = name.rfind(" [");
    return bracket != std::string::npos && bracket > 0 && name.ends_with("]") ? name.substr(0, bracket) : name;
}

bool nests_too_deep(std::string_view json) {
    constexpr int kMost = 32;
    int depth = 0;
    bool in_text = false;
    for (std::size_t at = 0; at < json.size(); ++at) {
        const char c = json[at];
        if (in_text && c == '\\') {
            ++at;
        } else if (c == '"') {
            in_text = !in_text;
        } else if (!in_text && (c == '[' || c == '{') && ++depth > kMost) {
            return true;
        } else if (!in_text && (c == ']' || c == '}')) {
            --depth;
        }
    }
    return false;
}

namespace {

/// Damerau-Levenshtein distance (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
    }
    return d[a.size()][b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates, std::size_t slips) {
    constexpr std::size_t kLongest = 100;
    std::string_view nearest;
    std::size_t least = std::max(slips, name.size() / 3) + 1;  // farther than this is no misspelling
    for (const std::string_view candidate : candidates) {
        // The distance takes time and memory as the product of the lengths, and a stranger's names may be long.
        const std::size_t longer = std::max(name.size(), candidate.size());
        if (longer > kLongest || longer - std::min(name.size(), candidate.size()) >= least) continue;
        const std::size_t distance = edit_distance(name, candidate);
        if (distance < least && distance < candidate.size()) {
            least = distance;
            nearest = candidate;
        }
    }
    return nearest;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
    const std::vector<std::string_view> views(candidates.begin(), candidates.end());
    const std::string_view best = nearest_name(word, views, 1);
    return best.empty() ? "" : "; did you mean " + std::string(best) + "?";
}

}  // namespace carom
