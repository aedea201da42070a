#include "store/marks/table.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>

#include "base/transformed.h"
#include "store/schema/sql.h"
#include "store/tables.h"

namespace memoir {
namespace {

constexpr const char* kAppend =
    "INSERT INTO raised_mark (day, subject, subject_id, metric, value_kib, after_ms, before_ms, seen_by) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kRaise =
    "INSERT INTO mark (day, subject, subject_id, metric, value_kib, after_ms, before_ms, seen_by) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE "
    "SET value_kib = excluded.value_kib, after_ms = excluded.after_ms, before_ms = excluded.before_ms, "
    "seen_by = excluded.seen_by "
    "WHERE IIF((SELECT m.lowest FROM metric AS m WHERE m.id = excluded.metric), excluded.value_kib < value_kib, "
    "excluded.value_kib > value_kib)";
// Makes the mark of a process's first day its first mark of all time.
constexpr const char* kKeepFirstDay =
    "INSERT INTO mark (day, subject, subject_id, metric, value_kib, after_ms, before_ms, seen_by) "
    "SELECT -1, subject, subject_id, metric, value_kib, day * 86400000 + after_ms, before_ms, seen_by FROM mark "
    "WHERE day = ?1 AND subject = 2 AND metric = ?2 AND subject_id = ?3 ON CONFLICT DO NOTHING";

// Returns the number of a day in the tables.
std::int64_t day_number(std::int64_t day_ms) {
  return day_ms == kAllTime ? kAllTime : day_ms / kDayLengthMs;
}

// Returns the metric with the stored number.
Metric marked_metric(SubjectKind kind, std::int64_t number) {
  const std::vector<Metric>& metrics = marked_metrics(kind);
  const auto found = std::ranges::find(metrics, number, [](Metric metric) { return info_of(metric).number; });
  return found == metrics.end() ? metrics.front() : *found;
}

bool is_lowest(std::int64_t number) {
  return std::ranges::any_of(kMetricInfos,
                             [number](const MetricInfo& info) { return info.number == number && info.lowest; });
}

HighWater high_water_of(const Mark& mark) {
  HighWater high_water;
  high_water.subject = mark.subject;
  high_water.subject_id = mark.subject_id;
  high_water.metric = mark.metric;
  if (mark.day_ms != kAllTime) high_water.day_ms = mark.day_ms;
  high_water.value_kib = mark.value_kib;
  high_water.at_ms = mark.time.at_ms;
  high_water.before_ms = mark.time.before_ms;
  high_water.seen_by = mark.time.by;
  return high_water;
}

constexpr Range kWhenever{std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};

// A range of subject ids.
struct SubjectIds {
  std::int64_t from = std::numeric_limits<std::int64_t>::min();
  std::int64_t to = std::numeric_limits<std::int64_t>::max();
};

// Returns the days in table mark that may have marks of a kind. For marks of all time, these include days of
// processes, because a process that ran within one day has no mark of all time.
std::vector<MarkDays> stored_days(SQLite::Database& database, SubjectKind kind, MarkDays days) {
  const std::int64_t kept_from =
      std::max<std::int64_t>(one(database, "SELECT day_from_ms FROM retention").value_or(0), 0);
  if (days.from >= 0) return {{std::max(days.from, kept_from), days.to}};
  if (kind != SubjectKind::process) return {days};
  return {{kept_from, std::numeric_limits<std::int64_t>::max()}, days};
}

// Visits the row of each mark of a kind, with several rows per subject. The rows are ordered by days and metrics, those
// of table mark first.
template <typename Visit>
void visit_marks(SQLite::Database& database, SubjectKind kind, MarkDays days, std::optional<Metric> metric,
                 Range reached, const Visit& visit, SubjectIds ids = {}) {
  const auto number = metric ? std::optional<std::int64_t>(info_of(*metric).number) : std::nullopt;
  const auto visit_days = [&](Statement& rows, MarkDays span) {
    rows.bind(static_cast<int>(kind), day_number(span.from), day_number(span.to), reached.from_ms, reached.to_ms,
              number, ids.from, ids.to);
    while (rows.step()) visit(rows);
  };
  Statement stored(database, sql::marks);
  for (const MarkDays& span : stored_days(database, kind, days)) visit_days(stored, span);
  Statement raised(database, sql::raised_marks);
  visit_days(raised, days.from < 0 ? MarkDays{0, std::numeric_limits<std::int64_t>::max()} : days);
}

Mark read_mark(const Statement& row, SubjectKind kind, MarkDays days, Metric metric) {
  const std::int64_t day_ms = days.from < 0 ? kAllTime : row.integer(3);
  const std::int64_t at_ms = row.integer(4);
  return {day_ms, kind,           row.integer(0),
          metric, row.integer(2), {at_ms, at_ms - row.integer(5), seen_by(row.maybe(6)).value_or(Origin::sample)}};
}

// The first of equal marks counts, because a restarted recorder observes an old value again.
bool exceeds(const Mark& mark, const Mark& other) {
  if (mark.value_kib == other.value_kib) return mark.time.at_ms < other.time.at_ms;
  return raises(mark.metric, mark.value_kib, other.value_kib);
}

// Resets a statement, which would otherwise keep old pages from being checkpointed.
struct ResetAfter {
  Statement& statement;
  ~ResetAfter() { statement.reset(); }
};

}  // namespace

MarkTable::MarkTable(SQLite::Database& database)
    : append_(database, kAppend),
      raised_(database,
              "SELECT day, subject, subject_id, metric, value_kib, after_ms, before_ms, seen_by FROM raised_mark "
              "ORDER BY day, subject, metric, subject_id, id"),
      raise_(database, kRaise),
      first_ms_(database, "SELECT first_ms FROM process WHERE id = ?"),
      keep_first_day_(database, kKeepFirstDay),
      clear_(database, "DELETE FROM raised_mark") {}

std::size_t MarkTable::append(const std::vector<Mark>& raised) {
  for (const Mark& mark : raised) {
    append_.run(day_number(mark.day_ms), static_cast<int>(mark.subject), mark.subject_id, info_of(mark.metric).number,
                mark.value_kib, mark.time.at_ms - mark.day_ms, mark.time.at_ms - mark.time.before_ms,
                static_cast<int>(mark.time.by));
  }
  return raised.size();
}

// Returns whether a mark also has a row of all time. Most processes run within one UTC day. Only the marks of that day
// are stored, because the marks of all time would be equal.
bool MarkTable::is_all_time(const Raised& mark) {
  if (mark.subject != static_cast<std::int64_t>(SubjectKind::process)) return true;
  const auto first_ms = first_ms_.one(mark.subject_id);
  if (first_ms && *first_ms / kDayLengthMs == mark.day) return false;
  if (first_ms) keep_first_day_.run(*first_ms / kDayLengthMs, mark.metric, mark.subject_id);
  return true;
}

// Moves marks in the order of table mark. Reads one at a time, because the first tick of a day raises marks of all
// processes, which would use much memory.
void MarkTable::merge() {
  const auto raise = [this](const Raised& mark, std::int64_t day, std::int64_t after_ms) {
    raise_.run(day, mark.subject, mark.subject_id, mark.metric, mark.value_kib, after_ms, mark.before_ms, mark.seen_by);
  };
  const auto store = [&](const Raised& mark) {
    raise(mark, mark.day, mark.after_ms);
    if (is_all_time(mark)) raise(mark, kAllTime, mark.day * kDayLengthMs + mark.after_ms);
  };
  const auto key = [](const Raised& mark) { return std::tie(mark.day, mark.subject, mark.metric, mark.subject_id); };
  const ResetAfter reset{raised_};
  std::optional<Raised> highest;
  raised_.bind();
  while (raised_.step()) {
    const Raised mark{raised_.integer(0), raised_.integer(1), raised_.integer(2), raised_.integer(3),
                      raised_.integer(4), raised_.integer(5), raised_.integer(6), raised_.integer(7)};
    if (highest && key(*highest) == key(mark)) {
      const bool is_higher = (mark.value_kib > highest->value_kib) != is_lowest(mark.metric);
      if (is_higher && mark.value_kib != highest->value_kib) highest = mark;
      continue;
    }
    if (highest) store(*highest);
    highest = mark;
  }
  if (highest) store(*highest);
  clear_.run();
}

std::map<std::int64_t, std::string> load_group_names(SQLite::Database& database, SubjectKind kind) {
  std::map<std::int64_t, std::string> names;
  if (std::ranges::find(kGroupKinds, kind) == kGroupKinds.end()) return names;
  const StoreTable& table = table_of_groups(kind);
  Statement rows(database, fmt::format("SELECT id, {} FROM {} ORDER BY id", table.title, table.name));
  while (rows.step()) names[rows.integer(0)] = rows.name(1);
  return names;
}

std::vector<HighWater> load_marks(SQLite::Database& database, MarkDays days, const std::set<SubjectKind>& kinds) {
  std::map<std::tuple<std::int64_t, SubjectKind, std::int64_t, std::int64_t>, Mark> marks;
  std::map<SubjectKind, std::map<std::int64_t, std::string>> names;
  for (const SubjectKind kind : kinds) {
    names[kind] = load_group_names(database, kind);
    visit_marks(database, kind, days, std::nullopt, kWhenever, [&](const Statement& row) {
      const Mark mark = read_mark(row, kind, days, marked_metric(kind, row.integer(1)));
      const auto [found, added] = marks.try_emplace({mark.day_ms, kind, mark.subject_id, row.integer(1)}, mark);
      if (!added && exceeds(mark, found->second)) found->second = mark;
    });
  }
  return transformed(marks, [&names](const auto& entry) {
    HighWater mark = high_water_of(entry.second);
    const auto& of_kind = names[mark.subject];
    if (const auto name = of_kind.find(mark.subject_id); name != of_kind.end()) mark.name = name->second;
    return mark;
  });
}

ProcessMarks load_process_marks(SQLite::Database& database, MarkDays days, std::optional<Range> reached, Metric metric,
                                std::size_t most) {
  if (!info_of(metric).marked.contains(SubjectKind::process)) return {};
  std::unordered_map<std::int64_t, Mark> highest;
  visit_marks(database, SubjectKind::process, days, metric, reached.value_or(kWhenever), [&](const Statement& row) {
    const Mark mark = read_mark(row, SubjectKind::process, days, metric);
    const auto [found, added] = highest.try_emplace(mark.subject_id, mark);
    if (!added && exceeds(mark, found->second)) found->second = mark;
  });
  std::vector<Mark> order = transformed(highest, [](const auto& entry) { return entry.second; });
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(order.size(), most));
  std::partial_sort(order.begin(), end, order.end(), [](const Mark& a, const Mark& b) {
    return std::tie(b.value_kib, a.time.at_ms, a.subject_id) < std::tie(a.value_kib, b.time.at_ms, b.subject_id);
  });
  order.erase(end, order.end());
  return {transformed(order, high_water_of), static_cast<std::int64_t>(highest.size())};
}

std::vector<HighWater> load_marks_of_process(SQLite::Database& database, std::int64_t process_id) {
  std::map<std::int64_t, Mark> highest;  // by metric number
  const auto keep = [&highest](const Statement& row) {
    const Metric metric = marked_metric(SubjectKind::process, row.integer(1));
    const Mark mark = read_mark(row, SubjectKind::process, MarkDays(), metric);
    const auto [found, added] = highest.try_emplace(row.integer(1), mark);
    if (!added && exceeds(mark, found->second)) found->second = mark;
  };
  visit_marks(database, SubjectKind::process, MarkDays(), std::nullopt, kWhenever, keep, {process_id, process_id});
  return transformed(highest, [](const auto& entry) { return high_water_of(entry.second); });
}

}  // namespace memoir
