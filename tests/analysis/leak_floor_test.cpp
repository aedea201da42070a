#include "analysis/leak/floor.h"
#include "support/catch.h"

using namespace memoir;

namespace {

// A constant level, and 100 more on two days of each week.
std::vector<TimedValue> weekly(int days) {
  std::vector<TimedValue> floors;
  for (int day = days; day > 0; --day) floors.push_back({0.5 - day, day % 7 < 2 ? 1100.0 : 1000.0, 0});
  return floors;
}

}  // namespace

TEST_CASE("the weekly pattern is removed from two weeks or more") {
  std::vector<TimedValue> two = weekly(14);
  REQUIRE(remove_weekly_pattern(two));
  for (const TimedValue& floor : two) CHECK(floor.value == Approx(two.front().value).margin(1));
  std::vector<TimedValue> less = weekly(13);
  const double before = less.back().value;
  CHECK_FALSE(remove_weekly_pattern(less));
  CHECK(less.back().value == before);
}

TEST_CASE("without a weekly pattern nothing is removed") {
  std::vector<TimedValue> floors;
  for (int day = 28; day > 0; --day) floors.push_back({0.5 - day, day * 7 % 11 < 5 ? 1100.0 : 1000.0, 0});
  CHECK_FALSE(remove_weekly_pattern(floors));
}
