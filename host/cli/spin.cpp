#include "host/cli/spin.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace carom {

void limit_spinning(char** argv) {
    constexpr const char* kSpins = "1000";  // some microseconds
    if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
    std::error_code error;
    // The file's own name, not the link's, is what process lists will show.
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error || setenv("GOMP_SPINCOUNT", kSpins, 0) != 0) return;
    execv(program.c_str(), argv);
}

}  // namespace carom
