#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace carom {

/// A formula over named numbers, read once and evaluated many times: + - * / ^, brackets, pi, and sqrt, abs, exp, log,
/// sin, cos, tan, asin, acos, atan (radians), min(a, b), max(a, b); < <= > >= == != and, or, not, which give 1 or 0.
class Formula {
public:
    /// \param names  of the numbers that evaluate gets, in that order
    /// \throws InputError  what is wrong, and where in the text; without a place in a file
    Formula(const std::string& text, const std::vector<std::string>& names);

    [[nodiscard]] double evaluate(std::span<const double> values) const;
    /// Whether the number of this index occurs in it.
    [[nodiscard]] bool uses(std::size_t index) const;

private:
    friend class FormulaParser;

    using Function = double (*)(double, double);
    /// One operation on a stack of numbers.
    struct Step {
        Function function = nullptr;  ///< null: pushes a number
        int arguments = 0;
        bool variable = false;
        std::size_t index = 0;  ///< of the variable
        double constant = 0.0;
    };

    static constexpr std::size_t kHighest = 256;  // the stack, at most

    std::vector<Step> steps_;  // in postfix order
};

}  // namespace carom
