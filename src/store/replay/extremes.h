#pragma once

// Rows of the table extreme: values between two ticks that are beyond those of both.

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "model/interval.h"
#include "model/metric.h"
#include "store/replay/tick_cursor.h"
#include "store/sqlite/statement.h"
#include "store/types.h"

namespace memoir {

struct ExtremeRow {
  std::int64_t subject_id = 0;
  Metric metric = Metric::rss;
  std::int64_t kib = 0;
  std::int64_t at_ms = 0;
  std::optional<std::int64_t> after_ms = {};  // time of the last lower value, if later than the previous tick
  Origin by = Origin::scan;
};

// Columns of a row, in the order that read_extremes expects; `e` and `t` are the tables extreme and tick.
inline constexpr const char* kExtremeColumns =
    "e.subject, e.subject_id, e.metric, e.low_kib, t.wall_ms - e.low_before_ms, e.high_kib, "
    "t.wall_ms - e.high_before_ms, t.wall_ms - e.high_after_ms, e.high_seen_by";

// Appends the minimum and maximum of a row, as far as present. A high-water mark is also appended as RSS, because RSS
// reached it. `first` is the number of the row's column e.subject. Appends nothing for an unknown metric.
void read_extremes(const Statement& row, int first, std::vector<ExtremeRow>& rows);

// Extremes of one subject kind over a span of ticks, inserted into the intervals of ticks.
class ExtremesBetween {
 public:
  // Reads the extremes of the query's subjects.
  ExtremesBetween(SQLite::Database& database, const TickSpan& ticks, const HistoryQuery& question);

  // Visits the interval, split where a lower or higher value was observed within it. The observed value is the minimum
  // or maximum of the part from there to the next tick. A rise of memory.peak at a tick counts before the tick. A rise
  // of VmHWM counts at the tick, which may be the process's first.
  void cut(const SubjectInterval& of, const VisitInterval& visit) const;

 private:
  struct Seen {
    std::int64_t tick_ms = 0;  // time of the next tick
    ExtremeRow row;

    std::int64_t within_ms() const { return row.by == Origin::memory_peak ? row.at_ms - 1 : row.at_ms; }
  };

  std::map<std::pair<std::int64_t, Metric>, std::vector<Seen>> seen_;  // sorted by time
};

}  // namespace memoir
