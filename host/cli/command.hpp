#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <functional>
#include <string>
#include <vector>

namespace carom {

/// What a command does once its options are read; gives the exit status.
using Action = std::function<int()>;

/// One command of the program. A new one is a file beside this one and its line in commands().
struct Command {
    const char* name;
    const char* summary;  ///< one line for the list of commands
    const char* example;  ///< one or more whole command lines
    /// Adds the options and gives the action. `program` is the program as it was called.
    Action (*add)(CLI::App& app, const std::string& program);
};

const std::vector<Command>& commands();

Action add_run_command(CLI::App& app, const std::string& program);
Action add_check_command(CLI::App& app, const std::string& program);
Action add_state_command(CLI::App& app, const std::string& program);
Action add_convert_command(CLI::App& app, const std::string& program);
Action add_plot_command(CLI::App& app, const std::string& program);
Action add_sweep_command(CLI::App& app, const std::string& program);
Action add_bench_command(CLI::App& app, const std::string& program);
Action add_compare_command(CLI::App& app, const std::string& program);
Action add_view_command(CLI::App& app, const std::string& program);
Action add_render_command(CLI::App& app, const std::string& program);
Action add_report_command(CLI::App& app, const std::string& program);
Action add_info_command(CLI::App& app, const std::string& program);

}  // namespace carom
