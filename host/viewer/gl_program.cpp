#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <string>

#include "host/viewer/gl_objects.hpp"
#include "host/viewer/shaders.hpp"

namespace carom {

namespace {

/// A shader that is deleted once no program needs it.
class Shader {
public:
    Shader(GLenum kind, std::string_view file, std::string_view define) : name_(glCreateShader(kind)) {
        const std::string_view own = shader_source(file);
        if (own.empty()) throw std::logic_error(fmt::format("there is no shader {}", file));
        std::string source = "#version 450 core\n";
        if (!define.empty()) source += fmt::format("#define {}\n", define);
        // Vertex shaders that colour balls share how, and fragment shaders of balls where they are and how a disk
        // looks.
        if (own.find("color_of(") != own.npos) source += shader_source("color.glsl");
        if (own.find("square_point(") != own.npos) source += shader_source("square.glsl");
        if (own.find("disk_color(") != own.npos) source += shader_source("disk.glsl");
        source += own;
        const char* text = source.c_str();
        glShaderSource(name_, 1, &text, nullptr);
        glCompileShader(name_);
        GLint done = 0;
        glGetShaderiv(name_, GL_COMPILE_STATUS, &done);
        if (done != 0) return;
        std::array<char, 1024> log{};
        glGetShaderInfoLog(name_, static_cast<GLsizei>(log.size()), nullptr, log.data());
        glDeleteShader(name_);
        throw std::logic_error(fmt::format("shaders/{}: {}", file, log.data()));
    }
    ~Shader() { glDeleteShader(name_); }
    Shader(const Shader&) = delete;
    Shader& operator=(const Shader&) = delete;

    [[nodiscard]] GLuint name() const { return name_; }

private:
    GLuint name_;
};

}  // namespace

GlProgram::GlProgram(std::string_view vertex, std::string_view fragment, std::string_view define) {
    const Shader first(GL_VERTEX_SHADER, vertex, define);
    const Shader second(GL_FRAGMENT_SHADER, fragment, define);
    name_ = glCreateProgram();
    glAttachShader(name_, first.name());
    glAttachShader(name_, second.name());
    glLinkProgram(name_);
    GLint done = 0;
    glGetProgramiv(name_, GL_LINK_STATUS, &done);
    if (done != 0) return;
    std::array<char, 1024> log{};
    glGetProgramInfoLog(name_, static_cast<GLsizei>(log.size()), nullptr, log.data());
    glDeleteProgram(name_);
    throw std::logic_error(fmt::format("shaders/{} and {}: {}", vertex, fragment, log.data()));
}

GlProgram::~GlProgram() { glDeleteProgram(name_); }

}  // namespace carom
