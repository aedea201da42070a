// OOM kills in the kernel's log: records, their lines, and the reports made from them.

#include "collect/oom/oom_reports.h"

#include <fmt/format.h>

#include "base/text.h"
#include "support/catch.h"
#include "support/fixture.h"

using namespace memoir;

namespace {

LogRecord line_of(std::string_view message, std::int64_t boot_us = 1'000) {
  LogRecord record;
  record.message = message;
  record.boot_us = boot_us;
  return record;
}

// Returns the reports from a text in the format of /dev/kmsg.
std::vector<OomReport> reports_of(std::string_view text, std::int64_t page_kib = 4) {
  OomReports reports(page_kib);
  std::vector<OomReport> all;
  while (!text.empty()) {
    const auto record = parse_log_record(cut_line(text));
    if (!record) continue;
    if (auto report = reports.add(*record)) all.push_back(*std::move(report));
  }
  return all;
}

// Returns the reports from these messages only.
std::vector<OomReport> read_reports(const std::vector<std::string>& messages) {
  OomReports reports(4);
  std::vector<OomReport> all;
  for (const std::string& message : messages) {
    if (auto report = reports.add(line_of(message))) all.push_back(*std::move(report));
  }
  return all;
}

const std::string kHeader = "[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name";

std::string row(int pid, int rss, const std::string& name) {
  return fmt::format("[{:7}]     0 {:5}   100000 {:8}   118784        3             0 {}", pid, pid, rss, name);
}

std::string kill_of(int pid, const std::string& comm) {
  return fmt::format(
      "Memory cgroup out of memory: Killed process {} ({}) total-vm:42088kB, anon-rss:40832kB, file-rss:716kB, "
      "shmem-rss:8kB, UID:7 pgtables:116kB oom_score_adj:0",
      pid, comm);
}

std::string choice_of(int pid, const std::string& comm, const std::string& cgroup = "/a/b",
                      const std::string& limit = "/a") {
  return fmt::format(
      "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg={},task_memcg={},task={},"
      "pid={},uid=7",
      limit, cgroup, comm, pid);
}

}  // namespace

TEST_CASE("log record: numbers, flags and message") {
  const auto record = parse_log_record("6,421,1749269887,-,caller=T1;usb 1-1: a;b\n SUBSYSTEM=usb\n DEVICE=c189:1\n");
  REQUIRE(record.ok());
  CHECK(record->kernel);
  CHECK(record->sequence == 421);
  CHECK(record->boot_us == 1'749'269'887);
  CHECK_FALSE(record->fragment);
  CHECK(record->message == "usb 1-1: a;b");
  CHECK(parse_log_record("4,1,2,c;x")->fragment);
  CHECK_FALSE(parse_log_record("12,1,2,-;systemd[1]: x")->kernel);
  CHECK(parse_log_record("6,18446744073709551615,0,-;")->message.empty());
}

TEST_CASE("log record: other text is malformed") {
  const auto text = GENERATE(as<std::string>{}, "", "\n", ";", "6,1;x", "6,1,-2,-;x", "6,x,2,-;x", "a,1,2,-;x",
                             "6,1,2,-", " SUBSYSTEM=usb", "6,1,9223372036854775808,-;x");
  INFO(text);
  const auto record = parse_log_record(text);
  REQUIRE_FALSE(record.ok());
  CHECK(record.error().kind == ErrorKind::malformed);
}

TEST_CASE("log record: escapes are decoded") {
  CHECK(unescape_log(R"(keeper \xc3\xa9)") == "keeper é");
  CHECK(unescape_log(R"(two\x0alines \x5cx41)") == "two\nlines \\x41");
  CHECK(unescape_log(R"(\x4 \xzz \x)") == R"(\x4 \xzz \x)");
  CHECK(unescape_log("").empty());
}

TEST_CASE("OOM report of Linux 6.18: a cgroup above has reached its limit") {
  const auto reports = reports_of(test::fixture("linux-6.18/machine/kmsg"));
  REQUIRE(reports.size() == 1);
  const OomReport& report = reports.front();
  CHECK(report.pid == 17730);
  CHECK(report.comm == "my hog,x=1 (y)");
  CHECK(report.cgroup == "/app/hog");
  const OomDetail& detail = report.detail;
  CHECK(detail.scope == OomScope::cgroup);
  CHECK(detail.limit_cgroup == "/app");
  CHECK(detail.invoked_by == "my hog,x=1 (y)");
  CHECK(detail.usage_kib == 32768);
  CHECK(detail.limit_kib == 32768);
  CHECK(detail.anon_kib == 7116);
  CHECK(detail.file_kib == 4496);
  CHECK(detail.shmem_kib == 20608);
  CHECK(detail.others == std::vector<OomTask>{{17727, "keeper é", 4439 * 4, 0}, {17728, "two\nlines \\", 3927 * 4, 0}});
}

TEST_CASE("OOM report of Linux 5.10: the machine is out of memory, and a device's record is in between") {
  const auto reports = reports_of(test::fixture("linux-5.10/machine/kmsg"));
  REQUIRE(reports.size() == 1);
  const OomReport& report = reports.front();
  CHECK(report.cgroup == "/system.slice/mysql.service");
  CHECK(report.detail.scope == OomScope::machine);
  CHECK(report.detail.limit_cgroup.empty());
  CHECK_FALSE(report.detail.usage_kib);
  CHECK_FALSE(report.detail.limit_kib);
  CHECK(report.detail.anon_kib == 6'964'688);
  REQUIRE(report.detail.others.size() == 3);
  CHECK(report.detail.others[0] == OomTask{1377, "Web Content", 190'022 * 4, 40'112 * 4});
  CHECK(report.detail.others[2].comm == "dbus-daemon");
}

TEST_CASE("OOM report of kernels before 4.20: the cgroup is on a separate line") {
  const auto four = reports_of(test::fixture("linux-4.18/machine/kmsg"));
  REQUIRE(four.size() == 1);
  CHECK(four[0].comm == "mysqld");
  CHECK(four[0].cgroup == "/docker/5f2a");
  CHECK(four[0].detail.scope == OomScope::cgroup);
  CHECK(four[0].detail.limit_cgroup == "/docker");
  CHECK(four[0].detail.limit_kib == 524'288);
  CHECK(four[0].detail.shmem_kib == 0);
  CHECK(four[0].detail.others == std::vector<OomTask>{{790, "entrypoint.sh", 1120, 0}});
}

TEST_CASE("OOM report: the last line alone is a report") {
  const auto reports = read_reports({kill_of(5, "a"),
                                     "Out of memory (oom_kill_allocating_task): Killed process 6 (b) "
                                     "total-vm:4kB, anon-rss:4kB, file-rss:0kB, shmem-rss:0kB",
                                     "Killed process 7 (c) total-vm:4kB, anon-rss:4kB, file-rss:0kB"});
  REQUIRE(reports.size() == 3);
  CHECK(reports[0].pid == 5);
  CHECK(reports[0].detail.scope == OomScope::cgroup);
  CHECK(reports[0].detail.anon_kib == 40'832);
  CHECK(reports[0].detail.invoked_by.empty());
  CHECK(reports[1].comm == "b");
  CHECK(reports[1].detail.scope == OomScope::machine);
  CHECK(reports[2].comm == "c");
  CHECK_FALSE(reports[2].detail.shmem_kib);
}

TEST_CASE("OOM report: the nodes of a cpuset, and an absent limit") {
  const auto reports =
      read_reports({"memory: usage 5kB, limit 9007199254740988kB, failcnt 0",
                    "oom-kill:constraint=CONSTRAINT_CPUSET,nodemask=(null),cpuset=a,mems_allowed=1,global_oom,"
                    "task_memcg=/a,task=x,pid=5,uid=1",
                    "Out of memory: Killed process 5 (x) total-vm:4kB, anon-rss:4kB, file-rss:0kB"});
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].detail.scope == OomScope::nodes);
  CHECK(reports[0].detail.usage_kib == 5);
  CHECK_FALSE(reports[0].detail.limit_kib);
}

TEST_CASE("OOM report: of a table of any length the largest processes are kept, without the victim") {
  std::vector<std::string> lines{"a invoked oom-killer: gfp_mask=0", kHeader};
  for (int i = 1; i <= 100'000; ++i) lines.push_back(row(i, i * 7919 % 100'003, "t" + std::to_string(i)));
  lines.push_back(row(200'000, 1'000'000, "victim"));
  lines.push_back(choice_of(200'000, "victim"));
  lines.push_back(kill_of(200'000, "victim"));
  const auto reports = read_reports(lines);
  REQUIRE(reports.size() == 1);
  const std::vector<OomTask>& others = reports[0].detail.others;
  REQUIRE(others.size() == OomDetail::kMaxTasks);
  CHECK(others.front().rss_kib == 100'002 * 4);
  CHECK(others.back().rss_kib == 99'993 * 4);
  CHECK(others.front().swap_kib == 12);
}

TEST_CASE("OOM report: all members of a group have the group's reason, and other victims do not") {
  const std::vector<std::string> lines{"a invoked oom-killer: gfp_mask=0",
                                       "memory: usage 64kB, limit 64kB, failcnt 1",
                                       kHeader,
                                       row(5, 10, "a"),
                                       row(6, 9, "b"),
                                       choice_of(5, "a"),
                                       kill_of(5, "a"),
                                       "Tasks in /a/b are going to be killed due to memory.oom.group set",
                                       kill_of(6, "b"),
                                       kill_of(7, "c")};
  auto group = read_reports(lines);
  REQUIRE(group.size() == 3);
  for (const OomReport& report : group) {
    CAPTURE(report.pid);
    CHECK(report.detail.limit_kib == 64);
    CHECK(report.detail.limit_cgroup == "/a");
    CHECK(report.detail.invoked_by == "a");
  }
  CHECK(group[0].cgroup == "/a/b");
  CHECK(group[1].cgroup.empty());  // it may be in a descendant
  CHECK(group[1].detail.others == std::vector<OomTask>{{5, "a", 40, 12}});
  CHECK(group[2].detail.others.size() == 2);
  // If the kernel omits the first lines of a report, the first lines of another report are not used.
  auto alone = lines;
  alone.erase(alone.begin() + 7);
  CHECK_FALSE(read_reports(alone)[1].detail.limit_kib);
  // A group is killed at once.
  OomReports reports(4);
  for (const std::string& line : lines) reports.add(line_of(line, 1'000));
  CHECK_FALSE(reports.add(line_of(kill_of(8, "d"), 9'000'000))->detail.limit_kib);
}

TEST_CASE("OOM report: lines of another kill are not used") {
  CHECK_FALSE(read_reports({"memory: usage 64kB, limit 64kB, failcnt 1", choice_of(5, "a"), kill_of(6, "b")})[0]
                  .detail.limit_kib);
  CHECK_FALSE(read_reports({"memory: usage 64kB, limit 64kB, failcnt 1", "Out of memory and no killable processes...",
                            kill_of(6, "b")})[0]
                  .detail.limit_kib);
  OomReports reports(4);
  reports.add(line_of("memory: usage 64kB, limit 64kB, failcnt 1"));
  reports.forget();
  CHECK_FALSE(reports.add(line_of(kill_of(6, "b")))->detail.limit_kib);
}

TEST_CASE("OOM report: the kernel may report a process by another thread after the main thread has exited") {
  const auto reports = read_reports({"memory: usage 64kB, limit 64kB, failcnt 1", kHeader,
                                     "[     51]     0    50   100000       10   118784        3             0 a",
                                     choice_of(50, "a"), kill_of(51, "a")});
  CHECK(reports[0].detail.limit_kib == 64);
  CHECK(reports[0].detail.others.empty());
}

TEST_CASE("OOM report: a hostile process name affects only the name") {
  SECTION("a name that contains the text after it") {
    const std::string comm = GENERATE(as<std::string>{}, "a) total-vm:1kB", ",task=x,pid=1", "x,pid=1,uid=0", ")", "",
                                      "  a  ", "pid=1 (init) t", R"(\x0aOut of\x20)");
    CAPTURE(comm);
    const auto reports = read_reports({comm + " invoked oom-killer: gfp_mask=0", kHeader, row(6, 10, comm),
                                       row(7, 9, "b"), choice_of(7, comm), kill_of(7, comm)});
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].pid == 7);
    CHECK(reports[0].comm == unescape_log(comm));
    CHECK(reports[0].cgroup == "/a/b");
    CHECK(reports[0].detail.limit_cgroup == "/a");
    CHECK(reports[0].detail.invoked_by == unescape_log(comm));
    CHECK(reports[0].detail.others == std::vector<OomTask>{{6, unescape_log(comm), 40, 12}});
  }
  SECTION("a name with the start of another line") {
    const std::string comm = GENERATE(as<std::string>{}, "Out of memory: ", "Killed process ", "oom-kill:constr",
                                      "[  pid  ] a", "[1] 1 1 1 1 1 1", "memory: usage 1");
    CAPTURE(comm);
    const auto reports =
        read_reports({comm + " invoked oom-killer: gfp_mask=0", kHeader, comm + "[12]: segfault at 0 ip 0",
                      row(6, 10, "a"), choice_of(7, comm), kill_of(7, comm)});
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].detail.invoked_by == comm);
    CHECK(reports[0].detail.others.size() == 1);
    CHECK_FALSE(reports[0].detail.usage_kib);
  }
  SECTION("paths with commas, and with the words of the line") {
    const std::string path = "/a,b,task=x,pid=1,uid=0";
    const auto reports = read_reports({choice_of(7, "c", path, "/a,b"), kill_of(7, "c")});
    CHECK(reports[0].cgroup == path);
    CHECK(reports[0].detail.limit_cgroup == "/a,b");
  }
  SECTION("a name that is changed in between") {
    const auto reports = read_reports({choice_of(7, "before"), kill_of(7, "after")});
    CHECK(reports[0].comm == "after");
    CHECK(reports[0].cgroup == "/a/b");
  }
  SECTION("a cgroup with a line as its name, with its own line complete or in fragments") {
    OomReports reports(4);
    reports.add(line_of("Memory cgroup stats for /x invoked oom-killer: gfp_mask=0"));
    LogRecord fragment = line_of("Out of memory: Killed process 1 (init) total-vm:1kB, anon-rss:1kB, file-rss:1kB");
    fragment.fragment = true;
    CHECK_FALSE(reports.add(fragment));
    CHECK(reports.add(line_of(kill_of(7, "c")))->detail.invoked_by.empty());
  }
  SECTION("a program's own record") {
    LogRecord written = line_of(kill_of(1, "init"));
    written.kernel = false;
    OomReports reports(4);
    CHECK_FALSE(reports.add(written));
  }
  SECTION("bytes that are no text") {
    const auto reports = read_reports({kill_of(7, R"(\xff\xfe)")});
    CHECK(reports[0].comm == R"(\xff\xfe)");
    CHECK(to_utf8(reports[0].comm) == reports[0].comm);
  }
}

TEST_CASE("OOM report: the fragments of a line are joined") {
  const std::string whole = choice_of(7, "c");
  OomReports reports(4);
  const std::size_t first = whole.find(",cpuset=");
  const std::size_t second = whole.find(",task_memcg=");
  reports.add(line_of(whole.substr(0, first)));
  reports.add(line_of("usb 1-1: new device"));
  for (const std::string& part : {whole.substr(first, second - first), whole.substr(second)}) {
    LogRecord fragment = line_of(part);
    fragment.fragment = true;
    reports.add(fragment);
  }
  const auto report = reports.add(line_of(kill_of(7, "c")));
  REQUIRE(report);
  CHECK(report->cgroup == "/a/b");
  CHECK(report->detail.limit_cgroup == "/a");
}

TEST_CASE("OOM report: malformed rows, and pages of 64 KiB") {
  OomReports reports(64);
  for (const char* line :
       {"[  pid  ]   uid  tgid total_vm      rss cpu oom_adj oom_score_adj name", "[  1] 0 1 5 5 0 0 0 one",
        "[  2] 0 2 5 x 0 0 0 two", "[  3] 0 3 5 9223372036854775807 0 0 0 three", "[ -4] 0 4 5 5 0 0 0 four",
        "[  5] 0 5 5", "[  6", "[]", "[  7] 0 7 5 -5 0 0 0 seven"}) {
    reports.add(line_of(line));
  }
  const auto report = reports.add(line_of(kill_of(8, "c")));
  REQUIRE(report);
  CHECK(report->detail.others == std::vector<OomTask>{{1, "one", 320, 0}});
}
