// Tests of the census that reads statm of each process.

#include <algorithm>
#include <unistd.h>

#include "census/census.h"
#include "support/catch.h"
#include "support/fake_proc.h"

namespace memoir::test {
namespace {

FakeProcess small_process(std::int32_t pid, std::uint64_t start_ticks, std::int64_t private_kib) {
  FakeProcess process;
  process.pid = pid;
  process.start_ticks = start_ticks;
  process.memory = memory_of(private_kib, 400);
  return process;
}

// A fake machine, and a census of it with a limit on open descriptors.
struct Counted {
  explicit Counted(std::size_t max_kept) : budget(max_kept) {}

  std::vector<CensusProcess> look() {
    std::vector<CensusProcess> seen;
    const Status looked = census->read(seen);
    if (!looked) FAIL(looked.error().message);
    return seen;
  }

  FakeProc proc;
  DescriptorBudget budget;
  std::unique_ptr<Census> census = make_proc_census(std::make_shared<const ProcFs>(proc.proc()), budget);
};

}  // namespace

TEST_CASE("proc census: sizes, identities and the list, with and without cached descriptors") {
  const auto max_kept = static_cast<std::size_t>(GENERATE(0, 2, 100));
  Counted machine(max_kept);
  machine.proc.add(small_process(10, 1000, 1600));
  machine.proc.add(small_process(7, 900, 800));
  machine.proc.add({.pid = 2, .kernel_thread = true});
  for (int i = 0; i < 2; ++i) {
    const auto seen = machine.look();
    REQUIRE(seen.size() == 2);
    CHECK(seen[0].pid == 7);
    CHECK(seen[1].pid == 10);
    CHECK(seen[1].start_ticks == 1000);
    CHECK_FALSE(seen[1].whole);
    CHECK(seen[1].statm == Statm{2000, 2000, 400, 0, 1600});
    CHECK(seen[1].memory.get(ProcessField::vm_rss) == 2000);
    CHECK(seen[1].memory.get(ProcessField::rss_anon) == 1600);
    CHECK_FALSE(seen[1].memory.has(ProcessField::vm_swap));
    CHECK(*machine.census->listed() == std::vector<std::int32_t>{2, 7, 10});
  }
  machine.proc.update(small_process(10, 1000, 3600));
  CHECK(machine.look()[1].memory.get(ProcessField::vm_rss) == 4000);
}

TEST_CASE("proc census: a reused pid, a zombie, an exited process") {
  const auto max_kept = static_cast<std::size_t>(GENERATE(0, 100));
  Counted machine(max_kept);
  for (const std::int32_t pid : {5, 6, 7}) machine.proc.add(small_process(pid, 1000, 1600));
  machine.look();
  machine.proc.remove(5);
  machine.proc.add(small_process(5, 2000, 800));
  machine.proc.become_zombie(small_process(6, 1000, 0));
  machine.proc.remove(7);
  const auto seen = machine.look();
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].start_ticks == 2000);
  CHECK(seen[0].memory.get(ProcessField::vm_rss) == 1200);
  CHECK(seen[1].start_ticks == 1000);
  CHECK(seen[1].memory == ProcessMemory());
}

TEST_CASE("proc census: a process that reuses a kernel thread's pid, and a kernel thread that became a process") {
  Counted machine(100);
  for (const std::int32_t pid : {3, 4}) machine.proc.add({.pid = pid, .start_ticks = 5, .kernel_thread = true});
  CHECK(machine.look().empty());
  machine.proc.remove(3);
  machine.proc.add(small_process(3, 700, 1600));
  machine.proc.update(small_process(4, 5, 800));
  const auto seen = machine.look();
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].start_ticks == 700);
  CHECK(seen[1].start_ticks == 5);
}

TEST_CASE("proc census: processes are omitted while their files cannot be parsed") {
  Counted machine(100);
  machine.proc.add(small_process(5, 1000, 1600));
  machine.proc.add(small_process(6, 1000, 1600));
  machine.look();
  machine.proc.write(5, PidFile::statm, "1 2 three");
  CHECK(machine.look().size() == 1);
  machine.proc.update(small_process(5, 1000, 1600));
  CHECK(machine.look().size() == 2);
}

TEST_CASE("proc census: a /proc that cannot be listed is an error") {
  DescriptorBudget budget(10);
  const auto census = make_proc_census(std::make_shared<const ProcFs>("/nonexistent"), budget);
  std::vector<CensusProcess> seen;
  CHECK_FALSE(census->read(seen).ok());
}

TEST_CASE("proc census: the test finds itself in the real /proc") {
  DescriptorBudget budget(1000);
  const auto census = make_proc_census(std::make_shared<const ProcFs>(), budget);
  std::vector<CensusProcess> seen;
  REQUIRE(census->read(seen).ok());
  const auto self = std::ranges::find(seen, ::getpid(), &CensusProcess::pid);
  REQUIRE(self != seen.end());
  CHECK(self->memory.get(ProcessField::vm_rss) > 0);
}

}  // namespace memoir::test
