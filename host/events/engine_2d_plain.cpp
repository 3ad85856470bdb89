#include "host/events/engine.hpp"

namespace carom {

template class Engine<2, false, false>;

}  // namespace carom
