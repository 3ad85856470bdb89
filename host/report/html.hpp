#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace carom {

/// A piece of a page. Markup is in literals of the program alone; text of a user (titles, scenes, file names, messages)
/// is escaped as it comes in, whoever forgets about it.
class Html {
public:
    Html() = default;
    /// Text as a browser shows it again: markup and quotes as entities; what is no UTF-8, and control characters that
    /// HTML does not allow, as U+FFFD.
    template <class Text>
    requires std::is_convertible_v<const Text&, std::string_view> Html(const Text& text)
        : text_(escaped(text)) {}  // NOLINT: whatever is not Html becomes it

    /// \param form   markup, with {} for each of the parts
    /// \param parts  texts, which are escaped, and other pieces
    template <std::size_t N, class... Parts>
    static Html markup(const char (&form)[N], const Parts&... parts) {
        return Html().add(form, parts...);
    }
    /// The same behind this one.
    template <std::size_t N, class... Parts>
    Html& add(const char (&form)[N], const Parts&... parts) {
        text_ += fmt::format(fmt::runtime(form), Html(parts).text_...);
        return *this;
    }
    Html& operator+=(const Html& other) {
        text_ += other.text_;
        return *this;
    }

    [[nodiscard]] bool empty() const { return text_.empty(); }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    static std::string escaped(std::string_view text);

    std::string text_;
};

/// "data:TYPE;base64,...": a file inside a page.
std::string data_url(std::string_view bytes, std::string_view type);

/// A table; it scrolls sideways where a screen is narrow.
/// \param head  one cell a column, texts, which each cell has as its label, for pages that put them below each other;
///              empty: none, and the first cell of each row is its head
Html html_table(const std::vector<Html>& head, const std::vector<std::vector<Html>>& rows);

/// A picture with a caption, and words that stand for it where it is not seen.
Html html_figure(const std::string& url, const std::string& caption, const std::string& words);

}  // namespace carom
