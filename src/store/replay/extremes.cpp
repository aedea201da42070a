#include "store/replay/extremes.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace memoir {
namespace {

struct StoredMetric {
  SubjectKind kind;
  Metric metric;
};

// All metrics with rows in the table extreme.
constexpr std::array kStored{StoredMetric{SubjectKind::machine, Metric::used},
                             StoredMetric{SubjectKind::machine, metric_of(MachineField::mem_available)},
                             StoredMetric{SubjectKind::category, Metric::rss},
                             StoredMetric{SubjectKind::process, Metric::rss},
                             StoredMetric{SubjectKind::process, Metric::anon},
                             StoredMetric{SubjectKind::process, Metric::hwm},
                             StoredMetric{SubjectKind::cgroup, Metric::usage},
                             StoredMetric{SubjectKind::cgroup, Metric::usage_swap}};

}  // namespace

void read_extremes(const Statement& row, int first, std::vector<ExtremeRow>& rows) {
  const auto* const known = std::ranges::find_if(kStored, [&](const StoredMetric& stored) {
    return static_cast<std::int64_t>(stored.kind) == row.integer(first) &&
           info_of(stored.metric).number == row.integer(first + 2);
  });
  if (known == kStored.end()) return;
  const auto add = [&](int column, std::optional<std::int64_t> after_ms, Origin by) {
    const auto kib = row.maybe(column);
    if (!kib) return;
    rows.push_back({row.integer(first + 1), known->metric, *kib, row.integer(column + 1), after_ms, by});
    if (known->metric != Metric::hwm) return;
    rows.push_back(rows.back());
    rows.back().metric = Metric::rss;
  };
  add(first + 3, std::nullopt, Origin::scan);
  add(first + 5, row.maybe(first + 7), seen_by(row.maybe(first + 8)).value_or(Origin::scan));
}

ExtremesBetween::ExtremesBetween(SQLite::Database& database, const TickSpan& ticks, const HistoryQuery& question) {
  const auto is_asked = [&](const StoredMetric& stored) {
    return stored.kind == question.kind && std::ranges::find(question.metrics, stored.metric) != question.metrics.end();
  };
  if (std::ranges::none_of(kStored, is_asked)) return;
  // The rows of the tick after the last are read too, because they belong to the time before that tick.
  Statement rows(
      database,
      fmt::format("SELECT {}, t.wall_ms FROM extreme AS e JOIN tick AS t ON t.id = e.tick_id "
                  "WHERE e.tick_id BETWEEN ? AND ? AND e.subject = ? AND e.subject_id = COALESCE(?, e.subject_id) "
                  "ORDER BY e.tick_id, e.subject_id, e.metric",
                  kExtremeColumns));
  rows.bind(ticks.first, ticks.last + 1, static_cast<int>(question.kind), question.subject_id);
  std::vector<ExtremeRow> read;
  while (rows.step()) {
    read.clear();
    read_extremes(rows, 0, read);
    for (const ExtremeRow& row : read) seen_[{row.subject_id, row.metric}].push_back({rows.integer(9), row});
  }
  for (auto& [key, of] : seen_) std::ranges::stable_sort(of, {}, &Seen::within_ms);
}

void ExtremesBetween::cut(const SubjectInterval& of, const VisitInterval& visit) const {
  const Interval& interval = of.interval;
  const auto found = seen_.find({of.subject_id, of.metric});
  if (found == seen_.end() || !interval.mean) return visit(of);
  const std::vector<Seen>& all = found->second;
  const auto part = [&](std::int64_t from_ms, std::int64_t until_ms) {
    return SubjectInterval{of.subject_id, of.metric, of.processes,
                           constant(from_ms, until_ms, interval.mean, interval.exact), of.pass};
  };
  std::int64_t from_ms = interval.from_ms;
  auto seen = std::ranges::lower_bound(all, from_ms, {}, &Seen::within_ms);
  if (from_ms == interval.until_ms) {
    SubjectInterval point = of;
    for (; seen != all.end() && seen->within_ms() == from_ms; ++seen) touch(point.interval, seen->row.kib, from_ms);
    return visit(point);
  }
  while (seen != all.end() && seen->within_ms() < interval.until_ms) {
    const std::int64_t begin_ms = seen->within_ms();
    if (begin_ms > from_ms) visit(part(from_ms, begin_ms));
    SubjectInterval touched = part(begin_ms, std::clamp(seen->tick_ms, begin_ms + 1, interval.until_ms));
    from_ms = touched.interval.until_ms;
    for (; seen != all.end() && seen->within_ms() < from_ms; ++seen)
      touch(touched.interval, seen->row.kib, seen->row.at_ms);
    visit(touched);
  }
  if (from_ms < interval.until_ms) visit(part(from_ms, interval.until_ms));
}

}  // namespace memoir
