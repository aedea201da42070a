// Ticks from fake vmmap(1) and ps(1), which are scripts that print recorded output.

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <thread>
#include <unistd.h>

#include "collect/vmmap/source.h"
#include "support/catch.h"
#include "support/fixture.h"
#include "support/manual_clock.h"
#include "support/temporary_directory.h"

using namespace memoir;
using F = ProcessField;

namespace {

// Fake vmmap prints the file named like the pid, or fails if there is none. Fake ps prints the file `list`.
class StandIns {
 public:
  StandIns() {
    program("vmmap", fmt::format("if [ -e {0}/$1 ]; then exec cat {0}/$1; fi\n"
                                 "echo \"vmmap: no process found matching '$1'\" >&2; exit 1",
                                 folder()));
    program("ps", fmt::format("exec cat {}/list", folder()));
  }

  const std::string& folder() const { return folder_.path(); }
  std::string path(const std::string& name) const { return folder() + '/' + name; }

  void program(const std::string& name, const std::string& script) const {
    file(name, "#!/bin/sh\n" + script + '\n');
    std::filesystem::permissions(path(name), std::filesystem::perms::owner_all);
  }
  void file(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }

 private:
  test::TemporaryDirectory folder_;
};

// Real pids end at 4,194,304. The tests use higher ones, so that they belong to no process.
std::string line_of(std::int32_t pid, const std::string& command, std::int32_t group = 0,
                    const std::string& start = "Sun Nov 22 12:42:56 2026") {
  return fmt::format("{:>5} 1 {} 501 alice S {} {}\n", pid, group == 0 ? pid : group, start, command);
}

constexpr const char* kRegions =
    "MALLOC_TINY 104a5c000-104a60000 [ 1024K 160K 100K 40K] rw-/rwx SM=PRV\n"
    "__TEXT      104a60000-104a64000 [ 1024K 80K 8K 0K] r-x/rwx SM=COW /bin/x\n";

CategoryRule rule(const std::string& name, const std::string& command) {
  CategoryRule made;
  made.name = name;
  made.command = command;
  return made;
}

class Recording {
 public:
  explicit Recording(const StandIns& programs, bool groups = false, const std::string& proc = "/nonexistent") {
    VmmapOptions options{.vmmap = programs.path("vmmap"), .ps = programs.path("ps")};
    options.deadline = std::chrono::seconds(2);
    options.process_groups = groups;
    auto made = VmmapSource::make(ProcFs(proc), clock_, *Categoriser::make({rule("shell", "bash")}),
                                  *Redactor::make({}), options);
    if (!made) FAIL(made.error().message);
    source_ = *std::move(made);
  }

  VmmapSource& operator*() { return *source_; }
  Tick tick() {
    auto tick = source_->collect(false);
    if (!tick) FAIL(tick.error().message);
    return *std::move(tick);
  }

 private:
  test::ManualClock clock_{{1'795'400'000'000, 1000}};
  std::unique_ptr<VmmapSource> source_;
};

Result<std::unique_ptr<VmmapSource>> make(const std::string& vmmap, const std::string& ps) {
  static const test::ManualClock clock({1, 1});
  return VmmapSource::make(ProcFs("/proc"), clock, *Categoriser::make({}), *Redactor::make({}),
                           {.vmmap = vmmap, .ps = ps});
}

}  // namespace

TEST_CASE("vmmap source: a tick has the processes of a recorded machine") {
  const StandIns programs;
  programs.file("list", test::fixture("vmmap/ps"));
  programs.file("412", test::fixture("vmmap/macos-14"));
  programs.file("217", test::fixture("vmmap/macos-10.6-resident"));
  Recording source(programs);
  const Tick tick = source.tick();

  REQUIRE(tick.processes.size() == 2);
  const ProcessSample& bash = tick.processes[0];
  CHECK(bash.key.pid == 217);
  CHECK(bash.parent_pid == 216);
  CHECK(bash.source == Source::estimated);
  CHECK(bash.memory.get(F::rss) == 692);
  CHECK(bash.memory.get(F::pss) == 692);
  CHECK_FALSE(bash.memory.has(F::private_dirty));
  CHECK_FALSE(bash.memory.has(F::swap_pss));
  const ProcessSample& shop = tick.processes[1];
  CHECK(shop.memory.get(F::rss) == 45400);
  CHECK(shop.memory.get(F::pss) == 45400);
  CHECK(shop.memory.get(F::swap) == 1632);
  CHECK(shop.memory.get(F::swap_pss) == 1632);

  REQUIRE(tick.born.size() == 2);
  const ProcessInfo& info = tick.born[1];
  CHECK(info.exe == "/Applications/Shop Server.app/Contents/MacOS/shop server");
  CHECK(info.comm == "shop server");
  CHECK(info.command == info.exe + " --listen 8080 --password=[redacted]");
  CHECK(info.user == "alice");
  CHECK(info.uid == 501);
  CHECK(info.start_ms == 1'795'351'376'000);
  CHECK(info.category == "other");
  CHECK(tick.born[0].comm == "bash");
  CHECK(tick.born[0].category == "shell");
  REQUIRE(tick.categories.size() == 2);
  CHECK(tick.categories[1].category == "shell");
  CHECK(tick.categories[1].pss_kib == 692);
  CHECK(tick.categories[1].inexact == 1);
  CHECK(tick.counts.seen == 2);
  CHECK(tick.machine == MachineSample());
  CHECK((*source).access().note.find("estimated") != std::string::npos);
}

TEST_CASE("vmmap source: a process group shares PSS and SwapPss") {
  const StandIns programs;
  programs.file("list",
                line_of(7'000'070, "a", 7'000'070) + line_of(7'000'071, "b", 7'000'070) + line_of(7'000'080, "c"));
  for (const char* pid : {"7000070", "7000071", "7000080"}) programs.file(pid, kRegions);
  const Tick alone = Recording(programs).tick();
  for (const ProcessSample& sample : alone.processes) CHECK(sample.memory.get(F::pss) == 240);
  const Tick grouped = Recording(programs, true).tick();
  REQUIRE(grouped.processes.size() == 3);
  CHECK(grouped.processes[0].memory.get(F::pss) == 120);
  CHECK(grouped.processes[1].memory.get(F::swap_pss) == 20);
  CHECK(grouped.processes[1].memory.get(F::swap) == 40);
  CHECK(grouped.processes[2].memory.get(F::pss) == 240);
}

TEST_CASE("vmmap source: the regions of a process are counted and summed by name, at its first tick") {
  const StandIns programs;
  programs.file("list", line_of(5'000'001, "x"));
  programs.file("5000001", std::string(kRegions) + kRegions);
  Recording source(programs);
  const Tick tick = source.tick();
  REQUIRE(tick.summaries.size() == 1);
  const ProcessMappings& of = tick.summaries.front();
  CHECK(of.process == tick.processes.at(0).key);
  CHECK(of.regions == 4);
  REQUIRE(of.summary.rows.size() == 2);
  CHECK(of.summary.rows[0].name == MappingName{MappingKind::heap, "MALLOC_TINY"});
  CHECK(of.summary.rows[0].use.regions == 2);
  CHECK(of.summary.rows[0].use.pss_kib() == 320);
  CHECK(of.summary.rows[0].use.memory.get(F::private_dirty) == 200);
  CHECK(of.summary.rows[1].name == MappingName{MappingKind::other, "__TEXT"});
  CHECK(source.tick().summaries.empty());
}

TEST_CASE("vmmap source: an exited process or one without regions yields nothing, and never zeros") {
  const StandIns programs;
  const std::int32_t alive = ::getppid();
  programs.file("list", line_of(7'000'070, "a") + line_of(99'999'999, "gone") + line_of(alive, "denied"));
  programs.file("7000070", kRegions);
  Recording source(programs);
  const Tick first = source.tick();
  REQUIRE(first.processes.size() == 1);
  CHECK(first.born.size() == 1);
  CHECK(first.counts.vanished == 1);
  CHECK(first.counts.denied == 1);

  programs.file("7000070", "Process: a [7000070]\n");
  const Tick second = source.tick();
  REQUIRE(second.processes.size() == 1);
  CHECK(second.processes[0].source == Source::inaccessible);
  CHECK(second.processes[0].memory == ProcessMemory());
  CHECK(second.exits.empty());

  programs.file("list", "");
  const Tick third = source.tick();
  CHECK(third.processes.empty());
  REQUIRE(third.exits.size() == 1);
  CHECK(third.exits[0].key == first.processes[0].key);
}

TEST_CASE("vmmap source: lines that cannot be understood are counted, of both programs") {
  const StandIns programs;
  programs.file("list", "what is this\n" + line_of(7'000'070, "a"));
  programs.file("7000070", std::string(kRegions) + "x 1000-2000 [ 1Q ]\ny 104a5c000-104a60000\n");
  const Tick tick = Recording(programs).tick();
  REQUIRE(tick.processes.size() == 1);
  CHECK(tick.processes[0].memory.get(F::rss) == 240);
  CHECK(tick.counts.malformed == 3);
}

TEST_CASE("vmmap source: exec, a reused pid, a new title and new rules") {
  const StandIns programs;
  programs.file("list", line_of(7'000'070, "/bin/a one"));
  programs.file("7000070", kRegions);
  Recording source(programs);
  const ProcessKey key = source.tick().processes.at(0).key;
  CHECK(source.tick().born.empty());

  // ps computes the start time from two clocks, so it may differ by a second.
  programs.file("list", line_of(7'000'070, "/bin/a two", 0, "Sun Nov 22 12:42:57 2026"));
  const Tick titled = source.tick();
  CHECK(titled.processes.at(0).key == key);
  CHECK(titled.exits.empty());
  CHECK(titled.born.at(0).command == "/bin/a two");

  programs.file("list", line_of(7'000'070, "/bin/bash"));
  const Tick execed = source.tick();
  CHECK(execed.processes.at(0).key.exec_count == 1);
  CHECK(execed.counts.execed == 1);
  CHECK(execed.exits.at(0).kind == ExitKind::execed);
  CHECK(execed.born.at(0).category == "shell");

  (*source).set_rules(*Categoriser::make({rule("mine", "bin")}), *Redactor::make({}));
  CHECK(source.tick().born.at(0).category == "mine");

  programs.file("list", line_of(7'000'070, "/bin/bash", 0, "Sun Nov 22 13:00:00 2026"));
  const Tick reused = source.tick();
  CHECK(reused.exits.at(0).kind == ExitKind::exited);
  CHECK(reused.processes.at(0).key.start_ticks == key.start_ticks + 1024);
}

TEST_CASE("vmmap source: a restarted recorder continues with the same processes") {
  const StandIns programs;
  programs.file("list", line_of(7'000'070, "/bin/a") + line_of(7'000'071, "/bin/b"));
  for (const char* pid : {"7000070", "7000071"}) programs.file(pid, kRegions);
  Recording first(programs);
  const Tick before = first.tick();
  std::vector<KnownProcess> known;
  for (const ProcessInfo& info : before.born) known.push_back({info.key, info.comm, info.exe});
  known[1].comm = "other";
  Recording second(programs);
  (*second).seed(known);
  const Tick after = second.tick();
  CHECK(after.processes[0].key == before.processes[0].key);
  CHECK(after.processes[1].key.exec_count == 1);
}

TEST_CASE("vmmap source: a program that hangs or prints endlessly is killed with all its children") {
  const StandIns programs;
  const std::int32_t alive = ::getppid();
  programs.file("list", line_of(alive, "a"));
  programs.program("vmmap", fmt::format("sleep 1000 & echo $! > {}/child; wait", programs.folder()));
  const Tick tick = Recording(programs).tick();
  CHECK(tick.processes.empty());
  CHECK(tick.counts.blocked == 1);
  std::int32_t child = 0;
  std::ifstream(programs.path("child")) >> child;
  REQUIRE(child > 0);
  // The signal takes effect with a delay, and afterwards the new parent may not have reaped the process yet.
  const auto is_dead = [child] {
    std::ifstream stat(fmt::format("/proc/{}/stat", child));
    std::string words;
    std::getline(stat, words);
    return !stat || words.find(") Z ") != std::string::npos;
  };
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!is_dead() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  CHECK(is_dead());

  const auto endless = run_command("/bin/sh", {"-c", "while :; do echo aaaaaaaaaaaaaaaa; done"}, {.bytes = 10'000});
  REQUIRE_FALSE(endless.ok());
  CHECK(endless.error().message == "/bin/sh printed more than 10000 bytes and was killed");
}

TEST_CASE("a command's output, status and errors are returned; no shell interprets its arguments") {
  const auto echoed = run_command("/bin/echo", {"$HOME; ls", "*"}, {});
  REQUIRE(echoed.ok());
  CHECK(echoed->out == "$HOME; ls *\n");
  CHECK(echoed->problem.empty());
  const auto failed = run_command("/bin/sh", {"-c", "echo out; echo no\033such >&2; echo more >&2; exit 3"}, {});
  REQUIRE(failed.ok());
  CHECK(failed->out == "out\n");
  CHECK(failed->problem == "exit status 3: no\\x1bsuch");
  CHECK(run_command("/bin/sh", {"-c", "kill -9 $$"}, {})->problem == "signal 9");
  CHECK(run_command("/nonexistent/x", {}, {}).error().kind == ErrorKind::not_found);
  const auto said = run_command("/bin/sh", {"-c", "echo $TZ; kill -PIPE $$"}, {});
  CHECK(said->out == "UTC0\n");
  CHECK(said->problem == "signal 13");
}

TEST_CASE("vmmap source: if ps fails there is no tick, and the error has its exit status") {
  const StandIns programs;
  programs.program("ps", "echo broken >&2; exit 2");
  Recording source(programs);
  const auto tick = (*source).collect(false);
  REQUIRE_FALSE(tick.ok());
  CHECK(tick.error().message == programs.path("ps") + " ended with exit status 2: broken");
}

TEST_CASE("vmmap source: the machine is sampled if there is a /proc") {
  const StandIns programs;
  programs.file("list", line_of(7'000'070, "a"));
  programs.file("7000070", kRegions);
  const Tick tick = Recording(programs, false, "/proc").tick();
  CHECK(tick.machine.memory.has(MachineField::mem_total));
}

TEST_CASE("vmmap source: unavailable if a program is missing or cannot be executed") {
  const StandIns programs;
  const auto missing = make(programs.path("none"), programs.path("ps"));
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().kind == ErrorKind::not_found);
  CHECK_THAT(missing.error().message, test::ContainsSubstring(programs.path("none") + " does not exist"));
  CHECK_THAT(missing.error().message, test::ContainsSubstring("set vmmap in [vmmap]"));
  programs.file("plain", "x");
  const auto plain = make(programs.path("vmmap"), programs.path("plain"));
  REQUIRE_FALSE(plain.ok());
  CHECK_THAT(plain.error().message, test::ContainsSubstring("is not an executable file"));
  CHECK_THAT(plain.error().message, test::ContainsSubstring("set ps in [vmmap]"));
  CHECK_FALSE(make(programs.folder(), programs.path("ps")).ok());
}
