#pragma once

#include <string>
#include <string_view>
#include <vector>

// What a page is made of. Text that comes from a user (titles, scenes, file names, messages) goes in through `escaped`
// alone.

namespace carom::html {

/// Text as a browser shows it again: markup and quotes as entities; what is no UTF-8, and control characters that HTML
/// does not allow, as U+FFFD.
std::string escaped(std::string_view text);

/// "data:TYPE;base64,...": a file inside a page.
std::string data_url(std::string_view bytes, std::string_view type);

/// A table whose cells are HTML already; it scrolls sideways where a screen is narrow.
/// \param head  one cell a column; empty: none, and the first cell of each row is its head
std::string table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows);

/// A picture with the text that stands for it, and one below.
std::string figure(const std::string& url, std::string_view caption);

}  // namespace carom::html
