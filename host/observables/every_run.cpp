#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "host/observables/registry.hpp"
#include "kernels/core/wall_number.hpp"

// What every run has in its rows, and every driven one: a line each, at the end.

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

/// T = 2 K / (d N), K the translational kinetic energy, N the balls of finite mass: an energy, since Boltzmann's
/// constant is 1. No degrees of freedom are taken off for a momentum of zero, in accord with how [[fill]] meets its
/// temperature.
double temperature(const Sample& sample, int dimension) {
    const auto mobile = static_cast<double>(sample.totals.mobile);
    return mobile > 0.0 ? 2.0 * sample.totals.kinetic / (dimension * mobile) : 0.0;
}

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
     .make = scalar<[](const Sample& sample, int) { return sample.totals.kinetic + sample.totals.rotational; }>},
    {.name = "rotational_energy", .unit = "J", .label = "rotational energy", .make = kTotal<&Totals::rotational>},
    {.name = "spring_energy",
     .unit = "J",
     .label = "spring energy",
     .make = kTotal<&Totals::spring>,
     .tells_equilibrium = true},
    {.name = "gravitational_energy",
     .unit = "J",
     .label = "gravitational energy",
     .make = kTotal<&Totals::gravitational>,
     .tells_equilibrium = true},
    {.name = "total_energy",
     .unit = "J",
     .label = "total energy",
     .make = scalar<[](const Sample& sample, int) { return sample.totals.energy(); }>},
    {.name = "momentum", .unit = "kg m s-1", .label = "momentum", .make = total_vector<&Totals::momentum>},
    {.name = "angular_momentum",
     .unit = "kg m2 s-1",
     .label = "angular momentum",
     .make = total_vector<&Totals::angular_momentum>},
    {.name = "temperature",
     .unit = "J",
     .label = "temperature",
     .make = scalar<temperature>,
     .tells_equilibrium = true},
    {.name = "virial_pressure",
     .unit = "",
     .label = "virial pressure",
     .make = own<VirialPressure>,
     .tells_equilibrium = true},
    {.name = "wall_pressure", .unit = "", .label = "wall pressure", .make = own<WallPressure>},
    {.name = "contacts", .unit = "", .label = "contacts between balls", .make = kTotal<&Totals::contacts>},
    {.name = "wall_contacts", .unit = "", .label = "contacts with walls", .make = kTotal<&Totals::wall_contacts>},
    {.name = "largest_overlap",
     .unit = "",
     .label = "largest overlap / smaller radius",
     .make = kTotal<&Totals::overlap>},
    {.name = "largest_speed", .unit = "m s-1", .label = "largest speed", .make = kTotal<&Totals::speed>},
    {.name = "balls", .unit = "", .label = "balls in the box", .make = kTotal<&Totals::balls>},
    {.name = "heat",
     .unit = "J",
     .label = "heat given to the balls",  // by thermal walls and thermostats
     .make = scalar<[](const Sample& sample, int) { return sample.tallies.heat(); }>,
     .driven_only = true,
     .since_start = true},
    {.name = "wall_heat",
     .unit = "J",
     .label = "heat given by walls",
     .make = own<WallHeat>,
     .driven_only = true,
     .since_start = true},
    {.name = "work",
     .unit = "J",
     .label = "work done on the balls",  // by what moves or changes
     .make = scalar<[](const Sample& sample, int) { return sample.tallies.work; }>,
     .driven_only = true,
     .since_start = true},
};

}  // namespace

ObservableInfo RowKind::info(std::vector<std::string> components, const std::string& other_unit) const {
    return {.name = std::string(name),
            .unit = other_unit.empty() ? std::string(unit) : other_unit,
            .label = std::string(label),
            .components = std::move(components)};
}

std::span<const RowKind> row_kinds() { return kRows; }

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
