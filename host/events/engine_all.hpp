#pragma once

// The engine whole: for the files that instantiate it.

#include "host/events/engine.hpp"
#include "host/events/engine_accounts.hpp"
#include "host/events/engine_checkpoint.hpp"
#include "host/events/engine_clusters.hpp"
#include "host/events/engine_contacts.hpp"
#include "host/events/engine_events.hpp"
#include "host/events/engine_lists.hpp"
#include "host/events/engine_predict.hpp"
#include "host/events/engine_setup.hpp"
#include "host/events/engine_state.hpp"
#include "host/events/engine_totals.hpp"
