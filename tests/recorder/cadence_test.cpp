#include "recorder/cadence.h"

#include "support/catch.h"

using namespace memoir;

TEST_CASE("slots are multiples of the interval, and none is used twice") {
  CHECK(next_slot(12'345, 0, 10'000).at_ms == 20'000);
  CHECK(next_slot(20'000, 20'000, 10'000).at_ms == 30'000);
  CHECK(next_slot(20'003, 20'000, 10'000).at_ms == 30'000);
  // The timer fired a millisecond early.
  CHECK(next_slot(19'999, 20'000, 10'000).at_ms == 30'000);
  CHECK(next_slot(19'999, 20'000, 10'000).skipped == 0);
}

TEST_CASE("an overrun skips to the next slot and counts missed ones") {
  const Slot slot = next_slot(53'000, 20'000, 10'000);
  CHECK(slot.at_ms == 60'000);
  CHECK(slot.skipped == 3);
  CHECK(next_slot(12'345, 0, 10'000).skipped == 0);
}

TEST_CASE("a clock stepped back does not stop the ticks") {
  const Slot slot = next_slot(1'000'000, 4'600'000, 10'000);
  CHECK(slot.at_ms == 1'010'000);
  CHECK(slot.skipped == 0);
}

TEST_CASE("a keyframe is due once per interval, and at the first tick") {
  constexpr std::int64_t hour = 3'600'000;
  CHECK(keyframe_due(5, 0, hour));
  CHECK_FALSE(keyframe_due(hour + 10'000, hour, hour));
  CHECK(keyframe_due(2 * hour, hour + 10'000, hour));
  CHECK(keyframe_due(hour - 1, hour, hour));  // the clock was stepped back
}

TEST_CASE("scans are spaced so that they use at most a thousandth of a core") {
  CHECK(scan_pause_ms(1'000, 0) == 1'000);
  CHECK(scan_pause_ms(1'000, 400) == 1'000);
  CHECK(scan_pause_ms(100, 400) == 400);
  CHECK(scan_pause_ms(1'000, 30'000) == 30'000);
}

TEST_CASE("in a burst scans may use a hundredth of a core") {
  CHECK(scan_pause_ms(100, 1'000, kBurstScanPpm) == 100);
  CHECK(scan_pause_ms(100, 3'000, kBurstScanPpm) == 300);
}

TEST_CASE("in a burst there are ten times as many scans and ticks, within bounds") {
  CHECK(burst_scan_ms(1'000) == 100);
  CHECK(burst_scan_ms(400) == 100);
  CHECK(burst_scan_ms(10'000) == 1'000);
  CHECK(burst_scan_ms(50) == 50);
  CHECK(burst_scan_ms(0) == 0);
  CHECK(burst_tick_ms(10'000) == 1'000);
  CHECK(burst_tick_ms(5'000) == 1'000);
  CHECK(burst_tick_ms(3'600'000) == 360'000);
  CHECK(burst_tick_ms(1'000) == 0);
  CHECK(burst_tick_ms(100) == 0);
}

TEST_CASE("a tick of a burst is on time, or later if ticks are expensive") {
  CHECK(burst_tick_due(11'000, 10'000, 1'000, 10'000));
  CHECK(burst_tick_due(10'990, 10'000, 1'000, 10'000));
  CHECK_FALSE(burst_tick_due(10'400, 10'000, 1'000, 10'000));
  CHECK_FALSE(burst_tick_due(12'000, 10'000, 1'000, 101'000));
  CHECK(burst_tick_due(12'020, 10'000, 1'000, 101'000));
}

TEST_CASE("an early tick is due a quarter of the interval after the last tick, and at least a second after it") {
  CHECK_FALSE(early_tick_due(12'000, 10'000, 10'000));
  CHECK(early_tick_due(12'500, 10'000, 10'000));
  CHECK_FALSE(early_tick_due(10'999, 10'000, 1'000));
  CHECK(early_tick_due(11'000, 10'000, 1'000));
}
