#include "analysis/leak/floor.h"
#include "support/catch.h"

using namespace memoir;

namespace {

// Level ground, but for 100 more on two days of each week.
std::vector<TimedValue> weekly(int days) {
  std::vector<TimedValue> floors;
  for (int day = days; day > 0; --day) floors.push_back({0.5 - day, day % 7 < 2 ? 1100.0 : 1000.0, 0});
  return floors;
}

}  // namespace

TEST_CASE("the week's shape is taken out of two weeks, and of no less") {
  std::vector<TimedValue> two = weekly(14);
  REQUIRE(take_out_week(two));
  for (const TimedValue& floor : two) CHECK(floor.value == Approx(two.front().value).margin(1));
  std::vector<TimedValue> less = weekly(13);
  const double before = less.back().value;
  CHECK_FALSE(take_out_week(less));
  CHECK(less.back().value == before);
}

TEST_CASE("where days stray without regard to the week, nothing is taken out") {
  std::vector<TimedValue> floors;
  for (int day = 28; day > 0; --day) floors.push_back({0.5 - day, day * 7 % 11 < 5 ? 1100.0 : 1000.0, 0});
  CHECK_FALSE(take_out_week(floors));
}
