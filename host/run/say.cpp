#include "host/run/say.hpp"

namespace carom {

void say_to(std::FILE* stream, const std::string& text) noexcept {
    const bool written = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
    if (!written || std::fflush(stream) != 0) std::clearerr(stream);  // the next message may fit again
}

}  // namespace carom
