#pragma once

#include <memory>
#include <string>

namespace carom {

/// The OpenGL version that the renderer is written for.
constexpr int kGlMajor = 4;
constexpr int kGlMinor = 5;

/// An OpenGL context without a window, a display or an X server, current on the thread that made it. Hardware is
/// preferred to software. libEGL is opened when the first one is made.
class EglContext {
public:
    /// \throws SystemError  there is no EGL, or no OpenGL 4.5: says what was found
    EglContext();
    ~EglContext();
    EglContext(const EglContext&) = delete;
    EglContext& operator=(const EglContext&) = delete;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

/// "4.5 (Core Profile) Mesa 22.3.6, llvmpipe" of the current context.
std::string gl_description();

}  // namespace carom
