#pragma once

#include <fstream>
#include <string>

namespace carom {

/// Of the machine's CPU, as its maker writes it; "CPU" where the system does not tell.
inline std::string processor_name() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        const auto colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
    }
    return "CPU";
}

}  // namespace carom
