#pragma once

#include <string>
#include <vector>

#include "query/report.h"

namespace memoir::query {

// The kinds that Memoir writes; a file of another version may hold more.
const std::vector<std::string>& event_kinds();

// How events are told: when, of what kind, and what happened.
std::vector<ColumnOf<Event>> event_columns();

}  // namespace memoir::query
