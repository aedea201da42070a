#pragma once

// memoir objects: what processes mapped together at one time, and who mapped it.

#include "query/state/command.h"
#include "query/state/state.h"

namespace memoir::query {

// Memory that no process has as its own, of a tick: --ownerless.
Result<Report> show_ownerless(const Context& context, const State& state, const TickState& tick);

}  // namespace memoir::query
