#pragma once

#include <string>

namespace carom::test {

/// What `action` throws, as text; empty if nothing.
template <class Error, class Action>
std::string message_of(const Action& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace carom::test
