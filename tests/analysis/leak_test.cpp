#include "analysis/leak/leak.h"

#include <cmath>
#include <functional>
#include <random>

#include "analysis/leak/pool.h"
#include "analysis/leak/samples.h"
#include "support/catch.h"

using namespace memoir;

namespace {

constexpr std::int64_t kHour = 3'600'000;
constexpr std::int64_t kDay = 24 * kHour;
constexpr std::int64_t kStartMs = 20'000 * kDay;
constexpr double kMib = 1024;

// Readings of `kib`, a function of the hour, every five minutes, with noise in KiB.
std::vector<LeakSample> samples_of(double hours, const std::function<double(double)>& kib, double noise = 200,
                                   const std::function<int(double)>& life = {}) {
  std::mt19937 random(7);
  std::normal_distribution<double> around(0, noise > 0 ? noise : 1);
  std::vector<LeakSample> samples;
  for (int at = 0; at < hours * 12; ++at) {
    const double hour = at / 12.0;
    samples.push_back({kStartMs + at * kHour / 12, kib(hour) + (noise > 0 ? around(random) : 0), std::nullopt,
                       life ? life(hour) : 0});
  }
  return samples;
}

LeakFinding judge(const std::vector<LeakSample>& samples, const LeakMetric& metric = {},
                  const std::vector<LeakLimit>& limits = {}) {
  return judge_leak(roll_up(samples), metric, {}, limits);
}

double day_swing(double hour) {
  return 0.5 - 0.5 * std::cos(2 * 3.14159265358979 * hour / 24);
}

double line(double hour) {
  return 200 * kMib + 5 * kMib * hour / 24;
}

const LeakGate* gate(const LeakFinding& found, const std::string& name) {
  for (const LeakGate& one : found.gates) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("a leak on a straight line is found with its slope, its interval and its beginning") {
  const LeakFinding found = judge(samples_of(30 * 24, line));
  CHECK(to_string(found.verdict) == "leak-steady");
  CHECK(found.leak);
  CHECK(found.slope_per_day.value == Approx(5 * kMib).epsilon(0.01));
  CHECK(found.slope_per_day.lower <= 5 * kMib);
  CHECK(found.slope_per_day.upper >= 5 * kMib);
  CHECK(found.confidence > 80);
  CHECK(found.confirmed);
  CHECK(found.grown_by == Approx(30 * 5 * kMib).epsilon(0.02));
  CHECK(found.since_ms < kStartMs + kDay);
  CHECK(found.until_ms == kStartMs + 30 * kDay);
  CHECK(found.floors.size() == 30);
  CHECK(found.level == found.floors.back().value);
  CHECK_FALSE(found.would_change.empty());
}

TEST_CASE("daily and weekly load on top of a leak does not hide it") {
  CHECK(judge(samples_of(30 * 24, [](double hour) { return line(hour) + 80 * kMib * day_swing(hour); })).leak);
  CHECK(judge(samples_of(30 * 24, [](double hour) {
          return line(hour) + (std::fmod(hour, 168) < 120 ? 60 * kMib : 0);
        })).leak);
}

TEST_CASE("a sawtooth whose floor rises is a leak") {
  const LeakFinding found =
      judge(samples_of(30 * 24, [](double hour) { return line(hour) + 120 * kMib * std::fmod(hour, 0.9) / 0.9; }));
  CHECK(to_string(found.verdict) == "leak-sawtooth-floor");
  CHECK(found.slope_per_day.value == Approx(5 * kMib).epsilon(0.05));
}

TEST_CASE("a leak in repeated weekly jumps is a leak by steps") {
  const LeakFinding found =
      judge(samples_of(60 * 24, [](double hour) { return 200 * kMib + 30 * kMib * std::floor(hour / 96); }));
  CHECK(to_string(found.verdict) == "leak-step");
}

TEST_CASE("a late leak is reported from its start") {
  const LeakFinding found =
      judge(samples_of(30 * 24, [](double hour) { return 300 * kMib + 12 * kMib * std::max(0.0, hour / 24 - 18); }));
  CHECK(found.leak);
  CHECK(std::abs(found.since_ms - (kStartMs + 18 * kDay)) <= 2 * kDay);
  CHECK(found.slope_per_day.value == Approx(12 * kMib).epsilon(0.1));
}

TEST_CASE("a reported leak stays a leak while it grows, and the second day changes nothing") {
  const std::vector<LeakSample> all = samples_of(
      96, [](double hour) { return 200 * kMib + 60 * kMib * hour / 24 + 25 * kMib * day_swing(hour); }, 3000);
  int after = 0;
  int still = 0;
  for (int hour = 30; hour <= 96; ++hour) {
    const bool leak = judge({all.begin(), all.begin() + hour * 12}).leak;
    CAPTURE(hour, leak);
    if (hour >= 44) CHECK(leak);
    if (after > 0) still += leak ? 1 : 0;
    if (after > 0 || leak) ++after;
  }
  CHECK(still >= 0.95 * after);
}

TEST_CASE("growth without a leak is dismissed with the gate that it failed") {
  struct Case {
    const char* verdict;
    const char* gate;
    std::function<double(double)> kib;
  };
  const std::vector<Case> cases{
      {"noise", "trend", [](double) { return 300 * kMib; }},
      {"noise", "trend", [](double hour) { return 300 * kMib - kMib * hour / 24; }},
      {"noise", "trend", [](double hour) { return 300 * kMib * (1 + 0.4 * day_swing(hour)); }},
      {"warm-up", "straight", [](double hour) { return 300 * kMib * (2 - std::exp(-hour / 140)); }},
      {"warm-up", "straight", [](double hour) { return 300 * kMib * (1 + 0.2 * std::log1p(hour / 8)); }},
      {"level-shift", "effect", [](double hour) { return (hour < 300 ? 300 : 400) * kMib; }},
      {"below-minimum", "effect", [](double hour) { return 300 * kMib + 0.3 * kMib * hour / 24; }},
  };
  for (const Case& one : cases) {
    const LeakFinding found = judge(samples_of(30 * 24, one.kib));
    CAPTURE(one.verdict, to_string(found.verdict));
    CHECK(to_string(found.verdict) == one.verdict);
    CHECK_FALSE(found.leak);
    CHECK(found.confidence == 0);
    REQUIRE(gate(found, one.gate) != nullptr);
    CHECK_FALSE(gate(found, one.gate)->passed);
    CHECK_FALSE(found.would_change.empty());
  }
}

TEST_CASE("daily swings that widen raise the soft floor, but not the minimum") {
  const LeakFinding found = judge(
      samples_of(30 * 24, [](double hour) { return 300 * kMib * (1 + 0.4 * (1 + hour / 360) * day_swing(hour)); }));
  CHECK_FALSE(found.leak);
}

TEST_CASE("too little history is reported, not guessed") {
  CHECK(to_string(judge({}).verdict) == "insufficient");
  const LeakFinding hour = judge(samples_of(1, line));
  CHECK(to_string(hour.verdict) == "insufficient");
  REQUIRE(hour.would_change.size() == 1);
  CHECK(hour.would_change[0].find("more history") == 0);
  CHECK(hour.reason.find(" of the 2.0 hours needed of one run") != std::string::npos);
  CHECK(hour.recorded_ms == Approx(kHour).epsilon(0.1));
  CHECK(hour.needed_ms == 2 * kHour);

  std::vector<LeakSample> parts = samples_of(15, line);
  std::erase_if(parts, [](const LeakSample& sample) { return (sample.at_ms - kStartMs) % (7 * kHour) > kHour; });
  const LeakFinding gaps = judge(parts);
  CHECK(to_string(gaps.verdict) == "insufficient");
  CHECK(gaps.recorded_ms > 2 * kHour);
  CHECK(gaps.reason.find("with too many gaps") != std::string::npos);

  const LeakFinding day = judge(samples_of(12, [](double h) { return 100 * kMib * (1 + h / 12); }));
  CHECK(day.leak);
  CHECK(day.short_history);
  CHECK_FALSE(day.confirmed);
  CHECK(day.confidence <= 50);
}

TEST_CASE("restarts that each leak are joined, and those that only warm up are distinguished from them") {
  const auto life = [](double hour) { return static_cast<int>(hour / 70); };
  const LeakFinding leak = judge(samples_of(
      30 * 24, [](double hour) { return 200 * kMib * (1 + std::fmod(hour, 70) / 70); }, 200, life));
  CHECK(leak.leak);
  CHECK(leak.lives == 11);
  CHECK(leak.slope_per_day.value == Approx(200 * kMib * 24 / 70).epsilon(0.05));

  const LeakFinding warm = judge(samples_of(
      30 * 24, [](double hour) { return 200 * kMib * (2 - std::exp(-std::fmod(hour, 70) / 6)); }, 200, life));
  CHECK_FALSE(warm.leak);
}

TEST_CASE("a leak that a restart fixes is no longer reported") {
  const auto life = [](double hour) { return hour < 400 ? static_cast<int>(hour / 100) : 4; };
  const LeakFinding found = judge(samples_of(
      30 * 24, [](double hour) { return 200 * kMib * (hour < 400 ? 1 + std::fmod(hour, 100) / 100 : 1); }, 200, life));
  CHECK_FALSE(found.leak);
}

TEST_CASE("counts have their own minimum growth") {
  const LeakMetric zombies{"zombies", 20, 0, LeakUnit::count};
  const auto more = [](double per_day) {
    return samples_of(
        30 * 24, [per_day](double hour) { return std::floor(per_day * hour / 24); }, 0);
  };
  CHECK(to_string(judge(more(2), zombies).verdict) == "count-leak");
  CHECK_FALSE(judge(more(0.3), zombies).leak);
}

TEST_CASE("the time to the nearest limit has an interval") {
  const LeakFinding found =
      judge(samples_of(30 * 24, line), {}, {{"machine", 5000 * kMib}, {"memory.max of web", 100 * kMib}});
  REQUIRE(found.exhaustion);
  CHECK(found.exhaustion->limit == "memory.max of web");
  REQUIRE(found.exhaustion->in_ms);
  CHECK(found.exhaustion->in_ms->value == Approx(20.0 * kDay).epsilon(0.02));
  CHECK(found.exhaustion->in_ms->lower <= found.exhaustion->in_ms->value);
  CHECK(found.exhaustion->in_ms->upper >= found.exhaustion->in_ms->value);

  const LeakFinding far = judge(samples_of(30 * 24, line), {}, {{"machine", 5000 * kMib}});
  REQUIRE(far.exhaustion);
  CHECK_FALSE(far.exhaustion->in_ms);  // a thousand days, beyond the horizon of thirty
}

TEST_CASE("verdict and slope follow the unit, and do not depend on the date") {
  for (const double factor : {0.25, 4.0, 1024.0}) {
    std::vector<LeakSample> samples =
        samples_of(20 * 24, [](double hour) { return line(hour) + 40 * kMib * day_swing(hour); });
    const LeakFinding plain = judge(samples);
    LeakMetric metric;
    metric.min_growth *= factor;
    for (LeakSample& sample : samples) {
      sample.value *= factor;
      sample.at_ms += 1000 * kDay;
    }
    const LeakFinding scaled = judge(samples, metric);
    CHECK(scaled.verdict == plain.verdict);
    CHECK(scaled.slope_per_day.value == Approx(factor * plain.slope_per_day.value));
    CHECK(scaled.since_ms == plain.since_ms + 1000 * kDay);
  }
}

TEST_CASE("a shorter hour scales every window, and slopes are still per true day") {
  std::vector<LeakSample> samples = samples_of(30 * 24, line);
  for (LeakSample& sample : samples) sample.at_ms /= 60;
  const LeakSettings settings{kHour / 60};
  const LeakFinding found = judge_leak(roll_up(samples, settings), {}, settings);
  CHECK(to_string(found.verdict) == "leak-steady");
  CHECK(found.slope_per_day.value == Approx(60 * 5 * kMib).epsilon(0.01));
}

namespace {

LeakPool pool_of(int count, const std::function<double(int, double)>& kib,
                 const std::function<bool(int, double)>& alive) {
  LeakPool pool;
  std::vector<LeakSample> sum;
  std::vector<LeakSample> members;
  std::vector<std::vector<LeakSample>> each(static_cast<std::size_t>(count));
  for (int at = 0; at < 30 * 288; ++at) {
    const double hour = at / 12.0;
    const std::int64_t at_ms = kStartMs + at * kHour / 12;
    double all = 0;
    int living = 0;
    for (int member = 0; member < count; ++member) {
      if (!alive(member, hour)) continue;
      each[static_cast<std::size_t>(member)].push_back({at_ms, kib(member, hour), std::nullopt, 0});
      all += kib(member, hour);
      ++living;
    }
    sum.push_back({at_ms, all, std::nullopt, 0});
    members.push_back({at_ms, static_cast<double>(living), std::nullopt, 0});
  }
  pool.sum = roll_up(sum);
  pool.count = roll_up(members);
  for (const auto& one : each) {
    if (!one.empty()) pool.members.push_back(roll_up(one));
  }
  return pool;
}

}  // namespace

TEST_CASE("a pool: all members grow, members keep being added, members are added once, members are replaced in time") {
  const auto always = [](int, double) { return true; };
  const auto level = [](int, double) { return 50 * kMib; };
  const LeakPool all = pool_of(
      4, [](int, double hour) { return 50 * kMib * (1 + hour / 720); }, always);
  CHECK(to_string(judge_pool(all, {}).verdict) == "leak-steady");

  const LeakPool more = pool_of(60, level, [](int member, double hour) { return hour >= member * 12; });
  CHECK(to_string(judge_pool(more, {}).verdict) == "count-leak");

  const LeakPool once = pool_of(8, level, [](int member, double hour) { return member < 4 || hour > 300; });
  const LeakFinding steps = judge_pool(once, {});
  CHECK_FALSE(steps.leak);
  CHECK(steps.confidence == 0);

  // Fifteen members of the same size join sixty-seven: too few for a leak of processes.
  const LeakPool some = pool_of(82, level, [](int member, double hour) { return hour >= (member - 67) * 45; });
  const LeakFinding larger = judge_pool(some, {});
  CHECK(to_string(larger.verdict) == "scale-out");
  CHECK_FALSE(larger.leak);
  CHECK(larger.confidence == 0);

  // Runs of thirty hours each, four at a time.
  const LeakPool recycled = pool_of(
      120, [](int member, double hour) { return 50 * kMib * (1 + (hour - member * 7.5 + 30) / 30); },
      [](int member, double hour) { return hour >= member * 7.5 - 30 && hour < member * 7.5; });
  CHECK(to_string(judge_pool(recycled, {}).verdict) == "contained-by-recycling");
}
