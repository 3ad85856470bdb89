#include "host/observables/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace carom {

// The files of kinds; each gives its rows.
std::span<const ObservableKind> displaced_kinds();
std::span<const ObservableKind> row_value_kinds();
std::span<const ObservableKind> histogram_kinds();
std::span<const ObservableKind> field_kinds();
std::span<const ObservableKind> pair_kinds();
std::span<const ObservableKind> correlation_kinds();
std::span<const ObservableKind> velocity_number_kinds();
std::span<const ObservableKind> stress_kinds();
std::span<const ObservableKind> path_kinds();

namespace {

/// In the order of the reference.
constexpr std::span<const ObservableKind> (*kFiles[])() = {displaced_kinds,       row_value_kinds, histogram_kinds,
                                                           field_kinds,           pair_kinds,      correlation_kinds,
                                                           velocity_number_kinds, stress_kinds,    path_kinds};

/// With as many bins as the kind has, where no one says.
ObserveEntry filled_in(ObserveEntry request, const ObservableKind& kind) {
    if (request.bins == 0) request.bins = kind.bins;
    return request;
}

}  // namespace

std::span<const ObservableKind> observable_kinds() {
    static const std::vector<ObservableKind> kKinds = [] {
        std::vector<ObservableKind> all;
        for (const auto& file : kFiles) std::ranges::copy(file(), std::back_inserter(all));
        return all;
    }();
    return kKinds;
}

const ObservableKind& find_observable_kind(std::string_view name) {
    const auto kinds = observable_kinds();
    const auto found = std::ranges::find(kinds, name, &ObservableKind::name);
    if (found == kinds.end()) throw std::invalid_argument(fmt::format("no observable is of kind '{}'", name));
    return *found;
}

bool is_average(std::string_view kind) { return find_observable_kind(kind).averaged(); }

std::vector<Kind> observe_kinds() {
    std::vector<Kind> kinds;
    for (const ObservableKind& kind : observable_kinds()) kinds.push_back({kind.name, kind.keys, ""});
    return kinds;
}

std::string observable_reference(bool averaged) {
    std::string text = averaged ? "| kind | what it is | unit | keys |\n| --- | --- | --- | --- |\n"
                                : "| kind | what it is |\n| --- | --- |\n";
    for (const ObservableKind& kind : observable_kinds()) {
        if (kind.averaged() != averaged) continue;
        text += fmt::format("| `{}` | {} |", kind.name, kind.what);
        if (averaged) {
            text += fmt::format(" {} |", kind.unit);
            std::string keys;
            for (const Key& key : kind.keys) {
                if (key.name == kEveryKey.name || key.name == kFromKey.name) continue;  // all averages take them
                keys += fmt::format("{}`{}`", keys.empty() ? " " : ", ", key.name);
                if (key.name != kBinsKey.name) continue;
                keys += fmt::format(" ({}{}{})", kind.bins, kind.bins_rule.empty() ? "" : ", ", kind.bins_rule);
            }
            text += keys + " |";
        }
        text += '\n';
    }
    return text;
}

std::unique_ptr<Observable> make_observable(const ObserveEntry& request, const ObservableContext& context) {
    const ObservableKind& kind = find_observable_kind(request.kind);
    if (kind.averaged()) throw std::invalid_argument("'" + request.kind + "' is an average");
    return std::get<ObservableKind::MakeRow>(kind.make)(filled_in(request, kind), context);
}

std::unique_ptr<Average> make_average(const ObserveEntry& request, const AverageContext& context) {
    const ObservableKind& kind = find_observable_kind(request.kind);
    if (!kind.averaged()) throw std::invalid_argument("'" + request.kind + "' is no average");
    return std::get<ObservableKind::MakeAverage>(kind.make)(filled_in(request, kind), context);
}

}  // namespace carom
