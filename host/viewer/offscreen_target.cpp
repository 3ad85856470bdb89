#include "host/viewer/offscreen_target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "host/state/errors.hpp"

namespace carom {

OffscreenTarget::OffscreenTarget(int width, int height, int oversampling)
    : width_(width), height_(height), oversampling_(oversampling) {
    const int fine_width = width * oversampling;
    const int fine_height = height * oversampling;
    GLint largest = 0;
    glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &largest);
    if (std::max(fine_width, fine_height) > largest) {
        throw SystemError(fmt::format("a picture of {}x{} is too large for OpenGL here; allowed: up to {} pixels",
                                      width, height, largest / oversampling));
    }
    glNamedRenderbufferStorage(fine_color_.name(), GL_RGBA8, fine_width, fine_height);
    glNamedRenderbufferStorage(fine_depth_.name(), GL_DEPTH_COMPONENT32F, fine_width, fine_height);
    glNamedFramebufferRenderbuffer(fine_.name(), GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, fine_color_.name());
    glNamedFramebufferRenderbuffer(fine_.name(), GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, fine_depth_.name());
    glNamedRenderbufferStorage(color_.name(), GL_RGBA8, width, height);
    glNamedFramebufferRenderbuffer(reduced_.name(), GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, color_.name());
    for (const GLuint name : {fine_.name(), reduced_.name()}) {
        if (glCheckNamedFramebufferStatus(name, GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
            throw std::logic_error("OpenGL: incomplete framebuffer");
        }
    }
}

void OffscreenTarget::bind() const {
    glBindFramebuffer(GL_FRAMEBUFFER, fine_.name());
    glViewport(0, 0, width_ * oversampling_, height_ * oversampling_);
}

void OffscreenTarget::reduce() const {
    glBlitNamedFramebuffer(fine_.name(), reduced_.name(), 0, 0, width_ * oversampling_, height_ * oversampling_, 0, 0,
                           width_, height_, GL_COLOR_BUFFER_BIT, oversampling_ == 1 ? GL_NEAREST : GL_LINEAR);
    glBindFramebuffer(GL_FRAMEBUFFER, reduced_.name());
    glViewport(0, 0, width_, height_);
}

void OffscreenTarget::copy_to(GLuint framebuffer) const {
    glBlitNamedFramebuffer(reduced_.name(), framebuffer, 0, 0, width_, height_, 0, 0, width_, height_,
                           GL_COLOR_BUFFER_BIT, GL_NEAREST);
}

void OffscreenTarget::read(Pixels& pixels) const {
    pixels.width = width_;
    pixels.height = height_;
    const std::size_t row = 3 * static_cast<std::size_t>(width_);
    pixels.rgb.resize(row * static_cast<std::size_t>(height_));
    glBindFramebuffer(GL_READ_FRAMEBUFFER, reduced_.name());
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, width_, height_, GL_RGB, GL_UNSIGNED_BYTE, pixels.rgb.data());
    // OpenGL's rows come from the bottom.
    for (std::size_t y = 0; y < static_cast<std::size_t>(height_) / 2; ++y) {
        const auto upper = pixels.rgb.begin() + static_cast<std::ptrdiff_t>(y * row);
        const auto lower = pixels.rgb.end() - static_cast<std::ptrdiff_t>((y + 1) * row);
        std::swap_ranges(upper, upper + static_cast<std::ptrdiff_t>(row), lower);
    }
}

}  // namespace carom
