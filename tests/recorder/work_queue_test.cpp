#include "recorder/work_queue.h"

#include "support/catch.h"
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

TEST_CASE("work comes out in the order it went in") {
  WorkQueue queue(3);
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

TEST_CASE("beyond its bound the queue drops the oldest tick, and never what is not a tick") {
  WorkQueue queue(2);
  queue.push(RunInfo{});
  for (std::int64_t ms = 1; ms <= 5; ++ms) {
    queue.push(tick_at(ms * 1000));
    queue.push(Event{});
  }
  CHECK(queue.ticks() == 2);
  CHECK(queue.lost().count == 3);
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

TEST_CASE("what is put back is first again, and the first to be dropped") {
  WorkQueue queue(2);
  queue.push(tick_at(1));
  queue.push(tick_at(2));
  auto first = queue.take();
  queue.push(tick_at(3));
  SECTION("when there is room") {
    queue.take();
    queue.put_back(std::move(*first));
    CHECK(tick_times(queue) == std::vector<std::int64_t>{1, 3});
  }
  SECTION("when there is none") {
    queue.put_back(std::move(*first));
    CHECK(queue.lost().count == 1);
    CHECK(tick_times(queue) == std::vector<std::int64_t>{2, 3});
  }
}

TEST_CASE("the tick after a dropped one takes over its births and exits") {
  WorkQueue queue(1);
  Tick first = tick_at(1);
  first.keyframe = true;
  first.skipped = 2;
  first.born = {process(10), process(20)};
  first.counts.born = 2;
  first.exits = {{key(5), ExitKind::exited}};
  first.counts.exited = 1;
  Tick second = tick_at(2);
  second.skipped = 1;
  // 10 became another program, 20 was described anew, 3 was gone.
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

TEST_CASE("of the processes that only dropped ticks saw the newest are kept") {
  WorkQueue queue(1);
  constexpr std::int32_t kTicks = static_cast<std::int32_t>(WorkQueue::kMostEnded) + 100;
  for (std::int32_t pid = 1; pid <= kTicks; ++pid) {
    Tick tick = tick_at(pid);
    tick.born = {process(pid)};
    // The first lives on; each other is gone a tick later.
    if (pid > 2) tick.exits = {{key(pid - 1), ExitKind::exited}};
    queue.push(std::move(tick));
  }
  // All but the first and the last are gone.
  const std::int64_t forgotten = kTicks - 2 - static_cast<std::int64_t>(WorkQueue::kMostEnded);
  CHECK(queue.lost().processes == forgotten);
  const auto item = queue.take();
  const Tick& left = std::get<Tick>(*item);
  REQUIRE(left.born.size() == WorkQueue::kMostEnded + 2);
  CHECK(left.born[0].key == key(1));
  CHECK(left.born[1].key == key(static_cast<std::int32_t>(forgotten) + 2));
  CHECK(left.born.back().key == key(kTicks));
  REQUIRE(left.exits.size() == WorkQueue::kMostEnded);
  CHECK(left.exits.front().key == left.born[1].key);
}

TEST_CASE("births outlive any number of dropped ticks") {
  WorkQueue queue(1);
  for (std::int32_t pid = 1; pid <= 100; ++pid) {
    Tick tick = tick_at(pid);
    tick.born = {process(pid)};
    queue.push(std::move(tick));
  }
  CHECK(queue.lost().count == 99);
  const auto item = queue.take();
  const Tick& left = std::get<Tick>(*item);
  REQUIRE(left.born.size() == 100);
  for (std::int32_t pid = 1; pid <= 100; ++pid) CHECK(left.born[static_cast<std::size_t>(pid - 1)].key == key(pid));
}
