#include "query/commands.h"

#include <algorithm>

#include "query/backup.h"
#include "query/categories.h"
#include "query/completion.h"
#include "query/diff.h"
#include "query/doctor.h"
#include "query/events.h"
#include "query/export.h"
#include "query/extract.h"
#include "query/leaks.h"
#include "query/peaks.h"
#include "query/processes.h"
#include "query/status.h"
#include "query/summary.h"
#include "query/top.h"
#include "query/trend.h"

namespace memoir::query {

const std::vector<Command>& commands() {
  static const std::vector<Command> all{
      status_command(), top_command(),     trend_command(),     peaks_command(),      leaks_command(),
      diff_command(),   summary_command(), processes_command(), categories_command(), events_command(),
      export_command(), extract_command(), backup_command(),    doctor_command(),     completion_command(),
  };
  return all;
}

const Command* find_command(std::string_view name) {
  const auto found = std::find_if(commands().begin(), commands().end(),
                                  [name](const Command& command) { return command.name == name; });
  return found == commands().end() ? nullptr : &*found;
}

}  // namespace memoir::query
