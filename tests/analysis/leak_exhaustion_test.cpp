// When a limit is reached: the truth lies in the interval that is told, over many histories that are known to their
// end.

#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <random>

#include "analysis/leak/samples.h"
#include "support/catch.h"

using namespace memoir;

namespace {

constexpr std::int64_t kTickMs = 10'000;
constexpr std::int64_t kOneMinuteMs = 60'000;
constexpr double kLimit = 512 * 1024;

// What is held at a time since the start, in KiB.
using History = std::function<double(std::int64_t at_ms)>;

std::int64_t killed_ms(const History& history) {
  std::int64_t at = 0;
  while (history(at) < kLimit) at += kTickMs;
  return at;
}

// An hour for the analysis is a minute: the history is of minutes to hours.
LeakFinding judged(const History& history, std::int64_t now_ms, double room_error) {
  std::vector<LeakSample> samples;
  for (std::int64_t at = 0; at <= now_ms; at += kTickMs) samples.push_back({at, history(at), std::nullopt, 0});
  const double room = (kLimit - history(now_ms)) + room_error * history(now_ms);
  return judge_leak(roll_up(samples, {kOneMinuteMs}), {}, {kOneMinuteMs},
                    {{"memory.max", room, 0.03 * history(now_ms)}});
}

struct Score {
  int told = 0;
  int held = 0;
};

// Leaks of 100 KiB to 1 MiB a tick, looked at when a part of the way is gone.
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
    ++score.told;
    const auto left = static_cast<double>(end_ms - now_ms);
    const LeakInterval& in = *found.exhaustion->in_ms;
    CHECK(in.lower <= in.value);
    CHECK(in.value <= in.upper);
    if (in.lower <= left && left <= in.upper) ++score.held;
  }
  return score;
}

// Noise with a memory, the same whenever it is asked for.
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

TEST_CASE("the time at which a limit is reached lies in the interval that is told, in nine of ten histories") {
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
      {"collected again and again",
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
    constexpr int seeds = 100;
    const Score found = score(seeds, make);
    CAPTURE(found.told, found.held);
    CHECK(found.told >= seeds / 2);
    CHECK(static_cast<double>(found.held) >= 0.9 * found.told);
  }
}
