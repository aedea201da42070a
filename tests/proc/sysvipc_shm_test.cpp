#include "proc/sysvipc_shm.h"

#include "support/catch.h"
#include "support/fixture.h"

using namespace memoir;

TEST_CASE("sysvipc/shm: rss and swap of all segments are summed") {
  CHECK(parse_sysvipc_shm(test::fixture("linux-6.18/machine/sysvipc-shm"))->held_kib == 5120);
  CHECK(parse_sysvipc_shm("key shmid rss swap\n")->held_kib == 0);
  const auto without_ids = parse_sysvipc_shm("key rss swap new\n 0 4096 8192 1\n 1 1024 0 1\n");
  CHECK(without_ids->held_kib == 13);
  CHECK(without_ids->segments.empty());
}

TEST_CASE("sysvipc/shm: segments are parsed as the kernel prints them") {
  const auto table = parse_sysvipc_shm(test::fixture("linux-6.18/machine/sysvipc-shm"));
  REQUIRE(table.ok());
  REQUIRE(table->segments.size() == 2);
  const SysvSegment& segment = table->segments[0];
  CHECK(segment.shmid == 0);
  CHECK(segment.creator_pid == 31810);
  CHECK(segment.last_pid == 31810);
  CHECK(segment.size_kib == 8192);
  CHECK(segment.attachments == 1);
  CHECK(segment.rss_kib == 5120);
  CHECK(segment.removed == false);
  CHECK_FALSE(segment.detached_ms);
}

TEST_CASE("sysvipc/shm: columns may be reordered, new or missing") {
  const auto table = parse_sysvipc_shm(
      "swap rss new dtime cuid uid nattch lpid cpid size perms shmid key\n"
      "2048 4096 x 1795290885 1 2 3 4 5 8192 1600 9 -1\n"
      "0 0 y 0 1 2 0 4 5 8192 600 7 1627455491\n");
  REQUIRE(table.ok());
  REQUIRE(table->segments.size() == 2);
  CHECK(table->segments[0].shmid == 7);
  CHECK(table->segments[0].key == 1627455491);
  const SysvSegment& segment = table->segments[1];
  CHECK(segment.key == -1);
  CHECK(segment.removed == true);
  CHECK(segment.creator_pid == 5);
  CHECK(segment.uid == 2);
  CHECK(segment.creator_uid == 1);
  CHECK(segment.rss_kib == 4);
  CHECK(segment.swap_kib == 2);
  CHECK(segment.detached_ms == 1'795'290'885'000);
}

TEST_CASE("sysvipc/shm: a row that cannot be parsed is counted, and the sum is unknown") {
  const auto row = GENERATE(as<std::string>{}, "4096\n", "-1 0\n", "9223372036854775807 1\n", "\n", "x y\n", "1024 0");
  INFO(row);
  OddLines odd;
  const auto table = parse_sysvipc_shm("rss swap\n2048 0\n" + row, &odd);
  REQUIRE(table.ok());
  CHECK_FALSE(table->held_kib);
  CHECK(odd.count() == 1);
}

TEST_CASE("sysvipc/shm: an odd column is unknown, and its segment keeps the other columns") {
  constexpr std::string_view head = "key shmid perms size cpid lpid nattch uid cuid dtime rss swap\n";
  const auto parse = [&](const std::string& row, std::int64_t odd_lines) {
    OddLines odd;
    auto table = parse_sysvipc_shm(std::string(head) + row + "\n1 8 600 4096 1 1 1 0 0 0 4096 0\n", &odd);
    REQUIRE(table.ok());
    CHECK(odd.count() == odd_lines);
    return *std::move(table);
  };
  const SysvSegment whole = parse("9 7 1600 8192 5 6 2 33 34 10 4096 2048", 0).segments.at(0);
  const SysvSegment odd = parse("? 7 9 -8192 99999999999 x -1 4294967296 ? ? 4096 2048", 1).segments.at(0);
  SysvSegment expected = whole;
  expected.key.reset();
  expected.removed.reset();
  expected.size_kib.reset();
  expected.creator_pid = expected.last_pid = 0;
  expected.attachments.reset();
  expected.uid.reset();
  expected.creator_uid.reset();
  expected.detached_ms.reset();
  CHECK(odd == expected);
  CHECK(parse("9 7 1600 8192 5 6 -1 33 34 10 4096 2048", 1).held_kib == 10);
  const SysvTable without = parse("9 7 1600 8192 5 6 2 33 34 10 4096 many", 1);
  CHECK_FALSE(without.held_kib);
  CHECK(without.segments.size() == 1);
}

TEST_CASE("sysvipc/shm: a text without the required columns is an error") {
  const auto text = GENERATE(as<std::string>{}, "", "key shmid", "key shmid\n0 1\n");
  INFO(text);
  CHECK(parse_sysvipc_shm(text).error().kind == ErrorKind::malformed);
}
