#include "recorder/work_queue.h"

#include <deque>
#include <random>

#include "support/catch.h"
#include "support/simulation.h"
#include "ticks.h"

using namespace memoir;
using namespace memoir::test;

namespace {

std::vector<std::int64_t> tick_times(WorkQueue& queue) {
  std::vector<std::int64_t> times;
  while (auto item = queue.take()) {
    if (const auto* tick = std::get_if<Tick>(&*item)) times.push_back(tick->begin.wall_ms);
  }
  return times;
}

}  // namespace

TEST_CASE("the queue keeps its order") {
  WorkQueue queue({.ticks = 3});
  queue.push(RunInfo{});
  queue.push(tick_at(1));
  queue.push(Event{});
  queue.push(RunEnd{});
  CHECK(queue.ticks() == 1);
  CHECK(queue.has_run_end());
  CHECK(std::holds_alternative<RunInfo>(*queue.take()));
  CHECK(std::holds_alternative<Tick>(*queue.take()));
  CHECK(queue.ticks() == 0);
  CHECK(std::holds_alternative<Event>(*queue.take()));
  CHECK(std::holds_alternative<RunEnd>(*queue.take()));
  CHECK_FALSE(queue.has_run_end());
  CHECK_FALSE(queue.take());
}

TEST_CASE("beyond its bound the queue drops the oldest tick, and never other work") {
  WorkQueue queue({.ticks = 2});
  queue.push(RunInfo{});
  for (std::int64_t ms = 1; ms <= 5; ++ms) {
    queue.push(tick_at(ms * 1000));
    queue.push(Event{});
  }
  CHECK(queue.ticks() == 2);
  CHECK(queue.lost().ticks == 3);
  CHECK(queue.lost().first_ms == 1000);
  CHECK(queue.lost().last_ms == 3000);
  CHECK(std::holds_alternative<RunInfo>(*queue.take()));
  int events = 0;
  std::vector<std::int64_t> times;
  while (auto item = queue.take()) {
    events += std::holds_alternative<Event>(*item) ? 1 : 0;
    if (const auto* tick = std::get_if<Tick>(&*item)) times.push_back(tick->begin.wall_ms);
  }
  CHECK(events == 5);
  CHECK(times == std::vector<std::int64_t>{4000, 5000});
}

TEST_CASE("returned work is first in the queue again, and is dropped first") {
  WorkQueue queue({.ticks = 2});
  queue.push(tick_at(1));
  queue.push(tick_at(2));
  auto first = queue.take();
  queue.push(tick_at(3));
  SECTION("when there is space") {
    queue.take();
    queue.put_back(std::move(*first));
    CHECK(tick_times(queue) == std::vector<std::int64_t>{1, 3});
  }
  SECTION("when there is no space") {
    queue.put_back(std::move(*first));
    CHECK(queue.lost().ticks == 1);
    CHECK(tick_times(queue) == std::vector<std::int64_t>{2, 3});
  }
}

TEST_CASE("the tick after a dropped one takes over its started and exited processes") {
  WorkQueue queue({.ticks = 1});
  Tick first = tick_at(1);
  first.keyframe = true;
  first.skipped = 2;
  first.born = {process(10), process(20)};
  first.counts.born = 2;
  first.exits = {{key(5), ExitKind::exited}};
  first.counts.exited = 1;
  Tick second = tick_at(2);
  second.skipped = 1;
  // Process 10 execs, 20 is described again, and 3 has exited.
  second.born = {process(10, 1), process(20)};
  second.born[1].cgroup = "/moved";
  second.counts.execed = 1;
  second.exits = {{key(3), ExitKind::exited}, {key(10), ExitKind::execed}};
  second.counts.exited = 1;
  queue.push(std::move(first));
  queue.push(std::move(second));

  const auto item = queue.take();
  const Tick& left = std::get<Tick>(*item);
  CHECK(left.begin.wall_ms == 2);
  CHECK(left.keyframe);
  CHECK(left.skipped == 3);
  REQUIRE(left.born.size() == 3);
  CHECK(left.born[0].key == key(10));
  CHECK(left.born[1].key == key(10, 1));
  CHECK(left.born[2].cgroup == "/moved");
  CHECK(left.exits ==
        std::vector<ProcessExit>{{key(3), ExitKind::exited}, {key(5), ExitKind::exited}, {key(10), ExitKind::execed}});
  CHECK(left.counts.born == 2);
  CHECK(left.counts.exited == 2);
  CHECK(left.counts.execed == 1);
}

TEST_CASE("the tick after a dropped one takes over rarely read values, unless it has newer ones") {
  WorkQueue queue({.ticks = 1});
  Tick tick = tick_at(1);
  tick.segments = {SysvSegment{}};
  tick.tmpfs = {TmpfsSample{}};
  queue.push(tick);
  Tick later = tick_at(2);
  later.tmpfs = {TmpfsSample{}, TmpfsSample{}};
  queue.push(later);
  queue.push(tick_at(3));
  const Tick left = std::get<Tick>(*queue.take());
  REQUIRE(left.segments);
  CHECK(left.segments->size() == 1);
  REQUIRE(left.tmpfs);
  CHECK(left.tmpfs->size() == 2);
}

TEST_CASE("a mapping reading of a dropped tick is used if the next one only deferred it") {
  WorkQueue queue({.ticks = 1});
  Tick tick = tick_at(1);
  tick.summaries = {{.process = key(1), .read_ms = 1}, {.process = key(2), .read_ms = 1}};
  queue.push(tick);
  Tick later = tick_at(2);
  later.summaries = {{.process = key(1), .state = MappingState::deferred}, {.process = key(2), .read_ms = 2}};
  queue.push(later);
  const Tick left = std::get<Tick>(*queue.take());
  REQUIRE(left.summaries.size() == 2);
  CHECK(left.summaries[0].read_ms == 1);
  CHECK(left.summaries[1].read_ms == 2);
}

TEST_CASE("the tick after a dropped one takes over its exits, with the peaks of processes without samples") {
  WorkQueue queue({.ticks = 1});
  Tick tick = tick_at(1);
  tick.events = TickEvents{.exits = 5, .lost = 1};
  tick.born = {process(30)};
  tick.exit_records = {{.process = key(30), .peak_kib = 70}, {.process = key(40)}};
  tick.extremes.processes = {{key(30), {}, {}, {{}, SeenSize{70, 1}}}, {key(40), {}, {}, {{}, SeenSize{90, 1}}}};
  tick.exit_sums = {
      {.comm = "sh", .user = "root", .cgroup = "/", .count = 3, .first_ms = 1, .last_ms = 2, .peak_kib = 9}};
  queue.push(tick);
  Tick later = tick_at(2);
  later.exit_records = {{.process = key(20)}};
  later.exit_sums = {
      {.comm = "sh", .user = "root", .cgroup = "/", .count = 4, .first_ms = 3, .last_ms = 4, .peak_kib = 8}};
  queue.push(later);
  const Tick left = std::get<Tick>(*queue.take());
  REQUIRE(left.exit_records.size() == 3);
  CHECK(left.exit_records[0].process == key(20));
  CHECK(left.exit_records[1].peak_kib == 70);
  REQUIRE(left.extremes.processes.size() == 2);
  CHECK(left.extremes.processes[0].process == key(30));
  CHECK(left.extremes.processes[1].hwm.highest == SeenSize{90, 1, {}});
  REQUIRE(left.exit_sums.size() == 1);
  CHECK(left.exit_sums[0].count == 7);
  CHECK(left.exit_sums[0].first_ms == 1);
  CHECK(left.exit_sums[0].last_ms == 4);
  CHECK(left.exit_sums[0].peak_kib == 9);
  CHECK(left.events == TickEvents{.exits = 5, .lost = 1});
}

TEST_CASE("a cgroup's peak between two ticks survives the dropped tick that had it") {
  Tick dropped;
  dropped.extremes.cgroups = {{"/a", {{}, SeenSize{90, 1}}, {{}, SeenSize{5, 1}}}, {"/b", {{}, SeenSize{40, 1}}, {}}};
  Tick next;
  next.extremes.cgroups = {{"/a", {{}, SeenSize{70, 2}}, {{}, SeenSize{7, 2}}}};
  merge_dropped(std::move(dropped), next);
  REQUIRE(next.extremes.cgroups.size() == 2);
  CHECK(next.extremes.cgroups[0].usage.highest == SeenSize{90, 1});
  CHECK(next.extremes.cgroups[0].swap.highest == SeenSize{7, 2});
  CHECK(next.extremes.cgroups[1].path == "/b");
}

TEST_CASE("sums of exits stay few with any number of dropped ticks, and none is lost") {
  WorkQueue queue({.ticks = 1});
  for (int i = 0; i < 26; ++i) {
    Tick tick = tick_at(i);
    for (int j = 0; j < 50; ++j) {
      tick.exit_sums.push_back({.comm = "n" + std::to_string(50 * i + j), .user = "root", .cgroup = "/", .count = 2});
    }
    queue.push(std::move(tick));
  }
  const Tick left = std::get<Tick>(*queue.take());
  CHECK(left.exit_sums.size() <= 1'001);
  std::int64_t count = 0;
  for (const ExitSum& sum : left.exit_sums) count += sum.count;
  CHECK(count == 2'600);
}

TEST_CASE("the newest of the processes that only dropped ticks contain are kept") {
  WorkQueue queue({.ticks = 1});
  constexpr std::int32_t kTicks = static_cast<std::int32_t>(WorkQueue::kMaxExits) + 100;
  for (std::int32_t pid = 1; pid <= kTicks; ++pid) {
    Tick tick = tick_at(pid);
    tick.born = {process(pid)};
    // The first process keeps running; each other exits a tick later.
    if (pid > 2) tick.exits = {{key(pid - 1), ExitKind::exited}};
    queue.push(std::move(tick));
  }
  // All processes except the first and the last have exited.
  const std::int64_t forgotten = kTicks - 2 - static_cast<std::int64_t>(WorkQueue::kMaxExits);
  CHECK(queue.lost().processes == forgotten);
  const auto item = queue.take();
  const Tick& left = std::get<Tick>(*item);
  REQUIRE(left.born.size() == WorkQueue::kMaxExits + 2);
  CHECK(left.born[0].key == key(1));
  CHECK(left.born[1].key == key(static_cast<std::int32_t>(forgotten) + 2));
  CHECK(left.born.back().key == key(kTicks));
  REQUIRE(left.exits.size() == WorkQueue::kMaxExits);
  CHECK(left.exits.front().key == left.born[1].key);
}

TEST_CASE("new processes are reported even if any number of ticks is dropped") {
  WorkQueue queue({.ticks = 1});
  for (std::int32_t pid = 1; pid <= 100; ++pid) {
    Tick tick = tick_at(pid);
    tick.born = {process(pid)};
    queue.push(std::move(tick));
  }
  CHECK(queue.lost().ticks == 99);
  const auto item = queue.take();
  const Tick& left = std::get<Tick>(*item);
  REQUIRE(left.born.size() == 100);
  for (std::int32_t pid = 1; pid <= 100; ++pid) CHECK(left.born[static_cast<std::size_t>(pid - 1)].key == key(pid));
}

TEST_CASE("a delayed tick leaves the queue unchanged, whatever happens in between") {
  const auto seed = GENERATE(1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U);
  std::mt19937 random(seed);
  const auto chance = [&random](int percent) { return std::uniform_int_distribution<>(1, 100)(random) <= percent; };
  Simulation simulation({.processes = 30, .changing = 0.3, .births = 2, .seed = seed});
  const auto make = [&] {
    Tick tick = simulation.next();
    // A collector does not read each process in each tick.
    for (ProcessSample& sample : tick.processes) {
      if (chance(40)) sample.source = Source::held;
    }
    if (chance(20)) tick.processes.erase(tick.processes.begin() + 3, tick.processes.begin() + 6);
    if (chance(2)) tick.processes.clear();
    return tick;
  };
  WorkQueue queue({.ticks = 6});
  std::deque<Samples> expected;
  std::optional<WorkItem> out;  // work that was taken from the queue, and may be returned
  std::int64_t dropped = 0;
  for (int i = 0; i < 2000; ++i) {
    if (chance(50)) {
      Tick tick = make();
      expected.push_back(tick.processes);
      queue.push(std::move(tick));
    } else if (out && chance(70)) {
      expected.push_front(std::get<Tick>(*out).processes);
      queue.put_back(*std::exchange(out, std::nullopt));
    } else if ((out = queue.take())) {
      REQUIRE(std::get<Tick>(*out).processes == expected.front());
      expected.pop_front();
    }
    for (; dropped < queue.lost().ticks; ++dropped) expected.pop_front();
    REQUIRE(queue.ticks() == expected.size());
  }
  CHECK(dropped > 10);
  while (queue.take()) {
  }
  CHECK(queue.bytes() == 0);
}

TEST_CASE("a pending tick uses memory only for its changes") {
  // One hour of 300 processes, of which one in twenty changes per tick.
  Simulation simulation({.processes = 300, .changing = 0.05, .births = 0.05});
  WorkQueue queue({});
  std::size_t whole = 0;
  for (int i = 0; i < 360; ++i) {
    Tick tick = simulation.next();
    whole += tick.processes.size() * sizeof(ProcessSample);
    queue.push(std::move(tick));
  }
  CHECK(queue.ticks() == 360);
  INFO(queue.bytes() / 360 << " bytes per tick");
  CHECK(queue.bytes() < 360 * 15'000);
  CHECK(queue.bytes() < whole / 7);
}

TEST_CASE("the queue stays within its bound in bytes, and always keeps the newest tick") {
  Simulation simulation({.processes = 300, .changing = 1});
  constexpr std::size_t kBytes = 1024 * 1024;
  WorkQueue queue({.ticks = 1000, .bytes = kBytes});
  for (int i = 0; i < 100; ++i) {
    queue.push(simulation.next());
    REQUIRE(queue.bytes() <= kBytes);
  }
  CHECK(queue.ticks() > 5);
  CHECK(queue.lost().ticks == 100 - static_cast<std::int64_t>(queue.ticks()));
  WorkQueue tiny({.ticks = 1000, .bytes = 1});
  for (int i = 0; i < 5; ++i) tiny.push(simulation.next());
  CHECK(tiny.ticks() == 1);
  const auto left = tiny.take();
  CHECK(std::get<Tick>(*left).processes.size() == 300);
}

TEST_CASE("the newest pending events are kept, and dropped ones are counted") {
  WorkQueue queue({.events = 3});
  queue.push(RunInfo{});
  for (std::int64_t ms = 1; ms <= 10; ++ms) {
    queue.push(Event{.at = {.wall_ms = ms, .boot_ms = ms}, .kind = "reload", .text = "refused"});
  }
  CHECK(queue.lost().events == 7);
  CHECK(queue.lost().any());
  CHECK(std::holds_alternative<RunInfo>(*queue.take()));
  for (std::int64_t ms = 8; ms <= 10; ++ms) CHECK(std::get<Event>(*queue.take()).at.wall_ms == ms);
  CHECK(queue.empty());
}
