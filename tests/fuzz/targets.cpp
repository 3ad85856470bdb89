#include "tests/fuzz/targets.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>

#include "host/bench/bench_report.hpp"
#include "host/io/ball_files.hpp"
#include "host/io/hdf5.hpp"
#include "host/io/state_text.hpp"
#include "host/io/trajectory_reader.hpp"
#include "host/plot/bench_figure.hpp"
#include "host/plot/run_figure.hpp"
#include "host/plot/stored_run.hpp"
#include "host/plot/table_figure.hpp"
#include "host/run/observe.hpp"
#include "host/run/prepare.hpp"
#include "host/run/simulate.hpp"
#include "host/scene/load.hpp"
#include "host/scene/place.hpp"
#include "host/state/errors.hpp"
#include "host/sweep/journal.hpp"
#include "host/sweep/run_sweep.hpp"
#include "host/sweep/sweep.hpp"
#include "tests/support/sample_trajectory.hpp"

namespace carom::fuzz {

namespace {

std::string file_text(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// All files of a folder below the repository whose names end so, none larger than what is quickly mutated.
std::vector<std::string> texts(const std::string& folder, const std::string& ending) {
    std::vector<std::filesystem::path> paths;
    const std::filesystem::path top = std::filesystem::path(CAROM_SOURCE_DIR) / folder;
    if (std::filesystem::exists(top)) {
        for (const auto& entry : std::filesystem::directory_iterator(top)) {
            if (entry.path().string().ends_with(ending)) paths.push_back(entry.path());
        }
    }
    std::ranges::sort(paths);
    std::vector<std::string> all;
    for (const auto& path : paths) all.push_back(file_text(path));
    return all;
}

std::vector<std::string> with_corpus(std::vector<std::string> seeds, const std::string& name) {
    for (std::string& text : texts("tests/fuzz/corpus/" + name, "")) seeds.push_back(std::move(text));
    return seeds;
}

/// Runs what may refuse its input, in the ways that commands answer with a status.
void refusable(const std::function<void()>& action) {
    try {
        action();
    } catch (const InputError&) {
    } catch (const SystemError&) {
    } catch (const SimulationError&) {
    }
}

const test::TemporaryFolder& folder() {
    static const test::TemporaryFolder own;
    return own;
}

/// For a moment, as far as that gets.
void run_a_moment(const PreparedScene& run) {
    constexpr double kSeconds = 0.01;
    const auto solver = of_checkpoint(run.resumed_from, [&] { return run.plan->make_solver(run.state, ""); });
    const ObservableSet observables = observables_of_run(run, *solver);
    const double until = run.scene.run.until;
    const double end = run.state.time + std::min(until - run.state.time, 1e3 * run.plan->least_interval() + 0.01);
    solver->advance_to(solver->reachable_time(end), kSeconds);
    Frame frame;
    frame.resize(run.scene.dimension(), run.state.balls.size());
    solver->request_frame(frame);
    solver->finish_frame(frame);
    SolverState state;
    solver->save(state);
}

/// A little of much: what is stored of it is read below.
const char* const kStoredScene = R"([scene]
title = "stored"
dimension = 2
[box]
size = [6.0, 5.0]
boundary = ["periodic", "wall"]
wall_temperature = [0.0, 1.0]
[run]
until = 0.4
backend = "cpu"
[output]
every = 0.1
observables_every = 0.02
[[wall]]
shape = "plane"
normal = [0.0, 1.0]
offset = 0.1
[[species]]
name = "a"
radius = 0.3
mass = 1.0
[[fill]]
species = "a"
count = 12
temperature = 1.0
[[observe]]
name = "gr"
kind = "gr"
every = 0.1
[[observe]]
name = "msd"
kind = "msd"
[[observe]]
name = "warmth"
kind = "temperature"
every = 0.1
[[stage]]
until = 0.2
gravity = [0.0, -1.0]
[stage.thermostat]
kind = "andersen"
rate = 1.0
temperature = 1.0
)";

constexpr const char* kLoadingScene = R"([scene]
dimension = 2
[box]
size = [20.0, 20.0]
boundary = ["periodic", "open"]
[[species]]
name = "a b"
radius = 0.5
mass = 1.0
[[wall]]
shape = "sphere"
center = [10.0, 10.0]
radius = 1.0
side = "outside"
[[load]]
radius = 0.25
mass = 2.0
file = ")";

// Scenes.

std::uint64_t balls_of(const Scene& scene) {
    std::uint64_t count = scene.balls.size();
    for (const FillEntry& fill : scene.fills) count += std::min<std::uint64_t>(fill.count, 1'000'000);
    return count;
}

void read_scene(const std::string& input) {
    constexpr std::uint64_t kMostBalls = 300;  // more take their time
    refusable([&] {
        const Scene scene = parse_scene(input, "s.toml");
        if (balls_of(scene) > kMostBalls || scene.run.backend == BackendChoice::kCuda) return;
        SceneRequest request;
        request.text = SceneText{"s.toml", input};
        request.threads = 1;
        request.force = true;
        run_a_moment(prepare_scene(request));
    });
}

std::vector<std::string> scenes() {
    std::vector<std::string> seeds = texts("scenes", ".toml");
    for (const char* solver : {"spring", "events"}) {
        std::string seed = kStoredScene;
        seeds.push_back(seed.replace(seed.find("[run]\n") + 6, 0, fmt::format("solver = \"{}\"\n", solver)));
    }
    seeds.push_back(std::string(kLoadingScene) + "balls.csv\"\ncolumns = { x = \"a\", radius = \"-\" }\n");
    return with_corpus(std::move(seeds), "scene");
}

// Sweeps, tables, journals, results of benches.

void read_sweep(const std::string& input) {
    constexpr std::uint64_t kMostRuns = 4;
    refusable([&] {
        const Sweep sweep = parse_sweep(input, CAROM_SOURCE_DIR "/scenes/fuzz.sweep.toml");
        for (std::uint64_t run = 0; run < std::min(kMostRuns, sweep.runs()); ++run) {
            static_cast<void>(sweep.label_of(run));
            if (sweep.runs() > kMostRuns) static_cast<void>(sweep.assignments(run));
        }
        if (sweep.runs() > kMostRuns || balls_of(load_scene(sweep.scene)) > 100) return;
        SweepProgress progress(ProgressStyle::kNone, stderr, sweep.runs(), 0);
        const SweepOptions options{.threads = 1};
        const std::vector<std::string> columns = check_sweep(
            sweep, options, [] { return 0; }, progress);
        static_cast<void>(sweep_key(sweep, options, columns));
    });
}

std::vector<std::string> sweeps() {
    return with_corpus(
        {"[sweep]\nscene = \"two_balls.toml\"\nrecord = [\"kinetic_energy\", \"momentum\"]\n[[axis]]\nkey = "
         "\"physics.restitution\"\nname = \"e\"\nvalues = {from = 0.5, to = 1.0, step = 0.25}\n[[set]]\nkey = "
         "\"run.until\"\nformula = \"0.1 + sqrt(e) / 10\"\n"},
        "sweep");
}

void read_table(const std::string& input) {
    refusable([&] {
        const SweepTable table = parse_table(input, "t.csv");
        const Canvas canvas("t.svg");
        for (const bool mean : {false, true}) {
            refusable([&] { static_cast<void>(table_figure_script(table, {.mean = mean}, canvas).text()); });
        }
        for (const std::string& name : table.names) {
            refusable([&] { static_cast<void>(table_figure_csv(table, {.quantity = name})); });
            refusable([&] { static_cast<void>(table_figure_script(table, {.by = {name}}, canvas).text()); });
        }
    });
}

std::vector<std::string> tables() {
    return with_corpus({"position [m],angle [deg],felled\n0.35,0,7\n0.35,1,9.5\n0.375,0,8\n0.375,1,\n",
                        "law,e,energy,energy_se\nlinear,0.5,1e-3,2e-5\nhertz,0.5,nan,\nlinear,1,\"1,5\",0\n",
                        "packing_fraction [disks],compressibility\n0.05,1.11\n0.1,1.23\n0.5,4\n"},
                       "table");
}

/// Balls of a file that lies in the folder.
void load_balls(const std::string& name) {
    for (const char* choice : {"", "time = 1.0\n"}) {
        refusable([&] {
            const std::string scene = kLoadingScene + name + "\"\n" + choice;
            static_cast<void>(make_balls(parse_scene(scene, folder().file("s.toml"), {}, ball_reader(false))));
        });
    }
}

/// The first line is the ending of the file's name, and the rest what it holds.
void read_balls(const std::string& input) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    std::string ending = input.substr(0, end);
    if (ending != "xyz" && ending != "dump" && ending != "data") ending = "csv";
    write_file(folder().file("balls." + ending), input.substr(std::min(end + 1, input.size())));
    load_balls("balls." + ending);
}

std::vector<std::string> ball_files() {
    const std::string dump = "ITEM: TIMESTEP\n7\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS pp pp pp\n0 9\n0 9\n-1 1\n";
    return {"csv\nx,y,vx,radius,mass,species,spin\n1,2,0.5,0.5,1,a b,0\n4.5,2,-1e-3,0.25,inf,\"c, \"\"d\"\"\",1\n",
            "csv\n# places\ntime,x [m],y [m],diameter\n0,1,2,1\n0,3,4,\n1,1,2,0.5\n1,5,4,1\n",
            "xyz\n2\nTime=1 Properties=species:S:1:pos:R:3:velo:R:3:masses:R:1\na_b 1 2 0 1 1 0 2\nunnamed 5 6 0 0 0 0 "
            "1\n1\n\n"
            "a_b 1 2 0\n",
            "dump\n" + dump +
                "ITEM: ATOMS id type x y z vx vy vz omegaz radius mass\n1 1 1 2 0 1 1 0 0.5 0.5 1\n2 2 5 6 0 0 0 0 0 "
                "0.25 inf\nITEM: TIME\n1.5\n" +
                dump + "ITEM: ATOMS x y\n1 2\n3 4\n",
            "dump\n" + dump + "ITEM: ATOMS ys xs type\n0.25 0.5 1\n0.75 0.5 2\n",
            "data\nfor the fuzzer\n\n2 atoms\n2 atom types\n0 9 xlo xhi\n0 9 ylo yhi\n\nMasses\n\n1 2.0\n2 3 # "
            "b\n\nAtoms # "
            "charge\n\n7 1 0 1 2 0 0 1 0\n2 2 -1 5 6 0 0 0 0\n\nVelocities\n\n2 1 0 0\n7 0.5 -1 0 0 0 3\n",
            "data\nspheres\n1 atoms\n1 atom types\n\nAtoms  # sphere\n\n1 1 0.5 2.0 3 4 0\n"};
}

void read_journal(const std::string& input) {
    const std::string path = folder().file("t.csv.part");
    for (const bool force : {false, true}) {
        write_file(path, input);
        refusable([&] {
            Journal journal(path, "0123456789abcdef", {8, 2}, force);
            journal.add(7, {{1.0, 2.0}, ""});
        });
    }
    // What is in it now is ours, and is there again.
    const Journal again(path, "0123456789abcdef", {8, 2}, false);
    if (!again.results().contains(7)) throw std::logic_error("a run that was done is not in its journal");
}

std::vector<std::string> journals() {
    const std::string path = folder().file("seed.csv.part");
    {
        Journal journal(path, "0123456789abcdef", {8, 2}, true);
        journal.add(0, {{0.1, -1e300}, ""});
        journal.add(3, {{}, "ball 3 is lost"});
    }
    return with_corpus({file_text(path)}, "journal");
}

void read_bench(const std::string& input) {
    const std::string path = folder().file("b.json");
    write_file(path, input);
    refusable([&] { static_cast<void>(bench_diff(path, path)); });
    for (const std::string& quantity : bench_quantities()) {
        refusable([&] { static_cast<void>(BenchFigure(input, path, quantity).script("b.svg").text()); });
    }
}

std::vector<std::string> benches() {
    return with_corpus(texts("bench/results/epyc-2core", "bench_quick.json"), "bench");
}

// Trajectories and checkpoints: HDF5 files in which the input tells what is changed. HDF5 itself, which is another's,
// gets only files that are whole.

/// Takes an input apart.
class Choices {
public:
    explicit Choices(const std::string& input) : input_(input) {}
    [[nodiscard]] bool empty() const { return at_ >= input_.size(); }
    template <class Value>
    Value take() {
        Value value{};
        const std::size_t size = std::min(sizeof value, input_.size() - std::min(at_, input_.size()));
        std::memcpy(&value, input_.data() + std::min(at_, input_.size()), size);
        at_ += sizeof value;
        return value;
    }
    std::size_t below(std::size_t count) { return take<std::uint16_t>() % std::max<std::size_t>(count, 1); }

private:
    const std::string& input_;
    std::size_t at_ = 0;
};

/// A dataset or an attribute: its path, and where it is an attribute its name.
struct Place {
    std::string object;
    std::string attribute;
};

void list_attributes(hid_t file, const std::string& object, std::vector<Place>& places) {
    const auto add = [](hid_t, const char* name, const H5A_info_t*, void* into) -> herr_t {
        static_cast<std::vector<std::string>*>(into)->emplace_back(name);
        return 0;
    };
    std::vector<std::string> names;
    hsize_t at = 0;
    H5Aiterate_by_name(file, object.c_str(), H5_INDEX_NAME, H5_ITER_INC, &at, add, &names, H5P_DEFAULT);
    for (std::string& name : names) places.push_back({object, std::move(name)});
}

std::vector<Place> places_of(hid_t file) {
    struct Object {
        std::string name;
        bool dataset;
    };
    std::vector<Object> objects;
    const auto add = [](hid_t, const char* name, const H5O_info_t* info, void* into) -> herr_t {
        static_cast<std::vector<Object>*>(into)->push_back({name, info->type == H5O_TYPE_DATASET});
        return 0;
    };
    H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, add, &objects);
    std::vector<Place> places;
    for (const Object& object : objects) {
        if (object.dataset) places.push_back({object.name, ""});
        list_attributes(file, object.name, places);
    }
    return places;
}

constexpr std::array kNumbers{
    0.0, -0.0,    1.0,   -1.0,         2.0,    0.5,    1e-310, 1e300,    -1e300,    1e9,
    3e9, 65536.0, 255.0, 4294967295.0, 9.3e18, 1.8e19, 1e6,    HUGE_VAL, -HUGE_VAL, static_cast<double>(NAN)};

/// Writes a number where one of the type lies.
void put_number(char* at, hid_t type, double number, std::int64_t bits) {
    const std::size_t size = H5Tget_size(type);
    if (H5Tget_class(type) == H5T_FLOAT && size == sizeof(float)) {
        const auto value = static_cast<float>(number);
        std::memcpy(at, &value, sizeof value);
    } else if (H5Tget_class(type) == H5T_FLOAT && size == sizeof(double)) {
        std::memcpy(at, &number, sizeof number);
    } else {
        std::memcpy(at, &bits, std::min(size, sizeof bits));
    }
}

/// What lies at a place: its type, how many values, and their bytes.
struct Content {
    h5::Handle type;
    std::vector<hsize_t> extents;
    std::vector<char> bytes;
    [[nodiscard]] std::size_t count() const { return bytes.size() / H5Tget_size(type); }
};

void change(hid_t file, const Place& place, Choices& choices) {
    const bool of_object = place.attribute.empty();
    Content content;
    {
        const h5::Handle dataset = of_object
                                       ? h5::Handle(H5Dopen2(file, place.object.c_str(), H5P_DEFAULT), H5Dclose, "")
                                       : h5::Handle(H5Aopen_by_name(file, place.object.c_str(), place.attribute.c_str(),
                                                                    H5P_DEFAULT, H5P_DEFAULT),
                                                    H5Aclose, "");
        content.type = h5::Handle(of_object ? H5Dget_type(dataset) : H5Aget_type(dataset), H5Tclose, "");
        const h5::Handle space(of_object ? H5Dget_space(dataset) : H5Aget_space(dataset), H5Sclose, "");
        content.extents.resize(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
        H5Sget_simple_extent_dims(space, content.extents.data(), nullptr);
        content.bytes.resize(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)) * H5Tget_size(content.type));
        if (H5Tis_variable_str(content.type) > 0) return;
        if (of_object) {
            H5Dread(dataset, content.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, content.bytes.data());
        } else {
            H5Aread(dataset, content.type, content.bytes.data());
        }
    }
    const std::size_t size = H5Tget_size(content.type);
    const auto remove = [&] {
        if (of_object) {
            H5Ldelete(file, place.object.c_str(), H5P_DEFAULT);
        } else {
            H5Adelete_by_name(file, place.object.c_str(), place.attribute.c_str(), H5P_DEFAULT);
        }
    };
    const std::uint8_t what = choices.take<std::uint8_t>() % 8;
    const double number = kNumbers[choices.below(kNumbers.size())];
    const auto bits = what == 2                   ? choices.take<std::int64_t>()
                      : std::abs(number) < 1.8e19 ? static_cast<std::int64_t>(std::fmod(number, 9e18))
                                                  : -1;
    double raw = number;
    if (what == 2) std::memcpy(&raw, &bits, sizeof raw);
    switch (what) {
        case 3:  // all of them
            for (std::size_t k = 0; k < content.count(); ++k)
                put_number(&content.bytes[k * size], content.type, number, bits);
            break;
        case 4:  // gone
            return remove();
        case 5: {  // of another length
            if (content.extents.empty()) content.extents.push_back(1);
            const std::size_t axis = choices.below(content.extents.size());
            content.extents[axis] = choices.below(2 * content.extents[axis] + 3);
            std::size_t count = 1;
            for (const hsize_t extent : content.extents) count *= extent;
            if (count > 1'000'000) return;
            content.bytes.resize(count * size);
            break;
        }
        case 6:  // of another type
            content.type =
                h5::Handle(H5Tcopy(choices.below(2) == 0 ? H5T_NATIVE_INT16 : H5T_NATIVE_DOUBLE), H5Tclose, "");
            content.bytes.resize(content.bytes.size() / size * H5Tget_size(content.type));
            break;
        default:
            if (content.bytes.empty()) return;
            put_number(&content.bytes[choices.below(content.count()) * size], content.type, raw, bits);
    }
    remove();
    const h5::Handle space(content.extents.empty() ? H5Screate(H5S_SCALAR)
                                                   : H5Screate_simple(static_cast<int>(content.extents.size()),
                                                                      content.extents.data(), nullptr),
                           H5Sclose, "");
    content.bytes.push_back(0);  // HDF5 takes no null pointer
    if (of_object) {
        const h5::Handle made(
            H5Dcreate2(file, place.object.c_str(), content.type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
            H5Dclose, "create");
        H5Dwrite(made, content.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, content.bytes.data());
    } else {
        const h5::Handle made(H5Acreate_by_name(file, place.object.c_str(), place.attribute.c_str(), content.type,
                                                space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                              H5Aclose, "create");
        H5Awrite(made, content.type, content.bytes.data());
    }
}

/// The seed that the input's first byte chooses, changed as the rest says, with the checksum that it then has.
std::string changed_file(const std::vector<std::string>& files, const std::string& input) {
    constexpr int kMostChanges = 8;
    Choices choices(input);
    std::string path = folder().file("changed.h5");
    write_file(path, files[choices.take<std::uint8_t>() % files.size()]);
    const Hdf5Turn turn;
    try {
        const h5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, "open");
        for (int k = 0; k < kMostChanges && !choices.empty(); ++k) {
            const std::vector<Place> places = places_of(file);
            change(file, places[choices.below(places.size())], choices);
        }
        if (h5::has_attribute(file, "checksum")) {
            H5Adelete(file, "checksum");
            h5::set_attribute(file, "checksum", fmt::format("{:016x}", h5::contents_hash(file, "checksum")));
        }
    } catch (const h5::Error&) {
        // as far as it could be changed
    }
    H5Eclear2(H5E_DEFAULT);
    return path;
}

/// A trajectory and a checkpoint of each solver, as bytes.
const std::array<std::vector<std::string>, 2>& stored() {
    static const std::array<std::vector<std::string>, 2> files = [] {
        std::array<std::vector<std::string>, 2> made;
        for (const char* solver : {"spring", "events"}) {
            SceneRequest request;
            request.text = SceneText{"s.toml", kStoredScene};
            request.overrides = {fmt::format("run.solver={}", solver)};
            request.threads = 1;
            const std::string trajectory = folder().file(fmt::format("{}.h5", solver));
            const std::string checkpoint = folder().file(fmt::format("{}.checkpoint.h5", solver));
            static_cast<void>(simulate(
                prepare_scene(request),
                {.files = {.trajectory = trajectory, .checkpoint = checkpoint}, .force = true, .quiet = true}));
            made[0].push_back(file_text(trajectory));
            made[1].push_back(file_text(checkpoint));
        }
        return made;
    }();
    return files;
}

void put(hid_t parent, const std::string& name, const std::vector<hsize_t>& extents, double first) {
    std::size_t count = 1;
    for (const hsize_t extent : extents) count *= extent;
    std::vector<double> numbers(count);
    for (std::size_t k = 0; k < count; ++k) numbers[k] = first + static_cast<double>(k % 8);
    const h5::Handle space(extents.empty()
                               ? H5Screate(H5S_SCALAR)
                               : H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
                           H5Sclose, "");
    const h5::Handle made(
        H5Dcreate2(parent, name.c_str(), H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose,
        "create");
    H5Dwrite(made, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data());
}

/// H5MD of other programs: carom's without what says that it is carom's, and one whose elements are of all kinds.
const std::vector<std::string>& foreign() {
    static const std::vector<std::string> files = [] {
        std::vector<std::string> made;
        const std::string path = folder().file("foreign.h5");
        write_file(path, stored()[0][0]);
        {
            const h5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, "open");
            H5Ldelete(file, "parameters", H5P_DEFAULT);
        }
        made.push_back(file_text(path));
        {
            const h5::Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose, "create");
            const h5::Handle particles = h5::create_group(file, "particles");
            const h5::Handle disks = h5::create_group(particles, "disks");
            const h5::Handle box = h5::create_group(disks, "box");
            h5::set_attribute(box, "boundary", std::vector<std::string>{"periodic", "none"});
            put(box, "edges", {2}, 20.0);
            const h5::Handle position = h5::create_group(disks, "position");
            put(position, "value", {3, 4, 2}, 1.0);
            put(position, "step", {}, 100.0);
            put(position, "time", {3}, 0.5);
            const h5::Handle velocity = h5::create_group(disks, "velocity");
            put(velocity, "value", {3, 4, 2}, -1.0);
            put(velocity, "step", {}, 100.0);
            for (const char* name : {"diameter", "mass", "species", "id"}) put(disks, name, {4}, 1.0);
        }
        made.push_back(file_text(path));
        return made;
    }();
    return files;
}

void read_h5md(const std::string& input) {
    changed_file(foreign(), input);
    load_balls("changed.h5");
}

void read_trajectory(const std::string& input) {
    const std::string path = changed_file(stored()[0], input);
    load_balls("changed.h5");
    refusable([&] {
        const TrajectoryReader reader(path);
        Frame frame;
        for (std::size_t k = 0; k < std::min<std::size_t>(reader.frame_count(), 3); ++k) {
            reader.read(k, frame);
            static_cast<void>(state_json(reader.header(), frame));
            static_cast<void>(state_csv(reader.header(), frame));
            refusable([&] { static_cast<void>(reader.averages(k)); });
        }
        refusable([&] { static_cast<void>(reader.changes()); });
        refusable([&] { static_cast<void>(reader.summary()); });
        refusable([&] { static_cast<void>(stored_run(reader)); });
        const auto some = [&](std::vector<std::string> all) {  // others for other inputs
            const std::size_t first = input.size() % std::max<std::size_t>(all.size(), 1);
            std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first), all.end());
            all.resize(std::min<std::size_t>(all.size(), 2));
            return all;
        };
        for (const std::string& quantity : some(figure_quantities(reader))) {
            refusable([&] { static_cast<void>(figure_csv(run_figure(reader, quantity))); });
        }
        refusable([&] {
            const Scene scene = reader.scene();
            for (const std::string& quantity : some(average_quantities(reader))) {
                refusable([&] { static_cast<void>(run_average(reader, scene, quantity)); });
            }
        });
    });
}

void read_checkpoint(const std::string& input) {
    const std::string path = changed_file(stored()[1], input);
    refusable([&] {
        SceneRequest request;
        request.overrides = {"run.until=0.5"};
        request.threads = 1;
        run_a_moment(prepare_resume(path, request));
    });
}

/// What is changed, drawn at random.
std::vector<std::string> changes() {
    std::mt19937 random(7);
    std::vector<std::string> seeds{std::string(1, '\0'), std::string(1, '\1')};
    for (int k = 0; k < 16; ++k) {
        std::string seed(static_cast<std::size_t>(8 + k % 3 * 7), '\0');
        for (char& byte : seed) byte = static_cast<char>(random());
        seeds.push_back(seed);
    }
    return seeds;
}

}  // namespace

const std::vector<Target>& targets() {
    static const std::vector<Target> all{
        {"scene", read_scene, scenes, 1500},
        {"sweep", read_sweep, sweeps, 1500},
        {"table", read_table, tables, 1500},
        {"balls", read_balls, ball_files, 1500},
        {"journal", read_journal, journals, 500},
        {"bench", read_bench, benches, 40},
        {"h5md", read_h5md, changes, 200},
        {"trajectory", read_trajectory, changes, 60},
        {"checkpoint", read_checkpoint, changes, 120},
    };
    return all;
}

const Target& target(const std::string& name) {
    for (const Target& one : targets()) {
        if (one.name == name) return one;
    }
    throw std::out_of_range("no target of fuzzing is called " + name);
}

namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
        lines.push_back(text.substr(begin, end - begin));
        begin = end;
    }
    return lines;
}

}  // namespace

std::string mutated(std::string input, const std::string& other, std::mt19937& random) {
    constexpr std::array<const char*, 24> kWords{
        "nan",  "inf",      "-1",    "0", "1e300",   "-1e-310",    "9223372036854775807",
        "1e9",  "0.5",      "\"\"",  "[", "]",       "[[ball]]\n", "= ",
        "true", "\"auto\"", "{}",    "'", "\\u0000", "\xff",       "\r\n",
        ",",    "1e-9",     "[1, 2]"};
    const auto below = [&](std::size_t count) { return random() % std::max<std::size_t>(count, 1); };
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
        const std::size_t at = below(input.size() + 1);
        std::vector<std::string> lines;
        switch (below(8)) {
            case 0:
                input.insert(at, kWords[below(kWords.size())]);
                break;
            case 1:
                if (!input.empty()) input[below(input.size())] = static_cast<char>(random());
                break;
            case 2:
                input.erase(at, 1 + below(16));
                break;
            case 3:
                input.insert(at, other.substr(below(other.size()), below(64)));
                break;
            case 4: {  // a number is another one
                const std::size_t digit = input.find_first_of("0123456789", at);
                if (digit == std::string::npos) break;
                const std::size_t end = std::min(input.find_first_not_of("0123456789.e-+", digit), input.size());
                input.replace(digit, end - digit, kWords[below(10)]);
                break;
            }
            default: {  // lines: gone, doubled, another's
                lines = lines_of(input);
                if (lines.empty()) break;
                const std::vector<std::string> others = lines_of(other);
                const std::size_t line = below(lines.size());
                const std::size_t how = below(3);
                if (how == 0) lines[line].clear();
                if (how == 1) lines[line] += lines[below(lines.size())];
                if (how == 2 && !others.empty()) lines[line] += others[below(others.size())];
                input.clear();
                for (const std::string& one : lines) input += one;
            }
        }
    }
    return input;
}

}  // namespace carom::fuzz
