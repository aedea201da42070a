#include "support/fake_proc.h"

#include <future>
#include <thread>

#include "proc/cgroup.h"
#include "proc/cmdline.h"
#include "proc/pid_stat.h"
#include "proc/smaps_rollup.h"
#include "proc/statm.h"
#include "proc/status.h"
#include "support/catch.h"

using namespace memoir;
using F = ProcessField;

namespace {

// A cached descriptor of a file of a process.
class Kept {
 public:
  Kept(const ProcFs& proc, std::int32_t pid, PidFile file) : fd_(proc.open(pid, file).value()) {}
  std::string text() {
    Buffer buffer;
    return std::string(read_all(fd_, buffer, "kept").value());
  }

 private:
  Fd fd_;
};

test::FakeProcess shell() {
  test::FakeProcess process{.pid = 42, .comm = "sh \n) (", .uid = 1000, .threads = 3, .start_ticks = 777};
  process.arguments = {"sh", "-c", "true"};
  process.cgroup = "/user.slice";
  process.memory = test::memory_of(4096, 1024);
  return process;
}

}  // namespace

TEST_CASE("fake process: the parsers read back its values") {
  test::FakeProc fake;
  const test::FakeProcess process = shell();
  fake.add(process);
  const auto text = [&fake](PidFile file) { return Kept(fake.proc(), 42, file).text(); };

  ProcessMemory memory;
  const std::string status_text = text(PidFile::status);
  const auto status = parse_status(status_text, memory);
  REQUIRE(status.ok());
  CHECK(unescape_name(status->name.value()) == process.comm);
  CHECK(status->uid == 1000);
  CHECK(status->threads == 3);
  REQUIRE(parse_smaps_rollup(text(PidFile::smaps_rollup), memory).ok());
  memory.set(F::shared_swap, 0);  // no file is swapped
  CHECK(memory == process.memory);
  CHECK(memory.get(F::rss) == 5120);
  CHECK(memory.get(F::pss) == 4608);
  CHECK(uss_kib(memory) == 4096);

  const std::string stat_text = text(PidFile::stat);
  const auto stat = parse_pid_stat(stat_text);
  REQUIRE(stat.ok());
  CHECK(stat->comm == process.comm);
  CHECK(stat->start_ticks == 777);
  CHECK(parse_statm(text(PidFile::statm), 4)->rss_kib == 5120);
  CHECK(*parse_cgroup(text(PidFile::cgroup)) == "/user.slice");
  CHECK(parse_cmdline(text(PidFile::cmdline)).size() == 3);
}

TEST_CASE("fake process: cached descriptors behave like the kernel's") {
  test::FakeProc fake;
  test::FakeProcess process = shell();
  fake.add(process);
  Kept status(fake.proc(), 42, PidFile::status);
  Kept rollup(fake.proc(), 42, PidFile::smaps_rollup);

  process.threads = 9;
  process.memory = test::memory_of(8192);
  fake.update(process);
  CHECK(status.text().find("Threads:\t9\n") != std::string::npos);
  CHECK(rollup.text().find("8192 kB") != std::string::npos);

  process.comm = "other";
  fake.exec(process);
  CHECK(status.text().find("Name:\tother\n") != std::string::npos);
  CHECK(rollup.text().empty());
  Kept new_rollup(fake.proc(), 42, PidFile::smaps_rollup);
  CHECK_FALSE(new_rollup.text().empty());

  fake.become_zombie(process);
  CHECK(status.text().find("State:\tZ") != std::string::npos);
  CHECK(status.text().find("Vm") == std::string::npos);
  CHECK(new_rollup.text().empty());
  CHECK(fake.proc().open(42, PidFile::smaps_rollup).error().kind == ErrorKind::not_found);

  fake.remove(42);
  CHECK(status.text().empty());
  CHECK(fake.proc().open(42, PidFile::status).error().kind == ErrorKind::not_found);
  fake.add(process);
  CHECK(status.text().empty());
}

TEST_CASE("fake process: kernel threads have no rollup, and given texts are used unchanged") {
  test::FakeProc fake;
  fake.add({.pid = 2, .comm = "kthreadd", .kernel_thread = true});
  CHECK(parse_pid_stat(Kept(fake.proc(), 2, PidFile::stat).text())->kernel_thread());
  CHECK(fake.proc().open(2, PidFile::smaps_rollup).error().kind == ErrorKind::not_found);
  fake.add({.pid = 3, .status = "nonsense"});
  CHECK(Kept(fake.proc(), 3, PidFile::status).text() == "nonsense");
}

TEST_CASE("fake process: a denied file is denied, also to root while it acts as an ordinary user") {
  test::FakeProc fake;
  fake.add(shell());
  fake.deny(42, PidFile::smaps_rollup);
  {
    const test::AsOrdinaryUser user;
    CHECK(fake.proc().open(42, PidFile::smaps_rollup).error().kind == ErrorKind::denied);
    CHECK(fake.proc().open(42, PidFile::status).ok());
  }
  fake.update(shell());
  CHECK(fake.proc().open(42, PidFile::smaps_rollup).ok());
}

TEST_CASE("fake process: opening a blocked file waits until it is unblocked") {
  test::FakeProc fake;
  fake.add(shell());
  fake.block(42, PidFile::cmdline);
  fake.update(shell());
  CHECK_FALSE(fake.unblock(42, PidFile::cmdline));
  auto opened = std::async(std::launch::async, [&fake] { return fake.proc().open(42, PidFile::cmdline).ok(); });
  while (!fake.unblock(42, PidFile::cmdline)) std::this_thread::yield();
  CHECK(opened.get());
  fake.update(shell());
  CHECK(parse_cmdline(Kept(fake.proc(), 42, PidFile::cmdline).text()).size() == 3);
}
