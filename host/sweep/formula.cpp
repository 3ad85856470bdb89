#include "host/sweep/formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numbers>
#include <string_view>

#include "host/state/errors.hpp"

namespace carom {

namespace {

struct Named {
    std::string_view name;
    double (*function)(double, double);
    int arguments;
};

constexpr std::array kFunctions{
    Named{"sqrt", [](double a, double) { return std::sqrt(a); }, 1},
    Named{"abs", [](double a, double) { return std::abs(a); }, 1},
    Named{"exp", [](double a, double) { return std::exp(a); }, 1},
    Named{"log", [](double a, double) { return std::log(a); }, 1},
    Named{"sin", [](double a, double) { return std::sin(a); }, 1},
    Named{"cos", [](double a, double) { return std::cos(a); }, 1},
    Named{"tan", [](double a, double) { return std::tan(a); }, 1},
    Named{"asin", [](double a, double) { return std::asin(a); }, 1},
    Named{"acos", [](double a, double) { return std::acos(a); }, 1},
    Named{"atan", [](double a, double) { return std::atan(a); }, 1},
    Named{"min", [](double a, double b) { return std::fmin(a, b); }, 2},
    Named{"max", [](double a, double b) { return std::fmax(a, b); }, 2},
};

constexpr int kDeepest = 200;  // brackets in brackets; the reader calls itself for each

}  // namespace

/// Reads by recursive descent: sum, product, sign, power, atom.
class FormulaParser {
public:
    FormulaParser(const std::string& text, const std::vector<std::string>& names, std::vector<Formula::Step>& steps)
        : text_(text), names_(names), steps_(steps) {}

    void parse() {
        sum();
        if (at_ < text_.size()) fail("an operator is expected");
    }

private:
    void sum() {
        if (++depth_ > kDeepest) fail("the brackets are too deep");
        product();
        while (true) {
            if (take('+')) {
                product();
                apply([](double a, double b) { return a + b; }, 2);
            } else if (take('-')) {
                product();
                apply([](double a, double b) { return a - b; }, 2);
            } else {
                break;
            }
        }
        --depth_;
    }

    void product() {
        sign();
        while (true) {
            if (take('*')) {
                sign();
                apply([](double a, double b) { return a * b; }, 2);
            } else if (take('/')) {
                sign();
                apply([](double a, double b) { return a / b; }, 2);
            } else {
                break;
            }
        }
    }

    void sign() {
        if (++depth_ > kDeepest) fail("too many signs or brackets in a row");
        if (take('-')) {
            sign();
            apply([](double a, double) { return -a; }, 1);
        } else if (take('+')) {
            sign();
        } else {
            atom();
            if (take('^')) {
                sign();  // binds from the right: 2^-3^2 is 2^-(3^2)
                apply([](double a, double b) { return std::pow(a, b); }, 2);
            }
        }
        --depth_;
    }

    void atom() {
        if (take('(')) {
            sum();
            if (!take(')')) fail("')' is expected");
            return;
        }
        skip_blanks();
        if (at_ >= text_.size()) fail("it ends too early");
        const char c = text_[at_];
        if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') {
            number();
        } else if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_') {
            word();
        } else {
            fail("a number, a name or '(' is expected");
        }
    }

    void number() {
        double value = 0.0;
        const char* begin = text_.data() + at_;
        const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
        if (error != std::errc{}) fail("a number is expected");
        at_ += static_cast<std::size_t>(end - begin);
        steps_.push_back({.constant = value});
    }

    void word() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_')) {
            ++at_;
        }
        const std::string name = text_.substr(begin, at_ - begin);
        if (const auto found = std::ranges::find(names_, name); found != names_.end()) {
            steps_.push_back({.variable = true, .index = static_cast<std::size_t>(found - names_.begin())});
            return;
        }
        if (name == "pi") {
            steps_.push_back({.constant = std::numbers::pi});
            return;
        }
        const auto* function = std::ranges::find(kFunctions, name, &Named::name);
        if (function == kFunctions.end()) {
            at_ = begin;
            std::string known = fmt::format("{}", fmt::join(names_, ", "));
            for (const Named& entry : kFunctions) known += (known.empty() ? "" : ", ") + std::string(entry.name);
            fail(fmt::format("'{}' is not known; allowed: {}, pi", name, known));
        }
        if (!take('(')) fail("'(' is expected");
        sum();
        for (int k = 1; k < function->arguments; ++k) {
            if (!take(',')) fail("',' is expected");
            sum();
        }
        if (!take(')')) fail("')' is expected");
        apply(function->function, function->arguments);
    }

    void apply(Formula::Function function, int arguments) {
        steps_.push_back({.function = function, .arguments = arguments});
    }

    void skip_blanks() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    }

    bool take(char c) {
        skip_blanks();
        if (at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        skip_blanks();
        return true;
    }

    [[noreturn]] void fail(const std::string& message) const {
        throw InputError(fmt::format("\"{}\", character {}: {}", text_, at_ + 1, message));
    }

    const std::string& text_;
    const std::vector<std::string>& names_;
    std::vector<Formula::Step>& steps_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

Formula::Formula(const std::string& text, const std::vector<std::string>& names) {
    FormulaParser(text, names, steps_).parse();
}

double Formula::evaluate(std::span<const double> values) const {
    std::vector<double> stack;
    for (const Step& step : steps_) {
        if (step.function == nullptr) {
            stack.push_back(step.variable ? values[step.index] : step.constant);
            continue;
        }
        double second = 0.0;
        if (step.arguments == 2) {
            second = stack.back();
            stack.pop_back();
        }
        stack.back() = step.function(stack.back(), second);
    }
    return stack.back();
}

bool Formula::uses(std::size_t index) const {
    return std::ranges::any_of(steps_, [&](const Step& step) { return step.variable && step.index == index; });
}

}  // namespace carom
