#include "host/sweep/table.hpp"

#include <fmt/format.h>

#include <cmath>

namespace carom {

namespace {

/// As CSV has it: in quotes where a comma or a quote would mislead.
std::string cell(const std::string& text) {
    if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
    std::string result = "\"";
    for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
    return result + "\"";
}

/// Mean and standard error of the mean, of two values or more.
std::pair<double, double> mean_and_error(const std::vector<double>& values) {
    const auto count = static_cast<double>(values.size());
    double sum = 0.0;
    for (const double value : values) sum += value;
    const double mean = sum / count;
    double squares = 0.0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    return {mean, std::sqrt(squares / (count - 1.0) / count)};
}

}  // namespace

std::string table_text(const Sweep& sweep, const std::vector<std::string>& columns,
                       const std::map<std::uint64_t, RunResult>& results) {
    std::string text;
    const auto end_line = [&text] { text.back() = '\n'; };  // in place of a comma
    for (const std::string& name : sweep.axis_columns()) text += cell(name) + ",";
    for (const std::string& name : columns) {
        text += cell(name) + ",";
        if (sweep.averaged) text += cell(name + "_se") + ",";
    }
    end_line();
    const std::uint64_t per_row = sweep.runs_per_row();
    for (std::uint64_t row = 0; row < sweep.rows(); ++row) {
        const std::vector<std::size_t> at = sweep.values_of(row * per_row);
        for (std::size_t k = 0; k < sweep.axes.size(); ++k) {
            if (k != sweep.averaged) text += cell(sweep.axes[k].values[at[k]].text) + ",";
        }
        bool whole = true;
        for (std::uint64_t run = row * per_row; run < (row + 1) * per_row; ++run) {
            whole = whole && !results.at(run).values.empty();
        }
        for (std::size_t column = 0; column < columns.size(); ++column) {
            if (!whole) {
                text += sweep.averaged ? ",," : ",";
                continue;
            }
            std::vector<double> values;
            for (std::uint64_t run = row * per_row; run < (row + 1) * per_row; ++run) {
                values.push_back(results.at(run).values[column]);
            }
            if (sweep.averaged) {
                const auto [mean, error] = mean_and_error(values);
                text += fmt::format("{},{},", mean, error);
            } else {
                text += fmt::format("{},", values.front());
            }
        }
        end_line();
    }
    return text;
}

}  // namespace carom
