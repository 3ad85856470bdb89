#include "host/events/engine_all.hpp"

namespace carom {

template class Engine<2, true, false>;

}  // namespace carom
