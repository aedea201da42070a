#include "collect/mappings/plan.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/sorted.h"

namespace memoir {
namespace {

constexpr double kHourMs = 3'600'000;
constexpr std::int64_t kShareOfOne = 4;         // one process gets at most 1/kShareOfOne of the budget
constexpr std::size_t kGrowing = 4;             // 1/kGrowing of the places are for fast-growing processes
constexpr std::size_t kMinAtOnce = 2;           // number of reads that any tick may make
constexpr std::int64_t kUnknownCostUs = 2'000;  // expected cost of a first read

// Sorts the first `wanted` elements by rank; the others follow in any order.
template <typename Order, typename Rank>
void sort_by(Order& order, Rank rank, std::size_t wanted = SIZE_MAX) {
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, order.size())),
                            [&](const auto* a, const auto* b) { return rank(*a) < rank(*b); });
}

}  // namespace

DueReads MappingPlan::next(const std::vector<MappingCandidate>& candidates, std::int64_t boot_ms, MappingRequest ask,
                           std::size_t most) {
  DueReads turns;
  if (limits_.interval_ms == 0) {
    known_.clear();
    return turns;
  }
  const std::int64_t elapsed_ms = now_ms_ == 0 ? 0 : boot_ms - now_ms_;
  earn(boot_ms);
  meet(candidates);
  // Ranks are computed before choose() changes the plan, because they depend on it.
  Order all;
  if (ask != MappingRequest::due) {
    all = by_size(false);
    const Order denied = by_size(true);
    all.insert(all.end(), denied.begin(), denied.end());
  }
  choose();
  if (ask == MappingRequest::due) {
    take_due(std::min(most, most_now(elapsed_ms)), turns);
  } else {
    take_all(all, ask, turns);
  }
  drop(turns);
  return turns;
}

// Returns the CPU time saved up at `boot_ms`. The first tick has the budget of one interval, because a restarted
// recorder has no summaries.
double MappingPlan::saved_at(std::int64_t boot_ms) const {
  const double an_hour = static_cast<double>(limits_.cpu_us_an_hour);
  const std::int64_t earned_ms = now_ms_ == 0 ? limits_.interval_ms : boot_ms - now_ms_;
  return std::min(an_hour, saved_us_ + an_hour * static_cast<double>(earned_ms) / kHourMs);
}

double MappingPlan::turns_at(std::int64_t boot_ms) const {
  const auto all = static_cast<double>(limits_.processes);
  const std::int64_t earned_ms = now_ms_ == 0 ? limits_.interval_ms : boot_ms - now_ms_;
  return std::min(all, turns_ + all * static_cast<double>(earned_ms) / static_cast<double>(limits_.interval_ms));
}

void MappingPlan::earn(std::int64_t boot_ms) {
  saved_us_ = saved_at(boot_ms);
  turns_ = turns_at(boot_ms);
  now_ms_ = boot_ms;
}

std::vector<MappingPlan::Turn> MappingPlan::coming(std::int64_t boot_ms) const {
  std::vector<Turn> turns;
  if (limits_.interval_ms == 0) return turns;
  for (const Known& known : known_) {
    if (!is_due(known, boot_ms)) continue;
    turns.push_back({known.tried_ms ? known.cpu_us : kUnknownCostUs, boot_ms - due_ms(known)});
  }
  std::ranges::sort(turns, std::ranges::greater(), &Turn::overdue_ms);
  const std::size_t most = std::min(most_now(boot_ms - now_ms_), static_cast<std::size_t>(turns_at(boot_ms)));
  turns.resize(std::min(most, turns.size()));
  double left_us = saved_at(boot_ms);
  const auto expensive = std::ranges::find_if(turns, [&](const Turn& turn) {
    const bool none_left = left_us <= 0;
    left_us -= static_cast<double>(turn.cost_us);
    return none_left;
  });
  turns.erase(expensive, turns.end());
  return turns;
}

// Updates the known processes from the candidates. Both are sorted by key.
void MappingPlan::meet(const std::vector<MappingCandidate>& candidates) {
  std::vector<Known> now;
  now.reserve(candidates.size());
  auto old = known_.begin();
  for (const MappingCandidate& candidate : candidates) {
    while (old != known_.end() && old->now.key < candidate.key) ++old;
    const bool met = old != known_.end() && old->now.key == candidate.key;
    now.push_back(met ? *old : Known{.now = candidate, .base_kib = candidate.pss_kib});
    now.back().now = candidate;
  }
  known_ = std::move(now);
}

MappingPlan::Order MappingPlan::by_size(bool denied, std::size_t wanted) {
  Order order;
  order.reserve(known_.size());
  for (Known& known : known_) {
    if (known.now.denied == denied) order.push_back(&known);
  }
  sort_by(
      order, [](const Known& known) { return std::tuple(-known.rank_kib(), known.now.key); }, wanted);
  return order;
}

void MappingPlan::choose() {
  const std::size_t growing = limits_.processes / kGrowing;
  Order largest = by_size(false, limits_.processes - growing);
  const auto rest =
      largest.begin() + static_cast<std::ptrdiff_t>(std::min(limits_.processes - growing, largest.size()));
  Order fastest(rest, largest.end());
  largest.erase(rest, largest.end());
  // Unreadable processes are tried in addition: this costs nothing, and shows that they are unreadable.
  Order denied = by_size(true, limits_.processes);
  denied.resize(std::min(limits_.processes, denied.size()));
  largest.insert(largest.end(), denied.begin(), denied.end());
  // A growing process keeps its place for an interval, and until it has been read.
  const auto stays = [this](const Known& known) {
    return known.growing && (now_ms_ - known.since_ms < limits_.interval_ms || !known.tried_ms);
  };
  const auto rank = [&](const Known& known) {
    return std::tuple(!stays(known), -known.growth_kib(), -known.now.pss_kib, known.now.key);
  };
  sort_by(fastest, rank, growing);
  fastest.resize(std::min(growing, fastest.size()));
  enter(largest, fastest);
}

void MappingPlan::enter(const Order& largest, const Order& fastest) {
  std::vector<bool> was;
  was.reserve(known_.size());
  for (Known& known : known_) {
    was.push_back(std::exchange(known.planned, false));
    known.growing = false;
  }
  for (Known* known : largest) known->planned = true;
  for (Known* known : fastest) known->planned = known->growing = true;
  for (std::size_t i = 0; i < known_.size(); ++i) {
    Known& known = known_[i];
    if (!known.planned) continue;
    const bool again = known.growing && known.tried_ms && now_ms_ - known.since_ms >= limits_.interval_ms;
    if (!was[i] || again) known.since_ms = now_ms_;
    known.planned_ms = now_ms_;
  }
}

// Returns the time since which a process is due. A process that was never read is due since it entered the plan.
std::int64_t MappingPlan::due_ms(const Known& known) const {
  if (!known.tried_ms) return known.since_ms;
  const double cost = static_cast<double>(known.cpu_us * kShareOfOne);
  const auto pace_ms = static_cast<std::int64_t>(cost / static_cast<double>(limits_.cpu_us_an_hour) * kHourMs);
  return *known.tried_ms + std::max(limits_.interval_ms, pace_ms);
}

bool MappingPlan::is_due(const Known& known, std::int64_t now_ms) const {
  return known.planned && known.counters != known.now.counters && due_ms(known) <= now_ms;
}

// Returns the due processes, longest waiting first.
MappingPlan::Order MappingPlan::due() {
  Order due;
  for (Known& known : known_) {
    if (is_due(known, now_ms_)) due.push_back(&known);
  }
  sort_by(due, [this](const Known& known) { return std::tuple(due_ms(known), -known.now.pss_kib, known.now.key); });
  return due;
}

// Returns the maximum number of reads now. It is higher if ticks are far apart, because more become due between them.
std::size_t MappingPlan::most_now(std::int64_t elapsed_ms) const {
  const auto of_all = static_cast<std::int64_t>(limits_.processes) * elapsed_ms / limits_.interval_ms + 1;
  return std::max(kMinAtOnce, static_cast<std::size_t>(std::clamp<std::int64_t>(of_all, 0, kMaxAtOnce)));
}

void MappingPlan::take_due(std::size_t most, DueReads& turns) {
  double left_us = saved_us_;
  for (Known* known : due()) {
    if ((most > 0 && turns.read.size() == most) || turns_ < 1) return;
    if (left_us > 0) {
      if (most == 0) return;  // the budget of all reads is exhausted
      turns.read.push_back(known->now.key);
      --turns_;
      left_us -= static_cast<double>(known->tried_ms ? known->cpu_us : kUnknownCostUs);
    } else if (!std::exchange(known->deferred, true)) {
      turns.deferred.push_back(known->now.key);
    }
  }
}

void MappingPlan::take_all(const Order& by_size, MappingRequest ask, DueReads& turns) {
  for (const Known* known : by_size) {
    if (turns.read.size() == kMaxAtOnce) return;
    const bool other = ask == MappingRequest::most && !known->now.denied;
    if (known->planned || other) turns.read.push_back(known->now.key);
  }
}

void MappingPlan::drop(DueReads& turns) {
  for (Known& known : known_) {
    const bool has_row = known.kept || known.deferred;
    if (!has_row || known.planned || now_ms_ - std::max(known.planned_ms, known.tried_ms.value_or(0)) < kKeptMs)
      continue;
    known.kept = known.deferred = false;
    known.base_kib = known.now.pss_kib;
    turns.dropped.push_back(known.now.key);
  }
}

// Notes an attempt. Returns nullptr if the process has exited.
MappingPlan::Known* MappingPlan::tried(const ProcessKey& key, std::int64_t cpu_us) {
  charge(cpu_us);
  Known* const known = find_sorted(known_, key, [](const Known& of) { return of.now.key; });
  if (known == nullptr) return nullptr;
  known->tried_ms = now_ms_;
  if (cpu_us > 0) known->cpu_us = cpu_us;
  return known;
}

void MappingPlan::read(const ProcessKey& key, std::int64_t cpu_us) {
  Known* const known = tried(key, cpu_us);
  if (known == nullptr) return;
  known->counters = known->now.counters;
  known->base_kib = known->now.pss_kib;
  known->deferred = false;
  known->kept = true;
}

bool MappingPlan::defer(const ProcessKey& key, std::int64_t cpu_us) {
  Known* const known = tried(key, cpu_us);
  return known != nullptr && !std::exchange(known->deferred, true);
}

}  // namespace memoir
