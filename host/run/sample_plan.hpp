#pragma once

#include "host/run/prepare.hpp"
#include "host/run/sample_schedule.hpp"
#include "host/scene/scene.hpp"

namespace carom {

/// When an average is sampled: as the scene says, or so that all of it costs a few per cent of the run.
///
/// The default is the longer of run.until / 1000 and, for `spring` 4200 steps, for `events` 18 mean free times (Enskog,
/// at the density and temperature of the start; if nothing moves, until / 1000 alone); of `gr` three times as long.
/// `vacf` must look more often than balls collide: by default it takes 33 samples, a quarter of a mean free time apart,
/// and pauses until those have cost no more than the others, but at most a quarter of the time from observe.from to
/// the end. In short runs all are taken more often, so that there are 20, or up to four times as often. Intervals of
/// `spring` are whole steps.
SamplePlan sample_plan(const PreparedScene& run, const ObserveEntry& entry);

}  // namespace carom
