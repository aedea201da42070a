#include "collect/worker/blocked_users.h"

#include "support/catch.h"

using namespace memoir;
using namespace memoir::test;

namespace {

const auto kName = [](std::uint32_t uid) { return "user" + std::to_string(uid); };

std::string kinds(const std::vector<Event>& events) {
  std::string all;
  for (const Event& event : events) all += event.kind + ' ';
  return all;
}

}  // namespace

TEST_CASE("a user with slow reads is reported once, and again after the delays have stopped") {
  BlockedUsers users;
  const auto first = users.see({{1000, 3}}, {.wall_ms = 5, .boot_ms = 10'000}, kName);
  REQUIRE(first.size() == 1);
  CHECK(first[0].kind == "degraded");
  CHECK(first[0].at.wall_ms == 5);
  CHECK_THAT(first[0].text, ContainsSubstring("user1000 (uid 1000)") && ContainsSubstring("3 of them"));
  // Pauses of ten seconds do not end the delays.
  for (std::int64_t s = 20; s < 3600; s += 20) {
    CHECK(kinds(users.see({{1000, 1}}, {.wall_ms = 0, .boot_ms = s * 1000}, kName)).empty());
    CHECK(kinds(users.see({}, {.wall_ms = 0, .boot_ms = s * 1000 + 10'000}, kName)).empty());
  }
  const std::int64_t last_ms = 3'580'000;
  CHECK(users.see({}, {.wall_ms = 0, .boot_ms = last_ms + BlockedUsers::kOverAfterMs - 1}, kName).empty());
  const auto over = users.see({}, {.wall_ms = 0, .boot_ms = last_ms + BlockedUsers::kOverAfterMs}, kName);
  REQUIRE(over.size() == 1);
  CHECK(over[0].kind == "restored");
  CHECK_THAT(over[0].text, ContainsSubstring("user1000 (uid 1000)"));
  CHECK(users.see({}, {.wall_ms = 0, .boot_ms = 9'000'000}, kName).empty());
  CHECK(kinds(users.see({{1000, 1}}, {.wall_ms = 0, .boot_ms = 9'100'000}, kName)) == "degraded ");
}

TEST_CASE("many users with slow reads do not cause a flood of events") {
  BlockedUsers users;
  BlockedUsers::Counts all;
  for (std::uint32_t uid = 100'000; uid < 101'000; ++uid) all[uid] = 1;
  CHECK(users.see(all, {.wall_ms = 0, .boot_ms = 10'000}, kName).size() == BlockedUsers::kMaxAtOnce);
  CHECK(users.see(all, {.wall_ms = 0, .boot_ms = 20'000}, kName).empty());
  CHECK(users.see({}, {.wall_ms = 0, .boot_ms = 9'000'000}, kName).size() == BlockedUsers::kMaxAtOnce);
}
