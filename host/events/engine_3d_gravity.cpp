#include "host/events/engine_all.hpp"

namespace carom {

template class Engine<3, true, false>;

}  // namespace carom
