#include "recorder/suspension.h"

#include "support/catch.h"

using memoir::Suspension;

TEST_CASE("a machine that slept is noticed once, and one that only took its time is not") {
  Suspension suspension;
  CHECK_FALSE(suspension.see(50'000, 40'000));
  CHECK_FALSE(suspension.see(60'000, 50'000));
  // Late, and the clocks read a little apart.
  CHECK_FALSE(suspension.see(120'010, 110'000));
  CHECK(suspension.see(120'000 + 8 * 3'600'000, 110'010) == 8 * 3'600'000 - 20);
  CHECK_FALSE(suspension.see(130'000 + 8 * 3'600'000, 120'010));
}
