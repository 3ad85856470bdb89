#include <algorithm>
#include <bit>
#include <string_view>
#include <vector>

#include "host/io/exporter.hpp"
#include "host/io/replacement.hpp"
#include "host/io/state_text.hpp"
#include "host/state/errors.hpp"
#include "host/state/text.hpp"

namespace carom {

namespace {

static_assert(std::endian::native == std::endian::little, "the files say so");

/// The arrays of one file: announced in XML at its head, appended as raw bytes at its end.
class AppendedArrays {
public:
    /// VTK's name of a type.
    template <class Value>
    static constexpr std::string_view type_name() {
        if constexpr (std::is_same_v<Value, float>) return "Float32";
        if constexpr (std::is_same_v<Value, double>) return "Float64";
        if constexpr (std::is_same_v<Value, std::int32_t>) return "Int32";
        if constexpr (std::is_same_v<Value, std::int64_t>) return "Int64";
    }

    /// Returns the element of XML that stands for the array.
    template <class Value>
    std::string add(std::string_view name, std::size_t components, const std::vector<Value>& values) {
        std::string element = fmt::format(
            "<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"appended\" offset=\"{}\"/>\n",
            type_name<Value>(), name, components, bytes_.size());
        const std::uint64_t size = values.size() * sizeof(Value);
        append(&size, sizeof size);
        append(values.data(), size);
        return element;
    }

    [[nodiscard]] const std::vector<char>& bytes() const { return bytes_; }

private:
    void append(const void* from, std::size_t size) {
        const auto* begin = static_cast<const char*>(from);
        bytes_.insert(bytes_.end(), begin, begin + size);
    }

    std::vector<char> bytes_;
};

std::vector<std::size_t> balls_still_in(const Frame& frame) {
    std::vector<std::size_t> ids;
    for (std::size_t id = 0; id < frame.size(); ++id) {
        if (!frame.gone[id]) ids.push_back(id);
    }
    return ids;
}

template <class Value>
std::vector<Value> vectors_of(const std::array<std::vector<double>, 3>& source, const std::vector<std::size_t>& ids) {
    std::vector<Value> values;
    values.reserve(3 * ids.size());
    for (const std::size_t id : ids) {
        for (const auto& component : source)
            values.push_back(component.empty() ? Value{} : static_cast<Value>(component[id]));
    }
    return values;
}

template <class Value, class Of>
std::vector<Value> numbers_of(const std::vector<std::size_t>& ids, const Of& of) {
    std::vector<Value> values;
    values.reserve(ids.size());
    for (const std::size_t id : ids) values.push_back(static_cast<Value>(of(id)));
    return values;
}

std::string add_real_vectors(AppendedArrays& arrays, std::string_view name, bool single,
                             const std::array<std::vector<double>, 3>& source, const std::vector<std::size_t>& ids) {
    return single ? arrays.add(name, 3, vectors_of<float>(source, ids))
                  : arrays.add(name, 3, vectors_of<double>(source, ids));
}

void write_poly_data(const std::string& path, const TrajectoryHeader& header, const Frame& frame, bool replace) {
    const std::vector<std::size_t> ids = balls_still_in(frame);
    const auto species_of = [&](std::size_t id) -> const Species& { return header.species_table[header.species[id]]; };
    const bool single = header.single_precision();
    AppendedArrays arrays;
    std::string time;
    append_number(time, frame.time);

    std::string head =
        "<?xml version=\"1.0\"?>\n"
        "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<PolyData>\n";
    head += fmt::format(
        "<FieldData><DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">{}"
        "</DataArray></FieldData>\n",
        time);
    head += fmt::format(
        "<Piece NumberOfPoints=\"{0}\" NumberOfVerts=\"{0}\" NumberOfLines=\"0\" NumberOfStrips=\"0\" "
        "NumberOfPolys=\"0\">\n<PointData Scalars=\"radius\" Vectors=\"velocity\">\n",
        ids.size());
    head += arrays.add("id", 1, numbers_of<std::int64_t>(ids, [](std::size_t id) { return id; }));
    head += arrays.add("species", 1, numbers_of<std::int32_t>(ids, [&](std::size_t id) {
                           return species_row(header.species_table, header.species[id]);
                       }));
    head += arrays.add("radius", 1, numbers_of<double>(ids, [&](std::size_t id) { return species_of(id).radius; }));
    head += arrays.add("mass", 1, numbers_of<double>(ids, [&](std::size_t id) { return species_of(id).mass; }));
    head += add_real_vectors(arrays, "velocity", single, frame.velocity, ids);
    head += add_real_vectors(arrays, "spin", single, frame.spin, ids);
    head += "</PointData>\n<Points>\n";
    head += arrays.add("position", 3, vectors_of<double>(frame.position, ids));
    head += "</Points>\n<Verts>\n";
    std::size_t index = 0;
    head += arrays.add("connectivity", 1, numbers_of<std::int64_t>(ids, [&](std::size_t) { return index++; }));
    index = 0;
    head += arrays.add("offsets", 1, numbers_of<std::int64_t>(ids, [&](std::size_t) { return ++index; }));
    head += "</Verts>\n</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_";

    ReplacementFile file(path, replace);
    file.write(head);
    file.write(arrays.bytes().data(), arrays.bytes().size());
    file.write("\n</AppendedData>\n</VTKFile>\n");
    file.commit();
}

/// A value between double quotes. \throws InputError  it has bytes for which XML has no character
std::string xml_text(std::string_view text) {
    std::string result;
    for (; !text.empty(); text.remove_prefix(character_bytes(text))) {
        const char c = text[0];
        switch (c) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '"':
                result += "&quot;";
                break;
            case '\t':
            case '\n':
            case '\r':  // else the reader makes a blank of it
                result += fmt::format("&#{};", static_cast<int>(c));
                break;
            default:
                if (character_bytes(text) == 0 || static_cast<unsigned char>(c) < 0x20) {
                    throw InputError(
                        fmt::format("{}: cannot be named in a .pvd, which is XML; allowed: UTF-8 without "
                                    "control characters",
                                    visible(text)));
                }
                result += text.substr(0, character_bytes(text));
        }
    }
    return result;
}

/// NAME.pvd, which ParaView opens as one.
std::string collection(std::span<const FrameFile> files) {
    std::string text =
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n"
        "<Collection>\n";
    for (const FrameFile& file : files) {
        text += "<DataSet timestep=\"";
        append_number(text, file.time);
        text += fmt::format("\" group=\"\" part=\"0\" file=\"{}\"/>\n", xml_text(file.name));
    }
    return text + "</Collection>\n</VTKFile>\n";
}

}  // namespace

/// VTK XML PolyData, which ParaView and VisIt read: a vertex per ball, binary. Balls that have left are left out.
/// https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html
ExportFormat vtk_format() {
    return {".vtp", "VTK XML PolyData, for ParaView; all frames: a file each, and a .pvd that lists them",
            FilePerFrame{write_poly_data, ".pvd", collection}};
}

}  // namespace carom
