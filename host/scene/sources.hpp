#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/key.hpp"

namespace carom {

/// Where in the user's input something stands.
struct SourcePlace {
    std::uint32_t line = 1;
    std::uint32_t column = 1;
    std::string assignment;  ///< "--set KEY=VALUE" where it is not from the file

    /// "file:line:column", or the assignment.
    [[nodiscard]] std::string text(const std::string& file) const;
};

/// Where in the user's input each value of a scene stands, for whoever has to refuse it later.
class Sources {
public:
    /// \param file  as in messages
    explicit Sources(std::string file) : file_(std::move(file)) {}
    /// \param entry    of those of a table that comes many times
    /// \param largest  of its numbers, without their signs; 0: it holds none
    void add(const Key& key, std::size_t entry, const SourcePlace& place, double largest);

    /// "file:line:column: stage[0].gravity", as messages begin; empty where the input has no such key.
    /// \param path  "spring.dt", "stage[0].thermostat.temperature"
    [[nodiscard]] std::string label(std::string_view path) const;
    [[nodiscard]] bool has(std::string_view path) const { return !label(path).empty(); }
    /// The same for the largest number that the input has under any of these keys, whatever the entry; empty where it
    /// has none above 0.
    /// \param keys     "physics.gravity", "stage.gravity"
    /// \param at_most  numbers above it do not count
    [[nodiscard]] std::string label_of_largest(std::initializer_list<std::string_view> keys,
                                               double at_most = std::numeric_limits<double>::infinity()) const;

private:
    /// Small, for a scene may have many balls.
    struct Record {
        const Key* key;
        std::uint32_t entry;
        std::uint32_t line;
        std::uint32_t column;
        std::int32_t assignment;  ///< index; negative: none
        double largest;
    };
    [[nodiscard]] std::string label(const Record& record) const;

    std::string file_;
    std::vector<Record> records_;
    std::vector<std::string> assignments_;
};

}  // namespace carom
