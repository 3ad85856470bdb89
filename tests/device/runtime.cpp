// A CUDA runtime without a GPU: what carom, Thrust and CUB call of libcudart, over the device of device.cpp. Work is
// queued, and done when something waits for it (PTX_SCHEDULE), so that what nobody waits for shows.
#include <cuda_runtime_api.h>
#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "device.hpp"
#include "memory.hpp"

namespace ptx {

namespace {

PTX_EARLY std::recursive_mutex g_lock;
int g_remarks = 0;
PTX_EARLY std::map<std::string, int> g_remarked;

bool env_is(const char* name, const char* value) {
    const char* set = std::getenv(name);
    return set != nullptr && std::strcmp(set, value) == 0;
}
std::uint64_t env_number(const char* name, std::uint64_t otherwise) {
    const char* set = std::getenv(name);
    return set != nullptr ? std::strtoull(set, nullptr, 0) : otherwise;
}

Settings read_settings() {
    Settings s;
    const char* modules = std::getenv("PTX_MODULES");
    if (modules != nullptr) s.modules = modules;
    if (env_is("PTX_SCHEDULE", "eager")) s.schedule = Schedule::kEager;
    if (env_is("PTX_SCHEDULE", "random")) s.schedule = Schedule::kRandom;
    if (env_is("PTX_ORDER", "reverse")) s.order = Order::kReverse;
    if (env_is("PTX_ORDER", "shuffled")) s.order = Order::kShuffled;
    s.seed = env_number("PTX_SEED", 1);
    s.poison = static_cast<int>(env_number("PTX_POISON", 0xcc));
    s.memory = env_number("PTX_MEMORY", s.memory);
    s.processors = static_cast<int>(env_number("PTX_PROCESSORS", static_cast<std::size_t>(s.processors)));
    s.clusters = env_number("PTX_CLUSTERS", 1) != 0;
    s.cooperative = env_number("PTX_COOPERATIVE", 1) != 0;
    s.pinned_blocks = env_number("PTX_PINNED", s.pinned_blocks);
    s.tight = env_is("PTX_TIGHT", "1");
    s.check = env_is("PTX_CHECK", "1");
    s.pageable_late = env_is("PTX_PAGEABLE", "late");
    s.strict_free = env_is("PTX_FREE", "strict");
    s.stats = env_is("PTX_STATS", "1");
    s.trace = env_is("PTX_TRACE", "1");
    if (const char* report = std::getenv("PTX_PTXAS")) s.ptxas = report;
    if (const char* file = std::getenv("PTX_COUNT")) s.count = file;
    return s;
}

void print_where() {
    void* frames[40];
    const int count = backtrace(frames, 40);
    char** names = backtrace_symbols(frames, count);
    for (int i = 2; i < count && names != nullptr; ++i) std::fprintf(stderr, "    %s\n", names[i]);
}

}  // namespace

const Settings& settings() {
    static const Settings the = read_settings();
    return the;
}

std::string short_name(const char* mangled) {
    int status = 0;
    char* text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
    std::string name = status == 0 && text != nullptr ? text : mangled;
    std::free(text);
    if (name.rfind("void ", 0) == 0) name.erase(0, 5);
    std::string flat;
    // The parameter list behind the last template bracket says nothing new.
    const auto end = name.rfind(">(");
    flat = end != std::string::npos ? name.substr(0, end + 1) : name;
    for (const char* noise : {"carom::cuda::", "carom::", "(unnamed namespace)::", "(anonymous namespace)::"}) {
        for (auto at = flat.find(noise); at != std::string::npos; at = flat.find(noise))
            flat.erase(at, std::strlen(noise));
    }
    if (flat.size() > 160) flat = flat.substr(0, 157) + "...";
    return flat;
}

void fail(const std::string& what) {
    std::fflush(stdout);
    std::fprintf(stderr, "\n[ptx] DEFECT: %s\n", what.c_str());
    print_where();
    std::fflush(stderr);
    _exit(86);
}
void remark(const std::string& what) {
    ++g_remarks;
    std::fprintf(stderr, "[ptx] remark: %s\n", what.c_str());
}
void remark_once(const std::string& what) {
    if (g_remarked[what]++ == 0) remark(what);
}
void report_access(const std::string& where, const char* does, std::uintptr_t at, unsigned bytes, const char* what) {
    std::string text = where + " " + does + " " + std::to_string(bytes) + " bytes of " + describe(at) + ": " + what;
    const bool fatal = std::strncmp(what, "race", 4) != 0 && std::strstr(what, "nobody wrote") == nullptr;
    if (fatal) fail(text);
    // Once a kernel, instruction and kind.
    const auto line = where.find("PTX line");
    const std::string key = where.substr(line != std::string::npos ? line : 0) + does + what;
    if (g_remarked[key]++ == 0) remark(text);
}

namespace {

// -- modules

struct Function {
    const Kernel* kernel = nullptr;
    std::string name;
    int module = -1;
    int dynamic_limit = 48 * 1024;
    bool loaded = false;
    bool large_clusters = false;  // of 16 blocks are allowed
    long launches = 0;
    int registers = 0;  // 0: not known
    int spill_bytes = 0, stack_bytes = 0;
    Counts counts;
};

struct LoadedModule {
    std::string tag;
    const Module* module = nullptr;
    std::map<std::string, const Kernel*> kernels;
    std::map<std::string, const Variable*> variables;
};

PTX_EARLY std::vector<std::unique_ptr<LoadedModule>> g_modules;
PTX_EARLY std::map<const void*, Function> g_functions;
PTX_EARLY std::map<const void*, const Variable*> g_variables;
int g_target = 90;

struct Registers {
    int registers = 0, stack = 0, spills = 0;
};
std::map<std::string, Registers>& ptxas_report() {
    static std::map<std::string, Registers> report = [] {
        std::map<std::string, Registers> rows;
        std::ifstream file(settings().ptxas);
        std::string line;
        std::string name;
        while (std::getline(file, line)) {
            if (const auto at = line.find("Compiling entry function '"); at != std::string::npos) {
                const auto begin = at + 26;
                name = line.substr(begin, line.find('\'', begin) - begin);
            } else if (const auto in = line.find("Function properties for "); in != std::string::npos) {
                name = line.substr(in + 24);
            } else if (int stack = 0, stores = 0, loads = 0;
                       std::sscanf(line.c_str(), " %d bytes stack frame, %d bytes spill stores, %d bytes spill loads",
                                   &stack, &stores, &loads) == 3) {
                rows[name].stack = stack;
                rows[name].spills = stores;
            } else if (const auto used = line.find("Used "); used != std::string::npos) {
                rows[name].registers = std::atoi(line.c_str() + used + 5);
            }
        }
        return rows;
    }();
    return report;
}

/// FNV-1a: which translated module belongs to this PTX.
std::string tag_of(const char* text, std::size_t bytes) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ static_cast<unsigned char>(text[i])) * 0x100000001b3ULL;
    char name[20];
    std::snprintf(name, sizeof name, "%016llx", static_cast<unsigned long long>(hash));
    return name;
}

struct FatbinWrapper {
    std::uint32_t magic, version;
    const unsigned char* data;
    void* rest;
};

template <class T>
T read_at(const unsigned char* place) {
    T value;
    std::memcpy(&value, place, sizeof value);
    return value;
}

/// The PTX of a fat binary; of several, the first one.
std::pair<const char*, std::size_t> ptx_of(const unsigned char* fatbin) {
    if (read_at<std::uint32_t>(fatbin) != 0xba55ed50U) fail("a fat binary of an unknown kind");
    const unsigned char* at = fatbin + read_at<std::uint16_t>(fatbin + 6);
    const unsigned char* const end = at + read_at<std::uint64_t>(fatbin + 8);
    while (at < end) {
        const auto kind = read_at<std::uint16_t>(at);
        const auto header = read_at<std::uint32_t>(at + 4);
        const auto size = read_at<std::uint64_t>(at + 8);
        const auto compressed = read_at<std::uint32_t>(at + 16);
        if (kind == 1) {
            if (compressed != 0) fail("compressed PTX: compile with -no-compress");
            const char* text = reinterpret_cast<const char*>(at + header);
            return {text, strnlen(text, size)};
        }
        at += header + size;
    }
    return {nullptr, 0};
}

/// The translated modules of the folders, the first ones first, by the tag of the PTX that they were made from.
const std::map<std::string, const Module*>& translations() {
    static const std::map<std::string, const Module*> the = [] {
        std::map<std::string, const Module*> found;
        std::istringstream folders(settings().modules);
        for (std::string folder; std::getline(folders, folder, ':');) {
            std::error_code error;
            for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
                if (entry.path().extension() != ".so") continue;
                void* library = dlopen(entry.path().c_str(), RTLD_NOW | RTLD_LOCAL);
                if (library == nullptr) fail(dlerror());
                const auto* module = static_cast<const Module*>(dlsym(library, "ptx_module"));
                found.emplace(module->tag, module);
            }
        }
        return found;
    }();
    return the;
}

int load_module(const FatbinWrapper* wrapper) {
    auto loaded = std::make_unique<LoadedModule>();
    const auto [text, bytes] = ptx_of(wrapper->data);
    if (text != nullptr) {
        loaded->tag = tag_of(text, bytes);
        const auto found = translations().find(loaded->tag);
        if (found != translations().end()) {  // else it is said when one of its kernels is wanted
            loaded->module = found->second;
            g_target = loaded->module->target;
            for (const Kernel* k = loaded->module->kernels; k->name != nullptr; ++k) loaded->kernels[k->name] = k;
            for (const Variable* v = loaded->module->variables; v->name != nullptr; ++v) {
                loaded->variables[v->name] = v;
                add_known_memory(v->place, v->bytes);
            }
        }
    }
    g_modules.push_back(std::move(loaded));
    return static_cast<int>(g_modules.size()) - 1;
}

Function* function_of(const void* host) {
    const auto found = g_functions.find(host);
    return found != g_functions.end() ? &found->second : nullptr;
}
Function& kernel_of(const void* host) {
    Function* function = function_of(host);
    if (function == nullptr) fail("launch of a function that was not registered");
    if (function->kernel == nullptr) {
        const LoadedModule& module = *g_modules[static_cast<std::size_t>(function->module)];
        const auto found = module.kernels.find(function->name);
        if (found == module.kernels.end())
            fail("no translation of " + short_name(function->name.c_str()) + " in PTX_MODULES, module " + module.tag);
        function->kernel = found->second;
        const auto row = ptxas_report().find(function->name);
        if (row != ptxas_report().end()) {
            function->registers = row->second.registers;
            function->stack_bytes = row->second.stack;
            function->spill_bytes = row->second.spills;
        }
    }
    return *function;
}

// -- work

struct EventState {
    std::uint64_t recorded = 0;          // how often, by the host
    std::uint64_t reached = 0;           // by the device
    CUstream_st* captured_on = nullptr;  // recorded in a capture of that stream, last
};

struct Op {
    enum class Kind { kKernel, kCopy, kSet, kRecord, kWait } kind{};
    // kernel
    Function* function = nullptr;
    std::uint32_t grid[3]{}, block[3]{};
    std::uint32_t team = 1;  // blocks that run at a time
    std::uint32_t shared = 0;
    std::shared_ptr<std::vector<std::uint8_t>> params;
    // copy, set
    void* to = nullptr;
    const void* from = nullptr;
    std::size_t bytes = 0;
    int value = 0;
    cudaMemcpyKind direction{};
    std::shared_ptr<std::vector<std::uint8_t>> staged;
    bool pins_from = false, pins_to = false;
    // record, wait
    std::shared_ptr<EventState> event;
    std::uint64_t version = 0;
};

}  // namespace

}  // namespace ptx

struct CUgraph_st {
    std::vector<ptx::Op> ops;
};
struct CUgraphExec_st {
    std::vector<ptx::Op> ops;
};
struct CUevent_st {
    std::shared_ptr<ptx::EventState> state = std::make_shared<ptx::EventState>();
};
struct CUstream_st {
    std::deque<ptx::Op> ops;
    bool blocking = true;
    bool capturing = false;
    cudaStreamCaptureMode mode{};
    std::vector<ptx::Op> captured;
    CUstream_st* origin = nullptr;  // that whose capture this one has been drawn into, as a branch
    std::size_t forked_at = 0;      // how much was captured there by then
    int number = 0;
};

namespace ptx {
namespace {

CUstream_st* null_stream() {
    static CUstream_st* the = new CUstream_st;
    return the;
}
PTX_EARLY std::vector<CUstream_st*> g_streams;
PTX_EARLY std::set<CUevent_st*> g_events;
int g_stream_number = 0;
long g_graphs = 0, g_graph_launches = 0, g_copies = 0, g_launches = 0, g_waits = 0, g_waiting_frees = 0;
std::uint64_t g_copy_bytes = 0;
thread_local cudaError_t g_last_error = cudaSuccess;
thread_local CUstream_st* g_capturing_here = nullptr;
PTX_EARLY Random g_random(1);
PTX_EARLY std::set<CUgraphExec_st*> g_execs;
PTX_EARLY std::set<CUgraph_st*> g_graph_set;

CUstream_st* stream_of(cudaStream_t stream) {
    if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread) return null_stream();
    if (std::find(g_streams.begin(), g_streams.end(), stream) == g_streams.end())
        fail("a stream that is not there (destroyed?)");
    return stream;
}

cudaError_t set_error(cudaError_t error) {
    if (error != cudaSuccess) g_last_error = error;
    return error;
}

void trace(const char* format, ...) {
    if (!settings().trace) return;
    va_list list;
    va_start(list, format);
    std::fprintf(stderr, "[cuda] ");
    std::vfprintf(stderr, format, list);
    std::fprintf(stderr, "\n");
    va_end(list);
}

bool ready(const CUstream_st& stream) {
    if (stream.ops.empty()) return false;
    const Op& op = stream.ops.front();
    return op.kind != Op::Kind::kWait || op.event->reached >= op.version;
}

// The program's monotonic clock stands still while the device works: a program that gives a fast device more work at a
// time, and so records graphs, does so here as well.
std::atomic<std::int64_t> g_hidden_ns{0};
std::atomic<std::int64_t> g_stopped_ns{0};  // when the clock stopped; 0: it runs

std::int64_t real_ns() {
    timespec now{};
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

class ClockStopped {
public:
    ClockStopped() {
        static const bool real = env_is("PTX_TIME", "real");
        if (real || g_stopped_ns != 0) return;
        begin_ = real_ns();
        g_stopped_ns = begin_;
    }
    ~ClockStopped() {
        if (begin_ == 0) return;
        g_hidden_ns += real_ns() - begin_;
        g_stopped_ns = 0;
    }
    ClockStopped(const ClockStopped&) = delete;

private:
    std::int64_t begin_ = 0;
};

/// Does the first thing in a stream.
void step(CUstream_st& stream) {
    const ClockStopped stopped;
    const Op op = std::move(stream.ops.front());
    stream.ops.pop_front();
    switch (op.kind) {
        case Op::Kind::kKernel: {
            AsDevice device;
            Function& f = *op.function;
            Counts* const counts = settings().count.empty() ? nullptr : &f.counts;
            run_grid(*g_modules[static_cast<std::size_t>(f.module)]->module, counts, *f.kernel, op.grid, op.block,
                     op.team, op.shared, op.params->data(), settings().order);
            break;
        }
        case Op::Kind::kCopy: {
            AsDevice device;
            const void* from = op.staged != nullptr ? op.staged->data() : op.from;
            const bool device_from = device_memory_holds(reinterpret_cast<std::uintptr_t>(op.from));
            const bool device_to = device_memory_holds(reinterpret_cast<std::uintptr_t>(op.to));
            if (device_from) {
                if (const char* bad = device_range_error(op.from, op.bytes))
                    fail("copy from " + describe(reinterpret_cast<std::uintptr_t>(op.from)) + ": " + bad);
                if (const std::size_t fresh = device_bytes_unwritten(op.from, op.bytes); fresh > 0)
                    remark_once("copy of " + std::to_string(fresh) + " bytes that nobody wrote, of " +
                                std::to_string(op.bytes) + " from " +
                                describe(reinterpret_cast<std::uintptr_t>(op.from)));
            }
            if (device_to) {
                if (const char* bad = device_range_error(op.to, op.bytes))
                    fail("copy to " + describe(reinterpret_cast<std::uintptr_t>(op.to)) + ": " + bad);
            }
            if (op.pins_to) pin_open(op.to);
            if (op.pins_from) pin_open(op.from);
            std::memcpy(op.to, from, op.bytes);
            if (op.pins_to) pin_done(op.to, true);
            if (op.pins_from) pin_done(op.from, false);
            if (device_to) mark_device_written(op.to, op.bytes);
            break;
        }
        case Op::Kind::kSet: {
            AsDevice device;
            if (const char* bad = device_range_error(op.to, op.bytes))
                fail("memset of " + describe(reinterpret_cast<std::uintptr_t>(op.to)) + ": " + bad);
            std::memset(op.to, op.value, op.bytes);
            // A memset of 0xff is how debug builds mark what nobody wrote.
            if ((op.value & 0xff) != 0xff) mark_device_written(op.to, op.bytes);
            break;
        }
        case Op::Kind::kRecord:
            op.event->reached = std::max(op.event->reached, op.version);
            break;
        case Op::Kind::kWait:
            break;
    }
}

CUstream_st* stream_that_records(const EventState* event, std::uint64_t version) {
    for (CUstream_st* stream : g_streams)
        for (const Op& op : stream->ops)
            if (op.kind == Op::Kind::kRecord && op.event.get() == event && op.version >= version) return stream;
    for (const Op& op : null_stream()->ops)
        if (op.kind == Op::Kind::kRecord && op.event.get() == event && op.version >= version) return null_stream();
    return nullptr;
}

/// Does one thing that brings `stream` forward, in whichever stream that is.
void advance(CUstream_st& stream) {
    CUstream_st* at = &stream;
    for (int depth = 0; !ready(*at); ++depth) {
        const Op& op = at->ops.front();
        at = stream_that_records(op.event.get(), op.version);
        if (at == nullptr || depth > 100) fail("streams wait for each other");
    }
    step(*at);
}

/// Something of some stream, in random schedules.
void wander() {
    if (settings().schedule != Schedule::kRandom) return;
    for (std::uint64_t turns = g_random.below(4) == 0 ? g_random.below(12) : 0; turns > 0; --turns) {
        std::vector<CUstream_st*> able;
        for (CUstream_st* stream : g_streams)
            if (ready(*stream)) able.push_back(stream);
        if (ready(*null_stream())) able.push_back(null_stream());
        if (able.empty()) return;
        step(*able[g_random.below(able.size())]);
    }
}

void drain(CUstream_st& stream) {
    while (!stream.ops.empty()) {
        advance(stream);
        wander();
    }
}
void drain_all() {
    for (CUstream_st* stream : g_streams) drain(*stream);
    drain(*null_stream());
}
bool anything_queued() {
    for (const CUstream_st* stream : g_streams)
        if (!stream->ops.empty()) return true;
    return !null_stream()->ops.empty();
}

void put(CUstream_st& stream, Op op) {
    if (stream.capturing) {
        const CUstream_st* here = stream.origin != nullptr ? stream.origin : &stream;
        if (g_capturing_here != here && stream.mode != cudaStreamCaptureModeRelaxed) {
            // Another host thread's work would get into the graph.
            fail("work put from another thread into a stream that is being captured");
        }
        stream.captured.push_back(std::move(op));
        return;
    }
    // The null stream and blocking streams wait for each other.
    if (&stream == null_stream()) {
        for (CUstream_st* other : g_streams)
            if (other->blocking) drain(*other);
    } else if (stream.blocking) {
        drain(*null_stream());
    }
    stream.ops.push_back(std::move(op));
    if (settings().schedule == Schedule::kEager) drain(stream);
    wander();
}

/// PTX_BREAK names a call that then does nothing, as if the program had forgotten it: what it is there for must show.
bool forgotten(const char* call) {
    static const std::string broken = std::getenv("PTX_BREAK") != nullptr ? std::getenv("PTX_BREAK") : "";
    return !broken.empty() && broken == call;
}

/// Calls that must not be made while this thread captures (in the modes "global" and "thread local").
bool forbidden_in_capture(const char* call) {
    if (g_capturing_here == nullptr || g_capturing_here->mode == cudaStreamCaptureModeRelaxed) return false;
    remark(std::string(call) + " while this thread captures a stream: on a GPU an error, and the capture is lost");
    return true;
}

bool out_of_resources(const Function& f, unsigned threads, unsigned shared) {
    const auto registers = static_cast<unsigned>(f.registers);
    // A warp's registers are given in pieces of 256.
    if (registers > 0 && (threads + 31) / 32 * ((registers * 32 + 255) / 256 * 256) > 65536) return true;
    return shared > static_cast<unsigned>(227 * 1024);
}

/// Of a kernel: how many on a processor of the device.
int resident_blocks(const Function& f, int threads, std::size_t shared) {
    const int registers = f.registers > 0 ? f.registers : 64;
    const int warps = (threads + 31) / 32;
    const int by_threads = 2048 / (warps * 32);
    const int by_registers = 65536 / (warps * ((registers * 32 + 255) / 256 * 256));
    const auto bytes = static_cast<int>(shared) + f.kernel->static_shared + 1024;
    return std::max(0, std::min({by_threads, by_registers, 228 * 1024 / bytes, 32}));
}

/// \param team  blocks that run at a time
cudaError_t launch(const void* host, dim3 grid, dim3 block, void** args, std::size_t shared, cudaStream_t stream_handle,
                   unsigned team = 1) {
    const std::lock_guard lock(g_lock);
    CUstream_st* stream = stream_of(stream_handle);
    Function& f = kernel_of(host);
    const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
    trace("launch %s <<<%u,%u,%u>>> stream %d", short_name(f.name.c_str()).c_str(), grid.x, block.x,
          static_cast<unsigned>(shared), stream->number);
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || threads == 0 || grid.x > 2147483647U || grid.y > 65535 ||
        grid.z > 65535 || block.x > 1024 || block.y > 1024 || block.z > 64 || threads > 1024) {
        remark("launch of " + short_name(f.name.c_str()) + " with a grid or block that is not allowed");
        return set_error(cudaErrorInvalidConfiguration);
    }
    if (threads > static_cast<std::uint64_t>(f.kernel->max_threads)) {
        remark("launch of " + short_name(f.name.c_str()) + " with " + std::to_string(threads) +
               " threads, of at most " + std::to_string(f.kernel->max_threads));
        return set_error(cudaErrorInvalidValue);
    }
    if (f.kernel->static_shared + shared > static_cast<std::size_t>(f.dynamic_limit)) {
        remark("launch of " + short_name(f.name.c_str()) + " with " + std::to_string(f.kernel->static_shared + shared) +
               " bytes of shared memory");
        return set_error(cudaErrorInvalidValue);
    }
    if (out_of_resources(f, static_cast<unsigned>(threads), static_cast<unsigned>(f.kernel->static_shared + shared))) {
        remark("launch of " + short_name(f.name.c_str()) + " with too many registers or too much shared memory");
        return set_error(cudaErrorLaunchOutOfResources);
    }
    if (f.kernel->param_bytes > 4096)
        remark_once("parameters of " + std::to_string(f.kernel->param_bytes) + " bytes: " + short_name(f.name.c_str()));
    if (stream->capturing && !f.loaded)
        remark_once("first launch of a kernel, which loads it, while a stream is captured: " +
                    short_name(f.name.c_str()));
    f.loaded = true;
    Op op;
    op.kind = Op::Kind::kKernel;
    op.function = &f;
    op.grid[0] = grid.x, op.grid[1] = grid.y, op.grid[2] = grid.z;
    op.block[0] = block.x, op.block[1] = block.y, op.block[2] = block.z;
    op.team = team;
    op.shared = static_cast<std::uint32_t>(shared);
    op.params = std::make_shared<std::vector<std::uint8_t>>(static_cast<std::size_t>(f.kernel->param_bytes) + 64,
                                                            std::uint8_t{0xcc});
    // Parameters may hold values that ask for 16 bytes.
    for (int i = 0; i < f.kernel->param_count; ++i)
        std::memcpy(op.params->data() + f.kernel->params[i].offset, args[i], f.kernel->params[i].size);
    ++f.launches;
    ++g_launches;
    put(*stream, std::move(op));
    return cudaSuccess;
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream_handle,
                 bool async) {
    const std::lock_guard lock(g_lock);
    CUstream_st* stream = stream_of(stream_handle);
    const bool from_device = device_memory_holds(reinterpret_cast<std::uintptr_t>(from));
    const bool to_device = device_memory_holds(reinterpret_cast<std::uintptr_t>(to));
    trace("copy %p <- %p, %zu bytes, kind %d, stream %d", to, from, bytes, static_cast<int>(kind), stream->number);
    if (kind == cudaMemcpyDefault) {
        kind = from_device ? (to_device ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost)
                           : (to_device ? cudaMemcpyHostToDevice : cudaMemcpyHostToHost);
    }
    if (from_device != (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice) ||
        to_device != (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice)) {
        remark("copy whose kind does not fit its places");
        return set_error(cudaErrorInvalidMemcpyDirection);
    }
    if (!async && forbidden_in_capture("cudaMemcpy")) return set_error(cudaErrorStreamCaptureUnsupported);
    if (bytes == 0) return cudaSuccess;
    Op op;
    op.kind = Op::Kind::kCopy;
    op.to = to, op.from = from, op.bytes = bytes, op.direction = kind;
    ++g_copies;
    g_copy_bytes += bytes;
    bool wait = !async;
    if (!from_device) {
        if (is_pinned(from)) {
            op.pins_from = !stream->capturing;
        } else if (stream->capturing) {
            remark("copy of pageable memory in a capture");
        } else if (!settings().pageable_late) {
            op.staged = std::make_shared<std::vector<std::uint8_t>>(static_cast<const std::uint8_t*>(from),
                                                                    static_cast<const std::uint8_t*>(from) + bytes);
        }
    }
    if (!to_device) {
        if (is_pinned(to))
            op.pins_to = !stream->capturing;
        else if (!settings().pageable_late)
            wait = true;
    }
    if (op.pins_from) pin_pending(from, false);
    if (op.pins_to) pin_pending(to, true);
    put(*stream, std::move(op));
    if (wait && !stream->capturing) drain(*stream);
    return cudaSuccess;
}

void write_counts() {
    std::ofstream file(settings().count);
    file << "[";
    const char* separator = "\n";
    for (const auto& [host, f] : g_functions) {
        if (f.launches == 0) continue;
        const Counts& c = f.counts;
        file << separator << R"({"kernel": ")" << short_name(f.name.c_str()) << R"(", "launches": )" << f.launches
             << R"(, "registers": )" << f.registers << R"(, "spill_bytes": )" << f.spill_bytes << R"(, "warps": )"
             << c.warps << R"(, "instructions": )" << c.instructions << R"(, "loads": )" << c.loads << R"(, "stores": )"
             << c.stores << R"(, "atomics": )" << c.atomics << R"(, "thread_instructions": )" << c.thread_instructions
             << R"(, "bytes_loaded": )" << c.bytes_loaded << R"(, "bytes_stored": )" << c.bytes_stored << "}";
        separator = ",\n";
    }
    file << "]\n";
}

void at_exit() {
    const std::lock_guard lock(g_lock);
    if (g_modules.empty()) return;
    if (!settings().count.empty()) write_counts();
    if (settings().stats) {
        std::fprintf(stderr,
                     "[ptx] %ld launches, %ld graphs, %ld graph launches, %ld copies of %llu bytes, %ld waits, %ld "
                     "frees with work queued; at most %zu bytes on the device\n",
                     g_launches, g_graphs, g_graph_launches, g_copies, static_cast<unsigned long long>(g_copy_bytes),
                     g_waits, g_waiting_frees, most_device_bytes());
        std::vector<const Function*> used;
        for (const auto& [host, f] : g_functions)
            if (f.launches > 0) used.push_back(&f);
        std::sort(used.begin(), used.end(),
                  [](const Function* a, const Function* b) { return a->launches > b->launches; });
        for (const Function* f : used)
            std::fprintf(stderr, "[ptx] %9ld  %s\n", f->launches, short_name(f->name.c_str()).c_str());
    }
    check_blocks_at_end();
    if (device_blocks_in_use() > 0)
        remark(std::to_string(device_blocks_in_use()) + " blocks of device memory were not freed");
    if (pinned_blocks_in_use() > 0)
        remark(std::to_string(pinned_blocks_in_use()) + " blocks of pinned memory were not freed");
    if (!g_streams.empty()) remark(std::to_string(g_streams.size()) + " streams were not destroyed");
    if (!g_events.empty()) remark(std::to_string(g_events.size()) + " events were not destroyed");
    if (!g_execs.empty()) remark(std::to_string(g_execs.size()) + " graphs were not destroyed");
    if (!g_graph_set.empty()) remark(std::to_string(g_graph_set.size()) + " recordings of graphs were not destroyed");
    if (g_remarks > 0) {
        std::fprintf(stderr, "[ptx] %d remarks\n", g_remarks);
        if (env_is("PTX_STRICT", "1")) {
            std::fflush(stdout);
            _exit(87);
        }
    }
}

void begin() {
    static const bool begun = [] {
        g_random = Random(settings().seed);
        seed_order(settings().seed + 77);
        catch_faults();
        std::atexit(at_exit);
        return true;
    }();
    (void)begun;
}

struct Configuration {
    dim3 grid, block;
    std::size_t shared = 0;
    cudaStream_t stream = nullptr;
};
thread_local std::vector<Configuration> g_configurations;

}  // namespace
}  // namespace ptx

using namespace ptx;

extern "C" {

// -- the clock: std::chrono::steady_clock asks here

int clock_gettime(clockid_t which, timespec* to) noexcept {
    const long status = syscall(SYS_clock_gettime, which, to);
    if (status != 0 || which != CLOCK_MONOTONIC) return static_cast<int>(status);
    const std::int64_t stopped = g_stopped_ns;
    const std::int64_t now = (stopped != 0 ? stopped : to->tv_sec * 1000000000LL + to->tv_nsec) - g_hidden_ns;
    to->tv_sec = now / 1000000000LL;
    to->tv_nsec = now % 1000000000LL;
    return 0;
}

// -- what nvcc's host code calls

void** CUDARTAPI __cudaRegisterFatBinary(void* wrapper) {
    begin();
    const std::lock_guard lock(g_lock);
    return reinterpret_cast<void**>(
        static_cast<std::intptr_t>(load_module(static_cast<const FatbinWrapper*>(wrapper)) + 1));
}
void CUDARTAPI __cudaRegisterFatBinaryEnd(void**) {}
void CUDARTAPI __cudaUnregisterFatBinary(void**) {}
char CUDARTAPI __cudaInitModule(void**) { return 1; }
void CUDARTAPI __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, uint3*, uint3*,
                                      dim3*, dim3*, int*) {
    const std::lock_guard lock(g_lock);
    Function& f = g_functions[host];
    f.name = name;
    f.module = static_cast<int>(reinterpret_cast<std::intptr_t>(handle)) - 1;
}
void CUDARTAPI __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, std::size_t, int, int) {
    const std::lock_guard lock(g_lock);
    const auto& module = *g_modules[static_cast<std::size_t>(reinterpret_cast<std::intptr_t>(handle) - 1)];
    const auto found = module.variables.find(name);
    if (found != module.variables.end()) g_variables[host] = found->second;
}
void CUDARTAPI __cudaRegisterManagedVar(void**, void**, char*, const char*, int, std::size_t, int, int) {
    fail("managed variables");
}
unsigned CUDARTAPI __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, struct CUstream_st* stream) {
    g_configurations.push_back({grid, block, shared, stream});
    return 0;
}
cudaError_t CUDARTAPI __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
    if (g_configurations.empty()) return cudaErrorMissingConfiguration;
    const Configuration c = g_configurations.back();
    g_configurations.pop_back();
    *grid = c.grid, *block = c.block, *shared = c.shared;
    *static_cast<cudaStream_t*>(stream) = c.stream;
    return cudaSuccess;
}
cudaError_t CUDARTAPI __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
    *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(host));
    return cudaSuccess;
}
cudaError_t CUDARTAPI __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** args, std::size_t shared,
                                         cudaStream_t stream) {
    return launch(reinterpret_cast<const void*>(kernel), grid, block, args, shared, stream);
}
cudaError_t CUDARTAPI __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** args,
                                              std::size_t shared, cudaStream_t stream) {
    return launch(reinterpret_cast<const void*>(kernel), grid, block, args, shared, stream);
}
cudaError_t CUDARTAPI cudaLaunchKernel(const void* host, dim3 grid, dim3 block, void** args, std::size_t shared,
                                       cudaStream_t stream) {
    return launch(host, grid, block, args, shared, stream);
}
cudaError_t CUDARTAPI cudaLaunchKernelExC(const cudaLaunchConfig_t* c, const void* host, void** args) {
    unsigned team = 1;
    for (unsigned i = 0; i < c->numAttrs; ++i) {
        const cudaLaunchAttribute& attribute = c->attrs[i];
        if (attribute.id == cudaLaunchAttributeClusterDimension) {
            const auto& size = attribute.val.clusterDim;
            team = size.x;
            const Function& f = kernel_of(host);
            if (!settings().clusters || size.y != 1 || size.z != 1 || team == 0 || c->gridDim.x % team != 0 ||
                team > (f.large_clusters ? 16U : 8U)) {
                remark("launch of " + short_name(f.name.c_str()) + " in clusters that are not allowed");
                return set_error(cudaErrorInvalidClusterSize);
            }
        } else if (attribute.id == cudaLaunchAttributeCooperative && attribute.val.cooperative != 0) {
            team = c->gridDim.x;
            const Function& f = kernel_of(host);
            const auto threads = static_cast<int>(c->blockDim.x);
            if (!settings().cooperative || c->gridDim.y != 1 || c->gridDim.z != 1 ||
                static_cast<int>(team) > settings().processors * resident_blocks(f, threads, c->dynamicSmemBytes)) {
                remark("cooperative launch of " + short_name(f.name.c_str()) + " with more blocks than run at a time");
                return set_error(cudaErrorCooperativeLaunchTooLarge);
            }
        } else if (attribute.id != cudaLaunchAttributeProgrammaticStreamSerialization) {
            // That a launch may begin before the one before has ended is not shown here.
            remark_once("launch attribute " + std::to_string(static_cast<int>(attribute.id)) + " is not known here");
        }
    }
    return launch(host, c->gridDim, c->blockDim, args, c->dynamicSmemBytes, c->stream, team);
}

// -- devices

cudaError_t CUDARTAPI cudaDriverGetVersion(int* version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaRuntimeGetVersion(int* version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaGetDeviceCount(int* count) {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    *count = visible == nullptr || std::strcmp(visible, "0") == 0 ? 1 : 0;
    return *count > 0 ? cudaSuccess : set_error(cudaErrorNoDevice);
}
cudaError_t CUDARTAPI cudaGetDevice(int* device) {
    *device = 0;
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaSetDevice(int device) {
    return device == 0 ? cudaSuccess : set_error(cudaErrorInvalidDevice);
}
cudaError_t CUDARTAPI cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
    if (device != 0) return set_error(cudaErrorInvalidDevice);
    std::memset(p, 0, sizeof *p);
    std::snprintf(p->name, sizeof p->name, "PTX on a CPU (sm_%d)", g_target);
    p->totalGlobalMem = settings().memory;
    p->sharedMemPerBlock = 48 * 1024;
    p->regsPerBlock = 65536;
    p->warpSize = 32;
    p->maxThreadsPerBlock = 1024;
    p->major = g_target / 10;
    p->minor = g_target % 10;
    p->multiProcessorCount = settings().processors;
    p->maxThreadsPerMultiProcessor = g_target == 75 ? 1024 : 2048;
    p->sharedMemPerMultiprocessor = 228 * 1024;
    p->regsPerMultiprocessor = 65536;
    p->unifiedAddressing = 1;
    p->l2CacheSize = 50 << 20;
    for (int i = 0; i < 3; ++i) p->maxThreadsDim[i] = i < 2 ? 1024 : 64;
    p->maxGridSize[0] = 2147483647;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaDeviceGetAttribute(int* value, cudaDeviceAttr what, int) {
    switch (what) {
        case cudaDevAttrMaxThreadsPerBlock:
            *value = 1024;
            break;
        case cudaDevAttrMaxBlockDimX:
        case cudaDevAttrMaxBlockDimY:
            *value = 1024;
            break;
        case cudaDevAttrMaxBlockDimZ:
            *value = 64;
            break;
        case cudaDevAttrMaxGridDimX:
            *value = 2147483647;
            break;
        case cudaDevAttrMaxGridDimY:
        case cudaDevAttrMaxGridDimZ:
            *value = 65535;
            break;
        case cudaDevAttrMaxSharedMemoryPerBlock:
            *value = 48 * 1024;
            break;
        case cudaDevAttrMaxSharedMemoryPerBlockOptin:
            *value = 227 * 1024;
            break;
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
            *value = 228 * 1024;
            break;
        case cudaDevAttrReservedSharedMemoryPerBlock:
            *value = 1024;
            break;
        case cudaDevAttrWarpSize:
            *value = 32;
            break;
        case cudaDevAttrMaxRegistersPerBlock:
        case cudaDevAttrMaxRegistersPerMultiprocessor:
            *value = 65536;
            break;
        case cudaDevAttrMultiProcessorCount:
            *value = settings().processors;
            break;
        case cudaDevAttrClusterLaunch:
            *value = g_target >= 90 && settings().clusters ? 1 : 0;
            break;
        case cudaDevAttrCooperativeLaunch:
            *value = settings().cooperative ? 1 : 0;
            break;
        case cudaDevAttrMaxThreadsPerMultiProcessor:
            *value = 2048;
            break;
        case cudaDevAttrMaxBlocksPerMultiprocessor:
            *value = 32;
            break;
        case cudaDevAttrComputeCapabilityMajor:
            *value = g_target / 10;
            break;
        case cudaDevAttrComputeCapabilityMinor:
            *value = g_target % 10;
            break;
        case cudaDevAttrL2CacheSize:
            *value = 50 << 20;
            break;
        case cudaDevAttrUnifiedAddressing:
            *value = 1;
            break;
        case cudaDevAttrConcurrentKernels:
            *value = 1;
            break;
        case cudaDevAttrMemoryPoolsSupported:
            *value = 1;
            break;
        case cudaDevAttrClockRate:
            *value = 1500000;
            break;
        case cudaDevAttrMemoryClockRate:
            *value = 2600000;
            break;
        case cudaDevAttrGlobalMemoryBusWidth:
            *value = 5120;
            break;
        default:
            remark_once("device attribute " + std::to_string(static_cast<int>(what)) + " is not known here: 0");
            *value = 0;
    }
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total) {
    const std::lock_guard lock(g_lock);
    *total = settings().memory;
    *free_bytes = settings().memory - device_bytes_in_use();
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaDeviceSynchronize() {
    const std::lock_guard lock(g_lock);
    if (forbidden_in_capture("cudaDeviceSynchronize")) return set_error(cudaErrorStreamCaptureUnsupported);
    ++g_waits;
    drain_all();
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaDeviceReset() { return cudaSuccess; }
cudaError_t CUDARTAPI cudaGetLastError() {
    const cudaError_t error = g_last_error;
    g_last_error = cudaSuccess;
    return error;
}
cudaError_t CUDARTAPI cudaPeekAtLastError() { return g_last_error; }
const char* CUDARTAPI cudaGetErrorString(cudaError_t error) {
    switch (error) {
        case cudaSuccess:
            return "no error";
        case cudaErrorMemoryAllocation:
            return "out of memory";
        case cudaErrorInvalidValue:
            return "invalid argument";
        case cudaErrorInvalidConfiguration:
            return "invalid configuration argument";
        case cudaErrorLaunchOutOfResources:
            return "too many resources requested for launch";
        default: {
            thread_local char text[32];
            std::snprintf(text, sizeof text, "CUDA error %d", static_cast<int>(error));
            return text;
        }
    }
}
const char* CUDARTAPI cudaGetErrorName(cudaError_t error) { return cudaGetErrorString(error); }

// -- functions

cudaError_t CUDARTAPI cudaFuncGetAttributes(cudaFuncAttributes* a, const void* host) {
    const std::lock_guard lock(g_lock);
    const Function& f = kernel_of(host);
    std::memset(a, 0, sizeof *a);
    a->sharedSizeBytes = static_cast<std::size_t>(f.kernel->static_shared);
    a->maxThreadsPerBlock = f.kernel->max_threads;
    a->numRegs = f.registers > 0 ? f.registers : 64;
    a->localSizeBytes = static_cast<std::size_t>(f.stack_bytes);
    const int target = g_modules[static_cast<std::size_t>(f.module)]->module->target;
    a->ptxVersion = target;
    a->binaryVersion = target;
    a->maxDynamicSharedSizeBytes = 48 * 1024 - f.kernel->static_shared;
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaFuncSetAttribute(const void* host, cudaFuncAttribute what, int value) {
    const std::lock_guard lock(g_lock);
    Function& f = kernel_of(host);
    if (what == cudaFuncAttributeMaxDynamicSharedMemorySize) {
        if (f.kernel->static_shared + value > 227 * 1024) return set_error(cudaErrorInvalidValue);
        f.dynamic_limit = std::max(48 * 1024, f.kernel->static_shared + value);
    }
    if (what == cudaFuncAttributeNonPortableClusterSizeAllowed) f.large_clusters = value != 0;
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* host, int threads,
                                                                             std::size_t shared, unsigned) {
    const std::lock_guard lock(g_lock);
    *blocks = resident_blocks(kernel_of(host), threads, shared);
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host, int threads,
                                                                    std::size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, shared, 0);
}

cudaError_t CUDARTAPI cudaOccupancyMaxActiveClusters(int* clusters, const void* host, const cudaLaunchConfig_t* c) {
    const std::lock_guard lock(g_lock);
    const Function& f = kernel_of(host);
    unsigned size = 1;
    for (unsigned i = 0; i < c->numAttrs; ++i)
        if (c->attrs[i].id == cudaLaunchAttributeClusterDimension) size = c->attrs[i].val.clusterDim.x;
    if (!settings().clusters || size > (f.large_clusters ? 16U : 8U)) return set_error(cudaErrorInvalidClusterSize);
    const int blocks = settings().processors * resident_blocks(f, static_cast<int>(c->blockDim.x), c->dynamicSmemBytes);
    *clusters = blocks / static_cast<int>(size);
    return cudaSuccess;
}

// -- memory

cudaError_t CUDARTAPI cudaMalloc(void** place, std::size_t bytes) {
    const std::lock_guard lock(g_lock);
    if (forbidden_in_capture("cudaMalloc")) return set_error(cudaErrorStreamCaptureUnsupported);
    *place = allocate_device_memory(bytes);
    trace("malloc %zu bytes: %p", bytes, *place);
    return *place != nullptr ? cudaSuccess : set_error(cudaErrorMemoryAllocation);
}
cudaError_t CUDARTAPI cudaFree(void* place) {
    const std::lock_guard lock(g_lock);
    trace("free %p", place);
    if (place == nullptr) return cudaSuccess;
    if (forbidden_in_capture("cudaFree")) return set_error(cudaErrorStreamCaptureUnsupported);
    if (!settings().strict_free && anything_queued()) {
        ++g_waiting_frees;
        drain_all();
    }
    if (!free_device_memory(place)) {
        remark("cudaFree of something that is not a block of the device");
        return set_error(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaMallocAsync(void** place, std::size_t bytes, cudaStream_t stream) {
    (void)stream;
    return cudaMalloc(place, bytes);
}
cudaError_t CUDARTAPI cudaFreeAsync(void* place, cudaStream_t stream) {
    {
        const std::lock_guard lock(g_lock);
        drain(*stream_of(stream));
    }
    return cudaFree(place);
}
cudaError_t CUDARTAPI cudaMallocHost(void** place, std::size_t bytes) {
    const std::lock_guard lock(g_lock);
    if (forbidden_in_capture("cudaMallocHost")) return set_error(cudaErrorStreamCaptureUnsupported);
    *place = allocate_pinned_memory(bytes);
    return *place != nullptr ? cudaSuccess : set_error(cudaErrorMemoryAllocation);
}
cudaError_t CUDARTAPI cudaHostAlloc(void** place, std::size_t bytes, unsigned) { return cudaMallocHost(place, bytes); }
cudaError_t CUDARTAPI cudaFreeHost(void* place) {
    const std::lock_guard lock(g_lock);
    if (place == nullptr) return cudaSuccess;
    return free_pinned_memory(place) ? cudaSuccess : set_error(cudaErrorInvalidValue);
}
cudaError_t CUDARTAPI cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
    return copy(to, from, bytes, kind, stream, true);
}
cudaError_t CUDARTAPI cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    return copy(to, from, bytes, kind, nullptr, false);
}
cudaError_t CUDARTAPI cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream_handle) {
    const std::lock_guard lock(g_lock);
    Op op;
    op.kind = Op::Kind::kSet;
    op.to = to, op.value = value, op.bytes = bytes;
    put(*stream_of(stream_handle), std::move(op));
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaMemset(void* to, int value, std::size_t bytes) {
    const std::lock_guard lock(g_lock);
    if (forbidden_in_capture("cudaMemset")) return set_error(cudaErrorStreamCaptureUnsupported);
    return cudaMemsetAsync(to, value, bytes, nullptr);
}

// -- streams, events, graphs

cudaError_t CUDARTAPI cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
    const std::lock_guard lock(g_lock);
    begin();
    *stream = new CUstream_st;
    (*stream)->blocking = (flags & cudaStreamNonBlocking) == 0;
    (*stream)->number = ++g_stream_number;
    g_streams.push_back(*stream);
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, 0); }
cudaError_t CUDARTAPI cudaStreamDestroy(cudaStream_t stream) {
    const std::lock_guard lock(g_lock);
    CUstream_st* s = stream_of(stream);
    drain(*s);  // on a GPU it goes on by itself
    g_streams.erase(std::find(g_streams.begin(), g_streams.end(), s));
    delete s;
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaStreamSynchronize(cudaStream_t stream) {
    const std::lock_guard lock(g_lock);
    CUstream_st* s = stream_of(stream);
    trace("synchronize stream %d", s->number);
    if (forgotten("cudaStreamSynchronize")) return cudaSuccess;
    if (s->capturing || forbidden_in_capture("cudaStreamSynchronize"))
        return set_error(cudaErrorStreamCaptureUnsupported);
    ++g_waits;
    if (s == null_stream()) {
        for (CUstream_st* other : g_streams)
            if (other->blocking) drain(*other);
    }
    drain(*s);
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaStreamQuery(cudaStream_t stream) {
    const std::lock_guard lock(g_lock);
    CUstream_st* s = stream_of(stream);
    if (s->ops.empty()) return cudaSuccess;
    advance(*s);
    return cudaErrorNotReady;
}
/// A stream waits for a point of one that is being captured: it branches off, or a branch is joined again. What two
/// branches do has no order: the one comes first, or the other.
static cudaError_t follow_in_capture(CUstream_st& stream, CUstream_st& captured) {
    if (!stream.capturing) {
        stream.capturing = true;
        stream.mode = captured.mode;
        stream.origin = &captured;
        stream.forked_at = captured.captured.size();
        stream.captured.clear();
        return cudaSuccess;
    }
    if (captured.origin != &stream) fail("a capture that waits for what is no branch of it");
    static bool behind = false;
    behind = !behind;
    auto& all = stream.captured;
    const auto at = behind ? all.end() : all.begin() + static_cast<std::ptrdiff_t>(captured.forked_at);
    all.insert(at, captured.captured.begin(), captured.captured.end());
    captured.captured.clear();
    captured.capturing = false;
    captured.origin = nullptr;
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    const std::lock_guard lock(g_lock);
    if (forgotten("cudaStreamWaitEvent")) return cudaSuccess;
    CUstream_st* s = stream_of(stream);
    if (g_events.count(event) == 0) fail("an event that is not there");
    if (event->state->captured_on != nullptr) return follow_in_capture(*s, *event->state->captured_on);
    if (s->capturing) fail("a capture that waits for what is not in it");
    Op op;
    op.kind = Op::Kind::kWait;
    op.event = event->state;
    op.version = event->state->recorded;
    put(*s, std::move(op));
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
    const std::lock_guard lock(g_lock);
    *event = new CUevent_st;
    g_events.insert(*event);
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }
cudaError_t CUDARTAPI cudaEventDestroy(cudaEvent_t event) {
    const std::lock_guard lock(g_lock);
    if (g_events.erase(event) == 0) return set_error(cudaErrorInvalidResourceHandle);
    delete event;
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    const std::lock_guard lock(g_lock);
    CUstream_st* s = stream_of(stream);
    if (g_events.count(event) == 0) fail("an event that is not there");
    event->state->captured_on = s->capturing ? s : nullptr;
    if (s->capturing) return cudaSuccess;
    Op op;
    op.kind = Op::Kind::kRecord;
    op.event = event->state;
    op.version = ++event->state->recorded;
    put(*s, std::move(op));
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaEventSynchronize(cudaEvent_t event) {
    const std::lock_guard lock(g_lock);
    if (forgotten("cudaEventSynchronize")) return cudaSuccess;
    if (g_events.count(event) == 0) fail("an event that is not there");
    if (forbidden_in_capture("cudaEventSynchronize")) return set_error(cudaErrorStreamCaptureUnsupported);
    ++g_waits;
    const auto state = event->state;
    const std::uint64_t version = state->recorded;
    while (state->reached < version) {
        CUstream_st* at = stream_that_records(state.get(), version);
        if (at == nullptr) fail("an event that never comes");
        advance(*at);
    }
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaEventQuery(cudaEvent_t event) {
    const std::lock_guard lock(g_lock);
    if (event->state->reached >= event->state->recorded) return cudaSuccess;
    if (CUstream_st* at = stream_that_records(event->state.get(), event->state->recorded)) advance(*at);
    return cudaErrorNotReady;
}
cudaError_t CUDARTAPI cudaEventElapsedTime(float* ms, cudaEvent_t, cudaEvent_t) {
    *ms = 1.0F;
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    const std::lock_guard lock(g_lock);
    *status = stream_of(stream)->capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    const std::lock_guard lock(g_lock);
    CUstream_st* s = stream_of(stream);
    if (s == null_stream() || s->capturing) return set_error(cudaErrorStreamCaptureUnsupported);
    s->capturing = true;
    s->mode = mode;
    s->captured.clear();
    g_capturing_here = s;
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    const std::lock_guard lock(g_lock);
    CUstream_st* s = stream_of(stream);
    if (!s->capturing || g_capturing_here != s) return set_error(cudaErrorStreamCaptureWrongThread);
    for (const CUstream_st* other : g_streams)
        if (other->origin == s) fail("a branch of a capture that is not joined");
    s->capturing = false;
    g_capturing_here = nullptr;
    *graph = new CUgraph_st{std::move(s->captured)};
    g_graph_set.insert(*graph);
    s->captured.clear();
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
    const std::lock_guard lock(g_lock);
    if (forbidden_in_capture("cudaGraphInstantiate")) return set_error(cudaErrorStreamCaptureUnsupported);
    *exec = new CUgraphExec_st{graph->ops};
    g_execs.insert(*exec);
    ++g_graphs;
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaGraphDestroy(cudaGraph_t graph) {
    const std::lock_guard lock(g_lock);
    g_graph_set.erase(graph);
    delete graph;
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaGraphExecDestroy(cudaGraphExec_t exec) {
    const std::lock_guard lock(g_lock);
    g_execs.erase(exec);
    delete exec;
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
    const std::lock_guard lock(g_lock);
    CUstream_st* s = stream_of(stream);
    if (g_execs.count(exec) == 0) fail("a graph that is not there");
    trace("graph of %zu on stream %d", exec->ops.size(), s->number);
    ++g_graph_launches;
    for (const Op& op : exec->ops) {
        if (op.kind == Op::Kind::kKernel) ++op.function->launches;
        put(*s, op);
    }
    return cudaSuccess;
}

// -- OpenGL: a buffer is copied when it is mapped and when it is unmapped

struct cudaGraphicsResource {
    unsigned buffer;
    void* place;
    std::size_t bytes;
};

}  // extern "C"

namespace {
void* gl_function(const char* name) {
    using Get = void* (*)(const char*);
    static const Get get = [] {
        void* library = dlopen("libEGL.so.1", RTLD_NOW | RTLD_GLOBAL);
        return library != nullptr ? reinterpret_cast<Get>(dlsym(library, "eglGetProcAddress")) : nullptr;
    }();
    return get != nullptr ? get(name) : nullptr;
}
}  // namespace

extern "C" {

cudaError_t CUDARTAPI cudaGLGetDevices(unsigned* count, int* devices, unsigned room, unsigned) {
    *count = 0;
    if (gl_function("glGetNamedBufferSubData") == nullptr) return set_error(cudaErrorNoDevice);
    if (room > 0) devices[0] = 0;
    *count = 1;
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaGraphicsGLRegisterBuffer(cudaGraphicsResource** resource, unsigned buffer, unsigned) {
    using Ask = void (*)(unsigned, unsigned, long long*);
    const auto ask = reinterpret_cast<Ask>(gl_function("glGetNamedBufferParameteri64v"));
    if (ask == nullptr) return set_error(cudaErrorNotSupported);
    long long bytes = 0;
    ask(buffer, 0x8764 /* GL_BUFFER_SIZE */, &bytes);
    *resource = new cudaGraphicsResource{buffer, nullptr, static_cast<std::size_t>(bytes)};
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaGraphicsMapResources(int count, cudaGraphicsResource_t* resources, cudaStream_t) {
    const std::lock_guard lock(g_lock);
    using Read = void (*)(unsigned, std::ptrdiff_t, std::ptrdiff_t, void*);
    const auto read = reinterpret_cast<Read>(gl_function("glGetNamedBufferSubData"));
    for (int i = 0; i < count; ++i) {
        cudaGraphicsResource& r = *resources[i];
        if (r.place != nullptr) return set_error(cudaErrorAlreadyMapped);
        r.place = allocate_device_memory(r.bytes);
        std::vector<unsigned char> here(r.bytes);
        read(r.buffer, 0, static_cast<std::ptrdiff_t>(r.bytes), here.data());
        AsDevice device;
        std::memcpy(r.place, here.data(), r.bytes);
        mark_device_written(r.place, r.bytes);
    }
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaGraphicsResourceGetMappedPointer(void** place, std::size_t* bytes,
                                                           cudaGraphicsResource_t resource) {
    if (resource->place == nullptr) return set_error(cudaErrorNotMapped);
    *place = resource->place;
    *bytes = resource->bytes;
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaGraphicsUnmapResources(int count, cudaGraphicsResource_t* resources, cudaStream_t) {
    const std::lock_guard lock(g_lock);
    using Write = void (*)(unsigned, std::ptrdiff_t, std::ptrdiff_t, const void*);
    const auto write = reinterpret_cast<Write>(gl_function("glNamedBufferSubData"));
    for (int i = 0; i < count; ++i) {
        cudaGraphicsResource& r = *resources[i];
        if (r.place == nullptr) return set_error(cudaErrorNotMapped);
        std::vector<unsigned char> here(r.bytes);
        {
            AsDevice device;
            std::memcpy(here.data(), r.place, r.bytes);
        }
        write(r.buffer, 0, static_cast<std::ptrdiff_t>(r.bytes), here.data());
        free_device_memory(r.place);  // what still writes there is a fault
        r.place = nullptr;
    }
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaGraphicsUnregisterResource(cudaGraphicsResource_t resource) {
    if (resource->place != nullptr) free_device_memory(resource->place);
    delete resource;
    return cudaSuccess;
}

}  // extern "C"
