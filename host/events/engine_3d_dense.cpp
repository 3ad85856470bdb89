#include "host/events/engine.hpp"

namespace carom {

template class Engine<3, false, true>;

}  // namespace carom
