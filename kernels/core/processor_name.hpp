#pragma once

#include <fstream>
#include <string>

namespace carom {

/// As processor_name, asked anew.
inline std::string read_processor_name() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        const auto colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
    }
    return "CPU";
}

/// Of the machine's CPU, as its maker writes it; "CPU" where the system does not tell. Asked for once: each solver of a
/// sweep wants it, and the system takes a while.
inline const std::string& processor_name() {
    static const std::string name = read_processor_name();
    return name;
}

}  // namespace carom
