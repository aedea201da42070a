// System V segments in the ticks of a collector.

#include <fmt/format.h>

#include "collect/collector_fixture.h"

using namespace memoir;
using namespace memoir::test;
using M = MachineField;

namespace {

constexpr const char* kHeader = "key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap\n";

std::string row(std::int64_t shmid, std::int64_t rss_kib) {
  return fmt::format("0 {} 600 1048576 10 11 1 0 0 0 0 0 0 0 {} 0\n", shmid, rss_kib * 1024);
}

}  // namespace

TEST_CASE("segments: reported after a change, at keyframes, and when all are requested") {
  Machine none;
  CHECK_FALSE(none.tick().segments);
  Machine seen;
  seen.proc.write(SystemFile::sysvipc_shm, kHeader + row(2, 100) + row(1, 8));
  const Tick first = seen.tick();
  REQUIRE(first.segments);
  REQUIRE(first.segments->size() == 2);
  CHECK(first.segments->front().shmid == 1);
  CHECK(first.segments->back().rss_kib == 100);
  CHECK(first.machine.memory.get(M::sysv) == 108);
  CHECK_FALSE(seen.tick().segments);
  CHECK(seen.tick(true).segments);
  seen.proc.write(SystemFile::sysvipc_shm, kHeader + row(2, 101) + row(1, 8));
  CHECK(seen.tick().segments);
  seen.collector->report_all();
  CHECK(seen.tick().segments);
  seen.proc.write(SystemFile::sysvipc_shm, kHeader);
  CHECK(seen.tick().segments->empty());
}

TEST_CASE("segments: a row that cannot be understood is counted, and the sum is unknown") {
  Machine machine;
  machine.proc.write(SystemFile::sysvipc_shm, kHeader + row(1, 8) + "torn row\n" + row(2, 9));
  const Tick tick = machine.tick();
  CHECK(tick.counts.malformed == 1);
  CHECK_FALSE(tick.machine.memory.has(M::sysv));
  CHECK(tick.segments->size() == 2);
}

TEST_CASE("segments: if there are very many, the largest are reported, and the sum includes all") {
  Machine machine;
  std::string text = kHeader;
  for (int i = 0; i < 1000; ++i) text += row(i, i);
  machine.proc.write(SystemFile::sysvipc_shm, text);
  const Tick tick = machine.tick();
  CHECK(tick.machine.memory.get(M::sysv) == 999 * 500);
  REQUIRE(tick.segments->size() == 128);
  CHECK(tick.segments->front().shmid == 872);
  CHECK(tick.segments->back().shmid == 999);
}
