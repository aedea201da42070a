// The reader of the kernel's log, on files, fifos and the real log.

#include "collect/oom/kernel_log.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/oom/log_clock.h"
#include "collect/oom/oom_log.h"
#include "support/catch.h"
#include "support/fixture.h"
#include "support/temporary_directory.h"

namespace memoir::test {
namespace {

constexpr const char* kRestricted = "/proc/sys/kernel/dmesg_restrict";

struct LogFile {
  TemporaryDirectory folder;
  std::string path = folder.path() + "/kmsg";

  explicit LogFile(const std::string& text = "") { append(text); }
  void append(const std::string& text) const { std::ofstream(path, std::ios::app | std::ios::binary) << text; }
};

KernelLog open_log(const std::string& path) {
  auto log = KernelLog::open(path, kRestricted);
  if (!log) FAIL(log.error().message);
  return *std::move(log);
}

std::vector<std::string> messages(KernelLog& log) {
  std::vector<std::string> all;
  const auto taken = log.read([&](const LogRecord& record, bool lost) {
    all.emplace_back(record.message);
    CHECK_FALSE(lost);
  });
  REQUIRE(taken.ok());
  CHECK(taken->lost == 0);
  return all;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("kernel log: records written after opening are read, each completely") {
  const LogFile file("6,1,1,-;before\n");
  KernelLog log = open_log(file.path);
  CHECK(messages(log).empty());
  file.append("6,2,2,-;one\n SUBSYSTEM=usb\nno record\n6,3,3,-;two\n6,4,4,-;thr");
  CHECK(messages(log) == Lines{"one", "two"});
  file.append("ee\n");
  CHECK(messages(log) == Lines{"three"});
  CHECK(messages(log).empty());
}

TEST_CASE("kernel log: memory of an endless line is released") {
  const LogFile file;
  KernelLog log = open_log(file.path);
  file.append(std::string(300'000, 'x'));
  CHECK(messages(log).empty());
  file.append("\n6,2,2,-;one\n");
  CHECK(messages(log) == Lines{"one"});
}

TEST_CASE("kernel log: a fifo can be read") {
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/kmsg";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  KernelLog log = open_log(path);
  CHECK(messages(log).empty());
  const Fd writer(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  REQUIRE(writer.valid());
  CHECK(messages(log).empty());
  const std::string text = "6,1,1,-;one\n6,2,2,-;two\n";
  REQUIRE(::write(writer.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  CHECK(messages(log) == Lines{"one", "two"});
}

TEST_CASE("kernel log: up to a limit of records is read at once, the others in the next read") {
  const LogFile file;
  KernelLog log = open_log(file.path);
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += fmt::format("6,{},{},-;{:0>100}\n", i, i, i);
  file.append(text);
  std::size_t seen = 0;
  int times = 0;
  for (bool all = false; !all; ++times) {
    std::size_t now = 0;
    const auto taken = log.read([&](const LogRecord&, bool) { ++now; });
    REQUIRE(taken.ok());
    CHECK(now < KernelLog::kMaxRecords + 1'000);
    seen += now;
    all = taken->all;
  }
  CHECK(seen == 10'000);
  CHECK(times >= 3);
}

TEST_CASE("kernel log: an absent or denied log is a degraded mode") {
  const TemporaryDirectory folder;
  const auto none = KernelLog::open(folder.path() + "/none", kRestricted);
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().kind == ErrorKind::not_found);
  // After a later failure the log is not opened again.
  OomLog log;
  REQUIRE(log.open(folder.path(), kRestricted, 4, 0).ok());
  CHECK(log.reads());
  std::vector<OomLog::Kill> kills;
  const Status read = log.take(0, kills);
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().message.find("cannot read " + folder.path()) == 0);
  CHECK_FALSE(log.reads());
  CHECK(log.take(0, kills).ok());
}

TEST_CASE("log clock: a record's time is between the two reads around it, even if its own stamp differs") {
  LogClock clock;
  CHECK(clock.boot_ms(5'000'000, 4'000, 6'000) == 5'000);
  // The machine was suspended for a while, which the stamp does not count.
  CHECK(clock.boot_ms(6'000'000, 100'000, 110'000) == 100'000);
  CHECK(clock.boot_ms(7'500'000, 100'000, 110'000) == 101'500);
  // The clock of the stamps runs too fast.
  CHECK(clock.boot_ms(900'000'000, 200'000, 210'000) == 210'000);
  CHECK(clock.boot_ms(899'999'000, 200'000, 210'000) == 209'999);
  CHECK(clock.boot_ms(0, 300'000, 310'000) == 300'000);
}

TEST_CASE("OOM log: kills with their times") {
  const LogFile file;
  OomLog log;
  REQUIRE(log.open(file.path, kRestricted, 4, 1'000).ok());
  std::vector<OomLog::Kill> kills;
  REQUIRE(log.take(2'000, kills).ok());
  CHECK(kills.empty());
  file.append(fixture("linux-6.18/machine/kmsg"));
  REQUIRE(log.take(14'531'400, kills).ok());
  REQUIRE(kills.size() == 1);
  CHECK(kills[0].boot_ms == 14'531'388);
  CHECK(kills[0].report.pid == 17730);
  REQUIRE(log.take(14'531'500, kills).ok());
  CHECK(kills.empty());
}

TEST_CASE("live: the kernel's own log can be parsed") {
  auto log = KernelLog::open("/dev/kmsg", kRestricted);
  if (!log) {
    WARN("skipped: " << log.error().message);
    CHECK((log.error().kind == ErrorKind::not_found || log.error().kind == ErrorKind::denied));
    return;
  }
  // Reads every record from the start.
  const Fd all(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  std::string buffer(16'384, '\0');
  for (int i = 0; i < 100'000; ++i) {
    const ssize_t got = ::read(all.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EPIPE) continue;
    if (got <= 0) break;
    const std::string_view text(buffer.data(), static_cast<std::size_t>(got));
    INFO(text);
    CHECK(parse_log_record(text).ok());
  }
  const auto taken = log->read([](const LogRecord&, bool) {});
  REQUIRE(taken.ok());
}

}  // namespace memoir::test
