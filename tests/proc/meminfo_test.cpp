#include "proc/meminfo.h"

#include "support/catch.h"
#include "support/fixture.h"

using namespace memoir;
using M = MachineField;

namespace {

MachineSample parsed(const std::string& text) {
  MachineSample sample;
  const Status status = parse_meminfo(text, sample);
  REQUIRE(status.ok());
  return sample;
}

}  // namespace

TEST_CASE("meminfo of Linux 6.18: every line is known") {
  const std::string text = test::fixture("linux-6.18/machine/meminfo");
  const MachineSample sample = parsed(text);
  CHECK(sample.other.empty());
  CHECK(sample.memory.get(M::mem_total) == 24684092);
  CHECK(sample.memory.get(M::vmalloc_total) == 34359738367);
  CHECK(sample.memory.get(M::direct_map_1g) == 25165824);
  CHECK(sample.memory.has(M::balloon));
  CHECK_FALSE(sample.memory.has(M::direct_map_4m));
  CHECK_FALSE(sample.memory.has(M::pgfault));
  std::int64_t present = 0;
  for (std::size_t i = 0; i < MachineMemory::kCount; ++i) present += sample.memory.has(static_cast<M>(i)) ? 1 : 0;
  CHECK(present == std::count(text.begin(), text.end(), '\n'));
}

TEST_CASE("meminfo of older kernels: values are parsed, and missing fields are absent") {
  const MachineSample newest = parsed(test::fixture("linux-6.1/machine/meminfo"));
  CHECK(newest.memory.get(M::mem_available) == 2790112);
  CHECK(newest.memory.get(M::active_file) == 1197896);
  CHECK(newest.memory.get(M::zswapped) == 8192);
  CHECK(newest.memory.get(M::committed_as) == 2203484);
  CHECK(used_kib(newest.memory) == 4046820 - 2790112);
  CHECK(newest.other.empty());

  const MachineSample five = parsed(test::fixture("linux-5.10/machine/meminfo"));
  CHECK_FALSE(five.memory.has(M::zswap));
  CHECK(five.memory.get(M::kernel_reclaimable) == 252112);
  CHECK(five.memory.get(M::hugetlb) == 0);

  const MachineSample four = parsed(test::fixture("linux-4.18/machine/meminfo"));
  CHECK_FALSE(four.memory.has(M::kernel_reclaimable));
  CHECK_FALSE(four.memory.has(M::percpu));
  CHECK(four.memory.get(M::cma_total) == 0);
  CHECK(four.memory.get(M::slab_unreclaimable) == 51436);

  CHECK(used_kib(parsed("MemTotal: 8 kB\nMemFree: 4 kB\n").memory) == std::nullopt);
}

TEST_CASE("meminfo: counts of huge pages become KiB") {
  const MachineMemory memory = parsed(test::fixture("linux-6.1/machine/meminfo")).memory;
  CHECK(memory.get(M::huge_pages_total) == 512 * 2048);
  CHECK(memory.get(M::huge_pages_free) == 500 * 2048);
  CHECK(memory.get(M::huge_pages_rsvd) == 4 * 2048);
  CHECK(memory.get(M::huge_pages_surp) == 1 * 2048);
  CHECK(memory.get(M::hugetlb) == memory.get(M::huge_pages_total));

  const auto total = [](const std::string& lines) {
    return parsed("MemTotal: 1 kB\n" + lines).memory.get(M::huge_pages_total);
  };
  CHECK(total("HugePages_Total: 3\n") == std::nullopt);
  CHECK(total("HugePages_Total: 9223372036854775807\nHugepagesize: 2048 kB\n") == std::nullopt);
}

TEST_CASE("meminfo: unknown keys are kept with their value, in order") {
  const MachineSample sample = parsed(
      "MemTotal: 8 kB\nIonTotal:  77 kB\nVendorPages:   5\nFlags: on\nTooLarge: 9223372036854775808 kB\n"
      "MemFree: 4 kB\nTorn: 1");
  CHECK(sample.other == std::vector<OtherMeminfo>{{"IonTotal", 77}, {"VendorPages", 5}});
  CHECK(sample.memory.get(M::mem_free) == 4);
}

TEST_CASE("meminfo: fields of an earlier text are removed, and vmstat's fields stay") {
  MachineSample sample = parsed("MemTotal: 8 kB\nZswap: 1 kB\nIonTotal: 7 kB\n");
  sample.memory.set(M::pgfault, 9);
  REQUIRE(parse_meminfo("MemTotal: 9 kB\n", sample).ok());
  CHECK_FALSE(sample.memory.has(M::zswap));
  CHECK(sample.other.empty());
  CHECK(sample.memory.get(M::pgfault) == 9);
}

TEST_CASE("meminfo: contradictory counters are counted as odd and not used") {
  MachineSample sample;
  OddLines odd;
  REQUIRE(parse_meminfo("MemTotal: 1024 kB\nMemAvailable: 2048 kB\nAnonPages: 8400 kB\nShmem: 5 kB\nCached: 4 kB\n"
                        "SwapTotal: 8 kB\nSwapFree: 9 kB\n",
                        sample, &odd)
              .ok());
  CHECK(odd.kinds() == std::vector<OddLine>{{"meminfo", "MemAvailable", "MemAvailable is larger than MemTotal", 1},
                                            {"meminfo", "AnonPages", "AnonPages is larger than MemTotal", 1},
                                            {"meminfo", "SwapFree", "SwapFree is larger than SwapTotal", 1}});
  CHECK(sample.memory.get(M::mem_available) == 2048);
  CHECK_FALSE(used_kib(sample.memory));
  CHECK_FALSE(swap_used_kib(sample.memory));
}

TEST_CASE("meminfo: free pages on the per-CPU lists are not in use") {
  MachineMemory memory = parsed("MemTotal: 1000 kB\nMemAvailable: 300 kB\n").memory;
  CHECK(used_kib(memory) == 700);
  memory.set(M::per_cpu_free, 250);
  CHECK(used_kib(memory) == 450);
  memory.set(M::per_cpu_free, 701);
  CHECK_FALSE(used_kib(memory));
}
