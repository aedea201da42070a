#pragma once

// OOM victims as the detail of an event (event.detail): JSON, written and parsed by SQLite.

#include <string>
#include <vector>

#include "store/sqlite/statement.h"
#include "store/types.h"

namespace memoir {

std::string victim_json(SQLite::Database& database, const OomVictim& victim);

// Returns the victims of a range, by time.
std::vector<OomVictim> read_oom_victims(SQLite::Database& database, Range range);

}  // namespace memoir
