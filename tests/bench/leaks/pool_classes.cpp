// Pools: several processes of one identity, judged by their sum.

#include <algorithm>
#include <cmath>
#include <memory>

#include "bench/leaks/signal.h"

namespace memoir::bench {

namespace {

// One run of one member.
struct Member {
  double from = 0;
  double until = 0;  // hours
  Shape kib;         // memory at an hour since the start of the history
};

Case pool_of(Draw& draw, const std::vector<Member>& members) {
  Case made;
  made.pool.emplace();
  made.pool->members.resize(members.size());
  Noise noise(draw);
  for (std::int64_t at = 0; at < kDays * 288; ++at) {
    const double hour = static_cast<double>(at) / 12;
    const double around = 1 + noise.next();
    const std::int64_t at_ms = kStartMs + at * kSampleMs;
    double sum = 0;
    int count = 0;
    for (std::size_t which = 0; which < members.size(); ++which) {
      const Member& member = members[which];
      if (hour < member.from || hour >= member.until) continue;
      const double value = member.kib(hour) * around;
      made.pool->members[which].push_back({at_ms, value, std::nullopt, 0});
      sum += value;
      ++count;
    }
    if (count == 0) continue;
    made.samples.push_back({at_ms, sum, std::nullopt, 0});
    made.pool->count.push_back({at_ms, static_cast<double>(count), std::nullopt, 0});
  }
  return made;
}

// Leaking workers that are replaced at a certain age, one after another.
Case recycled(Draw& draw) {
  const int workers = static_cast<int>(draw.parameter(4, 17));
  const double level = draw_level(draw) / 4;
  const double age = draw.log_parameter(10, 60);
  const double growth = draw.log_parameter(0.3, 2);
  std::vector<Member> members;
  for (int worker = 0; worker < workers; ++worker) {
    for (double from = -age * worker / workers; from < kHours; from += age) {
      members.push_back({from, from + age, [=](double hour) { return level * (1 + growth * (hour - from) / age); }});
    }
  }
  return pool_of(draw, members);
}

// Leaking workers that are never replaced.
Case all_grow(Draw& draw) {
  const int workers = static_cast<int>(draw.parameter(2, 17));
  const double level = draw_level(draw) / 4;
  const double growth = draw_growth(draw);
  const std::vector<Member> members(
      static_cast<std::size_t>(workers),
      Member{0, kHours, [=](double hour) { return level * (1 + growth * hour / kHours); }});
  Case made = pool_of(draw, members);
  made.growth = growth;
  made.onset_ms = kStartMs;
  made.slope_per_day = workers * level * growth / kDays;
  return made;
}

// Workers that start and do not exit, each of them at a constant level.
Case never_reaped(Draw& draw) {
  const double level = draw_level(draw) / 16;
  const double every = kHours / draw.log_parameter(25, 250);
  std::vector<Member> members(3, Member{0, kHours, [=](double) { return level; }});
  for (double from = draw.exponential(every); from < kHours; from += draw.exponential(every)) {
    members.push_back({from, kHours, [=](double) { return level; }});
  }
  Case made = pool_of(draw, members);
  made.growth = static_cast<double>(members.size()) / 3;
  made.onset_ms = kStartMs;
  return made;
}

// A service to which workers are added at some times, and which has more workers by day than by night.
Case scaled_out(Draw& draw) {
  const int workers = static_cast<int>(draw.parameter(4, 13));
  const double level = draw_level(draw) / 4;
  std::vector<Member> members(static_cast<std::size_t>(workers), Member{0, kHours, [=](double) { return level; }});
  const int times = static_cast<int>(draw.parameter(1, 4));
  for (int time = 0; time < times; ++time) {
    const double from = kHours * draw.parameter(0.1, 0.9);
    members.resize(members.size() + static_cast<std::size_t>(workers) / 2,
                   Member{from, kHours, [=](double) { return level; }});
  }
  for (double day = 24 * draw.unit(); day < kHours; day += 24) {
    members.resize(members.size() + static_cast<std::size_t>(workers) / 2,
                   Member{day, day + 10, [=](double) { return level; }});
  }
  return pool_of(draw, members);
}

}  // namespace

std::vector<CaseClass> pool_classes() {
  return {
      {"pool, all grow", true, true, all_grow},
      {"pool, never reaped", true, false, never_reaped, "count-leak"},
      {"pool, recycled", false, false, recycled, "contained-by-recycling"},
      {"pool, scaled out", false, false, scaled_out},
  };
}

}  // namespace memoir::bench
