#include "host/state/balls.hpp"

namespace carom {

void Balls::resize(std::size_t count) {
    species.resize(count);
    gone.resize(count);
    for (int axis = 0; axis < dimension; ++axis) {
        position[axis].resize(count);
        velocity[axis].resize(count);
        image[axis].resize(count);
    }
    for (int axis = dimension == 2 ? 2 : 0; axis < 3; ++axis) spin[axis].resize(count);
}

}  // namespace carom
