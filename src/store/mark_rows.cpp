#include "store/mark_rows.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "store/columns.h"
#include "store/rollup_reader.h"
#include "store_sql.h"

namespace memoir {
namespace {

// 1 is MarkMetric::available, of which the lowest counts.
constexpr const char* kRaise =
    "INSERT INTO high_water (day_ms, subject, subject_id, metric, value_kib, at_ms, before_ms) "
    "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE "
    "SET value_kib = excluded.value_kib, at_ms = excluded.at_ms, before_ms = excluded.before_ms "
    "WHERE CASE metric WHEN 1 THEN excluded.value_kib < value_kib ELSE excluded.value_kib > value_kib END";

class Collected {
 public:
  // Of equal ones the first stays.
  void see(const MarkRow& row) {
    const auto found = rows_.find(row.key());
    const bool known = found != rows_.end();
    if (beats(row.metric, row.value_kib, known ? std::optional(found->second.value_kib) : std::nullopt))
      rows_.insert_or_assign(row.key(), row);
  }
  void see(MarkSubject subject, std::int64_t id, MarkMetric metric, std::optional<std::int64_t> value, MarkTime time) {
    if (!value) return;
    for (const std::int64_t day : {kAllTime, day_of(time.at_ms)}) see({day, subject, id, metric, *value, time});
  }

  std::vector<MarkRow> take() {
    std::vector<MarkRow> rows;
    for (const auto& [key, row] : rows_) rows.push_back(row);
    return rows;
  }

 private:
  std::map<decltype(MarkRow{}.key()), MarkRow> rows_;
};

// Each query of schema/queries/pending_*.sql begins with the tick's time, the time of the tick before in its run (or
// NULL), and the subject.
struct Seen {
  MarkTime time;
  bool had_tick_before = false;
  std::int64_t subject_id = 0;
};

Seen read_seen(const Statement& row) {
  const std::int64_t at = row.integer(0);
  const auto before = row.maybe(1);
  return {{at, before.value_or(at)}, before.has_value(), row.integer(2)};
}

void see_machine(SQLite::Database& database, Collected& marks) {
  Statement rows(database, sql::pending_machine);
  while (rows.step()) {
    const Seen seen = read_seen(rows);
    MachineMemory memory;
    memory.set(MachineField::mem_available, rows.maybe(3));
    memory.set(MachineField::mem_total, rows.maybe(4));
    memory.set(MachineField::swap_total, rows.maybe(5));
    memory.set(MachineField::swap_free, rows.maybe(6));
    const MarkValues values = mark_values(memory);
    for (std::size_t i = 0; i < kMachineMetrics.size(); ++i)
      marks.see(MarkSubject::machine, 0, kMachineMetrics[i], values[i], seen.time);
  }
}

void see_categories(SQLite::Database& database, Collected& marks) {
  Statement rows(database, sql::pending_category);
  while (rows.step()) {
    const Seen seen = read_seen(rows);
    for (std::size_t i = 0; i < kCategoryMetrics.size(); ++i) {
      const int column = 3 + static_cast<int>(i);
      marks.see(MarkSubject::category, seen.subject_id, kCategoryMetrics[i], rows.maybe(column), seen.time);
    }
  }
}

void see_processes(SQLite::Database& database, Collected& marks) {
  constexpr std::array fields{ProcessField::pss,    ProcessField::private_clean, ProcessField::private_dirty,
                              ProcessField::vm_hwm, ProcessField::vm_rss,        ProcessField::rss};
  Statement rows(database, sql::pending_process);
  while (rows.step()) {
    const Seen seen = read_seen(rows);
    const auto source = static_cast<Source>(rows.integer(3));
    const auto start_if_first = rows.maybe(4);
    ProcessMemory memory;
    read_fields<ProcessField>(rows, 5, memory, fields);
    const MarkValues values = mark_values(memory, source);
    for (std::size_t i = 0; i < kProcessMetrics.size(); ++i) {
      const bool since = start_if_first && kProcessMetrics[i] == MarkMetric::hwm;
      const MarkTime time = since ? since_start(seen.time, *start_if_first, seen.had_tick_before) : seen.time;
      marks.see(MarkSubject::process, seen.subject_id, kProcessMetrics[i], values[i], time);
    }
  }
  Statement swaps(database, sql::pending_process_swap);
  while (swaps.step()) {
    const Seen seen = read_seen(swaps);
    marks.see(MarkSubject::process, seen.subject_id, MarkMetric::swap, swaps.maybe(3), seen.time);
  }
}

void see_pending(SQLite::Database& database, Collected& marks) {
  see_machine(database, marks);
  see_categories(database, marks);
  see_processes(database, marks);
}

using Names = std::map<std::pair<MarkSubject, std::int64_t>, std::string>;

// Processes are told by their rows.
Names group_names(SQLite::Database& database) {
  Names names;
  const auto read = [&](MarkSubject subject, const char* sql) {
    Statement rows(database, sql);
    while (rows.step()) names[{subject, rows.integer(0)}] = rows.text(1);
  };
  read(MarkSubject::category, "SELECT id, name FROM category ORDER BY id");
  read(MarkSubject::identity, "SELECT id, TRIM(unit || ' ' || command) FROM identity ORDER BY id");
  read(MarkSubject::cgroup, "SELECT id, path FROM cgroup ORDER BY id");
  return names;
}

}  // namespace

MarkRows::MarkRows(SQLite::Database& database)
    : raise_(database, kRaise), watermark_(database, "UPDATE high_water_mark SET tick_id = ? WHERE id = 1") {}

void MarkRows::raise(const MarkRow& mark) {
  raise_.run(mark.day_ms, static_cast<int>(mark.subject), mark.subject_id, static_cast<int>(mark.metric),
             mark.value_kib, mark.time.at_ms, mark.time.before_ms);
}

void MarkRows::store(Mark& mark, MarkRow row) {
  if (!mark.dirty) return;
  row.value_kib = *mark.value;
  row.time = mark.time;
  raise(row);
  mark.dirty = false;
}

void MarkRows::flush(MarkSubject subject, std::int64_t subject_id, std::span<const MarkMetric> metrics,
                     std::int64_t day_ms, Marks& marks) {
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    store(marks.day[i], {day_ms, subject, subject_id, metrics[i], 0, {}});
    store(marks.ever[i], {kAllTime, subject, subject_id, metrics[i], 0, {}});
  }
}

void MarkRows::flush(std::int64_t process_id, std::int64_t day_ms, ProcessMarks& marks) {
  if (!marks.one_day) return flush(MarkSubject::process, process_id, kProcessMetrics, day_ms, marks);
  for (std::size_t i = 0; i < kProcessMetrics.size(); ++i)
    store(marks.day[i], {day_ms, MarkSubject::process, process_id, kProcessMetrics[i], 0, {}});
}

void MarkRows::set_watermark(std::int64_t tick_id) {
  watermark_.run(tick_id);
}

std::vector<MarkRow> pending_marks(SQLite::Database& database) {
  Collected marks;
  see_pending(database, marks);
  return marks.take();
}

void store_pending_marks(SQLite::Database& database) {
  MarkRows rows(database);
  for (const MarkRow& mark : pending_marks(database)) rows.raise(mark);
  Statement last(database, "SELECT COALESCE(MAX(id), 0) FROM tick");
  last.step();
  rows.set_watermark(last.integer(0));
}

std::vector<HighWater> load_high_water(SQLite::Database& database, std::int64_t from_day, std::int64_t to_day) {
  Collected marks;
  Statement rows(database, sql::high_water);
  rows.bind(from_day, to_day);
  while (rows.step()) {
    marks.see({rows.integer(0),
               static_cast<MarkSubject>(rows.integer(1)),
               rows.integer(2),
               static_cast<MarkMetric>(rows.integer(3)),
               rows.integer(4),
               {rows.integer(5), rows.integer(6)}});
  }
  see_pending(database, marks);
  for (const MarkRow& mark : pending_group_marks(database)) marks.see(mark);
  const auto names = group_names(database);
  std::vector<HighWater> high_water;
  for (const MarkRow& row : marks.take()) {
    if (row.day_ms < from_day || row.day_ms > to_day) continue;
    HighWater& mark = high_water.emplace_back();
    mark.subject = row.subject;
    mark.subject_id = row.subject_id;
    if (const auto name = names.find({row.subject, row.subject_id}); name != names.end()) mark.name = name->second;
    mark.metric = to_string(row.metric);
    if (row.day_ms != kAllTime) mark.day_ms = row.day_ms;
    mark.value_kib = row.value_kib;
    mark.at_ms = row.time.at_ms;
    mark.before_ms = row.time.before_ms;
  }
  return high_water;
}

}  // namespace memoir
