#include "host/viewer/egl_context.hpp"

#include <fmt/format.h>
// EGL first: it defines what windows are.
#include <glad/egl.h>
#include <glad/gl.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "host/state/errors.hpp"

namespace carom {

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

}  // namespace

class EglContext::Impl {
public:
    Impl() {
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

}  // namespace carom
