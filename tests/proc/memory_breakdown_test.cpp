// The memory breakdown adds up to MemTotal, with files of real kernels and with random ones.

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

TEST_CASE("the breakdown adds up to MemTotal, whichever fields are absent or wrong") {
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

TEST_CASE("each part follows the line that it belongs to, and names are unique") {
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

TEST_CASE("for files of real kernels the remainder is small and not negative") {
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

TEST_CASE("double counting gives a negative remainder, which is unknown as a series") {
  // The text of Linux 6.1 has the numbers of a machine without huge pages, to which a pool was added.
  const MachineMemory memory = meminfo_of("linux-6.1/machine/meminfo");
  const std::vector<MemoryLine> lines = memory_breakdown(memory);
  CHECK(lines.back().kib == 68'040 - 2'048 - 1'048'576);
  CHECK(sum(lines) == memory.get(M::mem_total));
  CHECK_FALSE(unaccounted_kib(memory).has_value());
}

TEST_CASE("memory that the kernel counts under several names counts once in the sum") {
  MachineMemory memory = meminfo_of("linux-5.10/machine/meminfo");
  CHECK(line(memory, "page_cache") == 2'360'040 - 64'112);
  CHECK(line(memory, "other_reclaimable") == 252'112 - 250'008);
  CHECK(line(memory, "vmalloc") == 28'440 - 5'904);
  CHECK(line(memory, "swap_cache") == 1'204);
  CHECK_FALSE(line(memory, "other_shmem").has_value());
  memory.set(M::swap_cached, 500'000);  // most of it is mapped; only 2216 KiB on the lists are unmapped
  CHECK(line(memory, "swap_cache") == 2'216);
  memory.set(M::vmalloc_used, 5'000);  // kernel stacks are not allocated by vmalloc on this machine
  CHECK(line(memory, "vmalloc") == 5'000);
  memory.set(M::tmpfs, 60'000);
  memory.set(M::sysv, 5'000);
  // The tmpfs mounts and segments exceed Shmem, because much of them is swapped out.
  CHECK_FALSE(line(memory, "other_shmem").has_value());
  memory.set(M::sysv, 112);
  CHECK(line(memory, "other_shmem") == 4'000);
  const auto rest = unaccounted_kib(memory);
  memory.set(M::per_cpu_free, 500);
  CHECK(unaccounted_kib(memory) == *rest - 500);
  CHECK(line(memory, "per_cpu_free") == 500);
}

TEST_CASE("memory that an older kernel does not count is in the remainder") {
  const MachineMemory older = meminfo_of("linux-4.18/machine/meminfo");
  CHECK_FALSE(line(older, "percpu").has_value());
  CHECK_FALSE(line(older, "vmalloc").has_value());
  CHECK(line(older, "huge_pages") == 16 * 2048);
  MachineMemory no_cache = older;
  no_cache.clear(M::cached);
  CHECK_FALSE(unaccounted_kib(no_cache).has_value());
}

TEST_CASE("absurd numbers give a remainder that can be stored") {
  MachineMemory memory;
  for (std::size_t i = 0; i < MachineMemory::kCount; ++i) memory.set(static_cast<M>(i), std::int64_t{1} << 60);
  memory.set(M::mem_total, 16'000'000);
  const std::int64_t rest = memory_breakdown(memory).back().kib;
  CHECK(rest < 0);
  CHECK(rest > -(std::int64_t{1} << 61));
}
