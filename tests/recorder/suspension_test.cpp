#include "recorder/suspension.h"

#include <cstdlib>

#include "support/catch.h"

using memoir::Suspension;

TEST_CASE("a suspension of the machine is reported once") {
  Suspension suspension;
  CHECK_FALSE(suspension.see(10'000));
  CHECK_FALSE(suspension.see(10'000));
  CHECK_FALSE(suspension.see(10'999));
  CHECK(suspension.see(10'999 + 8 * 3'600'000) == 8 * 3'600'000);
  CHECK_FALSE(suspension.see(10'999 + 8 * 3'600'000));
}

TEST_CASE("while the machine is awake, its suspended time is constant") {
  const std::int64_t begin = memoir::suspended_ms();
  for (int i = 0; i < 1000; ++i) CHECK(std::abs(memoir::suspended_ms() - begin) <= 2);
}
