#include "analysis/machine_parts.h"

#include <random>

#include "support/catch.h"

using namespace memoir;

namespace {

using M = MachineField;
using P = ProcessField;

std::int64_t sum(const MachineParts& parts) {
  std::int64_t total = 0;
  for (const auto& kib : parts) total += kib.value_or(0);
  return total;
}

std::optional<std::int64_t> part(const MachineParts& parts, MachinePart name) {
  return parts[static_cast<std::size_t>(name)];
}

}  // namespace

TEST_CASE("the parts of a machine add up to MemTotal, whichever fields are absent or wrong") {
  std::mt19937_64 engine(7);
  for (int round = 0; round < 500; ++round) {
    MachineMemory memory;
    for (std::size_t i = 0; i < MachineMemory::kCount; ++i) {
      if (engine() % 4 != 0) memory.set(static_cast<M>(i), static_cast<std::int64_t>(engine() % 10'000'000));
    }
    const MappedMemory mapped{static_cast<std::int64_t>(engine() % 10'000'000),
                              static_cast<std::int64_t>(engine() % 1'000'000),
                              static_cast<std::int64_t>(engine() % 1'000'000)};
    const auto parts = machine_parts(memory, mapped);
    REQUIRE(parts.has_value() == (memory.has(M::mem_total) && memory.has(M::mem_free)));
    if (parts) CHECK(sum(*parts) == memory.get(M::mem_total));
  }
}

TEST_CASE("mapped memory counts in PSS, and not again in page cache or tmpfs") {
  MachineMemory memory;
  memory.set(M::mem_total, 1000);
  memory.set(M::mem_free, 300);
  memory.set(M::cached, 400);  // 250 files, 150 tmpfs
  memory.set(M::buffers, 20);
  memory.set(M::shmem, 150);
  memory.set(M::slab_unreclaimable, 30);
  const auto parts = machine_parts(memory, {310, 100, 50});
  REQUIRE(parts.has_value());
  CHECK(part(*parts, MachinePart::processes) == 310);
  CHECK(part(*parts, MachinePart::page_cache) == 400 + 20 - 150 - 100);
  CHECK(part(*parts, MachinePart::shmem) == 100);
  CHECK(part(*parts, MachinePart::unreclaimable) == 30);
  CHECK(part(*parts, MachinePart::free) == 300);
  CHECK(part(*parts, MachinePart::remainder) == 1000 - 310 - 170 - 100 - 30 - 300);
  CHECK_FALSE(part(*parts, MachinePart::percpu).has_value());
}

TEST_CASE("free memory on per-CPU lists is a part of its own, and not in the remainder") {
  MachineMemory memory;
  memory.set(M::mem_total, 1000);
  memory.set(M::mem_free, 300);
  memory.set(M::per_cpu_free, 70);
  const auto parts = machine_parts(memory, {310, 100, 50});
  REQUIRE(parts.has_value());
  CHECK(part(*parts, MachinePart::per_cpu_free) == 70);
  CHECK(part(*parts, MachinePart::remainder) == 1000 - 310 - 300 - 70);
}

TEST_CASE("without Shmem its mapped part is subtracted from the page cache, and tmpfs is unknown") {
  MachineMemory memory;
  memory.set(M::mem_total, 1000);
  memory.set(M::mem_free, 300);
  memory.set(M::cached, 400);
  memory.set(M::buffers, 20);
  const auto parts = machine_parts(memory, {310, 100, 50});
  REQUIRE(parts.has_value());
  CHECK(part(*parts, MachinePart::page_cache) == 400 + 20 - 50 - 100);
  CHECK_FALSE(part(*parts, MachinePart::shmem).has_value());
}

TEST_CASE("PSS that the kernel does not split is split as RSS is") {
  ProcessMemory split;
  split.set(P::pss, 100);
  split.set(P::pss_file, 30);
  split.set(P::pss_shmem, 10);
  ProcessMemory whole;
  whole.set(P::pss, 100);
  whole.set(P::anonymous, 60);
  whole.set(P::rss_file, 300);
  whole.set(P::rss_shmem, 100);
  for (const ProcessMemory& memory : {split, whole}) {
    MappedMemory mapped;
    mapped.add(memory);
    CHECK(mapped.pss_kib == 100);
    CHECK(mapped.file_kib == 30);
    CHECK(mapped.shmem_kib == 10);
  }
  MappedMemory unknown;
  unknown.add(ProcessMemory());
  CHECK(unknown.pss_kib == 0);
}
