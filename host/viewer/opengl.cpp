#include "host/viewer/opengl.hpp"

#include <fmt/format.h>
#include <glad/egl.h>
#include <glad/gl.h>
#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/state/errors.hpp"
#include "host/viewer/shaders.hpp"

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

// EGL first: it defines what windows are.

#if defined(__GLIBC__)
#endif

namespace {

constexpr const char* kRemedy = "carom run, state and convert need none, and carom plot FILE balls draws without";

bool has_word(const char* list, std::string_view word) {
    if (list == nullptr) return false;
    const std::string text = fmt::format(" {} ", list);
    return text.find(fmt::format(" {} ", word)) != std::string::npos;
}

/// How much a device is wanted; less is more. That which CUDA takes, its first one, comes first: only there can buffers
/// be shared. Software comes last.
int rank_of(EGLDeviceEXT device) {
    if (eglQueryDeviceStringEXT == nullptr) return 1;
    const char* extensions = eglQueryDeviceStringEXT(device, EGL_EXTENSIONS);
    if (has_word(extensions, "EGL_MESA_device_software")) return 3;
    EGLAttrib number = 0;
    if (has_word(extensions, "EGL_NV_device_cuda") && eglQueryDeviceAttribEXT != nullptr &&
        eglQueryDeviceAttribEXT(device, EGL_CUDA_DEVICE_NV, &number) != EGL_FALSE) {
        return number == 0 ? 0 : 2;
    }
    return 1;
}

/// All displays that could draw without a window, hardware first: those of devices, Mesa's without a surface, whatever
/// the system takes by default.
std::vector<EGLDisplay> displays() {
    std::vector<EGLDisplay> all;
    const auto add = [&all](EGLDisplay display) {
        if (display != EGL_NO_DISPLAY) all.push_back(display);
    };
    const char* extensions = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
    if (has_word(extensions, "EGL_EXT_platform_device") && eglQueryDevicesEXT != nullptr &&
        eglGetPlatformDisplayEXT != nullptr) {
        std::array<EGLDeviceEXT, 32> devices{};
        EGLint count = 0;
        if (eglQueryDevicesEXT(static_cast<EGLint>(devices.size()), devices.data(), &count) != EGL_FALSE) {
            const auto end = devices.begin() + count;
            std::stable_sort(devices.begin(), end,
                             [](EGLDeviceEXT a, EGLDeviceEXT b) { return rank_of(a) < rank_of(b); });
            for (EGLint k = 0; k < count; ++k) {
                add(eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, devices[static_cast<std::size_t>(k)], nullptr));
            }
        }
    }
    if (has_word(extensions, "EGL_MESA_platform_surfaceless") && eglGetPlatformDisplayEXT != nullptr) {
        add(eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, nullptr, nullptr));
    }
    add(eglGetDisplay(EGL_DEFAULT_DISPLAY));
    return all;
}

/// Drivers do not look whether they get the memory that they ask for.
/// \throws SystemError  so much address space is not left (`ulimit -v`)
void require_address_space(std::size_t bytes) {
    void* const probe = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (probe == MAP_FAILED) {
        throw SystemError(fmt::format("out of memory: OpenGL needs {} MB of address space here", bytes >> 20U));
    }
    ::munmap(probe, bytes);
}

}  // namespace

class EglContext::Impl {
public:
    Impl() {
        constexpr std::size_t kOfDriver = std::size_t{320} << 20U;  // Mesa's in software takes 230 MB
        require_address_space(kOfDriver);
        if (gladLoaderLoadEGL(EGL_NO_DISPLAY) == 0) {
            throw SystemError(fmt::format("pictures need EGL, and libEGL.so.1 cannot be opened; {}", kRemedy));
        }
        std::string found;
        for (EGLDisplay display : displays()) {
            if (open(display, found)) return;
        }
        if (found.empty()) {
            throw SystemError(
                fmt::format("pictures need EGL with OpenGL {}.{}, and no device or display for it was found; {}",
                            kGlMajor, kGlMinor, kRemedy));
        }
        throw SystemError(
            fmt::format("pictures need OpenGL {}.{}, and {} was found; {}", kGlMajor, kGlMinor, found, kRemedy));
    }
    ~Impl() { close(); }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

private:
    /// False if this display cannot; `found` then holds the version it has, if it has one.
    bool open(EGLDisplay display, std::string& found) {
        EGLint major = 0;
        EGLint minor = 0;
        if (eglInitialize(display, &major, &minor) == EGL_FALSE) return false;
        display_ = display;
        if (gladLoaderLoadEGL(display) == 0 || eglBindAPI(EGL_OPENGL_API) == EGL_FALSE) return close();
        const bool surfaceless = has_word(eglQueryString(display, EGL_EXTENSIONS), "EGL_KHR_surfaceless_context");
        const std::array<EGLint, 5> wanted{EGL_SURFACE_TYPE, surfaceless ? 0 : EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                                           EGL_OPENGL_BIT, EGL_NONE};
        EGLConfig config = nullptr;
        EGLint count = 0;
        if (eglChooseConfig(display, wanted.data(), &config, 1, &count) == EGL_FALSE || count < 1) return close();
        if (!surfaceless) {
            const std::array<EGLint, 5> size{EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE};
            surface_ = eglCreatePbufferSurface(display, config, size.data());
        }
        if (make_current(config, kGlMajor, kGlMinor)) return true;
        // What is there, for the message.
        for (const auto& [older_major, older_minor] : {std::pair{4, 0}, std::pair{3, 3}, std::pair{3, 1}}) {
            if (!found.empty()) break;
            if (make_current(config, older_major, older_minor)) found = gl_description();
        }
        return close();
    }

    bool make_current(EGLConfig config, int major, int minor) {
        const std::array<EGLint, 9> attributes{EGL_CONTEXT_MAJOR_VERSION,
                                               major,
                                               EGL_CONTEXT_MINOR_VERSION,
                                               minor,
                                               EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                               EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                               EGL_CONTEXT_OPENGL_DEBUG,
                                               EGL_TRUE,
                                               EGL_NONE};
        context_ = eglCreateContext(display_, config, EGL_NO_CONTEXT, attributes.data());
        if (context_ == EGL_NO_CONTEXT) return false;
        if (eglMakeCurrent(display_, surface_, surface_, context_) == EGL_FALSE) return false;
        const int version = gladLoadGL(eglGetProcAddress);
        return GLAD_VERSION_MAJOR(version) * 10 + GLAD_VERSION_MINOR(version) >= major * 10 + minor;
    }

    bool close() {
        if (display_ == EGL_NO_DISPLAY) return false;
        eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
        if (context_ != EGL_NO_CONTEXT) eglDestroyContext(display_, context_);
        if (surface_ != EGL_NO_SURFACE) eglDestroySurface(display_, surface_);
        eglTerminate(display_);
        display_ = EGL_NO_DISPLAY;
        context_ = EGL_NO_CONTEXT;
        surface_ = EGL_NO_SURFACE;
        return false;
    }

    EGLDisplay display_ = EGL_NO_DISPLAY;
    EGLContext context_ = EGL_NO_CONTEXT;
    EGLSurface surface_ = EGL_NO_SURFACE;
};

EglContext::EglContext() : impl_(std::make_unique<Impl>()) { keep_memory_of_software_gl(); }
EglContext::~EglContext() = default;

bool software_gl() {
    const std::string description = gl_description();
    return description.find("llvmpipe") != std::string::npos || description.find("softpipe") != std::string::npos ||
           description.find("swrast") != std::string::npos;
}

void keep_memory_of_software_gl() {
#if defined(__GLIBC__)
    constexpr int kKept = 1 << 29;    // [bytes]
    constexpr int kMapped = 1 << 25;  // larger blocks than this are the kernel's at once
    constexpr int kAhead = 1 << 24;
    if (software_gl()) {
        mallopt(M_TRIM_THRESHOLD, kKept);
        mallopt(M_MMAP_THRESHOLD, kMapped);
        mallopt(M_TOP_PAD, kAhead);
    }
#endif
}

std::string gl_description() {
    const auto text = [](GLenum what) {
        const auto* bytes = reinterpret_cast<const char*>(glGetString(what));
        return std::string(bytes != nullptr ? bytes : "unknown");
    };
    return fmt::format("{}, {}", text(GL_VERSION), text(GL_RENDERER));
}

namespace {

/// Software fills the memory of a picture with zeros as it takes it; of a large one that takes as long as a third of
/// the drawing where the kernel gives it in pages of 4 kB. So the C library has it ready in huge ones.
void ready_memory_of_software_gl(std::size_t bytes) {
#if defined(__GLIBC__) && defined(MADV_HUGEPAGE)
    constexpr std::size_t kLarge = std::size_t{1} << 28U;  // [bytes]
    constexpr std::size_t kPage = std::size_t{1} << 21U;
    if (bytes < kLarge || !software_gl()) return;
    mallopt(M_MMAP_MAX, 0);  // all from one heap, which keeps what is given back
    mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
    std::size_t room = bytes + kPage;
    void* const block = std::malloc(room);
    if (block == nullptr) return;
    void* begin = block;
    madvise(std::align(kPage, bytes, begin, room), bytes, MADV_HUGEPAGE);  // if it can be
    std::free(block);
#else
    static_cast<void>(bytes);
#endif
}

}  // namespace

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
    // Colours and depths; and, in the picture's size, colours, the picture and its file.
    const std::size_t size = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    constexpr std::size_t kFinished = 4 + 3 + 4;
    const std::size_t bytes = size * (8 * static_cast<std::size_t>(oversampling * oversampling) + kFinished);
    constexpr std::size_t kBesides = std::size_t{64} << 20U;  // what drawing takes
    require_address_space(bytes + kBesides);
    ready_memory_of_software_gl(bytes);
    glNamedRenderbufferStorage(fine_color_.name(), GL_RGBA8, fine_width, fine_height);
    glTextureStorage2D(fine_depth_.name(), 1, GL_DEPTH_COMPONENT32F, fine_width, fine_height);
    glTextureParameteri(fine_depth_.name(), GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTextureParameteri(fine_depth_.name(), GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glNamedFramebufferRenderbuffer(fine_.name(), GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, fine_color_.name());
    glNamedFramebufferTexture(fine_.name(), GL_DEPTH_ATTACHMENT, fine_depth_.name(), 0);
    glNamedFramebufferRenderbuffer(fine_colors_.name(), GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, fine_color_.name());
    if (oversampling == 4) {
        glNamedRenderbufferStorage(half_color_.name(), GL_RGBA8, fine_width / 2, fine_height / 2);
        glNamedFramebufferRenderbuffer(half_.name(), GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, half_color_.name());
    }
    glNamedRenderbufferStorage(color_.name(), GL_RGBA8, width, height);
    glNamedFramebufferRenderbuffer(reduced_.name(), GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, color_.name());
    for (const GLuint name : {fine_.name(), fine_colors_.name(), reduced_.name()}) {
        if (glCheckNamedFramebufferStatus(name, GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
            throw std::logic_error("OpenGL: incomplete framebuffer");
        }
    }
}

void OffscreenTarget::bind() const {
    glBindFramebuffer(GL_FRAMEBUFFER, fine_.name());
    glViewport(0, 0, width_ * oversampling_, height_ * oversampling_);
}

void OffscreenTarget::bind_colors() const { glBindFramebuffer(GL_FRAMEBUFFER, fine_colors_.name()); }

void OffscreenTarget::reduce() const {
    GLuint from = fine_.name();
    int times = oversampling_;
    if (times == 4) {
        glBlitNamedFramebuffer(from, half_.name(), 0, 0, 4 * width_, 4 * height_, 0, 0, 2 * width_, 2 * height_,
                               GL_COLOR_BUFFER_BIT, GL_LINEAR);
        from = half_.name();
        times = 2;
    }
    glBlitNamedFramebuffer(from, reduced_.name(), 0, 0, width_ * times, height_ * times, 0, 0, width_, height_,
                           GL_COLOR_BUFFER_BIT, times == 1 ? GL_NEAREST : GL_LINEAR);
    glBindFramebuffer(GL_FRAMEBUFFER, reduced_.name());
    glViewport(0, 0, width_, height_);
}

void OffscreenTarget::copy_to(GLuint framebuffer) const {
    glBlitNamedFramebuffer(reduced_.name(), framebuffer, 0, 0, width_, height_, 0, 0, width_, height_,
                           GL_COLOR_BUFFER_BIT, GL_NEAREST);
}

void OffscreenTarget::read(Pixels& pixels, bool opacities) const {
    pixels.width = width_;
    pixels.height = height_;
    pixels.opacities = opacities;
    const std::size_t row = (opacities ? 4 : 3) * static_cast<std::size_t>(width_);
    pixels.rgb.resize(row * static_cast<std::size_t>(height_));
    glBindFramebuffer(GL_READ_FRAMEBUFFER, reduced_.name());
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, width_, height_, opacities ? GL_RGBA : GL_RGB, GL_UNSIGNED_BYTE, pixels.rgb.data());
    // What is drawn over nothing is as dark as it is thin.
    for (std::size_t k = 0; opacities && k < pixels.rgb.size(); k += 4) {
        const int opacity = pixels.rgb[k + 3];
        for (std::size_t channel = k; channel < k + 3 && opacity > 0; ++channel) {
            pixels.rgb[channel] =
                static_cast<std::uint8_t>(std::min(255, (255 * pixels.rgb[channel] + opacity / 2) / opacity));
        }
    }
    // OpenGL's rows come from the bottom.
    for (std::size_t y = 0; y < static_cast<std::size_t>(height_) / 2; ++y) {
        const auto upper = pixels.rgb.begin() + static_cast<std::ptrdiff_t>(y * row);
        const auto lower = pixels.rgb.end() - static_cast<std::ptrdiff_t>((y + 1) * row);
        std::swap_ranges(upper, upper + static_cast<std::ptrdiff_t>(row), lower);
    }
}

namespace {

/// A shader that is deleted once no program needs it.
class Shader {
public:
    Shader(GLenum kind, std::string_view file, std::initializer_list<std::string_view> defines)
        : name_(glCreateShader(kind)) {
        const std::string_view own = shader_source(file);
        if (own.empty()) throw std::logic_error(fmt::format("there is no shader {}", file));
        std::string source = "#version 450 core\n";
        for (const std::string_view define : defines) source += fmt::format("#define {}\n", define);
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

GlProgram::GlProgram(std::string_view vertex, std::string_view fragment,
                     std::initializer_list<std::string_view> defines) {
    const Shader first(GL_VERTEX_SHADER, vertex, defines);
    const Shader second(GL_FRAGMENT_SHADER, fragment, defines);
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
