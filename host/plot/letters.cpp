#include "host/plot/letters.hpp"

#include <algorithm>
#include <cmath>

#include "host/state/errors.hpp"

#ifdef CAROM_HAVE_FONT
#define STB_TRUETYPE_IMPLEMENTATION
#define STBTT_STATIC
#include <stb_truetype.h>
#endif

namespace carom {

#ifdef CAROM_HAVE_FONT

namespace {

/// A font and what its letters have in common, in its units.
struct Face {
    stbtt_fontinfo font{};
    float capital = 0.0f;
    float small = 0.0f;  // height of an x

    Face() {
        const unsigned char* file = embedded_font().data();
        if (stbtt_InitFont(&font, file, stbtt_GetFontOffsetForIndex(file, 0)) == 0) {
            throw SystemError("the font that this build was given cannot be read");
        }
        capital = top_of('H');
        small = top_of('x');
    }
    [[nodiscard]] float top_of(int letter) const {
        int left = 0;
        int low = 0;
        int right = 0;
        int high = 0;
        stbtt_GetCodepointBox(&font, letter, &left, &low, &right, &high);
        return static_cast<float>(high);
    }
    [[nodiscard]] int glyph(char32_t letter) const {
        const int found = stbtt_FindGlyphIndex(&font, static_cast<int>(letter));
        return found != 0 ? found : stbtt_FindGlyphIndex(&font, '?');
    }
    /// [pixels]
    [[nodiscard]] float advance(char32_t letter, int pixels) const {
        int width = 0;
        int bearing = 0;
        stbtt_GetGlyphHMetrics(&font, glyph(letter), &width, &bearing);
        return static_cast<float>(width) * static_cast<float>(pixels) / capital;
    }
};

int whole_pixels(float height) {
    constexpr int kLeast = 4;
    return std::max(kLeast, static_cast<int>(std::lround(height)));
}

/// The next letter of UTF-8; what is none is a question mark.
char32_t take_letter(std::string_view& text) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t more = first < 0x80 ? 0 : first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 4;
    text.remove_prefix(1);
    if (more == 0) return first;
    if (more > 3 || text.size() < more) return '?';
    char32_t letter = first & (0x3FU >> more);
    for (std::size_t k = 0; k < more; ++k) letter = letter << 6U | (static_cast<unsigned char>(text[k]) & 0x3FU);
    text.remove_prefix(more);
    return letter;
}

/// Where a height of the outline goes so that feet and tops lie on rows of pixels, and round letters, which the font
/// has a little beyond, no farther. All in units of the font. \param row  of pixels
float on_rows(const Face& face, float y, float row) {
    constexpr float kRound = 0.03f;  // of a capital
    constexpr float kTall = 0.05f;   // that a 'd' is taller than a 'D'
    const float beyond = kRound * face.capital;
    const float tall = kTall * face.capital;
    const float small = row * std::round(face.small / row);
    if (y < -beyond) return y + beyond;
    if (y <= 0.0f) return 0.0f;
    if (y < face.small) return y * small / face.small;
    if (y <= face.small + beyond) return small;
    if (y < face.capital) {
        return small + (face.capital - small) * (y - face.small - beyond) / (face.capital - face.small - beyond);
    }
    return face.capital + std::max(0.0f, y - face.capital - tall);
}

}  // namespace

bool Letters::there() { return true; }

const std::vector<Letters::Run>& Letters::letter(char32_t letter, int capital, int quarter) {
    const auto [entry, fresh] = drawn_.try_emplace({letter, capital, quarter});
    std::vector<Run>& runs = entry->second;
    if (!fresh) return runs;
    const Face face;
    const float scale = static_cast<float>(capital) / face.capital;
    stbtt_vertex* corners = nullptr;
    const int count = stbtt_GetGlyphShape(&face.font, face.glyph(letter), &corners);
    float low = 0.0f;
    float high = 0.0f;
    float left = 0.0f;
    float right = 0.0f;
    for (int k = 0; k < count; ++k) {
        stbtt_vertex& corner = corners[k];
        corner.y = static_cast<short>(std::lround(on_rows(face, corner.y, 1.0f / scale)));
        corner.cy = static_cast<short>(std::lround(on_rows(face, corner.cy, 1.0f / scale)));
        low = std::min(low, static_cast<float>(corner.y));
        high = std::max(high, static_cast<float>(corner.y));
        left = std::min(left, static_cast<float>(corner.x));
        right = std::max(right, static_cast<float>(corner.x));
    }
    const float shift = 0.25f * static_cast<float>(quarter);
    const int x = static_cast<int>(std::floor(left * scale)) - 1;
    const int y = static_cast<int>(std::floor(-high * scale)) - 1;
    stbtt__bitmap picture{};
    picture.w = static_cast<int>(std::ceil(right * scale + shift)) + 1 - x;
    picture.h = static_cast<int>(std::ceil(-low * scale)) + 1 - y;
    picture.stride = picture.w;
    std::vector<unsigned char> pixels(static_cast<std::size_t>(picture.w) * static_cast<std::size_t>(picture.h));
    picture.pixels = pixels.data();
    constexpr float kFlatness = 0.2f;  // [pixels]
    if (count > 0) stbtt_Rasterize(&picture, kFlatness, corners, count, scale, scale, shift, 0.0f, x, y, 1, nullptr);
    stbtt_FreeShape(&face.font, corners);
    for (int row = 0; row < picture.h; ++row) {
        const std::size_t begin = static_cast<std::size_t>(row) * static_cast<std::size_t>(picture.w);
        for (int column = 0; column < picture.w;) {
            const auto at = [&](int k) { return pixels[begin + static_cast<std::size_t>(k)]; };
            int end = column + 1;
            while (end < picture.w && at(end) == at(column)) ++end;
            if (at(column) > 0) {
                runs.push_back({x + column, y + row, end - column, static_cast<float>(at(column)) / 255.0f});
            }
            column = end;
        }
    }
    return runs;
}

void Letters::set(Point at, float height, std::string_view text, const Ink& ink) {
    const Face face;
    const int capital = whole_pixels(height);
    const int base = static_cast<int>(std::lround(at.y));
    while (!text.empty()) {
        const char32_t next = take_letter(text);
        const int quarters = static_cast<int>(std::lround(4.0f * at.x));
        const int whole = static_cast<int>(std::floor(static_cast<float>(quarters) / 4.0f));
        for (const Run& run : letter(next, capital, quarters - 4 * whole)) {
            ink(whole + run.x, base + run.y, run.width, run.coverage);
        }
        at.x += face.advance(next, capital);
    }
}

float text_width(float height, std::string_view text) {
    const Face face;
    float width = 0.0f;
    while (!text.empty()) width += face.advance(take_letter(text), whole_pixels(height));
    return width;
}

#else

std::span<const unsigned char> embedded_font() { return {}; }
bool Letters::there() { return false; }
void Letters::set(Point /*at*/, float /*height*/, std::string_view /*text*/, const Ink& /*ink*/) {}
float text_width(float height, std::string_view text) { return strokes_width(height, text); }

#endif

std::string unit_text(const UnitNames& units, std::string_view unit) {
    std::string text = units.behind(unit);
    const bool plain =
        Letters::there() || std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    return plain && !unit.empty() ? text : "";
}

}  // namespace carom
