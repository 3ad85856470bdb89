#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "host/observables/average.hpp"
#include "host/observables/observable.hpp"
#include "kernels/core/key.hpp"

namespace carom {

/// Why a kind cannot be what a scene asks for: an observable's, or an arrangement's.
struct Refusal {
    std::string_view key;  ///< of its table, whose value it is about
    std::string message;   ///< that follows the key: "must be ..."
};

/// A kind of [[observe]]: all that the reader of scenes, their reference and a run know of it. One row a kind, in the
/// file of its class; registry.cpp lists the files.
struct ObservableKind {
    using MakeRow = std::unique_ptr<Observable> (*)(const ObserveEntry&, const ObservableContext&);
    using MakeAverage = std::unique_ptr<Average> (*)(const ObserveEntry&, const AverageContext&);

    std::string_view name;            ///< as a scene says it
    std::string_view what = {};       ///< for the reference
    std::string_view unit = {};       ///< for the reference; d: the dimension
    std::span<const Key> keys = {};   ///< that it takes, beside name, kind and species
    std::size_t bins = 0;             ///< if the scene does not say how many
    std::string_view bins_rule = {};  ///< for the reference
    /// Which axis it takes if the scene names none: that of gravity, or x; or the last one, along which one looks.
    enum class Axis : std::uint8_t { kAlongGravity, kLast } axis = Axis::kAlongGravity;
    /// Of which balls it may be: those of any species; of one with a finite mass; of all balls together alone.
    enum class Of : std::uint8_t { kAnySpecies, kFiniteMass, kAll } of = Of::kAnySpecies;
    bool events_only = false;  ///< needs contacts that can be counted
    bool pairs = false;        ///< looks at pairs, which takes time and memory
    bool from_start = false;   ///< tells of where balls were at time 0
    bool has_energy = false;   ///< goes as the energy of the balls' motion
    /// How often it wants to look where the scene does not say: as often as others; more often than balls collide, if
    /// that costs little; at all costs, by bursts of samples with pauses.
    enum class Looks : std::uint8_t { kAsOthers, kBetweenCollisions, kInBursts } looks = Looks::kAsOthers;
    /// What else must hold of the values; called when all are known. Null: nothing.
    std::optional<Refusal> (*check)(const ObserveEntry&, const Box&) = nullptr;
    /// Makes a value of each row, or an average over the run.
    std::variant<MakeRow, MakeAverage> make;

    [[nodiscard]] bool averaged() const { return std::holds_alternative<MakeAverage>(make); }
};

/// For ObservableKind::make.
template <class Type>
std::unique_ptr<Observable> row_value(const ObserveEntry& request, const ObservableContext& context) {
    return std::make_unique<Type>(request, context);
}
template <class Type>
std::unique_ptr<Average> average(const ObserveEntry& request, const AverageContext& context) {
    return std::make_unique<Type>(request, context);
}

// Keys that several kinds take.
inline constexpr Key kEveryKey{.name = "every",
                               .bounds = kPositive,
                               .fallback = "what costs little",
                               .help = "averages: time between samples [time]; see below"};
inline constexpr Key kFromKey{.name = "from",
                              .bounds = kNotNegative,
                              .fallback = "0.0",
                              .help = "averages: samples are taken from this time on [time]"};
inline constexpr Key kBinsKey{.name = "bins",
                              .type = KeyType::kWhole,
                              .bounds = {.min = 4.0, .max = 10'000.0},
                              .fallback = "by kind",
                              .help = "histograms, profiles, gr: how many; maps: along the longer side"};
inline constexpr Key kMaxKey{.name = "max",
                             .bounds = kPositive,
                             .fallback = "by kind",
                             .help =
                                 "speed, velocity: end of the range [length/time], by default wherever is needed; "
                                 "gr: largest distance [length]"};
inline constexpr Key kAxisKey{.name = "axis",
                              .type = KeyType::kChoice,
                              .choices = "x|y|z",
                              .fallback = "along gravity, or x",
                              .help = "profiles: slices lie across it; maps in 3D: one looks along it, z by default"};
inline constexpr Key kRegionKey{.name = "region",
                                .type = KeyType::kTable,
                                .fallback = "the box",
                                .help = "temperature: of the balls with centres in there"};
inline constexpr Key kAverageKeys[] = {kEveryKey, kFromKey};
inline constexpr Key kHistogramKeys[] = {kEveryKey, kFromKey, kBinsKey, kMaxKey};
inline constexpr Key kPlaceKeys[] = {kEveryKey, kFromKey, kBinsKey, kAxisKey};
inline constexpr Key kRegionKeys[] = {kEveryKey, kFromKey, kRegionKey};

/// All kinds that [[observe]] knows, in the order of the reference.
std::span<const ObservableKind> observable_kinds();
/// \throws std::invalid_argument  there is no such kind
const ObservableKind& find_observable_kind(std::string_view name);
/// Whether the kind is an average.
[[nodiscard]] bool is_average(std::string_view kind);
/// The kinds with their keys, for the reader of scenes.
std::vector<Kind> observe_kinds();
/// Their tables for docs/scene-file.md: of the values of rows, or of the averages.
std::string observable_reference(bool averaged);

/// \throws std::invalid_argument  there is no such kind, or it is of the other sort
std::unique_ptr<Observable> make_observable(const ObserveEntry& request, const ObservableContext& context);
std::unique_ptr<Average> make_average(const ObserveEntry& request, const AverageContext& context);

/// What every run has in its rows; every_run.cpp has the list.
struct RowKind {
    std::string_view name;
    std::string_view unit;  ///< "": a pure number; of pressures, which depend on the dimension, their classes know it
    std::string_view label;
    std::string_view what;  ///< for the reference
    std::unique_ptr<Observable> (*make)(const RowKind&, const ObservableContext&);
    bool driven_only = false;        ///< only where something gives the balls energy, or takes it
    bool since_start = false;        ///< what has been given since the start has no mean
    bool tells_equilibrium = false;  ///< moves while a system is not at equilibrium, for one reason or another
    bool has_energy = false;         ///< is proportional to the balls' energy, all but what springs and heights hold
    double change = kAnyChange;      ///< prior of its mean's being the change of something bounded, as blocked_mean

    /// \param other_unit  than `unit`, if it is not empty
    [[nodiscard]] ObservableInfo info(std::vector<std::string> components = {},
                                      const std::string& other_unit = "") const;
};
std::span<const RowKind> row_kinds();
/// Their table for docs/scene-file.md.
std::string row_reference();
/// Null where no row of every run is called so.
const RowKind* find_row_kind(std::string_view name);

/// What every run records, in the order of a row.
std::vector<std::unique_ptr<Observable>> default_observables(const ObservableContext& context);

}  // namespace carom
