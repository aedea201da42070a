#pragma once

// High-water marks in the store, and those that raw rows after the last flush add to them.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "store/marks/high_water.h"
#include "store/sqlite/statement.h"

namespace memoir {

class RollupTails;

struct MarkRow {
  std::int64_t day_ms = kAllTime;
  SubjectKind subject = SubjectKind::machine;
  std::int64_t subject_id = 0;
  Metric metric = Metric::used;
  std::int64_t value_kib = 0;
  MarkTime time;

  auto key() const { return std::tuple(day_ms, subject, subject_id, info_of(metric).mark); }
};

// The highest of each subject, metric and day; of equal ones the first stays.
class MarkFold {
 public:
  void see(const MarkRow& row);
  // For its day and for all time.
  void see(SubjectKind subject, std::int64_t subject_id, Metric metric, std::optional<std::int64_t> value,
           MarkTime time);
  // Those of a sample; `hwm_time` is that of its VmHWM.
  void see(SubjectKind subject, std::int64_t subject_id, const MarkValues& values, MarkTime time, MarkTime hwm_time);

  // Sorted by key.
  std::vector<MarkRow> take() const;

 private:
  std::map<decltype(MarkRow{}.key()), MarkRow> rows_;
};

class MarkRows {
 public:
  explicit MarkRows(SQLite::Database& database);

  // Stores a mark, if it beats the one that is there.
  void raise(const MarkRow& mark);
  // Stores those that are not stored yet.
  void flush(SubjectKind subject, std::int64_t subject_id, std::int64_t day_ms, Marks& marks);
  // Everything up to this tick is stored.
  void set_watermark(std::int64_t tick_id) { watermark_.run(tick_id); }

 private:
  void store(Mark& mark, MarkRow row);

  Statement outlive_first_day_;
  Statement raise_;
  Statement watermark_;
};

// Stores the marks of the ticks after the watermark, and moves that to the last tick. A subject whose values held since
// before the watermark is not in them; those were counted when the watermark's day and run began. Belongs into a
// transaction.
void store_pending_marks(SQLite::Database& database);

// What the categories, identities or cgroups are called, by their row; processes are told by their own.
std::map<std::int64_t, std::string> load_group_names(SQLite::Database& database, SubjectKind kind);

// UTC days, or all time.
struct MarkDays {
  std::int64_t from = kAllTime;
  std::int64_t to = kAllTime;
};

// Stored and pending marks of these days and kinds, sorted by day, subject and metric.
std::vector<HighWater> load_marks(SQLite::Database& database, RollupTails& tails, MarkDays days,
                                  const std::set<SubjectKind>& kinds);

// Those of the cgroups' own counters alone (sampled_marks), at a fraction of the cost; sorted in the same way, without
// names.
std::vector<HighWater> load_cgroup_marks(SQLite::Database& database, MarkDays days);

// The highest `most` of a metric of processes, one of each (Reader::process_marks).
ProcessMarks load_process_marks(SQLite::Database& database, MarkDays days, std::optional<Range> reached, Metric metric,
                                std::size_t most);

}  // namespace memoir
