#pragma once

// Events in a uniform form for all commands: stored events, and events derived from other rows of the file (starts and
// stops of the recorder, boots, and missed ticks).

#include <string>
#include <vector>

#include "query/report/report.h"

namespace memoir::query {

// The kinds that Memoir writes; a file of another version may have more.
const std::vector<std::string>& event_kinds();

// Merges the stored events, by time, with events derived from the runs and gaps of the range.
std::vector<Event> with_events_of_runs(const std::vector<Event>& stored, const std::vector<StoredRun>& runs,
                                       const std::vector<Gap>& gaps, Range range);

// Returns a table of time, kind and text. Its tones show OOM kills as problems and other harmful events as warnings.
Table event_table(const std::vector<Event>& events);

}  // namespace memoir::query
