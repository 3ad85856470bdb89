#include "host/scene/faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace carom {

namespace {

constexpr std::size_t kMostTold = 20;

}  // namespace

void Faults::note(SourcePlace place, std::string message) {
    if (++count_ <= kMostTold) faults_.push_back({std::move(place), std::move(message)});
}

void Faults::tell() const {
    if (none()) return;
    if (count_ == 1) throw InputError(faults_[0].message);
    std::vector<Fault> sorted = faults_;
    std::ranges::stable_sort(sorted, {}, [](const Fault& fault) {
        return std::tuple(!fault.place.assignment.empty(), fault.place.line, fault.place.column);
    });
    std::vector<std::string> lines;
    for (Fault& fault : sorted) lines.push_back(std::move(fault.message));
    if (count_ > lines.size()) lines.push_back(fmt::format("and {} more", count_ - lines.size()));
    throw SceneErrors(std::move(lines));
}

}  // namespace carom
