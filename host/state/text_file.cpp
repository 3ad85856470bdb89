#include "host/state/text_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "host/state/errors.hpp"

namespace carom {

std::string read_text_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    if (file && file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
    if (!file.is_open() || file.bad()) {
        throw SystemError(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
    }
    return text.str();
}

}  // namespace carom
