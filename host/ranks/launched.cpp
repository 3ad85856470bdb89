#include "host/ranks/launched.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "host/ranks/mpi_module.hpp"

namespace carom {

namespace {

int number_of(const char* variable, int otherwise) {
    const char* const text = std::getenv(variable);
    if (text == nullptr || *text == '\0') return otherwise;
    char* end = nullptr;
    const long number = std::strtol(text, &end, 10);
    const bool whole = *end == '\0' || *end == '(' || *end == ',';  // SLURM: "64(x2)", "64,32"
    return whole && number >= 0 && number < (1L << 30) ? static_cast<int>(number) : otherwise;
}

class MpiTransport final : public Transport {
public:
    MpiTransport(const MpiModule& mpi, int rank_here) : mpi_(mpi), rank_here_(rank_here) {}
    ~MpiTransport() override { mpi_.stop(); }
    MpiTransport(const MpiTransport&) = delete;
    MpiTransport& operator=(const MpiTransport&) = delete;

    int rank() const override { return mpi_.rank; }
    int size() const override { return mpi_.size; }
    int rank_here() const override { return rank_here_; }
    bool reaches_devices() const override { return mpi_.reaches_devices != 0; }
    void begin_swap(std::span<const Parcel> out, std::span<Parcel> in) override {
        out_.clear();
        in_.clear();
        wanted_ = in;
        for (const Parcel& parcel : out) out_.push_back({parcel.peer, parcel.data, parcel.bytes});
        for (const Parcel& parcel : in) in_.push_back({parcel.peer, parcel.data, parcel.bytes});
        mpi_.begin_swap(out_.data(), out_.size(), in_.data(), in_.size());
    }
    void end_swap() override {
        mpi_.end_swap();
        for (std::size_t k = 0; k < wanted_.size(); ++k) wanted_[k].bytes = in_[k].bytes;
    }
    int whose_message_waits() override { return mpi_.whose_message_waits(); }
    void max_all(std::span<std::uint64_t> values) override { mpi_.max_all(values.data(), values.size()); }
    void sum_all(std::span<std::uint64_t> values) override { mpi_.sum_all(values.data(), values.size()); }
    void broadcast(std::span<std::byte> bytes) override { mpi_.broadcast(bytes.data(), bytes.size()); }
    void abort(int status) override { mpi_.abort(status); }

private:
    const MpiModule& mpi_;
    int rank_here_;
    std::vector<MpiParcel> out_, in_;
    std::span<Parcel> wanted_;
};

std::vector<std::string> places_of_module() {
    if (const char* given = std::getenv("CAROM_MPI_MODULE"); given != nullptr && *given != '\0') return {given};
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    const std::filesystem::path folder = program.parent_path();
    return {folder / "carom_mpi.so", folder.parent_path() / "lib/carom/carom_mpi.so"};
}

struct Led {
    std::unique_ptr<Ranks> ranks;
    bool of_a_sweep = false;
};

Led& led() {
    static Led all;
    return all;
}

volatile std::sig_atomic_t signal_got = 0;
volatile std::sig_atomic_t signal_told = 0;

extern "C" void note_signal_of_rank(int number) { signal_got = number; }

}  // namespace

Launch launch() {
    struct Names {
        const char* ranks;
        const char* rank;
        const char* here;
        const char* rank_here;
    };
    // Of OpenMPI, of those with MPICH's process manager, and of SLURM's step.
    constexpr Names kLaunchers[] = {
        {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
        {"PMI_SIZE", "PMI_RANK", "MPI_LOCALNRANKS", "MPI_LOCALRANKID"},
        {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_STEP_TASKS_PER_NODE", "SLURM_LOCALID"},
    };
    for (const Names& names : kLaunchers) {
        const int ranks = number_of(names.ranks, 1);
        if (ranks > 1) {
            return {ranks, number_of(names.rank, 0), std::clamp(number_of(names.here, 1), 1, ranks),
                    number_of(names.rank_here, 0)};
        }
    }
    return {};
}

int threads_of_rank(const Launch& launch) {
    const long online = std::max(1L, sysconf(_SC_NPROCESSORS_ONLN));
    const int share = std::max(1, static_cast<int>(online) / launch.ranks_here);
    const int bound = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));  // to which a launcher binds
    return std::min(share, bound);
}

std::string mpi_module() {
    for (const std::string& place : places_of_module()) {
        if (access(place.c_str(), R_OK) == 0) return place;
    }
    return {};
}

std::shared_ptr<Transport> start_mpi(const Launch& launch) {
    const std::string path = mpi_module();
    if (path.empty()) {
        std::string looked;
        for (const std::string& place : places_of_module()) looked += (looked.empty() ? "" : " and ") + place;
        throw std::runtime_error("started as one of " + std::to_string(launch.ranks) +
                                 " ranks, but there is no module for MPI (looked for " + looked +
                                 "); build carom where MPI's compiler is");
    }
    // MPI's own plug-ins look for its symbols among all that are loaded.
    void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (module == nullptr) throw std::runtime_error(std::string("cannot open the module for MPI: ") + dlerror());
    const auto begin = reinterpret_cast<StartMpi>(dlsym(module, kStartMpi));
    if (begin == nullptr) throw std::runtime_error(path + ": is no module of carom for MPI");
    const MpiModule* const mpi = begin();
    if (mpi->version != kMpiModuleVersion) throw std::runtime_error(path + ": is of another version of carom");
    auto transport = std::make_shared<MpiTransport>(*mpi, launch.rank_here);
    if (transport->size() != launch.ranks) {
        throw std::runtime_error("the launcher has started " + std::to_string(launch.ranks) + " ranks, but " +
                                 mpi->library + ", which the module was built with, found " +
                                 std::to_string(transport->size()) + ": they are of different kinds of MPI");
    }
    return transport;
}

void leave_signals_to_rank_0() {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction old {};
        sigaction(number, nullptr, &old);
        if (old.sa_handler == SIG_IGN) continue;
        struct sigaction action {};
        action.sa_handler = note_signal_of_rank;
        sigemptyset(&action.sa_mask);
        action.sa_flags = SA_RESTART;
        sigaction(number, &action, nullptr);
    }
}

int rank_signal() { return signal_got; }

void tell_signal(int number) { signal_told = number; }
int told_signal() { return signal_told; }

Ranks* ranks_of_run() { return led().of_a_sweep ? nullptr : led().ranks.get(); }
Ranks* ranks_of_sweep() { return led().of_a_sweep ? led().ranks.get() : nullptr; }
void lead(std::unique_ptr<Ranks> ranks, bool sweep) {
    led().ranks = std::move(ranks);
    led().of_a_sweep = sweep;
}

}  // namespace carom
