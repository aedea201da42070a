#pragma once

// The row of a tick: written whole, read back whole.

#include <cstdint>
#include <string>

#include "model/tick.h"
#include "store/sqlite/statement.h"
#include "store/types.h"

namespace memoir {

// Every column of tick, in the order that read_tick expects.
std::string tick_columns();
StoredTick read_tick(const Statement& row);

std::string insert_tick_sql();
void insert_tick(Statement& insert, std::int64_t tick_id, std::int64_t run_id, std::int64_t keyframe_id,
                 const Tick& tick);

}  // namespace memoir
