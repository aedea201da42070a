#include "collect/worker/read_budget.h"

#include "support/catch.h"

using namespace memoir;

namespace {

constexpr std::uint32_t kSlow = 1000;
constexpr std::uint32_t kOther = 1001;
constexpr std::int64_t kTick = 10'000'000;

}  // namespace

TEST_CASE("fast reads cost nothing, however many there are") {
  ReadBudget budget;
  budget.begin(kTick);
  for (int i = 0; i < 10'000; ++i) budget.charge(kSlow, {.cpu_us = 4'900, .wall_us = 4'900});
  CHECK(budget.allows(kSlow, false));
  CHECK_FALSE(budget.any_slow());
}

TEST_CASE("slow reads use up their owner's part of the tick, and no other user's part") {
  ReadBudget budget;
  budget.begin(kTick);
  for (int i = 0; i < 10; ++i) {
    CHECK(budget.allows(kSlow, true));
    budget.charge(kSlow, {.cpu_us = 0, .wall_us = 100'000});
  }
  CHECK_FALSE(budget.allows(kSlow, true));
  CHECK(budget.allows(kOther, false));
  CHECK(budget.slow_us(kSlow) == 1'000'000);
  budget.begin(2 * kTick);
  CHECK(budget.allows(kSlow, true));
  CHECK(budget.slow_us(kSlow) == 500'000);
}

TEST_CASE("slow users together use up a bounded part of a tick, and a user without slow reads is still read") {
  ReadBudget budget;
  budget.begin(kTick);
  for (const std::uint32_t uid : {1000U, 1001U, 1002U}) {
    for (int i = 0; i < 5; ++i) {
      CHECK(budget.allows(uid, true) == (uid != 1002 || i < 3));
      if (budget.allows(uid, true)) budget.charge(uid, {.cpu_us = 0, .wall_us = 100'000});
    }
  }
  CHECK_FALSE(budget.allows(1000, true));
  CHECK(budget.allows(50, false));
}

TEST_CASE("subordinate uids share one user's limit") {
  ReadBudget budget;
  budget.begin(kTick);
  std::uint32_t uid = 131'072;
  for (; budget.allows(uid, true); ++uid) budget.charge(uid, {.cpu_us = 0, .wall_us = 100'000});
  CHECK(uid == 131'082);
  CHECK(budget.allows(131'071, false));
  CHECK(budget.allows(196'608, false));
}

TEST_CASE("a slow read is paid back over time, and fast reads continue during that time") {
  ReadBudget budget;
  budget.begin(kTick);
  budget.charge(kSlow, {.cpu_us = 1'100'000, .wall_us = 0});
  CHECK_FALSE(budget.allows(kSlow, false));
  CHECK(budget.allows(kSlow, true));
  // 600 ms are owed, and 50 ms are paid back per second.
  budget.begin(kTick + 11'000'000);
  CHECK_FALSE(budget.allows(kSlow, false));
  budget.begin(kTick + 13'000'000);
  CHECK(budget.allows(kSlow, false));
}

TEST_CASE("hanging reads are limited per user, per range of uids and in total") {
  ReadBudget budget;
  budget.begin(kTick);
  for (int i = 0; i < ReadBudget::kMaxStuckOfOne; ++i) {
    CHECK(budget.allows(kSlow, false));
    budget.stuck(kSlow);
  }
  CHECK_FALSE(budget.allows(kSlow, false));
  CHECK(budget.allows(kSlow, true));
  CHECK(budget.allows(kOther, false));
  budget.came_back(kSlow);
  CHECK(budget.allows(kSlow, false));

  // Subordinate uids of a single user.
  std::uint32_t uid = 165'536;
  int stuck = 0;
  for (; budget.allows(uid, false) && stuck < 100; ++stuck) budget.stuck(uid++);
  CHECK(stuck == ReadBudget::kMaxStuckOfRange);
  CHECK(budget.allows(99'999, false));
  CHECK(budget.allows(kOther, false));
}

TEST_CASE("other users and root have slots left, however many reads of a user hang") {
  ReadBudget budget;
  budget.begin(kTick);
  int stuck = 0;
  const auto hold_up = [&](std::uint32_t uid, bool fast) {
    for (; budget.allows(uid, fast) && stuck < 100; ++stuck) budget.stuck(uid);
  };
  for (std::uint32_t uid = 1000; uid < 1010; ++uid) hold_up(uid, true);
  CHECK(stuck < ReadBudget::kMaxStuckOfUsers);
  CHECK(budget.allows(kSlow + 50, false));
  for (std::uint32_t uid = 2000; uid < 2100; ++uid) hold_up(uid, true);
  CHECK(stuck == ReadBudget::kMaxStuckOfUsers);
  CHECK_FALSE(budget.allows(3000, true));
  CHECK(budget.allows(0, false));
  CHECK(budget.worker_allowed());
  hold_up(0, true);
  CHECK(stuck == ReadBudget::kMaxStuck);
  CHECK_FALSE(budget.worker_allowed());
}

TEST_CASE("slow reads of all users together get a tenth of a core, and root's reads come in addition") {
  ReadBudget budget;
  budget.begin(kTick);
  for (std::uint32_t uid = 1000; uid < 1003; ++uid) budget.charge(uid, {.cpu_us = 400'000, .wall_us = 1'000});
  CHECK_FALSE(budget.allows(1000, false));
  CHECK(budget.allows(1000, true));
  budget.charge(0, {.cpu_us = 100'000, .wall_us = 1'000});
  CHECK(budget.allows(0, false));
  budget.begin(kTick + 3'000'000);
  CHECK(budget.allows(1000, false));
}

TEST_CASE("a slow user is forgotten when all time is paid back") {
  ReadBudget budget;
  budget.begin(kTick);
  budget.charge(kSlow, {.cpu_us = 20'000, .wall_us = 20'000});
  CHECK(budget.any_slow());
  for (int i = 2; i < 30; ++i) budget.begin(i * kTick);
  CHECK_FALSE(budget.any_slow());
}
