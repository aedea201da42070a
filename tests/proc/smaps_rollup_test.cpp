#include "proc/smaps_rollup.h"

#include "support/catch.h"
#include "support/fixture.h"

using namespace memoir;
using F = ProcessField;

namespace {

constexpr const char* kRollupHead = "00400000-7ffd5e5ff000 ---p 00000000 00:00 0                          [rollup]\n";

ProcessMemory rollup_of(const std::string& text) {
  ProcessMemory memory;
  const Status status = parse_smaps_rollup(text, memory);
  REQUIRE(status.ok());
  return memory;
}

Error refused(const std::string& text) {
  ProcessMemory memory;
  memory.set(F::rss, 1);
  const Status status = parse_smaps_rollup(text, memory);
  REQUIRE_FALSE(status.ok());
  CHECK(memory == ProcessMemory());
  return status.error();
}

}  // namespace

TEST_CASE("smaps_rollup of Linux 6.18: every field") {
  const ProcessMemory memory = rollup_of(test::fixture("linux-6.18/python/smaps_rollup"));
  CHECK(memory.get(F::rss) == 118952);
  CHECK(memory.get(F::pss) == 114766);
  CHECK(memory.get(F::pss_dirty) == 107712);
  CHECK(memory.get(F::pss_anon) == 50216);
  CHECK(memory.get(F::pss_file) == 7054);
  CHECK(memory.get(F::pss_shmem) == 57496);
  CHECK(memory.get(F::shared_clean) == 6700);
  CHECK(memory.get(F::shared_dirty) == 0);
  CHECK(memory.get(F::private_clean) == 4540);
  CHECK(memory.get(F::private_dirty) == 107712);
  CHECK(memory.get(F::referenced) == 118952);
  CHECK(memory.get(F::anonymous) == 50216);
  CHECK(uss_kib(memory) == 4540 + 107712);
  for (std::size_t i = 0; i < kRollupFields; ++i) CHECK(memory.has(static_cast<F>(i)));
  for (std::size_t i = kRollupFields; i < ProcessMemory::kCount; ++i) CHECK_FALSE(memory.has(static_cast<F>(i)));
}

TEST_CASE("smaps_rollup of older kernels: missing fields are absent, the others the same") {
  const ProcessMemory newest = rollup_of(test::fixture("linux-6.1/mysqld/smaps_rollup"));
  CHECK(newest.get(F::rss) == 55484);
  CHECK(newest.get(F::pss_dirty) == 43152);
  CHECK(newest.get(F::private_hugetlb) == 0);
  CHECK(newest.get(F::swap_pss) == 1024);
  CHECK_FALSE(newest.has(F::ksm));

  ProcessMemory expected = newest;
  expected.clear(F::pss_dirty);
  CHECK(rollup_of(test::fixture("linux-5.10/mysqld/smaps_rollup")) == expected);
  for (const F field : {F::pss_anon, F::pss_file, F::pss_shmem, F::file_pmd_mapped}) expected.clear(field);
  CHECK(rollup_of(test::fixture("linux-4.18/mysqld/smaps_rollup")) == expected);
}

TEST_CASE("smaps_rollup: the parts of every fixture add up") {
  const auto names = test::fixtures("smaps_rollup");
  REQUIRE(names.size() >= 6);
  for (const std::string& name : names) {
    INFO(name);
    const ProcessMemory m = rollup_of(test::fixture(name));
    CHECK(m.or_zero(F::rss) == m.or_zero(F::shared_clean) + m.or_zero(F::shared_dirty) + m.or_zero(F::private_clean) +
                                   m.or_zero(F::private_dirty));
    CHECK(m.or_zero(F::pss) <= m.or_zero(F::rss));
    CHECK(uss_kib(m) <= m.get(F::pss));
  }
}

TEST_CASE("smaps_rollup: a field of smaps_rollup that the text lacks loses its old value, other fields keep theirs") {
  ProcessMemory memory;
  memory.set(F::swap, 7);
  memory.set(F::vm_rss, 8);
  REQUIRE(parse_smaps_rollup(std::string(kRollupHead) + "Rss:                  12 kB\n", memory).ok());
  CHECK(memory.get(F::rss) == 12);
  CHECK_FALSE(memory.has(F::swap));
  CHECK(memory.get(F::vm_rss) == 8);
}

TEST_CASE("smaps_rollup: lines may be unknown and in any order") {
  const ProcessMemory memory =
      rollup_of(std::string(kRollupHead) + "Locked: 3 kB\nNew_Thing: much\nno colon\n:\n\nPss: 2 kB\nRss: 1 kB\n");
  CHECK(memory.get(F::rss) == 1);
  CHECK(memory.get(F::pss) == 2);
  CHECK(memory.get(F::locked) == 3);
}

TEST_CASE("smaps_rollup: the largest number is accepted") {
  CHECK(rollup_of("Rss: 9223372036854775807 kB\n").get(F::rss) == 9223372036854775807);
}

TEST_CASE("smaps_rollup: no text means that the process has exited") {
  CHECK(refused("").kind == ErrorKind::not_found);
}

TEST_CASE("smaps_rollup: the text of another file is malformed") {
  CHECK(refused(kRollupHead).kind == ErrorKind::malformed);
  CHECK(refused(std::string(100000, 'x')).kind == ErrorKind::malformed);
  CHECK(refused(std::string(1000, '\0')).kind == ErrorKind::malformed);
}
