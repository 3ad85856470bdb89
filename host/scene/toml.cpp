#define TOML_IMPLEMENTATION
#include "host/scene/toml.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/state/errors.hpp"

namespace carom {

namespace {

/// Where a string ends that begins with a quote at `at`: behind its last quote, or where it breaks off.
std::size_t end_of_string(std::string_view text, std::size_t at) {
    const char quote = text[at];
    const std::string three(3, quote);
    const bool long_one = text.substr(at, 3) == three;
    at += long_one ? 3 : 1;
    for (; at < text.size(); ++at) {
        if (quote == '"' && text[at] == '\\') {
            ++at;
        } else if (long_one ? text.substr(at, 3) == three : text[at] == quote || text[at] == '\n') {
            return at + (long_one ? 3 : 1);
        }
    }
    return text.size();
}

void require_short_keys(std::string_view text, const std::string& name) {
    constexpr int kMostParts = 32;
    int parts = 1;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '#') {
            at = std::min(text.find('\n', at), text.size()) - 1;
        } else if (c == '"' || c == '\'') {
            at = end_of_string(text, at) - 1;
        } else if (c != '.') {
            if (std::string_view("\n=,[]{}").find(c) != std::string_view::npos) parts = 1;
        } else if (++parts > kMostParts) {
            const std::string_view before = text.substr(0, at);
            throw InputError(fmt::format("{}:{}:{}: a key of more than {} parts", name,
                                         1 + std::count(before.begin(), before.end(), '\n'),
                                         at - (before.rfind('\n') + 1) + 1, kMostParts));
        }
    }
}

}  // namespace

toml::table parse_toml(std::string_view text, const std::string& name) {
    require_short_keys(text, name);
    return toml::parse(text, name);
}

}  // namespace carom
