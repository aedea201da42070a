// Which processes' smaps are read, and when.

#include <algorithm>
#include <map>

#include "collect/mappings/plan.h"
#include "support/catch.h"

using namespace memoir;

namespace {

constexpr std::int64_t kTickMs = 10'000;
constexpr std::int64_t kIntervalMs = 900'000;

ProcessKey key(std::int32_t pid) {
  return {pid, 100, 0};
}

MappingCandidate process(std::int32_t pid, std::int64_t pss_kib, std::size_t counters = 1) {
  return {key(pid), pss_kib, counters, false};
}

// The ticks of a machine on which each read costs the same.
struct Ticks {
  MappingPlan plan;
  std::int64_t cost_us = 1'000;
  std::int64_t now_ms = 1'000'000;
  std::vector<MappingCandidate> processes;

  explicit Ticks(const MappingLimits& limits = {}) : plan(limits) {}

  DueReads next(MappingRequest ask = MappingRequest::due) {
    now_ms += kTickMs;
    const DueReads turns = plan.next(processes, now_ms, ask);
    for (const ProcessKey& read : turns.read) plan.read(read, cost_us);
    return turns;
  }

  // Returns the number of reads per process within this time.
  std::map<std::int32_t, int> read_within(std::int64_t ms, bool moving = true) {
    std::map<std::int32_t, int> read;
    for (std::int64_t passed = 0; passed < ms; passed += kTickMs) {
      for (MappingCandidate& candidate : processes) candidate.counters += moving ? 1 : 0;
      for (const ProcessKey& each : next().read) ++read[each.pid];
    }
    return read;
  }
};

std::vector<std::int32_t> pids(const std::vector<ProcessKey>& keys) {
  std::vector<std::int32_t> pids;
  for (const ProcessKey& each : keys) pids.push_back(each.pid);
  return pids;
}

}  // namespace

TEST_CASE("mapping plan: the largest are read first, two at a tick, and each once in its interval") {
  Ticks ticks;
  for (std::int32_t pid = 1; pid <= 10; ++pid) ticks.processes.push_back(process(pid, 100 * pid));
  CHECK(pids(ticks.next().read) == std::vector{10, 9});
  CHECK(pids(ticks.next().read) == std::vector{8, 7});
  for (int i = 0; i < 3; ++i) CHECK(ticks.next().read.size() == 2);
  CHECK(ticks.next().read.empty());
  const auto read = ticks.read_within(2 * kIntervalMs);
  CHECK(read.size() == 10);
  for (const auto& [pid, times] : read) CHECK(times == 2);
}

TEST_CASE("mapping plan: no more processes than configured, a part of them growing ones") {
  MappingLimits limits;
  limits.processes = 8;
  Ticks ticks(limits);
  for (std::int32_t pid = 1; pid <= 50; ++pid) ticks.processes.push_back(process(pid, 10'000 + pid));
  ticks.next();
  ticks.processes[0].pss_kib += 9'000;  // still smaller than all others
  ticks.processes[0].pss_kib -= 5'000;
  ticks.processes[1].pss_kib += 20;
  const auto read = ticks.read_within(kIntervalMs);
  CHECK(read.contains(1));
  CHECK(read.contains(50));
  CHECK_FALSE(read.contains(30));
  // Two more than the places: before any process grew, the places for growing ones went to the next largest.
  CHECK(read.size() <= 8 + 2);
}

TEST_CASE("mapping plan: constantly changing ranks do not cause reads of all processes") {
  Ticks ticks;
  for (std::int32_t pid = 1; pid <= 300; ++pid) ticks.processes.push_back(process(pid, 2'000));
  std::size_t turn = 0;
  int read = 0;
  for (int i = 0; i < 6 * 360; ++i) {
    for (int moved = 0; moved < 15; ++moved) {
      MappingCandidate& candidate = ticks.processes[turn++ % ticks.processes.size()];
      candidate.pss_kib += candidate.pss_kib > 2'000 ? -64 : 64;
      ++candidate.counters;
    }
    read += static_cast<int>(ticks.next().read.size());
  }
  CHECK(read <= 6 * 4 * 20 + 40);
}

TEST_CASE("mapping plan: the forecast has the next due reads") {
  Ticks ticks;
  ticks.processes = {process(1, 100), process(2, 90)};
  ticks.next();
  for (MappingCandidate& candidate : ticks.processes) ++candidate.counters;
  ticks.next();
  CHECK(ticks.plan.coming(ticks.now_ms + kTickMs).empty());
  CHECK(ticks.plan.coming(ticks.now_ms + kIntervalMs).size() == 2);
}

TEST_CASE("mapping plan: smaps of an unchanged process is not read again") {
  Ticks ticks;
  ticks.processes = {process(1, 100), process(2, 90)};
  ticks.next();
  CHECK(ticks.read_within(4 * kIntervalMs, false).empty());
  ++ticks.processes[1].counters;
  CHECK(pids(ticks.next().read) == std::vector{2});
}

TEST_CASE("mapping plan: an expensive process is read less often, and the others keep their interval") {
  Ticks ticks;
  ticks.processes = {process(1, 1'000'000), process(2, 100)};
  std::map<std::int32_t, int> read;
  for (int i = 0; i < 24 * 360; ++i) {
    for (MappingCandidate& candidate : ticks.processes) ++candidate.counters;
    ticks.now_ms += kTickMs;
    for (const ProcessKey& each : ticks.plan.next(ticks.processes, ticks.now_ms, MappingRequest::due).read) {
      ticks.plan.read(each, each.pid == 1 ? 150'000 : 500);
      ++read[each.pid];
    }
  }
  // One process may use a quarter of the budget of 300 ms an hour, so its read of 150 ms is done every two hours.
  CHECK(read[1] == 12);
  CHECK(read[2] >= 94);
}

TEST_CASE("mapping plan: a read without budget is reported as deferred once, and done when there is budget again") {
  MappingLimits limits;
  limits.cpu_us_an_hour = 60'000;  // 1 ms in a minute
  Ticks ticks(limits);
  ticks.cost_us = 20'000;
  for (std::int32_t pid = 1; pid <= 4; ++pid) ticks.processes.push_back(process(pid, 100));
  std::int64_t spent_us = 0;
  std::vector<std::int32_t> deferred;
  std::map<std::int32_t, int> read;
  for (int i = 0; i < 6 * 60 * 10; ++i) {
    for (MappingCandidate& candidate : ticks.processes) ++candidate.counters;
    const DueReads turns = ticks.next();
    for (const ProcessKey& each : turns.read) {
      ++read[each.pid];
      spent_us += ticks.cost_us;
    }
    for (const std::int32_t pid : pids(turns.deferred)) deferred.push_back(pid);
  }
  CHECK(spent_us <= 10 * limits.cpu_us_an_hour + 2 * ticks.cost_us);
  CHECK(spent_us >= 9 * limits.cpu_us_an_hour);
  CHECK(read.size() == 4);
  CHECK_FALSE(deferred.empty());
  CHECK(deferred.size() < 4 * 10 * 4);
}

TEST_CASE("mapping plan: on demand all planned processes are read, even unchanged ones, and over budget") {
  MappingLimits limits;
  limits.processes = 8;
  Ticks ticks(limits);
  ticks.cost_us = 1'000'000;
  for (std::int32_t pid = 1; pid <= 100; ++pid) ticks.processes.push_back(process(pid, pid));
  CHECK(ticks.next(MappingRequest::planned).read.size() == 8);
  CHECK(ticks.next(MappingRequest::planned).read.size() == 8);
  CHECK(ticks.next(MappingRequest::most).read.size() == MappingPlan::kMaxAtOnce);
  ++ticks.processes[99].counters;
  CHECK(ticks.read_within(4 * kIntervalMs).empty());
}

TEST_CASE("mapping plan: a process that cannot be read takes no place") {
  MappingLimits limits;
  limits.processes = 4;
  Ticks ticks(limits);
  for (std::int32_t pid = 1; pid <= 20; ++pid) ticks.processes.push_back(process(pid, 1000 * pid));
  for (std::int32_t pid = 11; pid <= 20; ++pid) ticks.processes[static_cast<std::size_t>(pid - 1)].denied = true;
  const auto read = pids(ticks.next(MappingRequest::planned).read);
  CHECK(read == std::vector{10, 9, 8, 7, 20, 19, 18, 17});
}

TEST_CASE("mapping plan: a summary is dropped long after its process has left the plan") {
  MappingLimits limits;
  limits.processes = 4;
  Ticks ticks(limits);
  for (std::int32_t pid = 1; pid <= 10; ++pid) ticks.processes.push_back(process(pid, 1000 * pid));
  ticks.next(MappingRequest::most);
  std::vector<std::int32_t> dropped;
  std::int64_t first_ms = 0;
  for (int i = 0; i < 2 * 360; ++i) {
    for (const std::int32_t pid : pids(ticks.next().dropped)) dropped.push_back(pid);
    if (!dropped.empty() && first_ms == 0) first_ms = ticks.now_ms;
  }
  std::ranges::sort(dropped);
  CHECK(dropped == std::vector{1, 2, 3, 4, 5, 6});
  CHECK(first_ms == 1'000'000 + kTickMs + MappingPlan::kKeptMs);
}

TEST_CASE("mapping plan: a deferred read waits for the next interval and is reported once") {
  Ticks ticks;
  ticks.processes = {process(1, 100)};
  CHECK(ticks.plan.next(ticks.processes, 1'000, MappingRequest::due).read.size() == 1);
  CHECK(ticks.plan.defer(key(1), 100));
  CHECK_FALSE(ticks.plan.defer(key(1), 100));
  CHECK_FALSE(ticks.plan.defer(key(2), 100));  // the process has exited
  CHECK(ticks.plan.next(ticks.processes, 2'000, MappingRequest::due).read.empty());
  CHECK(ticks.plan.next(ticks.processes, 1'000 + kIntervalMs, MappingRequest::due).read.size() == 1);
}

TEST_CASE("mapping plan: if switched off, nothing is read, not even on demand; slow ticks read more at once") {
  MappingLimits off;
  off.interval_ms = 0;
  Ticks ticks(off);
  ticks.processes = {process(1, 100)};
  CHECK(ticks.next().read.empty());
  CHECK(ticks.next(MappingRequest::most).read.empty());

  Ticks slow;
  for (std::int32_t pid = 1; pid <= 20; ++pid) slow.processes.push_back(process(pid, pid));
  slow.next();
  slow.now_ms += kIntervalMs / 2;
  CHECK(slow.next().read.size() >= 10);
}
