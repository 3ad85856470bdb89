// The one file that sees CLI11, which takes longer to compile than all commands together.
#include "host/cli/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "host/state/errors.hpp"
#include "host/state/text.hpp"

namespace carom {

void CommandOptions::flag(std::string name, bool& value, std::string help) {
    all_.push_back({std::move(name), &value, std::move(help)});
}

void CommandOptions::option(std::string name, std::string& value, std::string value_name, std::string help) {
    all_.push_back({std::move(name), &value, std::move(help), std::move(value_name)});
}

void CommandOptions::repeatable(std::string name, std::vector<std::string>& value, std::string value_name,
                                std::string help) {
    all_.push_back({std::move(name), &value, std::move(help), std::move(value_name)});
}

void CommandOptions::several(std::string name, std::vector<std::string>& value, int count, std::string value_name,
                             std::string help) {
    all_.push_back({std::move(name), &value, std::move(help), std::move(value_name), false, count});
}

void CommandOptions::argument(std::string name, std::string& value, std::string help) {
    all_.push_back({std::move(name), &value, std::move(help)});
}

void CommandOptions::required_argument(std::string name, std::string& value, std::string help) {
    all_.push_back({std::move(name), &value, std::move(help), "", true});
}

void CommandOptions::required_arguments(std::string name, std::vector<std::string>& value, std::string help) {
    all_.push_back({std::move(name), &value, std::move(help), "", true});
}

void CommandOptions::describe(std::string_view name, std::string help) {
    std::ranges::find(all_, name, &CommandOption::name)->help = std::move(help);
}

void CommandOptions::leave_out(std::string_view name) {
    std::erase_if(all_, [&](const CommandOption& option) { return option.name == name; });
}

namespace {

void add(CLI::App& app, const CommandOption& row) {
    if (bool* const* flag = std::get_if<bool*>(&row.value)) {
        app.add_flag(row.name, **flag, row.help);
        return;
    }
    CLI::Option* option = nullptr;
    if (std::string* const* text = std::get_if<std::string*>(&row.value)) {
        option = app.add_option(row.name, **text, row.help);
    } else {
        option = app.add_option(row.name, *std::get<std::vector<std::string>*>(row.value), row.help);
        // A value may look like anything, so an option takes no more than it must.
        if (row.name.starts_with('-')) option->expected(row.values);
        if (row.name.starts_with('-') && row.values == 1) option->take_all()->allow_extra_args(false);
    }
    option->type_name(row.value_name)->required(row.required);
}

std::string see_help(const Command& command) { return fmt::format("; see carom {} --help", command.name); }

/// One line for what CLI11 found wrong.
std::string explain(const CLI::ParseError& error, const Command& command) {
    std::string text = error.what();
    std::ranges::replace(text, '\n', ' ');
    return text + see_help(command);
}

std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    }
    return names;
}

/// \throws InputError  for the first word that no option and no argument took
void refuse_extras(const CLI::App& app, const Command& command) {
    std::vector<std::string> extras = app.remaining();
    std::erase(extras, "--");  // the end of the options
    if (extras.empty()) return;
    const auto option = std::ranges::find_if(extras, [](const std::string& word) { return word.starts_with("-"); });
    if (option == extras.end()) throw InputError("unexpected argument '" + extras.front() + "'" + see_help(command));
    const std::string name = option->substr(0, option->find('='));
    const std::vector<std::string> names = option_names(app);
    if (std::ranges::find(names, name) != names.end()) {
        throw InputError(fmt::format("unexpected argument '{}' behind --{}", *option, see_help(command)));
    }
    const std::string meant = did_you_mean(name, names);
    throw InputError("unknown option " + name + (meant.empty() ? see_help(command) : meant));
}

/// \throws InputError  for an option that is given as '': a variable of a script that was never set, most likely
void refuse_empty_values(const CLI::App& app, const Command& command) {
    for (const CLI::Option* option : app.get_options()) {
        if (std::ranges::find(option->results(), std::string()) == option->results().end()) continue;
        throw InputError(option->get_name() + ": the value is empty" + see_help(command));
    }
}

/// The same of --NAME=, which CLI11 gives the next word.
void refuse_values_left_out(int argc, char** argv, const Command& command) {
    for (const std::string_view word : std::span(argv, static_cast<std::size_t>(argc))) {
        if (word == "--") return;
        if (!word.starts_with("--") || word.find('=') + 1 != word.size()) continue;
        throw InputError(fmt::format("{}: the value is empty{}", word.substr(0, word.size() - 1), see_help(command)));
    }
}

/// The examples, each line of them indented.
std::string footer(const Command& command) {
    std::string text = std::string("Example:\n") + command.example;
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 3) text.insert(at + 1, "  ");
    return text + "\n";
}

}  // namespace

std::optional<std::string> read_command_line(const Command& command, const CommandOptions& options, int argc,
                                             char** argv) {
    CLI::App app(command.summary, std::string("carom ") + command.name);
    app.footer(footer(command));
    app.get_formatter()->column_width(34);
    app.allow_extras();  // they are refused below, in our own words
    for (const CommandOption& row : options.all()) add(app, row);
    refuse_values_left_out(argc, argv, command);
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        return app.help();
    } catch (const CLI::ParseError& error) {
        throw InputError(explain(error, command));
    }
    refuse_extras(app, command);
    refuse_empty_values(app, command);
    return std::nullopt;
}

std::string command_line_library() { return CLI11_VERSION; }

}  // namespace carom
