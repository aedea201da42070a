#include "query/commands/doctor/doctor.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/history.h"
#include "support/catch.h"
#include "support/slurp.h"

namespace doctor_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::History;

namespace {

constexpr std::int64_t kGib = std::int64_t{1024} * 1024 * 1024;

FileLocation good_place() {
  FileLocation place;
  place.path = "/var/lib/memoir/memoir.db";
  place.owner = place.group = "memoir";
  place.mode = 0640;
  place.folder = "/var/lib/memoir";
  place.free_bytes = 50 * kGib;
  return place;
}

const Finding& find(const Findings& findings, const std::string& check) {
  for (const Finding& finding : findings) {
    if (finding.check == check) return finding;
  }
  FAIL("no finding on " << check);
  return findings.front();
}

Verdict verdict(const Findings& findings, const std::string& check) {
  const Finding& finding = find(findings, check);
  // Every finding that is not ok has a fix.
  CHECK(finding.fix.empty() == (finding.verdict == Verdict::ok));
  return finding.verdict;
}

RecorderStatus good_status() {
  RecorderStatus status;
  status.recording = Recording::active;
  status.now_ms = 100'000;
  status.file.recorder_pid = 7;
  StoredRun run;
  run.interval_ms = 10'000;
  run.last_tick_ms = 95'000;
  run.stop_reason = "stopped";
  status.runs = {run};
  status.tick.emplace();
  status.tick->counts.seen = 300;
  status.day.emplace();
  return status;
}

Findings judge(const RecorderStatus& status, bool here = true) {
  return judge_recorder(status, here, Zone::utc);
}

Outcome doctor(const std::string& path, std::int64_t now_ms, const std::string& format = "json") {
  return test::ask(path, now_ms, {"doctor", "--format", format});
}

}  // namespace

TEST_CASE("doctor: a world-writable file is a problem, and a world-readable one is a warning") {
  FileLocation place = good_place();
  CHECK(verdict(judge_place(place), "file") == Verdict::ok);
  place.mode = 0644;
  CHECK(verdict(judge_place(place), "file") == Verdict::ok);  // no other user can enter the folder
  place.folder_open = true;
  CHECK(verdict(judge_place(place), "file") == Verdict::warning);
  place.mode = 0666;
  CHECK(verdict(judge_place(place), "file") == Verdict::problem);
}

TEST_CASE("doctor: any path is quoted in a command to copy") {
  use_utf8();
  for (const char* folder : {"/tmp/a b", "/tmp/$(touch x)", "/tmp/`touch x`", "/tmp/it's", "/tmp/\"q\"", "/tmp/a\nb",
                             "/tmp/;touch x", "/tmp/*", "/tmp/\xff", "-rf", "/tmp/\\"}) {
    FileLocation place = good_place();
    place.folder = folder;
    place.path = place.folder + "/memoir.db";
    place.mode = 0666;
    place.stranger = place.path + "-wal";
    place.stranger_owner = "root";
    place.wal_bytes = kGib;
    place.mounted_read_only = true;
    place.free_bytes = 1;
    Findings findings = judge_place(place);
    findings.push_back(judge_room(place, std::nullopt));
    int commands = 0;
    for (const Finding& finding : findings) {
      for (const std::string_view command : {"chmod o= ", "chown memoir: ", "fuser -v ", "findmnt -T ", "du -xh "}) {
        const std::size_t at = finding.fix.find(command);
        if (at == std::string::npos) continue;
        ++commands;
        // After the command, the shell must have the unchanged path as one word.
        const test::TemporaryDirectory scratch;
        std::string words = finding.fix.substr(at + command.size());
        for (const char* after : {"), after", " | sort", " lists it"}) words = words.substr(0, words.find(after));
        std::ofstream(scratch.path() + "/script")
            << "cd " << scratch.path() << "\nset -- " << words << "\nprintf '%s' \"$1\" >word\necho $# >count\n";
        CAPTURE(finding.fix, words);
        CHECK(std::system(("bash " + scratch.path() + "/script").c_str()) == 0);
        const std::string word = test::slurp(scratch.path() + "/word");
        CHECK(test::slurp(scratch.path() + "/count") == "1\n");
        CHECK(word.find(place.folder) != std::string::npos);
        CHECK_FALSE(word.starts_with('-'));
        CHECK_FALSE(std::filesystem::exists(scratch.path() + "/x"));
      }
    }
    CHECK(commands == 5);
  }
}

TEST_CASE("doctor: a file next to the database that belongs to another user is reported") {
  if (::geteuid() != 0) {
    WARN("skipped: only root can change the owner of a file");
    return;
  }
  History history;
  history.begin_run();
  history.tick();
  const std::string wal = history.path() + "-wal";
  REQUIRE(::chown(wal.c_str(), 65534, 65534) == 0);
  const auto place = inspect_place(history.path());
  REQUIRE(place);
  CHECK(place->stranger == wal);
  CHECK(place->stranger_owner == "nobody");
}

TEST_CASE("doctor: the file system, the -wal and the -shm are checked") {
  FileLocation place = good_place();
  CHECK(verdict(judge_place(place), "file system") == Verdict::ok);
  place.in_memory = true;
  CHECK(verdict(judge_place(place), "file system") == Verdict::warning);
  place.mounted_read_only = true;
  CHECK(verdict(judge_place(place), "file system") == Verdict::warning);
  place.remote = "NFS";
  CHECK(verdict(judge_place(place), "file system") == Verdict::problem);
  place.stranger = "/var/lib/memoir/memoir.db-wal";
  place.stranger_owner = "root";
  CHECK(verdict(judge_place(place), "owner") == Verdict::problem);
  CHECK(find(judge_place(place), "owner").fix == "chown memoir: /var/lib/memoir/memoir.db-wal");
  place.wal_bytes = kGib;
  CHECK(verdict(judge_place(place), "write-ahead log") == Verdict::warning);
}

TEST_CASE("doctor: free disk space is judged by the file's growth") {
  FileLocation place = good_place();
  const auto judged = [&place](std::optional<std::int64_t> per_day) {
    return verdict({judge_room(place, per_day)}, "disk space");
  };
  CHECK(judged(std::nullopt) == Verdict::ok);
  CHECK(judged(kGib) == Verdict::ok);
  CHECK(judged(10 * kGib) == Verdict::warning);
  place.free_bytes = kGib / 2;
  CHECK(judged(std::nullopt) == Verdict::warning);
  CHECK(judged(kGib / 1024) == Verdict::ok);
  place.free_bytes = kGib / 1024;
  CHECK(judged(1) == Verdict::problem);
  place = good_place();
  place.free_files = 0;
  CHECK(judged(1) == Verdict::problem);
}

TEST_CASE("doctor: a recorder that does not record is a problem, unless it is on another machine") {
  RecorderStatus status = good_status();
  CHECK(verdict(judge(status), "recorder") == Verdict::ok);
  for (const Recording recording : {Recording::late, Recording::stopped, Recording::died, Recording::never}) {
    status.recording = recording;
    CHECK(verdict(judge(status), "recorder") == Verdict::problem);
    if (recording == Recording::never) continue;
    CHECK(verdict(judge(status, false), "recorder") == Verdict::ok);
  }
}

TEST_CASE("doctor: degraded modes of the recorder are reported") {
  RecorderStatus status = good_status();
  CHECK(verdict(judge(status), "reading") == Verdict::ok);
  CHECK(verdict(judge(status), "gaps") == Verdict::ok);
  status.tick->counts.denied = 3;
  CHECK(verdict(judge(status), "reading") == Verdict::ok);
  status.tick->counts.blocked = 1;
  CHECK(verdict(judge(status), "reading") == Verdict::warning);
  status.tick->counts.malformed = 1;
  CHECK(verdict(judge(status), "reading") == Verdict::warning);
  status.degraded.push_back({{}, "degraded", "smaps_rollup is not permitted: give memoird CAP_SYS_PTRACE"});
  CHECK(verdict(judge(status), "degraded") == Verdict::warning);
  CHECK(find(judge(status), "degraded").fix.find("setcap") != std::string::npos);
  status.day->gaps = {{1'000, 5'000, "late"}, {10'000, 70'000, "killed"}};
  CHECK(verdict(judge(status), "gaps") == Verdict::warning);
  CHECK(find(judge(status), "gaps").what.find("2 gaps") == 0);
  CHECK(find(judge(status), "gaps").what.find("1 min") != std::string::npos);
  status.unclean_ends = 1;
  CHECK(verdict(judge(status), "ends") == Verdict::warning);
  status.degraded = {{{}, "degraded", "BPF does not count processes (BPF is not permitted: give memoird CAP_BPF)"}};
  CHECK(find(judge(status), "degraded").fix.find("AmbientCapabilities") != std::string::npos);
  status.degraded = {{{}, "degraded", "The kernel's log is not read (it is restricted: give memoird CAP_SYSLOG)"}};
  CHECK(find(judge(status), "degraded").fix.find("AmbientCapabilities=CAP_SYSLOG") != std::string::npos);
  status.degraded = {
      {{},
       "degraded",
       "/proc hides other users' processes (hidepid): only processes of the recorder's user are recorded."}};
  CHECK(find(judge(status), "degraded").what.ends_with("are recorded"));  // ". To fix: " follows
  CHECK(verdict({judge_pressure(true)}, "pressure") == Verdict::ok);
  CHECK(verdict({judge_pressure(false)}, "pressure") == Verdict::warning);
}

TEST_CASE("doctor and status: the source of the census is shown") {
  RecorderStatus status = good_status();
  CHECK(std::ranges::count(judge(status), "census", &Finding::check) == 0);
  for (const std::string census : {"bpf", "proc"}) {
    status.runs.back().census = census;
    CHECK(verdict(judge(status), "census") == Verdict::ok);
    History history;
    history.begin_run(census);
    history.tick();
    const auto shown = [&](const std::string& format) { return ask(history, {"status", "--format", format}).out; };
    CHECK(shown("table").find(census == "bpf" ? "Census     BPF, " : "Census     /proc, ") != std::string::npos);
    CHECK(nlohmann::json::parse(shown("json"))["census"] == census);
  }
  CHECK(find(judge(status), "census").what.find("two minutes old") != std::string::npos);
}

TEST_CASE("doctor: a healthy recording, and one without a recorder") {
  History history;
  history.begin_run();
  history.machine(1024);
  history.birth(7, {"nginx", "nginx"}, 5000);
  history.tick(30);
  REQUIRE(chmod(history.path().c_str(), 0600) == 0);
  const Outcome sound = doctor(history.path(), history.now_ms());
  CAPTURE(sound.out);
  CHECK(sound.exit == Exit::answered);
  const auto report = nlohmann::json::parse(sound.out);
  CHECK(report["ok"] == true);
  CHECK(report["problem_count"] == 0);
  CHECK(report["rows"].size() >= 8);
  history.end_run();
  const Outcome ended = doctor(history.path(), history.now_ms(), "table");
  // Another machine's recorder is not judged.
  CHECK(ended.exit == Exit::answered);
  CHECK(ended.out.find("not from this machine") != std::string::npos);
}

TEST_CASE("doctor: a missing, foreign, empty or damaged file is a problem with a fix") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/x.db";
  const auto problem = [&path](const std::string& words) {
    const Outcome outcome = doctor(path, 0);
    CAPTURE(outcome.out, words);
    CHECK(outcome.exit == Exit::failed);
    const auto report = nlohmann::json::parse(outcome.out);
    CHECK(report["ok"] == false);
    CHECK(report["rows"][0]["verdict"] == "problem");
    CHECK(report["rows"][0]["what"].get<std::string>().find(words) != std::string::npos);
  };
  problem("there is no file");
  std::ofstream(path) << "";
  problem("is empty");
  std::ofstream(path) << std::string(5000, 'x');
  problem("is not a Memoir database");

  History history;
  history.begin_run();
  history.birth(7, {"nginx", "nginx"}, 5000);
  history.tick(60);
  history.end_run();
  std::string bytes = test::slurp(history.path());
  constexpr std::size_t page = 2048;
  REQUIRE(bytes.size() > 20 * page);
  // Damages every page except those that identify the file.
  for (std::size_t at = 12 * page; at < bytes.size(); at += page) bytes.replace(at, 8, 8, '\xff');
  std::ofstream(path, std::ios::binary) << bytes;
  problem("damaged");
}

}  // namespace doctor_test
