#pragma once

#include <string>

namespace carom {

/// All that a file holds.
/// \throws SystemError  it cannot be read
std::string read_text_file(const std::string& path);

}  // namespace carom
