#include <cmath>
#include <cstddef>
#include <vector>

#include "host/plot/image.hpp"
#include "host/plot/letters.hpp"

namespace carom {

namespace {

/// One letter: strokes set apart by spaces, each a kind and then points of two hexadecimal digits, x and y (y up).
/// The base line is y = 3, small letters end at 9, capitals at 13, tails at 0. Kinds: '-' straight from point to
/// point, '~' a smooth curve through the points, 'o' the same, closed.
struct Glyph {
    char letter;
    int width;
    const char* strokes;
};

constexpr float kCapital = 10.0f;  // height of a capital in glyph units
constexpr float kBase = 3.0f;
constexpr float kGap = 2.6f;  // between letters, glyph units
constexpr float kSpace = 5.0f;
constexpr float kPen = 1.25f;  // width of a stroke, glyph units

constexpr Glyph kGlyphs[] = {
    {'0', 6, "o3d1b08153355685b"},
    {'1', 4, "-0b2d23"},
    {'2', 6, "~0a1c3d5c6a5803 -0363"},
    {'3', 6, "~0c2d4d6b5928 ~28586654331304"},
    {'4', 6, "-434d0666"},
    {'5', 6, "-5d1d08 ~0829496765432304"},
    {'6', 6, "o3918061433546658 ~5d2c0806"},
    {'7', 6, "-0d6d23"},
    {'8', 6, "o3d1c1938595c o380704336467"},
    {'9', 6, "o37586a5c3d1c0a18 ~1344686a"},
    {'a', 5, "~58391806143354 -5953"},
    {'b', 5, "-0d03 ~08294856442304"},
    {'c', 5, "~58391806143354"},
    {'d', 5, "-5d53 ~58391806143354"},
    {'e', 5, "-0656 ~5658391806143354"},
    {'f', 3, "~4d2d1b19 -1913 -0939"},
    {'g', 5, "-5952 ~52402001 ~58391806143354"},
    {'h', 5, "-0d03 ~07294957 -5753"},
    {'i', 0, "-0903 -0c0c"},
    {'j', 1, "-1912 ~1200 -1c1c"},
    {'k', 4, "-0d03 -4905 -2743"},
    {'l', 0, "-0d03"},
    {'m', 8, "-0903 ~07193947 -4743 ~47597987 -8783"},
    {'n', 5, "-0903 ~07294957 -5753"},
    {'o', 6, "o3918061433546658"},
    {'p', 5, "-0900 ~08294856442304"},
    {'q', 5, "-5950 ~58391806143354"},
    {'r', 3, "-0903 ~061839"},
    {'s', 5, "~58391817365443231304"},
    {'t', 3, "-1c15 ~152333 -0939"},
    {'u', 5, "-0905 ~05133355 -5953"},
    {'v', 4, "-092349"},
    {'w', 8, "-0923496389"},
    {'x', 4, "-0943 -4903"},
    {'y', 4, "-0923 -4910"},
    {'z', 4, "-09490343"},
    {'A', 6, "-033d63 -1656"},
    {'B', 6, "-33030d3d -0838 ~3d5c5938 ~38676433"},
    {'C', 6, "~6b4d2d0a06234365"},
    {'D', 6, "-2d0d0323 ~2d5c685423"},
    {'E', 5, "-5d0d0353 -0848"},
    {'F', 5, "-5d0d03 -0848"},
    {'G', 6, "~6b4d2d0a06234365 -656848"},
    {'H', 6, "-0d03 -6d63 -0868"},
    {'I', 0, "-0d03"},
    {'J', 4, "-4d46 ~46331305"},
    {'K', 6, "-0d03 -6d07 -2963"},
    {'L', 5, "-0d0353"},
    {'M', 8, "-030d468d83"},
    {'N', 6, "-030d636d"},
    {'O', 6, "o3d1c08143354685c"},
    {'P', 6, "-030d3d -3808 ~3d6c6938"},
    {'Q', 6, "o3d1c08143354685c -4663"},
    {'R', 6, "-030d3d -3808 ~3d6c6938 -3863"},
    {'S', 6, "~6b4d2d0b195765432305"},
    {'T', 6, "-0d6d -3d33"},
    {'U', 6, "-0d06 ~06135366 -666d"},
    {'V', 6, "-0d336d"},
    {'W', 8, "-0d234d638d"},
    {'X', 6, "-0d63 -6d03"},
    {'Y', 6, "-0d386d -3833"},
    {'Z', 6, "-0d6d0363"},
    {'.', 0, "-0303"},
    {',', 1, "-1301"},
    {':', 0, "-0404 -0808"},
    {';', 1, "-1301 -1818"},
    {'-', 4, "-0747"},
    {'+', 6, "-0767 -3a34"},
    {'=', 6, "-0969 -0565"},
    {'/', 5, "-025e"},
    {'(', 2, "~2e0a0622"},
    {')', 2, "~0e2a2602"},
    {'[', 2, "-2e0e0222"},
    {']', 2, "-0e2e2202"},
    {'%', 8, "o1d0b192b -8d03 o77657385"},
    {'_', 6, "-0161"},
    {'*', 4, "-2d27 -0b49 -4b09"},
    {'^', 4, "-0a2d4a"},
    {'\'', 0, "-0d0a"},
    {'"', 3, "-0d0a -3d3a"},
    {'#', 6, "-1d13 -5d53 -0a6a -0666"},
    {'<', 5, "-5a0653"},
    {'>', 5, "-0a5603"},
    {'!', 0, "-0d06 -0303"},
    {'?', 5, "~0b1d4d5b3826 -2323"},
    {'&', 7, "~73082b3d4b3904133375"},
    {'|', 0, "-0e01"},
};

/// Every stroke has a kind and whole points.
constexpr bool well_formed(const char* strokes) {
    while (true) {
        const char kind = *strokes++;
        if (kind != '-' && kind != '~' && kind != 'o') return false;
        int digits = 0;
        for (; *strokes != '\0' && *strokes != ' '; ++strokes, ++digits) {
            const bool hexadecimal = (*strokes >= '0' && *strokes <= '9') || (*strokes >= 'a' && *strokes <= 'e');
            if (!hexadecimal) return false;
        }
        if (digits < 4 || digits % 2 != 0) return false;
        if (*strokes++ == '\0') return true;
    }
}

constexpr bool all_well_formed() {
    for (const Glyph& glyph : kGlyphs) {
        if (!well_formed(glyph.strokes)) return false;
    }
    return true;
}
static_assert(all_well_formed());

const Glyph& glyph_of(char letter) {
    const Glyph* unknown = &kGlyphs[0];
    for (const Glyph& glyph : kGlyphs) {
        if (glyph.letter == letter) return glyph;
        if (glyph.letter == '?') unknown = &glyph;
    }
    return *unknown;
}

float digit(char c) { return static_cast<float>(c <= '9' ? c - '0' : c - 'a' + 10); }

/// A Catmull-Rom spline's point between b and c.
Point spline(Point a, Point b, Point c, Point d, float t) {
    const auto mix = [t](float p, float q, float r, float s) {
        return 0.5f * (2.0f * q + (r - p) * t + (2.0f * p - 5.0f * q + 4.0f * r - s) * t * t +
                       (3.0f * q - p - 3.0f * r + s) * t * t * t);
    };
    return {mix(a.x, b.x, c.x, d.x), mix(a.y, b.y, c.y, d.y)};
}

std::vector<Point> smoothed(const std::vector<Point>& points, bool closed) {
    constexpr int kPieces = 6;
    const auto count = static_cast<std::ptrdiff_t>(points.size());
    const auto at = [&](std::ptrdiff_t k) {
        if (closed) return points[static_cast<std::size_t>((k + count) % count)];
        return points[static_cast<std::size_t>(k < 0 ? 0 : (k >= count ? count - 1 : k))];
    };
    std::vector<Point> line{points.front()};
    for (std::ptrdiff_t k = 0; k < (closed ? count : count - 1); ++k) {
        for (int piece = 1; piece <= kPieces; ++piece) {
            line.push_back(spline(at(k - 1), at(k), at(k + 1), at(k + 2), static_cast<float>(piece) / kPieces));
        }
    }
    return line;
}

void add_glyph(std::vector<Stroke>& strokes, Point at, float scale, const Glyph& glyph) {
    for (const char* c = glyph.strokes; *c != '\0';) {
        const char kind = *c++;
        std::vector<Point> points;
        for (; *c != '\0' && *c != ' '; c += 2) {
            points.push_back({at.x + scale * digit(c[0]), at.y - scale * (digit(c[1]) - kBase)});
        }
        if (*c == ' ') ++c;
        const std::vector<Point> line = kind == '-' ? points : smoothed(points, kind == 'o');
        for (std::size_t k = 1; k < line.size(); ++k) strokes.push_back({line[k - 1], line[k]});
    }
}

}  // namespace

std::vector<Stroke> text_strokes(Point at, float height, std::string_view text) {
    std::vector<Stroke> strokes;
    const float scale = height / kCapital;
    for (const char letter : text) {
        if ((static_cast<unsigned char>(letter) & 0xC0) == 0x80) continue;  // the rest of a UTF-8 character
        if (letter == ' ') {
            at.x += scale * kSpace;
            continue;
        }
        const Glyph& glyph = glyph_of(letter);
        add_glyph(strokes, at, scale, glyph);
        at.x += scale * (static_cast<float>(glyph.width) + kGap);
    }
    return strokes;
}

float stroke_width(float height) { return height / kCapital * kPen; }

void draw_text(Image& image, Point at, float height, std::string_view text, const Color& color) {
    if (Letters::there()) {
        Letters().set(at, height, text, [&](int x, int y, int width, float coverage) {
            for (int k = 0; k < width; ++k) image.blend(x + k, y, color, coverage);
        });
        return;
    }
    for (const Stroke& stroke : text_strokes(at, height, text)) {
        draw_line(image, stroke.from, stroke.to, stroke_width(height), color);
    }
}

float strokes_width(float height, std::string_view text) {
    float width = 0.0f;
    for (const char letter : text) {
        if ((static_cast<unsigned char>(letter) & 0xC0) == 0x80) continue;
        width += letter == ' ' ? kSpace : static_cast<float>(glyph_of(letter).width) + kGap;
    }
    return width * height / kCapital;
}

}  // namespace carom
