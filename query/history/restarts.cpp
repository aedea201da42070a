#include "query/history/restarts.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string>

#include "analysis/restarts.h"
#include "base/transformed.h"
#include "query/report/format.h"
#include "query/state/process_columns.h"
#include "store/names.h"

namespace memoir::query {
namespace {

// Loads all processes of programs that may have restarted.
Result<std::vector<StoredProcess>> load_candidates(Reader& reader, Range range) {
  const std::vector<StoredLife> lives = TRY(load_lives(reader, range));
  RestartCandidates candidates;
  for (const StoredLife& life : lives) candidates.add(life);
  const auto names = TRY(candidates.load(reader));
  std::vector<std::int64_t> processes;
  for (const StoredLife& life : lives) {
    if (names.contains(life.identity_id)) processes.push_back(life.process_id);
  }
  return load_processes_by_id(reader, processes);
}

}  // namespace

void RestartCandidates::add(const StoredLife& life) {
  identities_.insert(life.identity_id);
  if (life.exited_ms && *life.exited_ms - life.start_ms >= RestartRule().min_life_ms)
    long_lived_.insert(life.identity_id);
}

Result<std::unordered_map<std::int64_t, std::string>> RestartCandidates::load(Reader& reader) const {
  std::map<std::string, std::vector<std::int64_t>> programs;
  TRY(visit_identities(reader, std::nullopt, [&](StoredIdentity&& identity) {
    if (identities_.contains(identity.id))
      programs[identity_name(identity.unit, identity.command)].push_back(identity.id);
  }));
  std::unordered_map<std::int64_t, std::string> names;
  for (const auto& [name, ids] : programs) {
    if (std::ranges::none_of(ids, [this](std::int64_t id) { return long_lived_.contains(id); })) continue;
    for (const std::int64_t id : ids) names.emplace(id, name);
  }
  return names;
}

Result<std::vector<Event>> load_restart_events(Reader& reader, Range range) {
  const std::vector<StoredProcess> processes =
      TRY(load_candidates(reader, {range.from_ms - RestartRule().longest_pause_ms, range.to_ms}));
  const std::vector<std::string> names =
      transformed(processes, [](const StoredProcess& process) { return group_key(process, "identity"); });
  std::vector<Life> lives;
  lives.reserve(processes.size());
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const StoredProcess& process = processes[i];
    // An exec is not an exit: it adds a row of the same process.
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
