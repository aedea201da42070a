#pragma once

#include <vector>

#include "query/report.h"

namespace memoir::query {

// How events are told: when, of what kind, and what happened.
std::vector<ColumnOf<Event>> event_columns();

}  // namespace memoir::query
