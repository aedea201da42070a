#include "query/commands.h"

#include <algorithm>

#include "query/commands/backup/backup.h"
#include "query/commands/categories/categories.h"
#include "query/commands/cgroups/cgroups.h"
#include "query/commands/completion/completion.h"
#include "query/commands/diff/diff.h"
#include "query/commands/doctor/doctor.h"
#include "query/commands/events/events.h"
#include "query/commands/exits/exits.h"
#include "query/commands/export/export.h"
#include "query/commands/extract/extract.h"
#include "query/commands/incident/incident.h"
#include "query/commands/leaks/leaks.h"
#include "query/commands/mappings/mappings.h"
#include "query/commands/memory/memory.h"
#include "query/commands/objects/objects.h"
#include "query/commands/peaks/peaks.h"
#include "query/commands/processes/processes.h"
#include "query/commands/shm/shm.h"
#include "query/commands/status/status.h"
#include "query/commands/summary/summary.h"
#include "query/commands/tmpfs/tmpfs.h"
#include "query/commands/top/top.h"
#include "query/commands/tree/tree.h"
#include "query/commands/trend/trend.h"

namespace memoir::query {

const std::vector<Command>& commands() {
  static const std::vector<Command> all{
      status_command(),  incident_command(), top_command(),        memory_command(),     trend_command(),
      peaks_command(),   leaks_command(),    diff_command(),       summary_command(),    processes_command(),
      tree_command(),    mappings_command(), objects_command(),    tmpfs_command(),      shm_command(),
      cgroups_command(), exits_command(),    categories_command(), events_command(),     export_command(),
      extract_command(), backup_command(),   doctor_command(),     completion_command(),
  };
  return all;
}

const Command* find_command(std::string_view name) {
  const auto found = std::find_if(commands().begin(), commands().end(),
                                  [name](const Command& command) { return command.name == name; });
  return found == commands().end() ? nullptr : &*found;
}

}  // namespace memoir::query
