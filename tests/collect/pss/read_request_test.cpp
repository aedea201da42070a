#include "collect/pss/read_request.h"

#include <algorithm>
#include <map>
#include <vector>

#include "collect/mappings/plan.h"
#include "collect/pss/cpu_budget.h"
#include "collect/pss/read_selection.h"
#include "collect/tmpfs/plan.h"
#include "support/catch.h"
#include "support/trials.h"

using namespace memoir;

namespace {

constexpr std::int64_t kTickMs = 10'000;
constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::int64_t kPpm = 5'000;

ReadRequest claim(RequestKind kind, std::int64_t cost_us, double urgency) {
  return {kind, cost_us, urgency};
}

// A machine on which more processes change than the budget covers, with other reads in rotation. The costs of reads are
// given instead of measured.
struct Recorder {
  static constexpr std::int64_t kReadUs = 2'000;
  static constexpr std::int64_t kSmapsUs = 3'000;
  static constexpr std::int64_t kWalkUs = 20'000;
  static constexpr std::int64_t kSweepUs = 5'000;
  static constexpr std::int64_t kSweepEveryMs = 300'000;

  explicit Recorder(std::int64_t touched_kib) : movers(200), mover_touched_kib(touched_kib) {
    for (std::int32_t pid = 1; pid <= 200; ++pid) candidates.push_back({{pid, 100, 0}, 100'000 + pid, 1, false});
    tmpfs.see({{{0, 5, "/tmp"}, TmpfsUsage{1 << 20, 1 << 10, 50}}}, now_ms);
  }

  void tick() {
    now_ms += kTickMs;
    room.used_kib = *room.used_kib + 4;
    tmpfs.see({{{0, 5, "/tmp"}, room}}, now_ms);
    allowance.begin(now_ms, 0);
    const bool first = allowance.left_us() == CpuBudget::kUnlimited;
    std::vector<ReadCandidate> needs;
    for (const std::int64_t read_ms : movers) {
      needs.push_back({.unread = read_ms == 0,
                       .touched_kib = mover_touched_kib,
                       .rss_kib = 200'000,
                       .pss_kib = 200'000,
                       .age_ms = now_ms - read_ms,
                       .cost = {kReadUs, kReadUs / 10}});
    }
    std::vector<ReadRequest> claims;
    for (const MappingPlan::Turn& turn : summaries.coming(now_ms))
      claims.push_back({RequestKind::summary, turn.cost_us, turn_urgency(turn.overdue_ms, 900'000)});
    if (const auto turn = tmpfs.coming({}, now_ms))
      claims.push_back({RequestKind::walk, turn->cost_us, turn_urgency(turn->overdue_ms, 1'800'000)});
    if (now_ms - swept_ms >= kSweepEveryMs)
      claims.push_back(
          {RequestKind::cgroups, kSweepUs, turn_urgency(now_ms - swept_ms - kSweepEveryMs, kSweepEveryMs)});
    const ReadSelection choice = choose(needs, allowance.left_us(), {}, claims);
    for (const std::size_t i : choice.chosen) {
      movers[i] = now_ms;
      spend(RequestKind::rollup, kReadUs);
    }
    take_summaries(choice.granted.count(RequestKind::summary));
    if (choice.granted.count(RequestKind::walk) > 0) take_walk();
    if (choice.granted.count(RequestKind::cgroups) > 0 && now_ms - swept_ms >= kSweepEveryMs) {
      swept_ms = now_ms;
      spend(RequestKind::cgroups, kSweepUs);
    }
    if (first) of_first_us = spent_us;
  }

  void take_summaries(std::size_t most) {
    for (MappingCandidate& candidate : candidates) ++candidate.counters;
    for (const ProcessKey& key : summaries.next(candidates, now_ms, MappingRequest::due, most).read) {
      summaries.read(key, kSmapsUs);
      ++of_process[key.pid];
      spend(RequestKind::summary, kSmapsUs);
    }
  }

  void take_walk() {
    if (const auto mount = tmpfs.next_walk({}, now_ms)) {
      tmpfs.take(*mount, {TmpfsWalk::whole, {}, {}, kWalkUs, ""}, now_ms);
      spend(RequestKind::walk, kWalkUs);
    }
  }

  void spend(RequestKind kind, std::int64_t us) {
    allowance.spend(us);
    spent_us += us;
    ++times[kind];
  }

  std::int64_t now_ms = 1'000'000;
  CpuBudget allowance{kPpm};
  std::vector<std::int64_t> movers;  // time of the last read of each process
  std::int64_t mover_touched_kib;
  std::vector<MappingCandidate> candidates;
  MappingPlan summaries{MappingLimits{}};
  TmpfsPlan tmpfs{1'800'000};
  TmpfsUsage room{1 << 20, 1 << 10, 50};
  std::int64_t swept_ms = now_ms;
  std::int64_t spent_us = 0;
  std::int64_t of_first_us = 0;
  std::map<RequestKind, int> times;
  std::map<std::int32_t, int> of_process;  // mapping reads per process
};

}  // namespace

TEST_CASE("requests are granted in the order of urgency until the budget is used up") {
  const std::vector<ReadRequest> claims{claim(RequestKind::rollup, 100, 3), claim(RequestKind::walk, 1'000, 5),
                                        claim(RequestKind::summary, 100, 3), claim(RequestKind::cgroups, 100, 9)};
  std::int64_t allowance_us = 150;
  CHECK(grant_requests(claims, allowance_us) == std::vector<std::size_t>{3, 1});
  CHECK(allowance_us == -950);
  CHECK(grant_requests(claims, allowance_us).empty());
  allowance_us = 10'000;
  CHECK(grant_requests(claims, allowance_us) == std::vector<std::size_t>{3, 1, 0, 2});
  CHECK(allowance_us == 8'700);
  CHECK(grant_requests({}, allowance_us).empty());
}

TEST_CASE("a read in rotation is as urgent as a read of an outdated process, and becomes more urgent with time") {
  CHECK(turn_urgency(0, 900'000) == kDoublings);
  CHECK(turn_urgency(450'000, 900'000) == 1.5 * kDoublings);
  const std::vector<ReadRequest> walk{claim(RequestKind::walk, 100, turn_urgency(60'000, 1'800'000))};
  ReadCandidate still{.rss_kib = 50'000, .pss_kib = 50'000, .age_ms = kGreatestAgeMs, .cost = {300, 0}};
  CHECK(choose(std::vector{still}, 1, {}, walk).granted.count(RequestKind::walk) == 1);
  CHECK(choose(std::vector{still}, 1, {}, walk).deferred == 1);
  still.age_ms = 0;
  still.touched_kib = 5'000;
  const ReadSelection mover_first = choose(std::vector{still}, 1, {}, walk);
  CHECK(mover_first.granted.count(RequestKind::walk) == 0);
  CHECK(mover_first.chosen.size() == 1);
  // As long as there is budget, grants are unlimited.
  CHECK(choose(std::vector{still}, 1'000, {}, walk).granted.count(RequestKind::summary) == Grants::kAny);
}

TEST_CASE("besides 200 changing processes each kind of read gets its share within the total budget") {
  const std::int64_t touched_kib = GENERATE(1'000, 20'000, 150'000);
  CAPTURE(touched_kib);
  Recorder recorder(touched_kib);
  const std::int64_t hours = test::trials(std::int64_t{12});
  for (std::int64_t tick = 0; tick < hours * kHourMs / kTickMs; ++tick) recorder.tick();

  const std::int64_t earned_us = hours * kHourMs * kPpm / 1000;
  CHECK(recorder.spent_us - recorder.of_first_us <= earned_us + 2 * Recorder::kWalkUs);
  CHECK(recorder.spent_us >= earned_us * 95 / 100);
  CHECK(recorder.times[RequestKind::rollup] * Recorder::kReadUs > earned_us * 9 / 10);
  // Reads are at least a quarter as frequent as without other kinds.
  CHECK(recorder.times[RequestKind::walk] >= hours * 2 / 4);
  CHECK(recorder.times[RequestKind::cgroups] >= hours * 12 / 4);
  CHECK(recorder.times[RequestKind::summary] >= hours * 80 / 4);
  CHECK(recorder.of_process.size() == 20);
  const auto least = std::ranges::min_element(recorder.of_process, {}, [](const auto& of) { return of.second; });
  CHECK(least->second >= hours);
  // Reads in rotation do not delay the reads of changed processes either.
  const std::int64_t oldest_ms = *std::ranges::min_element(recorder.movers);
  CHECK(recorder.now_ms - oldest_ms < 200 * Recorder::kReadUs * 1'000 / kPpm * 3 / 2);
}

TEST_CASE("a mapping read needs its own budget before it is requested") {
  MappingLimits limits;
  limits.cpu_us_an_hour = 10'000;
  MappingPlan plan(limits);
  std::vector<MappingCandidate> candidates;
  for (std::int32_t pid = 1; pid <= 20; ++pid) candidates.push_back({{pid, 100, 0}, 1'000 * pid, 1, false});
  CHECK(plan.coming(1'000'000).empty());  // no process is known
  CHECK(plan.next(candidates, 1'000'000, MappingRequest::due, 0).read.empty());
  const auto coming = plan.coming(1'010'000);
  REQUIRE(coming.size() == 2);
  CHECK(coming[0].overdue_ms == 10'000);
  const auto read = plan.next(candidates, 1'010'000, MappingRequest::due, 1).read;
  REQUIRE(read.size() == 1);
  plan.read(read[0], 50'000);
  CHECK(plan.coming(1'020'000).empty());
  // A due read without budget is reported as deferred, even if it was not requested.
  CHECK_FALSE(plan.next(candidates, 1'020'000, MappingRequest::due, 0).deferred.empty());
  CHECK_FALSE(plan.coming(1'010'000 + 5 * kHourMs).empty());
}

TEST_CASE("reads in rotation wait less than minutes after the first tick, which reads all processes") {
  CpuBudget allowance(kPpm);
  allowance.begin(0, 0);
  allowance.spend(5'000'000);
  allowance.begin(5'000, 0);
  CHECK(allowance.left_us() == 0);
  allowance.begin(6'000, 0);
  CHECK(allowance.left_us() == 5'000);
  // A later debt counts in full.
  allowance.spend(5'000'000);
  allowance.begin(11'000, 0);
  CHECK(allowance.left_us() == 5'000 - 5'000'000 + 25'000);
}
