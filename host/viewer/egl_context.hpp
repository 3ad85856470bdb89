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

/// Whether the current context draws with the processor alone.
bool software_gl();

/// Software drivers ask for tens of megabytes for each picture and give them back. Where the current context has one,
/// the C library keeps such memory from now on: measured with 100,000 disks, a picture takes 0.8 of the time.
void keep_memory_of_software_gl();

/// "4.5 (Core Profile) Mesa 22.3.6, llvmpipe" of the current context.
std::string gl_description();

}  // namespace carom
