#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "host/observables/registry.hpp"
#include "host/observables/sum_average.hpp"

// Density, temperature and flow as they are in slices of the box, in the cells of a plane, and in a region; and how far
// velocities are from Maxwell and Boltzmann's law.

namespace carom {

namespace {

/// The sums over some balls from which their temperature and their flow follow (BallSums::Terms::kThermal).
struct ThermalSums {
    int dimension = 2;

    [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(dimension) + 3; }

    /// T = (<sum m v^2> - |<sum m v>|^2 / <sum m>) / (d <N>), over time: kinetic temperature without the mean
    /// flow of the run. What the flow fluctuates by, or changes by during the run, counts as heat.
    /// \param first  column of these sums in the series
    [[nodiscard]] MeanWithError temperature(const BatchSeries& series, std::size_t first) const {
        const auto axes = static_cast<std::size_t>(dimension);
        const double count = series.mean(first + axes + 2);
        const double mass = series.mean(first + axes + 1);
        // The flow of few balls is mostly their own heat, and blocks without any say nothing of an error.
        constexpr double kLeastBalls = 29.5;  // of 30 their mean times the samples may be a rounding less
        if (!(count * static_cast<double>(series.samples()) >= kLeastBalls)) return {std::nan(""), std::nan("")};
        const double scale = 1.0 / (dimension * count);
        double flow_energy = 0.0;
        std::vector<Weight> weights{{first, scale}};
        double flow_squared = 0.0;
        for (std::size_t axis = 0; axis < axes; ++axis) {
            const double flow = series.mean(first + 1 + axis) / mass;
            flow_energy += flow * flow * mass;
            flow_squared += flow * flow;
            weights.push_back({first + 1 + axis, -2.0 * flow * scale});
        }
        const double temperature = (series.mean(first) - flow_energy) * scale;
        weights.push_back({first + axes + 1, flow_squared * scale});
        weights.push_back({first + axes + 2, -temperature / count});
        return blocked_mean(temperature, series, weights);
    }
};

class DensityProfile final : public SumAverage {
public:
    DensityProfile(const ObserveEntry& request, const AverageContext& context)
        : SumAverage(request, context, request.bins),
          bins_(bins_along(context.box, request.axis, request.bins)),
          bin_volume_(context.box.volume() / static_cast<double>(request.bins)) {}

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = base_info();
        info.unit = number_density_unit(dimension());
        info.label = "number density";
        info.normalisation = dimension() == 2 ? "mean number of centres in a slice / area of the slice"
                                              : "mean number of centres in a slice / volume of the slice";
        info.x = {axis_names(3)[static_cast<std::size_t>(request().axis)], "m", bins_.count};
        return info;
    }
    [[nodiscard]] AverageTable measured() const override {
        AverageTable table = base_table();
        table.x = middles(bins_);
        for (std::size_t bin = 0; bin < bins_.count; ++bin) append(table, mean_of(series(), bin, 1.0 / bin_volume_));
        return table;
    }

private:
    void sum(BallSampler& balls, std::span<double> sums) override {
        add_up(balls, sums_in_slices(bins_, request().axis, BallSums::Terms::kCount), sums);
    }

    LineBins bins_;
    double bin_volume_;
};

class TemperatureProfile final : public SumAverage {
public:
    TemperatureProfile(const ObserveEntry& request, const AverageContext& context)
        : SumAverage(request, context, request.bins * ThermalSums{context.box.dimension}.width()),
          thermal_{context.box.dimension},
          bins_(bins_along(context.box, request.axis, request.bins)) {}

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = base_info();
        info.unit = "J";
        info.label = "temperature";
        info.normalisation =
            "(sum m v^2 - |sum m v|^2 / sum m) / (dimension * count) of the balls whose centres are in a slice";
        info.x = {axis_names(3)[static_cast<std::size_t>(request().axis)], "m", bins_.count};
        return info;
    }
    [[nodiscard]] AverageTable measured() const override {
        AverageTable table = base_table();
        table.x = middles(bins_);
        for (std::size_t bin = 0; bin < bins_.count; ++bin) {
            append(table, thermal_.temperature(series(), bin * thermal_.width()));
        }
        return table;
    }

private:
    void sum(BallSampler& balls, std::span<double> sums) override {
        add_up(balls, sums_in_slices(bins_, request().axis, BallSums::Terms::kThermal), sums);
    }

    ThermalSums thermal_;
    LineBins bins_;
};

class VelocityProfile final : public SumAverage {
public:
    VelocityProfile(const ObserveEntry& request, const AverageContext& context)
        : SumAverage(request, context, request.bins * (static_cast<std::size_t>(context.box.dimension) + 1)),
          bins_(bins_along(context.box, request.axis, request.bins)),
          axes_(static_cast<std::size_t>(context.box.dimension)) {}

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = base_info();
        info.unit = "m s-1";
        info.label = "flow velocity";
        info.normalisation = "sum m v / sum m of the balls whose centres are in a slice";
        info.components = axis_names(dimension());
        info.x = {axis_names(3)[static_cast<std::size_t>(request().axis)], "m", bins_.count};
        return info;
    }
    [[nodiscard]] AverageTable measured() const override {
        AverageTable table = base_table();
        table.x = middles(bins_);
        for (std::size_t axis = 0; axis < axes_; ++axis) {
            for (std::size_t bin = 0; bin < bins_.count; ++bin) {
                append(table, ratio_of(series(), bin * (axes_ + 1) + axis, bin * (axes_ + 1) + axes_));
            }
        }
        return table;
    }

private:
    void sum(BallSampler& balls, std::span<double> sums) override {
        add_up(balls, sums_in_slices(bins_, request().axis, BallSums::Terms::kFlow), sums);
    }

    LineBins bins_;
    std::size_t axes_;
};

/// Cells of a map of a plane of the box.
struct MapCells {
    std::array<int, 2> plane{};        ///< axes, the lower one first
    std::array<std::size_t, 2> cells;  ///< along each
    [[nodiscard]] std::size_t all() const { return cells[0] * cells[1]; }
};

/// Cells that are nearly square.
/// \param axis  along which one looks, in 3D
/// \param bins  cells along the longer side
MapCells map_cells(const Box& box, int axis, std::size_t bins) {
    MapCells map;
    map.plane = {0, 1};
    if (box.dimension == 3 && axis != 2) map.plane = axis == 0 ? std::array{1, 2} : std::array{0, 2};
    const auto most = static_cast<double>(bins);
    const double longest = std::max(box.size[map.plane[0]], box.size[map.plane[1]]);
    for (std::size_t side = 0; side < 2; ++side) {
        const double cells = most * box.size[map.plane[side]] / longest;
        map.cells[side] = std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(cells)));
    }
    return map;
}

/// What all maps over a plane of the box are: sums in its nearly square cells, which in 3D go all through.
class MapAverage : public SumAverage {
public:
    /// \param terms  that a ball adds in its cell
    MapAverage(const ObserveEntry& request, const AverageContext& context, BallSums::Terms terms)
        : MapAverage(request, context, sums(context.box, request, terms)) {}

protected:
    /// With both axes.
    [[nodiscard]] AverageInfo map_info() const {
        AverageInfo info = base_info();
        info.x = axis_of(0);
        info.y = axis_of(1);
        return info;
    }
    /// With both axes, and no values yet.
    [[nodiscard]] AverageTable map_table() const {
        AverageTable table = base_table();
        table.x = middles(what_.bins[0]);
        table.y = middles(what_.bins[1]);
        return table;
    }
    [[nodiscard]] std::size_t cells() const { return what_.places(); }
    /// Of the series, for each cell.
    [[nodiscard]] std::size_t columns() const { return what_.columns(); }

private:
    static constexpr std::size_t kMapBatches = 16;  // maps are large

    MapAverage(const ObserveEntry& request, const AverageContext& context, const BallSums& what)
        : SumAverage(request, context, std::size_t{what.places()} * what.columns(), kMapBatches), what_(what) {}

    static BallSums sums(const Box& box, const ObserveEntry& request, BallSums::Terms terms) {
        const MapCells map = map_cells(box, request.axis, request.bins);
        BallSums what{.by = BallSums::By::kCell, .terms = terms, .dimension = static_cast<std::uint8_t>(box.dimension)};
        for (std::size_t side = 0; side < map.plane.size(); ++side) {
            what.axis[side] = static_cast<std::uint8_t>(map.plane[side]);
            what.bins[side] = bins_along(box, map.plane[side], map.cells[side]);
        }
        return what;
    }
    [[nodiscard]] AverageAxis axis_of(std::size_t side) const {
        return {axis_names(3)[what_.axis[side]], "m", what_.bins[side].count};
    }
    void sum(BallSampler& balls, std::span<double> sums) final { add_up(balls, what_, sums); }

    BallSums what_;
};

class DensityMap final : public MapAverage {
public:
    DensityMap(const ObserveEntry& request, const AverageContext& context)
        : MapAverage(request, context, BallSums::Terms::kCount) {}

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = map_info();
        info.unit = number_density_unit(dimension());
        info.label = "number density";
        info.normalisation = dimension() == 2
                                 ? "mean number of centres in a cell / area of the cell"
                                 : "mean number of centres in a column / volume of the column, which goes all through";
        return info;
    }
    [[nodiscard]] AverageTable measured() const override {
        AverageTable table = map_table();
        const double per_volume = static_cast<double>(cells()) / box().volume();
        for (std::size_t cell = 0; cell < cells(); ++cell) append(table, mean_of(series(), cell, per_volume));
        return table;
    }
};

class TemperatureMap final : public MapAverage {
public:
    TemperatureMap(const ObserveEntry& request, const AverageContext& context)
        : MapAverage(request, context, BallSums::Terms::kThermal), thermal_{context.box.dimension} {}

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = map_info();
        info.unit = "J";
        info.label = "temperature";
        info.normalisation =
            "(sum m v^2 - |sum m v|^2 / sum m) / (dimension * count) of the balls whose centres are in a cell";
        return info;
    }
    [[nodiscard]] AverageTable measured() const override {
        AverageTable table = map_table();
        for (std::size_t cell = 0; cell < cells(); ++cell) {
            append(table, thermal_.temperature(series(), cell * columns()));
        }
        return table;
    }

private:
    ThermalSums thermal_;
};

class VelocityMap final : public MapAverage {
public:
    VelocityMap(const ObserveEntry& request, const AverageContext& context)
        : MapAverage(request, context, BallSums::Terms::kFlow) {}

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = map_info();
        info.unit = "m s-1";
        info.label = "flow velocity";
        info.normalisation = "sum m v / sum m of the balls whose centres are in a cell";
        info.components = axis_names(dimension());
        return info;
    }
    [[nodiscard]] AverageTable measured() const override {
        AverageTable table = map_table();
        const auto mass = static_cast<std::size_t>(dimension());  // the column behind those of the momentum
        for (std::size_t axis = 0; axis < mass; ++axis) {
            for (std::size_t cell = 0; cell < cells(); ++cell) {
                append(table, ratio_of(series(), cell * columns() + axis, cell * columns() + mass));
            }
        }
        return table;
    }
};

class RegionTemperature final : public SumAverage {
public:
    RegionTemperature(const ObserveEntry& request, const AverageContext& context)
        : SumAverage(request, context, ThermalSums{context.box.dimension}.width()), thermal_{context.box.dimension} {}

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = base_info();
        info.unit = "J";
        info.label = "temperature";
        info.normalisation =
            "(sum m v^2 - |sum m v|^2 / sum m) / (dimension * count) of the balls whose centres are in the region";
        return info;
    }
    [[nodiscard]] AverageTable measured() const override {
        AverageTable table = base_table();
        append(table, thermal_.temperature(series(), 0));
        return table;
    }

private:
    void sum(BallSampler& balls, std::span<double> sums) override {
        BallSums what{.by = BallSums::By::kRegion, .terms = BallSums::Terms::kThermal};
        for (int axis = 0; axis < dimension(); ++axis) {
            what.region_low[axis] = request().region_min[axis];
            what.region_high[axis] = request().region_max[axis];
        }
        add_up(balls, what, sums);
    }

    ThermalSums thermal_;
};

/// K = <w^2> / <w>^2 with w = m v_x^2, over all components, balls and samples: the same for every mass in a mixture.
class Kurtosis final : public SumAverage {
public:
    Kurtosis(const ObserveEntry& request, const AverageContext& context) : SumAverage(request, context, 3) {}

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = base_info();
        info.unit = "";
        info.label = "kurtosis of a velocity component";
        info.normalisation =
            "<w^2> / <w>^2, w = m v^2 of a component, means over components, balls and samples; "
            "3 for Maxwell and Boltzmann's law";
        return info;
    }
    [[nodiscard]] AverageTable measured() const override {
        AverageTable table = base_table();
        const double count = series().mean(2);
        const double second = series().mean(0) / count;
        const double fourth = series().mean(1) / count;
        const double kurtosis = fourth / (second * second);
        const double scale = 1.0 / (count * second * second);
        const std::array weights{Weight{1, scale}, Weight{0, -2.0 * kurtosis * second * scale},
                                 Weight{2, kurtosis / count}};
        append(table, blocked_mean(kurtosis, series(), weights));
        return table;
    }

private:
    void sum(BallSampler& balls, std::span<double> sums) override {
        add_up(balls, BallSums{.terms = BallSums::Terms::kMoments}, sums);
    }
};

/// Each cell is counted in many batches, written with each frame and kept in each checkpoint.
std::optional<Refusal> check_cells(const ObserveEntry& request, const Box& box) {
    constexpr std::size_t kMostCells = 1'000'000;
    const MapCells map = map_cells(box, request.axis, request.bins);
    if (map.all() <= kMostCells) return std::nullopt;
    return Refusal{"bins", fmt::format("makes a map of {} by {} cells; there may be {} in all", map.cells[0],
                                       map.cells[1], kMostCells)};
}

constexpr std::string_view kCellsRule = "at most 10^6 cells in all";

constexpr ObservableKind kFields[] = {
    {.name = "density",
     .what = "centres of balls per area (2D) or volume (3D), in slices across `axis`",
     .unit = "m^-d",
     .keys = kPlaceKeys,
     .bins = 100,
     .make = average<DensityProfile>},
    {.name = "temperature_profile",
     .what =
         "temperature without the run's mean flow, (sum m v^2 - \\|sum m v\\|^2 / sum m) / (d N) with sums over the "
         "run, in slices",
     .unit = "J",
     .keys = kPlaceKeys,
     .bins = 50,
     .of = ObservableKind::Of::kFiniteMass,
     .has_energy = true,
     .make = average<TemperatureProfile>},
    {.name = "velocity_profile",
     .what = "flow velocity, sum m v / sum m, in slices",
     .unit = "m/s",
     .keys = kPlaceKeys,
     .bins = 50,
     .of = ObservableKind::Of::kFiniteMass,
     .make = average<VelocityProfile>},
    {.name = "density_map",
     .what = "centres per area or volume on a plane; in 3D averaged along `axis`",
     .unit = "m^-d",
     .keys = kPlaceKeys,
     .bins = 50,
     .bins_rule = kCellsRule,
     .axis = ObservableKind::Axis::kLast,
     .check = check_cells,
     .make = average<DensityMap>},
    {.name = "temperature_map",
     .what = "temperature without the run's mean flow, as `temperature_profile`, in the cells of such a plane",
     .unit = "J",
     .keys = kPlaceKeys,
     .bins = 50,
     .bins_rule = kCellsRule,
     .axis = ObservableKind::Axis::kLast,
     .of = ObservableKind::Of::kFiniteMass,
     .has_energy = true,
     .check = check_cells,
     .make = average<TemperatureMap>},
    {.name = "velocity_map",
     .what = "flow velocity, sum m v / sum m, in the cells of such a plane",
     .unit = "m/s",
     .keys = kPlaceKeys,
     .bins = 50,
     .bins_rule = kCellsRule,
     .axis = ObservableKind::Axis::kLast,
     .of = ObservableKind::Of::kFiniteMass,
     .check = check_cells,
     .make = average<VelocityMap>},
};

constexpr ObservableKind kNumbers[] = {
    {.name = "temperature",
     .what = "temperature without the run's mean flow, of the balls in `region`",
     .unit = "J",
     .keys = kRegionKeys,
     .of = ObservableKind::Of::kFiniteMass,
     .has_energy = true,
     .make = average<RegionTemperature>},
    {.name = "kurtosis",
     .what = "<w^2> / <w>^2, w = m v^2 of a component: 3 for Maxwell and Boltzmann's law, 3 D / (D + 2) for D degrees "
             "of freedom and fixed energy",
     .unit = "1",
     .keys = kAverageKeys,
     .of = ObservableKind::Of::kFiniteMass,
     .make = average<Kurtosis>},
};

}  // namespace

std::span<const ObservableKind> field_kinds() { return kFields; }
std::span<const ObservableKind> velocity_number_kinds() { return kNumbers; }

}  // namespace carom
