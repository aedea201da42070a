#include "store/names.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <functional>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "store/marks/table.h"
#include "store/replay/process_reader.h"
#include "store/replay/samples.h"
#include "store/schema/sql.h"
#include "store/sqlite/statement.h"

namespace memoir {
namespace {

constexpr std::size_t kMaxCommandsOfIdentity = 64;

using LastSeen = std::unordered_map<std::int64_t, std::int64_t>;

constexpr std::size_t kMaxProcesses = 40'000;

// Returns when each identity was last observed, because identity.last_ms is only updated by rollups. This is one scan
// of all processes, without the sort of a GROUP BY.
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

void read_identities(SQLite::Database& database, std::optional<Range> range,
                     const std::function<void(StoredIdentity&&)>& visit) {
  const auto seen_ms = range ? last_seen(database) : LastSeen();
  Statement rows(database, "SELECT id, unit, exe, command, first_ms, last_ms FROM identity ORDER BY id");
  while (rows.step()) {
    StoredIdentity identity{rows.integer(0), rows.name(1),    rows.name(2),
                            rows.text(3),    rows.integer(4), rows.integer(5)};
    const auto seen = seen_ms.find(identity.id);
    if (seen != seen_ms.end()) identity.last_ms = std::max(identity.last_ms, seen->second);
    if (!range || (identity.first_ms <= range->to_ms && identity.last_ms >= range->from_ms)) visit(std::move(identity));
  }
}

// Returns the last process that was first observed up to a tick; 0 if there is none. Ids are in the order of
// first_tick_id.
std::int64_t last_process_at(SQLite::Database& database, std::int64_t tick_id) {
  Statement first_tick(database, "SELECT first_tick_id FROM process WHERE id >= ? ORDER BY id LIMIT 1");
  std::int64_t low = 0;
  std::int64_t high = one(database, "SELECT MAX(id) FROM process").value_or(0);
  while (low < high) {
    const std::int64_t middle = high - (high - low) / 2;
    if (first_tick.one(middle).value_or(tick_id + 1) <= tick_id) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// Visits the rows of the processes of a range; `columns` is a SELECT from `process` AS p.
template <typename Visit>
void visit_lived(SQLite::Database& database, const std::string& columns, Range range, const Visit& visit) {
  const TickSpan span = span_of(database, range);
  const bool in_ticks = one(database, "SELECT wall_ms <= ? FROM tick ORDER BY id LIMIT 1", range.from_ms) == 1;
  Statement row(database, columns + (in_ticks ? sql::lived_in_ticks : sql::lived_between));
  row.bind(span.first, span.last);
  if (in_ticks) {
    row.add(last_process_at(database, span.last));
  } else {
    row.add(range.from_ms);
    row.add(range.to_ms);
  }
  while (row.step()) visit(row);
}

void visit_lived_processes(SQLite::Database& database, Range range, const VisitProcess& visit) {
  ProcessReader reader(database);
  visit_lived(database, ProcessReader::sql(""), range, [&](const Statement& row) { visit(reader.read(row)); });
}

std::vector<StoredLife> read_lives(SQLite::Database& database, Range range,
                                   std::optional<std::int64_t> identity_id = {}) {
  std::vector<StoredLife> lives;
  visit_lived(database, sql::lives, range, [&](const Statement& row) {
    if (identity_id && row.integer(1) != *identity_id) return;
    lives.push_back({row.integer(0), row.integer(1), static_cast<std::int32_t>(row.integer(2)), row.integer(3),
                     row.integer(4), row.maybe(5)});
  });
  return lives;
}

// The longest-lived processes of a range with more processes than fit into memory.
class LongestLives {
 public:
  // Precondition: more than `most` processes ran in the range.
  LongestLives(SQLite::Database& database, Range range, std::size_t most) {
    std::vector<StoredLife> lives = read_lives(database, range);
    const auto lifetime_ms = [](const StoredLife& life) {
      return life.exited_ms.value_or(std::numeric_limits<std::int64_t>::max()) - life.start_ms;
    };
    const auto end = lives.begin() + static_cast<std::ptrdiff_t>(most);
    std::ranges::nth_element(lives, end, std::greater(), lifetime_ms);
    left_out_ = static_cast<std::int64_t>(lives.size() - most);
    for (auto life = lives.begin(); life != end; ++life) ids_.insert(life->process_id);
  }

  bool contains(std::int64_t id) const { return ids_.contains(id); }
  std::int64_t left_out() const { return left_out_; }

 private:
  std::unordered_set<std::int64_t> ids_;
  std::int64_t left_out_ = 0;
};

void visit_processes_by(SQLite::Database& database, const char* where, const std::vector<std::int64_t>& ids,
                        const VisitProcess& visit) {
  ProcessReader reader(database);
  Statement row(database, ProcessReader::sql(where));
  for (const std::int64_t id : ids) {
    if (row.bind(id).step()) visit(reader.read(row));
  }
}

std::vector<StoredProcess> read_processes_by(SQLite::Database& database, const char* where,
                                             const std::vector<std::int64_t>& ids) {
  std::vector<StoredProcess> processes;
  processes.reserve(ids.size());
  visit_processes_by(database, where, ids,
                     [&processes](const StoredProcess& process) { processes.push_back(process); });
  return processes;
}

std::vector<StoredProcess> read_processes_of_pid(SQLite::Database& database, Range range, std::int32_t pid) {
  ProcessReader reader(database);
  const auto read = [&reader](const Statement& row) { return reader.read(row); };
  return every(database, ProcessReader::sql(sql::processes_of_pid), read, pid, range.from_ms, range.to_ms);
}

std::vector<CgroupContainer> read_containers(SQLite::Database& database) {
  const auto read = [](const Statement& row) {
    return CgroupContainer{row.name(0), {row.name(1), row.name(2), row.name(3), row.name(4), row.name(5), row.name(6)}};
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

Result<std::vector<StoredProcess>> load_processes(Reader& reader, Range range, std::int64_t* left_out) {
  std::vector<StoredProcess> all;
  TRY(reader.visit([&](SQLite::Database& database) {
    std::optional<LongestLives> chosen;  // set only beyond the limit, because it reads all lifetimes once more
    visit_lived_processes(database, range, [&](const StoredProcess& process) {
      if (chosen && !chosen->contains(process.id)) return;
      all.push_back(process);
      if (chosen || all.size() <= kMaxProcesses) return;
      chosen.emplace(database, range, kMaxProcesses);
      std::erase_if(all, [&chosen](const StoredProcess& read) { return !chosen->contains(read.id); });
    });
    if (left_out != nullptr) *left_out = chosen ? chosen->left_out() : 0;
  }));
  return all;
}

Result<std::vector<StoredLife>> load_lives(Reader& reader, Range range, std::optional<std::int64_t> identity_id) {
  return reader.read([&](SQLite::Database& database) { return read_lives(database, range, identity_id); });
}

Status visit_processes_by_id(Reader& reader, const std::vector<std::int64_t>& ids, const VisitProcess& visit) {
  return reader.visit([&](SQLite::Database& database) { visit_processes_by(database, "WHERE p.id = ?", ids, visit); });
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

Result<std::map<std::int64_t, std::vector<std::string>>> load_commands_of(
    Reader& reader, const std::vector<std::int64_t>& identity_ids) {
  // No index has the identity, so one scan of the processes serves all requested identities.
  constexpr const char* lines =
      "SELECT identity_id, line FROM ("
      "SELECT DISTINCT identity_id, command_id FROM process WHERE identity_id IN (SELECT value FROM json_each(?)))"
      "JOIN command ON id = command_id ORDER BY command_id";
  return reader.read([&](SQLite::Database& database) {
    std::map<std::int64_t, std::vector<std::string>> commands;
    const std::string ids = fmt::format("[{}]", fmt::join(identity_ids, ","));
    Statement rows(database, lines);
    rows.bind(ids);
    while (rows.step()) {
      std::vector<std::string>& of = commands[rows.integer(0)];
      if (of.size() < kMaxCommandsOfIdentity) of.push_back(rows.text(1));
    }
    return commands;
  });
}

Result<std::map<std::int64_t, std::string>> load_group_names(Reader& reader, SubjectKind kind) {
  return reader.read([kind](SQLite::Database& database) { return load_group_names(database, kind); });
}

Status visit_identities(Reader& reader, std::optional<Range> range,
                        const std::function<void(StoredIdentity&&)>& visit) {
  return reader.visit([&](SQLite::Database& database) { read_identities(database, range, visit); });
}

Result<std::vector<StoredIdentity>> load_identities(Reader& reader, std::optional<Range> range) {
  std::vector<StoredIdentity> all;
  TRY(visit_identities(reader, range, [&all](StoredIdentity&& identity) { all.push_back(std::move(identity)); }));
  return all;
}

Result<std::vector<CgroupContainer>> load_containers(Reader& reader) {
  return reader.read(read_containers);
}

}  // namespace memoir
