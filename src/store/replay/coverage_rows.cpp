#include "store/replay/coverage_rows.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "store/replay/tick_stamps.h"
#include "store/schema/sql.h"

namespace memoir {
namespace {

class CoverageRows {
 public:
  CoverageRows(SQLite::Database& database, Range range, CoverageBuilder& coverage)
      : database_(database),
        range_(range),
        coverage_(coverage),
        marks_(database, 0, 0),
        count_(database, "SELECT COUNT(*) FROM tick WHERE wall_ms BETWEEN ? AND ? AND id BETWEEN ? AND ?") {}

  void visit() {
    Statement ends(database_, "SELECT MIN(id), (SELECT tick_id FROM rollup_progress) FROM tick");
    ends.step();
    oldest_id_ = ends.maybe(0).value_or(std::numeric_limits<std::int64_t>::max());
    const std::int64_t watermark_id = std::max(ends.maybe(1).value_or(0), oldest_id_);
    visit_stretches(watermark_id - 1);
    if (ends.maybe(0)) visit_ticks(watermark_id);
  }

 private:
  std::optional<TickStamp> mark_of(std::int64_t id) {
    marks_.go_to(id, id);
    return marks_.step() ? std::optional(marks_.mark()) : std::nullopt;
  }

  void visit_stretches(std::int64_t last_rolled_id) {
    Statement rows(database_, sql::stretches);
    rows.bind(range_.from_ms, range_.to_ms);
    while (rows.step()) {
      const std::int64_t first_id = rows.integer(0);
      const std::int64_t last_id = std::min(rows.integer(1), last_rolled_id);
      StretchInfo stretch;
      stretch.last = {rows.integer(3), rows.integer(4), rows.integer(5), rows.integer(6), rows.integer(7), 0,
                      rows.text(8)};
      stretch.first = stretch.last;
      stretch.first.wall_ms = rows.integer(2);
      stretch.first.boot_ms -= stretch.last.wall_ms - stretch.first.wall_ms;
      stretch.gap = rows.text(9);
      if (first_id < oldest_id_) add_gone(stretch, first_id, last_id);
      if (last_id >= oldest_id_) add_kept(stretch.gap, std::max(first_id, oldest_id_), last_id);
    }
  }

  // Adds the part of a stretch that has no ticks any more, before the oldest tick.
  void add_gone(StretchInfo stretch, std::int64_t first_id, std::int64_t last_id) {
    stretch.ticks = std::min(last_id + 1, oldest_id_) - first_id;
    if (last_id >= oldest_id_) {
      if (const auto oldest = mark_of(oldest_id_)) stretch.last = *oldest;
    }
    coverage_.add(stretch);
  }

  void add_kept(const std::string& gap, std::int64_t first_id, std::int64_t last_id) {
    const auto first = mark_of(first_id);
    const auto last = mark_of(last_id);
    if (!first || !last) return;
    coverage_.add({*first, *last, ticks_within(*first, *last, first_id, last_id), gap, true});
  }

  // Returns the number of a stretch's ticks in the range.
  std::int64_t ticks_within(const TickStamp& first, const TickStamp& last, std::int64_t first_id,
                            std::int64_t last_id) {
    if (range_.from_ms <= first.wall_ms && last.wall_ms <= range_.to_ms) return last_id - first_id + 1;
    return count_.one(range_.from_ms, range_.to_ms, first_id, last_id).value_or(0);
  }

  // Visits the ticks from the one before the range to the one after it; there are usually few. If the wall clock was
  // set, ticks outside of the range may be among them, and a tick may be valid beyond the wall time of the next.
  void visit_ticks(std::int64_t watermark_id) {
    Statement span(database_,
                   "SELECT COALESCE(MAX(id) FILTER (WHERE wall_ms <= ?2), ?1), "
                   "MIN(id) FILTER (WHERE wall_ms + 2 * (SELECT interval_ms FROM run ORDER BY id DESC LIMIT 1) >= ?2), "
                   "MAX(id) FILTER (WHERE wall_ms <= ?3) FROM tick WHERE id >= ?1");
    if (!span.bind(watermark_id, range_.from_ms, range_.to_ms).step()) return;
    const std::int64_t before = span.integer(0);
    const std::int64_t last = span.maybe(2).value_or(watermark_id - 1);
    marks_.go_to(std::min(before, span.maybe(1).value_or(before)), last + 1);
    while (marks_.step()) coverage_.add(marks_.mark());
  }

  SQLite::Database& database_;
  Range range_;
  CoverageBuilder& coverage_;
  TickStamps marks_;
  Statement count_;
  std::int64_t oldest_id_ = 0;  // oldest stored tick
};

}  // namespace

void visit_coverage(SQLite::Database& database, Range range, CoverageBuilder& coverage) {
  CoverageRows(database, range, coverage).visit();
}

}  // namespace memoir
