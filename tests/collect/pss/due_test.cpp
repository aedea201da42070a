#include "collect/process/due.h"

#include <vector>

#include "support/catch.h"

using namespace memoir;

TEST_CASE("a denied rollup is tried again at keyframes") {
  const ProcessSample last;
  CHECK_FALSE(rollup_due(false, &last, true));
  CHECK(rollup_due(true, &last, true));
}

TEST_CASE("all files of every process are read, except a zombie's memory") {
  ProcessSample last;
  last.state = 'S';
  CHECK(rollup_due(false, nullptr, false));
  CHECK(rollup_due(false, &last, false));
  last.state = 'Z';
  CHECK_FALSE(rollup_due(false, &last, false));
}

TEST_CASE("a status is due at most two minutes after its last read, and many are read in rotation") {
  CHECK(status_due(1, std::nullopt, 0));
  CHECK_FALSE(status_due(1, 5'000, 5'000));
  constexpr std::int64_t began_ms = 1'000'000;
  std::vector<int> due_at(13);
  for (std::int32_t pid = 1'000'000'000; pid < 1'000'000'300; ++pid) {
    std::size_t tick = 1;
    while (!status_due(pid, began_ms, began_ms + static_cast<std::int64_t>(tick) * 10'000)) ++tick;
    REQUIRE(tick <= 12);
    ++due_at[tick];
  }
  for (std::size_t tick = 1; tick <= 12; ++tick) CHECK(due_at[tick] < 40);
}
