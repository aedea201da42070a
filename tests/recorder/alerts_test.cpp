// Alerts: the real memoird runs the configured program, which never blocks it. The pressure comes from a fake /proc.
// memoir is the real one or a script of the test.

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <sys/stat.h>

#include "daemon_process.h"
#include "store/events.h"
#include "store/reader.h"
#include "support/catch.h"
#include "support/fake_proc.h"
#include "support/temporary_directory.h"

using namespace memoir;
using namespace memoir::test;

namespace {

struct Pressed {
  Pressed() { proc.add({.pid = 10, .arguments = {"app"}, .memory = memory_of(1000)}); }

  std::string file(const std::string& name) const { return directory.path() + "/" + name; }
  // A shell script that has its own path in `$0`.
  std::string script(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(file(name)).parent_path());
    write_text(file(name), "#!/bin/sh\n" + text);
    ::chmod(file(name).c_str(), 0755);
    return file(name);
  }
  void configure(const std::string& exec, const std::string& more = "") const {
    // Disables the alerts that the machine's own tmpfs mounts and leaks could cause.
    write_text(file("memoir.toml"), "[alert]\nexec = ['" + exec + "', 'an argument']\n" +
                                        "limit = 'off'\ntmpfs = 'off'\nswap = 'off'\nconfirmed = false\n" + more);
  }
  std::map<std::string, std::string> path(const std::string& first) const {
    return {{"PATH", first + ":/usr/bin:/bin"}};
  }
  std::vector<std::string> arguments(const std::string& interval = "1h") const {
    return {"--interval", interval, "--proc", proc.root(), "--config", file("memoir.toml"), "--db", file("memoir.db")};
  }
  void press(const DaemonProcess& memoird) {
    wait_until("a tick", [&] { return ticks() > 0; });
    proc.write(SystemFile::pressure_memory,
               "some avg10=0.00 avg60=50.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
    memoird.signal(SIGUSR1);
  }
  std::vector<std::string> events(const std::string& kind) const {
    std::vector<std::string> texts;
    auto reader = Reader::open(file("memoir.db"));
    if (!reader) return texts;
    const auto events = load_events(**reader, {.from_ms = 0, .to_ms = std::int64_t{1} << 50});
    for (const Event& event : events.ok() ? *events : std::vector<Event>()) {
      if (event.kind == kind) texts.push_back(event.text);
    }
    return texts;
  }
  std::vector<std::string> alerts() const { return events("alert"); }
  std::size_t ticks() const {
    auto reader = Reader::open(file("memoir.db"));
    if (!reader) return 0;
    const auto stored = (*reader)->ticks({.from_ms = 0, .to_ms = std::int64_t{1} << 50});
    return stored.ok() ? stored->size() : 0;
  }
  // Returns true if no process is running with a pid in this file, which has one pid per line.
  bool all_gone(const std::string& name) const {
    std::istringstream lines(read_text(file(name)));
    for (pid_t pid = 0; lines >> pid;) {
      if (::kill(pid, 0) == 0 && read_text("/proc/" + std::to_string(pid) + "/stat").find(") Z ") == std::string::npos)
        return false;
    }
    return true;
  }

  TemporaryDirectory directory;
  FakeProc proc;
};

const std::string kMemoirFolder = std::filesystem::path(MEMOIR).parent_path();
const std::string kPressure = "Tasks waited for memory 50% of the last minute. ";

void stop_well(DaemonProcess& memoird) {
  memoird.signal(SIGTERM);
  CHECK(memoird.wait() == 0);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("alerts: the program gets the incident as JSON and nothing else of the recorder, at most once per interval") {
  Pressed machine;
  const std::string program = machine.script(
      "alert.sh",
      "cd \"${0%/*}\"\ncat > in.json\necho \"$*\" >> runs\n"
      "env > env\nsleep 0.2\nulimit -Sn > files\nls /proc/self/fd > fds\ncat /proc/self/status > status\n"
      "echo on-standard-error >&2\n");
  machine.configure(program);
  DaemonProcess memoird(machine.directory.path(), machine.arguments(), machine.path(kMemoirFolder));
  machine.press(memoird);
  wait_until("the alert", [&] { return !machine.alerts().empty(); });
  for (int i = 0; i < 3; ++i) {
    const std::size_t before = machine.ticks();
    memoird.signal(SIGUSR1);
    wait_until("a further tick", [&] { return machine.ticks() > before; });
  }
  stop_well(memoird);
  REQUIRE(machine.alerts().size() == 1);
  CHECK(machine.alerts()[0].starts_with(kPressure + program + ": exit status 0 after "));
  CHECK(read_text(machine.file("runs")) == "an argument\n");
  const std::string json = read_text(machine.file("in.json"));
  INFO(json);
  CHECK(json.starts_with("{"));
  CHECK(has(json, "\"moment\""));
  const std::string environment = "\n" + read_text(machine.file("env"));
  CHECK(has(environment, "\nMEMOIR_ALERT=pressure\n"));
  CHECK(has(environment, "\nMEMOIR_ALERT_TEXT=Tasks waited "));
  CHECK(has(environment, "\nMEMOIR_ALERT_AT=1"));
  CHECK(has(environment, "\nMEMOIR_DATA_MIB=120\n"));
  CHECK_FALSE(has(environment, "\nNOTIFY_SOCKET="));
  CHECK(std::stoi(read_text(machine.file("files"))) <= 1024);
  // Descriptor 3 is the folder that ls lists.
  std::istringstream fds(read_text(machine.file("fds")));
  for (int fd = 0; fds >> fd;) {
    CAPTURE(fd);
    CHECK(fd <= 3);
  }
  const std::string status = read_text(machine.file("status"));
  CHECK(has(status, "SigBlk:\t0000000000000000\n"));
  // No signal is ignored, except the two that glibc reserves.
  CHECK((has(status, "SigIgn:\t0000000000000000\n") || has(status, "SigIgn:\t0000000180000000\n")));
  CHECK(has(status, "CapInh:\t0000000000000000\n"));
  CHECK(has(status, "CapAmb:\t0000000000000000\n"));
  CHECK(has(memoird.log(), "on-standard-error"));
  CHECK(has(memoird.log(), "alert: Tasks waited "));
}

TEST_CASE("alerts: a program that hangs is killed with its children, and ticks continue during this") {
  Pressed machine;
  machine.configure(
      machine.script("hang.sh",
                     "trap '' TERM\necho $$ >> ${0%/*}/pids\nsleep 1000 &\necho $! >> ${0%/*}/pids\nwait\nwait\n"),
      "timeout = '500ms'\n");
  DaemonProcess memoird(machine.directory.path(), machine.arguments("100ms"), machine.path(kMemoirFolder));
  machine.press(memoird);
  wait_until("the start of the program", [&] { return !read_text(machine.file("pids")).empty(); });
  const std::size_t before = machine.ticks();
  wait_until("its end", [&] { return !machine.alerts().empty(); });
  CHECK(machine.ticks() >= before + 5);
  CHECK(has(machine.alerts()[0], " took too long: killed after "));
  wait_until("the exit of its children", [&] { return machine.all_gone("pids"); });
  stop_well(memoird);
}

TEST_CASE("alerts: a running program is stopped with the recorder, with an event") {
  Pressed machine;
  machine.configure(machine.script("hang.sh", "echo $$ >> ${0%/*}/pids\nexec sleep 1000\n"));
  DaemonProcess memoird(machine.directory.path(), machine.arguments(), machine.path(kMemoirFolder));
  machine.press(memoird);
  wait_until("the start of the program", [&] { return !read_text(machine.file("pids")).empty(); });
  stop_well(memoird);
  CHECK(machine.all_gone("pids"));
  REQUIRE(machine.alerts().size() == 1);
  CHECK(has(machine.alerts()[0], " was running when the recorder stopped: killed after "));
}

TEST_CASE("alerts: a missing program is reported at the start and at each alert") {
  Pressed machine;
  machine.configure("/nonexistent/alert");
  DaemonProcess memoird(machine.directory.path(), machine.arguments(), machine.path(kMemoirFolder));
  machine.press(memoird);
  wait_until("the alert", [&] { return !machine.alerts().empty(); });
  stop_well(memoird);
  CHECK(machine.alerts()[0] ==
        kPressure + "The alert command could not be run: cannot run /nonexistent/alert: No such file or directory");
  const auto degraded = machine.events("degraded");
  CHECK(std::any_of(degraded.begin(), degraded.end(), [](const std::string& text) {
    return has(text, "/nonexistent/alert") && has(text, "no alerts are sent; see exec in [alert]");
  }));
}

TEST_CASE("alerts: without memoir the program runs with empty input") {
  Pressed machine;
  machine.configure(machine.script("alert.sh", "/bin/cat > ${0%/*}/in.json\n"));
  DaemonProcess memoird(machine.directory.path(), machine.arguments(), {{"PATH", "/nonexistent"}});
  machine.press(memoird);
  wait_until("the alert", [&] { return !machine.alerts().empty(); });
  stop_well(memoird);
  CHECK(machine.alerts()[0].ends_with("; memoir was not found"));
  CHECK(std::filesystem::is_empty(machine.file("in.json")));
  const auto degraded = machine.events("degraded");
  CHECK(std::any_of(degraded.begin(), degraded.end(), [](const std::string& text) {
    return has(text, "memoir was not found next to memoird or on PATH");
  }));
}

TEST_CASE("alerts: the program's exit status is recorded, and it need not read its input") {
  Pressed machine;
  machine.configure(machine.script("alert.sh", "exit 3\n"), "every = '1s'\n");
  machine.script("bin/memoir", "exec head -c 1000000 /dev/zero\n");
  DaemonProcess memoird(machine.directory.path(), machine.arguments("200ms"), machine.path(machine.file("bin")));
  machine.press(memoird);
  wait_until("two alerts", [&] { return machine.alerts().size() >= 2; });
  stop_well(memoird);
  CHECK(has(machine.alerts()[0], "alert.sh: exit status 3 after "));
  CHECK_FALSE(has(machine.alerts()[0], "memoir incident"));
}

TEST_CASE("alerts: the recorder's parent may have disabled SIGCHLD") {
  Pressed machine;
  machine.configure(machine.script("alert.sh", "exit 3\n"));
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  DaemonProcess memoird(machine.directory.path(), machine.arguments(), machine.path(kMemoirFolder));
  std::signal(SIGCHLD, before);
  machine.press(memoird);
  wait_until("the alert", [&] { return !machine.alerts().empty(); });
  stop_well(memoird);
  CHECK(has(machine.alerts()[0], "alert.sh: exit status 3 after "));
}

TEST_CASE("alerts: a memoir that fails is reported") {
  Pressed machine;
  machine.configure("/bin/cat");
  machine.script("bin/memoir", "exit 4\n");
  DaemonProcess memoird(machine.directory.path(), machine.arguments(), machine.path(machine.file("bin")));
  machine.press(memoird);
  wait_until("the alert", [&] { return !machine.alerts().empty(); });
  stop_well(memoird);
  CHECK(machine.alerts()[0].ends_with("; memoir incident: exit status 4"));
}

TEST_CASE("alerts: a reloaded configuration takes effect at once") {
  Pressed machine;
  write_text(machine.file("memoir.toml"), "");
  DaemonProcess memoird(machine.directory.path(), machine.arguments(), machine.path(kMemoirFolder));
  machine.press(memoird);
  wait_until("a further tick", [&] { return machine.ticks() >= 2; });
  machine.configure("/bin/true");
  memoird.signal(SIGHUP);
  memoird.wait_for_log("reloaded");
  CHECK(machine.alerts().empty());
  memoird.signal(SIGUSR1);
  wait_until("the alert", [&] { return !machine.alerts().empty(); });
  machine.configure("/nonexistent/alert");
  memoird.signal(SIGHUP);
  memoird.wait_for_log("no alerts are sent");
  stop_well(memoird);
  CHECK(has(machine.alerts()[0], "/bin/true: exit status 0 after "));
}

TEST_CASE("alerts: forecasts of memoir leaks cause one per interval, and failures of memoir leaks block nothing") {
  Pressed machine;
  machine.configure(machine.script("alert.sh", "cat > ${0%/*}/in.json\necho $MEMOIR_ALERT >> ${0%/*}/runs\n"),
                    "[leaks]\nhour = '1s'\n");
  machine.script(
      "bin/memoir",
      "echo \"$* $MEMOIR_DATA_MIB\" >> ${0%/*}/../asked\nif [ $1 = leaks ]; then cat ${0%/*}/../leaks; fi\n");
  DaemonProcess memoird(machine.directory.path(), machine.arguments("200ms"), machine.path(machine.file("bin")));
  memoird.wait_for_log("cannot check for leaks: memoir leaks: exit status 1");
  write_text(machine.file("leaks"), R"({"rows": [{"subject": "a", "title": "a", "metric": "anon+swap", "leak": true,
    "limit": "memory.max of /a", "runs_out_in_ms": 7200000, "confidence": 80}]})");
  wait_until("the alert", [&] { return !machine.alerts().empty(); });
  const auto asked = [&] {
    const std::string lines = read_text(machine.file("asked"));
    return std::count(lines.begin(), lines.end(), '\n');
  };
  const auto before = asked();
  wait_until("two further looks", [&] { return asked() >= before + 2; });
  stop_well(memoird);
  CHECK(read_text(machine.file("runs")) == "leak\n");
  REQUIRE(machine.alerts().size() == 1);
  CHECK(machine.alerts()[0].starts_with("a leaks and will exhaust memory.max of /a within 2 h "));
  CHECK(has(read_text(machine.file("asked")), "leaks --limit 50 --db " + machine.file("memoir.db") +
                                                  " --format json --config " + machine.file("memoir.toml") + " 120\n"));
}
