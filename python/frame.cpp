#include "python/frame.hpp"

// Frames, of runs and of files.

#include <fmt/format.h>
#include <pthread.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "host/io/hdf5_turn.hpp"
#include "host/io/trajectory_reader.hpp"
#include "host/plot/ball_picture.hpp"
#include "host/plot/figure.hpp"
#include "host/plot/image.hpp"
#include "host/plot/quantity_figure.hpp"
#include "host/plot/stored_run.hpp"
#include "host/report/report.hpp"
#include "host/scene/load.hpp"

namespace py = pybind11;

namespace carom::python {

namespace {

std::atomic<bool> ending = false;
std::atomic<int> coming_back = 0;  // threads that wait for Python's lock
std::thread::id who_ends;

template <class Take>
void come_back(const Take& take) {
    ++coming_back;
    if (ending && std::this_thread::get_id() != who_ends) {
        --coming_back;
        for (;;) ::pause();
    }
    take();
    --coming_back;
}

}  // namespace

OthersMayRun::~OthersMayRun() {
    come_back([this] { PyEval_RestoreThread(state_); });
}

PythonAgain::PythonAgain() {
    if (PyGILState_Check() != 0) return;  // who has Python neither waits for it nor keeps it from others
    come_back([this] { lock_.emplace(); });
}

void OthersMayRun::watch_end() {
    pthread_atfork(nullptr, nullptr, [] { coming_back = 0; });  // those threads are the parent's
    py::module_::import("atexit").attr("register")(py::cpp_function([] {
        who_ends = std::this_thread::get_id();
        ending = true;
        // Who was about to come back does so while that can still be done.
        const py::gil_scoped_release others;
        while (coming_back > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }));
}

namespace {

using Columns = std::array<std::vector<double>, 3>;

/// One axis of a vector of each ball, where it lies; None where this dimension has none.
py::object axis_of(const FrameView& view, const Columns BallColumns::*columns, std::size_t axis) {
    BallColumns used;
    used.resize(view.frame->dimension, 1);  // there may be no ball to tell by
    if ((used.*columns)[axis].empty()) return py::none();
    return view_of(((*view.frame).*columns)[axis], view.frame);
}

/// Balls by axes. The columns lie apart, so it is a copy of them.
template <class Value>
py::array matrix(const FrameView& view, const std::array<std::vector<Value>, 3>& columns) {
    const int dimension = view.frame->dimension;
    const std::size_t balls = view.frame->size();
    py::array_t<Value, py::array::f_style> values(
        {static_cast<py::ssize_t>(balls), static_cast<py::ssize_t>(dimension)});
    for (int axis = 0; axis < dimension && balls > 0; ++axis) {
        std::memcpy(values.mutable_data(0, axis), columns[static_cast<std::size_t>(axis)].data(),
                    balls * sizeof(Value));
    }
    values.attr("setflags")(py::arg("write") = false);
    return values;
}

/// A number of each ball that its species has.
py::array by_species(const FrameView& view, double Species::*number) {
    std::vector<double> values;
    values.reserve(view.context->species.size());
    for (const std::uint32_t row : view.context->species) values.push_back(view.context->table[row].*number);
    return array_of(std::move(values));
}

/// What is made when it is first asked for, and then stays with the frame.
template <class Make>
py::object kept(const py::object& self, const char* name, const Make& make) {
    const py::dict attributes = self.attr("__dict__");
    if (!attributes.contains(name)) attributes[name] = make(self.cast<const FrameView&>());
    return attributes[name];
}

/// As `carom plot FILE balls` draws it.
py::bytes picture(const FrameView& view, int width, int height, const std::string& color_by) {
    const std::vector<std::uint8_t> png = [&] {
        const OthersMayRun others;
        const ColorBy by = color_by == "species" ? ColorBy::kSpecies
                           : color_by == "speed" ? ColorBy::kSpeed
                                                 : ColorBy::kAuto;
        const Balls balls = balls_of(*view.context, view.frame->dimension);
        return png_of(draw_balls(parse_scene(view.context->source, view.context->path), balls, *view.frame,
                                 {.width = width, .height = height, .color_by = by}),
                      "a picture");
    }();
    return {reinterpret_cast<const char*>(png.data()), png.size()};
}

/// A stored run. Any thread may read, one at a time; so may the child of a fork.
class StoredRun {
public:
    explicit StoredRun(const FileName& path) {
        const OthersMayRun others;
        const Hdf5Turn turn;
        reader_.emplace(path.bytes);
        const TrajectoryHeader& header = reader_->header();
        context_ = std::make_shared<FrameContext>(FrameContext{header.box, header.species_table, header.species.rows(),
                                                               header.scene_source, header.scene_path});
    }

    /// Does it without holding up other threads of Python.
    template <class Action>
    auto read(const Action& action) {
        const OthersMayRun others;
        const Hdf5Turn turn;
        if (!reader_) throw std::runtime_error("the file is closed");
        return action(std::as_const(*reader_));
    }
    FrameView frame(std::size_t index) {
        const auto frame = std::make_shared<Frame>();
        read([&](const TrajectoryReader& reader) { reader.read(index, *frame); });
        return {context_, frame};
    }
    void close() {
        const OthersMayRun others;
        const Hdf5Turn turn;
        reader_.reset();
    }

private:
    std::optional<TrajectoryReader> reader_;
    std::shared_ptr<const FrameContext> context_;
};

}  // namespace

void define_reader(py::module_& module) {
    py::class_<StoredRun>(module, "StoredRun", "A trajectory.")
        .def("__len__",
             [](StoredRun& run) {
                 return run.read([](const TrajectoryReader& reader) { return reader.frame_count(); });
             })
        .def("times",
             [](StoredRun& run) {
                 return array_of(run.read([](const TrajectoryReader& reader) {
                     return std::vector<double>(reader.times().begin(), reader.times().end());
                 }));
             })
        .def("steps",
             [](StoredRun& run) {
                 return array_of(run.read([](const TrajectoryReader& reader) {
                     return std::vector<std::uint64_t>(reader.steps().begin(), reader.steps().end());
                 }));
             })
        .def("frame", &StoredRun::frame, py::arg("index"))
        .def(
            "frame_at",
            [](StoredRun& run, double time) {
                return run.read([&](const TrajectoryReader& reader) { return reader.frame_at(time); });
            },
            py::arg("time"))
        .def("rows",
             [](StoredRun& run) {
                 ObservableTable table = run.read([](const TrajectoryReader& reader) { return reader.observables(); });
                 return py::make_tuple(table.observables, array_of(std::move(table.time)),
                                       array_of(std::move(table.step)), array_of(std::move(table.values)));
             })
        .def(
            "averages",
            [](StoredRun& run, std::size_t frame) {
                return run.read([&](const TrajectoryReader& reader) {
                    std::vector<AverageTable> tables = reader.averages(frame);
                    std::vector<std::pair<AverageInfo, AverageTable>> all;
                    for (std::size_t k = 0; k < tables.size(); ++k) {
                        all.emplace_back(reader.header().averages[k], std::move(tables[k]));
                    }
                    return all;
                });
            },
            py::arg("frame"))
        .def("summary",
             [](StoredRun& run) { return run.read([](const TrajectoryReader& reader) { return reader.summary(); }); })
        .def("changes",
             [](StoredRun& run) {
                 py::list changes;
                 for (const RunChange& change :
                      run.read([](const TrajectoryReader& reader) { return reader.changes(); })) {
                     changes.append(py::make_tuple(change.time, change.step, change.what));
                 }
                 return changes;
             })
        .def("title",
             [](StoredRun& run) {
                 return run.read([](const TrajectoryReader& reader) { return reader.header().title; });
             })
        .def("source",
             [](StoredRun& run) {
                 return run.read([](const TrajectoryReader& reader) { return reader.header().scene_source; });
             })
        .def("scene_path",
             [](StoredRun& run) {
                 return FileName{run.read([](const TrajectoryReader& reader) { return reader.header().scene_path; })};
             })
        .def("solver",
             [](StoredRun& run) {
                 const SolverDescription solver =
                     run.read([](const TrajectoryReader& reader) { return reader.header().description; });
                 py::dict told;
                 told["solver"] = solver.solver;
                 told["backend"] = solver.backend;
                 told["device"] = solver.device;
                 told["threads"] = solver.threads;
                 told["precision"] = solver.precision;
                 told["dt"] = solver.dt;
                 for (const auto& [name, value] : solver.parameters) told[name.c_str()] = value;
                 return told;
             })
        .def(
            "figure",
            [](StoredRun& run, const std::string& quantity, const FileName& path) {
                const Script script = run.read([&](const TrajectoryReader& reader) {
                    Canvas canvas(path.bytes);
                    canvas.note = run_note(reader);
                    return figure_script(quantity_figure({&reader}, quantity), canvas);
                });
                const OthersMayRun others;
                run_gnuplot(script, path.bytes, true);
            },
            py::arg("quantity"), py::arg("path"))
        .def("quantities",
             [](StoredRun& run) {
                 return run.read([](const TrajectoryReader& reader) { return all_quantities(reader); });
             })
        .def(
            "report",
            [](StoredRun& run) { return run.read([](const TrajectoryReader& reader) { return report_page(reader); }); })
        .def("close", &StoredRun::close);
    module.def(
        "open_stored", [](const FileName& path) { return std::make_unique<StoredRun>(path); }, py::arg("path"));
}

void define_frame(py::module_& module) {
    py::class_<Species>(module, "Species", "What balls have in common.")
        .def_readonly("name", &Species::name)
        .def_readonly("radius", &Species::radius)
        .def_readonly("mass", &Species::mass)
        .def_readonly("radius_of_gyration", &Species::radius_of_gyration)
        .def_readonly("color", &Species::color);
    // With a dict of its own, for kept().
    py::class_<FrameView> frame(module, "Frame", py::dynamic_attr(), "All balls at one time.");
    frame.def_property_readonly("time", [](const FrameView& view) { return view.frame->time; })
        .def_property_readonly("step", [](const FrameView& view) { return view.frame->step; })
        .def_property_readonly("dimension", [](const FrameView& view) { return view.frame->dimension; })
        .def_property_readonly("box_min",
                               [](const FrameView& view) {
                                   py::list corner;
                                   for (int k = 0; k < view.frame->dimension; ++k) {
                                       corner.append(view.context->box.min[static_cast<std::size_t>(k)]);
                                   }
                                   return py::tuple(corner);
                               })
        .def_property_readonly("box_size",
                               [](const FrameView& view) {
                                   py::list size;
                                   for (int k = 0; k < view.frame->dimension; ++k) {
                                       size.append(view.context->box.size[static_cast<std::size_t>(k)]);
                                   }
                                   return py::tuple(size);
                               })
        .def("__len__", [](const FrameView& view) { return view.frame->size(); })
        .def_property_readonly("state_hash",
                               [](const FrameView& view) {
                                   const OthersMayRun others;
                                   return fmt::format("{:016x}", state_hash(*view.frame));
                               })
        .def_property_readonly("gone", [](const FrameView& view) { return view_of(view.frame->gone, view.frame); })
        .def_property_readonly("species",
                               [](const FrameView& view) { return view_of(view.context->species, view.context); })
        .def_property_readonly("species_table", [](const FrameView& view) { return view.context->table; })
        .def_property_readonly(
            "radius",
            [](const py::object& self) {
                return kept(self, "radius", [](const FrameView& view) { return by_species(view, &Species::radius); });
            })
        .def_property_readonly("mass",
                               [](const py::object& self) {
                                   return kept(self, "mass",
                                               [](const FrameView& view) { return by_species(view, &Species::mass); });
                               })
        .def_property_readonly(
            "position",
            [](const py::object& self) {
                return kept(self, "position", [](const FrameView& view) { return matrix(view, view.frame->position); });
            })
        .def_property_readonly(
            "velocity",
            [](const py::object& self) {
                return kept(self, "velocity", [](const FrameView& view) { return matrix(view, view.frame->velocity); });
            })
        .def_property_readonly("image",
                               [](const py::object& self) {
                                   return kept(self, "image",
                                               [](const FrameView& view) { return matrix(view, view.frame->image); });
                               })
        .def("_picture", &picture, py::arg("width"), py::arg("height"), py::arg("color_by"))
        .def("__repr__", [](const FrameView& view) {
            return fmt::format("<carom.Frame of {} balls at t = {:.6g}>", view.frame->size(), view.frame->time);
        });
    constexpr std::array<const char*, 3> kPosition{"x", "y", "z"};
    constexpr std::array<const char*, 3> kVelocity{"vx", "vy", "vz"};
    constexpr std::array<const char*, 3> kSpin{"spin_x", "spin_y", "spin_z"};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        frame.def_property_readonly(
            kPosition[axis], [axis](const FrameView& view) { return axis_of(view, &BallColumns::position, axis); });
        frame.def_property_readonly(
            kVelocity[axis], [axis](const FrameView& view) { return axis_of(view, &BallColumns::velocity, axis); });
        frame.def_property_readonly(kSpin[axis],
                                    [axis](const FrameView& view) { return axis_of(view, &BallColumns::spin, axis); });
    }
}

}  // namespace carom::python
