#include "proc/pid_stat.h"

#include "support/catch.h"
#include "support/fixture.h"

using namespace memoir;

namespace {

// The fields after comm, of a process that started at clock tick 4242.
const std::string kRest = " S 1 2 2 0 -1 4194304 98 7 6 5 4 3 2 1 20 0 9 0 4242 100 1 0\n";

}  // namespace

TEST_CASE("stat of Linux 6.18: every field") {
  const std::string text = test::fixture("linux-6.18/python/stat");
  const auto stat = parse_pid_stat(text);
  REQUIRE(stat.ok());
  CHECK(stat->comm == "python3");
  CHECK(stat->state == 'S');
  CHECK(stat->parent_pid == 10282);
  CHECK(stat->flags == 4194304);
  CHECK(stat->threads == 1);
  CHECK(stat->start_ticks == 184849);
  CHECK_FALSE(stat->kernel_thread());
}

TEST_CASE("stat of a kernel thread and of a zombie is parsed") {
  const std::string thread_text = test::fixture("linux-6.18/kernel-thread/stat");
  const auto thread = parse_pid_stat(thread_text);
  REQUIRE(thread.ok());
  CHECK(thread->kernel_thread());
  CHECK(thread->comm == "kworker/R-mm_percpu_wq");  // longer than the name of a process can be
  CHECK(thread->parent_pid == 2);
  const std::string zombie_text = test::fixture("linux-6.18/zombie/stat");
  const auto zombie = parse_pid_stat(zombie_text);
  REQUIRE(zombie.ok());
  CHECK(zombie->state == 'Z');
  CHECK_FALSE(zombie->kernel_thread());
}

TEST_CASE("stat: every fixture is parsed") {
  const auto names = test::fixtures("stat");
  REQUIRE(names.size() >= 10);
  for (const std::string& name : names) {
    if (name.find("machine") != std::string::npos) continue;
    INFO(name);
    const std::string text = test::fixture(name);
    CHECK(parse_pid_stat(text).ok());
  }
}

TEST_CASE("stat: comm ends at the last parenthesis") {
  const std::string text = test::fixture("linux-6.18/odd-comm/stat");
  const auto captured = parse_pid_stat(text);
  REQUIRE(captured.ok());
  CHECK(captured->comm == ") (R 1\n\\ 2)");
  CHECK(captured->state == 'R');

  for (const std::string comm : {"", ")", "(", ") R 1 1 (", "a b", "((((", "))))", "\n", "\xff\xfe"}) {
    INFO(comm);
    const std::string line = "17 (" + comm + ")" + kRest;
    const auto stat = parse_pid_stat(line);
    REQUIRE(stat.ok());
    CHECK(stat->comm == comm);
    CHECK(stat->threads == 9);
    CHECK(stat->start_ticks == 4242);
  }
}

TEST_CASE("stat: a text truncated before the end of the start time is malformed") {
  const std::string whole = "17 (x)" + kRest;
  const std::size_t needed = whole.find("4242 ") + 5;
  for (std::size_t size = 1; size < needed; ++size) {
    INFO(size);
    const auto stat = parse_pid_stat(std::string_view(whole).substr(0, size));
    REQUIRE_FALSE(stat.ok());
    CHECK(stat.error().kind == ErrorKind::malformed);
  }
  CHECK(parse_pid_stat(std::string_view(whole).substr(0, needed)).ok());
}

TEST_CASE("stat: no text means that the process has exited") {
  CHECK(parse_pid_stat("").error().kind == ErrorKind::not_found);
}

TEST_CASE("stat: only an odd field is unknown, unless it identifies the process") {
  OddLines odd;
  const auto stat = parse_pid_stat("3 (x) 7 -1 2 2 0 -1 4294967296 98 7 6 5 4 3 2 1 20 0 -9 0 4242 100\n", &odd);
  REQUIRE(stat.ok());
  CHECK(stat->start_ticks == 4242);
  CHECK_FALSE(stat->state);
  CHECK_FALSE(stat->parent_pid);
  CHECK_FALSE(stat->threads);
  CHECK(stat->flags == 0);
  CHECK(odd.count() == 1);

  const auto text = GENERATE(as<std::string>{}, "3 (x) S 1 2 2 0 -1 4194304 98 7 6 5 4 3 2 1 20 0 9 0 -4242 100\n",
                             "3 (x) S 1 2 2 0 -1 4194304 98 7 6 5 4 3 2 1 20 0 9 0 18446744073709551616 100\n",
                             "3 x S 1\n", "3 )(\n", ")", "(", " ()", "\n");
  INFO(text);
  const auto lost = parse_pid_stat(text);
  REQUIRE_FALSE(lost.ok());
  CHECK(lost.error().kind == ErrorKind::malformed);
}
