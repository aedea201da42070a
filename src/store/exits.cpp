#include "store/exits.h"

#include <fmt/format.h>

#include "store/rows/columns.h"
#include "store/sqlite/statement.h"

namespace memoir {

namespace {

constexpr const char* kExits =
    "SELECT e.process_id, e.exited_ms, e.lived_ms, e.exit_code, e.peak_kib, e.anon_kib, e.file_kib, e.shmem_kib, "
    "e.swap_kib, p.pid, p.start_ticks, p.exec_count FROM process AS p "
    "JOIN process_exit AS e ON e.process_id = p.id ";

// The ticks that may contain exits between ?1 and ?2. A tick has the exits since the previous tick; the sums of five
// minutes belong to the first tick in them. The wall clock may have been set, so both bounds are generous. ORDER BY
// finds the lower bound by the index, whereas MAX(id) would scan all ticks if none is that old.
constexpr const char* kExitTicks =
    "e.tick_id BETWEEN COALESCE((SELECT t.id FROM tick AS t WHERE t.wall_ms < ?1 - 300000 "
    "ORDER BY t.wall_ms DESC, t.id DESC LIMIT 1), 0) "
    "AND (SELECT COALESCE(MAX(t.id), 0) + 1 FROM tick AS t WHERE t.wall_ms <= ?2)";

StoredExit read_exit(const Statement& row) {
  StoredExit of;
  of.process_id = row.integer(0);
  of.record.exited_ms = row.integer(1);
  of.record.lived_ms = row.integer(2);
  of.record.exit_code = static_cast<std::int32_t>(row.integer(3));
  of.record.peak_kib = row.maybe(4);
  if (row.maybe(5)) of.record.held = {row.integer(5), row.integer(6), row.integer(7), row.integer(8)};
  of.record.process = read_key(row, 9);
  return of;
}

}  // namespace

Result<std::vector<StoredExit>> load_exits(Reader& reader, Range range) {
  return reader.read([range](SQLite::Database& database) {
    return every(database,
                 fmt::format("{} WHERE {} AND e.exited_ms BETWEEN ?1 AND ?2 ORDER BY e.exited_ms, e.process_id", kExits,
                             kExitTicks),
                 read_exit, range.from_ms, range.to_ms);
  });
}

Result<std::optional<ExitRecord>> load_exit_of(Reader& reader, std::int64_t process_id) {
  return reader.read([process_id](SQLite::Database& database) {
    // A zombie is observed for some ticks after its exit.
    Statement row(database, fmt::format("{} AND e.tick_id BETWEEN p.first_tick_id AND p.exited_tick_id WHERE p.id = ? "
                                        "ORDER BY e.tick_id DESC LIMIT 1",
                                        kExits));
    row.bind(process_id);
    return row.step() ? std::optional(read_exit(row).record) : std::nullopt;
  });
}

Result<std::vector<ExitSum>> load_exit_sums(Reader& reader, Range range) {
  const auto read = [](const Statement& row) {
    return ExitSum{row.name(0),    row.name(1),    row.name(2),    row.integer(3), row.integer(4),
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

Result<ExitSum> load_sum_of_exits(Reader& reader, Range range) {
  return reader.read([range](SQLite::Database& database) {
    // SQLite takes the bare column peak_ms from the row with MAX(e.peak_kib).
    Statement row(
        database,
        fmt::format("SELECT COALESCE(SUM(e.count), 0), COALESCE(SUM(e.lived_ms), 0), MAX(e.peak_kib), e.peak_ms "
                    "FROM exit_sum AS e WHERE {} AND e.first_ms <= ?2 AND e.last_ms >= ?1",
                    kExitTicks));
    row.bind(range.from_ms, range.to_ms);
    ExitSum sum;
    if (!row.step() || row.integer(0) == 0) return sum;
    sum.count = row.integer(0);
    sum.lived_ms = row.integer(1);
    sum.peak_kib = row.integer(2);
    sum.peak_ms = row.integer(3);
    return sum;
  });
}

Result<ExitTotals> load_exit_totals(Reader& reader, Range range) {
  return reader.read([range](SQLite::Database& database) {
    Statement row(database,
                  "SELECT COUNT(*), COUNT(exits), COALESCE(SUM(exits), 0), COALESCE(SUM(lost_events), 0) FROM tick "
                  "WHERE wall_ms BETWEEN ? AND ?");
    row.bind(range.from_ms, range.to_ms);
    if (!row.step()) return ExitTotals();
    return ExitTotals{row.integer(0), row.integer(1), row.integer(2), row.integer(3)};
  });
}

}  // namespace memoir
