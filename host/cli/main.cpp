#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "carom_build_info.hpp"
#include "host/cli/command_line.hpp"
#include "host/ranks/launched.hpp"
#include "host/run/say.hpp"
#include "host/run/signals.hpp"
#include "host/scene/faults.hpp"
#include "host/state/errors.hpp"
#include "host/state/text.hpp"
#include "host/sweep/run_sweep.hpp"

namespace carom {

namespace {

constexpr Command kCommands[] = {
    {"run", "Simulate a scene, or go on from a checkpoint",
     "carom run gas2d -o gas.h5 --until 5 --threads 4\n"
     "carom run --resume gas.checkpoint.h5 --until 10",
     add_run_command},
    {"check", "Validate a scene and print what a run of it would take",
     "carom check scenes/gas2d.toml --set physics.restitution=0.9", add_check_command},
    {"scenes", "List the installed scenes: what each is, and where they lie", "carom scenes", add_scenes_command},
    {"state", "Print the balls of one stored frame", "carom state gas.h5 --time 2.5 --csv > balls.csv",
     add_state_command},
    {"convert", "Write frames in the format of another program",
     "carom convert gas.h5 gas.vtp          # all frames, for ParaView\n"
     "carom convert gas.h5 last.xyz --last  # one frame, for OVITO",
     add_convert_command},
    {"sweep", "Run one scene over a grid of values of its keys, many runs at once",
     "carom sweep pinfall.sweep.toml -o pinfall.csv\n"
     "carom sweep pinfall_fine --shard 2/8   # the second of eight machines\n"
     "srun carom sweep pinfall_fine   # each of a job's processes does some of the runs",
     add_sweep_command},
    {"bench", "Measure speed on this machine, against its limit and the textbook algorithm",
     "carom bench --quick                       # within a minute\n"
     "carom bench --only spring,textbook --sizes 1e5,1e6 -o here.json\n"
     "carom bench --diff before.json after.json",
     add_bench_command},
    {"plot", "Draw a figure of a stored run, of a sweep's table or of measured speeds",
     "carom plot gas.h5 energy -o energy.pdf\n"
     "carom plot gas.h5 balls -o picture.png   # the last frame, drawn without a display\n"
     "carom plot pinfall.csv pinfall -o pinfall.svg\n"
     "carom plot pinfall.csv pinfall --by angle\n"
     "carom plot here.json speed -o speed.png",
     add_plot_command},
    {"compare", "Hold the two solvers, and the processors, against each other on a scene",
     "carom compare two_balls\n"
     "carom compare gas2d --set fill[0].count=4096 --set box.size=[84.6,84.6] -o proof.png",
     add_compare_command},
    {"view", "Look at a simulation while it runs, or at a stored run, in a window",
     "carom view billiards\n"
     "carom view gas.h5 --color-by speed",
     add_view_command},
    {"render", "Draw pictures and movies of a scene or a stored run, without a display",
     "carom render gas.h5 -o gas.mp4 --color-by speed --overlay\n"
     "carom render gas3d -o start.png --time 0 --camera perspective,azimuth=40",
     add_render_command},
    {"report", "Write one page about a stored run: scene, machine, figures, measured against theory",
     "carom report gas.h5 -o gas.html   # needs no network; for any browser", add_report_command},
    {"info", "Print version, build options, processors and libraries", "carom info", add_info_command},
};

constexpr const char* kExitStatuses =
    "Exit status: 0 done; 2 bad command line, scene or input file; 3 the simulation could not go on;\n"
    "4 a file or device failed; 129, 130, 143 interrupted.";

std::string overview() {
    std::string text = "carom simulates many balls in a box, on the CPU or a GPU, with the same bits.\n\n";
    text += "usage: carom COMMAND [OPTIONS]\n\n";
    for (const Command& command : kCommands) text += fmt::format("  {:<9}{}\n", command.name, command.summary);
    text += "\ncarom COMMAND --help shows the options of a command, with an example. carom --version.\n";
    return text + kExitStatuses + "\n";
}

std::vector<std::string> command_names() {
    std::vector<std::string> names;
    for (const Command& command : kCommands) names.emplace_back(command.name);
    return names;
}

int run_command(const Command& command, const std::string& program, int argc, char** argv) {
    CommandOptions options;
    const Action action = command.add(options, program);
    if (const auto help = read_command_line(command, options, argc, argv)) {
        fmt::print("{}", *help);
        return 0;
    }
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
    for (const Command& command : kCommands) {
        if (word == command.name) return run_command(command, program, argc - 1, argv + 1);
    }
    const std::string kind = word.starts_with("-") ? "option" : "command";
    const std::string meant = kind == "command" ? did_you_mean(word, command_names()) : "";
    throw InputError(fmt::format("unknown {} {}{}", kind, word, meant.empty() ? "; see carom --help" : meant));
}

int fail(ExitStatus status, const char* message) noexcept {
    try {
        say("carom: {}\n", visible(message));
    } catch (const std::exception&) {  // no memory for it
        std::fputs("carom: out of memory\n", stderr);
    }
    return static_cast<int>(status);
}

bool pipes_end_the_program = false;

extern "C" void ignore_signal(int /*number*/) {}

/// Opens those of the descriptors 0 to 2 that the caller has closed, on /dev/null: otherwise the first files that are
/// opened would get them, and messages would be written into a trajectory. Input and output are opened the wrong way
/// round, so that using them still fails as it does when they are closed; messages on standard error are lost.
void open_closed_streams() {
    constexpr int kModes[] = {O_WRONLY, O_RDONLY, O_RDWR};
    for (int descriptor = 0; descriptor < 3; ++descriptor) {
        if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
        // The lowest free descriptor is this one, since those below are open.
        if (open("/dev/null", kModes[descriptor]) < 0) return;
    }
}

/// From now on a write to a closed pipe fails like any other write, and ends nothing: who stops listening to messages
/// must not lose a run.
void keep_broken_pipes() {
    struct sigaction action {};
    // A function and not SIG_IGN, which the programs that are started would inherit.
    action.sa_handler = ignore_signal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    struct sigaction old {};
    sigaction(SIGPIPE, nullptr, &old);
    if (old.sa_handler == SIG_IGN) return;
    pipes_end_the_program = sigaction(SIGPIPE, &action, nullptr) == 0;
}

/// Ends the program as a closed pipe does by itself, if `error` (as errno has it) says that standard output is one, and
/// the caller does not ignore it.
void end_if_pipe_broke(int error) {
    if (error != EPIPE || !pipes_end_the_program) return;
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
}

/// Sees to it that all of standard output has been written.
/// \throws SystemError  it has not
void finish_output() {
    const bool flushed = std::fflush(stdout) == 0;
    if (flushed && std::ferror(stdout) == 0) return;
    const int error = errno;
    end_if_pipe_broke(error);
    // Of an earlier write nobody knows the reason any more.
    throw SystemError("cannot write to standard output" +
                      (flushed ? std::string() : ": " + std::generic_category().message(error)));
}

/// Whether the variable below is ours, and not the user's.
bool spinning_limited = false;

/// Sees to it that threads that wait for each other spin for microseconds only. At the end of each step the wait is
/// short, so going to sleep at once costs two thirds of the speed of 10,000 balls; but libgomp's own choice is to spin
/// for milliseconds, and where other programs want the cores too, that takes them from the very thread that is waited
/// for: ten times slower, measured with two threads on two busy cores. The library looks at its environment once, in a
/// constructor; this one comes before, since libgomp is linked statically (cmake/CaromDependencies.cmake says why).
[[gnu::constructor(101)]] void limit_spinning() {
    constexpr const char* kSpins = "1000";  // some microseconds
    if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;
    spinning_limited = std::getenv("GOMP_SPINCOUNT") == nullptr && setenv("GOMP_SPINCOUNT", kSpins, 0) == 0;
}

/// Where memory runs out in what must not throw (destructors of the JSON library take some), the program ends as it
/// does elsewhere: what is on disk is whole at any moment.
void end_on_lost_memory() noexcept {
    constexpr std::size_t kSome = 1U << 16;
    bool lost = false;
    try {
        if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
        // What was thrown while something else was on its way out, nobody can tell: but whether there is any.
        void* const some = ::operator new(kSome, std::nothrow);
        lost = some == nullptr;
        ::operator delete(some);
    } catch (const std::bad_alloc&) {
        lost = true;
    } catch (...) {
    }
    if (!lost) std::abort();
    static_cast<void>(fail(ExitStatus::kSystemFailure, "out of memory"));
    std::_Exit(static_cast<int>(ExitStatus::kSystemFailure));
}

/// What a launcher of MPI has started to share a run or a sweep: rank 0 is the program, and the others do what it says.
/// Other commands, and a sweep's part that is asked for by --shard, each process does for itself.
/// \returns  the exit status of one of the others; none: this is the program
std::optional<int> join_ranks(int argc, char** argv) {
    const Launch started = launch();
    if (started.ranks == 1) return std::nullopt;
    const std::span<char*> words(argv, static_cast<std::size_t>(argc));
    const std::string_view command = words.size() > 1 ? words[1] : "";
    const bool part = std::ranges::any_of(words, [](std::string_view word) { return word.starts_with("--shard"); });
    if (command != "run" && (command != "sweep" || part)) return std::nullopt;
    if (started.rank == 0) {
        lead(std::make_unique<Ranks>(start_mpi(started)), command == "sweep");
        return std::nullopt;
    }
    leave_signals_to_rank_0();
    std::shared_ptr<Transport> transport;
    try {
        transport = start_mpi(started);
    } catch (const std::exception&) {  // rank 0 finds the same, and says so; if not, the launcher ends it
        return static_cast<int>(ExitStatus::kSystemFailure);
    }
    int status = 0;
    try {
        serve_rank(*transport, help_with_sweep);
    } catch (const std::exception& error) {
        const bool memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
        status = fail(ExitStatus::kSystemFailure,
                      fmt::format("rank {}: {}", started.rank, memory ? "out of memory" : error.what()).c_str());
        transport->abort(status);
    }
    return status;
}

/// The other ranks are let go when the program ends, however it does.
struct RanksLetGo {
    ~RanksLetGo() { lead(nullptr); }
};

/// Where memory is limited, all threads share one arena: a thread for whose own, 64 MB of addresses, there is no room
/// has each block mapped by itself, a page at least, and HDF5 came to the end of memory that had been looked for.
void share_little_memory() {
#if defined(__GLIBC__)
    struct rlimit most {};
    if (getrlimit(RLIMIT_AS, &most) == 0 && most.rlim_cur != RLIM_INFINITY) mallopt(M_ARENA_MAX, 1);
#endif
}

int run_program(int argc, char** argv) {
    share_little_memory();
    std::set_terminate(end_on_lost_memory);
    std::signal(SIGXFSZ, SIG_IGN);  // a file that may grow no further is a failed write like any other
    keep_broken_pipes();
    end_on_signals();
    // After what went wrong has been said: ranks that wait for more are ended then, and this one with them.
    const RanksLetGo at_the_end;
    try {
        if (const std::optional<int> status = join_ranks(argc, argv)) return *status;
        const int status = dispatch(argc, argv);
        finish_output();  // a full disk or a closed pipe shows only now
        return status;
    } catch (const SceneErrors& errors) {
        for (const std::string& line : errors.lines()) fail(ExitStatus::kBadInput, line.c_str());
        return static_cast<int>(ExitStatus::kBadInput);
    } catch (const InputError& error) {
        return fail(ExitStatus::kBadInput, error.what());
    } catch (const SimulationError& error) {
        return fail(ExitStatus::kCannotContinue, error.what());
    } catch (const SystemError& error) {
        return fail(ExitStatus::kSystemFailure, error.what());
    } catch (const std::bad_alloc&) {
        return fail(ExitStatus::kSystemFailure, "out of memory; carom check tells what a scene needs");
    } catch (const std::system_error& error) {
        if (std::ferror(stdout) == 0) return fail(ExitStatus::kSystemFailure, error.what());
        end_if_pipe_broke(error.code().value());
        return fail(ExitStatus::kSystemFailure, ("cannot write to standard output: " + error.code().message()).c_str());
    } catch (const std::exception& error) {
        return fail(ExitStatus::kSystemFailure, error.what());
    }
}

}  // namespace

}  // namespace carom

int main(int argc, char** argv) {
    carom::open_closed_streams();                             // before anything else is opened
    if (carom::spinning_limited) unsetenv("GOMP_SPINCOUNT");  // not for the programs that are started
    return carom::run_program(argc, argv);
}
