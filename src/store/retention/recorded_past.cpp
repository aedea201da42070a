#include "store/retention/recorded_past.h"

#include <algorithm>
#include <limits>

#include "store/replay/coverage.h"

namespace memoir {
namespace {

using Limits = std::numeric_limits<std::int64_t>;

// Values of the last tick of a stretch are valid for at most the longest interval.
constexpr std::int64_t kLongestIntervalMs = 3'600'000;

}  // namespace

std::int64_t block_of(std::int64_t wall_ms, std::int64_t block_ms) {
  return wall_ms / block_ms - (wall_ms % block_ms < 0 ? 1 : 0);
}

BlockSet::BlockSet(std::vector<Blocks> kept) {
  std::sort(kept.begin(), kept.end());
  for (const Blocks& blocks : kept) {
    if (!kept_.empty() && blocks.first <= kept_.back().second + 1) {
      kept_.back().second = std::max(kept_.back().second, blocks.second);
    } else {
      kept_.push_back(blocks);
    }
  }
}

bool BlockSet::holds(std::int64_t block) const {
  const auto after = std::ranges::upper_bound(kept_, block, {}, &Blocks::first);
  return after != kept_.begin() && block <= std::prev(after)->second;
}

std::vector<BlockSet::Blocks> BlockSet::others() const {
  std::vector<Blocks> others;
  std::int64_t from = Limits::min();
  for (const Blocks& blocks : kept_) {
    others.emplace_back(from, blocks.first - 1);
    from = blocks.second + 1;
  }
  others.emplace_back(from, Limits::max());
  return others;
}

std::int64_t BlockSet::first() const {
  return kept_.empty() ? 0 : kept_.front().first;
}

std::int64_t RecordedPast::at_tick(std::int64_t tick_id, std::int64_t wall_ms) const {
  const auto after = std::ranges::upper_bound(spans_, tick_id, {}, &RecordedSpan::first_tick_id);
  if (after == spans_.begin()) return spans_.empty() ? 0 : spans_.front().recorded_ms;
  const RecordedSpan& span = *std::prev(after);
  if (tick_id > span.last_tick_id) return span.ended_ms();
  return span.recorded_ms + std::max<std::int64_t>(std::min(wall_ms, span.to_ms) - span.from_ms, 0);
}

std::int64_t RecordedPast::at_moment(std::int64_t run_id, std::int64_t boot_ms) const {
  const auto end_of = [](const RecordedSpan& span) { return std::pair(span.run_id, span.to_boot_ms); };
  const auto span = std::ranges::lower_bound(spans_, std::pair(run_id, boot_ms), {}, end_of);
  if (span == spans_.end()) return now();
  if (span->run_id != run_id) return span->recorded_ms;
  return std::max(span->recorded_ms, span->ended_ms() - (span->to_boot_ms - boot_ms));
}

std::vector<RecordedSpan> RecordedPast::since(std::int64_t recorded_ms) const {
  std::vector<RecordedSpan> spans;
  for (RecordedSpan span : spans_) {
    if (span.ended_ms() < recorded_ms) continue;
    const std::int64_t before = std::max<std::int64_t>(recorded_ms - span.recorded_ms, 0);
    span.from_ms += before;
    span.recorded_ms += before;
    spans.push_back(span);
  }
  return spans;
}

BlockSet RecordedPast::blocks_since(std::int64_t recorded_ms, std::int64_t block_ms) const {
  std::vector<BlockSet::Blocks> kept;
  for (const RecordedSpan& span : since(recorded_ms)) {
    kept.emplace_back(block_of(span.from_ms, block_ms),
                      block_of(span.to_ms + longest_step_ms(kLongestIntervalMs), block_ms));
  }
  return BlockSet(std::move(kept));
}

}  // namespace memoir
