#pragma once

#include <glad/gl.h>

#include <string>
#include <string_view>
#include <utility>

namespace carom {

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
    /// \param define  a name that the shaders ask for with #ifdef; none by default
    /// \throws std::logic_error  with the compiler's words
    GlProgram(std::string_view vertex, std::string_view fragment, std::string_view define = {});
    ~GlProgram();
    GlProgram(const GlProgram&) = delete;
    GlProgram& operator=(const GlProgram&) = delete;

    [[nodiscard]] GLuint name() const { return name_; }
    /// Where a uniform is; -1, which OpenGL ignores, for one that this program does not use.
    [[nodiscard]] GLint at(const char* uniform) const { return glGetUniformLocation(name_, uniform); }

private:
    GLuint name_ = 0;
};

}  // namespace carom
