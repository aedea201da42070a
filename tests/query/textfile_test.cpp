// The file for node_exporter, and exports of the same series for past times.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "query/ask.h"
#include "query/commands/export/last_write.h"
#include "query/history.h"
#include "store/reader.h"
#include "support/catch.h"
#include "support/slurp.h"
#include "support/temporary_directory.h"

namespace textfile_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::History;

namespace {

constexpr std::int64_t kMib = 1024;

class Page {
 public:
  std::string path() const { return directory_.path() + "/memoir.prom"; }
  std::string text() const { return test::slurp(path()); }
  const test::TemporaryDirectory& directory() const { return directory_; }

  // The test's own pid holds the lock of a file that is being recorded, so the recorder counts as running.
  Outcome write(const History& history, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"export", "--format", "openmetrics", "--textfile", path()});
    return ask(history, std::move(more));
  }

  // The values of the file, by the text before the value.
  std::map<std::string, double> series() const {
    std::map<std::string, double> all;
    std::istringstream in(text());
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with('#')) continue;
      const std::size_t space = line.rfind(' ');
      CAPTURE(line);
      REQUIRE(all.emplace(line.substr(0, space), std::stod(line.substr(space + 1))).second);
    }
    return all;
  }

 private:
  test::TemporaryDirectory directory_;
};

// The only series of this name, for any host.
double value_of(const std::map<std::string, double>& series, const std::string& name, const std::string& labels = "") {
  std::vector<double> found;
  for (const auto& [key, value] : series) {
    if (key.starts_with(name + "{") && key.find(labels) != std::string::npos) found.push_back(value);
  }
  CAPTURE(name, labels, found.size());
  REQUIRE(found.size() == 1);
  return found.front();
}

bool has(const std::map<std::string, double>& series, const std::string& name) {
  return std::ranges::any_of(series, [&](const auto& of) { return of.first.starts_with(name + "{"); });
}

void record(History& history) {
  history.begin_run();
  history.birth(1, {"postgres", "/usr/bin/postgres -D /secret", "database", "postgres", "/system.slice/db.service"},
                100 * kMib);
  history.birth(2, {"postgres", "postgres: writer", "database", "postgres", "/system.slice/db.service"}, 20 * kMib);
  history.birth(3, {"nginx", "nginx: worker", "web", "www-data", "/system.slice/nginx.service"}, 30 * kMib);
  history.cgroup({"/system.slice/db.service", 150 * kMib, 10 * kMib, 0, 200 * kMib, {}, {}});
  history.machine(3 * 1024 * kMib);
  history.tick(6);
}

}  // namespace

TEST_CASE("textfile: the machine, categories, programs, cgroups and the recorder are in bytes and seconds") {
  History history;
  record(history);
  const Page page;
  const Outcome outcome = page.write(history);
  CAPTURE(outcome.error);
  REQUIRE(outcome.exit == Exit::answered);
  CHECK(outcome.out.empty());
  const auto series = page.series();
  constexpr double mib = 1024 * 1024;
  CHECK(value_of(series, "memoir_machine_used_bytes") == 3 * 1024 * mib);
  CHECK(value_of(series, "memoir_category_pss_bytes", "category=\"database\"") == 120 * mib);
  const std::string postgres = R"(unit="db.service",program="postgres")";
  CHECK(value_of(series, "memoir_identity_pss_bytes", postgres) == 120 * mib);
  CHECK(value_of(series, "memoir_identity_rss_bytes", postgres) == 120 * mib);
  CHECK(value_of(series, "memoir_identity_processes", postgres) == 2);
  CHECK(value_of(series, "memoir_cgroup_usage_bytes", "cgroup=\"/system.slice/db.service\"") == 150 * mib);
  CHECK(value_of(series, "memoir_cgroup_limit_bytes") == 200 * mib);
  CHECK(value_of(series, "memoir_leaks") == 0);
  CHECK(value_of(series, "memoir_recorder_up") == 1);
  CHECK(value_of(series, "memoir_recorder_interval_seconds") == 10);
  CHECK(value_of(series, "memoir_recorder_last_tick_timestamp_seconds") ==
        Approx(static_cast<double>(history.now_ms() - History::kInterval) / 1000));
  CHECK(value_of(series, "memoir_database_size_bytes") > 0);
  const std::string text = page.text();
  CHECK(text.find("# TYPE memoir_machine_pgfault_total counter") == std::string::npos);  // absent on this machine
  CHECK(text.find("# TYPE memoir_recorder_up gauge") != std::string::npos);
  // The file is world-readable, so it has only the program of a command line.
  CHECK(text.find("secret") == std::string::npos);
  struct stat status {};
  REQUIRE(::stat(page.path().c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0644U);
}

TEST_CASE("textfile: peaks are those since the previous write, and restart with each write") {
  History history;
  record(history);
  const Page page;
  REQUIRE(page.write(history).exit == Exit::answered);
  const CgroupSample db{"/system.slice/db.service", 150 * kMib, 10 * kMib, 0, 200 * kMib, {}, {}};
  history.hold(1, 500 * kMib);
  history.machine(6 * 1024 * kMib);
  history.cgroup({db.path, 180 * kMib, 10 * kMib, 0, 200 * kMib, {}, {}});
  history.tick();
  history.hold(1, 100 * kMib);
  history.machine(3 * 1024 * kMib);
  history.cgroup(db);
  history.tick(2);
  REQUIRE(page.write(history).exit == Exit::answered);
  constexpr double mib = 1024 * 1024;
  const auto spiked = page.series();
  CHECK(value_of(spiked, "memoir_identity_pss_peak_bytes", "db.service") == 520 * mib);
  CHECK(value_of(spiked, "memoir_category_pss_peak_bytes", "database") == 520 * mib);
  CHECK(value_of(spiked, "memoir_machine_used_peak_bytes") == 6 * 1024 * mib);
  CHECK(value_of(spiked, "memoir_identity_pss_bytes", "db.service") == 120 * mib);
  CHECK(value_of(spiked, "memoir_cgroup_usage_peak_bytes", "db.service") == 180 * mib);
  history.tick(2);
  REQUIRE(page.write(history).exit == Exit::answered);
  const auto level = page.series();
  CHECK(value_of(level, "memoir_identity_pss_peak_bytes", "db.service") == 120 * mib);
  CHECK(value_of(level, "memoir_category_pss_peak_bytes", "database") == 120 * mib);
  CHECK(value_of(level, "memoir_machine_used_peak_bytes") == 3 * 1024 * mib);
  CHECK(value_of(level, "memoir_cgroup_usage_peak_bytes", "db.service") == 150 * mib);
  // At the last tick the kernel reports a peak since the previous tick.
  history.cgroup_peak(db.path, 190 * kMib);
  history.tick();
  REQUIRE(page.write(history).exit == Exit::answered);
  CHECK(value_of(page.series(), "memoir_cgroup_usage_peak_bytes", "db.service") == 190 * mib);
  history.tick();
  REQUIRE(page.write(history).exit == Exit::answered);
  CHECK(value_of(page.series(), "memoir_cgroup_usage_peak_bytes", "db.service") == 150 * mib);
}

TEST_CASE(
    "textfile: a leak is named, with its growth; the verdict is valid for an hour, and the remaining time counts "
    "down") {
  History history(60'000);
  history.begin_run();
  history.birth(1, {"leaky", "leaky", "web", "www-data", "/system.slice/leaky.service"}, 100 * kMib);
  history.machine(4 * 1024 * kMib);
  for (int minute = 0; minute < 300; ++minute) {
    history.hold(1, 100 * kMib + minute * kMib);
    history.cgroup({"/system.slice/leaky.service", 110 * kMib + minute * kMib, 0, 0, 1024 * kMib, {}, 0});
    history.tick();
  }
  const Page page;
  const std::vector<std::string> hour{"--hour", "5m"};
  REQUIRE(page.write(history, hour).exit == Exit::answered);
  const auto first = page.series();
  const std::string leaky = R"(unit="leaky.service",program="leaky",of="anon+swap")";
  CHECK(value_of(first, "memoir_leaks") == 1);
  CHECK(value_of(first, "memoir_leak_growth_bytes_per_second", leaky) == Approx(1024 * 1024 / 60.0).epsilon(0.05));
  CHECK(value_of(first, "memoir_leak_confidence_ratio", leaky) > 0.3);
  const double left = value_of(first, "memoir_leak_exhaustion_seconds", leaky);
  CHECK(left == Approx(60 * 614).epsilon(0.1));
  const double judged = value_of(first, "memoir_leaks_judged_timestamp_seconds");

  for (int write = 1; write <= 2; ++write) {  // each write reuses the verdicts of the previous one
    history.tick();
    REQUIRE(page.write(history, hour).exit == Exit::answered);
    const auto next = page.series();
    CHECK(value_of(next, "memoir_leaks_judged_timestamp_seconds") == judged);
    CHECK(value_of(next, "memoir_leak_exhaustion_seconds", leaky) == Approx(left - 60 * write));
  }
  history.tick(5);
  REQUIRE(page.write(history, hour).exit == Exit::answered);
  CHECK(value_of(page.series(), "memoir_leaks_judged_timestamp_seconds") > judged);
}

TEST_CASE("textfile: the file does not wait until leaks are judged") {
  History history;
  record(history);
  const Page page;
  const Fd watch(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  // inotify would merge two equal adjacent events.
  REQUIRE(::inotify_add_watch(watch.get(), page.directory().path().c_str(), IN_CREATE | IN_MOVED_TO) >= 0);
  const auto pages_written = [&] {
    REQUIRE(page.write(history, {"--hour", "5m"}).exit == Exit::answered);
    std::array<char, 4096> events{};
    const ssize_t bytes = ::read(watch.get(), events.data(), events.size());
    std::size_t pages = 0;
    for (ssize_t at = 0; at < bytes;) {
      inotify_event event{};
      std::memcpy(&event, events.data() + at, sizeof event);
      at += static_cast<ssize_t>(sizeof event + event.len);
      if ((event.mask & IN_MOVED_TO) != 0) ++pages;
    }
    return pages;
  };
  CHECK(pages_written() == 2);
  CHECK(pages_written() == 1);
  history.tick(60);
  CHECK(pages_written() == 2);
}

TEST_CASE("textfile: a number of unknown origin in the previous file is ignored") {
  const std::string growth = "memoir_leak_exhaustion_seconds{host=\"a\"} ";
  const LastWrite last = last_write("memoir_recorder_last_tick_timestamp_seconds{host=\"a\"} 1e300\n" + growth +
                                        "nan\n" + growth + "-1e16\n" + growth + "12.5\n",
                                    "host=\"a\"");
  CHECK_FALSE(last.tick_ms);
  REQUIRE(last.leaks.samples.size() == 1);
  CHECK(last.leaks.samples[0].value == 12'500);
}

TEST_CASE("textfile: leaks of each kind keep their order from the previous write") {
  std::string text;
  for (const std::string family : {"growth_bytes_per_second", "exhaustion_seconds"}) {
    for (const std::string program : {"a", "b", "c"}) {
      text += "memoir_leak_" + family + "{host=\"a\",program=\"" + program + "\"} 1\n";
    }
  }
  std::vector<std::size_t> ranks;
  for (const FleetSample& sample : last_write(text, "host=\"a\"").leaks.samples) ranks.push_back(sample.rank);
  CHECK(ranks == std::vector<std::size_t>{0, 1, 2, 0, 1, 2});
}

TEST_CASE("textfile: without a recorder the file has only the recorder's state") {
  History history;
  record(history);
  history.end_run();
  history.kill();
  const Page page;
  REQUIRE(page.write(history).exit == Exit::answered);
  const auto series = page.series();
  CHECK(value_of(series, "memoir_recorder_up") == 0);
  CHECK(has(series, "memoir_recorder_last_tick_timestamp_seconds"));
  CHECK_FALSE(has(series, "memoir_machine_used_bytes"));
  CHECK_FALSE(has(series, "memoir_identity_pss_bytes"));
}

TEST_CASE("textfile: an OOM kill has its time") {
  History history;
  record(history);
  OomVictim victim;
  victim.pid = 7;
  victim.comm = "evil\"}\n";
  victim.cgroup = "/system.slice/db.service";
  victim.at_ms = history.now_ms() - 3000;
  history.oom_victim(victim);
  history.tick();
  const Page page;
  REQUIRE(page.write(history).exit == Exit::answered);
  CHECK(value_of(page.series(), "memoir_oom_kill_timestamp_seconds", R"(program="evil\"}\\n")") ==
        Approx(static_cast<double>(victim.at_ms) / 1000));
}

TEST_CASE("textfile: there are at most 2,000 series, however many names there are, each once") {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCD";
  History history;
  history.begin_run();
  for (int i = 0; i < 900; ++i) {
    const std::string name = fmt::format(
        "p{}", std::string(static_cast<std::size_t>(i % 30) + 1, kLetters[static_cast<std::size_t>(i / 30)]));
    history.birth(i + 1, {name, name, name, "root", fmt::format("/system.slice/{}{}.service", name, "\n\"\\\x80}{")},
                  (i + 1) * kMib);
  }
  history.tick(2);
  const Page page;
  for (const char* limit : {"50", "0", "400"}) {
    CAPTURE(limit);
    const Outcome outcome = page.write(history, {"--limit", limit});
    REQUIRE(outcome.exit == Exit::answered);
    const auto series = page.series();
    CHECK(series.size() <= 2000);
    CHECK(series.size() > 500);
    const bool cut = std::string(limit) != "50";
    CHECK((outcome.error.find("left out, because a page has at most 2000") != std::string::npos) == cut);
    // Series of single subjects have rank 0 and are always included.
    CHECK(has(series, "memoir_recorder_up"));
  }
  REQUIRE(page.write(history).exit == Exit::answered);
  std::size_t identities = 0;
  for (const auto& [key, value] : page.series()) identities += key.starts_with("memoir_identity_pss_bytes{") ? 1U : 0U;
  CHECK(identities == 50);
}

TEST_CASE("textfile: names that are the same in printable form are one series") {
  History history;
  record(history);
  for (const char* path : {"/twin\x80", "/twin\\x80"}) history.cgroup({path, 7 * kMib, 0, 0, {}, {}, {}});
  history.tick();
  const Page page;
  REQUIRE(page.write(history).exit == Exit::answered);
  CHECK(value_of(page.series(), "memoir_cgroup_usage_bytes", R"(cgroup="/twin\\x80")") == 7 * 1024 * 1024);
}

TEST_CASE("textfile: promtool accepts it") {
  if (std::system("command -v promtool >/dev/null 2>&1") != 0) {
    WARN("skipped: promtool is not installed (Debian's package prometheus)");
    return;
  }
  History history;
  record(history);
  for (std::size_t i = 0; i < kMachineFields.size(); ++i) history.machine(static_cast<MachineField>(i), 1000);
  history.birth(9, {"a\"b\\c\nd", "a\"b\\c\nd x", "日本\"}\n", "root", "/\"}\n\\.service"}, kMib);
  history.container({"/system.slice/db.service", {"docker", "0123456789ab", "web\"\n", "image", "", ""}});
  history.oom_victim({.pid = 7, .comm = "x\\", .cgroup = "/\n", .at_ms = history.now_ms() - 1000});
  history.tick();
  const Page page;
  REQUIRE(page.write(history).exit == Exit::answered);
  const std::string log = page.directory().path() + "/log";
  const int status = std::system(("promtool check metrics <" + page.path() + " >" + log + " 2>&1").c_str());
  CAPTURE(test::slurp(log));
  CHECK(status == 0);
  CHECK(test::slurp(log).empty());
}

TEST_CASE("textfile: if it cannot be written, the previous file stays, and the error has the fix") {
  History history;
  record(history);
  const Page page;
  const auto write_to = [&](const std::string& path) {
    return ask(history, {"export", "--format", "openmetrics", "--textfile", path});
  };
  const std::string folder = page.directory().path() + "/missing";
  const Outcome missing = write_to(folder + "/memoir.prom");
  CHECK(missing.exit == Exit::failed);
  CHECK(missing.error.find(folder + "/memoir.prom") != std::string::npos);
  CHECK(missing.error.find("make the folder " + folder) != std::string::npos);
  REQUIRE(page.write(history).exit == Exit::answered);
  const std::string before = page.text();
  // The second export fails halfway.
  CHECK(page.write(history, {"--at", "2020-01-01"}).exit != Exit::answered);
  CHECK(page.text() == before);
  CHECK_FALSE(std::filesystem::exists(page.path() + ".partial"));
  if (::geteuid() == 0) {
    WARN("partly skipped: root can write to any folder");
    return;
  }
  std::filesystem::create_directory(folder);
  std::filesystem::permissions(folder, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const Outcome denied = write_to(folder + "/memoir.prom");
  CHECK(denied.exit == Exit::failed);
  CHECK(denied.error.find("let this user write in " + folder) != std::string::npos);
}

TEST_CASE("textfile: conflicting options are refused") {
  History history;
  record(history);
  const Page page;
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--last", "1h"},
                                               {"--step", "1m"},
                                               {"-o", "x"},
                                               {"processes"},
                                               {"--label", "host=x"},
                                               {"--label", "1x=y"},
                                               {"--label", "x"},
                                               {"--label", "__x=y"},
                                               {"--filter", "comm=x"}}) {
    CAPTURE(more);
    CHECK(page.write(history, more).exit == Exit::usage);
    CHECK_FALSE(std::filesystem::exists(page.path()));
  }
  const auto usage = [&](std::vector<std::string> words) { return ask(history, std::move(words)).exit; };
  CHECK(usage({"export", "--textfile", page.path()}) == Exit::usage);
  CHECK(usage({"export", "fleet"}) == Exit::usage);
  CHECK(usage({"export", "processes", "--format", "openmetrics", "--limit", "5"}) == Exit::usage);
  CHECK(usage({"export", "processes", "--label", "a=b"}) == Exit::usage);
}

TEST_CASE("export fleet: the series are those of the textfile at each tick, with the time") {
  History history;
  record(history);
  const Page page;
  std::map<std::string, double> written;  // values by name, with the time of the tick
  for (int i = 0; i < 5; ++i) {
    history.hold(3, (30 + i) * kMib);
    history.tick();
    REQUIRE(page.write(history, {"--label", "instance=a:9100"}).exit == Exit::answered);
    const std::int64_t at_ms = history.now_ms() - History::kInterval;
    for (const auto& [key, value] : page.series())
      written[fmt::format("{} {}.{:03}", key, at_ms / 1000, at_ms % 1000)] = value;
  }
  const Outcome past =
      ask(history, {"export", "fleet", "--format", "openmetrics", "--label", "instance=a:9100", "--last", "40s"});
  CAPTURE(past.error);
  REQUIRE(past.exit == Exit::answered);
  CHECK(past.out.ends_with("# EOF\n"));
  std::map<std::string, double> exported;
  std::istringstream in(past.out);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    const std::size_t at = line.rfind(' ');
    const std::size_t value = line.rfind(' ', at - 1);
    exported[line.substr(0, value) + line.substr(at)] = std::stod(line.substr(value + 1, at - value - 1));
  }
  // The size of the file at that time and the time of the search for leaks are unknown, and the first tick has no
  // previous one.
  const auto differs = [](const auto& of) {
    return of.first.starts_with("memoir_database_") || of.first.starts_with("memoir_leaks_judged");
  };
  std::erase_if(written, differs);
  std::erase_if(exported, differs);
  CHECK(exported.size() == written.size());
  CHECK(exported == written);
}

}  // namespace textfile_test
