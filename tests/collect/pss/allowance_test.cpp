#include "collect/pss/cpu_budget.h"
#include "support/catch.h"

using namespace memoir;

namespace {

constexpr std::int64_t kHalfPercent = 5'000;

}  // namespace

TEST_CASE("the first tick may read all; after that there is the budget of a minute") {
  CpuBudget allowance(kHalfPercent);
  allowance.begin(1'000'000, 0);
  CHECK(allowance.left_us() == CpuBudget::kUnlimited);
  allowance.begin(1'000'000, 0);
  CHECK(allowance.left_us() == 300'000);
}

TEST_CASE("the budget grows over time, minus the cost of other work") {
  CpuBudget allowance(kHalfPercent);
  allowance.begin(0, 0);
  allowance.spend(300'000);
  allowance.begin(1'000, 2'000);
  CHECK(allowance.left_us() == 3'000);
  allowance.spend(10'000);
  allowance.begin(2'000, 0);
  CHECK(allowance.left_us() == -2'000);
  // A quarter is reserved in all cases.
  allowance.begin(6'000, 1'000'000);
  CHECK(allowance.left_us() == 3'000);
}

TEST_CASE("CPU time is saved up for a minute; a clock that stops or goes back earns nothing") {
  CpuBudget allowance(kHalfPercent);
  allowance.begin(0, 0);
  allowance.begin(86'400'000, 0);
  CHECK(allowance.left_us() == 300'000);
  allowance.spend(300'000);
  allowance.begin(80'000'000, 0);
  CHECK(allowance.left_us() == 0);
}

TEST_CASE("without a limit the budget is never used up") {
  CpuBudget allowance(0);
  CHECK(allowance.unlimited());
  allowance.begin(0, 0);
  allowance.spend(1'000'000'000);
  allowance.begin(1'000, 0);
  CHECK(allowance.left_us() == CpuBudget::kUnlimited);
  allowance.set_share(kHalfPercent);
  CHECK_FALSE(allowance.unlimited());
}
