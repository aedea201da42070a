#pragma once

// memoir objects: shared mappings at one time, and the processes that map them.

#include "query/state/command.h"
#include "query/state/state.h"

namespace memoir::query {

// --ownerless: memory at a tick that belongs to no single process.
Result<Report> show_ownerless(const Context& context, const State& state, const StoredTick& tick);

}  // namespace memoir::query
