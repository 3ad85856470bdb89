#include <fmt/format.h>

#include "host/scene/entries.hpp"

namespace carom {

BoxPart read_region(const Section& section, const Box& box) {
    BoxPart result;
    Vector3 box_max{};
    for (int axis = 0; axis < 3; ++axis) box_max[axis] = box.min[axis] + box.size[axis];
    const Section region = section.table("region");
    result.min = region.vector("min", box.min);
    result.max = region.vector("max", box_max);
    for (int axis = 0; axis < box.dimension; ++axis) {
        const double slack = kLengthSlack * box.size[axis];
        if (result.min[axis] < box.min[axis] - slack) {
            region.fail_at("min", axis,
                           fmt::format("must be inside the box, {} or more, not {}", box.min[axis], result.min[axis]));
        }
        if (result.max[axis] > box_max[axis] + slack) {
            region.fail_at("max", axis,
                           fmt::format("must be inside the box, {} or less, not {}", box_max[axis], result.max[axis]));
        }
        // A corner that is the box's but for rounding is the box's: a region across a whole periodic axis wraps.
        if (result.min[axis] < box.min[axis] + slack) result.min[axis] = box.min[axis];
        if (result.max[axis] > box_max[axis] - slack) result.max[axis] = box_max[axis];
        if (!(result.min[axis] < result.max[axis])) {
            region.fail_at("max", axis,
                           fmt::format("must be above min, {}, not {}", result.min[axis], result.max[axis]));
        }
    }
    return result;
}

}  // namespace carom
