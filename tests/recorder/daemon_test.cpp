#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "daemon_process.h"
#include "store/events.h"
#include "store/reader.h"
#include "support/catch.h"
#include "support/fake_proc.h"
#include "support/slurp.h"
#include "support/temporary_directory.h"

using namespace memoir;
using namespace memoir::test;

namespace {

constexpr Range kAlways{.from_ms = 0, .to_ms = std::int64_t{1} << 50};

struct Fixture {
  std::vector<std::string> arguments(std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"--config", config, "--db", db});
    return more;
  }
  std::unique_ptr<Reader> reader() const {
    auto opened = Reader::open(db);
    if (!opened) throw std::runtime_error(opened.error().message);
    return *std::move(opened);
  }
  std::vector<StoredTick> ticks() const { return *reader()->ticks(kAlways); }
  std::vector<StoredRun> runs() const { return *reader()->runs(); }
  // Returns the events of one kind.
  std::vector<Event> events(const std::string& kind) const {
    std::vector<Event> all = *load_events(*reader(), kAlways);
    std::erase_if(all, [&kind](const Event& event) { return event.kind != kind; });
    return all;
  }
  void wait_for_ticks(std::size_t count) const {
    wait_until(std::to_string(count) + " ticks", [&] {
      auto opened = Reader::open(db);
      if (!opened) return false;
      const auto stored = (*opened)->ticks(kAlways);
      return stored.ok() && stored->size() >= count;
    });
  }

  TemporaryDirectory directory;
  const std::string db = directory.path() + "/memoir.db";
  const std::string config = directory.path() + "/memoir.toml";
  Fixture() { write_text(config, ""); }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "Flag --once takes one tick and exits") {
  DaemonProcess memoird(directory.path(), arguments({"--once"}));
  CHECK(memoird.wait() == 0);
  REQUIRE(ticks().size() == 1);
  CHECK(ticks()[0].keyframe);
  REQUIRE(runs().size() == 1);
  CHECK(runs()[0].stop_reason == "once");
  const auto snapshot = reader()->snapshot(ticks()[0].id);
  REQUIRE(snapshot);
  CHECK(std::any_of(snapshot->processes.begin(), snapshot->processes.end(),
                    [](const ProcessState& state) { return state.sample.key.pid == getpid(); }));
}

TEST_CASE_METHOD(Fixture, "Flag --duration records for that time, at every slot, and ends with a keyframe") {
  DaemonProcess memoird(directory.path(), arguments({"--duration", "1s", "--interval", "100ms"}));
  CHECK(memoird.wait() == 0);
  const std::vector<StoredTick> stored = ticks();
  REQUIRE(stored.size() >= 3);
  CHECK(stored.front().keyframe);
  CHECK(stored.back().keyframe);
  std::int64_t slots = 0;
  for (std::size_t i = 1; i + 1 < stored.size(); ++i) {
    CHECK_FALSE(stored[i].keyframe);
    slots += 1 + stored[i].skipped;
  }
  // Each slot was used or counted as missed. The first tick precedes its slot by up to 100 ms; on a loaded machine the
  // last one may be up to 1 s late.
  const std::int64_t elapsed_ms = stored[stored.size() - 2].begin.wall_ms - stored.front().begin.wall_ms;
  CHECK(slots * 100 <= elapsed_ms + 100);
  CHECK(slots * 100 + 1'000 >= elapsed_ms);
  CHECK(runs()[0].stop_reason == "duration");
  CHECK(runs()[0].interval_ms == 100);
}

TEST_CASE_METHOD(Fixture, "TERM and INT take a last tick and close the run") {
  const int signal = GENERATE(SIGTERM, SIGINT);
  DaemonProcess memoird(directory.path(), arguments({"--interval", "1h"}));
  wait_for_ticks(1);
  memoird.signal(signal);
  CHECK(memoird.wait() == 0);
  REQUIRE(ticks().size() == 2);
  CHECK(ticks()[1].keyframe);
  CHECK(runs()[0].stop_reason == "stopped");
  CHECK(runs()[0].stopped_ms);
  CHECK(reader()->info()->recorder_pid == std::nullopt);
}

TEST_CASE_METHOD(Fixture, "USR1 takes a tick now") {
  DaemonProcess memoird(directory.path(), arguments({"--interval", "1h"}));
  wait_for_ticks(1);
  memoird.signal(SIGUSR1);
  wait_for_ticks(2);
  CHECK_FALSE(ticks()[1].keyframe);
  memoird.signal(SIGUSR1);
  wait_for_ticks(3);
}

TEST_CASE_METHOD(Fixture, "HUP with a changed interval starts a new run") {
  write_text(config, "[recorder]\ninterval = '1h'\n");
  DaemonProcess memoird(directory.path(), arguments());
  wait_for_ticks(1);
  write_text(config, "[recorder]\ninterval = '100ms'\nqueue_ticks = 7\n");
  memoird.signal(SIGHUP);
  memoird.wait_for_log("reloaded: every 100ms");
  wait_for_ticks(6);
  memoird.signal(SIGTERM);
  CHECK(memoird.wait() == 0);
  REQUIRE(runs().size() == 2);
  std::vector<StoredRun> all = runs();
  std::sort(all.begin(), all.end(), [](const StoredRun& a, const StoredRun& b) { return a.id < b.id; });
  CHECK(all[0].stop_reason == "reload");
  CHECK(all[1].interval_ms == 100);
  CHECK(all[1].stop_reason == "stopped");
  REQUIRE(events("reload").size() == 1);
  CHECK_THAT(events("reload")[0].text,
             ContainsSubstring("100ms") && ContainsSubstring("a restart is needed for queue_ticks"));
  CHECK(events("unclean").empty());
}

TEST_CASE_METHOD(Fixture, "HUP with changed rules starts a new run with them") {
  DaemonProcess memoird(directory.path(), arguments({"--interval", "1h"}));
  wait_for_ticks(1);
  write_text(config, "[categories]\ndefaults = false\n[[category]]\nname = 'everything'\ncommand = '.'\n");
  memoird.signal(SIGHUP);
  wait_for_ticks(3);
  memoird.signal(SIGTERM);
  CHECK(memoird.wait() == 0);
  CHECK(runs().size() == 2);
  const auto snapshot = reader()->snapshot(ticks().back().id);
  REQUIRE(snapshot);
  CHECK(std::any_of(snapshot->categories.begin(), snapshot->categories.end(),
                    [](const CategorySample& sample) { return sample.category == "everything"; }));
}

TEST_CASE_METHOD(Fixture, "HUP with another retention starts a new run with it") {
  DaemonProcess memoird(directory.path(), arguments({"--interval", "1h"}));
  wait_for_ticks(1);
  write_text(config, "[store]\nraw = '2d'\ndays = '3650d'\nmax_size = '64MiB'\n");
  memoird.signal(SIGHUP);
  wait_for_ticks(3);
  memoird.signal(SIGTERM);
  CHECK(memoird.wait() == 0);
  CHECK(runs().size() == 2);
  REQUIRE(events("reload").size() == 1);
  CHECK_THAT(events("reload")[0].text,
             ContainsSubstring("keeps ticks 2d, 5 minutes 60d, hours 400d, days 3650d, in at most 64MiB"));
}

TEST_CASE_METHOD(Fixture, "HUP with a larger max_size gives users a larger budget of command lines") {
  FakeProc proc;
  const auto add = [&](std::int32_t first) {
    for (std::int32_t pid = first; pid < first + 60; ++pid) {
      proc.add({.pid = pid, .uid = 4242, .arguments = {"app", std::to_string(pid), std::string(4000, 'x')}});
    }
  };
  const auto left_out = [&] {
    const auto snapshot = reader()->snapshot(ticks().back().id);
    REQUIRE(snapshot);
    return std::count_if(snapshot->processes.begin(), snapshot->processes.end(), [](const ProcessState& state) {
      return state.process.info.command.find("[left out") != std::string::npos;
    });
  };
  write_text(config, "[store]\nmax_size = '16MiB'\n");
  add(100);
  DaemonProcess memoird(directory.path(), arguments({"--interval", "1h", "--proc", proc.root()}));
  wait_for_ticks(1);
  const auto before = left_out();
  CHECK(before > 20);
  write_text(config, "[store]\nmax_size = '256MiB'\n");
  memoird.signal(SIGHUP);
  wait_for_ticks(3);
  add(200);
  memoird.signal(SIGUSR1);
  wait_for_ticks(4);
  CHECK(left_out() == before);
}

TEST_CASE_METHOD(Fixture, "HUP with a bad file keeps the old configuration and reports it") {
  DaemonProcess memoird(directory.path(), arguments({"--interval", "1h"}));
  wait_for_ticks(1);
  write_text(config, "[recorder]\n\nlog_level = 'loud'\n");
  memoird.signal(SIGHUP);
  memoird.wait_for_log(config + ":3: log_level in [recorder] must be one of");
  memoird.signal(SIGUSR1);
  wait_for_ticks(2);
  REQUIRE(events("reload").size() == 1);
  CHECK_THAT(events("reload")[0].text, ContainsSubstring(config + ":3:"));
  CHECK(runs().size() == 1);
  memoird.signal(SIGTERM);
  CHECK(memoird.wait() == 0);
}

TEST_CASE_METHOD(Fixture, "HUP without a change continues the run") {
  DaemonProcess memoird(directory.path(), arguments({"--interval", "1h"}));
  wait_for_ticks(1);
  write_text(config, "# only a comment\n[recorder]\nlog_level = 'debug'\n");
  memoird.signal(SIGHUP);
  memoird.wait_for_log("no change needs a new run");
  memoird.signal(SIGTERM);
  CHECK(memoird.wait() == 0);
  CHECK(runs().size() == 1);
}

TEST_CASE_METHOD(Fixture, "a second recorder on the same file is refused with the pid of the first") {
  DaemonProcess first(directory.path(), arguments({"--interval", "1h"}));
  wait_for_ticks(1);
  DaemonProcess second(directory.path(), arguments({"--once"}));
  CHECK(second.wait() == 1);
  CHECK_THAT(second.log(), ContainsSubstring(std::to_string(first.pid())));
  first.signal(SIGTERM);
  CHECK(first.wait() == 0);
  DaemonProcess third(directory.path(), arguments({"--once"}));
  CHECK(third.wait() == 0);
  CHECK(runs().size() == 2);
}

TEST_CASE_METHOD(Fixture, "a missing folder of the database is reported") {
  DaemonProcess memoird(directory.path(), {"--config", config, "--once", "--db", directory.path() + "/none/memoir.db"});
  CHECK(memoird.wait() == 1);
  CHECK_THAT(memoird.log(), ContainsSubstring(directory.path() + "/none") && ContainsSubstring("does not exist"));
}

TEST_CASE_METHOD(Fixture, "without /proc memoird prints an error and records nothing") {
  DaemonProcess memoird(directory.path(), arguments({"--once", "--proc", directory.path() + "/none"}));
  CHECK(memoird.wait() == 1);
  CHECK_THAT(memoird.log(), ContainsSubstring(directory.path() + "/none"));
}

TEST_CASE_METHOD(Fixture, "odd kernel files affect no other files, and are counted by kind") {
  FakeProc proc;
  proc.add({.pid = 10, .arguments = {"worker"}, .memory = memory_of(1000)});
  proc.write(SystemFile::boot_id, "none\n");
  proc.write(SystemFile::meminfo, "MemTotal: 8192 kB\nMemFree: -1 kB\nMemAvailable: 4096 kB\n");
  DaemonProcess memoird(directory.path(),
                        arguments({"--duration", "1s", "--interval", "500ms", "--proc", proc.root()}));
  CHECK(memoird.wait() == 0);
  const auto snapshot = reader()->snapshot(ticks().back().id);
  REQUIRE(snapshot);
  CHECK(snapshot->processes.size() == 1);
  CHECK(snapshot->machine.memory.get(MachineField::mem_available) == 4096);
  CHECK_FALSE(snapshot->machine.memory.has(MachineField::mem_free));
  const auto odd = load_odd_lines(*reader(), {0, ticks().back().begin.wall_ms});
  REQUIRE(odd);
  REQUIRE(odd->size() == 1);
  CHECK(odd->front().odd == OddLine{"meminfo", "MemFree", "cannot understand \"MemFree: -1 kB\"", std::ssize(ticks())});
  CHECK(odd->front().last_ms == ticks().back().begin.wall_ms);
  CHECK_THAT(memoird.log(), ContainsSubstring("The boot id is unreadable"));
}

TEST_CASE_METHOD(Fixture, "every log line has the recorder's current memory usage") {
  DaemonProcess memoird(directory.path(), arguments({"--once"}));
  CHECK(memoird.wait() == 0);
  const std::string log = memoird.log();
  REQUIRE(std::count(log.begin(), log.end(), '\n') >= 2);
  const std::regex line(
      R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \w+: .* \[rss [\d.]+M, heap [\d.]+M = ready [\d.]+M \+ prepared [\d.]+M; ready = data [\d.]+M \+ fragmentation [\d.]+M \+ idle [\d.]+M\])");
  std::istringstream lines(log);
  for (std::string text; std::getline(lines, text);) {
    INFO(text);
    CHECK(std::regex_match(text, line));
  }
}

namespace {

// The socket on which systemd would listen.
class Manager {
 public:
  explicit Manager(const std::string& directory) : address(directory + "/notify") {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path, address.data(), address.size());
    REQUIRE(bind(socket_.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
  }

  // Waits for a message with this text, and drops all output up to its end.
  void hear(const std::string& text) {
    std::string heard;
    wait_until(text, [&] {
      std::array<char, 512> message{};
      const ssize_t size = recv(socket_.get(), message.data(), message.size(), MSG_DONTWAIT);
      if (size > 0) heard.append(message.data(), static_cast<std::size_t>(size)).append("\n");
      return heard.find(text) != std::string::npos;
    });
  }

  // Waits until no message arrived for this time.
  void wait_for_silence(std::chrono::milliseconds time) {
    auto last = std::chrono::steady_clock::now();
    wait_until("silence", [&] {
      std::array<char, 512> message{};
      while (recv(socket_.get(), message.data(), message.size(), MSG_DONTWAIT) > 0) {
        last = std::chrono::steady_clock::now();
      }
      return std::chrono::steady_clock::now() - last >= time;
    });
  }

  const std::string address;

 private:
  const Fd socket_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
};

}  // namespace

TEST_CASE_METHOD(Fixture, "the service manager receives the state") {
  Manager manager(directory.path());
  DaemonProcess memoird(directory.path(), arguments({"--interval", "1h"}),
                        {{"NOTIFY_SOCKET", manager.address}, {"WATCHDOG_USEC", "50000"}});
  manager.hear("READY=1");
  CHECK(ticks().size() == 1);
  manager.hear("WATCHDOG=1");
  manager.hear("WATCHDOG=1");
  memoird.signal(SIGHUP);
  manager.hear("RELOADING=1\nMONOTONIC_USEC=");
  manager.hear("READY=1");
  memoird.signal(SIGTERM);
  manager.hear("STOPPING=1");
  CHECK(memoird.wait() == 0);
}

TEST_CASE_METHOD(Fixture, "no watchdog message is sent while storing hangs") {
  using namespace std::chrono_literals;
  Manager manager(directory.path());
  DaemonProcess memoird(directory.path(), arguments({"--interval", "1h"}),
                        {{"NOTIFY_SOCKET", manager.address}, {"WATCHDOG_USEC", "100000"}});
  manager.hear("READY=1");
  manager.hear("WATCHDOG=1");
  {
    // This lock makes the writer wait for seconds, repeatedly.
    SQLite::Database other(db, SQLite::OPEN_READWRITE, 60'000);
    other.exec("BEGIN IMMEDIATE");
    memoird.signal(SIGUSR1);
    manager.wait_for_silence(2s);
  }
  manager.hear("WATCHDOG=1");
  memoird.signal(SIGTERM);
  CHECK(memoird.wait() == 0);
}

TEST_CASE_METHOD(Fixture, "a run has keyframes besides the first and the last tick") {
  DaemonProcess memoird(directory.path(), arguments({"--interval", "100ms", "--keyframe-every-ms", "1000"}));
  const auto middle = [&](bool keyframe) {
    const std::vector<StoredTick> stored = ticks();
    return stored.size() > 2 && std::any_of(stored.begin() + 1, stored.end() - 1,
                                            [&](const StoredTick& tick) { return tick.keyframe == keyframe; });
  };
  wait_for_ticks(3);
  wait_until("a keyframe and another tick in the middle", [&] { return middle(true) && middle(false); });
  memoird.signal(SIGTERM);
  CHECK(memoird.wait() == 0);
}

TEST_CASE_METHOD(Fixture, "a log without a reader does not stop memoird") {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  close(ends[0]);
  DaemonProcess memoird(directory.path(), arguments({"--once"}), {}, ends[1]);
  close(ends[1]);
  CHECK(memoird.wait() == 0);
  CHECK(ticks().size() == 1);
}

TEST_CASE_METHOD(Fixture, "a slow tick is not taken for a suspension of the machine") {
  write_text(config, "[recorder]\nread_deadline = '1500ms'\n");
  FakeProc proc;
  proc.add({.pid = 10, .arguments = {"slow"}, .memory = memory_of(1000)});
  proc.block(10, PidFile::smaps_rollup);
  DaemonProcess memoird(directory.path(), arguments({"--interval", "1h", "--proc", proc.root()}));
  wait_for_ticks(1);
  // The blocked process is skipped in this tick, which costs nothing.
  memoird.signal(SIGUSR1);
  wait_for_ticks(2);
  memoird.signal(SIGTERM);
  CHECK(memoird.wait() == 0);
  const std::vector<StoredTick> stored = ticks();
  REQUIRE(stored.size() == 3);
  CHECK(stored[0].end.boot_ms - stored[0].begin.boot_ms >= 1500);
  CHECK(events("suspend").empty());
}

TEST_CASE_METHOD(Fixture, "a user whose processes cannot be read is named, and all other processes are read") {
  write_text(config, "[recorder]\nread_deadline = '50ms'\n");
  FakeProc proc;
  for (std::int32_t pid = 10; pid < 30; ++pid) {
    proc.add({.pid = pid, .uid = 4242, .arguments = {"slow"}, .memory = memory_of(1000)});
    proc.block(pid, PidFile::smaps_rollup);
  }
  proc.add({.pid = 40, .arguments = {"other"}, .memory = memory_of(1000)});
  DaemonProcess memoird(directory.path(), arguments({"--interval", "1h", "--proc", proc.root()}));
  for (std::size_t count = 1; count <= 3; ++count) {
    wait_for_ticks(count);
    memoird.signal(SIGUSR1);
  }
  memoird.signal(SIGTERM);
  CHECK(memoird.wait() == 0);
  std::vector<Event> named = events("degraded");
  std::erase_if(named, [](const Event& event) { return event.text.find("uid 4242") == std::string::npos; });
  REQUIRE(named.size() == 1);
  CHECK_THAT(named[0].text, ContainsSubstring("20 of them"));
  for (const StoredTick& tick : ticks()) {
    const auto snapshot = reader()->snapshot(tick.id);
    REQUIRE(snapshot);
    for (const ProcessState& state : snapshot->processes) {
      const bool other = state.sample.key.pid == 40;
      CHECK((other ? is_known(state.sample.source) : state.sample.source == Source::approximate));
    }
  }
}

namespace {

// Starts a child that maps 256 MiB 32 times, touches all pages, and idles.
pid_t map_many_times(int fd) {
  constexpr std::size_t bytes = std::size_t{256} << 20U;
  std::array<int, 2> ready{};
  REQUIRE(pipe(ready.data()) == 0);
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < 32; ++i) {
      void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
      if (at == MAP_FAILED) _exit(1);
      madvise(at, bytes, MADV_NOHUGEPAGE);
      for (std::size_t page = 0; page < bytes; page += 4096) static_cast<volatile char*>(at)[page] = 1;
    }
    close(ready[1]);
    for (;;) pause();
  }
  close(ready[1]);
  char nothing = 0;
  static_cast<void>(read(ready[0], &nothing, 1));
  close(ready[0]);
  return pid;
}

}  // namespace

TEST_CASE_METHOD(Fixture, "processes with huge page tables use no more memory than the machine has") {
  write_text(config, "[recorder]\nread_deadline = '20ms'\n");
  const Fd memory(memfd_create("many", MFD_CLOEXEC));
  REQUIRE(ftruncate(memory.get(), off_t{256} << 20U) == 0);
  const std::array<pid_t, 2> children{map_many_times(memory.get()), map_many_times(memory.get())};
  DaemonProcess memoird(directory.path(), arguments({"--once"}));
  CHECK(memoird.wait() == 0);
  for (const pid_t child : children) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  const auto snapshot = reader()->snapshot(ticks()[0].id);
  REQUIRE(snapshot);
  std::int64_t pss_kib = 0;
  std::size_t found = 0;
  for (const ProcessState& state : snapshot->processes) {
    const ProcessMemory& held = state.sample.memory;
    pss_kib += held.or_zero(ProcessField::pss);
    if (std::find(children.begin(), children.end(), state.sample.key.pid) == children.end()) continue;
    ++found;
    CHECK(state.sample.source == Source::approximate);
    CHECK(held.or_zero(ProcessField::rss) >= std::int64_t{8} << 20U);
    // The child's unshared memory, plus at most the machine's mapped memory for the shared part.
    const std::int64_t max_kib =
        snapshot->machine.memory.or_zero(MachineField::mapped) + held.or_zero(ProcessField::rss_anon);
    CHECK(held.or_zero(ProcessField::pss) <= max_kib + 10'000);
  }
  CHECK(found == 2);
  CHECK(pss_kib <= snapshot->machine.memory.or_zero(MachineField::mem_total));
  CHECK_FALSE(events("degraded").empty());
}

namespace {

// Limits the size of files that memoird can write to `bytes`. This is a full disk for SQLite, but not for the log.
void limit_files(pid_t pid, rlim_t bytes) {
  const rlimit limit{.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};
  REQUIRE(prlimit(pid, RLIMIT_FSIZE, &limit, nullptr) == 0);
}

}  // namespace

TEST_CASE_METHOD(Fixture,
                 "with a disk that is full from the start, memoird becomes ready and records once there is space") {
  FakeProc proc;
  for (std::int32_t pid = 1; pid <= 200; ++pid) {
    proc.add({.pid = pid, .arguments = {"worker", std::to_string(pid)}, .memory = memory_of(1000 + pid)});
  }
  const bool unclean = GENERATE(false, true);
  if (unclean) {
    DaemonProcess first(directory.path(), arguments({"--interval", "1h", "--proc", proc.root()}));
    wait_for_ticks(1);
    first.signal(SIGKILL);
    CHECK(first.wait() == -SIGKILL);
  } else {
    DaemonProcess first(directory.path(), arguments({"--once", "--proc", proc.root()}));
    CHECK(first.wait() == 0);
  }
  Manager manager(directory.path());
  // This is enough for SQLite's index of the WAL, but not for a keyframe, which has a row per process.
  limit_files(getpid(), 34 * 1024);
  DaemonProcess memoird(directory.path(), arguments({"--interval", "1h", "--proc", proc.root()}),
                        {{"NOTIFY_SOCKET", manager.address}});
  limit_files(getpid(), RLIM_INFINITY);
  memoird.wait_for_log("cannot store");
  manager.hear("READY=1");
  CHECK(ticks().size() == 1);
  limit_files(memoird.pid(), RLIM_INFINITY);
  memoird.signal(SIGTERM);
  CHECK(memoird.wait() == 0);
  CHECK(ticks().size() == 3);
  CHECK(events("unclean").size() == (unclean ? 1 : 0));
}

TEST_CASE_METHOD(Fixture, "a recorder after one that was killed reports the cause that systemd noted") {
  FakeProc proc;
  proc.add({.pid = 1, .arguments = {"init"}, .memory = memory_of(1000)});
  std::ofstream(directory.path() + "/last-end") << "signal killed KILL oom_kill 1\n";
  DaemonProcess memoird(directory.path(), arguments({"--interval", "1h", "--proc", proc.root()}));
  wait_for_ticks(1);
  memoird.signal(SIGTERM);
  CHECK(memoird.wait() == 0);
  REQUIRE(events("unclean").size() == 1);
  CHECK(events("unclean")[0].text.starts_with("The OOM killer killed the previous recorder"));
  CHECK_FALSE(std::filesystem::exists(directory.path() + "/last-end"));
}

TEST_CASE_METHOD(Fixture,
                 "after a kill tmpfs walks and mapping summaries begin one after another, after a clean end at once") {
  write_text(config, "[tmpfs]\ninterval = '1s'\n[budget]\ncpu = '100%'\n");
  FakeProc proc;
  proc.add({.pid = 1,
            .arguments = {"init"},
            .memory = memory_of(1000),
            .smaps = "7f0000000000-7f0000100000 rw-p 00000000 00:00 0 \nSize: 1024 kB\nRss: 1000 kB\nPss: 1000 kB\n"});
  proc.write(SystemFile::mountinfo, slurp("/proc/self/mountinfo"));
  const auto count = [&](const char* of) {
    return SQLite::Database(db, SQLite::OPEN_READONLY).execAndGet(std::string("SELECT count(*) FROM ") + of).getInt();
  };
  const auto first = [&](const char* of) {
    return SQLite::Database(db, SQLite::OPEN_READONLY)
        .execAndGet(std::string("SELECT min(tick_id) FROM ") + of)
        .getInt();
  };
  constexpr const char* kWalks = "tmpfs_sample WHERE walked_ms IS NOT NULL";
  constexpr const char* kSummaries = "mapping_summary";
  const auto run = [&](const char* step, const auto& wait) {
    DaemonProcess memoird(directory.path(),
                          arguments({"--interval", "100ms", "--proc", proc.root(), "--careful-step-ms", step}));
    wait();
    memoird.signal(SIGTERM);
    CHECK(memoird.wait() == 0);
  };
  const auto killed = [&] { std::ofstream(directory.path() + "/last-end") << "oom-kill killed KILL oom_kill 1\n"; };

  killed();
  run("3600000", [&] { wait_for_ticks(15); });
  CHECK(count(kSummaries) == 0);
  CHECK(count(kWalks) == 0);

  std::ofstream(directory.path() + "/last-end") << "success exited 0 oom_kill 0\n";
  run("3600000", [&] { wait_until("a summary", [&] { return count(kSummaries) > 0; }); });
  const bool walks = count(kWalks) > 0;
  for (const char* file : {"", "-wal", "-shm"}) unlink((db + file).c_str());

  killed();
  run("700", [&] {
    wait_for_ticks(1);
    wait_until("a summary", [&] { return count(kSummaries) > 0; });
  });
  const auto first_tick = static_cast<int>(ticks().front().id);
  CHECK(first(kSummaries) > first_tick);
  if (walks) {
    CHECK(first(kWalks) > first_tick);
    CHECK(first(kWalks) <= first(kSummaries));
  }
}

TEST_CASE_METHOD(Fixture, "a deleted database is created again, with all running processes") {
  FakeProc proc;
  for (std::int32_t pid = 1; pid <= 20; ++pid) {
    proc.add({.pid = pid, .arguments = {"worker", std::to_string(pid)}, .memory = memory_of(1000 + pid)});
  }
  DaemonProcess memoird(directory.path(), arguments({"--interval", "1h", "--proc", proc.root()}));
  wait_for_ticks(1);
  for (const char* suffix : {"", "-wal", "-shm"}) REQUIRE(unlink((db + suffix).c_str()) == 0);
  memoird.signal(SIGUSR1);
  wait_for_ticks(1);
  memoird.wait_for_log(db + " was deleted or moved");
  memoird.signal(SIGUSR1);
  wait_for_ticks(2);
  CHECK(events("moved").size() == 1);
  const auto snapshot = reader()->snapshot(ticks().back().id);
  REQUIRE(snapshot);
  REQUIRE(snapshot->processes.size() == 20);
  for (const ProcessState& state : snapshot->processes) {
    CHECK(state.process.info.command == "worker " + std::to_string(state.sample.key.pid));
  }
  memoird.signal(SIGTERM);
  CHECK(memoird.wait() == 0);
  CHECK(runs().size() == 1);
}

TEST_CASE_METHOD(Fixture, "a flood of signals does not delay the stop") {
  DaemonProcess memoird(directory.path(), arguments({"--interval", "1h"}));
  wait_for_ticks(1);
  constexpr int kMany = 20'000;
  for (int i = 0; i < kMany; ++i) {
    memoird.signal(SIGUSR1);
    memoird.signal(SIGHUP);
  }
  memoird.signal(SIGTERM);
  CHECK(memoird.wait() == 0);
  CHECK(runs().back().stop_reason == "stopped");
  CHECK(ticks().size() < kMany / 10);
}

TEST_CASE_METHOD(Fixture, "ticks continue while the disk is full, and losses are recorded") {
  write_text(config, "[recorder]\nqueue_ticks = 1\n");
  DaemonProcess memoird(directory.path(), arguments({"--interval", "100ms"}));
  wait_for_ticks(2);
  limit_files(memoird.pid(), 64 * 1024);
  memoird.wait_for_log("cannot store");
  const std::size_t before = ticks().size();
  wait_until("a second slot to be lost", [&] {
    return std::chrono::system_clock::now().time_since_epoch() >
           std::chrono::milliseconds(ticks().back().begin.wall_ms + 1'000);
  });
  limit_files(memoird.pid(), RLIM_INFINITY);
  memoird.wait_for_log("the store works again");
  wait_for_ticks(before + 2);
  wait_until("the event", [&] { return !events("lost").empty(); });
  CHECK_THAT(events("lost")[0].text, ContainsSubstring("could not be stored in time"));
  memoird.signal(SIGTERM);
  CHECK(memoird.wait() == 0);
}
