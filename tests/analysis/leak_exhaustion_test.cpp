// Forecasts of the time at which a limit is reached. The true time is known, because the histories are simulated. In
// most of them the estimated interval contains it.

#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <random>

#include "analysis/leak/samples.h"
#include "support/catch.h"
#include "support/trials.h"

using namespace memoir;

namespace {

constexpr std::int64_t kTickMs = 10'000;
constexpr std::int64_t kOneMinuteMs = 60'000;
constexpr double kLimit = 512 * 1024;

// Usage in KiB, by time since the start.
using History = std::function<double(std::int64_t at_ms)>;

std::int64_t killed_ms(const History& history) {
  std::int64_t at = 0;
  while (history(at) < kLimit) at += kTickMs;
  return at;
}

// One hour of the analysis is a minute here, because the histories last minutes to hours.
LeakFinding judged(const History& history, std::int64_t now_ms, double room_error) {
  std::vector<LeakSample> samples;
  for (std::int64_t at = 0; at <= now_ms; at += kTickMs) samples.push_back({at, history(at), std::nullopt, 0});
  const double room = (kLimit - history(now_ms)) + room_error * history(now_ms);
  return judge_leak(roll_up(samples, {kOneMinuteMs}), {}, {kOneMinuteMs},
                    {{"memory.max", room, 0.03 * history(now_ms)}});
}

struct Score {
  int estimates = 0;
  int held = 0;
};

// Leaks of 100 KiB to 1 MiB per tick, judged before they reach the limit.
Score score(int seeds, const std::function<History(std::mt19937&, double per_tick)>& make) {
  Score score;
  for (int seed = 0; seed < seeds; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto uniform = [&random](double from, double to) {
      return std::uniform_real_distribution<double>(from, to)(random);
    };
    const History history = make(random, 100 * std::exp(uniform(0, std::log(10.0))));
    const std::int64_t end_ms = killed_ms(history);
    const auto share = uniform(0.3, 0.9) * static_cast<double>(end_ms);
    const std::int64_t now_ms = static_cast<std::int64_t>(share) / kTickMs * kTickMs;
    const LeakFinding found = judged(history, now_ms, uniform(-0.02, 0.02));
    if (!found.exhaustion || !found.exhaustion->in_ms) continue;
    ++score.estimates;
    const auto left = static_cast<double>(end_ms - now_ms);
    const LeakInterval& in = *found.exhaustion->in_ms;
    CHECK(in.lower <= in.value);
    CHECK(in.value <= in.upper);
    if (in.lower <= left && left <= in.upper) ++score.held;
  }
  return score;
}

// Autocorrelated noise, deterministic.
std::vector<double> noise(std::mt19937& random, double deviation, double memory) {
  std::normal_distribution<double> normal(0, deviation * std::sqrt(1 - memory * memory));
  std::vector<double> values(20'000);
  for (std::size_t i = 1; i < values.size(); ++i) values[i] = memory * values[i - 1] + normal(random);
  return values;
}

std::size_t tick_of(std::int64_t at_ms) {
  return static_cast<std::size_t>(at_ms / kTickMs);
}

}  // namespace

TEST_CASE("in nine of ten histories the limit is reached within the estimated interval") {
  constexpr double base = 64 * 1024;
  const std::vector<std::pair<std::string, std::function<History(std::mt19937&, double)>>> kinds{
      {"a straight line",
       [](std::mt19937&, double per_tick) -> History {
         return [=](std::int64_t at) { return base + per_tick * static_cast<double>(at / kTickMs); };
       }},
      {"noise",
       [](std::mt19937& random, double per_tick) -> History {
         return [=, noise = noise(random, 0.02 * base, 0.0)](std::int64_t at) {
           return base + per_tick * static_cast<double>(at / kTickMs) + noise[tick_of(at)];
         };
       }},
      {"slow noise",
       [](std::mt19937& random, double per_tick) -> History {
         return [=, noise = noise(random, 0.02 * base, 0.8)](std::int64_t at) {
           return base + per_tick * static_cast<double>(at / kTickMs) + noise[tick_of(at)];
         };
       }},
      {"bursts",
       [](std::mt19937& random, double per_tick) -> History {
         std::vector<double> sums(20'000);
         std::exponential_distribution<double> size(1 / per_tick);
         for (std::size_t i = 1; i < sums.size(); ++i) sums[i] = sums[i - 1] + size(random);
         return [=](std::int64_t at) { return base + sums[tick_of(at)]; };
       }},
      {"collected repeatedly",
       [](std::mt19937&, double per_tick) -> History {
         constexpr std::size_t cycle = 7;
         return [=](std::int64_t at) {
           const auto up = static_cast<double>(tick_of(at) % cycle);
           return base + per_tick * static_cast<double>(at / kTickMs) + 0.05 * base * up;
         };
       }},
  };
  for (const auto& [name, make] : kinds) {
    CAPTURE(name);
    const int seeds = test::all_trials() ? 100 : 50;
    const Score found = score(seeds, make);
    CAPTURE(found.estimates, found.held);
    CHECK(found.estimates >= seeds / 2);
    CHECK(static_cast<double>(found.held) >= 0.9 * found.estimates);
  }
}

namespace {

// Hourly values: 200 MiB plus growth that reaches `grown` MiB after `hours`; the growth accelerates if `power` exceeds
// 1.
LeakFinding filling(double seen_hours, double hours, double grown, double power, double swing) {
  constexpr std::int64_t hour_ms = 3'600'000;
  const auto kib = [=](double hour) {
    const double day = 0.5 - 0.5 * std::cos(2 * 3.14159265358979 * hour / 24);
    return 1024 * (200 + grown * std::pow(hour / hours, power) + swing * day);
  };
  std::vector<LeakSample> samples;
  for (int at = 0; at < seen_hours * 12; ++at) samples.push_back({at * hour_ms / 12, kib(at / 12.0), std::nullopt, 0});
  const double now = samples.back().value;
  double limit = 0;
  for (double hour = 0; hour <= hours; hour += 0.1) limit = std::max(limit, kib(hour));
  return judge_leak(roll_up(samples), {}, {}, {{"limit", limit - now, 0, now}});
}

double hours_left(const LeakFinding& found) {
  REQUIRE(found.exhaustion);
  REQUIRE(found.exhaustion->in_ms);
  return found.exhaustion->in_ms->value / 3'600'000;
}

}  // namespace

TEST_CASE("a forecast follows growth that becomes faster, and says so") {
  const LeakFinding straight = filling(96, 144, 400, 1, 0);
  CHECK_FALSE(straight.exhaustion->accelerates);
  CHECK(hours_left(straight) == Approx(48).epsilon(0.05));
  const LeakFinding faster = filling(96, 144, 400, 2, 0);
  CHECK(faster.exhaustion->accelerates);
  CHECK(faster.reason.find("it grows faster than before") != std::string::npos);
  // A forecast with the mean slope so far would be 120 hours.
  CHECK(hours_left(faster) < 72);
  CHECK(faster.exhaustion->in_ms->lower <= 48 * 3'600'000.0);
}

TEST_CASE("a daily maximum is not taken for the end of the headroom") {
  // Judged at the maximum of the fourth day; the limit is reached at the maximum of the fifth.
  const LeakFinding found = filling(84.5, 110, 400, 1, 100);
  CHECK(hours_left(found) == Approx(24).epsilon(0.2));
}
