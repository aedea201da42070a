#include "analysis/ranking.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>

namespace memoir {

std::optional<std::int64_t> Summary::growth() const {
  if (!first || !last) return std::nullopt;
  return *last - *first;
}

void Fold::add(const Interval& interval) {
  const std::int64_t length = interval.covered_ms;
  if (!interval.mean) {
    summary_.absent_ms += length;
    return;
  }
  const std::int64_t value = *interval.mean;
  extremes_unknown_ = extremes_unknown_ || !interval.min || !interval.max;
  if (!summary_.first) {
    summary_.first = value;
    summary_.first_ms = interval.from_ms;
  }
  summary_.last = interval.last.value_or(value);
  summary_.last_ms = interval.until_ms;
  const std::int64_t high = interval.max.value_or(value);
  summary_.min = std::min(summary_.min.value_or(value), interval.min.value_or(value));
  if (!summary_.max || high > *summary_.max) {
    summary_.max = high;
    summary_.max_at_ms = interval.max_at_ms.value_or(interval.from_ms);
    summary_.max_until_ms = interval.max_at_ms.value_or(interval.until_ms);
  } else if (high == *summary_.max && interval.from_ms == summary_.max_until_ms) {
    summary_.max_until_ms = interval.until_ms;
  }
  summary_.covered_ms += length;
  weighted_ += static_cast<long double>(value) * static_cast<long double>(length);
  if (length == 0) {
    points_ += static_cast<long double>(value);
    ++point_count_;
  }
}

Summary Fold::summary() const {
  Summary summary = summary_;
  if (!summary.min) return summary;
  const long double mean = summary.covered_ms > 0 ? weighted_ / static_cast<long double>(summary.covered_ms)
                                                  : points_ / static_cast<long double>(point_count_);
  // Rounding must not carry the mean out of [min, max]; a damaged file may have a min beyond its max.
  summary.mean = std::max(std::min(static_cast<double>(mean), static_cast<double>(*summary.max)),
                          static_cast<double>(*summary.min));
  if (extremes_unknown_) summary.min = summary.max = std::nullopt;
  return summary;
}

void ExactShare::add(double held, std::optional<double> exact) {
  if (held <= 0) return;
  held_ += held;
  exact_ = exact_ && exact ? std::optional(*exact_ + *exact * held) : std::nullopt;
}

void ExactShare::add(const Interval& interval) {
  add(held_over(interval), interval.exact);
}

std::optional<double> ExactShare::percent() const {
  return held_ > 0 && exact_ ? std::optional(100 * *exact_ / held_) : std::nullopt;
}

Summary summarise(std::span<const Interval> intervals) {
  Fold fold;
  for (const Interval& interval : intervals) fold.add(interval);
  return fold.summary();
}

void GroupSum::add(std::int64_t member, const Interval& interval, bool gone) {
  if (interval.min_at_ms) moments_.push_back({*interval.min_at_ms, *interval.min - *interval.mean});
  if (interval.max_at_ms) moments_.push_back({*interval.max_at_ms, *interval.max - *interval.mean});
  if (interval.min_at_ms || interval.max_at_ms) cuts_.insert(cuts_.end(), {interval.from_ms, interval.until_ms});
  const std::int64_t kib = interval.mean.value_or(kUnknown);
  if (interval.from_ms == interval.until_ms) return points_.push_back({interval.from_ms, member, kib});
  begins_.push_back({interval.from_ms, member, kib});
  (gone ? gone_ : ends_).push_back({interval.until_ms, member, kib});
}

// The sum at one time.
struct GroupSum::Level {
  std::int64_t sum = 0;
  std::int64_t members = 0;
  std::int64_t absent = 0;

  void add(const Change& change, std::int64_t sign = 1) {
    members += sign;
    if (change.kib == kUnknown) {
      absent += sign;
    } else {
      sum += sign * change.kib;
    }
  }
  GroupInterval over(std::int64_t from_ms, std::int64_t until_ms) const {
    return {constant(from_ms, until_ms, absent < members ? std::optional(sum) : std::nullopt), members, absent};
  }
  bool operator==(const Level&) const = default;
};

// The level at a time that has points, where `level` goes on after it. If nothing goes on, recording ends there, and
// who ended without a point of its own did not change: it is still there at that very tick.
GroupSum::Level GroupSum::point_level(std::span<const Change> points, std::span<const Change> ends, Level level) {
  std::set<std::int64_t> changed;
  const bool over = level.members == 0;
  for (const Change& change : points) {
    level.add(change);
    changed.insert(change.member);
  }
  for (const Change& change : ends) {
    if (over && !changed.contains(change.member)) level.add(change);
  }
  return level;
}

namespace {

// Of sorted ones those at one time, after the others that were taken.
template <typename Changes, typename Time>
auto take_at(const Changes& changes, std::size_t& next, std::int64_t at_ms, Time time) {
  const std::size_t first = next;
  while (next < changes.size() && std::invoke(time, changes[next]) == at_ms) ++next;
  return std::span(changes).subspan(first, next - first);
}

}  // namespace

std::vector<GroupInterval> GroupSum::intervals() {
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  std::array<Changes*, 4> all{&begins_, &ends_, &gone_, &points_};
  // Ends mostly come in order.
  for (Changes* const changes : all) {
    if (!std::ranges::is_sorted(*changes, {}, &Change::at_ms)) std::ranges::sort(*changes, {}, &Change::at_ms);
  }
  std::ranges::sort(cuts_);
  std::array<std::size_t, 4> next{};
  std::size_t next_cut = 0;
  std::vector<GroupInterval> intervals;
  Level level;
  std::int64_t since_ms = 0;
  while (true) {
    std::int64_t at_ms = never;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (next[i] < all[i]->size()) at_ms = std::min(at_ms, (*all[i])[next[i]].at_ms);
    }
    if (at_ms == never) break;
    const auto taken = [&](std::size_t i) { return take_at(*all[i], next[i], at_ms, &Change::at_ms); };
    const Level before = level;
    // First who goes: of two sums beside each other one may be beyond all numbers.
    const std::span<const Change> ends = taken(1);
    for (const Change& change : ends) level.add(change, -1);
    for (const Change& change : taken(2)) level.add(change, -1);
    for (const Change& change : taken(0)) level.add(change);
    const std::span<const Change> points = taken(3);
    const bool cut = !take_at(cuts_, next_cut, at_ms, std::identity()).empty();
    if (before.members == 0 || before != level || !points.empty() || cut) {
      if (before.members > 0) intervals.push_back(before.over(since_ms, at_ms));
      since_ms = at_ms;
    }
    if (!points.empty()) intervals.push_back(point_level(points, ends, level).over(at_ms, at_ms));
  }
  widen(intervals);
  return intervals;
}

void GroupSum::widen(std::vector<GroupInterval>& intervals) const {
  for (const Moment& moment : moments_) {
    auto after = std::ranges::upper_bound(intervals, moment.at_ms, {},
                                          [](const GroupInterval& of) { return of.interval.from_ms; });
    if (after == intervals.begin()) continue;
    Interval& interval = std::prev(after)->interval;
    if (!interval.mean || interval.until_ms <= moment.at_ms) continue;
    touch(interval, *interval.mean + moment.beyond_kib, moment.at_ms);
  }
}

Summary GroupSum::summary() {
  Fold fold;
  for (const GroupInterval& of : intervals()) fold.add(of.interval);
  return fold.summary();
}

bool ranks_before(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && (!b || *a > *b);
}

bool ranks_before(std::optional<double> a, std::optional<double> b) {
  return a && (!b || *a > *b);
}

}  // namespace memoir
