#include "host/window/window.hpp"

#include <fmt/format.h>
#include <glad/gl.h>
// After glad, which says what OpenGL is.
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <dlfcn.h>
#include <imgui.h>

#include <array>
#include <cctype>
#include <cmath>
#include <utility>

#include "host/plot/letters.hpp"
#include "host/state/errors.hpp"
#include "host/viewer/opengl.hpp"

// GLFW has it wherever it was built for X; its own header for it would need X11's.
extern "C" __attribute__((weak)) void* glfwGetX11Display();  // NOLINT: its name

namespace carom {

namespace {

constexpr const char* kRemedy = "carom render draws without a window";

void hints(int major, int minor) {
    glfwDefaultWindowHints();
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, major);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, minor);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_DEBUG_CONTEXT, GLFW_TRUE);
    glfwWindowHint(GLFW_DEPTH_BITS, 0);  // what is drawn comes from a buffer of our own
    glfwWindowHint(GLFW_STENCIL_BITS, 0);
}

/// The version that there is, for a message; empty if none.
std::string older_version() {
    hints(3, 3);
    glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
    GLFWwindow* window = glfwCreateWindow(64, 64, "", nullptr, nullptr);
    if (window == nullptr) return {};
    glfwMakeContextCurrent(window);
    std::string found;
    if (gladLoadGL(glfwGetProcAddress) != 0) found = gl_description();
    glfwDestroyWindow(window);
    return found;
}

}  // namespace

/// Where the X server goes away Xlib ends the program, with words of its own, unless it is told of somebody who takes
/// note. Its library is the one that GLFW has loaded; without X, or with Xlib of before 2021, nothing is done.
/// \param lost  set when it happens
void watch_display(bool& lost) {
    using Handler = void (*)(void* display, void* data);
    void* const display = glfwGetX11Display != nullptr ? glfwGetX11Display() : nullptr;
    void* const library = display != nullptr ? dlopen("libX11.so.6", RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    if (library == nullptr) return;
    const auto set_exit = reinterpret_cast<void (*)(void*, Handler, void*)>(dlsym(library, "XSetIOErrorExitHandler"));
    const auto set_handler = reinterpret_cast<void* (*)(int (*)(void*))>(dlsym(library, "XSetIOErrorHandler"));
    if (set_exit != nullptr && set_handler != nullptr) {
        set_handler([](void*) { return 0; });  // the usual one says it and exits
        set_exit(
            display, [](void*, void* data) { *static_cast<bool*>(data) = true; }, &lost);
    }
    dlclose(library);
}

/// What GLFW calls.
struct WindowEvents {
    static Window::Input& input(GLFWwindow* window) {
        return *static_cast<Window::Input*>(glfwGetWindowUserPointer(window));
    }
    static void key(GLFWwindow* window, int key, int /*scancode*/, int action, int /*modifiers*/) {
        input(window).touched = true;
        if (action == GLFW_PRESS && key >= 0) input(window).pressed.push_back(key);
        input(window).place = key;
        input(window).repeated = action == GLFW_REPEAT;
        const bool types = (key >= GLFW_KEY_SPACE && key <= GLFW_KEY_WORLD_2) ||
                           (key >= GLFW_KEY_KP_0 && key <= GLFW_KEY_KP_EQUAL && key != GLFW_KEY_KP_ENTER);
        if (types) return;  // its character follows
        // A key that is held does again what goes little by little; all else would go on and off.
        const bool gradual = key == GLFW_KEY_LEFT || key == GLFW_KEY_RIGHT;
        if (action == GLFW_PRESS || (action == GLFW_REPEAT && gradual)) input(window).keys.push_back(key);
    }
    static void character(GLFWwindow* window, unsigned character) {
        constexpr unsigned kAscii = 128;
        const int typed = std::tolower(character < kAscii ? static_cast<int>(character) : input(window).place);
        const bool gradual = typed == '+' || typed == '=' || typed == '-';
        if (!input(window).repeated || gradual) input(window).keys.push_back(typed);
    }
    static void button(GLFWwindow* window, int, int, int) { input(window).touched = true; }
    static void moved(GLFWwindow* window, double, double) { input(window).touched = true; }
    static void resized(GLFWwindow* window, int, int) { input(window).touched = true; }
    static void refresh(GLFWwindow* window) { input(window).touched = true; }
};

Window::Window(const std::string& title, int width, int height) {
    if (glfwInit() == GLFW_FALSE) {
        const char* why = nullptr;  // which display was tried
        glfwGetError(&why);
        throw SystemError(fmt::format("no window can be opened: there is no display; {}{}{}", why != nullptr ? why : "",
                                      why != nullptr ? "; " : "", kRemedy));
    }
    hints(kGlMajor, kGlMinor);
    window_ = glfwCreateWindow(width, height, title.c_str(), nullptr, nullptr);
    if (window_ == nullptr) {
        const std::string found = older_version();
        glfwTerminate();
        throw SystemError(fmt::format("a window needs OpenGL {}.{}, and {} was found; {}", kGlMajor, kGlMinor,
                                      found.empty() ? "none" : found, kRemedy));
    }
    glfwMakeContextCurrent(window_);
    if (gladLoadGL(glfwGetProcAddress) == 0) {
        glfwTerminate();
        throw SystemError(fmt::format("OpenGL cannot be loaded; {}", kRemedy));
    }
    watch_display(lost_);
    keep_memory_of_software_gl();
    glfwSwapInterval(1);
    // Before Dear ImGui, which passes events on.
    glfwSetWindowUserPointer(window_, &input_);
    glfwSetKeyCallback(window_, WindowEvents::key);
    glfwSetCharCallback(window_, WindowEvents::character);
    glfwSetMouseButtonCallback(window_, WindowEvents::button);
    glfwSetScrollCallback(window_, WindowEvents::moved);
    glfwSetCursorPosCallback(window_, WindowEvents::moved);
    glfwSetFramebufferSizeCallback(window_, WindowEvents::resized);
    glfwSetWindowRefreshCallback(window_, WindowEvents::refresh);
    IMGUI_CHECKVERSION();
    ImGui::CreateContext();
    ImGui::GetIO().IniFilename = nullptr;  // nothing is written that nobody asked for
    ImGui::StyleColorsDark();
    float scale = 1.0f;
    glfwGetWindowContentScale(window_, &scale, nullptr);
    ImGui::GetStyle().ScaleAllSizes(scale);
    // Letters of the size that they have on this display: enlarged ones would be blurred.
    constexpr float kFont = 13.0f;
    ImFontConfig font;
    font.SizePixels = std::floor(kFont * scale);
    if (Letters::there()) {  // that of pictures
        font.FontDataOwnedByAtlas = false;
        font.OversampleH = 1;  // sharp, at whole pixels
        font.PixelSnapH = true;
        // Latin, Greek and Cyrillic letters, and superscripts: what names of units and species are made of.
        static constexpr std::array<ImWchar, 9> kLetters{0x20, 0x17F, 0x370, 0x4FF, 0x2010, 0x2027, 0x2070, 0x209F, 0};
        font.GlyphRanges = kLetters.data();
        const std::span<const unsigned char> file = embedded_font();
        ImGui::GetIO().Fonts->AddFontFromMemoryTTF(const_cast<unsigned char*>(file.data()),
                                                   static_cast<int>(file.size()), font.SizePixels, &font);
    } else {
        ImGui::GetIO().Fonts->AddFontDefault(&font);
    }
    ImGui_ImplGlfw_InitForOpenGL(window_, true);
    ImGui_ImplOpenGL3_Init("#version 450 core");
}

Window::~Window() {
    ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
    ImGui::DestroyContext();
    glfwDestroyWindow(window_);
    glfwTerminate();
}

void Window::size(int& width, int& height) const { glfwGetFramebufferSize(window_, &width, &height); }

double Window::pointer_scale() const {
    int pixels = 0;
    int units = 0;
    glfwGetFramebufferSize(window_, &pixels, nullptr);
    glfwGetWindowSize(window_, &units, nullptr);
    return units > 0 ? static_cast<double>(pixels) / units : 1.0;
}

std::vector<int> Window::take_keys() {
    std::vector<int> keys;
    keys.swap(input_.keys);
    // They belong to a field that is being typed in; escape leaves it.
    if (ImGui::GetIO().WantTextInput) keys.clear();
    return keys;
}

bool Window::take_touched() { return std::exchange(input_.touched, false); }

void Window::begin_panels() {
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
#if IMGUI_VERSION_NUM < 18700
    // Until 1.87 Dear ImGui looks at which keys are down, and misses one that was let go before this picture: where
    // drawing is slow, the Enter behind a number.
    for (const int key : input_.pressed) ImGui::GetIO().KeysDown[key] = true;
    ImGui::NewFrame();
    for (const int key : input_.pressed) ImGui::GetIO().KeysDown[key] = glfwGetKey(window_, key) == GLFW_PRESS;
#else
    ImGui::NewFrame();
#endif
    input_.pressed.clear();
}

void Window::end_panels() {
    ImGui::Render();
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

void Window::check_display() const {
    if (lost_) throw SystemError("the window is gone: the display was lost");
}

bool Window::closing() const { return glfwWindowShouldClose(window_) != 0; }
void Window::close() { glfwSetWindowShouldClose(window_, GLFW_TRUE); }
void Window::swap() { glfwSwapBuffers(window_); }

}  // namespace carom
