#include "collect/pss/claim.h"

#include <algorithm>
#include <map>
#include <vector>

#include "collect/mappings/plan.h"
#include "collect/pss/allowance.h"
#include "collect/pss/choice.h"
#include "collect/tmpfs/plan.h"
#include "support/catch.h"

using namespace memoir;

namespace {

constexpr std::int64_t kTickMs = 10'000;
constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::int64_t kPpm = 5'000;

Claim claim(ClaimKind kind, std::int64_t cost_us, double urgency) {
  return {kind, cost_us, urgency};
}

// A machine on which more moves than may be read, with what else is read in turn: what each costs is told, not
// measured.
struct Recorder {
  static constexpr std::int64_t kReadUs = 2'000;
  static constexpr std::int64_t kSmapsUs = 3'000;
  static constexpr std::int64_t kWalkUs = 20'000;
  static constexpr std::int64_t kSweepUs = 5'000;
  static constexpr std::int64_t kSweepEveryMs = 300'000;

  explicit Recorder(std::int64_t touched_kib) : movers(200), mover_touched_kib(touched_kib) {
    for (std::int32_t pid = 1; pid <= 200; ++pid) candidates.push_back({{pid, 100, 0}, 100'000 + pid, 1, false});
    tmpfs.see({{{0, 5, "/tmp"}, TmpfsRoom{1 << 20, 1 << 10, 50}}}, now_ms);
  }

  void tick() {
    now_ms += kTickMs;
    room.used_kib = *room.used_kib + 4;
    tmpfs.see({{{0, 5, "/tmp"}, room}}, now_ms);
    allowance.begin(now_ms, 0);
    const bool first = allowance.left_us() == Allowance::kUnlimited;
    std::vector<Need> needs;
    for (const std::int64_t read_ms : movers) {
      needs.push_back({.unread = read_ms == 0,
                       .touched_kib = mover_touched_kib,
                       .rss_kib = 200'000,
                       .pss_kib = 200'000,
                       .age_ms = now_ms - read_ms,
                       .cost = {kReadUs, kReadUs / 10}});
    }
    std::vector<Claim> claims;
    for (const LedgerPlan::Turn& turn : ledgers.coming(now_ms))
      claims.push_back({ClaimKind::ledger, turn.cost_us, turn_urgency(turn.overdue_ms, 900'000)});
    if (const auto turn = tmpfs.coming({}, now_ms))
      claims.push_back({ClaimKind::walk, turn->cost_us, turn_urgency(turn->overdue_ms, 1'800'000)});
    if (now_ms - swept_ms >= kSweepEveryMs)
      claims.push_back({ClaimKind::cgroups, kSweepUs, turn_urgency(now_ms - swept_ms - kSweepEveryMs, kSweepEveryMs)});
    const Choice choice = choose(needs, allowance.left_us(), {}, claims);
    for (const std::size_t i : choice.chosen) {
      movers[i] = now_ms;
      spend(ClaimKind::rollup, kReadUs);
    }
    take_ledgers(choice.granted.count(ClaimKind::ledger));
    if (choice.granted.count(ClaimKind::walk) > 0) take_walk();
    if (choice.granted.count(ClaimKind::cgroups) > 0 && now_ms - swept_ms >= kSweepEveryMs) {
      swept_ms = now_ms;
      spend(ClaimKind::cgroups, kSweepUs);
    }
    if (first) of_first_us = spent_us;
  }

  void take_ledgers(std::size_t most) {
    for (LedgerCandidate& candidate : candidates) ++candidate.counters;
    for (const ProcessKey& key : ledgers.next(candidates, now_ms, LedgerAsk::due, most).read) {
      ledgers.read(key, kSmapsUs);
      ++of_process[key.pid];
      spend(ClaimKind::ledger, kSmapsUs);
    }
  }

  void take_walk() {
    if (const auto mount = tmpfs.next_walk({}, now_ms)) {
      tmpfs.take(*mount, {TmpfsWalk::whole, {}, {}, kWalkUs, ""}, now_ms);
      spend(ClaimKind::walk, kWalkUs);
    }
  }

  void spend(ClaimKind kind, std::int64_t us) {
    allowance.spend(us);
    spent_us += us;
    ++times[kind];
  }

  std::int64_t now_ms = 1'000'000;
  Allowance allowance{kPpm};
  std::vector<std::int64_t> movers;  // when each was read
  std::int64_t mover_touched_kib;
  std::vector<LedgerCandidate> candidates;
  LedgerPlan ledgers{LedgerLimits{}};
  TmpfsPlan tmpfs{1'800'000};
  TmpfsRoom room{1 << 20, 1 << 10, 50};
  std::int64_t swept_ms = now_ms;
  std::int64_t spent_us = 0;
  std::int64_t of_first_us = 0;
  std::map<ClaimKind, int> times;
  std::map<std::int32_t, int> of_process;  // ledgers
};

}  // namespace

TEST_CASE("claims are paid in the order of their urgency, as long as any of the allowance is left") {
  const std::vector<Claim> claims{claim(ClaimKind::rollup, 100, 3), claim(ClaimKind::walk, 1'000, 5),
                                  claim(ClaimKind::ledger, 100, 3), claim(ClaimKind::cgroups, 100, 9)};
  std::int64_t allowance_us = 150;
  CHECK(pay(claims, allowance_us) == std::vector<std::size_t>{3, 1});
  CHECK(allowance_us == -950);
  CHECK(pay(claims, allowance_us).empty());
  allowance_us = 10'000;
  CHECK(pay(claims, allowance_us) == std::vector<std::size_t>{3, 1, 0, 2});
  CHECK(allowance_us == 8'700);
  CHECK(pay({}, allowance_us).empty());
}

TEST_CASE("what is read in turn is as urgent as a reading that is too old, and ever more so") {
  CHECK(turn_urgency(0, 900'000) == kDoublings);
  CHECK(turn_urgency(450'000, 900'000) == 1.5 * kDoublings);
  const std::vector<Claim> walk{claim(ClaimKind::walk, 100, turn_urgency(60'000, 1'800'000))};
  Need still{.rss_kib = 50'000, .pss_kib = 50'000, .age_ms = kGreatestAgeMs, .cost = {300, 0}};
  CHECK(choose(std::vector{still}, 1, {}, walk).granted.count(ClaimKind::walk) == 1);
  CHECK(choose(std::vector{still}, 1, {}, walk).put_off == 1);
  still.age_ms = 0;
  still.touched_kib = 5'000;
  const Choice mover_first = choose(std::vector{still}, 1, {}, walk);
  CHECK(mover_first.granted.count(ClaimKind::walk) == 0);
  CHECK(mover_first.chosen.size() == 1);
  // Where some is left, what is granted is not counted.
  CHECK(choose(std::vector{still}, 1'000, {}, walk).granted.count(ClaimKind::ledger) == Granted::kAny);
}

TEST_CASE("beside 200 movers each kind has its turn, and the share is kept") {
  const std::int64_t touched_kib = GENERATE(1'000, 20'000, 150'000);
  CAPTURE(touched_kib);
  Recorder recorder(touched_kib);
  constexpr std::int64_t hours = 12;
  for (std::int64_t tick = 0; tick < hours * kHourMs / kTickMs; ++tick) recorder.tick();

  const std::int64_t earned_us = hours * kHourMs * kPpm / 1000;
  CHECK(recorder.spent_us - recorder.of_first_us <= earned_us + 2 * Recorder::kWalkUs);
  CHECK(recorder.spent_us >= earned_us * 95 / 100);
  CHECK(recorder.times[ClaimKind::rollup] * Recorder::kReadUs > earned_us * 9 / 10);
  // At least a quarter as often as if there were nobody else.
  CHECK(recorder.times[ClaimKind::walk] >= hours * 2 / 4);
  CHECK(recorder.times[ClaimKind::cgroups] >= hours * 12 / 4);
  CHECK(recorder.times[ClaimKind::ledger] >= hours * 80 / 4);
  CHECK(recorder.of_process.size() == 20);
  const auto least = std::ranges::min_element(recorder.of_process, {}, [](const auto& of) { return of.second; });
  CHECK(least->second >= hours);
  // Nor do those keep the movers waiting.
  const std::int64_t oldest_ms = *std::ranges::min_element(recorder.movers);
  CHECK(recorder.now_ms - oldest_ms < 200 * Recorder::kReadUs * 1'000 / kPpm * 3 / 2);
}

TEST_CASE("a ledger's own budget comes first: without it there is no claim") {
  LedgerLimits limits;
  limits.cpu_us_an_hour = 10'000;
  LedgerPlan plan(limits);
  std::vector<LedgerCandidate> candidates;
  for (std::int32_t pid = 1; pid <= 20; ++pid) candidates.push_back({{pid, 100, 0}, 1'000 * pid, 1, false});
  CHECK(plan.coming(1'000'000).empty());  // nobody is known
  CHECK(plan.next(candidates, 1'000'000, LedgerAsk::due, 0).read.empty());
  const auto coming = plan.coming(1'010'000);
  REQUIRE(coming.size() == 2);
  CHECK(coming[0].overdue_ms == 10'000);
  const auto read = plan.next(candidates, 1'010'000, LedgerAsk::due, 1).read;
  REQUIRE(read.size() == 1);
  plan.read(read[0], 50'000);
  CHECK(plan.coming(1'020'000).empty());
  // That those whose turn it is are put off is told, though nobody asks for them.
  CHECK_FALSE(plan.next(candidates, 1'020'000, LedgerAsk::due, 0).deferred.empty());
  CHECK_FALSE(plan.coming(1'010'000 + 5 * kHourMs).empty());
}

TEST_CASE("after the first tick, which reads all, what is read in turn does not wait for minutes") {
  Allowance allowance(kPpm);
  allowance.begin(0, 0);
  allowance.spend(5'000'000);
  allowance.begin(5'000, 0);
  CHECK(allowance.left_us() == 0);
  allowance.begin(6'000, 0);
  CHECK(allowance.left_us() == 5'000);
  // A later debt is owed whole.
  allowance.spend(5'000'000);
  allowance.begin(11'000, 0);
  CHECK(allowance.left_us() == 5'000 - 5'000'000 + 25'000);
}
