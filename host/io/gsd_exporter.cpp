#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "host/io/exporter.hpp"
#include "host/io/replacement.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

// The file layer of GSD 2.0: https://gsd.readthedocs.io/en/stable/file-layer.html. A header; a list of names; the
// chunks of all frames, arrays of N rows of M values; and an index of them, in the order of frames and names.

static_assert(std::endian::native == std::endian::little, "the files are");

struct Header {
    std::uint64_t magic = 0x65DF65DF65DF65DF;
    std::uint64_t index_location = 0;
    std::uint64_t index_allocated_entries = 0;
    std::uint64_t namelist_location = 0;
    std::uint64_t namelist_allocated_entries = 0;
    std::uint32_t schema_version = 1U << 16U | 4U;  // HOOMD's, 1.4
    std::uint32_t gsd_version = 2U << 16U;          // 2.0
    std::array<char, 64> application{};
    std::array<char, 64> schema{};
    std::array<char, 80> reserved{};
};
static_assert(sizeof(Header) == 256);

struct IndexEntry {
    std::uint64_t frame = 0;
    std::uint64_t rows = 0;
    std::int64_t location = 0;
    std::uint32_t columns = 0;
    std::uint16_t name = 0;
    std::uint8_t type = 0;
    std::uint8_t flags = 0;
};
static_assert(sizeof(IndexEntry) == 32);

/// GSD's number of a type.
template <class Value>
constexpr std::uint8_t type_number() {
    if constexpr (std::is_same_v<Value, std::uint8_t>) return 1;
    if constexpr (std::is_same_v<Value, std::uint32_t>) return 3;
    if constexpr (std::is_same_v<Value, std::uint64_t>) return 4;
    if constexpr (std::is_same_v<Value, std::int8_t>) return 5;
    if constexpr (std::is_same_v<Value, std::int32_t>) return 7;
    if constexpr (std::is_same_v<Value, float>) return 9;
    if constexpr (std::is_same_v<Value, double>) return 10;
}

// What begins with `log` is not of HOOMD's schema, which holds floats alone: programs that log quantities by ball keep
// them there.

constexpr std::size_t kMostNames = 32;
constexpr std::size_t kNameBytes = 64;  // to an entry of the list that is allocated

class GsdExporter final : public Exporter {
public:
    explicit GsdExporter(const ExportTarget& target) : target_(target), file_(target.path) {
        if (!stores("position")) {
            throw InputError(target.path + ": a .gsd file has places, and the trajectory's frames have none");
        }
        const std::vector<char> none(sizeof(Header) + kMostNames * kNameBytes, '\0');
        append(none.data(), none.size());  // until names and index are known
    }

    void add(const Frame& frame) override {
        const TrajectoryHeader& header = *target_.header;
        const Box& box = header.box;
        std::vector<std::size_t> ids;
        for (std::size_t id = 0; id < frame.size(); ++id) {
            if (!frame.gone[id]) ids.push_back(id);
        }
        // What a frame leaves out is as in the first, if that has as many balls: none comes back.
        const bool first = frames_ == 0;
        if (first) balls_ = ids.size();
        const bool others = first || ids.size() != balls_;
        const auto species = [&](std::size_t id) -> const Species& { return header.species_table[header.species[id]]; };
        // A disk turns about z alone.
        const auto inertia = [&](std::size_t id, std::size_t axis) {
            const Species& s = species(id);
            const bool turns = std::isfinite(s.mass) && (box.dimension == 3 || axis == 2);
            return turns ? s.mass * s.radius_of_gyration * s.radius_of_gyration : 0.0;
        };

        chunk<std::uint64_t>("configuration/step", 1, {frame.step});
        if (first) {
            chunk<std::uint8_t>("configuration/dimensions", 1, {static_cast<std::uint8_t>(box.dimension)});
            std::vector<float> edges(6, 0.0f);
            for (std::size_t axis = 0; axis < static_cast<std::size_t>(box.dimension); ++axis) {
                edges[axis] = static_cast<float>(box.size[axis]);
            }
            chunk("configuration/box", edges.size(), edges);
        }
        if (others) {
            chunk<std::uint32_t>("particles/N", 1, {static_cast<std::uint32_t>(ids.size())});
            if (first) add_types();
            numbers<std::uint32_t>("particles/typeid", 1, ids, [&](std::size_t id, std::size_t) {
                return species_row(header.species_table, header.species[id]);
            });
            numbers<float>("particles/mass", 1, ids, [&](std::size_t id, std::size_t) { return species(id).mass; });
            numbers<float>("particles/diameter", 1, ids,
                           [&](std::size_t id, std::size_t) { return 2.0 * species(id).radius; });
            numbers<float>("particles/moment_inertia", 3, ids, inertia);
        }
        numbers<float>("particles/position", 3, ids, [&](std::size_t id, std::size_t axis) {
            return frame.position[axis].empty() ? 0.0f : from_middle(frame.position[axis][id], static_cast<int>(axis));
        });
        const auto velocity = [&](std::size_t id, std::size_t axis) {
            return frame.velocity[axis].empty() ? 0.0 : frame.velocity[axis][id];
        };
        if (stores("velocity")) numbers<float>("particles/velocity", 3, ids, velocity);
        if (stores("spin")) {
            // As a quaternion: twice the angular momentum, of balls that are not turned.
            numbers<float>("particles/angmom", 4, ids, [&](std::size_t id, std::size_t part) {
                if (part == 0 || frame.spin[part - 1].empty()) return 0.0;
                return 2.0 * inertia(id, part - 1) * frame.spin[part - 1][id];
            });
        }
        numbers<std::int32_t>("particles/image", 3, ids, [&](std::size_t id, std::size_t axis) {
            return frame.image[axis].empty() ? 0 : frame.image[axis][id];
        });
        chunk<double>("log/time", 1, {frame.time});
        if (others) numbers<std::uint32_t>("log/particles/id", 1, ids, [](std::size_t id, std::size_t) { return id; });
        numbers<double>("log/particles/position", 3, ids, [&](std::size_t id, std::size_t axis) {
            return frame.position[axis].empty() ? 0.0 : frame.position[axis][id];
        });
        if (stores("velocity") && !header.single_precision())
            numbers<double>("log/particles/velocity", 3, ids, velocity);
        ++frames_;
    }

    std::string finish() override {
        constexpr std::size_t kLeastEntries = 128;
        Header header{.index_location = size_, .namelist_location = sizeof(Header)};
        header.namelist_allocated_entries = kMostNames;
        put_text(header.application, "carom");
        put_text(header.schema, "hoomd");
        index_.resize(std::max(index_.size(), kLeastEntries));  // what is empty ends the list
        header.index_allocated_entries = index_.size();
        append(index_.data(), index_.size() * sizeof(IndexEntry));
        std::string names;
        for (const std::string& name : names_) names += name + '\0';
        file_.rewrite(0, &header, sizeof header);
        file_.rewrite(sizeof header, names.data(), names.size());
        file_.commit();
        return fmt::format("{}: {} frame{}", target_.path, frames_, frames_ == 1 ? "" : "s");
    }

private:
    [[nodiscard]] bool stores(std::string_view field) const {
        const auto& fields = target_.header->fields;
        return std::ranges::find(fields, field) != fields.end();
    }

    /// From the middle of the box, where GSD has its origin. Rounding must not put a ball on the upper face, which is
    /// the lower one where the box is periodic.
    [[nodiscard]] float from_middle(double place, int axis) const {
        const Box& box = target_.header->box;
        const double half = 0.5 * box.size[static_cast<std::size_t>(axis)];
        const auto from = static_cast<float>(place - (box.min[static_cast<std::size_t>(axis)] + half));
        const auto face = static_cast<float>(half);
        return box.periodic(axis) && from >= face ? -face : from;
    }

    /// Names of the species, as rows of letters that are filled up with zeros. Readers tell types by them, so none
    /// stands twice.
    void add_types() {
        std::vector<std::string> names;
        std::set<std::string_view> taken;
        for (const Species& species : target_.header->species_table) taken.insert(species.name);
        for (const Species& species : target_.header->species_table) {
            if (species.size_of >= 0) continue;  // these come last
            std::string name = species.name;
            if (name.empty()) {
                name = fmt::format("unnamed{}", names.size());
                while (taken.contains(name)) name += '_';
            }
            names.push_back(std::move(name));
        }
        std::size_t longest = 0;
        for (const std::string& name : names) longest = std::max(longest, name.size() + 1);
        std::vector<std::int8_t> letters(names.size() * longest, 0);
        for (std::size_t k = 0; k < names.size(); ++k) {
            std::memcpy(letters.data() + k * longest, names[k].data(), names[k].size());
        }
        chunk("particles/types", names.size(), letters);
    }

    template <class Value, class Of>
    void numbers(std::string_view name, std::size_t columns, const std::vector<std::size_t>& ids, const Of& of) {
        std::vector<Value> values;
        values.reserve(columns * ids.size());
        for (const std::size_t id : ids) {
            for (std::size_t k = 0; k < columns; ++k) values.push_back(static_cast<Value>(of(id, k)));
        }
        chunk(name, ids.size(), values);
    }

    /// An empty one is none, and has no name: readers want all that are logged in the first frame. That has all there
    /// are, so that within a frame chunks are in the order of their names, as the index must be.
    template <class Value>
    void chunk(std::string_view name, std::size_t rows, const std::vector<Value>& values) {
        if (values.empty()) return;
        const auto place = std::ranges::find(names_, name) - names_.begin();
        if (place == std::ssize(names_)) names_.emplace_back(name);
        index_.push_back({.frame = frames_,
                          .rows = rows,
                          .location = static_cast<std::int64_t>(size_),
                          .columns = static_cast<std::uint32_t>(values.size() / rows),
                          .name = static_cast<std::uint16_t>(place),
                          .type = type_number<Value>()});
        append(values.data(), values.size() * sizeof(Value));
    }

    void append(const void* bytes, std::size_t size) {
        file_.write(bytes, size);
        size_ += size;
    }

    static void put_text(std::array<char, 64>& to, std::string_view text) { std::ranges::copy(text, to.begin()); }

    ExportTarget target_;
    ReplacementFile file_;
    std::uint64_t size_ = 0;  // so far
    std::uint64_t frames_ = 0;
    std::size_t balls_ = 0;  // of the first frame
    std::vector<std::string> names_;
    std::vector<IndexEntry> index_;
};

std::unique_ptr<Exporter> make_gsd_exporter(const ExportTarget& target) {
    return std::make_unique<GsdExporter>(target);
}

}  // namespace

/// GSD in HOOMD's schema, which HOOMD-blue, OVITO, freud and MDAnalysis read. Balls that have left are left out.
ExportFormat gsd_format() { return {".gsd", "GSD, for HOOMD-blue, OVITO and freud", OneFile{make_gsd_exporter}}; }

}  // namespace carom
