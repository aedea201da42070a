#include "store/replay/coverage.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

namespace memoir {

std::int64_t longest_step_ms(std::int64_t interval_ms) {
  return interval_ms + interval_ms / 2 + std::min<std::int64_t>(1000, interval_ms / 2);
}

bool is_gap(const TickStamp& before, const TickStamp& after) {
  const bool same_boot = before.boot_id == after.boot_id;
  const std::int64_t apart = same_boot ? after.boot_ms - before.boot_ms : after.wall_ms - before.wall_ms;
  return apart > longest_step_ms(before.interval_ms);
}

bool is_clock_step(const TickStamp& before, const TickStamp& after) {
  if (before.boot_id != after.boot_id) return false;
  return std::abs((after.wall_ms - before.wall_ms) - (after.boot_ms - before.boot_ms)) > kClockStepMs;
}

std::int64_t valid_until_ms(const TickStamp& before, const TickStamp& after) {
  if (is_gap(before, after)) return before.wall_ms;
  if (is_clock_step(before, after)) return before.wall_ms + after.boot_ms - before.boot_ms;
  return std::max(before.wall_ms, after.wall_ms);
}

std::string gap_reason(const TickStamp& before, const TickStamp& after) {
  if (before.boot_id != after.boot_id) return "rebooted";
  if (before.run_id != after.run_id) return before.run_end == "unclean" ? "killed" : "not running";
  const std::int64_t interval = std::max<std::int64_t>(before.interval_ms, 1);
  const std::int64_t missing = (after.boot_ms - before.boot_ms + interval / 2) / interval - 1;
  return after.skipped >= missing ? "late" : "lost";
}

bool reaches(const TickStamp& last, std::int64_t at_ms) {
  return last.run_end.empty() && at_ms - last.wall_ms <= longest_step_ms(last.interval_ms);
}

// Adds the span from the last tick to the next: recorded, or a gap with its reason.
void CoverageBuilder::connect(const TickStamp& next, const std::string& gap) {
  if (last_.empty()) {
    first_ms_ = latest_ms_ = next.wall_ms;
    last_.push_back(next);
  } else {
    const TickStamp& before = last_.front();
    const std::int64_t held_ms = gap.empty() ? valid_until_ms(before, next) : before.wall_ms;
    add_span(before.wall_ms, held_ms, "");
    add_span(held_ms, next.wall_ms, gap.empty() ? "clock set" : gap);
    last_.front() = next;
  }
  first_ms_ = std::min(first_ms_, next.wall_ms);
  latest_ms_ = std::max(latest_ms_, next.wall_ms);
}

void CoverageBuilder::count(const TickStamp& tick, std::int64_t ticks) {
  coverage_.ticks += ticks;
  if (tick.run_id != last_run_) ++coverage_.runs;
  last_run_ = tick.run_id;
}

void CoverageBuilder::add(const TickStamp& tick) {
  const bool gap = !last_.empty() && is_gap(last_.front(), tick);
  connect(tick, gap ? gap_reason(last_.front(), tick) : "");
  if (tick.wall_ms >= range_.from_ms && tick.wall_ms <= range_.to_ms) count(tick, 1);
}

void CoverageBuilder::add(const StretchInfo& stretch) {
  connect(stretch.first, stretch.gap);
  add_span(stretch.first.wall_ms, stretch.last.wall_ms, "");
  last_.front() = stretch.last;
  latest_ms_ = std::max(latest_ms_, stretch.last.wall_ms);
  if (stretch.counted) {
    if (stretch.ticks > 0) count(stretch.last, stretch.ticks);
    return;
  }
  const std::int64_t whole = stretch.last.wall_ms - stretch.first.wall_ms;
  const std::int64_t inside =
      std::min(stretch.last.wall_ms, range_.to_ms) - std::max(stretch.first.wall_ms, range_.from_ms);
  if (inside < 0) return;
  const double share = whole > 0 ? static_cast<double>(inside) / static_cast<double>(whole) : 1;
  count(stretch.last, std::llround(share * static_cast<double>(stretch.ticks)));
}

// Adds a span. Adjacent recorded spans become one, so that few remain. After a step back of the wall clock, spans may
// overlap.
void CoverageBuilder::add_span(std::int64_t from_ms, std::int64_t to_ms, const std::string& reason) {
  if (to_ms <= from_ms) return;
  if (reason.empty() && !spans_.empty() && spans_.back().reason.empty() && spans_.back().to_ms == from_ms) {
    spans_.back().to_ms = to_ms;
  } else {
    spans_.push_back({from_ms, to_ms, reason});
  }
}

// Returns the span that covers a piece in which no span starts or ends: a recorded one, otherwise the latest gap.
const CoverageBuilder::Span* CoverageBuilder::span_of(std::int64_t from_ms, std::int64_t to_ms) const {
  const Span* found = nullptr;
  for (const Span& span : spans_) {
    if (span.from_ms > from_ms || span.to_ms < to_ms) continue;
    if (span.reason.empty()) return &span;
    found = &span;
  }
  return found;
}

Coverage CoverageBuilder::finish() {
  coverage_.asked = range_;
  if (!last_.empty() && reaches(last_.front(), range_.to_ms)) add_span(last_.front().wall_ms, range_.to_ms, "");
  std::set<std::int64_t> edges{range_.from_ms, range_.to_ms};
  const auto add_edge = [&](std::int64_t ms) {
    if (ms > range_.from_ms && ms < range_.to_ms) edges.insert(ms);
  };
  for (const Span& span : spans_) {
    add_edge(span.from_ms);
    add_edge(span.to_ms);
  }
  const Span* before = nullptr;
  for (auto edge = edges.begin(); std::next(edge) != edges.end(); ++edge) {
    const std::int64_t from = *edge;
    const std::int64_t to = *std::next(edge);
    const Span* span = span_of(from, to);
    if (span != nullptr && span->reason.empty()) {
      coverage_.recorded_ms += to - from;
    } else if (span != nullptr && span == before) {
      coverage_.gaps.back().to_ms = to;
    } else {
      const bool early = last_.empty() || to <= first_ms_;
      coverage_.gaps.push_back({from, to,
                                span != nullptr ? span->reason
                                : early         ? "before the first tick"
                                                : "after the last tick"});
    }
    before = span;
  }
  return coverage_;
}

}  // namespace memoir
