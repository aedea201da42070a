#include "query/history/restarts.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string>
#include <unordered_set>

#include "analysis/restarts.h"
#include "base/transformed.h"
#include "query/report/format.h"
#include "query/state/process_columns.h"
#include "store/names.h"

namespace memoir::query {
namespace {

// Loads all processes of programs that may have restarted: one of their processes ran long enough and exited.
Result<std::vector<StoredProcess>> load_candidates(Reader& reader, Range range) {
  const std::vector<StoredLife> lives = TRY(load_lives(reader, range));
  std::unordered_set<std::int64_t> ended;
  for (const StoredLife& life : lives) {
    if (life.exited_ms && *life.exited_ms - life.start_ms >= RestartRule().min_life_ms) ended.insert(life.identity_id);
  }
  // The same program has one identity row for each of its executables.
  std::map<std::string, std::vector<std::int64_t>> rows;
  TRY(visit_identities(reader, std::nullopt, [&rows](StoredIdentity&& identity) {
    rows[identity_name(identity.unit, identity.command)].push_back(identity.id);
  }));
  std::unordered_set<std::int64_t> wanted;
  for (const auto& [name, ids] : rows) {
    if (std::ranges::any_of(ids, [&ended](std::int64_t id) { return ended.contains(id); }))
      wanted.insert(ids.begin(), ids.end());
  }
  std::vector<std::int64_t> processes;
  for (const StoredLife& life : lives) {
    if (wanted.contains(life.identity_id)) processes.push_back(life.process_id);
  }
  return load_processes_by_id(reader, processes);
}

}  // namespace

Result<std::vector<Event>> load_restart_events(Reader& reader, Range range) {
  const std::vector<StoredProcess> processes =
      TRY(load_candidates(reader, {range.from_ms - RestartRule().longest_pause_ms, range.to_ms}));
  const std::vector<std::string> names =
      transformed(processes, [](const StoredProcess& process) { return group_key(process, "identity"); });
  std::vector<Life> lives;
  lives.reserve(processes.size());
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const StoredProcess& process = processes[i];
    // An exec adds a row of the same process; it is no exit.
    lives.push_back({names[i], process.info.start_ms, process.last_ms,
                     process.exit_kind == "execed" ? std::nullopt : process.exited_ms});
  }
  std::vector<Event> events;
  for (const Restart& restart : find_restarts(lives)) {
    const StoredProcess& started = processes[restart.begun];
    const std::int64_t at_ms = started.info.start_ms;
    if (at_ms < range.from_ms || at_ms > range.to_ms) continue;
    const std::int64_t ran_ms = *lives[restart.ended].exited_ms - lives[restart.ended].begin_ms;
    events.push_back({{at_ms, 0},
                      "restart",
                      fmt::format("{} restarted (pid {}), after {}", identity_title(started.info), started.info.key.pid,
                                  format_span(ran_ms))});
  }
  std::ranges::stable_sort(events, {}, [](const Event& event) { return event.at.wall_ms; });
  return events;
}

}  // namespace memoir::query
