#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/state/balls.hpp"
#include "host/state/box.hpp"
#include "kernels/core/device_frame.hpp"

namespace carom::python {

/// While it lives, other threads of Python go on. Once the interpreter has begun to end, other threads than that which
/// ends it stay here for good: Python would end them from within, which C++ takes for a fault.
class OthersMayRun {
public:
    OthersMayRun() : state_(PyEval_SaveThread()) {}
    ~OthersMayRun();
    OthersMayRun(const OthersMayRun&) = delete;
    OthersMayRun& operator=(const OthersMayRun&) = delete;

    /// Called when Python's module begins; knows from then on when the interpreter ends.
    static void watch_end();

private:
    PyThreadState* state_;
};

/// The name of a file, as Python's own functions take it: any bytes but a NUL, str with what is no UTF-8 escaped.
struct FileName {
    std::string bytes;
};

/// What the program says, in which names of files may be.
inline pybind11::object text_of(const std::string& said) {
    return pybind11::reinterpret_steal<pybind11::object>(
        PyUnicode_DecodeFSDefaultAndSize(said.data(), static_cast<Py_ssize_t>(said.size())));
}

/// While it lives, a thread that let others run has Python again, as OthersMayRun.
class PythonAgain {
public:
    PythonAgain();

private:
    std::optional<pybind11::gil_scoped_acquire> lock_;
};

/// What does not change from frame to frame of one run.
struct FrameContext {
    Box box;
    std::vector<Species> table;
    std::vector<std::uint32_t> species;  ///< one per ball, by id; index into table
    std::string source;                  ///< of the scene, for pictures
    std::string path;
};

/// A frame, and what is needed to understand it. Arrays that Python gets keep both alive, whatever becomes of the run.
struct FrameView {
    std::shared_ptr<const FrameContext> context;
    std::shared_ptr<const Frame> frame;
};

/// All balls where the processor has them.
struct DeviceFrameView {
    double time;
    std::uint64_t step;
    std::shared_ptr<const DeviceFrame> frame;
};

/// What a processor has whose balls are in the host's memory.
/// \param single  velocities are floats
std::shared_ptr<const DeviceFrame> copy_on_host(const Frame& frame, bool single);

/// The balls of a frame as what they are, and not where.
inline Balls balls_of(const FrameContext& context, int dimension) {
    Balls balls;
    balls.dimension = dimension;
    balls.species_table = context.table;
    balls.species = context.species;
    return balls;
}

/// An array that lies in memory of `owner`, which it keeps alive; nobody can write to it.
template <class Value, class Owner>
pybind11::array view_of(const std::vector<Value>& values, const std::shared_ptr<Owner>& owner) {
    const pybind11::capsule keep(new std::shared_ptr<const Owner>(owner),
                                 [](void* held) { delete static_cast<std::shared_ptr<const Owner>*>(held); });
    pybind11::array_t<Value> array(static_cast<pybind11::ssize_t>(values.size()), values.data(), keep);
    array.attr("setflags")(pybind11::arg("write") = false);
    return array;
}

/// An array of what is put together here; nobody can write to it.
template <class Value>
pybind11::array array_of(std::vector<Value> values) {
    const auto owner = std::make_shared<const std::vector<Value>>(std::move(values));
    return view_of(*owner, owner);
}

/// Adds the class of frames.
void define_frame(pybind11::module_& module);
/// Adds the class of frames in memory of the processor.
void define_device_frame(pybind11::module_& module);
/// Adds the class of stored runs.
void define_reader(pybind11::module_& module);

}  // namespace carom::python

template <>
struct pybind11::detail::type_caster<carom::python::FileName> {
    PYBIND11_TYPE_CASTER(carom::python::FileName, const_name("str"));

    bool load(handle given, bool /*convert*/) {
        PyObject* bytes = nullptr;
        if (PyUnicode_FSConverter(given.ptr(), &bytes) == 0) throw error_already_set();
        value.bytes = reinterpret_steal<pybind11::bytes>(bytes);
        return true;
    }
    static handle cast(const carom::python::FileName& name, return_value_policy /*policy*/, handle /*parent*/) {
        return carom::python::text_of(name.bytes).release();
    }
};
