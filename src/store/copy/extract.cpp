#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "store/copy/parts.h"
#include "store/marks/replay.h"
#include "store/replay/samples.h"
#include "store/replay/tick_cursor.h"
#include "store/rollup/rollup.h"
#include "store/sqlite/database.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/time_limit.h"
#include "store/tables.h"

namespace memoir {
namespace {

// SQLite's steps between two calls of plan.progress(), which can stop long operations.
constexpr int kSteps = 100'000;

// SQL conditions, with the same parts in braces as StoreTable::extract.
constexpr const char* kOfTicks = "{age} BETWEEN {first} AND {last}";
constexpr const char* kOfNames = "id IN (SELECT {column} FROM copy.{users})";
constexpr const char* kOfBuckets =
    "{tiers} AND {age} BETWEEN {from} / {block_ms} AND {to} / {block_ms} "
    "AND {age} * {block_ms} + slot * {width_ms} <= {to} AND {age} * {block_ms} + (slot + buckets) * {width_ms} > "
    "{from}";

// Events about missing features. They are recorded at the start of a run, so they may be older than the range.
constexpr StoreTable kWorking{
    "event", TableKind::log, "boot_ms",
    "kind IN ('degraded', 'restored') AND wall_ms < {from} AND run_id IN (SELECT id FROM copy.run)"};

// Statements that change the copy as if nothing had been recorded outside of the range.
constexpr std::array kCuts{
    "UPDATE copy.stretch SET from_ms = MAX(from_ms, {from}), to_ms = MIN(to_ms, {to})",
    "UPDATE copy.process SET exited_tick_id = NULL, exited_ms = NULL, last_ms = NULL, exit_kind = NULL "
    "WHERE exited_tick_id > {last} AND exited_ms > {to}",
    // Without ticks, only the range limits the time of the last observation.
    "UPDATE copy.process SET last_ms = {to} WHERE last_ms IS NULL AND {last} = 0",
    "UPDATE copy.run SET first_tick_id = {first} WHERE first_tick_id < {first} "
    "AND id IN (SELECT run_id FROM copy.tick) AND id NOT IN (SELECT run_id FROM copy.stretch)",
    "UPDATE copy.run SET stopped_ms = NULL, stop_reason = NULL WHERE stopped_ms > {to}",
    "UPDATE copy.rollup_progress SET (tick_id, target_tick_id, next_subject, next_subject_id) = ("
    "SELECT MAX({first}, MIN(tick_id, {end})), MAX({first}, MIN(target_tick_id, {end})), next_subject, next_subject_id "
    "FROM rollup_progress) WHERE {tiers}",
    "UPDATE copy.rollup_progress SET tick_id = {first}, target_tick_id = {first} WHERE NOT {tiers}",
    "DELETE FROM copy.mark WHERE subject = 2 AND subject_id NOT IN (SELECT id FROM copy.process)",
};

std::string rolled_up_subjects(int kind) {
  std::vector<std::string> tiers;
  tiers.reserve(kRollupTiers.size());
  for (const TierShape& shape : kRollupTiers)
    tiers.push_back(fmt::format("SELECT subject_id FROM copy.rollup_{} WHERE subject = {}", shape.name, kind));
  return fmt::format("{}", fmt::join(tiers, " UNION "));
}

struct Extent {
  Range range;
  TickSpan ticks;
  bool tiers = false;

  std::string in(std::string_view sql, const StoreTable& table = {}) const {
    // The first tick after the copied ticks; without any, the first tick after the rolled up ones.
    const std::string end = ticks.empty() ? "tick_id" : fmt::format("{}", ticks.last + 1);
    const int subject = static_cast<int>(table.subject.value_or(SubjectKind::machine));
    const bool rolled_up = table.tier != Tier::raw;
    return fmt::format(fmt::runtime(sql), fmt::arg("from", range.from_ms), fmt::arg("to", range.to_ms),
                       fmt::arg("first", ticks.first), fmt::arg("last", ticks.last), fmt::arg("tiers", tiers ? 1 : 0),
                       fmt::arg("end", end), fmt::arg("age", table.age), fmt::arg("users", table.users),
                       fmt::arg("column", table.column),
                       fmt::arg("block_ms", rolled_up ? shape_of(table.tier).block_ms() : 0),
                       fmt::arg("width_ms", bucket_ms(table.tier)), fmt::arg("subject", subject),
                       fmt::arg("rolled_up", rolled_up_subjects(subject)));
  }
};

Extent extent_of(SQLite::Database& source, Range range) {
  Extent extent{range, span_of(source, range), false};
  if (!extent.ticks.empty()) extent.ticks.first = keyframe_of(source, extent.ticks.first);
  const std::int64_t raw_from = one(source, "SELECT wall_ms FROM tick ORDER BY id LIMIT 1").value_or(INT64_MAX);
  const bool older = one(source, "SELECT 1 FROM stretch WHERE from_ms < ? AND to_ms >= ? AND from_ms <= ? LIMIT 1",
                         raw_from, range.from_ms, range.to_ms)
                         .has_value();
  extent.tiers = older && range.from_ms < raw_from;
  return extent;
}

std::string columns_of(SQLite::Database& database, std::string_view table) {
  const SQLite::Statement none(database, fmt::format("SELECT * FROM copy.{} LIMIT 0", table));
  std::string columns;
  for (int i = 0; i < none.getColumnCount(); ++i) columns += (i == 0 ? "" : ", ") + std::string(none.getColumnName(i));
  return columns;
}

std::string_view rows_of(const StoreTable& table) {
  if (table.kind == TableKind::ticks || table.kind == TableKind::samples) return kOfTicks;
  if (table.kind == TableKind::rollups && table.extract.empty()) return kOfBuckets;
  return table.kind == TableKind::names && table.extract.empty() ? kOfNames : table.extract;
}

void copy_table(SQLite::Database& source, const StoreTable& table, const Extent& extent) {
  const std::string_view rows = rows_of(table);
  if (rows.empty()) return;
  const std::string columns = columns_of(source, table.name);
  source.exec(fmt::format("INSERT OR REPLACE INTO copy.{} ({}) SELECT {} FROM {} WHERE {}", table.name, columns,
                          columns, table.name, extent.in(rows, table)));
}

// Resets the cutoffs. They are times of the recorder's own clock, which restarts at 0 if no stretch is copied.
void forget_cuts(SQLite::Database& source) {
  for (const TierShape& shape : kRollupTiers)
    source.exec(fmt::format("UPDATE copy.retention SET {0}_cut = 0, {0}_from_ms = 0", shape.retained));
}

Status copy_rows(const CopyPlan& plan, Range range, SQLite::Database& source) {
  Transaction transaction(source, Transaction::Kind::read);
  const Extent extent = extent_of(source, range);
  if (extent.ticks.empty() && !extent.tiers)
    return Error{ErrorKind::not_found, plan.from + ": nothing was recorded in this range"};
  int percent = 0;
  const ProgressWatch watch(source.getHandle(), kSteps, [&] { return plan.progress(percent); });
  int done = 0;
  const auto tables = store_tables();
  for (const StoreTable& table : tables) {
    percent = kWritten * done++ / static_cast<int>(tables.size());
    if (!plan.progress(percent)) return stopped(plan);
    copy_table(source, table, extent);
  }
  copy_table(source, kWorking, extent);
  for (const char* cut : kCuts) source.exec(extent.in(cut));
  if (!extent.tiers) forget_cuts(source);
  transaction.commit();
  return Done{};
}

// Limits marks to the range. Marks of all time become marks of the range, and the marks of a day become marks of its
// part within the range.
void limit_marks(SQLite::Database& copy) {
  Transaction transaction(copy, Transaction::Kind::write);
  MarkTable marks(copy);
  replay_marks(copy, marks);
  marks.merge();
  // The marks of all time are computed again from the marks of the days. A process that ran within one day has only
  // marks of that day.
  copy.exec("DELETE FROM mark WHERE day = -1");
  Statement(
      copy,
      "INSERT OR IGNORE INTO mark (day, subject, subject_id, metric, value_kib, after_ms, before_ms, seen_by) "
      "SELECT -1, subject, subject_id, metric, value_kib, day * 86400000 + after_ms, before_ms, seen_by FROM mark "
      "WHERE subject <> 2 OR subject_id IN (SELECT subject_id FROM mark WHERE subject = 2 "
      "GROUP BY subject_id HAVING COUNT(DISTINCT day) > 1) "
      "ORDER BY IIF((SELECT m.lowest FROM metric AS m WHERE m.id = metric), value_kib, -value_kib), day")
      .finish();
  transaction.commit();
}

// Stores the rollups in the copy, so that queries over long ranges need not compute them each time.
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
  const auto copy = open_unchecked(path, SQLite::OPEN_READWRITE);
  disable_durability(*copy);
  const ProgressWatch watch(copy->getHandle(), kSteps, [&] { return plan.progress(kWritten); });
  limit_marks(*copy);
  end_open_runs(*copy);
  return write_rollups(plan, *copy);
}

}  // namespace

Status extract(const CopyPlan& plan, Range range) {
  TRY(check_copy(plan));
  auto source = TRY(open_for_copying(plan.from));
  auto partial = TRY(AtomicFile::begin(plan.to, plan.existing));
  try {
    if (Status written = write_extract(plan, range, partial.partial_path(), std::move(source)); !written)
      return written;
  } catch (const SQLite::Exception& failure) {
    return copy_error(plan, failure);
  }
  return finish_copy(plan, partial);
}

}  // namespace memoir
