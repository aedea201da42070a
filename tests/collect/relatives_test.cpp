// Processes that are due for an exact read because of a relative, and processes that have exec'd.

#include "collect/process/relatives.h"

#include "collect/collector_fixture.h"
#include "support/fake_events.h"

namespace memoir::test {
namespace {

using Kind = ProcessEventKind;

struct Family {
  std::unique_ptr<DescriptorBudget> budget = std::make_unique<DescriptorBudget>(0);
  Entries entries;
  Relatives kin;

  // Must be called in pid order.
  ProcessEntry& add(std::int32_t pid, std::int32_t parent_pid, std::uint64_t start_ticks = 5) {
    entries.push_back(std::make_unique<ProcessEntry>(pid, start_ticks, *budget));
    entries.back()->sample.parent_pid = parent_pid;
    return *entries.back();
  }

  std::vector<std::int32_t> moved(const std::vector<ProcessEvent>& events = {}, bool lost = false) {
    for (const ProcessEvent& event : events) kin.note(event, entries);
    kin.see(entries, 100, lost);
    std::vector<std::int32_t> pids;
    for (const auto& entry : entries) {
      if (std::exchange(entry->related, false)) pids.push_back(entry->pid);
    }
    return pids;
  }

  std::vector<std::int32_t> execed(const std::vector<ProcessEvent>& events) {
    for (const ProcessEvent& event : events) kin.note(event, entries);
    kin.see(entries, 100, false);
    std::vector<std::int32_t> pids;
    for (const auto& entry : entries) {
      if (entry->has_exec_event) pids.push_back(entry->pid);
    }
    return pids;
  }
};

// Process 10 is a server with three workers. An unrelated process has a child, and another process is a child of init.
Family settled() {
  Family family;
  family.add(10, 1);
  for (const std::int32_t pid : {11, 12, 13}) family.add(pid, 10);
  family.add(20, 1);
  family.add(21, 20);
  family.moved();
  return family;
}

ProcessEvent happened(Kind kind, std::int32_t pid, std::int32_t parent_pid, std::int64_t boot_ms = 200) {
  ProcessEvent event;
  event.kind = kind;
  event.pid = pid;
  event.parent_pid = parent_pid;
  event.start_ticks = 5;
  event.boot_ns = boot_ms * 1'000'000;
  return event;
}

using Pids = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("relatives: no process is due without events, and all are due after lost events") {
  Family family = settled();
  CHECK(family.moved().empty());
  CHECK(family.moved({}, true) == Pids{10, 11, 12, 13, 20, 21});
  CHECK(family.moved().empty());
}

TEST_CASE("relatives: starts and exits change the process table") {
  Family family = settled();
  family.add(30, 20);
  CHECK(family.moved() == Pids{20, 21, 30});
  CHECK(family.moved().empty());
  family.entries.erase(family.entries.begin() + 2);  // process 12
  CHECK(family.moved() == Pids{10, 11, 13});
  CHECK(family.moved().empty());
  family.entries[3]->start_ticks = 9;  // another process reuses pid 20
  CHECK(family.moved() == Pids{20, 21, 30});
}

TEST_CASE("relatives: a grandchild's fork, exec and exit affect the family, except processes without shared memory") {
  Family family = settled();
  family.add(30, 21);
  family.moved({happened(Kind::forked, 30, 21)});
  CHECK(family.moved({happened(Kind::forked, 99, 30)}) == Pids{20, 21, 30});
  for (const std::size_t i : {4U, 5U}) {  // processes 20 and 21
    ExactReading& read = family.entries[i]->exact.emplace();
    read.memory.set(ProcessField::anonymous, 400);
    read.memory.set(ProcessField::pss_anon, i == 4 ? 400 : 300);
  }
  CHECK(family.moved({happened(Kind::forked, 98, 30)}) == Pids{21, 30});
  // init adopts the grandchildren.
  family.entries.back()->sample.parent_pid = 1;
  CHECK(family.moved({happened(Kind::forked, 97, 30)}) == Pids{21, 30});
  // After an exec, process 30 belongs to no family.
  CHECK(family.moved({happened(Kind::execed, 30, 1)}) == Pids{21, 30});
  CHECK(family.moved({happened(Kind::forked, 96, 30)}) == Pids{30});
}

TEST_CASE("relatives: events of processes that ran between two ticks") {
  Family family = settled();
  CHECK(family.moved({happened(Kind::forked, 99, 10)}) == Pids{10, 11, 12, 13});
  CHECK(family.moved({happened(Kind::exited, 99, 10)}) == Pids{10, 11, 12, 13});
  CHECK(family.moved({happened(Kind::execed, 21, 20)}) == Pids{20, 21});
  CHECK(family.moved({happened(Kind::exited, 98, 1)}).empty());
  CHECK(family.moved({happened(Kind::oom_victim, 10, 1)}).empty());
}

TEST_CASE("relatives: a process that wrote to its memory marks its family") {
  Family family = settled();
  const auto relatives_of_writers = [&family](const Pids& writers) {
    for (const auto& entry : family.entries) {
      entry->relatives_wrote_kib = 0;
      entry->wrote_kib = std::ranges::find(writers, entry->pid) != writers.end() ? 8 : 0;
    }
    family.moved();
    Pids relatives;
    for (const auto& entry : family.entries) {
      if (entry->relatives_wrote_kib > 0) relatives.push_back(entry->pid);
      CHECK(entry->relatives_wrote_kib <= static_cast<std::int64_t>(8 * writers.size()));
    }
    return relatives;
  };
  CHECK(relatives_of_writers({}).empty());
  CHECK(relatives_of_writers({12}) == Pids{10, 11, 12, 13});
  CHECK(relatives_of_writers({10, 12}) == Pids{10, 11, 12, 13});
  for (const auto& entry : family.entries) CHECK(entry->relatives_wrote_kib == (entry->pid < 20 ? 16 : 0));
  CHECK(relatives_of_writers({20}) == Pids{20, 21});  // children of init are not related to each other
  family.add(30, 21);
  CHECK(relatives_of_writers({30}) == Pids{20, 21, 30});
  ExactReading& read = family.entries[2]->exact.emplace();  // process 12 shares no memory, as after an exec
  read.memory.set(ProcessField::anonymous, 400);
  read.memory.set(ProcessField::pss_anon, 400);
  CHECK(relatives_of_writers({12}).empty());
  family.entries[2]->related = true;  // but it has forked since
  CHECK(relatives_of_writers({12}) == Pids{10, 11, 12, 13});
}

TEST_CASE("relatives: a move to another cgroup makes a read of the cgroup due, and no read of PSS") {
  Family family = settled();
  CHECK(family.moved({happened(Kind::attached, 11, 10), happened(Kind::attached, 99, 1)}).empty());
  for (const auto& entry : family.entries) CHECK(std::exchange(entry->cgroup_due, false) == (entry->pid == 11));
  family.moved();
  for (const auto& entry : family.entries) CHECK_FALSE(entry->cgroup_due);
}

TEST_CASE("relatives: an exec is reported once, for the process as it was") {
  Family family = settled();
  CHECK(family.execed({happened(Kind::execed, 11, 10)}) == Pids{11});
  CHECK(family.execed({}).empty());
  ProcessEvent other = happened(Kind::execed, 11, 10);
  other.start_ticks = 4;
  CHECK(family.execed({other}).empty());
  // The previous tick already detected the exec.
  family.entries[1]->execed = true;
  CHECK(family.execed({happened(Kind::execed, 11, 10, 90)}).empty());
  CHECK(family.execed({happened(Kind::execed, 11, 10, 101)}) == Pids{11});
  family.entries[1]->execed = false;
  CHECK(family.execed({happened(Kind::execed, 11, 10, 90)}) == Pids{11});
  // Processes that started during the tick were read in their present state.
  family.add(31, 20);
  family.moved();
  CHECK(family.execed({happened(Kind::execed, 31, 20, 90)}).empty());
  CHECK(family.execed({happened(Kind::execed, 31, 20, 90)}) == Pids{31});
}

TEST_CASE("an exec known only from its event starts another row") {
  Machine machine;
  const auto script = std::make_shared<FakeEvents::Script>();
  CollectorOptions none = many_descriptors();
  none.max_descriptors = 0;  // uncached rollups never stop answering, so they show no exec
  const auto collector = make_collector(machine.proc.proc(), machine.clock, none, std::unique_ptr<Census>(),
                                        std::unique_ptr<ProcessEvents>(std::make_unique<FakeEvents>(script)));
  const auto tick = [&] {
    auto made = collector->collect(false);
    if (!made) FAIL(made.error().message);
    machine.clock.advance(1000);
    return *std::move(made);
  };
  machine.proc.add(fake(10, "web"));
  tick();
  CHECK(tick().counts.execed == 0);
  ProcessEvent event = happened(Kind::execed, 10, 1, machine.clock.now().boot_ms);
  event.start_ticks = 1010;
  script->events = {event};
  const Tick after_exec = tick();
  CHECK(after_exec.counts.execed == 1);
  CHECK(sample_of(after_exec, 10).key.exec_count == 1);
  CHECK(tick().counts.execed == 0);
  script->lost = 7;
  CHECK(tick().counts.execed == 0);
  script->fails = true;
  CHECK(tick().counts.seen == 1);
  CHECK_THAT(collector->access().note, ContainsSubstring("the ring is gone"));
}

TEST_CASE("the reason for missing events is reported at the start") {
  Machine machine;
  const auto collector = make_collector(machine.proc.proc(), machine.clock, many_descriptors(),
                                        std::unique_ptr<Census>(), Error{ErrorKind::denied, "no tracepoints here"});
  REQUIRE(collector->collect(true).ok());
  CHECK_THAT(collector->access().note, ContainsSubstring("no tracepoints here"));
}

}  // namespace memoir::test
