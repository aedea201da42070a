#include "analysis/peaks.h"

#include "support/catch.h"

using namespace memoir;

TEST_CASE("the days of a subject fold into its highest mark, the highest subject first") {
  const std::vector<Mark> days{
      {1, 500, 10, 9}, {2, 300, 20, 19}, {1, 860, 110, 109}, {2, 900, 120, 119}, {1, 500, 210, 209}};
  const std::vector<Mark> expected{{2, 900, 120, 119}, {1, 860, 110, 109}};
  CHECK(rank_marks(days) == expected);
}

TEST_CASE("a low-water mark folds the other way") {
  const std::vector<Mark> days{{0, 500, 10, 9}, {0, 300, 20, 19}, {0, 400, 30, 29}};
  const std::vector<Mark> expected{{0, 300, 20, 19}};
  CHECK(rank_marks(days, Extreme::lowest) == expected);
}

TEST_CASE("of equal marks the earliest is told, whatever order they come in") {
  const std::vector<Mark> forth{{1, 500, 10, 9}, {1, 500, 20, 19}, {2, 500, 15, 14}};
  const std::vector<Mark> back{{2, 500, 15, 14}, {1, 500, 20, 19}, {1, 500, 10, 9}};
  const std::vector<Mark> expected{{1, 500, 10, 9}, {2, 500, 15, 14}};
  CHECK(rank_marks(forth) == expected);
  CHECK(rank_marks(back) == expected);
}

TEST_CASE("a process at 500 MiB that was at 860 MiB needs 1.72 times what is resident") {
  CHECK(mark_ratio(860 * 1024, 500 * 1024) == 1.72);
  CHECK_FALSE(mark_ratio(860, 0).has_value());
  CHECK_FALSE(mark_ratio(860, std::nullopt).has_value());
}
