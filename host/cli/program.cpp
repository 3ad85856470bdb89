#include "host/cli/program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "carom_build_info.hpp"
#include "host/cli/command.hpp"
#include "host/cli/nearest.hpp"
#include "host/cli/streams.hpp"
#include "host/run/say.hpp"
#include "host/run/signals.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

constexpr const char* kExitStatuses =
    "Exit status: 0 done; 2 bad command line, scene or input file; 3 the simulation could not go on;\n"
    "4 a file or device failed; 129, 130, 143 interrupted.";

std::string overview() {
    std::string text = "carom simulates many balls in a box, on the CPU or a GPU, with the same bits.\n\n";
    text += "usage: carom COMMAND [OPTIONS]\n\n";
    for (const Command& command : commands()) text += fmt::format("  {:<9}{}\n", command.name, command.summary);
    text += "\ncarom COMMAND --help shows the options of a command, with an example. carom --version.\n";
    return text + kExitStatuses + "\n";
}

std::vector<std::string> command_names() {
    std::vector<std::string> names;
    for (const Command& command : commands()) names.emplace_back(command.name);
    return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    }
    return names;
}

/// One line for what CLI11 found wrong.
std::string explain(const CLI::ParseError& error, const std::string& command) {
    std::string text = error.what();
    for (char& c : text) c = c == '\n' ? ' ' : c;
    return text + "; see carom " + command + " --help";
}

/// \throws InputError  for the first word that no option and no argument took
void refuse_extras(const CLI::App& app, const std::string& command) {
    std::vector<std::string> extras = app.remaining();
    std::erase(extras, "--");  // the end of the options
    if (extras.empty()) return;
    const std::string help = "; see carom " + command + " --help";
    const auto option = std::ranges::find_if(extras, [](const std::string& word) { return word.starts_with("-"); });
    if (option == extras.end()) throw InputError("unexpected argument '" + extras.front() + "'" + help);
    const std::string name = option->substr(0, option->find('='));
    const std::string meant = suggestion(name, option_names(app));
    throw InputError("unknown option " + name + (meant.empty() ? help : meant));
}

/// \throws InputError  for an option that is given as '': a variable of a script that was never set, most likely
void refuse_empty_values(const CLI::App& app, const std::string& command) {
    for (const CLI::Option* option : app.get_options()) {
        if (std::ranges::find(option->results(), std::string()) == option->results().end()) continue;
        throw InputError(fmt::format("{}: the value is empty; see carom {} --help", option->get_name(), command));
    }
}

int run_command(const Command& command, const std::string& program, int argc, char** argv) {
    CLI::App app(command.summary, std::string("carom ") + command.name);
    app.footer(std::string("Example:\n  ") + [&] {
        std::string example = command.example;
        for (std::size_t at = 0; (at = example.find('\n', at)) != std::string::npos; at += 3)
            example.insert(at + 1, "  ");
        return example;
    }() + "\n");
    app.get_formatter()->column_width(34);
    app.allow_extras();  // they are refused below, in our own words
    const Action action = command.add(app, program);
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        fmt::print("{}", app.help());
        return 0;
    } catch (const CLI::ParseError& error) {
        throw InputError(explain(error, command.name));
    }
    refuse_extras(app, command.name);
    refuse_empty_values(app, command.name);
    return action();
}

int dispatch(int argc, char** argv) {
    const std::string program = argc > 0 ? argv[0] : "carom";
    const std::string word = argc > 1 ? argv[1] : "";
    if (word == "--version") {
        fmt::print("carom {} ({})\n", build_info::kVersion, build_info::commit());
        return 0;
    }
    if (word == "--help" || word == "-h" || word == "help") {
        fmt::print("{}", overview());
        return 0;
    }
    if (word.empty()) throw InputError("no command given; see carom --help");
    for (const Command& command : commands()) {
        if (word == command.name) return run_command(command, program, argc - 1, argv + 1);
    }
    const std::string kind = word.starts_with("-") ? "option" : "command";
    const std::string meant = kind == "command" ? suggestion(word, command_names()) : "";
    throw InputError(fmt::format("unknown {} {}{}", kind, word, meant.empty() ? "; see carom --help" : meant));
}

int fail(ExitStatus status, const char* message) {
    say("carom: {}\n", message);
    return static_cast<int>(status);
}

}  // namespace

int run_program(int argc, char** argv) {
    std::signal(SIGXFSZ, SIG_IGN);  // a file that may grow no further is a failed write like any other
    keep_broken_pipes();
    end_on_signals();
    try {
        const int status = dispatch(argc, argv);
        finish_output();  // a full disk or a closed pipe shows only now
        return status;
    } catch (const InputError& error) {
        return fail(ExitStatus::kBadInput, error.what());
    } catch (const SimulationError& error) {
        return fail(ExitStatus::kCannotContinue, error.what());
    } catch (const SystemError& error) {
        return fail(ExitStatus::kSystemFailure, error.what());
    } catch (const std::bad_alloc&) {
        return fail(ExitStatus::kSystemFailure, "out of memory; carom check tells what a scene needs");
    } catch (const std::system_error& error) {
        if (std::ferror(stdout) != 0) end_if_pipe_broke(error.code().value());
        return fail(ExitStatus::kSystemFailure, error.what());
    } catch (const std::exception& error) {
        return fail(ExitStatus::kSystemFailure, error.what());
    }
}

}  // namespace carom
