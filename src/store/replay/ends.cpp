#include "store/replay/ends.h"

#include <fmt/format.h>

namespace memoir {

namespace {

constexpr const char* kEnds =
    "SELECT e.process_id, e.ended_ms, e.lived_ms, e.exit_code, e.peak_kib, e.anon_kib, e.file_kib, e.shmem_kib, "
    "e.swap_kib, p.pid, p.start_ticks, p.exec_count FROM process AS p "
    "JOIN process_exit AS e ON e.process_id = p.id ";

StoredEnd read_end(const Statement& row) {
  StoredEnd of;
  of.process_id = row.integer(0);
  of.end.ended_ms = row.integer(1);
  of.end.lived_ms = row.integer(2);
  of.end.exit_code = static_cast<std::int32_t>(row.integer(3));
  of.end.peak_kib = row.maybe(4);
  if (row.maybe(5)) of.end.held = {row.integer(5), row.integer(6), row.integer(7), row.integer(8)};
  of.end.process = {static_cast<std::int32_t>(row.integer(9)), static_cast<std::uint64_t>(row.integer(10)),
                    static_cast<std::uint32_t>(row.integer(11))};
  return of;
}

}  // namespace

std::vector<StoredEnd> load_ends(SQLite::Database& database, Range range) {
  // A tick tells of ends since the one before.
  Statement rows(database, fmt::format("{} WHERE e.tick_id >= COALESCE((SELECT MIN(t.id) FROM tick AS t "
                                       "WHERE t.wall_ms >= ?1), 0) AND e.ended_ms BETWEEN ?1 AND ?2 "
                                       "ORDER BY e.ended_ms, e.process_id",
                                       kEnds));
  rows.bind(range.from_ms, range.to_ms);
  std::vector<StoredEnd> ends;
  while (rows.step()) ends.push_back(read_end(rows));
  return ends;
}

std::optional<ProcessEnd> load_end_of(SQLite::Database& database, std::int64_t process_id) {
  Statement row(database, fmt::format("{} AND e.tick_id = p.gone_tick_id WHERE p.id = ?", kEnds));
  row.bind(process_id);
  return row.step() ? std::optional(read_end(row).end) : std::nullopt;
}

std::vector<EndSum> load_end_sums(SQLite::Database& database, Range range) {
  Statement rows(database,
                 "SELECT e.comm, e.user, g.path, e.count, e.first_ms, e.last_ms, e.lived_ms, e.peak_kib, e.peak_ms "
                 "FROM exit_sum AS e LEFT JOIN cgroup AS g ON g.id = e.cgroup_id "
                 "WHERE e.first_ms <= ?2 AND e.last_ms >= ?1 ORDER BY e.tick_id, e.comm, e.user, e.cgroup_id");
  rows.bind(range.from_ms, range.to_ms);
  std::vector<EndSum> sums;
  while (rows.step()) {
    sums.push_back({rows.text(0), rows.text(1), rows.text(2), rows.integer(3), rows.integer(4), rows.integer(5),
                    rows.integer(6), rows.integer(7), rows.integer(8)});
  }
  return sums;
}

EndTotals load_end_totals(SQLite::Database& database, Range range) {
  Statement row(database,
                "SELECT COUNT(*), COUNT(ends), COALESCE(SUM(ends), 0), COALESCE(SUM(lost_events), 0) FROM tick "
                "WHERE wall_ms BETWEEN ? AND ?");
  row.bind(range.from_ms, range.to_ms);
  if (!row.step()) return {};
  return {row.integer(0), row.integer(1), row.integer(2), row.integer(3)};
}

}  // namespace memoir
