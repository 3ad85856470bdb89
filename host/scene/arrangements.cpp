#include <fmt/format.h>

#include "host/scene/arrange.hpp"
#include "host/state/errors.hpp"

namespace carom {

std::span<const ArrangementEntry> arrangements() {
    static constexpr ArrangementEntry kArrangements[] = {
        {"random", arrange_randomly<2>, arrange_randomly<3>},
        {"lattice", arrange_on_lattice<2>, arrange_on_lattice<3>},
        {"atmosphere", arrange_as_atmosphere<2>, arrange_as_atmosphere<3>},
    };
    return kArrangements;
}

template <int Dim>
void refuse_fill(const FillEntry& fill, const Space<Dim>& space, std::uint64_t reached) {
    throw InputError(fmt::format(
        "{}: {} balls do not fit in the region beside what is there; {} would, a packing fraction of {:.4g}",
        fill.label, fill.count, reached, space.fraction(reached)));
}

template void refuse_fill<2>(const FillEntry&, const Space<2>&, std::uint64_t);
template void refuse_fill<3>(const FillEntry&, const Space<3>&, std::uint64_t);

}  // namespace carom
