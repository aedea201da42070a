#pragma once

// Finds why the previous recorder ended, from a note that the unit's ExecStopPost wrote into the database's folder.

#include <string>
#include <string_view>

namespace memoir {

// `note`: SERVICE_RESULT, EXIT_CODE and EXIT_STATUS (systemd.exec(5)), and the line oom_kill of the cgroup's
// memory.events. Returns an empty text for a clean end.
std::string end_cause(std::string_view note);

// Returns the cause in the note next to the database at `db`, and deletes the note. Empty without a note.
std::string take_end_cause(const std::string& db);

}  // namespace memoir
