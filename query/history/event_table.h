#pragma once

// Events, as every command that shows some shows them: those that are stored, and those that other rows of the file
// tell: when the recorder started and stopped, the machine booted, and ticks were missed.

#include <string>
#include <vector>

#include "query/report/report.h"

namespace memoir::query {

// The kinds that Memoir writes; a file of another version may hold more.
const std::vector<std::string>& event_kinds();

// The stored ones, and among them by time those that the runs and the gaps of the range tell.
std::vector<Event> with_events_of_runs(const std::vector<Event>& stored, const std::vector<StoredRun>& runs,
                                       const std::vector<Gap>& gaps, Range range);

// When, of what kind, and what happened: a problem where something was killed, a warning where the recording suffered.
Table event_table(const std::vector<Event>& events);

}  // namespace memoir::query
