#include "collect/exit/exit_fold.h"

#include <algorithm>
#include <utility>

namespace memoir {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

// Maximum number of names in a block, of one user and of all users. Further exits are summed without a name.
constexpr std::size_t kMaxNamesOfUser = 256;
constexpr std::size_t kMaxNames = 1024;
// In a block, the required peak doubles each time that this number of exits was kept, for one user or for all.
constexpr std::size_t kKeptOfUser = 256;
constexpr std::size_t kKeptOfAll = 1024;

}  // namespace

const KeptExit* ExitFold::note(const ProcessEvent& event, const ProcessKey* known, const Clock& clock) {
  if (event.kind == ProcessEventKind::exited) return exit(event, known, clock);
  if (event.kind == ProcessEventKind::execed) {
    sharing_.erase(event.pid);
    ++execs_[event.pid];
  } else if (event.kind == ProcessEventKind::forked) {
    // The exit of an earlier process with this pid may have been lost.
    sharing_.erase(event.pid);
    execs_.erase(event.pid);
    parent_execed_.erase(event.pid);
    if (event.shares_memory) sharing_.insert(event.pid);
    if (execs_.contains(event.parent_pid)) parent_execed_.insert(event.pid);
  }
  return nullptr;
}

const KeptExit* ExitFold::exit(const ProcessEvent& event, const ProcessKey* known, const Clock& clock) {
  const bool shared = sharing_.erase(event.pid) > 0;
  const auto execs = execs_.extract(event.pid);
  const std::uint32_t images = execs.empty() ? 0 : execs.mapped();
  ++taken_.exits;

  const std::int64_t exited_ms = event.boot_ns / kNsPerMs;
  const auto begun_ms = static_cast<std::int64_t>(event.start_ticks) * 1000 / clock.ticks_per_second;
  KeptExit kept;
  kept.event = event;
  kept.key = {event.pid, event.start_ticks, images};
  if (known != nullptr) kept.key.exec_count = known->exec_count + images;
  kept.sampled = known != nullptr && images == 0;
  kept.execed = images > 0;
  kept.parent_execed = parent_execed_.erase(event.pid) > 0;
  kept.record = {.process = kept.key,
                 .exited_ms = clock.boot_ms + exited_ms,
                 .lived_ms = std::max<std::int64_t>(exited_ms - begun_ms, 0),
                 .exit_code = event.exit_code,
                 .peak_kib = shared ? std::nullopt : event.peak_kib,
                 .held = shared ? std::nullopt : event.held};

  const std::int64_t start_ms = kept.record.exited_ms - kept.record.lived_ms;
  kept.after_ms = kept.sampled ? clock.scanned_ms : std::optional(start_ms);
  if (kept.after_ms) kept.after_ms = std::min(*kept.after_ms, kept.record.exited_ms);

  begin_block(kept.record.exited_ms);
  const std::size_t doublings = std::max(of_user_[event.uid].kept / kKeptOfUser, kept_ / kKeptOfAll);
  const std::int64_t large_kib = large_kib_ << std::min<std::size_t>(doublings, 32);
  const bool large = kept.record.peak_kib.value_or(-1) >= large_kib;
  if (known == nullptr && !large) {
    add(event, kept.record);
    return nullptr;
  }
  if (known == nullptr) {
    ++kept_;
    ++of_user_[event.uid].kept;
  }
  return &taken_.kept.emplace_back(std::move(kept));
}

void ExitFold::begin_block(std::int64_t at_ms) {
  const std::int64_t block = at_ms / kExitBlockMs;
  if (block == block_) return;
  block_ = block;
  names_.clear();
  of_user_.clear();
  kept_ = 0;
}

ExitFold::SumKey ExitFold::key_of(const ProcessEvent& event) {
  SumKey key{event.uid, event.cgroup_id, event.memory_cgroup_id, event.comm};
  if (names_.contains(key)) return key;
  std::size_t& own = of_user_[event.uid].names;
  if (own >= kMaxNamesOfUser || names_.size() >= kMaxNames) return {};
  ++own;
  return *names_.insert(std::move(key)).first;
}

void ExitFold::add(const ProcessEvent& event, const ExitRecord& record) {
  const SumKey key = key_of(event);
  const auto [found, first] = sums_.try_emplace(key);
  SummedExits& of = found->second;
  if (first) {
    of.sum.first_ms = record.exited_ms;
    of.sum.comm = std::get<std::string>(key);
    if (!of.sum.comm.empty()) {
      of.uid = event.uid;
      of.cgroup_id = event.cgroup_id;
      of.memory_cgroup_id = event.memory_cgroup_id;
    }
  }
  ExitSum& sum = of.sum;
  ++sum.count;
  sum.last_ms = record.exited_ms;
  sum.lived_ms += record.lived_ms;
  if (record.peak_kib.value_or(0) <= sum.peak_kib) return;
  sum.peak_kib = *record.peak_kib;
  sum.peak_ms = record.exited_ms;
}

ExitFold::Taken ExitFold::take() {
  for (auto& [key, sum] : sums_) taken_.sums.push_back(std::move(sum));
  sums_.clear();
  execs_.clear();
  parent_execed_.clear();
  return std::exchange(taken_, {});
}

}  // namespace memoir
