#include "model/machine.h"
#include "model/process.h"
#include "model/tick.h"
#include "support/catch.h"

using namespace memoir;

TEST_CASE("a field is absent until it is set, and 0 is not absent") {
  ProcessMemory memory;
  CHECK_FALSE(memory.has(ProcessField::rss));
  CHECK(memory.get(ProcessField::rss) == std::nullopt);
  memory.set(ProcessField::rss, 0);
  CHECK(memory.get(ProcessField::rss) == 0);
  CHECK(memory != ProcessMemory());
  memory.set(ProcessField::rss, std::optional<std::int64_t>());
  CHECK(memory == ProcessMemory());
  CHECK(memory.or_zero(ProcessField::rss) == 0);
}

TEST_CASE("the high-water mark is never below the RSS") {
  ProcessMemory memory;
  CHECK(high_water_kib(memory) == std::nullopt);
  memory.set(ProcessField::vm_rss, 20);
  CHECK(high_water_kib(memory) == 20);
  memory.set(ProcessField::vm_hwm, 10);
  CHECK(high_water_kib(memory) == 20);
  memory.set(ProcessField::vm_hwm, 30);
  CHECK(high_water_kib(memory) == 30);
  memory.set(ProcessField::rss, 40);  // it grew between the two readings
  CHECK(high_water_kib(memory) == 40);
}

TEST_CASE("USS needs both of its parts") {
  ProcessMemory memory;
  memory.set(ProcessField::private_clean, 3);
  CHECK(uss_kib(memory) == std::nullopt);
  memory.set(ProcessField::private_dirty, 4);
  CHECK(uss_kib(memory) == 7);
}

TEST_CASE("the machine's usage is known only if the kernel reports available memory") {
  MachineMemory memory;
  memory.set(MachineField::mem_total, 100);
  memory.set(MachineField::mem_free, 10);
  CHECK(used_kib(memory) == std::nullopt);
  memory.set(MachineField::mem_available, 60);
  CHECK(used_kib(memory) == 40);
  memory.set(MachineField::swap_total, 8);
  memory.set(MachineField::swap_free, 8);
  CHECK(swap_used_kib(memory) == 0);
}

TEST_CASE("sources and kinds of cost have names of their own") {
  CHECK(to_string(Source::exact) == "exact");
  CHECK(to_string(Source::inaccessible) == "inaccessible");
  CHECK(to_string(CostKind::rollup) == "rollup");
  CHECK(to_string(CostKind::machine) == "machine");
}

TEST_CASE("process keys order by pid, then start, then exec") {
  CHECK(ProcessKey{1, 9, 9} < ProcessKey{2, 0, 0});
  CHECK(ProcessKey{1, 1, 9} < ProcessKey{1, 2, 0});
  CHECK(ProcessKey{1, 1, 0} < ProcessKey{1, 1, 1});
}
