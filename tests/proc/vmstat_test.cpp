#include "proc/vmstat.h"

#include "support/catch.h"
#include "support/fixture.h"

using namespace memoir;
using M = MachineField;

namespace {

MachineMemory vmstat_of(const std::string& text) {
  MachineMemory memory;
  const Status status = parse_vmstat(text, memory);
  REQUIRE(status.ok());
  return memory;
}

}  // namespace

TEST_CASE("vmstat of Linux 6.18: every field of the model is parsed") {
  const MachineMemory memory = vmstat_of(test::fixture("linux-6.18/machine/vmstat"));
  for (std::size_t i = kFirstVmstat; i < kFirstPressure; ++i) {
    INFO(kMachineFields[i].key);
    CHECK(memory.has(static_cast<M>(i)));
  }
  CHECK(memory.or_zero(M::pgfault) > 3'000'000);
  CHECK(memory.get(M::drop_slab) == 2);
  CHECK(memory.get(M::oom_kill) == 0);
  CHECK_FALSE(memory.has(M::mem_total));
}

TEST_CASE("vmstat of older kernels: values are parsed, and missing fields are absent") {
  const MachineMemory six = vmstat_of(test::fixture("linux-6.1/machine/vmstat"));
  CHECK(six.get(M::zswpout) == 2048);
  CHECK_FALSE(six.has(M::pgscan_khugepaged));
  const MachineMemory five = vmstat_of(test::fixture("linux-5.10/machine/vmstat"));
  CHECK(five.get(M::workingset_refault_file) == 7108);
  CHECK(five.get(M::pgscan_anon) == 612);
  CHECK_FALSE(five.has(M::zswpin));
  const MachineMemory four = vmstat_of(test::fixture("linux-4.18/machine/vmstat"));
  CHECK(four.get(M::oom_kill) == 2);
  CHECK(four.get(M::allocstall_normal) == 15);
  CHECK(four.get(M::pgsteal_kswapd) == 81203);
  CHECK_FALSE(four.has(M::workingset_refault_file));
}

TEST_CASE("vmstat: unknown names may have any value") {
  CHECK(vmstat_of("nr_odd -1\nnothing\n\npgfault 5\nnr_dirty 18446744073709551615\nnr_torn 1").get(M::pgfault) == 5);
}
