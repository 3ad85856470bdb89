#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/io/ball_collector.hpp"
#include "host/io/hdf5.hpp"
#include "host/io/nearest_time.hpp"
#include "host/scene/place.hpp"
#include "host/state/errors.hpp"
#include "host/state/text.hpp"

// H5MD (de Buyl, Colberg, Höfling 2014, Comput. Phys. Commun. 185, 1546; version 1.1). Of a group of particles each
// element is a dataset, or a group with `value`, `step` and `time`, where it changes.

namespace carom {

namespace {

/// What is wrong with the file, or with what the scene says of it.
[[noreturn]] void fail(const ReadableFile& file, const std::string& why) {
    throw InputError(fmt::format("{}: {}", file.path(), why));
}

/// A dataset whose numbers are in the file. Other programs compress: what is stored may be much less than what is told,
/// but not less than the best of filters leaves of zeros, else a small file would ask for all memory.
class Numbers {
public:
    Numbers(hid_t parent, std::string name) : name_(std::move(name)), dataset_(h5::open_dataset(parent, name_)) {
        extents_ = h5::extents(dataset_);
        const h5::Handle type(H5Dget_type(dataset_), H5Tclose, "read a type");
        const H5T_class_t kind = H5Tget_class(type);
        if (kind != H5T_INTEGER && kind != H5T_FLOAT && kind != H5T_ENUM) {
            throw h5::Error(fmt::format("`{}` holds no numbers", name_));
        }
        if (kind == H5T_ENUM) read_words(type);
        require_stored(H5Tget_size(type));
    }

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] const std::vector<hsize_t>& extents() const { return extents_; }
    /// Of an enumeration, what its numbers mean.
    [[nodiscard]] const std::map<std::int64_t, std::string>& words() const { return words_; }

    /// All of them, or those of one frame. \param frame  index along the first axis
    template <class T>
    [[nodiscard]] std::vector<T> read(std::optional<std::size_t> frame) const {
        std::vector<hsize_t> start(extents_.size(), 0);
        std::vector<hsize_t> count = extents_;
        if (frame) {
            start[0] = *frame;
            count[0] = 1;
        }
        const std::size_t values = h5::product(count);
        h5::require_room(dataset_, values * sizeof(T));
        std::vector<T> numbers(values);
        if (values == 0) return numbers;
        const h5::Handle here(H5Dget_space(dataset_), H5Sclose, "read a dataspace");
        h5::Handle there;
        if (extents_.empty()) {
            there = h5::Handle(H5Screate(H5S_SCALAR), H5Sclose, "create a dataspace");
        } else {
            h5::check(H5Sselect_hyperslab(here, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
                      "select a part");
            there = h5::Handle(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose,
                               "create a dataspace");
        }
        h5::require_memory(values * sizeof(T));
        h5::read(dataset_, h5::memory_type<T>(), there, here, numbers.data());
        return numbers;
    }
    /// Of a single number that counts on from `offset`.
    [[nodiscard]] double offset() const {
        return h5::has_attribute(dataset_, "offset") ? h5::double_attribute(dataset_, "offset") : 0.0;
    }

private:
    void read_words(hid_t type) {
        const int members = h5::check(H5Tget_nmembers(type), "read a type");
        for (int k = 0; k < members; ++k) {
            const auto number = static_cast<unsigned>(k);
            std::array<unsigned char, 16> raw{};
            if (H5Tget_size(type) > raw.size()) throw h5::Error("an enumeration of numbers that are none");
            h5::check(H5Tget_member_value(type, number, raw.data()), "read a type");
            const h5::Handle numbers(H5Tget_super(type), H5Tclose, "read a type");
            h5::check(H5Tconvert(numbers, H5T_NATIVE_INT64, 1, raw.data(), nullptr, H5P_DEFAULT), "read a type");
            std::int64_t value = 0;
            std::memcpy(&value, raw.data(), sizeof value);
            const std::unique_ptr<char, herr_t (*)(void*)> word(H5Tget_member_name(type, number), H5free_memory);
            if (word == nullptr) h5::fail("read a type");
            words_.emplace(value, word.get());
        }
    }

    void require_stored(std::size_t size) const {
        constexpr double kMostOfAByte = 1100.0;  // deflate makes 1032 zeros one byte
        constexpr double kSpare = 1 << 20;
        const h5::Handle how(H5Dget_create_plist(dataset_), H5Pclose, "read how a dataset is stored");
        const bool filtered = h5::check(H5Pget_nfilters(how), "read how a dataset is stored") > 0;
        const h5::Handle file(H5Iget_file_id(dataset_), H5Fclose, "find the file");
        hsize_t file_bytes = 0;
        h5::check(H5Fget_filesize(file, &file_bytes), "read the size of the file");
        const auto stored = static_cast<double>(H5Dget_storage_size(dataset_));
        double bytes = static_cast<double>(size);
        double places = bytes;  // as if no axis were empty: a million frames of no balls would be gone through, too
        for (const hsize_t extent : extents_) {
            bytes *= static_cast<double>(extent);
            places *= static_cast<double>(std::max<hsize_t>(extent, 1));
        }
        double chunk = 0.0;
        if (H5Pget_layout(how) == H5D_CHUNKED) {
            std::array<hsize_t, H5S_MAX_RANK> lengths{};
            const int axes = h5::check(H5Pget_chunk(how, H5S_MAX_RANK, lengths.data()), "read how a dataset is stored");
            chunk = static_cast<double>(size);
            for (int axis = 0; axis < axes; ++axis)
                chunk *= static_cast<double>(lengths[static_cast<std::size_t>(axis)]);
        }
        const double most = stored * (filtered ? kMostOfAByte : 1.0);
        if (stored > static_cast<double>(file_bytes) || bytes > most || places > most + kSpare ||
            chunk > most + kSpare) {
            throw h5::Error(fmt::format("`{}` holds less than its extent says", name_));
        }
    }

    std::string name_;
    h5::Handle dataset_;
    std::vector<hsize_t> extents_;
    std::map<std::int64_t, std::string> words_;
};

/// One element of a group of particles.
struct Element {
    std::string name;
    std::size_t width = 1;  ///< numbers of a ball
    std::vector<double> values;
    std::map<std::int64_t, std::string> words;

    [[nodiscard]] double at(std::size_t ball, std::size_t component) const { return values[ball * width + component]; }
};

/// A column: an element, and which of its numbers.
struct Column {
    const Element* element = nullptr;  ///< null: there is none
    std::size_t component = 0;

    explicit operator bool() const { return element != nullptr; }
    [[nodiscard]] double at(std::size_t ball) const { return element->at(ball, component); }
};

/// The frame of a group that is asked for.
class H5mdFrame {
public:
    H5mdFrame(hid_t file, const ReadableFile& readable, const BallCollector& collector)
        : file_(file), readable_(readable), entry_(collector.entry()) {
        if (!h5::is_group(file, "particles")) fail(readable, "has no group `particles`, so it is no H5MD");
        group_ = "particles/" + chosen_group();
        if (!h5::exists(file, group_ + "/position")) fail(readable, fmt::format("`{}` has no position", group_));
        changes_ = h5::is_group(file, group_ + "/position");
        const Numbers places(file, group_ + (changes_ ? "/position/value" : "/position"));
        const std::size_t axes = changes_ ? 3 : 2;
        if (places.extents().size() != axes) throw h5::Error(fmt::format("`{}` has the wrong shape", places.name()));
        balls_ = static_cast<std::size_t>(places.extents()[axes - 2]);
        dimension_ = static_cast<std::size_t>(places.extents()[axes - 1]);
        if (dimension_ < static_cast<std::size_t>(collector.dimension())) {
            fail(readable, fmt::format("is of {} dimensions, and the scene has {}", dimension_, collector.dimension()));
        }
        if (changes_) choose_frame(static_cast<std::size_t>(places.extents()[0]));
    }

    [[nodiscard]] std::size_t balls() const { return balls_; }
    [[nodiscard]] const std::optional<double>& time() const { return time_; }

    /// \param names  what the column may be called if the scene does not say it
    Column find(std::string_view key, std::initializer_list<std::string_view> names) {
        const auto own = entry_.columns.find(key);
        if (own == entry_.columns.end()) {
            for (const std::string_view name : names) {
                if (const Column column = column_of(name)) return column;
            }
            return {};
        }
        if (own->second == "-") return {};
        const Column column = column_of(own->second);
        if (!column) fail(readable_, fmt::format("load.columns.{}: `{}` has no `{}`", key, group_, own->second));
        return column;
    }

    /// How long the box is where it repeats, by axis; 0 where it does not.
    [[nodiscard]] std::array<double, 3> periods() const {
        std::array<double, 3> periods{};
        const std::string box = group_ + "/box";
        if (!h5::is_group(file_, box) || !h5::exists(file_, box + "/edges")) return periods;
        const bool changes = h5::is_group(file_, box + "/edges");
        const Numbers edges(file_, box + (changes ? "/edges/value" : "/edges"));
        const std::size_t axes = edges.extents().size() - (changes && !edges.extents().empty() ? 1 : 0);
        const std::size_t frames = changes && !edges.extents().empty() ? edges.extents()[0] : 0;
        const std::optional<std::size_t> frame =
            changes ? std::optional(place_of_step(box + "/edges", frames)) : std::nullopt;
        const std::vector<double> lengths = edges.read<double>(frame);
        const bool matrix = axes == 2;
        if (lengths.size() != (matrix ? dimension_ * dimension_ : dimension_)) {
            throw h5::Error("the edges of the box have the wrong shape");
        }
        const std::vector<std::string> boundary = words_of_boundary(box);
        for (std::size_t axis = 0; axis < std::min<std::size_t>(dimension_, 3); ++axis) {
            for (std::size_t other = 0; matrix && other < dimension_; ++other) {
                if (other != axis && lengths[axis * dimension_ + other] != 0.0) {
                    fail(readable_, "its box is one without right angles, which carom has not");
                }
            }
            const std::string& word = boundary[boundary.size() == 1 ? 0 : axis];
            if (word == "periodic") periods[axis] = lengths[matrix ? axis * dimension_ + axis : axis];
        }
        return periods;
    }

private:
    [[nodiscard]] std::string chosen_group() const {
        const std::vector<std::string> groups = h5::names(h5::open_group(file_, "particles"));
        if (!entry_.group.empty()) {
            if (std::ranges::find(groups, entry_.group) != groups.end()) return entry_.group;
            fail(readable_,
                 fmt::format("has no group of particles \"{}\"; there are: {}", entry_.group, fmt::join(groups, ", ")));
        }
        if (groups.size() == 1) return groups[0];
        if (groups.empty()) fail(readable_, "has no particles");
        if (std::ranges::find(groups, "all") != groups.end()) return "all";
        fail(readable_,
             fmt::format("has several groups of particles; load.group must be one of: {}", fmt::join(groups, ", ")));
    }

    /// `step` or `time` of an element: a list, or one number by which it grows.
    [[nodiscard]] std::optional<std::vector<double>> clock(const std::string& name, std::size_t frames) const {
        if (!h5::exists(file_, name)) return std::nullopt;
        const Numbers numbers(file_, name);
        std::vector<double> values = numbers.read<double>(std::nullopt);
        if (numbers.extents().empty()) {
            const double step = values.at(0);
            const double offset = numbers.offset();
            values.resize(frames);
            for (std::size_t k = 0; k < frames; ++k) values[k] = offset + step * static_cast<double>(k);
        }
        return values;
    }

    void choose_frame(std::size_t frames) {
        const std::string position = group_ + "/position";
        const auto steps = clock(position + "/step", frames);
        const auto times = clock(position + "/time", frames);
        // A writer may have been killed between the lengths of two datasets.
        if (steps) frames = std::min(frames, steps->size());
        if (times) frames = std::min(frames, times->size());
        if (frames == 0) fail(readable_, "holds no frame");
        frame_ = frames - 1;
        if (times && entry_.time) {
            frame_ = 0;
            for (std::size_t k = 1; k < frames; ++k) {
                if (is_nearer((*times)[k], (*times)[frame_], *entry_.time)) frame_ = k;
            }
        }
        if (steps) step_ = (*steps)[frame_];
        if (times) time_ = (*times)[frame_];
        if (time_ && !std::isfinite(*time_)) throw h5::Error("the time of a frame is no number");
    }

    /// Where an element that is written at times of its own has the frame.
    [[nodiscard]] std::size_t place_of_step(const std::string& element, std::size_t frames) const {
        if (const auto steps = clock(element + "/step", frames); steps && step_) {
            const auto last = steps->begin() + static_cast<std::ptrdiff_t>(std::min(frames, steps->size()));
            if (const auto found = std::find(steps->begin(), last, *step_); found != last) {
                return static_cast<std::size_t>(found - steps->begin());
            }
        } else if (frame_ < frames) {
            return frame_;
        }
        fail(readable_, fmt::format("`{}` has no frame at {}", element,
                                    step_ ? fmt::format("step {}", *step_) : fmt::format("place {}", frame_)));
    }

    /// As HDF5's programs write texts: of fixed length, or not.
    [[nodiscard]] std::vector<std::string> words_of_boundary(const std::string& box) const {
        const h5::Handle group = h5::open_group(file_, box);
        std::vector<std::string> words = h5::any_strings_attribute(group, "boundary", 3);
        if (words.size() != 1 && words.size() != dimension_)
            throw h5::Error("the boundary of the box has the wrong shape");
        return words;
    }

    /// "position[0]", "mass", or a path from the file's root.
    Column column_of(std::string_view name) {
        std::size_t component = 0;
        bool chosen = false;
        if (const std::size_t open = name.find('['); open != std::string_view::npos && name.ends_with(']')) {
            const std::string_view number = name.substr(open + 1, name.size() - open - 2);
            const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), component);
            if (error != std::errc{} || end != number.data() + number.size()) return {};
            chosen = true;
            name = name.substr(0, open);
        }
        const Element* const element = element_of(std::string(name));
        if (element == nullptr || component >= element->width) return {};
        if (!chosen && element->width > 1) {
            fail(readable_,
                 fmt::format("`{}` has {} numbers of each ball: say {}[0] and so on", name, element->width, name));
        }
        return {element, component};
    }

    const Element* element_of(const std::string& name) {
        if (const auto known = elements_.find(name); known != elements_.end()) return &known->second;
        const std::string group_name = group_.substr(group_.find('/') + 1);
        std::vector<std::string> places{group_ + "/" + name, "observables/" + group_name + "/" + name,
                                        "observables/" + name};
        if (name.find('/') != std::string::npos) places = {name};
        for (const std::string& place : places) {
            if (!reaches(place)) continue;
            return &elements_.emplace(name, read_element(place)).first->second;
        }
        return nullptr;
    }

    /// Whether there is such a thing, below groups alone.
    [[nodiscard]] bool reaches(const std::string& place) const {
        for (std::size_t end = place.find('/'); end != std::string::npos; end = place.find('/', end + 1)) {
            if (!h5::is_group(file_, place.substr(0, end))) return false;
        }
        return h5::exists(file_, place);
    }

    [[nodiscard]] Element read_element(const std::string& place) const {
        const bool changes = h5::is_group(file_, place);
        if (changes && !h5::exists(file_, place + "/value")) throw h5::Error(fmt::format("`{}` has no value", place));
        const Numbers numbers(file_, changes ? place + "/value" : place);
        const std::vector<hsize_t>& extents = numbers.extents();
        const std::size_t axes = extents.size() - (changes && !extents.empty() ? 1 : 0);
        if ((axes != 1 && axes != 2) || extents[extents.size() - axes] != balls_) {
            throw h5::Error(fmt::format("`{}` has the wrong shape: there are {} balls", place, balls_));
        }
        Element element{
            .name = place, .width = axes == 2 ? static_cast<std::size_t>(extents.back()) : 1, .words = numbers.words()};
        const std::optional<std::size_t> frame =
            changes ? std::optional(place_of_step(place, static_cast<std::size_t>(extents[0]))) : std::nullopt;
        element.values = numbers.read<double>(frame);
        return element;
    }

    hid_t file_;
    const ReadableFile& readable_;
    const LoadEntry& entry_;
    std::string group_;
    bool changes_ = false;
    std::size_t balls_ = 0;
    std::size_t dimension_ = 0;
    std::size_t frame_ = 0;
    std::optional<double> step_, time_;
    std::map<std::string, Element> elements_;
};

/// Species by words, or by numbers as the scene has them: from 0 on where the frame has a 0, else from 1 on.
class SpeciesNames {
public:
    SpeciesNames(const ReadableFile& file, const Column& column, const Scene& scene, std::size_t balls)
        : file_(file), column_(column), words_(column.element->words) {
        if (!words_.empty()) return;
        bool zero = false;
        for (std::size_t ball = 0; ball < balls && !zero; ++ball) zero = column.at(ball) == 0.0;
        std::int64_t number = zero ? 0 : 1;
        for (const Species& species : scene.species) {
            if (!species.name.empty()) words_.emplace(number++, species.name);
        }
    }
    [[nodiscard]] std::string_view of(std::size_t ball) const {
        const double number = column_.at(ball);
        if (!(number >= 0.0 && number <= 4294967295.0 && number == std::floor(number))) {
            fail(file_, fmt::format("ball {}: species: must be a whole number, not {}", ball, number));
        }
        const auto found = words_.find(static_cast<std::int64_t>(number));
        return found == words_.end() ? std::string_view{} : std::string_view(found->second);
    }

private:
    const ReadableFile& file_;
    Column column_;
    std::map<std::int64_t, std::string> words_;
};

/// Into the box of a scene that repeats as the file's does: places of other programs may be of any image.
void wrap(const Box& box, const std::array<double, 3>& periods, Vector3& position) {
    constexpr double kSame = 1e-6;  // single precision, with which many write
    for (int axis = 0; axis < box.dimension; ++axis) {
        const double size = box.size[axis];
        if (!box.periodic(axis) || !(std::abs(periods[static_cast<std::size_t>(axis)] - size) <= kSame * size))
            continue;
        double along = position[axis] - box.min[axis];
        along -= size * std::floor(along / size);
        position[axis] = std::clamp(box.min[axis] + along, box.min[axis], box.min[axis] + size);
    }
}

bool is_of_carom(hid_t file) {
    if (h5::has_attribute(file, "format")) return true;
    return h5::is_group(file, "parameters") && h5::has_attribute(h5::open_group(file, "parameters"), "format");
}

}  // namespace

bool read_h5md(const std::string& path, int descriptor, BallCollector& collector) {
    const ReadableFile file(path, "H5MD file", descriptor);
    bool own = false;
    file.read([&](hid_t opened) {
        own = is_of_carom(opened);
        if (own) return;
        H5mdFrame frame(opened, file, collector);
        const bool flat = collector.dimension() == 2;
        h5::require_room(opened, frame.balls() * static_cast<std::size_t>(ball_bytes(collector.dimension())));
        collector.expect(static_cast<double>(frame.balls()));
        const auto vector = [&](const std::array<std::string_view, 3>& keys,
                                std::initializer_list<std::string_view> elements) {
            std::array<Column, 3> columns;
            for (std::size_t axis = 0; axis < static_cast<std::size_t>(collector.dimension()); ++axis) {
                std::vector<std::string> names;
                for (const std::string_view element : elements) names.push_back(fmt::format("{}[{}]", element, axis));
                columns[axis] = names.size() == 1 ? frame.find(keys[axis], {names[0]})
                                                  : frame.find(keys[axis], {names[0], names[1]});
            }
            return columns;
        };
        const std::array<Column, 3> position = vector({"x", "y", "z"}, {"position"});
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(collector.dimension()); ++axis) {
            if (!position[axis])
                fail(file, fmt::format("has no column {0}; load.columns.{0} says what it is called", "xyz"[axis]));
        }
        const std::array<Column, 3> velocity = vector({"vx", "vy", "vz"}, {"velocity"});
        std::array<Column, 3> spin;
        if (flat) {
            spin[2] = frame.find("spin", {"spin[2]", "angular_velocity[2]"});
        } else {
            spin = vector({"wx", "wy", "wz"}, {"spin", "angular_velocity"});
        }
        Column radius = frame.find("radius", {"radius"});
        const bool halved = !radius && collector.entry().columns.count("radius") == 0;
        if (halved) radius = frame.find("diameter", {"diameter"});
        const Column mass = frame.find("mass", {"mass"});
        const Column kind = frame.find("species", {"species"});
        const Column id = frame.find("id", {"id"});
        std::optional<SpeciesNames> names;
        if (kind) names.emplace(file, kind, collector.scene(), frame.balls());
        const std::array<double, 3> periods = frame.periods();

        if (frame.time()) collector.begin_frame(*frame.time());
        for (std::size_t ball = 0; ball < frame.balls(); ++ball) {
            if (id && id.at(ball) < 0.0) continue;  // not there in this frame
            BallRow row;
            for (std::size_t axis = 0; axis < 3; ++axis) {
                if (position[axis]) row.position[axis] = position[axis].at(ball);
                if (velocity[axis]) row.velocity[axis] = velocity[axis].at(ball);
                if (spin[axis]) row.spin[axis] = spin[axis].at(ball);
            }
            wrap(collector.scene().box, periods, row.position);
            if (radius) row.radius = (halved ? 0.5 : 1.0) * radius.at(ball);
            if (mass) row.mass = mass.at(ball);
            if (names) row.species = names->of(ball);
            row.at = ball;
            try {
                collector.add(row);
            } catch (const BadBall& bad) {
                fail(file, fmt::format("ball {}: {}: {}", ball, bad.name, bad.message));
            }
        }
    });
    return !own;
}

}  // namespace carom
