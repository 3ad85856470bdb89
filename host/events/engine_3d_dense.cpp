#include "host/events/engine_all.hpp"

namespace carom {

template class Engine<3, false, true>;

}  // namespace carom
