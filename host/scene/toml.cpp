#define TOML_IMPLEMENTATION
#include "host/scene/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "host/state/errors.hpp"

namespace carom {

namespace {

/// Where a string ends that begins with a quote at `at`: behind its last quote, or where it breaks off. One or two of
/// the quotes that end a long one may be its own.
std::size_t end_of_string(std::string_view text, std::size_t at) {
    const char quote = text[at];
    const std::string three(3, quote);
    const bool long_one = text.substr(at, 3) == three;
    at += long_one ? 3 : 1;
    for (; at < text.size(); ++at) {
        if (quote == '"' && text[at] == '\\') {
            ++at;
        } else if (long_one && text.substr(at, 3) == three) {
            at += 3;
            for (int own = 0; own < 2 && at < text.size() && text[at] == quote; ++own) ++at;
            return at;
        } else if (!long_one && (text[at] == quote || text[at] == '\n')) {
            return text[at] == quote ? at + 1 : at;
        }
    }
    return text.size();
}

[[noreturn]] void fail_at(std::string_view text, std::size_t at, const std::string& name, const std::string& message) {
    const std::string_view before = text.substr(0, at);
    throw InputError(fmt::format("{}:{}:{}: {}", name, 1 + std::count(before.begin(), before.end(), '\n'),
                                 at - (before.rfind('\n') + 1) + 1, message));
}

/// A table's name, where it is not quoted, begins with what keys are made of.
void require_name(std::string_view text, std::size_t bracket, const std::string& name) {
    std::size_t at = bracket + 1;
    if (text.substr(at, 1) == "[") ++at;
    at = std::min(text.find_first_not_of(" \t", at), text.size());
    constexpr std::string_view kOfKeys = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-\"'";
    constexpr std::string_view kToldByParser = "]#";
    if (at == text.size() || kOfKeys.find(text[at]) != std::string_view::npos ||
        kToldByParser.find(text[at]) != std::string_view::npos) {
        return;
    }
    fail_at(text, at, name,
            "not valid TOML: the name of a table must begin with a letter, a digit, _ or -, or be quoted");
}

/// What toml++ would not refuse in order.
void require_readable_keys(std::string_view text, const std::string& name) {
    constexpr int kMostParts = 32;
    int parts = 1;
    int depth = 0;      // of arrays and tables in values
    bool begin = true;  // of a line, but for spaces
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        const bool first = begin && c != ' ' && c != '\t';
        begin = c == '\n' || (begin && !first);
        if (first && c == '[' && depth == 0) {
            require_name(text, at, name);
            parts = 1;
        } else if (c == '#') {
            at = std::min(text.find('\n', at), text.size()) - 1;
        } else if (c == '"' || c == '\'') {
            at = end_of_string(text, at) - 1;
        } else if (c != '.') {
            if (std::string_view("\n=,[]{}").find(c) != std::string_view::npos) parts = 1;
            if (c == '[' || c == '{') ++depth;
            if (c == ']' || c == '}') depth = std::max(depth - 1, 0);
        } else if (++parts > kMostParts) {
            fail_at(text, at, name, fmt::format("a key of more than {} parts", kMostParts));
        }
    }
}

/// Of refuse_toml().
struct Refused {};

}  // namespace

toml::table parse_toml(std::string_view text, const std::string& name) {
    require_readable_keys(text, name);
    try {
        return toml::parse(text, name);
    } catch (const Refused&) {
        throw InputError(name + ": not valid TOML: a key or the name of a table cannot be read");
    }
}

double number_in(const toml::node& node) {
    if (const auto* whole = node.as_integer()) return static_cast<double>(whole->get());
    const auto* number = node.as_floating_point();
    return number != nullptr ? number->get() : std::numeric_limits<double>::quiet_NaN();
}

void refuse_toml() { throw Refused{}; }

}  // namespace carom
