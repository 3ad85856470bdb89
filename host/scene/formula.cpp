#include "host/scene/formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
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
    Named{"min", [](double a, double b) { return a < b ? a : b; }, 2},
    Named{"max", [](double a, double b) { return a > b ? a : b; }, 2},
};

/// Which give 1 or 0. None begins with another that stands before it.
constexpr std::array kOrders{
    Named{"<=", [](double a, double b) { return a <= b ? 1.0 : 0.0; }, 2},
    Named{">=", [](double a, double b) { return a >= b ? 1.0 : 0.0; }, 2},
    Named{"==", [](double a, double b) { return a == b ? 1.0 : 0.0; }, 2},
    Named{"!=", [](double a, double b) { return a != b ? 1.0 : 0.0; }, 2},
    Named{"<", [](double a, double b) { return a < b ? 1.0 : 0.0; }, 2},
    Named{">", [](double a, double b) { return a > b ? 1.0 : 0.0; }, 2},
};

constexpr int kDeepestFormula = 300;  // brackets in brackets; the reader calls itself for each

}  // namespace

/// Reads by recursive descent: either, both, compared, sum, product, sign, power, atom.
class FormulaParser {
public:
    FormulaParser(const std::string& text, const std::vector<std::string>& names, std::vector<Formula::Step>& steps)
        : text_(text), names_(names), steps_(steps) {}

    void parse() {
        constexpr std::size_t kLongest = 2000;  // a text of strangers' scenes, too, is read within a moment
        if (text_.size() > kLongest) throw InputError(fmt::format("longer than {} characters", kLongest));
        either();
        if (at_ < text_.size()) fail("an operator is expected");
    }

private:
    void either() {
        both();
        while (take_word("or")) {
            both();
            apply([](double a, double b) { return a != 0.0 || b != 0.0 ? 1.0 : 0.0; }, 2);
        }
    }

    void both() {
        compared();
        while (take_word("and")) {
            compared();
            apply([](double a, double b) { return a != 0.0 && b != 0.0 ? 1.0 : 0.0; }, 2);
        }
    }

    void compared() {
        if (++depth_ > kDeepestFormula) fail("words or brackets are too deep");
        if (take_word("not")) {
            compared();
            apply([](double a, double) { return a == 0.0 ? 1.0 : 0.0; }, 1);
        } else {
            sum();
            for (const Named& order : kOrders) {
                if (!take(order.name)) continue;
                sum();
                apply(order.function, 2);
                break;
            }
        }
        --depth_;
    }

    void sum() {
        if (++depth_ > kDeepestFormula) fail("the brackets are too deep");
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
        if (++depth_ > kDeepestFormula) fail("too many signs or brackets in a row");
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
            either();
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
        push({.constant = value});
    }

    void word() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && in_word(text_[at_])) ++at_;
        const std::string name = text_.substr(begin, at_ - begin);
        if (const auto found = std::ranges::find(names_, name); found != names_.end()) {
            push({.variable = true, .index = static_cast<std::size_t>(found - names_.begin())});
            return;
        }
        if (name == "pi") {
            push({.constant = std::numbers::pi});
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
        either();
        for (int k = 1; k < function->arguments; ++k) {
            if (!take(',')) fail("',' is expected");
            either();
        }
        if (!take(')')) fail("')' is expected");
        apply(function->function, function->arguments);
    }

    void push(const Formula::Step& step) {
        if (++height_ > Formula::kHighest) fail("too many numbers wait for each other");
        steps_.push_back(step);
    }

    void apply(Formula::Function function, int arguments) {
        height_ -= static_cast<std::size_t>(arguments - 1);
        steps_.push_back({.function = function, .arguments = arguments});
    }

    void skip_blanks() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    }

    bool take(char c) { return take(std::string_view(&c, 1)); }

    bool take(std::string_view mark) {
        skip_blanks();
        if (std::string_view(text_).substr(at_, mark.size()) != mark) return false;
        at_ += mark.size();
        skip_blanks();
        return true;
    }

    /// A name that begins like it is not meant.
    bool take_word(std::string_view name) {
        const std::size_t begin = at_;
        if (!take(name)) return false;
        const std::size_t end = text_.find(name, begin) + name.size();
        if (end >= text_.size() || !in_word(text_[end])) return true;
        at_ = begin;
        return false;
    }

    static bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

    [[noreturn]] void fail(const std::string& message) const {
        constexpr std::size_t kShown = 100;
        const std::string shown = text_.size() > kShown ? text_.substr(0, kShown) + "..." : text_;
        throw InputError(fmt::format("\"{}\", character {}: {}", shown, at_ + 1, message));
    }

    const std::string& text_;
    const std::vector<std::string>& names_;
    std::vector<Formula::Step>& steps_;
    std::size_t at_ = 0;
    std::size_t height_ = 0;  // of the stack, after the last step
    int depth_ = 0;
};

Formula::Formula(const std::string& text, const std::vector<std::string>& names) {
    FormulaParser(text, names, steps_).parse();
}

double Formula::evaluate(std::span<const double> values) const {
    std::array<double, kHighest> stack;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before it is read
    std::size_t height = 0;
    for (const Step& step : steps_) {
        if (step.function == nullptr) {
            stack[height++] = step.variable ? values[step.index] : step.constant;
            continue;
        }
        const double second = step.arguments == 2 ? stack[--height] : 0.0;
        double& first = stack[height - 1];
        // What is no number stays none: not with std::pow(nan, 0.0), nor where it is compared.
        first = std::isnan(first) || std::isnan(second) ? std::numeric_limits<double>::quiet_NaN()
                                                        : step.function(first, second);
    }
    return stack[0];
}

bool Formula::uses(std::size_t index) const {
    return std::ranges::any_of(steps_, [&](const Step& step) { return step.variable && step.index == index; });
}

}  // namespace carom
