#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "host/viewer/gl_objects.hpp"
#include "host/viewer/shaders.hpp"

namespace carom {

namespace {

constexpr std::string_view kVersion = "#version 450 core\n";

/// A shader that is deleted once no program needs it.
class Shader {
public:
    Shader(GLenum kind, std::string_view file) : name_(glCreateShader(kind)) {
        const std::string_view source = shader_source(file);
        if (source.empty()) throw std::logic_error(fmt::format("there is no shader {}", file));
        // Vertex shaders that colour balls share how.
        const std::string_view common = source.find("color_of") == source.npos ? "" : shader_source("color.glsl");
        const std::array<const char*, 3> texts{kVersion.data(), common.data(), source.data()};
        const std::array<GLint, 3> lengths{static_cast<GLint>(kVersion.size()), static_cast<GLint>(common.size()),
                                           static_cast<GLint>(source.size())};
        glShaderSource(name_, 3, texts.data(), lengths.data());
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

GlProgram::GlProgram(std::string_view vertex, std::string_view fragment) {
    const Shader first(GL_VERTEX_SHADER, vertex);
    const Shader second(GL_FRAGMENT_SHADER, fragment);
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
