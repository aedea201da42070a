#include "query/commands.h"

#include <algorithm>

namespace memoir::query {

// Each function is defined in query/commands/NAME/NAME.cpp.
Command backup_command();
Command categories_command();
Command cgroups_command();
Command completion_command();
Command diff_command();
Command doctor_command();
Command events_command();
Command exits_command();
Command export_command();
Command extract_command();
Command incident_command();
Command incidents_command();
Command leaks_command();
Command mappings_command();
Command memory_command();
Command objects_command();
Command peaks_command();
Command process_command();
Command processes_command();
Command shm_command();
Command status_command();
Command summary_command();
Command tmpfs_command();
Command top_command();
Command tree_command();
Command trend_command();
Command view_command();

const std::vector<Command>& commands() {
  static const std::vector<Command> all{
      status_command(),     incident_command(), incidents_command(), top_command(),      memory_command(),
      trend_command(),      peaks_command(),    leaks_command(),     diff_command(),     summary_command(),
      processes_command(),  process_command(),  tree_command(),      mappings_command(), objects_command(),
      tmpfs_command(),      shm_command(),      cgroups_command(),   exits_command(),    categories_command(),
      events_command(),     export_command(),   extract_command(),   backup_command(),   doctor_command(),
      completion_command(), view_command(),
  };
  return all;
}

const Command* find_command(std::string_view name) {
  const auto found = std::ranges::find(commands(), name, &Command::name);
  return found == commands().end() ? nullptr : &*found;
}

}  // namespace memoir::query
