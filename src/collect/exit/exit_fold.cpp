#include "collect/exit/exit_fold.h"

#include <algorithm>
#include <utility>

namespace memoir {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

// In a block. Who is beyond is summed without a name.
constexpr std::size_t kMostNames = 256;
// In a block: with each so many that are kept, only those of twice the peak are.
constexpr std::size_t kKeptAtOnce = 256;

}  // namespace

const KeptEnd* Ends::note(const ProcessEvent& event, const ProcessKey* known, const Clock& clock) {
  if (event.kind == ProcessEventKind::exited) return end(event, known, clock);
  if (event.kind == ProcessEventKind::execed) {
    sharing_.erase(event.pid);
    ++execs_[event.pid];
  } else if (event.kind == ProcessEventKind::forked) {
    // Of one that had the pid before, an end may have been lost.
    sharing_.erase(event.pid);
    execs_.erase(event.pid);
    if (event.shares_memory) sharing_.insert(event.pid);
  }
  return nullptr;
}

const KeptEnd* Ends::end(const ProcessEvent& event, const ProcessKey* known, const Clock& clock) {
  const bool shared = sharing_.erase(event.pid) > 0;
  const auto execs = execs_.extract(event.pid);
  const std::uint32_t images = execs.empty() ? 0 : execs.mapped();
  ++taken_.ends;

  const std::int64_t ended_ms = event.boot_ns / kNsPerMs;
  const auto begun_ms = static_cast<std::int64_t>(event.start_ticks) * 1000 / clock.ticks_per_second;
  KeptEnd kept;
  kept.event = event;
  kept.key = {event.pid, event.start_ticks, images};
  if (known != nullptr) kept.key.exec_count = known->exec_count + images;
  kept.sampled = known != nullptr && images == 0;
  kept.execed = images > 0;
  kept.end = {.process = kept.key,
              .ended_ms = clock.boot_ms + ended_ms,
              .lived_ms = std::max<std::int64_t>(ended_ms - begun_ms, 0),
              .exit_code = event.exit_code,
              .peak_kib = shared ? std::nullopt : event.peak_kib,
              .held = shared ? std::nullopt : event.held};

  const std::int64_t start_ms = kept.end.ended_ms - kept.end.lived_ms;
  kept.after_ms = kept.sampled ? clock.looked_ms : std::optional(start_ms);
  if (kept.after_ms) kept.after_ms = std::min(*kept.after_ms, kept.end.ended_ms);

  begin_block(kept.end.ended_ms);
  const std::int64_t large_kib = large_kib_ << std::min<std::size_t>(kept_ / kKeptAtOnce, 32);
  const bool large = kept.end.peak_kib.value_or(-1) >= large_kib;
  if (!kept.sampled && !large) {
    add(event, kept.end);
    return nullptr;
  }
  if (!kept.sampled) ++kept_;
  return &taken_.kept.emplace_back(std::move(kept));
}

void Ends::begin_block(std::int64_t at_ms) {
  const std::int64_t block = at_ms / kEndBlockMs;
  if (block == block_) return;
  block_ = block;
  names_.clear();
  kept_ = 0;
}

Ends::SumKey Ends::key_of(const ProcessEvent& event) {
  SumKey key{event.uid, event.cgroup_id, event.memory_cgroup_id, event.comm};
  if (names_.contains(key)) return key;
  if (names_.size() >= kMostNames) return {};
  return *names_.insert(std::move(key)).first;
}

void Ends::add(const ProcessEvent& event, const ProcessEnd& end) {
  const SumKey key = key_of(event);
  const auto [found, first] = sums_.try_emplace(key);
  SummedEnds& of = found->second;
  if (first) {
    of.sum.first_ms = end.ended_ms;
    of.sum.comm = std::get<std::string>(key);
    if (!of.sum.comm.empty()) {
      of.uid = event.uid;
      of.cgroup_id = event.cgroup_id;
      of.memory_cgroup_id = event.memory_cgroup_id;
    }
  }
  EndSum& sum = of.sum;
  ++sum.count;
  sum.last_ms = end.ended_ms;
  sum.lived_ms += end.lived_ms;
  if (end.peak_kib.value_or(0) <= sum.peak_kib) return;
  sum.peak_kib = *end.peak_kib;
  sum.peak_ms = end.ended_ms;
}

Ends::Taken Ends::take() {
  for (auto& [key, sum] : sums_) taken_.sums.push_back(std::move(sum));
  sums_.clear();
  execs_.clear();
  return std::exchange(taken_, {});
}

}  // namespace memoir
