#include "host/events/engine_all.hpp"

namespace carom {

template class Engine<2, false, false>;

}  // namespace carom
