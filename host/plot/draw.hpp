#pragma once

#include <string_view>
#include <vector>

#include "host/plot/image.hpp"

namespace carom {

/// A point in pixels; (0, 0) is the picture's upper left corner, y points down.
struct Point {
    float x = 0.0f;
    float y = 0.0f;
};

/// A filled disk with a smooth edge. One smaller than a pixel keeps its area by being fainter.
void draw_disk(Image& image, Point center, float radius, const Color& color);

/// A ball lit from the upper left; `fade` mixes it towards `haze` with distance.
void draw_sphere(Image& image, Point center, float radius, const Color& color, float fade, const Color& haze);

/// A line with round ends.
void draw_line(Image& image, Point from, Point to, float width, const Color& color);

/// The line of a circle.
void draw_circle(Image& image, Point center, float radius, float width, const Color& color);

void fill_rectangle(Image& image, Point from, Point to, const Color& color);

/// Text in a stroke font of its own, so that pictures need no fonts installed. ASCII; other characters become '?'.
/// \param at      where the text's base line starts
/// \param height  of a capital letter [pixels]
void draw_text(Image& image, Point at, float height, std::string_view text, const Color& color);

/// A straight piece of a letter's stroke, with round ends.
struct Stroke {
    Point from;
    Point to;
};

/// What draw_text draws, for whoever draws lines by other means.
std::vector<Stroke> text_strokes(Point at, float height, std::string_view text);

/// How thick the strokes of a text are [pixels].
float stroke_width(float height);

/// How wide draw_text makes it [pixels].
float text_width(float height, std::string_view text);

}  // namespace carom
