#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace carom {

/// One option or argument of a command, and where its value goes: a flag, a text, or several.
struct CommandOption {
    std::string name;  ///< "-o,--output"; without a dash an argument, which is told by its place
    std::variant<bool*, std::string*, std::vector<std::string>*> value;
    std::string help;
    std::string value_name;  ///< stands for the value in the help
    bool required = false;
    int values = 1;  ///< of an option with several: so many follow it each time it is given
};

/// The options of one command, in the order of its help.
class CommandOptions {
public:
    /// `value` outlives the reading of the command line.
    void flag(std::string name, bool& value, std::string help);
    void option(std::string name, std::string& value, std::string value_name, std::string help);
    /// May be given several times, with one value each.
    void repeatable(std::string name, std::vector<std::string>& value, std::string value_name, std::string help);
    /// Takes so many values at once.
    void several(std::string name, std::vector<std::string>& value, int count, std::string value_name,
                 std::string help);
    void argument(std::string name, std::string& value, std::string help);
    void required_argument(std::string name, std::string& value, std::string help);
    /// All the arguments there are, one at least.
    void required_arguments(std::string name, std::vector<std::string>& value, std::string help);

    /// Another help for an option that several commands share.
    void describe(std::string_view name, std::string help);
    /// Leaves out an option that several commands share.
    void leave_out(std::string_view name);

    [[nodiscard]] const std::vector<CommandOption>& all() const { return all_; }

private:
    std::vector<CommandOption> all_;
};

/// What a command does once its options are read; gives the exit status.
using Action = std::function<int()>;

/// One command of the program. A new one is a function of its own, declared below, and a row of the table in main.cpp.
struct Command {
    const char* name;
    const char* summary;  ///< one line for the list of commands
    const char* example;  ///< one or more whole command lines
    /// Adds the options and gives the action. `program` is the program as it was called.
    Action (*add)(CommandOptions& options, const std::string& program);
};

Action add_run_command(CommandOptions& command, const std::string& program);
Action add_check_command(CommandOptions& command, const std::string& program);
Action add_scenes_command(CommandOptions& command, const std::string& program);
Action add_state_command(CommandOptions& command, const std::string& program);
Action add_convert_command(CommandOptions& command, const std::string& program);
Action add_sweep_command(CommandOptions& command, const std::string& program);
Action add_bench_command(CommandOptions& command, const std::string& program);
Action add_plot_command(CommandOptions& command, const std::string& program);
Action add_compare_command(CommandOptions& command, const std::string& program);
Action add_view_command(CommandOptions& command, const std::string& program);
Action add_render_command(CommandOptions& command, const std::string& program);
Action add_report_command(CommandOptions& command, const std::string& program);
Action add_info_command(CommandOptions& command, const std::string& program);

/// Reads the command line into what the options name; gives the command's help if that is asked for.
/// \param argv  the command's name, then its options and arguments
/// \throws InputError  an option that is unknown, empty or lacks its value; an argument too much or too few
std::optional<std::string> read_command_line(const Command& command, const CommandOptions& options, int argc,
                                             char** argv);

/// The version of the library that reads it.
std::string command_line_library();

}  // namespace carom
