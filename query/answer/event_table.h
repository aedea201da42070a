#pragma once

// Events, as every command that shows some shows them: those that are stored, and those that other rows of the file
// tell: when the recorder started and stopped, the machine booted, and ticks were missed.

#include <string>
#include <vector>

#include "query/answer/command.h"
#include "query/report/report.h"

namespace memoir::query {

// The kinds that Memoir writes; a file of another version may hold more.
const std::vector<std::string>& event_kinds();

// Those of the range, in the order of recording. `gaps`: of the range, as its coverage has them.
Result<std::vector<Event>> recorded_events(const Context& context, Range range, const std::vector<Gap>& gaps);

// When, of what kind, and what happened: a problem where something was killed, a warning where the recording suffered.
Table event_table(const std::vector<Event>& events);

}  // namespace memoir::query
