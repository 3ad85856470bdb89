#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "host/observables/registry.hpp"
#include "kernels/core/wall_number.hpp"

// What every run has in its rows, and every driven one: a line each, at the end; and what else rows can have of balls
// of a species.

namespace carom {

namespace {

/// One number, from sums or tallies. \param of_  of the sample and the dimension
class Scalar final : public Observable {
public:
    using Of = double (*)(const Sample&, int dimension);
    Scalar(const RowKind& kind, const ObservableContext& context, Of of)
        : kind_(kind), dimension_(context.box.dimension), of_(of) {}
    [[nodiscard]] ObservableInfo info() const override { return kind_.info(); }
    void evaluate(const Sample& sample, std::span<double> values) const override {
        values[0] = of_(sample, dimension_);
    }

private:
    const RowKind& kind_;
    int dimension_;
    Of of_;
};

/// A vector of the totals: x, y and z, 0 where there is none.
class TotalVector final : public Observable {
public:
    TotalVector(const RowKind& kind, Vector3 Totals::*which) : kind_(kind), which_(which) {}
    [[nodiscard]] ObservableInfo info() const override { return kind_.info({"x", "y", "z"}); }
    void evaluate(const Sample& sample, std::span<double> values) const override {
        std::ranges::copy(sample.totals.*which_, values.begin());
    }

private:
    const RowKind& kind_;
    Vector3 Totals::*which_;
};

/// p = (2 K + sum over pairs r_ij . F_ij) / (d V), the pressure in the bulk (force per length in 2D).
///
/// Clausius' virial counts, besides, each wall's force times the position of the *centres* that it pushes, which
/// stay a radius away from it. So along an axis between walls the length that counts is L - 2 r, and
/// d V = sum over axes of (face area) * (length for the centres): with it the mean of this equals the mean of
/// wall_pressure exactly for equal radii, and in the dilute limit for mixtures, whose mean radius is taken.
/// [[wall]] entries are not taken off the volume.
///
/// Hard contacts pass impulses, not forces: with them the second sum is that of r_ij . dp_i over the impacts since the
/// row before, divided by the time since; NaN in the first row of a file.
class VirialPressure final : public Observable {
public:
    VirialPressure(const RowKind& kind, const ObservableContext& context)
        : kind_(kind),
          unit_(pressure_unit(context.box.dimension)),
          dimension_times_volume_(context.box.volumes_along(context.mean_radius)) {}
    [[nodiscard]] ObservableInfo info() const override { return kind_.info({}, unit_); }
    void evaluate(const Sample& sample, std::span<double> values) const override {
        values[0] = (2.0 * sample.totals.kinetic + contact_virial(sample)) / dimension_times_volume_;
    }

private:
    static double contact_virial(const Sample& sample) {
        if (!sample.tallies.collisional_virial) return sample.totals.virial;
        const double elapsed = sample.time - sample.previous_time;
        if (sample.previous == nullptr || !sample.previous->collisional_virial || !(elapsed > 0.0)) {
            return std::numeric_limits<double>::quiet_NaN();
        }
        return (*sample.tallies.collisional_virial - *sample.previous->collisional_virial) / elapsed;
    }

    const RowKind& kind_;
    std::string unit_;
    double dimension_times_volume_;
};

/// Normal impulse given to each face of the box since the row before, over area and time (force per length in 2D).
/// NaN for a face that is no wall, and in the first row of a file, which has no row before it.
class WallPressure final : public Observable {
public:
    WallPressure(const RowKind& kind, const ObservableContext& context) : kind_(kind), box_(context.box) {}
    [[nodiscard]] ObservableInfo info() const override {
        std::vector<std::string> names{"x_min", "x_max", "y_min", "y_max", "z_min", "z_max"};
        names.resize(2 * static_cast<std::size_t>(box_.dimension));
        return kind_.info(std::move(names), pressure_unit(box_.dimension));
    }
    void evaluate(const Sample& sample, std::span<double> values) const override {
        const double elapsed = sample.time - sample.previous_time;
        for (std::size_t face = 0; face < values.size(); ++face) {
            const std::size_t axis = face / 2;
            const double area = box_.face_area(static_cast<int>(axis));
            const bool wall = box_.faces[axis][face % 2] == Face::kWall;
            values[face] =
                wall && sample.previous != nullptr && elapsed > 0.0
                    ? (sample.tallies.wall_impulse[face] - sample.previous->wall_impulse[face]) / (area * elapsed)
                    : std::numeric_limits<double>::quiet_NaN();
        }
    }

private:
    const RowKind& kind_;
    Box box_;
};

/// Energy that each wall has given to the balls since the start of the run: 0 for walls that reflect, NaN for a face
/// that is no wall.
class WallHeat final : public Observable {
public:
    WallHeat(const RowKind& kind, const ObservableContext& context)
        : kind_(kind), box_(context.box), walls_(context.walls) {}
    [[nodiscard]] ObservableInfo info() const override {
        std::vector<std::string> names;
        for (std::size_t k = 0; k < faces() + walls_; ++k) names.push_back(wall(k).plain_name());
        return kind_.info(std::move(names));
    }
    void evaluate(const Sample& sample, std::span<double> values) const override {
        const std::vector<double>& heat = sample.tallies.wall_heat;
        for (std::size_t k = 0; k < values.size(); ++k) {
            const WallNumber number = wall(k);
            const bool none = number.is_face() && box_.faces[number.axis()][number.end()] != Face::kWall;
            const double known = number.index() < heat.size() ? heat[number.index()] : 0.0;
            values[k] = none ? std::numeric_limits<double>::quiet_NaN() : known;
        }
    }

private:
    /// Of the k-th component: in 2D there are four faces.
    [[nodiscard]] WallNumber wall(std::size_t k) const {
        return k < faces() ? WallNumber(static_cast<int>(k)) : WallNumber::entry(k - faces());
    }
    [[nodiscard]] std::size_t faces() const { return 2 * static_cast<std::size_t>(box_.dimension); }

    const RowKind& kind_;
    Box box_;
    std::size_t walls_;
};

/// Twice an energy for each of the degrees of freedom that a ball of finite mass has: an energy, since Boltzmann's
/// constant is 1.
double per_degree(const Sample& sample, double energy, int degrees) {
    const auto mobile = static_cast<double>(sample.totals.mobile);
    return mobile > 0.0 ? 2.0 * energy / (degrees * mobile) : 0.0;
}

/// No degrees of freedom are taken off for a momentum of zero, in accord with how [[fill]] meets its temperature.
double temperature(const Sample& sample, int dimension) { return per_degree(sample, sample.totals.kinetic, dimension); }

/// Axes that a ball can turn about: a disk about one.
int spin_axes(int dimension) { return dimension == 2 ? 1 : 3; }

double rotational_temperature(const Sample& sample, int dimension) {
    return per_degree(sample, sample.totals.rotational, spin_axes(dimension));
}

/// P^2 / (2 M): of the translational energy that part which all balls have in common. NaN once a ball has left, with
/// what nobody counts of M.
class FlowEnergy final : public Observable {
public:
    FlowEnergy(const RowKind& kind, const ObservableContext& context)
        : kind_(kind), mass_(context.mass), balls_(context.balls) {}
    [[nodiscard]] ObservableInfo info() const override { return kind_.info(); }
    void evaluate(const Sample& sample, std::span<double> values) const override {
        double squared = 0.0;
        for (const double part : sample.totals.momentum) squared += part * part;
        values[0] = sample.totals.balls != balls_ ? std::numeric_limits<double>::quiet_NaN()
                    : mass_ > 0.0                 ? 0.5 * squared / mass_
                                                  : 0.0;
    }

private:
    const RowKind& kind_;
    double mass_;
    std::uint64_t balls_;
};

/// rotational_temperature of the balls of a species, or of all.
class SpeciesRotation final : public Observable {
public:
    SpeciesRotation(const ObserveEntry& request, const ObservableContext& context)
        : name_(request.name), species_(request.species), degrees_(spin_axes(context.box.dimension)) {
        for (std::size_t id = 0; id < context.species->size(); ++id) {
            const Species& species = context.species->species_of(id);
            if (!std::isfinite(species.mass) || (!species_.empty() && species.name != species_)) continue;
            ids_.push_back(static_cast<std::uint32_t>(id));
            inertia_.push_back(species.mass * species.radius_of_gyration * species.radius_of_gyration);
        }
    }
    [[nodiscard]] ObservableInfo info() const override {
        return {.name = name_,
                .unit = "J",
                .label = species_.empty() ? "rotational temperature" : species_ + ": rotational temperature",
                .components = {}};
    }
    [[nodiscard]] bool needs_frame() const override { return true; }
    void evaluate(const Sample& sample, std::span<double> values) const override {
        const Frame& frame = *sample.frame;
        double twice_energy = 0.0;
        double balls = 0.0;
        for (std::size_t k = 0; k < ids_.size(); ++k) {
            const std::size_t id = ids_[k];
            if (frame.gone[id] != 0) continue;
            balls += 1.0;
            for (const std::vector<double>& axis : frame.spin) {
                twice_energy += axis.empty() ? 0.0 : inertia_[k] * axis[id] * axis[id];
            }
        }
        values[0] = balls > 0.0 ? twice_energy / (degrees_ * balls) : 0.0;
    }

private:
    std::string name_;
    std::string species_;
    int degrees_;
    std::vector<std::uint32_t> ids_;  // the balls that are watched
    std::vector<double> inertia_;     // of each
};

// For RowKind::make.
template <Scalar::Of of>
std::unique_ptr<Observable> scalar(const RowKind& kind, const ObservableContext& context) {
    return std::make_unique<Scalar>(kind, context, of);
}
/// One of the sums over all balls.
template <auto which>
constexpr auto kTotal = scalar<[](const Sample& sample, int) { return static_cast<double>(sample.totals.*which); }>;
template <Vector3 Totals::*which>
std::unique_ptr<Observable> total_vector(const RowKind& kind, const ObservableContext&) {
    return std::make_unique<TotalVector>(kind, which);
}
template <class Type>
std::unique_ptr<Observable> own(const RowKind& kind, const ObservableContext& context) {
    return std::make_unique<Type>(kind, context);
}

/// In the order of a row; those of driven runs alone come last.
constexpr RowKind kRows[] = {
    {.name = "kinetic_energy",
     .unit = "J",
     .label = "kinetic energy",  // of translation and spin together
     .what = "sum of m v^2 / 2 and of rotational energy: `translational_energy` + `rotational_energy`",
     .make = scalar<[](const Sample& sample, int) { return sample.totals.kinetic + sample.totals.rotational; }>,
     .has_energy = true},
    {.name = "rotational_energy",
     .unit = "J",
     .label = "rotational energy",
     .what = "sum of m k^2 w^2 / 2, k the radius of gyration and w the spin",
     .make = kTotal<&Totals::rotational>,
     .tells_equilibrium = true},
    {.name = "spring_energy",
     .unit = "J",
     .label = "spring energy",
     .what = "what contacts hold, those with walls included; 0 for `events`",
     .make = kTotal<&Totals::spring>,
     .tells_equilibrium = true},
    {.name = "gravitational_energy",
     .unit = "J",
     .label = "gravitational energy",
     .what = "sum of -m g . (x - box.min), in unwrapped coordinates",
     .make = kTotal<&Totals::gravitational>,
     .tells_equilibrium = true},
    {.name = "total_energy",
     .unit = "J",
     .label = "total energy",
     .what = "`kinetic_energy` + `spring_energy` + `gravitational_energy`",
     .make = scalar<[](const Sample& sample, int) { return sample.totals.energy(); }>,
     .has_energy = true},
    {.name = "momentum",
     .unit = "kg m s-1",
     .label = "momentum",
     .what = "sum of m v: x, y and z",
     .make = total_vector<&Totals::momentum>,
     .change = 0.04},  // of the centre of mass, between walls; chosen on small gases
    {.name = "angular_momentum",
     .unit = "kg m2 s-1",
     .label = "angular momentum",
     .what = "about the centre of the box, orbital and spin: x, y and z",
     .make = total_vector<&Totals::angular_momentum>},
    {.name = "temperature",
     .unit = "J",
     .label = "temperature",
     .what = "2 `translational_energy` / (d N), the common motion included",
     .make = scalar<temperature>,
     .tells_equilibrium = true,
     .has_energy = true},
    {.name = "virial_pressure",
     .unit = "",
     .label = "virial pressure",
     .what = "(2 `translational_energy` + sum over pairs r_ij . F_ij) / (d V), V that of the centres",
     .make = own<VirialPressure>,
     .tells_equilibrium = true},
    {.name = "wall_pressure",
     .unit = "",
     .label = "wall pressure",
     .what = "impulse given to each face since the row before, over area and time; NaN for a face that is no wall, and "
             "in the first row",
     .make = own<WallPressure>,
     .change = 0.09},  // of a momentum; chosen on walls of small gases
    {.name = "contacts",
     .unit = "",
     .label = "contacts between balls",
     .what = "pairs of balls in contact; 0 for `events`",
     .make = kTotal<&Totals::contacts>},
    {.name = "wall_contacts",
     .unit = "",
     .label = "contacts with walls",
     .what = "contacts with walls; 0 for `events`",
     .make = kTotal<&Totals::wall_contacts>},
    {.name = "largest_overlap",
     .unit = "",
     .label = "largest overlap / smaller radius",
     .what = "over the smaller radius, now",
     .make = kTotal<&Totals::overlap>},
    {.name = "largest_speed",
     .unit = "m s-1",
     .label = "largest speed",
     .what = "of all balls",
     .make = kTotal<&Totals::speed>},
    {.name = "balls", .unit = "", .label = "balls in the box", .what = "that are in", .make = kTotal<&Totals::balls>},
    {.name = "translational_energy",
     .unit = "J",
     .label = "translational energy",
     .what = "sum of m v^2 / 2",
     .make = kTotal<&Totals::kinetic>,
     .has_energy = true},
    {.name = "flow_energy",
     .unit = "J",
     .label = "energy of the common motion",
     .what =
         "(sum m v)^2 / (2 sum m): `translational_energy` without it is that about the centre of mass; NaN once a ball "
         "has left",
     .make = own<FlowEnergy>},
    {.name = "rotational_temperature",
     .unit = "J",
     .label = "rotational temperature",
     .what = "2 `rotational_energy` / (s N), s = 1 in 2D and 3 in 3D",
     .make = scalar<rotational_temperature>},
    {.name = "heat",
     .unit = "J",
     .label = "heat given to the balls",  // by thermal walls and thermostats
     .what = "that thermal walls and thermostats have given since the start; of driven runs",
     .make = scalar<[](const Sample& sample, int) { return sample.tallies.heat(); }>,
     .driven_only = true,
     .since_start = true},
    {.name = "wall_heat",
     .unit = "J",
     .label = "heat given by walls",
     .what = "that each wall has given since the start; of driven runs",
     .make = own<WallHeat>,
     .driven_only = true,
     .since_start = true},
    {.name = "work",
     .unit = "J",
     .label = "work done on the balls",  // by what moves or changes
     .what = "done by what moves or changes since the start; of driven runs",
     .make = scalar<[](const Sample& sample, int) { return sample.tallies.work; }>,
     .driven_only = true,
     .since_start = true},
};

constexpr std::string_view kPressureUnit = "Pa, in 2D N m-1";

constexpr ObservableKind kKinds[] = {
    {.name = "rotational_temperature",
     .what = "2 E / (s N) of the balls' rotational energy E, s = 1 in 2D and 3 in 3D",
     .of = ObservableKind::Of::kFiniteMass,
     .make = row_value<SpeciesRotation>},
};

}  // namespace

std::span<const ObservableKind> row_value_kinds() { return kKinds; }

ObservableInfo RowKind::info(std::vector<std::string> components, const std::string& other_unit) const {
    return {.name = std::string(name),
            .unit = other_unit.empty() ? std::string(unit) : other_unit,
            .label = std::string(label),
            .components = std::move(components)};
}

std::span<const RowKind> row_kinds() { return kRows; }

std::string row_reference() {
    std::string text = "| row | what it is | unit |\n| --- | --- | --- |\n";
    for (const RowKind& kind : kRows) {
        const bool pressure = kind.name.ends_with("_pressure");
        text += fmt::format("| `{}` | {} | {} |\n", kind.name, kind.what,
                            pressure            ? kPressureUnit
                            : kind.unit.empty() ? "1"
                                                : kind.unit);
    }
    return text;
}

const RowKind* find_row_kind(std::string_view name) {
    const auto* const found = std::ranges::find(kRows, name, &RowKind::name);
    return found == std::end(kRows) ? nullptr : found;
}

std::vector<std::unique_ptr<Observable>> default_observables(const ObservableContext& context) {
    std::vector<std::unique_ptr<Observable>> all;
    for (const RowKind& kind : kRows) {
        if (context.driven || !kind.driven_only) all.push_back(kind.make(kind, context));
    }
    return all;
}

}  // namespace carom
