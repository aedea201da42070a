#include "store/exits.h"

#include <fmt/format.h>

#include "store/rows/columns.h"
#include "store/sqlite/statement.h"

namespace memoir {

namespace {

constexpr const char* kExits =
    "SELECT e.process_id, e.ended_ms, e.lived_ms, e.exit_code, e.peak_kib, e.anon_kib, e.file_kib, e.shmem_kib, "
    "e.swap_kib, p.pid, p.start_ticks, p.exec_count FROM process AS p "
    "JOIN process_exit AS e ON e.process_id = p.id ";

// The ticks that may tell of ends between ?1 and ?2: a tick tells of those since the one before, and of sums the first
// of five minutes. The wall clock may have been set: only a bound too late at the begin, or too early at the end, would
// lose rows. At the begin the index finds one that is early enough; MAX(id) would go through all ticks where none is.
constexpr const char* kExitTicks =
    "e.tick_id BETWEEN COALESCE((SELECT t.id FROM tick AS t WHERE t.wall_ms < ?1 - 300000 "
    "ORDER BY t.wall_ms DESC, t.id DESC LIMIT 1), 0) "
    "AND (SELECT COALESCE(MAX(t.id), 0) + 1 FROM tick AS t WHERE t.wall_ms <= ?2)";

StoredEnd read_end(const Statement& row) {
  StoredEnd of;
  of.process_id = row.integer(0);
  of.end.ended_ms = row.integer(1);
  of.end.lived_ms = row.integer(2);
  of.end.exit_code = static_cast<std::int32_t>(row.integer(3));
  of.end.peak_kib = row.maybe(4);
  if (row.maybe(5)) of.end.held = {row.integer(5), row.integer(6), row.integer(7), row.integer(8)};
  of.end.process = read_key(row, 9);
  return of;
}

}  // namespace

Result<std::vector<StoredEnd>> load_exits(Reader& reader, Range range) {
  return reader.read([range](SQLite::Database& database) {
    return every(database,
                 fmt::format("{} WHERE {} AND e.ended_ms BETWEEN ?1 AND ?2 ORDER BY e.ended_ms, e.process_id", kExits,
                             kExitTicks),
                 read_end, range.from_ms, range.to_ms);
  });
}

Result<std::optional<ProcessEnd>> load_exit_of(Reader& reader, std::int64_t process_id) {
  return reader.read([process_id](SQLite::Database& database) {
    Statement row(database, fmt::format("{} AND e.tick_id = p.gone_tick_id WHERE p.id = ?", kExits));
    row.bind(process_id);
    return row.step() ? std::optional(read_end(row).end) : std::nullopt;
  });
}

Result<std::vector<EndSum>> load_exit_sums(Reader& reader, Range range) {
  const auto read = [](const Statement& row) {
    return EndSum{row.text(0),    row.text(1),    row.text(2),    row.integer(3), row.integer(4),
                  row.integer(5), row.integer(6), row.integer(7), row.integer(8)};
  };
  const std::string sql = fmt::format(
      "SELECT e.comm, e.user, g.path, e.count, e.first_ms, e.last_ms, e.lived_ms, e.peak_kib, e.peak_ms "
      "FROM exit_sum AS e LEFT JOIN cgroup AS g ON g.id = e.cgroup_id "
      "WHERE {} AND e.first_ms <= ?2 AND e.last_ms >= ?1 ORDER BY e.tick_id, e.comm, e.user, e.cgroup_id",
      kExitTicks);
  return reader.read(
      [&](SQLite::Database& database) { return every(database, sql, read, range.from_ms, range.to_ms); });
}

Result<EndSum> load_sum_of_exits(Reader& reader, Range range) {
  return reader.read([range](SQLite::Database& database) {
    // With a maximum alone beside sums, other columns are those of its row.
    Statement row(
        database,
        fmt::format("SELECT COALESCE(SUM(e.count), 0), COALESCE(SUM(e.lived_ms), 0), MAX(e.peak_kib), e.peak_ms "
                    "FROM exit_sum AS e WHERE {} AND e.first_ms <= ?2 AND e.last_ms >= ?1",
                    kExitTicks));
    row.bind(range.from_ms, range.to_ms);
    EndSum sum;
    if (!row.step() || row.integer(0) == 0) return sum;
    sum.count = row.integer(0);
    sum.lived_ms = row.integer(1);
    sum.peak_kib = row.integer(2);
    sum.peak_ms = row.integer(3);
    return sum;
  });
}

Result<EndTotals> load_exit_totals(Reader& reader, Range range) {
  return reader.read([range](SQLite::Database& database) {
    Statement row(database,
                  "SELECT COUNT(*), COUNT(ends), COALESCE(SUM(ends), 0), COALESCE(SUM(lost_events), 0) FROM tick "
                  "WHERE wall_ms BETWEEN ? AND ?");
    row.bind(range.from_ms, range.to_ms);
    if (!row.step()) return EndTotals();
    return EndTotals{row.integer(0), row.integer(1), row.integer(2), row.integer(3)};
  });
}

}  // namespace memoir
