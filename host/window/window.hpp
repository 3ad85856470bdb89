#pragma once

#include <string>
#include <vector>

struct GLFWwindow;

namespace carom {

/// A window with an OpenGL 4.5 context that is current on this thread, and Dear ImGui in it.
class Window {
public:
    /// \throws SystemError  no display, or no OpenGL 4.5: says what was found
    Window(const std::string& title, int width, int height);
    ~Window();
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    [[nodiscard]] GLFWwindow* handle() const { return window_; }
    /// Size in pixels; 0 while minimised.
    void size(int& width, int& height) const;
    /// Pixels per unit of the pointer's place: 2 on many dense displays.
    [[nodiscard]] double pointer_scale() const;
    [[nodiscard]] bool closing() const;
    /// Throws once the display is gone, with which nothing more can be done. \throws SystemError
    void check_display() const;
    void close();
    /// Keys pressed since the last call: the character where one has been typed, letters as small ones, wherever the
    /// keyboard has it; else as GLFW numbers them. A letter of another alphabet stands for the one in that place of an
    /// English keyboard. Those that a text field takes are left out. None is lost, however slow drawing is.
    std::vector<int> take_keys();
    /// Whether a key, the pointer or the window itself has moved since the last call: a new picture is due.
    bool take_touched();
    /// Begins Dear ImGui's part of a picture, and ends it: draws it into the window.
    void begin_panels();
    void end_panels();
    /// Shows what has been drawn, after at most one refresh of the display.
    void swap();

private:
    /// What events leave behind.
    struct Input {
        std::vector<int> pressed;  // since the last picture
        std::vector<int> keys;
        int place = 0;          // of the key that a character may follow, as on an English keyboard
        bool repeated = false;  // it is being held
        bool touched = false;
    };
    friend struct WindowEvents;

    GLFWwindow* window_ = nullptr;
    Input input_;
    bool lost_ = false;  // the display
};

}  // namespace carom
