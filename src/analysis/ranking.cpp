#include "analysis/ranking.h"

#include <algorithm>
#include <set>

namespace memoir {

std::optional<std::int64_t> Summary::growth() const {
  if (!first || !last) return std::nullopt;
  return *last - *first;
}

void Fold::add(const Interval& interval) {
  const std::int64_t length = interval.covered_ms;
  if (!interval.mean) return;
  const std::int64_t value = *interval.mean;
  extremes_unknown_ = extremes_unknown_ || !interval.min || !interval.max;
  if (!summary_.first) summary_.first = value;
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
  // Rounding must not move the mean out of [min, max]. In a damaged file, min may be above max.
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

void GroupSum::add(std::int64_t member, const Interval& interval, bool gone, std::int32_t pass) {
  if (interval.min_at_ms) moments_.push_back({*interval.min_at_ms, *interval.min - *interval.mean, pass});
  if (interval.max_at_ms) moments_.push_back({*interval.max_at_ms, *interval.max - *interval.mean, pass});
  const auto change = [&](std::int64_t at_ms, Change::Kind kind) {
    changes_.push_back({at_ms, member, interval.mean.value_or(0), interval.mean.has_value(),
                        interval.min_at_ms || interval.max_at_ms, kind, pass});
  };
  if (interval.from_ms == interval.until_ms) return change(interval.from_ms, Change::Kind::point);
  change(interval.from_ms, Change::Kind::begin);
  change(interval.until_ms, gone ? Change::Kind::gone : Change::Kind::end);
}

// The sum at one time, and its number of members.
struct GroupSum::Level {
  std::int64_t sum = 0;
  std::int64_t members = 0;
  std::int64_t absent = 0;

  void add(const Change& change, std::int64_t sign = 1) {
    members += sign;
    sum += sign * change.kib;
    absent += change.known ? 0 : sign;
  }
  GroupInterval over(std::int64_t from_ms, std::int64_t until_ms) const {
    return {constant(from_ms, until_ms, absent < members ? std::optional(sum) : std::nullopt), members, absent};
  }
  bool operator==(const Level&) const = default;
};

// Returns the level at a time with points; `level` is the level after that time. If no member continues, the recording
// ends at this tick. A member that ended without a point did not change, and is still part of the tick.
GroupSum::Level GroupSum::point_level(std::span<const Change> changes, Level level) {
  std::set<std::int64_t> changed;
  const bool ends = level.members == 0;
  for (const Change& change : changes) {
    if (change.kind != Change::Kind::point) continue;
    level.add(change);
    changed.insert(change.member);
  }
  for (const Change& change : changes) {
    if (ends && change.kind == Change::Kind::end && !changed.contains(change.member)) level.add(change);
  }
  return level;
}

void GroupSum::visit(const std::function<void(const GroupInterval&)>& visit) {
  std::ranges::sort(changes_, {}, &Change::when);
  std::ranges::sort(moments_, {}, &Moment::when);
  auto moment = moments_.cbegin();
  std::int32_t pass = 0;
  const auto hand_out = [&](const Level& level, std::int64_t from_ms, std::int64_t until_ms) {
    GroupInterval of = level.over(from_ms, until_ms);
    const std::pair from(pass, from_ms);
    const std::pair until(pass, std::max(until_ms, from_ms + 1));
    moment = std::find_if(moment, moments_.cend(), [&](const Moment& seen) { return seen.when() >= from; });
    for (; moment != moments_.cend() && moment->when() < until; ++moment)
      if (of.interval.mean) touch(of.interval, *of.interval.mean + moment->beyond_kib, moment->at_ms);
    visit(of);
  };
  Level level;
  std::int64_t since_ms = 0;
  for (auto begin = changes_.begin(); begin != changes_.end();) {
    const std::int64_t at_ms = begin->at_ms;
    pass = begin->pass;
    const auto end =
        std::find_if(begin, changes_.end(), [&](const Change& change) { return change.when() != begin->when(); });
    const Level before = level;
    bool pointed = false;
    bool cut = false;
    // Members that end are removed before others are added, because the sum of both might overflow.
    for (const Change& change : std::span(begin, end)) {
      cut = cut || change.moment;
      pointed = pointed || change.kind == Change::Kind::point;
      if (change.kind == Change::Kind::end || change.kind == Change::Kind::gone) level.add(change, -1);
    }
    for (const Change& change : std::span(begin, end)) {
      if (change.kind == Change::Kind::begin) level.add(change);
    }
    if (before.members == 0 || before != level || pointed || cut) {
      if (before.members > 0) hand_out(before, since_ms, at_ms);
      since_ms = at_ms;
    }
    if (pointed) hand_out(point_level({begin, end}, level), at_ms, at_ms);
    begin = end;
  }
}

Summary GroupSum::summary() {
  Fold fold;
  visit([&fold](const GroupInterval& of) { fold.add(of.interval); });
  return fold.summary();
}

}  // namespace memoir
