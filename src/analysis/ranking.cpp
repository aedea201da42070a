#include "analysis/ranking.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace memoir {

std::optional<std::int64_t> Summary::growth() const {
  if (!first || !last) return std::nullopt;
  return *last - *first;
}

Step clipped(const Step& step, std::int64_t from_ms, std::int64_t until_ms) {
  Step part = step;
  part.at_ms = std::max(step.at_ms, from_ms);
  part.until_ms = std::min(step.until_ms, until_ms);
  const std::int64_t whole = step.until_ms - step.at_ms;
  const std::int64_t inside = part.until_ms - part.at_ms;
  if (!part.spread || inside == whole) return part;
  const double share = static_cast<double>(inside) / static_cast<double>(whole);
  part.spread->covered_ms = std::llround(share * static_cast<double>(step.spread->covered_ms));
  return part;
}

void Fold::add(const Step& step) {
  const std::int64_t length = step.covered_ms();
  if (!step.value) {
    summary_.absent_ms += length;
    return;
  }
  const std::int64_t value = *step.value;
  const Spread spread = step.spread.value_or(Spread{length, value, value, value});
  extremes_unknown_ = extremes_unknown_ || !spread.low || !spread.high;
  if (!summary_.first) {
    summary_.first = value;
    summary_.first_ms = step.at_ms;
  }
  summary_.last = spread.last.value_or(value);
  summary_.last_ms = step.until_ms;
  const std::int64_t high = spread.high.value_or(value);
  summary_.min = std::min(summary_.min.value_or(value), spread.low.value_or(value));
  if (!summary_.max || high > *summary_.max) {
    summary_.max = high;
    summary_.max_at_ms = spread.high_at_ms.value_or(step.at_ms);
    summary_.max_until_ms = spread.high_at_ms.value_or(step.until_ms);
  } else if (high == *summary_.max && step.at_ms == summary_.max_until_ms) {
    summary_.max_until_ms = step.until_ms;
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
  // Rounding must not carry the mean out of [min, max].
  summary.mean =
      std::clamp(static_cast<double>(mean), static_cast<double>(*summary.min), static_cast<double>(*summary.max));
  if (extremes_unknown_) summary.min = summary.max = std::nullopt;
  return summary;
}

void ExactShare::add(double held, std::optional<double> exact) {
  if (held <= 0) return;
  held_ += held;
  exact_ = exact_ && exact ? std::optional(*exact_ + *exact * held) : std::nullopt;
}

void ExactShare::add(const Step& bucket) {
  if (!bucket.spread) return;
  const double held = static_cast<double>(bucket.value.value_or(0)) * static_cast<double>(bucket.covered_ms());
  add(held, bucket.spread->exact);
}

std::optional<double> ExactShare::percent() const {
  return held_ > 0 && exact_ ? std::optional(100 * *exact_ / held_) : std::nullopt;
}

Summary summarise(std::span<const Step> steps) {
  Fold fold;
  for (const Step& step : steps) fold.add(step);
  return fold.summary();
}

void GroupSum::add(std::int64_t member, const Step& step, bool gone) {
  if (step.at_ms == step.until_ms) {
    changes_.push_back({step.at_ms, member, step.value, Change::Kind::point});
    return;
  }
  changes_.push_back({step.at_ms, member, step.value, Change::Kind::begin});
  changes_.push_back({step.until_ms, member, step.value, gone ? Change::Kind::gone : Change::Kind::end});
}

// The sum at one time.
struct GroupSum::Level {
  std::int64_t sum = 0;
  std::int64_t members = 0;
  std::int64_t absent = 0;

  void add(const std::optional<std::int64_t>& value, std::int64_t sign = 1) {
    members += sign;
    sum += sign * value.value_or(0);
    absent += value ? 0 : sign;
  }
  GroupStep over(std::int64_t at_ms, std::int64_t until_ms) const {
    return {{at_ms, until_ms, absent < members ? std::optional(sum) : std::nullopt}, members, absent};
  }
  bool operator==(const Level&) const = default;
};

// The level at a time that has points, where `level` goes on after it. If nothing goes on, recording ends there, and
// who ended without a point of its own did not change: it is still there at that very tick.
GroupSum::Level GroupSum::point_level(std::span<const Change> changes, Level level) {
  std::set<std::int64_t> changed;
  const bool ends = level.members == 0;
  for (const Change& change : changes) {
    if (change.kind != Change::Kind::point) continue;
    level.add(change.value);
    changed.insert(change.member);
  }
  for (const Change& change : changes) {
    if (ends && change.kind == Change::Kind::end && !changed.contains(change.member)) level.add(change.value);
  }
  return level;
}

std::vector<GroupStep> GroupSum::steps() {
  std::ranges::stable_sort(changes_, {}, &Change::at_ms);
  std::vector<GroupStep> steps;
  Level level;
  std::int64_t since_ms = 0;
  for (auto begin = changes_.begin(); begin != changes_.end();) {
    const std::int64_t at_ms = begin->at_ms;
    const auto end = std::find_if(begin, changes_.end(), [&](const Change& change) { return change.at_ms != at_ms; });
    const Level before = level;
    bool pointed = false;
    for (auto change = begin; change != end; ++change) {
      if (change->kind == Change::Kind::point) {
        pointed = true;
      } else {
        level.add(change->value, change->kind == Change::Kind::begin ? 1 : -1);
      }
    }
    if (before.members == 0 || before != level || pointed) {
      if (before.members > 0) steps.push_back(before.over(since_ms, at_ms));
      since_ms = at_ms;
    }
    if (pointed) steps.push_back(point_level({begin, end}, level).over(at_ms, at_ms));
    begin = end;
  }
  return steps;
}

Summary GroupSum::summary() {
  Fold fold;
  for (const GroupStep& step : steps()) fold.add(step.step);
  return fold.summary();
}

bool ranks_before(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && (!b || *a > *b);
}

bool ranks_before(std::optional<double> a, std::optional<double> b) {
  return a && (!b || *a > *b);
}

}  // namespace memoir
