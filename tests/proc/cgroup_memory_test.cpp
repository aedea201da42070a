#include "proc/cgroup_memory.h"

#include "support/catch.h"
#include "support/fixture.h"

using namespace memoir;
using Kib = std::optional<std::int64_t>;

TEST_CASE("cgroup memory: captured of v1, and v2") {
  const std::string v1 = "linux-6.18/cgroup-v1/memory.";
  CHECK(*parse_cgroup_limit(test::fixture(v1 + "limit_in_bytes")) == Kib(262144));
  CHECK(*parse_cgroup_usage(test::fixture(v1 + "usage_in_bytes")) == 58084);
  CHECK(*parse_cgroup_file_cache(test::fixture(v1 + "stat")) == 19532);
  const std::string v2 = "linux-6.1/cgroup-v2/memory.";
  CHECK(*parse_cgroup_limit(test::fixture(v2 + "max")) == Kib(524288));
  CHECK(*parse_cgroup_limit(test::fixture(v2 + "high")) == Kib());
  CHECK(*parse_cgroup_usage(test::fixture(v2 + "current")) == 393220);
  CHECK(*parse_cgroup_file_cache(test::fixture(v2 + "stat")) == 118784);
}

TEST_CASE("cgroup memory: no limit is absent, a limit of nothing is 0") {
  const auto limit = [](const std::string& text) { return *parse_cgroup_limit(text); };
  CHECK(limit("max\n") == Kib());
  CHECK(limit("0\n") == Kib(0));
  CHECK(limit("1023\n") == Kib(0));
  // What v1 says where there is none, with pages of 4, 16 and 64 KiB.
  CHECK(limit("9223372036854771712\n") == Kib());
  CHECK(limit("9223372036854759424\n") == Kib());
  CHECK(limit("9223372036854710272\n") == Kib());
  CHECK(limit("4611686018427387904\n") == Kib(4503599627370496));
}

TEST_CASE("cgroup memory: what is torn, empty, negative or too large is an error") {
  const auto text = GENERATE(as<std::string>{}, "max", "ma\n", "4096", "-1\n", "18446744073709551616\n", "4096 \n",
                             "4096\n1\n", "\n", "0x10\n");
  INFO(text);
  CHECK(parse_cgroup_limit(text).error().kind == ErrorKind::malformed);
  CHECK(parse_cgroup_usage(text).error().kind == ErrorKind::malformed);
  CHECK(parse_cgroup_limit("").error().kind == ErrorKind::gone);
  CHECK(parse_cgroup_usage("").error().kind == ErrorKind::gone);
  CHECK(parse_cgroup_file_cache("").error().kind == ErrorKind::gone);
}

TEST_CASE("cgroup memory: page cache is both file lists, with what is below where v1 tells it") {
  CHECK(*parse_cgroup_file_cache("inactive_file 4096\nanon 7\nactive_file 1024\n") == 5);
  CHECK(*parse_cgroup_file_cache("active_file 0\ninactive_file 0\ntotal_active_file 2048\ntotal_inactive_file 0\n") ==
        2);
  const auto text = GENERATE(as<std::string>{}, "active_file 4096\n", "anon 1\n", "active_file 1\ninactive_file 2",
                             "active_file x\ninactive_file 2\n");
  INFO(text);
  CHECK(parse_cgroup_file_cache(text).error().kind == ErrorKind::malformed);
}

TEST_CASE("cgroup events: the OOM kills of v2 and of v1; an older kernel counts none") {
  CHECK(*parse_cgroup_oom_kills("low 0\nhigh 1\nmax 2\noom 3\noom_kill 2\noom_group_kill 0\n") == 2);
  CHECK(*parse_cgroup_oom_kills("oom_kill_disable 0\nunder_oom 0\noom_kill 7\n") == 7);
  CHECK_FALSE(*parse_cgroup_oom_kills("oom_kill_disable 0\nunder_oom 0\n"));
  CHECK(parse_cgroup_oom_kills("").error().kind == ErrorKind::gone);
  for (const char* text : {"oom_kill\n", "oom_kill x\n", "oom_kill -1\n", "oom_kill 2"}) {
    CAPTURE(text);
    CHECK(parse_cgroup_oom_kills(text).error().kind == ErrorKind::malformed);
  }
}
