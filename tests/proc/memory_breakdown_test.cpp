// Where all the memory is adds up to MemTotal: of real texts of the kernel, and of whatever else.

#include "model/memory_breakdown.h"

#include <random>

#include "model/metric.h"
#include "proc/meminfo.h"
#include "support/catch.h"
#include "support/fixture.h"

using namespace memoir;
using M = MachineField;

namespace {

MachineMemory meminfo_of(const std::string& name) {
  MachineSample sample;
  REQUIRE(parse_meminfo(test::fixture(name), sample).ok());
  return sample.memory;
}

std::optional<std::int64_t> line(const MachineMemory& memory, std::string_view name) {
  for (const MemoryLine& of : memory_breakdown(memory)) {
    if (of.name == name) return of.kib;
  }
  return std::nullopt;
}

std::int64_t sum(const std::vector<MemoryLine>& lines) {
  std::int64_t total = 0;
  for (const MemoryLine& of : lines) total += of.of.empty() ? of.kib : 0;
  return total;
}

}  // namespace

TEST_CASE("the breakdown adds up to MemTotal, whatever is known and however wrong") {
  std::mt19937_64 engine(11);
  for (int round = 0; round < 2000; ++round) {
    MachineMemory memory;
    for (std::size_t i = 0; i < MachineMemory::kCount; ++i) {
      if (engine() % 4 != 0) memory.set(static_cast<M>(i), static_cast<std::int64_t>(engine() % 10'000'000));
    }
    const std::vector<MemoryLine> lines = memory_breakdown(memory);
    REQUIRE_OF_MANY(lines.empty() != memory.has(M::mem_total));
    if (lines.empty()) continue;
    REQUIRE_OF_MANY(sum(lines) == memory.get(M::mem_total));
    REQUIRE_OF_MANY(lines.back().name == kUnaccounted);
    const auto rest = unaccounted_kib(memory);
    REQUIRE_OF_MANY((!rest || rest == lines.back().kib));
    REQUIRE_OF_MANY(rest == metric_value(memory, Metric::unaccounted));
  }
}

TEST_CASE("each part is below its whole, and no two lines have one name") {
  MachineMemory memory;
  for (std::size_t i = 0; i < MachineMemory::kCount; ++i) memory.set(static_cast<M>(i), 1000);
  memory.set(M::vmalloc_chunk, 0);
  std::vector<std::string_view> names;
  std::string_view whole;
  for (const MemoryLine& of : memory_breakdown(memory)) {
    CAPTURE(of.name);
    CHECK(std::count(names.begin(), names.end(), of.name) == 0);
    CHECK((of.of.empty() || of.of == whole));
    if (of.of.empty()) whole = of.name;
    names.push_back(of.name);
  }
}

TEST_CASE("of real texts the rest is small and not negative") {
  struct Known {
    const char* name;
    std::int64_t rest_kib;
  };
  const Known known = GENERATE(Known{"linux-4.18/machine/meminfo", 62'312}, Known{"linux-5.10/machine/meminfo", 68'040},
                               Known{"linux-6.18/machine/meminfo", 173'820});
  CAPTURE(known.name);
  const MachineMemory memory = meminfo_of(known.name);
  CHECK(sum(memory_breakdown(memory)) == memory.get(M::mem_total));
  CHECK(unaccounted_kib(memory) == known.rest_kib);
}

TEST_CASE("what is counted twice is a negative rest and says so") {
  // The text of 6.1 has a pool of huge pages put into the numbers of a machine without one.
  const MachineMemory memory = meminfo_of("linux-6.1/machine/meminfo");
  const std::vector<MemoryLine> lines = memory_breakdown(memory);
  CHECK(lines.back().kib == 68'040 - 2'048 - 1'048'576);
  CHECK(lines.back().title == "counted twice");
  CHECK(sum(lines) == memory.get(M::mem_total));
}

TEST_CASE("what the kernel counts under several names is in the sum once") {
  MachineMemory memory = meminfo_of("linux-5.10/machine/meminfo");
  CHECK(line(memory, "page_cache") == 2'360'040 - 64'112);
  CHECK(line(memory, "other_reclaimable") == 252'112 - 250'008);
  CHECK(line(memory, "vmalloc") == 28'440 - 5'904);
  CHECK(line(memory, "swap_cache") == 1'204);
  CHECK_FALSE(line(memory, "other_shmem").has_value());
  memory.set(M::swap_cached, 500'000);  // most of it mapped: the lists have no more than 2216 that are not known
  CHECK(line(memory, "swap_cache") == 2'216);
  memory.set(M::vmalloc_used, 5'000);  // stacks are not made by vmalloc
  CHECK(line(memory, "vmalloc") == 5'000);
  memory.set(M::tmpfs, 60'000);
  memory.set(M::sysv, 5'000);
  CHECK(line(memory, "other_shmem") == -888);
}

TEST_CASE("what an older kernel does not count is in the rest") {
  const MachineMemory older = meminfo_of("linux-4.18/machine/meminfo");
  CHECK_FALSE(line(older, "percpu").has_value());
  CHECK_FALSE(line(older, "vmalloc").has_value());
  CHECK(line(older, "huge_pages") == 16 * 2048);
  MachineMemory no_cache = older;
  no_cache.clear(M::cached);
  CHECK_FALSE(unaccounted_kib(no_cache).has_value());
}

TEST_CASE("a rest of numbers that no machine has is one that can be stored") {
  MachineMemory memory;
  for (std::size_t i = 0; i < MachineMemory::kCount; ++i) memory.set(static_cast<M>(i), std::int64_t{1} << 60);
  memory.set(M::mem_total, 16'000'000);
  const auto rest = unaccounted_kib(memory);
  REQUIRE(rest.has_value());
  CHECK(*rest < 0);
  CHECK(*rest > -(std::int64_t{1} << 61));
}
