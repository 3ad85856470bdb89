#include "host/report/html.hpp"

#include <cstdint>

#include "host/state/text.hpp"

namespace carom {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

}  // namespace

std::string Html::escaped(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const std::size_t bytes = character_bytes(text);
        const auto c = static_cast<unsigned char>(text[0]);
        if (bytes == 0 || (c < 0x20 && c != '\n' && c != '\t' && c != '\r') || c == 0x7F) {
            result += kReplacement;
        } else if (c == '&') {
            result += "&amp;";
        } else if (c == '<') {
            result += "&lt;";
        } else if (c == '>') {
            result += "&gt;";
        } else if (c == '"') {
            result += "&quot;";
        } else if (c == '\'') {
            result += "&#39;";
        } else {
            result += text.substr(0, bytes);
        }
        text.remove_prefix(bytes == 0 ? 1 : bytes);
    }
    return result;
}

std::string data_url(std::string_view bytes, std::string_view type) {
    static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string url = "data:" + std::string(type) + ";base64,";
    url.reserve(url.size() + 4 * (bytes.size() / 3 + 1));
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            group = group << 8 | (at + k < bytes.size() ? static_cast<unsigned char>(bytes[at + k]) : 0u);
        }
        for (std::size_t k = 0; k < 4; ++k) {
            url += at + k <= bytes.size() ? kDigits[group >> (18 - 6 * k) & 63u] : '=';
        }
    }
    return url;
}

Html html_table(const std::vector<Html>& head, const std::vector<std::vector<Html>>& rows) {
    Html html = head.empty() ? Html::markup("<div class=\"wide\"><table>\n")
                             : Html::markup("<div class=\"wide\"><table class=\"headed\">\n");
    if (!head.empty()) {
        html.add("<thead><tr>");
        for (const Html& cell : head) html.add("<th scope=\"col\">{}</th>", cell);
        html.add("</tr></thead>\n");
    }
    html.add("<tbody>\n");
    for (const auto& row : rows) {
        html.add("<tr>");
        for (std::size_t k = 0; k < row.size(); ++k) {
            html += k == 0            ? Html::markup("<th scope=\"row\">{}</th>", row[k])
                    : k < head.size() ? Html::markup("<td data-label=\"{}\">{}</td>", head[k], row[k])
                                      : Html::markup("<td>{}</td>", row[k]);
        }
        html.add("</tr>\n");
    }
    return html.add("</tbody></table></div>\n");
}

Html html_figure(const std::string& url, const std::string& caption, const std::string& words) {
    return Html::markup("<figure><img src=\"{}\" alt=\"{}\"><figcaption>{}</figcaption></figure>\n", url, words,
                        caption);
}

}  // namespace carom
