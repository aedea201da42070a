#pragma once

// Events, as every command that shows some shows them.

#include <string>
#include <vector>

#include "query/report/report.h"

namespace memoir::query {

// The kinds that Memoir writes; a file of another version may hold more.
const std::vector<std::string>& event_kinds();

// When, of what kind, and what happened: a problem where something was killed, a warning where the recording suffered.
Table event_table(const std::vector<Event>& events);

}  // namespace memoir::query
