#pragma once

// Rows of the table extreme: what looks between two ticks saw beyond both.

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
  std::optional<std::int64_t> after_ms = {};  // when it was not yet so, if that is not the tick before
  SeenBy by = SeenBy::look;
};

// Columns of a row, in the order that read_extremes expects; `e` and `t` stand for the tables extreme and tick.
inline constexpr const char* kExtremeColumns =
    "e.subject, e.subject_id, e.metric, e.low_kib, t.wall_ms - e.low_before_ms, e.high_kib, "
    "t.wall_ms - e.high_before_ms, t.wall_ms - e.high_after_ms, e.high_seen_by";

// The lowest and the highest of a row, as far as it has them. `first`: the column of subject_id's subject. Nothing for
// a metric that we do not know.
void read_extremes(const Statement& row, int first, std::vector<ExtremeRow>& rows);

// Those of one kind of subject over a span of ticks, put into the intervals that ticks make.
class ExtremesBetween {
 public:
  // Of what is asked about.
  ExtremesBetween(SQLite::Database& database, const TickSpan& ticks, const HistoryQuestion& question);

  // Hands out the interval, cut where something lower or higher was seen within it: what was seen is the lowest or
  // highest of the part from there to the next tick. What memory.peak told at a tick is of the time that ends there.
  void cut(const SubjectInterval& of, const VisitInterval& visit) const;

 private:
  struct Seen {
    std::int64_t tick_ms = 0;  // of the tick after it
    ExtremeRow row;

    std::int64_t within_ms() const { return row.by == SeenBy::memory_peak ? row.at_ms - 1 : row.at_ms; }
  };

  std::map<std::pair<std::int64_t, Metric>, std::vector<Seen>> seen_;  // sorted by time
};

}  // namespace memoir
