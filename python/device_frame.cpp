#include "python/frame.hpp"

// Frames where the processor has them, for other programs to read in place: by DLPack (Data API standard, 2021 and its
// version 1 of 2024) and, of a GPU, by the CUDA array interface (version 3). No Python is needed to let go of one.

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace carom::python {

namespace {

// What the standard fixes of DLPack: layouts, names, numbers.

constexpr std::int32_t kDlCpu = 1;
constexpr std::int32_t kDlCuda = 2;
constexpr std::uint8_t kDlInt = 0;
constexpr std::uint8_t kDlUInt = 1;
constexpr std::uint8_t kDlFloat = 2;
constexpr const char* kPlainCapsule = "dltensor";
constexpr const char* kVersionedCapsule = "dltensor_versioned";

struct DlTensor {
    void* data;
    std::int32_t device_type;
    std::int32_t device_id;
    std::int32_t axes;
    std::uint8_t code;
    std::uint8_t bits;
    std::uint16_t lanes;
    std::int64_t* shape;
    std::int64_t* strides;  ///< in elements
    std::uint64_t byte_offset;
};

struct PlainTensor {
    DlTensor tensor;
    void* keep;
    void (*release)(PlainTensor*);
};

struct VersionedTensor {
    std::uint32_t major;
    std::uint32_t minor;
    void* keep;
    void (*release)(VersionedTensor*);
    std::uint64_t flags;
    DlTensor tensor;
};

/// What a number of an array is.
struct Element {
    std::uint8_t code;
    std::uint8_t bytes;

    [[nodiscard]] std::string typestr() const {
        const char kind = code == kDlFloat ? 'f' : code == kDlInt ? 'i' : 'u';
        return fmt::format("{}{}{}", bytes == 1 ? '|' : '<', kind, bytes);
    }
};
constexpr Element kDouble{kDlFloat, 8};
constexpr Element kFloat{kDlFloat, 4};
constexpr Element kInt32{kDlInt, 4};
constexpr Element kByte{kDlUInt, 1};

/// One array of a frame.
struct DeviceColumn {
    std::shared_ptr<const DeviceFrame> frame;
    void* data;
    Element element;
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides;  // in elements

    [[nodiscard]] bool on_host() const { return frame->device == DeviceFrame::kHost; }
    [[nodiscard]] std::pair<std::int32_t, std::int32_t> device() const {
        return on_host() ? std::pair{kDlCpu, 0} : std::pair{kDlCuda, static_cast<std::int32_t>(frame->device)};
    }
};

std::string device_name(const DeviceFrame& frame) {
    return frame.device == DeviceFrame::kHost ? "cpu" : fmt::format("cuda:{}", frame.device);
}

/// Lives as long as the one who took the capsule wants the array.
template <class Tensor>
struct Lent {
    DeviceColumn column;
    Tensor managed{};

    static void release(Tensor* tensor) { delete static_cast<Lent*>(tensor->keep); }
    /// Of a capsule that nobody took: who takes one gives it another name.
    template <const char* const* kName>
    static void forget(PyObject* capsule) {
        if (PyCapsule_IsValid(capsule, *kName) == 0) return;
        release(static_cast<Tensor*>(PyCapsule_GetPointer(capsule, *kName)));
    }
};

template <class Tensor, const char* const* kName>
py::object lend(const DeviceColumn& column) {
    auto lent = std::make_unique<Lent<Tensor>>();
    lent->column = column;
    const auto [type, number] = column.device();
    lent->managed.tensor = {.data = column.data,
                            .device_type = type,
                            .device_id = number,
                            .axes = static_cast<std::int32_t>(column.shape.size()),
                            .code = column.element.code,
                            .bits = static_cast<std::uint8_t>(8 * column.element.bytes),
                            .lanes = 1,
                            .shape = lent->column.shape.data(),
                            .strides = lent->column.strides.data(),
                            .byte_offset = 0};
    lent->managed.keep = lent.get();
    lent->managed.release = Lent<Tensor>::release;
    if constexpr (std::is_same_v<Tensor, VersionedTensor>) lent->managed.major = 1;
    PyObject* const capsule = PyCapsule_New(&lent->managed, *kName, Lent<Tensor>::template forget<kName>);
    if (capsule == nullptr) throw py::error_already_set();
    static_cast<void>(lent.release());
    return py::reinterpret_steal<py::object>(capsule);
}

/// \param stream  whose work is to find the array complete: it is, whichever that is
py::object dlpack(const DeviceColumn& column, const py::object& stream,
                  const std::optional<std::pair<std::int64_t, std::int64_t>>& version,
                  const std::optional<std::pair<std::int64_t, std::int64_t>>& device, std::optional<bool> copy) {
    if (!stream.is_none() && (column.on_host() || !py::isinstance<py::int_>(stream))) {
        throw py::buffer_error(column.on_host() ? "stream must be None for memory of the host"
                                                : "stream must be None or a whole number");
    }
    if (device && *device != std::pair<std::int64_t, std::int64_t>(column.device())) {
        throw py::buffer_error("the array is on " + device_name(*column.frame) +
                               ", and moved nowhere else; frame() has one in the host's memory");
    }
    if (copy.value_or(false)) {
        throw py::buffer_error("no further copy is made: the array is one of the run's balls, and yours alone");
    }
    if (version && version->first >= 1) return lend<VersionedTensor, &kVersionedCapsule>(column);
    return lend<PlainTensor, &kPlainCapsule>(column);
}

py::tuple tuple_of(const std::vector<std::int64_t>& numbers, std::int64_t each = 1) {
    py::tuple tuple(numbers.size());
    for (std::size_t k = 0; k < numbers.size(); ++k) tuple[k] = numbers[k] * each;
    return tuple;
}

/// \throws AttributeError  the memory is not a GPU's: who asks whether there is such a thing shall hear no
py::dict cuda_array_interface(const DeviceColumn& column) {
    if (column.on_host()) throw py::attribute_error("the array is in the host's memory: it is read by __dlpack__");
    py::dict told;
    told["version"] = 3;
    told["shape"] = tuple_of(column.shape);
    told["typestr"] = column.element.typestr();
    const auto place = column.frame->count == 0 ? 0 : reinterpret_cast<std::uintptr_t>(column.data);
    told["data"] = py::make_tuple(place, false);
    told["strides"] = tuple_of(column.strides, column.element.bytes);
    told["stream"] = py::none();  // nothing is to be waited for
    return told;
}

/// As NumPy's asarray() wants it, in place. \throws TypeError  the memory is a GPU's
py::object as_array(const py::object& self, const py::args& type, const py::kwargs& options) {
    const auto& column = self.cast<const DeviceColumn&>();
    if (!column.on_host()) {
        throw py::type_error("the array is on " + device_name(*column.frame) +
                             ", where NumPy cannot read: use frame()");
    }
    std::vector<py::ssize_t> strides;
    for (const std::int64_t stride : column.strides) strides.push_back(stride * column.element.bytes);
    const py::array array(py::dtype(column.element.typestr()), column.shape, strides, column.data, self);
    return py::module_::import("numpy").attr("asarray")(array, *type, **options);
}

/// One axis of a vector of each ball; None where this dimension has none.
py::object axis_of(const std::shared_ptr<const DeviceFrame>& frame, void* begin, Element element, int axis) {
    if (axis >= frame->dimension) return py::none();
    const auto balls = static_cast<std::int64_t>(frame->count);
    auto* const place =
        static_cast<unsigned char*>(begin) + frame->count * element.bytes * static_cast<std::size_t>(axis);
    return py::cast(DeviceColumn{frame, place, element, {balls}, {1}});
}

/// Balls by axes.
DeviceColumn matrix(const std::shared_ptr<const DeviceFrame>& frame, void* begin, Element element) {
    const auto balls = static_cast<std::int64_t>(frame->count);
    return {frame, begin, element, {balls, frame->dimension}, {1, balls}};
}

Element velocities_of(const DeviceFrame& frame) { return frame.single ? kFloat : kDouble; }

}  // namespace

std::shared_ptr<const DeviceFrame> copy_on_host(const Frame& frame, bool single) {
    struct Memory {
        std::vector<double> position, velocity;
        std::vector<float> single_velocity;
        std::vector<std::int32_t> image;
        std::vector<std::uint8_t> gone;
    };
    const auto memory = std::make_shared<Memory>();
    memory->gone = frame.gone;
    const auto gather = [&](const auto& columns, auto& to) {
        to.reserve(frame.size() * static_cast<std::size_t>(frame.dimension));
        for (int axis = 0; axis < frame.dimension; ++axis) {
            for (const auto value : columns[static_cast<std::size_t>(axis)]) {
                to.push_back(static_cast<typename std::decay_t<decltype(to)>::value_type>(value));
            }
        }
    };
    gather(frame.position, memory->position);
    gather(frame.image, memory->image);
    if (single) {
        gather(frame.velocity, memory->single_velocity);
    } else {
        gather(frame.velocity, memory->velocity);
    }
    void* const velocity = single ? static_cast<void*>(memory->single_velocity.data()) : memory->velocity.data();
    return std::make_shared<DeviceFrame>(DeviceFrame{.dimension = frame.dimension,
                                                     .count = frame.size(),
                                                     .single = single,
                                                     .position = memory->position.data(),
                                                     .velocity = velocity,
                                                     .image = memory->image.data(),
                                                     .gone = memory->gone.data(),
                                                     .memory = memory});
}

void define_device_frame(py::module_& module) {
    py::class_<DeviceColumn>(module, "DeviceArray", "An array where the processor has it.")
        .def_property_readonly("shape", [](const DeviceColumn& column) { return tuple_of(column.shape); })
        .def_property_readonly("dtype", [](const DeviceColumn& column) { return py::dtype(column.element.typestr()); })
        .def_property_readonly("device", [](const DeviceColumn& column) { return device_name(*column.frame); })
        .def("__len__", [](const DeviceColumn& column) { return column.shape[0]; })
        .def("__dlpack_device__", &DeviceColumn::device)
        .def("__dlpack__", &dlpack, py::kw_only(), py::arg("stream") = py::none(), py::arg("max_version") = py::none(),
             py::arg("dl_device") = py::none(), py::arg("copy") = py::none())
        .def_property_readonly("__cuda_array_interface__", &cuda_array_interface)
        .def("__array__", &as_array)
        .def("__repr__", [](const DeviceColumn& column) {
            return py::str("<carom.DeviceArray of shape {}, {}, on {}>")
                .format(tuple_of(column.shape), column.element.typestr(), device_name(*column.frame));
        });
    using View = DeviceFrameView;
    py::class_<View> frame(module, "DeviceFrame", "All balls at one time, where the processor has them.");
    frame.def_readonly("time", &View::time)
        .def_readonly("step", &View::step)
        .def_property_readonly("dimension", [](const View& view) { return view.frame->dimension; })
        .def_property_readonly("device", [](const View& view) { return device_name(*view.frame); })
        .def("__len__", [](const View& view) { return view.frame->count; })
        .def_property_readonly("position",
                               [](const View& view) { return matrix(view.frame, view.frame->position, kDouble); })
        .def_property_readonly(
            "velocity",
            [](const View& view) { return matrix(view.frame, view.frame->velocity, velocities_of(*view.frame)); })
        .def_property_readonly("image", [](const View& view) { return matrix(view.frame, view.frame->image, kInt32); })
        .def_property_readonly("gone", [](const View& view) { return axis_of(view.frame, view.frame->gone, kByte, 0); })
        .def("__repr__", [](const View& view) {
            return fmt::format("<carom.DeviceFrame of {} balls at t = {:.6g}, on {}>", view.frame->count, view.time,
                               device_name(*view.frame));
        });
    constexpr std::array<const char*, 3> kPosition{"x", "y", "z"};
    constexpr std::array<const char*, 3> kVelocity{"vx", "vy", "vz"};
    for (int axis = 0; axis < 3; ++axis) {
        frame.def_property_readonly(kPosition[static_cast<std::size_t>(axis)], [axis](const View& view) {
            return axis_of(view.frame, view.frame->position, kDouble, axis);
        });
        frame.def_property_readonly(kVelocity[static_cast<std::size_t>(axis)], [axis](const View& view) {
            return axis_of(view.frame, view.frame->velocity, velocities_of(*view.frame), axis);
        });
    }
}

}  // namespace carom::python
