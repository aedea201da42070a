#include "proc/cgroup_memory.h"

#include "support/catch.h"
#include "support/fixture.h"

using namespace memoir;
using Kib = std::optional<std::int64_t>;

TEST_CASE("cgroup memory: captured files of v1 and v2 are parsed") {
  const std::string v1 = "linux-6.18/cgroup-v1/memory.";
  CHECK(*parse_cgroup_limit(test::fixture(v1 + "limit_in_bytes")) == Kib(262144));
  CHECK(*parse_cgroup_usage(test::fixture(v1 + "usage_in_bytes")) == 58084);
  const CgroupStat stat1 = *parse_cgroup_stat(test::fixture(v1 + "stat"));
  CHECK(stat1.file == 19532);
  CHECK(stat1.anon == 37592);
  CHECK(stat1.shmem == 0);
  CHECK(stat1.swap == 0);
  CHECK_FALSE(stat1.kernel);
  const std::string v2 = "linux-6.1/cgroup-v2/memory.";
  CHECK(*parse_cgroup_limit(test::fixture(v2 + "max")) == Kib(524288));
  CHECK(*parse_cgroup_limit(test::fixture(v2 + "high")) == Kib());
  CHECK(*parse_cgroup_usage(test::fixture(v2 + "current")) == 393220);
  const CgroupStat stat2 = *parse_cgroup_stat(test::fixture(v2 + "stat"));
  CHECK(stat2.file == 118784);
  CHECK(stat2.anon == 262144);
  CHECK(stat2.shmem == 4096);
  CHECK(stat2.kernel == 8192);
  CHECK_FALSE(stat2.swap);
}

TEST_CASE("cgroup memory: no limit is absent, a zero limit is 0") {
  const auto limit = [](const std::string& text) { return *parse_cgroup_limit(text); };
  CHECK(limit("max\n") == Kib());
  CHECK(limit("0\n") == Kib(0));
  CHECK(limit("1023\n") == Kib(0));
  // v1's value for no limit, with pages of 4, 16 and 64 KiB.
  CHECK(limit("9223372036854771712\n") == Kib());
  CHECK(limit("9223372036854759424\n") == Kib());
  CHECK(limit("9223372036854710272\n") == Kib());
  CHECK(limit("4611686018427387904\n") == Kib(4503599627370496));
}

TEST_CASE("cgroup memory: truncated, empty, negative or too large values are errors") {
  const auto text = GENERATE(as<std::string>{}, "max", "ma\n", "4096", "-1\n", "18446744073709551616\n", "4096 \n",
                             "4096\n1\n", "\n", "0x10\n");
  INFO(text);
  CHECK(parse_cgroup_limit(text).error().kind == ErrorKind::malformed);
  CHECK(parse_cgroup_usage(text).error().kind == ErrorKind::malformed);
  CHECK(parse_cgroup_limit("").error().kind == ErrorKind::not_found);
  CHECK(parse_cgroup_usage("").error().kind == ErrorKind::not_found);
  CHECK(parse_cgroup_stat("").error().kind == ErrorKind::not_found);
}

TEST_CASE("cgroup memory: page cache is the sum of both file lists, including descendants in v1") {
  CHECK(parse_cgroup_stat("inactive_file 4096\nanon 7\nactive_file 1024\n")->file == 5);
  CHECK(parse_cgroup_stat("active_file 0\ninactive_file 0\ntotal_active_file 2048\ntotal_inactive_file 0\n")->file ==
        2);
  CHECK_FALSE(parse_cgroup_stat("active_file 4096\nanon 1024\n")->file);
  CHECK(parse_cgroup_stat("active_file 4096\nanon 1024\n")->anon == 1);
  CHECK(parse_cgroup_stat("active_file x\n").error().kind == ErrorKind::malformed);
}

TEST_CASE("cgroup memory: for a v1 group with descendants the totals count, whatever its own memory") {
  const auto stat = parse_cgroup_stat(
      "rss 4096\nshmem 0\nswap 0\ninactive_file 0\nactive_file 0\n"
      "total_rss 12288\ntotal_shmem 8192\ntotal_swap 4096\ntotal_inactive_file 1024\ntotal_active_file 1024\n");
  CHECK(stat->anon == 12);
  CHECK(stat->shmem == 8);
  CHECK(stat->swap == 4);
  CHECK(stat->file == 2);
}

TEST_CASE("cgroup memory: without a line for all kernel memory, its parts are summed") {
  const auto stat = parse_cgroup_stat(
      "anon 0\nfile 0\nkernel_stack 1048576\npagetables 2097152\npercpu 65536\nsock 8192\n"
      "inactive_file 0\nactive_file 0\nslab_reclaimable 3145728\nslab_unreclaimable 1572864\nslab 4718592\n");
  CHECK(stat->kernel == 1024 + 2048 + 64 + 4608);
  CHECK_FALSE(parse_cgroup_stat("kernel_stack 1048576\npagetables -1\n")->kernel);
}

TEST_CASE("cgroup events: v2 has all of them, v1 has OOM kills, and an older kernel has none") {
  const auto events = parse_cgroup_events("low 4\nhigh 1\nmax 5\noom 3\noom_kill 2\noom_group_kill 0\n");
  CHECK(events->low == 4);
  CHECK(events->high == 1);
  CHECK(events->max == 5);
  CHECK(events->oom == 3);
  CHECK(events->oom_kill == 2);
  CHECK(parse_cgroup_events("oom_kill_disable 0\nunder_oom 0\noom_kill 7\n")->oom_kill == 7);
  CHECK_FALSE(parse_cgroup_events("oom_kill_disable 0\nunder_oom 0\n")->oom_kill);
  CHECK(parse_cgroup_events("").error().kind == ErrorKind::not_found);
}

TEST_CASE("cgroup pressure: the times that some tasks and all tasks waited") {
  const auto pressure = parse_cgroup_pressure(
      "some avg10=0.12 avg60=0.00 avg300=0.00 total=4711\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=12\n");
  CHECK(pressure->some_total_us == 4711);
  CHECK(pressure->full_total_us == 12);
  CHECK(parse_cgroup_pressure("").error().kind == ErrorKind::not_found);
  CHECK(parse_cgroup_pressure("some avg10=x\n").error().kind == ErrorKind::malformed);
}

TEST_CASE("cgroup counter: how often usage reached a v1 limit") {
  CHECK(*parse_cgroup_count("0\n") == 0);
  CHECK(*parse_cgroup_count("1234567\n") == 1234567);
  CHECK(parse_cgroup_count("").error().kind == ErrorKind::not_found);
  CHECK(parse_cgroup_count("12").error().kind == ErrorKind::malformed);
}
