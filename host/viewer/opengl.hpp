#pragma once

#include <glad/gl.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "host/plot/image.hpp"

namespace carom {

/// What OpenGL complains about, turned into an exception. Its callback may come from inside the driver, through which
/// no exception may pass; so the first complaint is kept, and thrown by check().
class GlErrors {
public:
    /// Listens to the current context from now on. \pre it is a debug context
    GlErrors();
    /// Stops listening. \pre the same context is current
    ~GlErrors();
    GlErrors(const GlErrors&) = delete;
    GlErrors& operator=(const GlErrors&) = delete;

    /// \throws std::logic_error  with OpenGL's own words, if there has been an error: a defect of this program
    void check();

    /// Only for the callback.
    void note(const char* message);

private:
    std::string first_;
};

/// Owns one name of OpenGL. `Kind` makes and deletes it.
template <class Kind>
class GlObject {
public:
    GlObject() : name_(Kind::make()) {}
    ~GlObject() {
        if (name_ != 0) Kind::remove(name_);
    }
    GlObject(GlObject&& other) noexcept : name_(std::exchange(other.name_, 0)) {}
    GlObject& operator=(GlObject&& other) noexcept {
        std::swap(name_, other.name_);
        return *this;
    }
    GlObject(const GlObject&) = delete;
    GlObject& operator=(const GlObject&) = delete;

    [[nodiscard]] GLuint name() const { return name_; }

private:
    GLuint name_;
};

struct BufferKind {
    static GLuint make() {
        GLuint name = 0;
        glCreateBuffers(1, &name);
        return name;
    }
    static void remove(GLuint name) { glDeleteBuffers(1, &name); }
};

struct VertexArrayKind {
    static GLuint make() {
        GLuint name = 0;
        glCreateVertexArrays(1, &name);
        return name;
    }
    static void remove(GLuint name) { glDeleteVertexArrays(1, &name); }
};

struct TextureKind {
    static GLuint make() {
        GLuint name = 0;
        glCreateTextures(GL_TEXTURE_2D, 1, &name);
        return name;
    }
    static void remove(GLuint name) { glDeleteTextures(1, &name); }
};

struct FramebufferKind {
    static GLuint make() {
        GLuint name = 0;
        glCreateFramebuffers(1, &name);
        return name;
    }
    static void remove(GLuint name) { glDeleteFramebuffers(1, &name); }
};

struct RenderbufferKind {
    static GLuint make() {
        GLuint name = 0;
        glCreateRenderbuffers(1, &name);
        return name;
    }
    static void remove(GLuint name) { glDeleteRenderbuffers(1, &name); }
};

using GlBuffer = GlObject<BufferKind>;
using GlVertexArray = GlObject<VertexArrayKind>;
using GlTexture = GlObject<TextureKind>;
using GlFramebuffer = GlObject<FramebufferKind>;
using GlRenderbuffer = GlObject<RenderbufferKind>;

/// A vertex and a fragment shader, by their file names in shaders/. What files share is put before them.
class GlProgram {
public:
    /// \param defines  names that the shaders ask for with #ifdef
    /// \throws std::logic_error  with the compiler's words
    GlProgram(std::string_view vertex, std::string_view fragment, std::initializer_list<std::string_view> defines = {});
    ~GlProgram();
    GlProgram(const GlProgram&) = delete;
    GlProgram& operator=(const GlProgram&) = delete;

    [[nodiscard]] GLuint name() const { return name_; }
    /// Where a uniform is; -1, which OpenGL ignores, for one that this program does not use.
    [[nodiscard]] GLint at(const char* uniform) const { return glGetUniformLocation(name_, uniform); }

private:
    GLuint name_ = 0;
};

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

/// What one draws into without a window: colour and depth, `oversampling` times as fine in both directions as the
/// picture that comes out of it.
class OffscreenTarget {
public:
    /// \pre oversampling is 1, 2 or 4: one reduction is the exact mean of four pixels
    /// \throws SystemError  the picture is larger than OpenGL allows here
    OffscreenTarget(int width, int height, int oversampling);

    [[nodiscard]] int width() const { return width_; }
    [[nodiscard]] int height() const { return height_; }
    [[nodiscard]] int oversampling() const { return oversampling_; }

    /// Draws go here from now on, at the fine size.
    void bind() const;
    /// Draws go to the same colours without depths, which may then be read.
    void bind_colors() const;
    /// A texture, of the fine size.
    [[nodiscard]] GLuint depths() const { return fine_depth_.name(); }
    /// Reduces to the picture's size; further draws go on top of that.
    void reduce() const;
    /// Copies the reduced picture to the lower left corner of another framebuffer (0: the window).
    void copy_to(GLuint framebuffer) const;
    /// The reduced picture.
    /// \param opacities  too: what has been drawn over nothing keeps its colour
    void read(Pixels& pixels, bool opacities = false) const;

private:
    int width_;
    int height_;
    int oversampling_;
    GlRenderbuffer fine_color_;
    GlTexture fine_depth_;
    GlFramebuffer fine_;
    GlFramebuffer fine_colors_;
    GlRenderbuffer half_color_;  // of 4: between the fine size and the picture's
    GlFramebuffer half_;
    GlRenderbuffer color_;
    GlFramebuffer reduced_;
};

}  // namespace carom
