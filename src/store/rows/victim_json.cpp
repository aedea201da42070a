#include "store/rows/victim_json.h"

#include <algorithm>
#include <array>

namespace memoir {
namespace {

constexpr std::array<std::string_view, 3> kScopes{"machine", "cgroup", "nodes"};

// An unknown value from another version counts as the machine.
OomScope scope_of(std::string_view word) {
  const auto found = std::ranges::find(kScopes, word);
  return static_cast<OomScope>(found == kScopes.end() ? 0 : found - kScopes.begin());
}

std::string others_json(SQLite::Database& database, const std::vector<OomTask>& others) {
  Statement add(database,
                "SELECT json_insert(?, '$[#]', json_object('pid', ?, 'comm', ?, 'rss_kib', ?, 'swap_kib', ?))");
  std::string json = "[]";
  for (const OomTask& task : others) {
    json = add.one_text(json, task.pid, task.comm, task.rss_kib, task.swap_kib);
  }
  return json;
}

std::string detail_json(SQLite::Database& database, const OomDetail& detail) {
  Statement object(database,
                   "SELECT json_object('scope', ?, 'limit_cgroup', ?, 'invoked_by', ?, 'usage_kib', ?, 'limit_kib', ?, "
                   "'anon_kib', ?, 'file_kib', ?, 'shmem_kib', ?, 'others', json(?))");
  const std::string others = others_json(database, detail.others);
  return object.one_text(kScopes.at(static_cast<std::size_t>(detail.scope)), detail.limit_cgroup, detail.invoked_by,
                         detail.usage_kib, detail.limit_kib, detail.anon_kib, detail.file_kib, detail.shmem_kib,
                         others);
}

std::string killer_json(SQLite::Database& database, const OomVictim& victim) {
  Statement object(database,
                   "SELECT json_object('killer', ?, 'killer_pid', ?, 'signal', ?, 'anon_kib', ?, 'file_kib', ?, "
                   "'shmem_kib', ?, 'swap_kib', ?)");
  const auto kib = [&victim](std::int64_t MemoryAtExit::*of) {
    return victim.held ? std::optional((*victim.held).*of) : std::nullopt;
  };
  return object.one_text(victim.killer->comm, victim.killer->pid, victim.killer->signal, kib(&MemoryAtExit::anon_kib),
                         kib(&MemoryAtExit::file_kib), kib(&MemoryAtExit::shmem_kib), kib(&MemoryAtExit::swap_kib));
}

constexpr const char* kVictims =
    "SELECT wall_ms, detail->>'pid', detail->>'comm', detail->>'cgroup', detail->>'held_kib', detail->>'peak_kib', "
    "detail->>'scope', detail->>'limit_cgroup', detail->>'invoked_by', detail->>'usage_kib', detail->>'limit_kib', "
    "detail->>'anon_kib', detail->>'file_kib', detail->>'shmem_kib', detail, detail->>'killer', "
    "detail->>'killer_pid', detail->>'signal', detail->>'swap_kib' FROM event "
    "WHERE kind = 'oom-victim' AND wall_ms BETWEEN ? AND ? AND json_valid(detail) ORDER BY wall_ms, id";

void read_killer(const Statement& row, OomVictim& victim) {
  const std::string comm = row.name(15);
  if (comm.empty()) return;
  victim.killer = {comm, static_cast<std::int32_t>(row.integer(16)), static_cast<std::int32_t>(row.integer(17))};
  if (!row.maybe(11)) return;
  victim.held = {row.integer(11), row.maybe(12).value_or(0), row.maybe(13).value_or(0), row.maybe(18).value_or(0)};
}

OomVictim read_victim(const Statement& row, Statement& others) {
  OomVictim victim{.pid = static_cast<std::int32_t>(row.integer(1)),
                   .comm = row.name(2),
                   .cgroup = row.name(3),
                   .at_ms = row.integer(0),
                   .held_kib = row.maybe(4),
                   .peak_kib = row.maybe(5)};
  read_killer(row, victim);
  const std::string scope = row.text(6);
  if (scope.empty()) return victim;
  OomDetail& detail = victim.detail.emplace(OomDetail{.scope = scope_of(scope),
                                                      .limit_cgroup = row.name(7),
                                                      .invoked_by = row.name(8),
                                                      .usage_kib = row.maybe(9),
                                                      .limit_kib = row.maybe(10),
                                                      .anon_kib = row.maybe(11),
                                                      .file_kib = row.maybe(12),
                                                      .shmem_kib = row.maybe(13)});
  const std::string json = row.text(14);
  others.bind(json);
  while (others.step()) {
    detail.others.push_back(
        {static_cast<std::int32_t>(others.integer(0)), others.name(1), others.integer(2), others.integer(3)});
  }
  return victim;
}

}  // namespace

std::string victim_json(SQLite::Database& database, const OomVictim& victim) {
  Statement object(database,
                   "SELECT json_patch(json_object('pid', ?, 'comm', ?, 'cgroup', ?, 'held_kib', ?, 'peak_kib', ?), ?)");
  const std::string detail = victim.killer   ? killer_json(database, victim)
                             : victim.detail ? detail_json(database, *victim.detail)
                                             : "{}";
  return object.one_text(victim.pid, victim.comm, victim.cgroup, victim.held_kib, victim.peak_kib, detail);
}

std::vector<OomVictim> read_oom_victims(SQLite::Database& database, Range range) {
  Statement others(database,
                   "SELECT value->>'pid', value->>'comm', value->>'rss_kib', value->>'swap_kib' "
                   "FROM json_each(?, '$.others') WHERE type = 'object' LIMIT 10");
  const auto read = [&others](const Statement& row) { return read_victim(row, others); };
  return every(database, kVictims, read, range.from_ms, range.to_ms);
}

}  // namespace memoir
