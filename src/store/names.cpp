#include "store/names.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "store/marks/table.h"
#include "store/replay/process_reader.h"
#include "store/replay/samples.h"
#include "store/schema/sql.h"
#include "store/sqlite/statement.h"

namespace memoir {
namespace {

using LastSeen = std::unordered_map<std::int64_t, std::int64_t>;

// An identity's own last_ms is that of the last rollup; whoever has a living process lives. One look through all
// processes, without the sort that a GROUP BY would take.
LastSeen last_seen(SQLite::Database& database) {
  LastSeen seen_ms;
  const std::int64_t now_ms = one(database, "SELECT wall_ms FROM tick ORDER BY id DESC LIMIT 1").value_or(0);
  Statement rows(database, "SELECT identity_id, last_ms FROM process ORDER BY id");
  while (rows.step()) {
    std::int64_t& last_ms = seen_ms[rows.integer(0)];
    last_ms = std::max(last_ms, rows.maybe(1).value_or(now_ms));
  }
  return seen_ms;
}

std::vector<StoredIdentity> read_identities(SQLite::Database& database, std::optional<Range> range) {
  const auto seen_ms = range ? last_seen(database) : LastSeen();
  std::vector<StoredIdentity> identities;
  Statement rows(database, "SELECT id, unit, exe, command, first_ms, last_ms FROM identity ORDER BY id");
  while (rows.step()) {
    StoredIdentity identity{rows.integer(0), rows.text(1),    rows.text(2),
                            rows.text(3),    rows.integer(4), rows.integer(5)};
    const auto seen = seen_ms.find(identity.id);
    if (seen != seen_ms.end()) identity.last_ms = std::max(identity.last_ms, seen->second);
    if (!range || (identity.first_ms <= range->to_ms && identity.last_ms >= range->from_ms))
      identities.push_back(std::move(identity));
  }
  return identities;
}

// Rows of the processes of a range; `columns` is a SELECT of `process` AS p.
template <typename Visit>
void visit_lived(SQLite::Database& database, const std::string& columns, Range range, const Visit& visit) {
  const TickSpan span = span_of(database, range);
  const bool in_ticks = one(database, "SELECT wall_ms <= ? FROM tick ORDER BY id LIMIT 1", range.from_ms) == 1;
  Statement row(database, columns + (in_ticks ? sql::lived_in_ticks : sql::lived_between));
  row.bind(span.first, span.last);
  if (!in_ticks) {
    row.add(range.from_ms);
    row.add(range.to_ms);
  }
  while (row.step()) visit(row);
}

void visit_lived_processes(SQLite::Database& database, Range range, const VisitProcess& visit) {
  ProcessReader reader(database);
  visit_lived(database, ProcessReader::sql(""), range, [&](const Statement& row) { visit(reader.read(row)); });
}

std::vector<StoredLife> read_lives(SQLite::Database& database, Range range) {
  std::vector<StoredLife> lives;
  visit_lived(database, sql::lives, range, [&lives](const Statement& row) {
    lives.push_back(
        {row.integer(0), row.integer(1), static_cast<std::int32_t>(row.integer(2)), row.integer(3), row.maybe(4)});
  });
  return lives;
}

std::vector<StoredProcess> read_processes_by(SQLite::Database& database, const char* where,
                                             const std::vector<std::int64_t>& ids) {
  ProcessReader reader(database);
  std::vector<StoredProcess> processes;
  processes.reserve(ids.size());
  Statement row(database, ProcessReader::sql(where));
  for (const std::int64_t id : ids) {
    if (row.bind(id).step()) processes.push_back(reader.read(row));
  }
  return processes;
}

std::vector<StoredProcess> read_processes_of_pid(SQLite::Database& database, Range range, std::int32_t pid) {
  ProcessReader reader(database);
  const auto read = [&reader](const Statement& row) { return reader.read(row); };
  return every(database, ProcessReader::sql(sql::processes_of_pid), read, pid, range.from_ms, range.to_ms);
}

std::vector<CgroupContainer> read_containers(SQLite::Database& database) {
  const auto read = [](const Statement& row) {
    return CgroupContainer{row.text(0), {row.text(1), row.text(2), row.text(3), row.text(4), row.text(5), row.text(6)}};
  };
  return every(database,
               "SELECT g.path, c.runtime, c.key, c.name, c.image, c.pod_uid, c.pod FROM cgroup AS g "
               "JOIN container AS c ON c.id = g.container_id ORDER BY g.path",
               read);
}

}  // namespace

Status visit_processes(Reader& reader, Range range, const VisitProcess& visit) {
  return reader.visit([&](SQLite::Database& database) { visit_lived_processes(database, range, visit); });
}

Result<std::vector<StoredProcess>> load_processes(Reader& reader, Range range) {
  std::vector<StoredProcess> all;
  TRY(visit_processes(reader, range, [&all](const StoredProcess& process) { all.push_back(process); }));
  return all;
}

Result<std::vector<StoredLife>> load_lives(Reader& reader, Range range) {
  return reader.read([&](SQLite::Database& database) { return read_lives(database, range); });
}

Result<std::vector<StoredProcess>> load_processes_by_id(Reader& reader, const std::vector<std::int64_t>& ids) {
  return reader.read([&](SQLite::Database& database) { return read_processes_by(database, "WHERE p.id = ?", ids); });
}

Result<std::vector<StoredProcess>> load_processes_of_pid(Reader& reader, Range range, std::int32_t pid) {
  return reader.read([&](SQLite::Database& database) { return read_processes_of_pid(database, range, pid); });
}

Result<std::vector<StoredProcess>> load_newest_of(Reader& reader, const std::vector<std::int64_t>& identity_ids) {
  constexpr const char* newest = "WHERE p.id = (SELECT MAX(q.id) FROM process AS q WHERE q.identity_id = ?)";
  return reader.read([&](SQLite::Database& database) { return read_processes_by(database, newest, identity_ids); });
}

Result<std::map<std::int64_t, std::string>> load_group_names(Reader& reader, SubjectKind kind) {
  return reader.read([kind](SQLite::Database& database) { return load_group_names(database, kind); });
}

Result<std::vector<StoredIdentity>> load_identities(Reader& reader, std::optional<Range> range) {
  return reader.read([&](SQLite::Database& database) { return read_identities(database, range); });
}

Result<std::vector<CgroupContainer>> load_containers(Reader& reader) {
  return reader.read(read_containers);
}

}  // namespace memoir
