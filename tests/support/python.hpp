#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace carom::test {

/// What a script of tests/support said, and how it ended.
struct ScriptResult {
    int status = -1;
    std::string output;  ///< standard output and error
};

/// Runs a script of tests/support with the distribution's Python (environment: CAROM_PYTHON), which sees the
/// distribution's h5py, MDAnalysis and VTK.
inline ScriptResult run_script(const std::string& name, const std::vector<std::string>& arguments) {
    const char* python = std::getenv("CAROM_PYTHON");
    std::string command = std::string(python != nullptr ? python : "/usr/bin/python3") +
                          " -B '" CAROM_SOURCE_DIR "/tests/support/" + name + "'";
    for (const std::string& argument : arguments) command += " '" + argument + "'";
    ScriptResult result;
    std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
    if (pipe == nullptr) return result;
    std::array<char, 4096> buffer;
    while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe))
        result.output.append(buffer.data(), size);
    const int status = ::pclose(pipe);
    if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
    return result;
}

}  // namespace carom::test
