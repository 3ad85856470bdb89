#pragma once

#include <string>

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

}  // namespace carom
