#include "analysis/peaks.h"

#include "support/catch.h"

using namespace memoir;

TEST_CASE("the days of a subject fold into its highest mark, and the highest subject is first") {
  const std::vector<Peak> days{
      {1, 500, 10, 9}, {2, 300, 20, 19}, {1, 860, 110, 109}, {2, 900, 120, 119}, {1, 500, 210, 209}};
  const std::vector<Peak> expected{{2, 900, 120, 119}, {1, 860, 110, 109}};
  CHECK(rank_peaks(days) == expected);
}

TEST_CASE("a low-water mark folds the other way") {
  const std::vector<Peak> days{{0, 500, 10, 9}, {0, 300, 20, 19}, {0, 400, 30, 29}};
  const std::vector<Peak> expected{{0, 300, 20, 19}};
  CHECK(rank_peaks(days, Extreme::lowest) == expected);
}

TEST_CASE("of equal marks the earliest is reported, in any order of input") {
  const std::vector<Peak> forth{{1, 500, 10, 9}, {1, 500, 20, 19}, {2, 500, 15, 14}};
  const std::vector<Peak> back{{2, 500, 15, 14}, {1, 500, 20, 19}, {1, 500, 10, 9}};
  const std::vector<Peak> expected{{1, 500, 10, 9}, {2, 500, 15, 14}};
  CHECK(rank_peaks(forth) == expected);
  CHECK(rank_peaks(back) == expected);
}

TEST_CASE("a process at 500 MiB with a peak of 860 MiB needs 1.72 times its RSS") {
  CHECK(peak_ratio(860 * 1024, 500 * 1024) == 1.72);
  CHECK_FALSE(peak_ratio(860, 0).has_value());
  CHECK_FALSE(peak_ratio(860, std::nullopt).has_value());
}

TEST_CASE("a mark that is unchanged since the range's start was not reached in the range") {
  HighWaterFold old;
  old.add(100, 500, 860, /*newborn=*/false);
  old.add(200, 520, 860, false);
  REQUIRE(old.found().has_value());
  CHECK(old.found()->value_kib == 520);
  CHECK(old.found()->at_ms == 200);

  // A spike between two ticks raises the mark above every sampled RSS.
  old.add(300, 510, 900, false);
  old.add(400, 505, 900, false);
  CHECK(old.found()->value_kib == 900);
  CHECK(old.found()->at_ms == 300);
}

TEST_CASE("a process that starts in the range reaches its mark in it") {
  HighWaterFold born;
  born.add(100, 10, 860, /*newborn=*/true);
  CHECK(born.found()->value_kib == 860);
  CHECK(born.found()->at_ms == 100);

  HighWaterFold unknown;
  unknown.add(100, std::nullopt, std::nullopt, true);
  CHECK_FALSE(unknown.found().has_value());
}
