#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace carom {

/// Another program that is fed through its standard input; what it gives and says, on its two streams, is kept in
/// memory. It is started by its name and words, never through a shell, and in a process group of its own: a Ctrl-C is
/// meant for carom, which then ends it.
class ChildProcess {
public:
    /// \param words   the program, looked up in PATH, and its arguments
    /// \param advice  said where there is no such program: what it is for, and how to install it
    /// \throws SystemError  it cannot be started
    ChildProcess(std::vector<std::string> words, const std::string& advice);
    /// Ends the program, if it has not ended.
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    /// \return false  the program takes no more
    bool write(std::string_view bytes);
    /// Closes its input and waits for its end.
    /// \return  its exit status, 128 and the signal's number where a signal ended it
    int wait();
    /// All of its standard output so far.
    /// \throws SystemError  it cannot be read
    [[nodiscard]] std::string output() const;
    /// The last line that it said on standard error, shortened.
    [[nodiscard]] std::string last_line() const;

private:
    void close_files();

    pid_t child_ = -1;
    int to_child_ = -1;
    // Files without a name, in memory.
    int output_ = -1;
    int log_ = -1;
};

/// Ends all such programs of this process, and sees them end. Only for one that ends at once: may be called at any
/// moment, in a handler of signals too.
void end_child_processes() noexcept;

}  // namespace carom
