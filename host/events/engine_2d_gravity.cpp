#include "host/events/engine.hpp"

namespace carom {

template class Engine<2, true, false>;

}  // namespace carom
