#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/compare/convergence.hpp"
#include "host/run/text.hpp"
#include "host/scene/design.hpp"

namespace carom {

Section convergence_section(const PreparedScene& run, const CompareContext& context, Convergence& result) {
    Section section{.name = "convergence"};
    const Scene& scene = run.scene;
    const std::size_t balls = run.state.balls.size();
    const SpringDesign design = design_spring(scene, run.state.balls);
    const std::uint64_t most = std::max<std::uint64_t>(12, 3 * balls / 2);
    const HardCourse course = follow_hard_course(scene, run.state, most, 8.0 * design.contact_duration, context);
    result = converge(scene, course, std::min<std::size_t>(course.impacts.size(), std::max<std::size_t>(1, balls / 2)), context);
    fmt::print("k {} raised {} dt {} impacts {} of {} stopped '{}' cluster {}\n", result.stiffness, result.raised, result.dt, result.impacts, course.impacts.size(), result.stopped, course.cluster.value_or(-1));
    for (const auto& r : result.rows) fmt::print("{:.6g} {} {} {} | {:.3e} {:.3e} {:.3e} lim {:.3e} chg {:.3e} max {:.2e} | v {:.3e} {:.3e} {:.3e} lim {:.3e} max {:.2e}\n", r.time, r.collisions, r.met, r.linear, r.from_hard[0].rms_x, r.from_hard[1].rms_x, r.from_hard[2].rms_x, r.limit.rms_x, r.limit_change.rms_x, r.limit.max_x, r.from_hard[0].rms_v, r.from_hard[1].rms_v, r.from_hard[2].rms_v, r.limit.rms_v, r.limit.max_v);
    return section;
}

}  // namespace carom
