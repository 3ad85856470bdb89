#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/core/portability.hpp"

// A value of one of several types, on the host and on devices. What is done with it is made from the list of types, so
// a type that lacks something does not compile.

namespace carom {

/// The types' values share their memory. All are trivial: nothing is constructed or destroyed.
template <class First, class... Rest>
union SharedMemory {
    First first;
    SharedMemory<Rest...> rest;
};
template <class Last>
union SharedMemory<Last> {
    Last first;
};

template <class... Types>
class OneOf {
public:
    static_assert((std::is_trivial_v<Types> && ...));

    static constexpr std::uint8_t kCount = sizeof...(Types);

    OneOf() = default;
    template <class Type>
    requires(std::is_same_v<Type, Types> || ...) CAROM_HD OneOf(const Type& value) : which_(number_of<Type>()) {
        put(value_, value);
    }

    /// f(value), with the value's own type.
    template <class F>
    CAROM_HD auto visit(F&& f) const {
        return visit_from<0>(value_, f);
    }

    /// Which of the types, counted from 0.
    [[nodiscard]] CAROM_HD std::uint8_t which() const { return which_; }
    template <class Type>
    static constexpr std::uint8_t number_of() {
        std::uint8_t number = 0;
        std::uint8_t found = 0;
        ((found = std::is_same_v<Type, Types> ? number : found, ++number), ...);
        return found;
    }

    /// f.operator()<Type>() with the type of that number.
    template <class F>
    static auto with_type(std::uint8_t number, F&& f) {
        return with_type_from<0, Types...>(number, f);
    }

private:
    template <std::uint8_t kNumber, class Memory, class F>
    CAROM_HD auto visit_from(const Memory& memory, F& f) const {
        if constexpr (kNumber + 1 == sizeof...(Types)) {
            return f(memory.first);
        } else {
            if (which_ == kNumber) return f(memory.first);
            return visit_from<kNumber + 1>(memory.rest, f);
        }
    }
    template <std::uint8_t kNumber, class Type, class... Rest, class F>
    static auto with_type_from(std::uint8_t number, F& f) {
        if constexpr (sizeof...(Rest) == 0) {
            return f.template operator()<Type>();
        } else {
            if (number == kNumber) return f.template operator()<Type>();
            return with_type_from<kNumber + 1, Rest...>(number, f);
        }
    }
    template <class Memory, class Type>
    CAROM_HD static void put(Memory& memory, const Type& value) {
        if constexpr (std::is_same_v<decltype(memory.first), Type>) {
            memory.first = value;
        } else {
            put(memory.rest, value);
        }
    }

    SharedMemory<Types...> value_;
    std::uint8_t which_;
};

}  // namespace carom
