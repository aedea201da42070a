#include "recorder/burst.h"

#include <vector>

#include "support/catch.h"

using namespace memoir;
using Change = Burst::Change;
using enum BurstReason;

namespace {

constexpr std::int64_t kBegin = 1'000'000;

// Advances second by second without a reason until the burst ends; returns that time.
std::int64_t end_of(Burst& burst, std::int64_t now_ms) {
  while (burst.see(now_ms) != Change::ended) now_ms += 1'000;
  return now_ms;
}

// Advances second by second with a reason until the burst ends; returns that time.
std::int64_t end_under(BurstReason reason, Burst& burst, std::int64_t now_ms) {
  while (burst.see(now_ms, reason) != Change::ended) now_ms += 1'000;
  return now_ms;
}

}  // namespace

TEST_CASE("a burst lasts for ten seconds after the last reason") {
  Burst burst;
  CHECK(burst.see(kBegin) == Change::none);
  CHECK(burst.see(kBegin, growth) == Change::started);
  CHECK(burst.running());
  CHECK(burst.see(kBegin + 9'999) == Change::none);
  CHECK(burst.see(kBegin + 9'999, pressure) == Change::none);
  CHECK(burst.see(kBegin + 10'000) == Change::none);
  CHECK(burst.see(kBegin + 19'999) == Change::ended);
  CHECK_FALSE(burst.running());
  CHECK(burst.length_ms() == 19'999);
  CHECK(burst.reasons() == "processes waited for memory, a process grew fast");
}

TEST_CASE("a burst lasts a minute at most, and a cooldown of four minutes follows in all cases") {
  Burst burst;
  burst.see(kBegin, shortage);
  const std::int64_t end_ms = end_under(shortage, burst, kBegin);
  CHECK(end_ms == kBegin + 60'000);
  CHECK(burst.length_ms() == 60'000);
  CHECK(burst.rest_until_ms(shortage) == end_ms + 240'000);
  for (const auto reason : {pressure, shortage, growth}) CHECK(burst.see(end_ms + 239'999, reason) == Change::none);
  CHECK(burst.see(end_ms + 240'000, growth) == Change::started);
  CHECK(burst.reasons() == "a process grew fast");
}

TEST_CASE("a short burst is followed by a cooldown of a minute") {
  Burst burst;
  burst.see(kBegin, pressure);
  const std::int64_t end_ms = end_of(burst, kBegin);
  CHECK(end_ms == kBegin + 10'000);
  CHECK(burst.see(end_ms + 59'999, shortage) == Change::none);
  CHECK(burst.see(end_ms + 60'000, shortage) == Change::started);
}

TEST_CASE("a burst caused only by growth has a cooldown of two minutes for growth, and none for severe reasons") {
  Burst burst;
  burst.see(kBegin, growth);
  const std::int64_t end_ms = end_of(burst, kBegin);
  CHECK(burst.see(end_ms + 119'999, growth) == Change::none);
  SECTION("growth waits for its cooldown") {
    CHECK(burst.see(end_ms + 120'000, growth) == Change::started);
  }
  SECTION("growth waits for the cooldown of a severe burst") {
    CHECK(burst.see(end_ms + 1'000, pressure) == Change::started);
    const std::int64_t grave_end_ms = end_under(pressure, burst, end_ms + 1'000);
    CHECK(grave_end_ms == end_ms + 61'000);
    CHECK(burst.rest_until_ms(pressure) == grave_end_ms + 240'000);
    CHECK(burst.rest_until_ms(growth) == grave_end_ms + 240'000);
    CHECK(burst.see(grave_end_ms + 239'999, growth) == Change::none);
    CHECK(burst.see(grave_end_ms + 240'000, growth) == Change::started);
  }
}

TEST_CASE("a burst that growth started becomes as severe as its later reasons") {
  Burst burst;
  burst.see(kBegin, growth);
  burst.see(kBegin + 5'000, pressure);
  const std::int64_t end_ms = end_of(burst, kBegin + 5'000);
  CHECK(burst.see(end_ms + 59'999, pressure) == Change::none);
  CHECK(burst.see(end_ms + 60'000, growth) == Change::started);
}

TEST_CASE("the cooldown after a burst that soon follows another doubles, up to an hour") {
  Burst burst;
  std::int64_t now_ms = kBegin;
  std::vector<std::int64_t> rests;
  for (int i = 0; i < 6; ++i) {
    REQUIRE(burst.see(now_ms, pressure) == Change::started);
    const std::int64_t end_ms = end_under(pressure, burst, now_ms);
    now_ms = burst.rest_until_ms(pressure);
    rests.push_back((now_ms - end_ms) / 60'000);
  }
  CHECK(rests == std::vector<std::int64_t>{4, 8, 16, 32, 60, 60});
  // After an equally long time without a burst the cooldowns are short again.
  now_ms += 3'600'000;
  burst.see(now_ms, pressure);
  const std::int64_t end_ms = end_under(pressure, burst, now_ms);
  CHECK(burst.rest_until_ms(pressure) - end_ms == 240'000);
}

TEST_CASE("an OOM kill starts a burst even in a cooldown: a short one, once") {
  Burst burst;
  burst.see(kBegin, pressure);
  const std::int64_t end_ms = end_of(burst, kBegin);
  CHECK(burst.see(end_ms + 5'000, oom_kill) == Change::started);
  CHECK(end_under(oom_kill, burst, end_ms + 5'000) == end_ms + 15'000);
  CHECK(burst.rest_until_ms(oom_kill) == end_ms + 70'000);
  CHECK(burst.see(end_ms + 69'999, growth) == Change::none);
  CHECK(burst.see(end_ms + 16'000, oom_kill) == Change::none);
  CHECK(burst.see(end_ms + 70'000, oom_kill) == Change::started);
  end_of(burst, end_ms + 70'000);
  CHECK(burst.see(end_ms + 81'000, oom_kill) == Change::started);
}

TEST_CASE("bursts take less than a quarter of a day in all cases") {
  constexpr std::int64_t day_ms = 86'400'000;
  // Two phases alternate: one with a reason, and one with no reason or another one.
  const std::int64_t with_ms = GENERATE(1'000, 5'000, 15'000, 50'000, 86'400'000);
  const std::int64_t without_ms = GENERATE(0, 40'000, 61'000, 130'000, 300'000);
  const BurstReason reason = GENERATE(growth, oom_kill);
  const std::optional<BurstReason> other =
      GENERATE(std::optional<BurstReason>(), std::optional(pressure), std::optional(growth));
  Burst burst;
  std::int64_t in_burst_ms = 0;
  for (std::int64_t now_ms = 0; now_ms < day_ms; now_ms += 1'000) {
    const auto seen = now_ms % (with_ms + without_ms) < with_ms ? reason : other;
    if (burst.see(kBegin + now_ms, seen) == Change::ended) burst.see(kBegin + now_ms, seen);
    if (burst.running()) in_burst_ms += 1'000;
  }
  CHECK(in_burst_ms < day_ms / 4);
  CHECK(in_burst_ms > 0);
}

TEST_CASE("a burst during which the machine was suspended counts as no longer than its maximum") {
  Burst burst;
  burst.see(kBegin, growth);
  CHECK(burst.see(kBegin + 8 * 3'600'000, pressure) == Change::ended);
  CHECK(burst.length_ms() == 10'000);
  CHECK(burst.rest_until_ms(growth) == kBegin + 8 * 3'600'000 + 120'000);
}

TEST_CASE("a burst can be stopped early") {
  Burst burst;
  burst.see(kBegin, growth);
  burst.end(kBegin + 3'000);
  CHECK_FALSE(burst.running());
  CHECK(burst.length_ms() == 3'000);
  CHECK(burst.see(kBegin + 4'000, growth) == Change::none);
}
