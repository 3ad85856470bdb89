#pragma once

#include "host/viewer/gl_objects.hpp"
#include "host/viewer/pixels.hpp"

namespace carom {

/// What one draws into without a window: colour and depth, `oversampling` times as fine in both directions as the
/// picture that comes out of it.
class OffscreenTarget {
public:
    /// \pre oversampling is 1 or 2: one reduction is the exact mean of four pixels
    /// \throws SystemError  the picture is larger than OpenGL allows here
    OffscreenTarget(int width, int height, int oversampling);

    [[nodiscard]] int width() const { return width_; }
    [[nodiscard]] int height() const { return height_; }
    [[nodiscard]] int oversampling() const { return oversampling_; }

    /// Draws go here from now on, at the fine size.
    void bind() const;
    /// Reduces to the picture's size; further draws go on top of that.
    void reduce() const;
    /// Copies the reduced picture to the lower left corner of another framebuffer (0: the window).
    void copy_to(GLuint framebuffer) const;
    /// The reduced picture.
    void read(Pixels& pixels) const;

private:
    int width_;
    int height_;
    int oversampling_;
    GlRenderbuffer fine_color_;
    GlRenderbuffer fine_depth_;
    GlFramebuffer fine_;
    GlRenderbuffer color_;
    GlFramebuffer reduced_;
};

}  // namespace carom
