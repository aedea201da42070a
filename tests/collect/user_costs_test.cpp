#include "collect/worker/user_costs.h"

#include "collect/shortfall.h"
#include "support/catch.h"

using namespace memoir;
using namespace memoir::test;

namespace {

const auto kNameOfUser = [](std::uint32_t uid) { return "user" + std::to_string(uid); };

// Takes ticks every 10 s up to and including `to_s`.
std::string after_ticks(UserCosts& costs, const UserCosts::Used& used, std::int64_t from_s, std::int64_t to_s) {
  std::string problem;
  for (std::int64_t s = from_s; s <= to_s; s += 10) problem = costs.see(used, s * 1000, kNameOfUser);
  return problem;
}

}  // namespace

TEST_CASE("users with expensive reads are named after five minutes, until the reads have ended") {
  UserCosts costs;
  // The first tick, which reads everything, does not count.
  CHECK(costs.see({{0, 60'000'000}}, 0, kNameOfUser).empty());
  const UserCosts::Used attack{{0, 10'000}, {1000, 400'000}, {1001, 100'000}, {1002, 30'000}, {1003, 20'000}};
  CHECK(after_ticks(costs, attack, 10, 290).empty());
  const std::string problem = after_ticks(costs, attack, 300, 300);
  CHECK(problem ==
        "used 5.6% of a core in 5 minutes: 4.0% for user user1000 (uid 1000), 1.0% for user user1001 (uid 1001), "
        "0.3% for user user1002 (uid 1002)");
  CHECK(after_ticks(costs, {{1000, 10'000}}, 310, 590) == problem);
  CHECK(after_ticks(costs, {{1000, 10'000}}, 600, 600).empty());
}

TEST_CASE("reads of ordinary cost are not reported") {
  UserCosts costs;
  CHECK(after_ticks(costs, {{0, 100'000}, {1000, 90'000}}, 0, 3600).empty());
}
