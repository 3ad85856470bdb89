#include "host/viewer/gl_error.hpp"

#include <glad/gl.h>

#include <stdexcept>
#include <utility>

namespace carom {

namespace {

void GLAD_API_PTR on_message(GLenum, GLenum type, GLuint, GLenum severity, GLsizei, const GLchar* message,
                             const void* user) {
    // Hints about speed are no errors.
    if (type != GL_DEBUG_TYPE_ERROR && severity != GL_DEBUG_SEVERITY_HIGH) return;
    static_cast<GlErrors*>(const_cast<void*>(user))->note(message);
}

}  // namespace

GlErrors::GlErrors() {
    glEnable(GL_DEBUG_OUTPUT);
    glEnable(GL_DEBUG_OUTPUT_SYNCHRONOUS);  // so that a debugger shows the call
    glDebugMessageCallback(on_message, this);
}

GlErrors::~GlErrors() { glDebugMessageCallback(nullptr, nullptr); }

void GlErrors::note(const char* message) {
    if (first_.empty()) first_ = message;
}

void GlErrors::check() {
    if (first_.empty()) {
        // Also without a debug context.
        const GLenum error = glGetError();
        if (error == GL_NO_ERROR) return;
        first_ = "error " + std::to_string(error);
    }
    throw std::logic_error("OpenGL: " + std::exchange(first_, {}));
}

}  // namespace carom
