#include "host/events/engine.hpp"

namespace carom {

template class Engine<3, true, false>;

}  // namespace carom
