#include "store/marks/mark_rows.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <unordered_map>

#include "base/each_of.h"
#include "store/replay/extremes.h"
#include "store/replay/tick_cursor.h"
#include "store/rollup/reader.h"
#include "store/rows/columns.h"
#include "store/rows/id_set.h"
#include "store/schema/sql.h"
#include "store/tables.h"

namespace memoir {
namespace {

// 1 is the mark of mem_available, of which the lowest counts.
constexpr const char* kRaise =
    "INSERT INTO mark (day, subject, subject_id, metric, value_kib, after_ms, before_ms, seen_by) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE "
    "SET value_kib = excluded.value_kib, after_ms = excluded.after_ms, before_ms = excluded.before_ms, "
    "seen_by = excluded.seen_by "
    "WHERE CASE metric WHEN 1 THEN excluded.value_kib < value_kib ELSE excluded.value_kib > value_kib END";

// A process that lived in one UTC day so far, its first, has only the marks of that day: they are the first of all
// time.
constexpr const char* kOutliveFirstDay =
    "INSERT INTO mark (day, subject, subject_id, metric, value_kib, after_ms, before_ms, seen_by) "
    "SELECT -1, h.subject, h.subject_id, h.metric, h.value_kib, h.day * 86400000 + h.after_ms, h.before_ms, h.seen_by "
    "FROM process AS p JOIN mark AS h ON h.day = p.first_ms / 86400000 AND h.subject = 2 "
    "AND h.metric = ?2 AND h.subject_id = p.id WHERE p.id = ?1 ON CONFLICT DO NOTHING";

// As table mark counts.
std::int64_t day_number(std::int64_t day_ms) {
  return day_ms == kAllTime ? kAllTime : day_ms / kDayMs;
}

// Each query of schema/queries/pending_*.sql begins with the tick's time, the time of the tick before in its run (or
// NULL), and the subject.
struct Seen {
  MarkTime time;
  bool had_tick_before = false;
  std::int64_t subject_id = 0;
};

std::optional<std::int64_t> number_of(std::optional<SeenBy> by) {
  return by ? std::optional(static_cast<std::int64_t>(*by)) : std::nullopt;
}

Seen read_seen(const Statement& row) {
  const std::int64_t at = row.integer(0);
  const auto before = row.maybe(1);
  return {{at, before.value_or(at)}, before.has_value(), row.integer(2)};
}

// Of what has a mark.
void see_extremes(SQLite::Database& database, SubjectKind kind, MarkFold& marks) {
  Statement rows(database, sql::pending_extremes);
  std::vector<ExtremeRow> seen;
  while (rows.step()) {
    if (rows.integer(2) != static_cast<std::int64_t>(kind)) continue;
    seen.clear();
    read_extremes(rows, 2, seen);
    const std::int64_t before_ms = rows.maybe(1).value_or(rows.integer(0));
    for (const ExtremeRow& of : seen) {
      const MarkTime time{of.at_ms, of.after_ms.value_or(before_ms), of.by};
      marks.see(kind, of.subject_id, mark_value(kind, of.metric, of.kib), time, time);
    }
  }
}

// Their values begin with the fourth column.
template <typename Values>
void see_rows(SQLite::Database& database, const char* sql, SubjectKind kind, MarkFold& marks, const Values& values) {
  Statement rows(database, sql);
  while (rows.step()) {
    const Seen seen = read_seen(rows);
    marks.see(kind, seen.subject_id, values(rows), seen.time, seen.time);
  }
}

MarkValues machine_values(const Statement& row) {
  constexpr std::array fields{MachineField::mem_available, MachineField::mem_total, MachineField::swap_total,
                              MachineField::swap_free};
  MachineMemory memory;
  read_fields<MachineField>(row, 3, memory, fields);
  return mark_values(memory);
}

MarkValues category_values(const Statement& row) {
  return {row.maybe(3), row.maybe(4), row.maybe(5), row.maybe(6)};
}

MarkValues cgroup_values(const Statement& row) {
  return {row.maybe(3), row.maybe(4), row.maybe(5)};
}

void see_processes(SQLite::Database& database, MarkFold& marks) {
  constexpr std::array fields{ProcessField::pss,    ProcessField::private_clean, ProcessField::private_dirty,
                              ProcessField::vm_hwm, ProcessField::vm_rss,        ProcessField::rss};
  Statement rows(database, sql::pending_process);
  while (rows.step()) {
    const Seen seen = read_seen(rows);
    const auto source = static_cast<Source>(rows.integer(3));
    const auto start_if_first = rows.maybe(4);
    ProcessMemory memory;
    read_fields<ProcessField>(rows, 5, memory, fields);
    const MarkTime hwm_time =
        start_if_first ? since_start(seen.time, *start_if_first, seen.had_tick_before) : seen.time;
    marks.see(SubjectKind::process, seen.subject_id, mark_values(memory, source), seen.time, hwm_time);
  }
  Statement swaps(database, sql::pending_process_swap);
  while (swaps.step()) {
    const Seen seen = read_seen(swaps);
    marks.see(SubjectKind::process, seen.subject_id, Metric::swap, swaps.maybe(3), seen.time);
  }
}

// What the ticks after the last flush say of a kind; of identities, nothing.
void see_pending(SQLite::Database& database, SubjectKind kind, MarkFold& marks) {
  if (kind == SubjectKind::identity) return;
  if (kind == SubjectKind::machine) see_rows(database, sql::pending_machine, kind, marks, machine_values);
  if (kind == SubjectKind::category) see_rows(database, sql::pending_category, kind, marks, category_values);
  if (kind == SubjectKind::cgroup) see_rows(database, sql::pending_cgroup, kind, marks, cgroup_values);
  if (kind == SubjectKind::process) see_processes(database, marks);
  see_extremes(database, kind, marks);
}

// By the store's number of it.
Metric marked_metric(SubjectKind kind, std::int64_t mark) {
  const std::vector<Metric>& metrics = marked_metrics(kind);
  const auto found = std::ranges::find(metrics, mark, [](Metric metric) { return info_of(metric).mark; });
  return found == metrics.end() ? metrics.front() : *found;
}

HighWater told(const MarkRow& row) {
  HighWater mark;
  mark.subject = row.subject;
  mark.subject_id = row.subject_id;
  mark.metric = row.metric;
  if (row.day_ms != kAllTime) mark.day_ms = row.day_ms;
  mark.value_kib = row.value_kib;
  mark.at_ms = row.time.at_ms;
  mark.before_ms = row.time.before_ms;
  mark.seen_by = row.time.by;
  return mark;
}

}  // namespace

void MarkFold::see(const MarkRow& row) {
  const auto found = rows_.find(row.key());
  const bool known = found != rows_.end();
  if (beats(row.metric, row.value_kib, known ? std::optional(found->second.value_kib) : std::nullopt))
    rows_.insert_or_assign(row.key(), row);
}

void MarkFold::see(SubjectKind subject, std::int64_t subject_id, Metric metric, std::optional<std::int64_t> value,
                   MarkTime time) {
  if (!value) return;
  for (const std::int64_t day : {kAllTime, day_of(time.at_ms)}) see({day, subject, subject_id, metric, *value, time});
}

void MarkFold::see(SubjectKind subject, std::int64_t subject_id, const MarkValues& values, MarkTime time,
                   MarkTime hwm_time) {
  const std::vector<Metric>& metrics = sampled_marks(subject);
  for (std::size_t i = 0; i < metrics.size(); ++i)
    see(subject, subject_id, metrics[i], values.at(i), metrics[i] == Metric::hwm ? hwm_time : time);
}

std::vector<MarkRow> MarkFold::take() const {
  return each_of(rows_, [](const auto& entry) { return entry.second; });
}

MarkRows::MarkRows(SQLite::Database& database)
    : outlive_first_day_(database, kOutliveFirstDay),
      raise_(database, kRaise),
      watermark_(database, "UPDATE high_water_mark SET tick_id = ? WHERE id = 1") {}

void MarkRows::raise(const MarkRow& mark) {
  if (mark.subject == SubjectKind::process && mark.day_ms == kAllTime)
    outlive_first_day_.run(mark.subject_id, info_of(mark.metric).mark);
  const MarkTime& time = mark.time;
  raise_.run(day_number(mark.day_ms), static_cast<int>(mark.subject), mark.subject_id, info_of(mark.metric).mark,
             mark.value_kib, time.at_ms - std::max<std::int64_t>(mark.day_ms, 0), time.at_ms - time.before_ms,
             number_of(time.by));
}

void MarkRows::store(Mark& mark, MarkRow row) {
  if (!mark.dirty) return;
  row.value_kib = *mark.value;
  row.time = mark.time;
  raise(row);
  mark.dirty = false;
}

void MarkRows::flush(SubjectKind subject, std::int64_t subject_id, std::int64_t day_ms, Marks& marks) {
  const std::vector<Metric>& metrics = sampled_marks(subject);
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    store(marks.day[i], {day_ms, subject, subject_id, metrics[i], 0, {}});
    if (!marks.one_day) store(marks.ever[i], {kAllTime, subject, subject_id, metrics[i], 0, {}});
  }
}

void store_pending_marks(SQLite::Database& database) {
  MarkFold pending;
  for (const SubjectKind kind : kSubjectKinds) see_pending(database, kind, pending);
  MarkRows rows(database);
  for (const MarkRow& mark : pending.take()) rows.raise(mark);
  rows.set_watermark(last_tick_id(database));
}

std::map<std::int64_t, std::string> load_group_names(SQLite::Database& database, SubjectKind kind) {
  std::map<std::int64_t, std::string> names;
  if (std::ranges::find(kGroupKinds, kind) == kGroupKinds.end()) return names;
  const StoreTable& table = table_of_groups(kind);
  Statement rows(database, fmt::format("SELECT id, {} FROM {} ORDER BY id", table.title, table.name));
  while (rows.step()) names[rows.integer(0)] = rows.text(1);
  return names;
}

namespace {

constexpr Range kWhenever{std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};

// Where the marks of a kind stand. Those of all time of processes are those of their days too, which come first: a
// process of one day has no others, and of equal ones the first counts.
std::vector<MarkDays> stored_days(SQLite::Database& database, SubjectKind kind, MarkDays days) {
  const std::int64_t kept_from =
      std::max<std::int64_t>(one(database, "SELECT day_from_ms FROM retention").value_or(0), 0);
  if (days.from >= 0) return {{std::max(days.from, kept_from), days.to}};
  if (kind != SubjectKind::process) return {days};
  return {{kept_from, std::numeric_limits<std::int64_t>::max()}, days};
}

// Visits the rows of marks.sql.
template <typename Visit>
void visit_stored(SQLite::Database& database, SubjectKind kind, MarkDays days, std::optional<Metric> metric,
                  Range reached, const Visit& visit) {
  const auto number = metric ? std::optional<std::int64_t>(info_of(*metric).mark) : std::nullopt;
  Statement rows(database, sql::marks);
  for (const MarkDays& span : stored_days(database, kind, days)) {
    rows.bind(static_cast<int>(kind), day_number(span.from), day_number(span.to), reached.from_ms, reached.to_ms,
              number);
    while (rows.step()) visit(rows);
  }
}

MarkRow read_mark(const Statement& row, SubjectKind kind, MarkDays days, Metric metric) {
  const std::int64_t day_ms = days.from < 0 ? kAllTime : row.integer(3);
  const std::int64_t at_ms = row.integer(4);
  return {day_ms, kind, row.integer(0), metric, row.integer(2), {at_ms, at_ms - row.integer(5), seen_by(row.maybe(6))}};
}

}  // namespace

std::vector<HighWater> load_marks(SQLite::Database& database, RollupTails& tails, MarkDays days,
                                  const std::set<SubjectKind>& kinds) {
  MarkFold marks;
  for (const SubjectKind kind : kinds) {
    visit_stored(database, kind, days, std::nullopt, kWhenever, [&](const Statement& row) {
      marks.see(read_mark(row, kind, days, marked_metric(kind, row.integer(1))));
    });
    see_pending(database, kind, marks);
  }
  if (kinds.contains(SubjectKind::identity) || kinds.contains(SubjectKind::cgroup)) {
    for (const MarkRow& mark : pending_group_marks(database, tails)) marks.see(mark);
  }
  std::map<SubjectKind, std::map<std::int64_t, std::string>> names;
  for (const SubjectKind kind : kinds) names[kind] = load_group_names(database, kind);
  std::vector<HighWater> high_water;
  for (const MarkRow& row : marks.take()) {
    if (row.day_ms < days.from || row.day_ms > days.to || !kinds.contains(row.subject)) continue;
    HighWater& mark = high_water.emplace_back(told(row));
    const auto& of_kind = names[row.subject];
    if (const auto name = of_kind.find(row.subject_id); name != of_kind.end()) mark.name = name->second;
  }
  return high_water;
}

std::vector<HighWater> load_cgroup_marks(SQLite::Database& database, MarkDays days) {
  MarkFold marks;
  for (const Metric metric : sampled_marks(SubjectKind::cgroup)) {
    visit_stored(database, SubjectKind::cgroup, days, metric, kWhenever,
                 [&](const Statement& row) { marks.see(read_mark(row, SubjectKind::cgroup, days, metric)); });
  }
  see_pending(database, SubjectKind::cgroup, marks);
  std::vector<HighWater> found;
  for (const MarkRow& row : marks.take()) {
    if (row.day_ms >= days.from && row.day_ms <= days.to) found.push_back(told(row));
  }
  return found;
}

namespace {

// The highest marks of one metric of processes, one of each; of equal ones the first counts, since a recorder that was
// started again sees an old height again. Only what can still be among them is kept.
class HighestOfProcesses {
 public:
  explicit HighestOfProcesses(std::size_t most) : most_(most) {}

  // `make` makes the row of a mark that can be among them.
  template <typename Make>
  void see(std::int64_t process_id, std::int64_t value_kib, const Make& make) {
    seen_.add(process_id);
    if (value_kib < least_kib_) return;
    const MarkRow row = make();
    const auto [found, fresh] = rows_.try_emplace(process_id, row);
    const MarkRow& other = found->second;
    if (fresh) {
      if (rows_.size() / 2 > most_) leave_out_the_lowest();
    } else if (std::tie(other.value_kib, row.time.at_ms) < std::tie(row.value_kib, other.time.at_ms)) {
      found->second = row;
    }
  }

  std::vector<HighWater> take() const { return each_of(highest(), told); }
  std::int64_t processes() const { return seen_.size(); }

 private:
  std::vector<MarkRow> highest() const {
    std::vector<MarkRow> order = each_of(rows_, [](const auto& entry) { return entry.second; });
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(order.size(), most_));
    std::partial_sort(order.begin(), end, order.end(), [](const MarkRow& a, const MarkRow& b) {
      return std::tie(b.value_kib, a.time.at_ms, a.subject_id) < std::tie(a.value_kib, b.time.at_ms, b.subject_id);
    });
    order.erase(end, order.end());
    return order;
  }

  void leave_out_the_lowest() {
    const std::vector<MarkRow> kept = highest();
    rows_.clear();
    for (const MarkRow& row : kept) rows_.emplace(row.subject_id, row);
    if (!kept.empty()) least_kib_ = kept.back().value_kib;
  }

  std::size_t most_;
  std::int64_t least_kib_ = std::numeric_limits<std::int64_t>::min();
  IdSet seen_;
  std::unordered_map<std::int64_t, MarkRow> rows_;
};

}  // namespace

ProcessMarks load_process_marks(SQLite::Database& database, MarkDays days, std::optional<Range> reached, Metric metric,
                                std::size_t most) {
  if (!info_of(metric).marked.contains(SubjectKind::process)) return {};
  const Range within = reached.value_or(kWhenever);
  HighestOfProcesses highest(most);
  visit_stored(database, SubjectKind::process, days, metric, within, [&](const Statement& row) {
    highest.see(row.integer(0), row.integer(2), [&] { return read_mark(row, SubjectKind::process, days, metric); });
  });
  MarkFold pending;
  see_pending(database, SubjectKind::process, pending);
  for (const MarkRow& row : pending.take()) {
    const bool asked = row.metric == metric && row.day_ms >= days.from && row.day_ms <= days.to;
    const bool reached_there = row.time.at_ms >= within.from_ms && row.time.at_ms <= within.to_ms;
    if (asked && reached_there) highest.see(row.subject_id, row.value_kib, [&] { return row; });
  }
  return {highest.take(), highest.processes()};
}

}  // namespace memoir
