#include "proc/proc_fs.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

#include "support/catch.h"
#include "support/fake_proc.h"

using namespace memoir;

TEST_CASE("paths are below the root") {
  const ProcFs proc("/tmp/p");
  CHECK(proc.path(7, PidFile::smaps_rollup) == "/tmp/p/7/smaps_rollup");
  CHECK(proc.path(SystemFile::pressure_memory) == "/tmp/p/pressure/memory");
  CHECK(proc.path(SystemFile::boot_id) == "/tmp/p/sys/kernel/random/boot_id");
}

TEST_CASE("list: only processes are listed, in ascending order") {
  test::FakeProc fake;
  for (const std::int32_t pid : {300, 2, 10, 1}) fake.add({.pid = pid});
  for (const char* const name : {"self", "12x", "-4", "0", "99999999999", "1 2"}) {
    std::filesystem::create_directory(fake.root() + '/' + name);
  }
  std::vector<std::int32_t> pids = {77};
  REQUIRE(fake.proc().list(pids).ok());
  CHECK(pids == std::vector<std::int32_t>{1, 2, 10, 300});
}

TEST_CASE("list: a missing root is an error") {
  std::vector<std::int32_t> pids = {77};
  const Status status = ProcFs("/nonexistent/proc").list(pids);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().kind == ErrorKind::not_found);
  CHECK(status.error().message.find("/nonexistent/proc") != std::string::npos);
  CHECK(pids.empty());
}

TEST_CASE("links: the target, or the reason for its absence") {
  test::FakeProc fake;
  fake.add({.pid = 5, .exe = "/usr/bin/a b (deleted)"});
  CHECK(*read_link(fake.proc().path(5, PidFile::exe)) == "/usr/bin/a b (deleted)");
  CHECK(read_link(fake.proc().path(5, PidFile::cwd)).error().kind == ErrorKind::not_found);
}

TEST_CASE("a trigger on memory pressure: its text is written, and errors are reported") {
  test::FakeProc fake;
  fake.remove(SystemFile::pressure_memory);
  CHECK(fake.proc().open_pressure_trigger(150'000, 2'000'000).error().kind == ErrorKind::not_found);
  fake.write(SystemFile::pressure_memory, "");
  CHECK(fake.proc().open_pressure_trigger(150'000, 2'000'000).ok());
  Buffer buffer;
  CHECK(*read_file(fake.proc().path(SystemFile::pressure_memory), buffer) == std::string("some 150000 2000000") + '\0');
  // The kernel of this machine has triggers or reports the reason for their absence.
  const auto real = ProcFs().open_pressure_trigger(150'000, 2'000'000);
  if (!real) CHECK(real.error().message.find("/proc/pressure/memory") != std::string::npos);
  CHECK_FALSE(ProcFs().open_pressure_trigger(0, 2'000'000).ok());
}

TEST_CASE("boot: read from the fake machine and from this one") {
  const test::FakeProc fake;
  const auto info = fake.proc().boot({.wall_ms = 1'700'000'012'345, .boot_ms = 12'100});
  REQUIRE(info.ok());
  CHECK(info->boot_id == test::FakeProc::kBootId);
  CHECK(info->boot_ms == 1'700'000'000'245);
  CHECK_FALSE(info->kernel.empty());
  CHECK_FALSE(info->host.empty());
  CHECK(ProcFs().boot(SystemClock().now()).ok());
}

TEST_CASE("boot: missing files are named") {
  test::FakeProc fake;
  fake.write(SystemFile::boot_id, "rubbish\n");
  CHECK(fake.proc().boot({}).error().kind == ErrorKind::malformed);
  fake.remove(SystemFile::boot_id);
  const auto info = fake.proc().boot({});
  REQUIRE_FALSE(info.ok());
  CHECK(info.error().kind == ErrorKind::not_found);
  CHECK(info.error().message.find("boot_id") != std::string::npos);
}
