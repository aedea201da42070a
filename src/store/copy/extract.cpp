#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <array>
#include <fmt/format.h>
#include <sqlite3.h>

#include "store/copy/parts.h"
#include "store/replay/samples.h"
#include "store/replay/tick_cursor.h"
#include "store/rollup/mark_rows.h"
#include "store/rollup/rollup.h"
#include "store/sqlite/database.h"
#include "store/sqlite/statement.h"

namespace memoir {
namespace {

// The rows of a table that an extract takes. Facts come first, then the names that those already copied refer to.
// {from} {to}: the range; {first} {last}: its ticks, from a keyframe on (1 and 0 where the raw rows are gone); {tiers}:
// whether rollups are taken, which is where the range begins before the raw rows do.
struct Part {
  const char* table;
  const char* rows;
};

constexpr std::array kParts{
    Part{"tick", "id BETWEEN {first} AND {last}"},
    Part{"process_sample", "tick_id BETWEEN {first} AND {last}"},
    Part{"process_detail", "tick_id BETWEEN {first} AND {last}"},
    Part{"machine_sample", "tick_id BETWEEN {first} AND {last}"},
    Part{"machine_detail", "tick_id BETWEEN {first} AND {last}"},
    Part{"meminfo_other", "tick_id BETWEEN {first} AND {last}"},
    Part{"category_sample", "tick_id BETWEEN {first} AND {last}"},
    Part{"cgroup_sample", "tick_id BETWEEN {first} AND {last}"},
    Part{"stretch", "{tiers} AND from_ms <= {to} AND to_ms >= {from}"},
    Part{"rollup_5min",
         "{tiers} AND hour BETWEEN {from} / 3600000 AND {to} / 3600000 AND hour * 3600000 + slot * 300000 <= {to} "
         "AND hour * 3600000 + (slot + buckets) * 300000 > {from}"},
    Part{"rollup_hour",
         "{tiers} AND day BETWEEN {from} / 86400000 AND {to} / 86400000 AND day * 86400000 + slot * 3600000 <= {to} "
         "AND day * 86400000 + (slot + buckets) * 3600000 > {from}"},
    Part{"rollup_day", "{tiers} AND day BETWEEN {from} / 86400000 AND {to} / 86400000"},
    Part{"machine_5min",
         "{tiers} AND hour BETWEEN {from} / 3600000 AND {to} / 3600000 AND hour * 3600000 + slot * 300000 <= {to} "
         "AND hour * 3600000 + (slot + buckets) * 300000 > {from}"},
    Part{"machine_hour",
         "{tiers} AND day BETWEEN {from} / 86400000 AND {to} / 86400000 AND day * 86400000 + slot * 3600000 <= {to} "
         "AND day * 86400000 + (slot + buckets) * 3600000 > {from}"},
    Part{"machine_day", "{tiers} AND day BETWEEN {from} / 86400000 AND {to} / 86400000"},
    // Those that were reached elsewhere in the day are not of the range.
    Part{"high_water", "day_ms <> -1 AND at_ms BETWEEN {from} AND {to}"},
    Part{"event", "wall_ms BETWEEN {from} AND {to}"},
    Part{"process",
         "(first_tick_id <= {last} AND (gone_tick_id IS NULL OR gone_tick_id > {first} OR first_tick_id >= {first})) "
         "OR ({tiers} AND first_ms <= {to} AND (last_ms IS NULL OR last_ms >= {from})) "
         "OR id IN (SELECT subject_id FROM copy.rollup_5min WHERE subject = 2 "
         "UNION SELECT subject_id FROM copy.rollup_hour WHERE subject = 2 "
         "UNION SELECT subject_id FROM copy.rollup_day WHERE subject = 2)"},
    Part{"run",
         "id IN (SELECT run_id FROM copy.tick UNION SELECT run_id FROM copy.stretch UNION SELECT run_id FROM "
         "copy.event)"},
    // What did not work throughout a run is told at its begin.
    Part{"event", "kind IN ('degraded', 'restored') AND wall_ms < {from} AND run_id IN (SELECT id FROM copy.run)"},
    Part{"boot", "id IN (SELECT boot_id FROM copy.run UNION SELECT boot_id FROM copy.process)"},
    Part{"user", "id IN (SELECT user_id FROM copy.process)"},
    Part{"command", "id IN (SELECT command_id FROM copy.process)"},
    Part{"category",
         "id IN (SELECT category_id FROM copy.process UNION SELECT category_id FROM copy.category_sample "
         "UNION SELECT subject_id FROM copy.rollup_5min WHERE subject = 1 "
         "UNION SELECT subject_id FROM copy.rollup_hour WHERE subject = 1 "
         "UNION SELECT subject_id FROM copy.rollup_day WHERE subject = 1 "
         "UNION SELECT subject_id FROM copy.high_water WHERE subject = 1)"},
    Part{"identity",
         "id IN (SELECT identity_id FROM copy.process UNION SELECT subject_id FROM copy.rollup_5min WHERE subject = 3 "
         "UNION SELECT subject_id FROM copy.rollup_hour WHERE subject = 3 "
         "UNION SELECT subject_id FROM copy.rollup_day WHERE subject = 3 "
         "UNION SELECT subject_id FROM copy.high_water WHERE subject = 3)"},
    Part{"cgroup",
         "id IN (SELECT cgroup_id FROM copy.process UNION SELECT cgroup_id FROM copy.cgroup_sample "
         "UNION SELECT subject_id FROM copy.rollup_5min WHERE subject = 4 "
         "UNION SELECT subject_id FROM copy.rollup_hour WHERE subject = 4 "
         "UNION SELECT subject_id FROM copy.rollup_day WHERE subject = 4 "
         "UNION SELECT subject_id FROM copy.high_water WHERE subject = 4)"},
    Part{"meminfo_key", "id IN (SELECT key_id FROM copy.meminfo_other)"},
    Part{"machine_metric", "1"},
    Part{"retention", "1"},
};

// As if nothing had been recorded before the range, nor after.
constexpr std::array kCuts{
    "UPDATE copy.stretch SET from_ms = MAX(from_ms, {from}), to_ms = MIN(to_ms, {to})",
    "UPDATE copy.process SET gone_tick_id = NULL, gone_ms = NULL, last_ms = NULL, end_kind = NULL "
    "WHERE gone_tick_id > {last} AND gone_ms > {to}",
    // Without a tick nothing else tells how long it was seen.
    "UPDATE copy.process SET last_ms = {to} WHERE last_ms IS NULL AND {last} = 0",
    "UPDATE copy.run SET first_tick_id = {first} WHERE first_tick_id < {first} "
    "AND id IN (SELECT run_id FROM copy.tick) AND id NOT IN (SELECT run_id FROM copy.stretch)",
    "UPDATE copy.run SET ended_ms = NULL, end_reason = NULL WHERE ended_ms > {to}",
    "UPDATE copy.rollup_mark SET (tick_id, target_tick_id, next_subject, next_subject_id) = ("
    "SELECT MAX({first}, MIN(tick_id, {end})), MAX({first}, MIN(target_tick_id, {end})), next_subject, next_subject_id "
    "FROM rollup_mark) WHERE {tiers}",
    "UPDATE copy.rollup_mark SET tick_id = {first}, target_tick_id = {first} WHERE NOT {tiers}",
    // They are times of the recorder's own clock, which begins anew where no stretch is taken.
    "UPDATE copy.retention SET five_minutes_cut = 0, hour_cut = 0, day_cut = 0, five_minutes_from_ms = 0, "
    "hour_from_ms = 0, day_from_ms = 0 WHERE NOT {tiers}",
    "UPDATE copy.high_water_mark SET tick_id = {first} - 1",
    "DELETE FROM copy.high_water WHERE subject = 2 AND subject_id NOT IN (SELECT id FROM copy.process)",
};

struct Extent {
  Range range;
  TickSpan ticks;
  bool tiers = false;

  std::string in(const char* sql) const {
    // The first tick after those that are copied; where there are none, after those that are rolled up.
    const std::string end = ticks.empty() ? "tick_id" : fmt::format("{}", ticks.last + 1);
    return fmt::format(fmt::runtime(sql), fmt::arg("from", range.from_ms), fmt::arg("to", range.to_ms),
                       fmt::arg("first", ticks.first), fmt::arg("last", ticks.last), fmt::arg("tiers", tiers ? 1 : 0),
                       fmt::arg("end", end));
  }
};

Extent extent_of(SQLite::Database& source, Range range) {
  Extent extent{range, span_of(source, range), false};
  if (!extent.ticks.empty()) extent.ticks.first = keyframe_of(source, extent.ticks.first);
  Statement raw(source, "SELECT wall_ms FROM tick ORDER BY id LIMIT 1");
  const std::int64_t raw_from = raw.step() ? raw.integer(0) : INT64_MAX;
  Statement older(source, "SELECT 1 FROM stretch WHERE from_ms < ? AND to_ms >= ? AND from_ms <= ? LIMIT 1");
  extent.tiers = older.bind(raw_from, range.from_ms, range.to_ms).step() && range.from_ms < raw_from;
  return extent;
}

std::string columns_of(SQLite::Database& database, const char* table) {
  const SQLite::Statement none(database, fmt::format("SELECT * FROM copy.{} LIMIT 0", table));
  std::string columns;
  for (int i = 0; i < none.getColumnCount(); ++i) columns += (i == 0 ? "" : ", ") + std::string(none.getColumnName(i));
  return columns;
}

void copy_part(SQLite::Database& source, const Part& part, const Extent& extent) {
  const std::string columns = columns_of(source, part.table);
  source.exec(fmt::format("INSERT OR REPLACE INTO copy.{} ({}) SELECT {} FROM {} WHERE {}", part.table, columns,
                          columns, part.table, extent.in(part.rows)));
}

// Lets the plan's progress stop what runs long within SQLite.
class Interruptible {
 public:
  Interruptible(SQLite::Database& database, const CopyPlan& plan) : database_(database), plan_(plan) {
    constexpr int steps = 100'000;
    sqlite3_progress_handler(
        database.getHandle(), steps, [](void* self) { return static_cast<Interruptible*>(self)->go_on() ? 0 : 1; },
        this);
  }
  ~Interruptible() { sqlite3_progress_handler(database_.getHandle(), 0, nullptr, nullptr); }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  // Whether to go on.
  bool reach(int percent) {
    percent_ = percent;
    return go_on();
  }

 private:
  bool go_on() const { return plan_.progress(percent_); }

  SQLite::Database& database_;
  const CopyPlan& plan_;
  int percent_ = 0;
};

Status copy_rows(const CopyPlan& plan, Range range, SQLite::Database& source) {
  Transaction transaction(source, Transaction::Kind::read);
  const Extent extent = extent_of(source, range);
  if (extent.ticks.empty() && !extent.tiers)
    return Error{ErrorKind::gone, plan.from + ": nothing was recorded in this range"};
  Interruptible watch(source, plan);
  int done = 0;
  for (const Part& part : kParts) {
    if (!watch.reach(kWritten * done++ / static_cast<int>(kParts.size()))) return stopped(plan);
    copy_part(source, part, extent);
  }
  for (const char* cut : kCuts) source.exec(extent.in(cut));
  transaction.commit();
  return Done{};
}

// Marks of all time are those of the range, and those of a day what is left of it.
void raise_marks(SQLite::Database& copy) {
  Transaction transaction(copy, Transaction::Kind::write);
  store_pending_marks(copy);
  // A mark of all time is one of a day; a process of one day has no other.
  copy.exec("DELETE FROM high_water WHERE day_ms = -1");
  Statement(copy,
            "INSERT OR IGNORE INTO high_water (day_ms, subject, subject_id, metric, value_kib, at_ms, before_ms) "
            "SELECT -1, subject, subject_id, metric, value_kib, at_ms, before_ms FROM high_water "
            "WHERE subject <> 2 OR subject_id IN (SELECT subject_id FROM high_water WHERE subject = 2 "
            "GROUP BY subject_id HAVING COUNT(DISTINCT day_ms) > 1) "
            "ORDER BY CASE metric WHEN 1 THEN value_kib ELSE -value_kib END, day_ms")
      .finish();
  transaction.commit();
}

// Answers over long ranges need not make them anew each time.
Status write_rollups(const CopyPlan& plan, SQLite::Database& copy) {
  Rollup rollup(copy);
  while (rollup.due()) {
    if (!plan.progress(kWritten)) return stopped(plan);
    rollup.prepare();
    Transaction transaction(copy, Transaction::Kind::write);
    rollup.write_piece();
    transaction.commit();
  }
  return Done{};
}

Status write_extract(const CopyPlan& plan, Range range, const std::string& path,
                     std::unique_ptr<SQLite::Database> source) {
  make_empty(path);
  attach_copy(*source, path);
  TRY(copy_rows(plan, range, *source));
  source.reset();
  SQLite::Database copy(path, SQLite::OPEN_READWRITE);
  hurry_copy(copy);
  raise_marks(copy);
  end_open_runs(copy);
  return write_rollups(plan, copy);
}

}  // namespace

Status extract(const CopyPlan& plan, Range range) {
  TRY(check_copy(plan));
  auto source = TRY(open_for_copying(plan.from));
  auto partial = TRY(PartialFile::begin(plan.to, plan.existing));
  try {
    if (Status written = write_extract(plan, range, partial.partial_path(), std::move(source)); !written)
      return written;
  } catch (const SQLite::Exception& failure) {
    return copy_error(plan, failure);
  }
  return finish_copy(plan, partial);
}

}  // namespace memoir
