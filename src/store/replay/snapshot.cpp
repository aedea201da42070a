#include "store/replay/snapshot.h"

#include <fmt/format.h>

#include "store/replay/process_states.h"
#include "store/replay/tick_cursor.h"
#include "store/rows/columns.h"
#include "store/rows/tick_rows.h"
#include "store/schema/sql.h"

namespace memoir {
namespace {

struct Bounds {
  std::int64_t keyframe_id = 0;
  std::int64_t tick_id = 0;
};

template <std::size_t N>
void load_machine_part(SQLite::Database& database, const char* table, const Bounds& bounds,
                       const std::array<MachineField, N>& fields, MachineMemory& memory) {
  Statement row(database, fmt::format("SELECT {} FROM {} WHERE tick_id BETWEEN ? AND ? ORDER BY tick_id DESC LIMIT 1",
                                      column_list(fields), table));
  if (row.bind(bounds.keyframe_id, bounds.tick_id).step()) read_fields<MachineField>(row, 0, memory, fields);
}

void load_machine(SQLite::Database& database, const Bounds& bounds, MachineSample& machine) {
  load_machine_part(database, "machine_sample", bounds, kHotMachineFields, machine.memory);
  load_machine_part(database, "machine_detail", bounds, kColdMachineFields, machine.memory);
  machine.other = load_meminfo_other(database, bounds.keyframe_id, bounds.tick_id);
}

}  // namespace

std::optional<Snapshot> load_snapshot(SQLite::Database& database, std::int64_t tick_id) {
  Statement tick(database, fmt::format("SELECT {}, keyframe_id FROM tick WHERE id = ?", tick_columns()));
  if (!tick.bind(tick_id).step()) return std::nullopt;
  Snapshot snapshot;
  snapshot.tick = read_tick(tick);
  const Bounds bounds{tick.integer(4), tick_id};
  snapshot.run = load_run(database, snapshot.tick.run_id);
  load_machine(database, bounds, snapshot.machine);
  snapshot.categories = every(database, sql::snapshot_categories, read_category, bounds.keyframe_id, tick_id);
  snapshot.cgroups = every(database, sql::snapshot_cgroups, read_cgroup, bounds.keyframe_id, tick_id);
  snapshot.processes = ProcessStates(database).all(snapshot.tick, bounds.keyframe_id);
  return snapshot;
}

std::optional<ProcessState> load_process(SQLite::Database& database, std::int64_t tick_id, std::int64_t process_id) {
  Statement tick(database, fmt::format("SELECT {}, keyframe_id FROM tick WHERE id = ?", tick_columns()));
  if (!tick.bind(tick_id).step()) return std::nullopt;
  return ProcessStates(database).one(read_tick(tick), tick.integer(4), process_id);
}

std::map<std::int64_t, std::int64_t> load_estimated_since(SQLite::Database& database, std::int64_t tick_id) {
  Statement rows(database,
                 "SELECT s.process_id, s.source, t.wall_ms FROM process_sample AS s JOIN tick AS t ON t.id = s.tick_id "
                 "WHERE s.tick_id BETWEEN ? AND ? ORDER BY s.tick_id, s.process_id");
  rows.bind(keyframe_of(database, tick_id), tick_id);
  std::map<std::int64_t, std::int64_t> since;
  while (rows.step()) {
    if (rows.integer(1) == static_cast<std::int64_t>(Source::estimated)) {
      since.try_emplace(rows.integer(0), rows.integer(2));
    } else {
      since.erase(rows.integer(0));
    }
  }
  return since;
}

std::vector<CgroupDetail> load_cgroup_details(SQLite::Database& database, std::int64_t tick_id) {
  const auto read = [](const Statement& row) {
    return CgroupDetail{row.name(0),   row.maybe(1),  row.maybe(2), row.maybe(3), row.maybe(4),
                        row.maybe(5),  row.maybe(6),  row.maybe(7), row.maybe(8), row.maybe(9),
                        row.maybe(10), row.maybe(11), row.maybe(12)};
  };
  return every(database, sql::cgroup_details, read, keyframe_of(database, tick_id), tick_id);
}

std::vector<OtherMeminfo> load_meminfo_other(SQLite::Database& database, std::int64_t keyframe_id,
                                             std::int64_t tick_id) {
  const auto read = [](const Statement& row) { return OtherMeminfo{row.text(0), row.integer(1)}; };
  return every(database, sql::snapshot_meminfo_other, read, keyframe_id, tick_id);
}

CategorySample read_category(const Statement& row) {
  return {row.name(0),    row.integer(1), row.integer(2), row.integer(3), row.integer(4),
          row.integer(5), row.integer(6), row.integer(7), row.integer(8), row.integer(9)};
}

CgroupSample read_cgroup(const Statement& row) {
  return {row.name(0),  row.integer(1), row.maybe(2), row.maybe(3), row.maybe(4),
          row.maybe(5), row.maybe(6),   row.maybe(7), row.maybe(8), row.maybe(9)};
}

StoredRun load_run(SQLite::Database& database, std::int64_t run_id) {
  Statement row(database, fmt::format("SELECT {} FROM run_named WHERE id = ?", run_columns()));
  return row.bind(run_id).step() ? read_run(row) : StoredRun();
}

const char* run_columns() {
  return "id, boot_uuid, boot_started_ms, host, kernel, pid, version, interval_ms, started_ms, stopped_ms, "
         "stop_reason, "
         "first_tick_ms, last_tick_ms, census";
}

StoredRun read_run(const Statement& row) {
  StoredRun run;
  run.id = row.integer(0);
  run.boot = {row.text(1), row.integer(2), row.text(3), row.text(4)};
  run.pid = static_cast<std::int32_t>(row.integer(5));
  run.version = row.text(6);
  run.interval_ms = row.integer(7);
  run.started_ms = row.integer(8);
  run.stopped_ms = row.maybe(9);
  run.stop_reason = row.text(10);
  run.first_tick_ms = row.maybe(11);
  run.last_tick_ms = row.maybe(12);
  run.census = row.text(13);
  return run;
}

}  // namespace memoir
