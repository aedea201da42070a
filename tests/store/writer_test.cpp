#include "store/writer.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/events.h"
#include "store/names.h"
#include "store/rows/process_rows.h"
#include "store/sqlite/integrity.h"
#include "store_fixture.h"
#include "support/simulation.h"
#include "support/slurp.h"

namespace memoir::test {
namespace {

std::vector<std::string> kinds(Reader& reader) {
  std::vector<std::string> kinds;
  for (const Event& event : must(load_events(reader, {0, 4'000'000'000'000}))) kinds.push_back(event.kind);
  return kinds;
}

void record(const StoreFixture& fixture, Simulation& simulation, int ticks, const char* end) {
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  for (int i = 0; i < ticks; ++i) must(writer->write(simulation.next()));
  if (*end != '\0') must(writer->end_run(simulation.now(), end));
}

TEST_CASE("a second writer is refused with the pid of the first") {
  const StoreFixture fixture;
  const auto writer = fixture.writer();
  const auto second = Writer::open(fixture.path(), Durability::normal);
  REQUIRE(!second.ok());
  REQUIRE(second.error().message.find("process " + std::to_string(getpid())) != std::string::npos);
  REQUIRE(must(fixture.reader()->info()).recorder_pid == getpid());

  const pid_t child = fork();
  if (child == 0) _exit(Writer::open(fixture.path(), Durability::normal).ok() ? 1 : 0);
  int status = -1;
  waitpid(child, &status, 0);
  REQUIRE(status == 0);
}

TEST_CASE("the lock is released with its writer") {
  const StoreFixture fixture;
  fixture.writer();
  REQUIRE(!must(fixture.reader()->info()).recorder_pid);
  fixture.writer();
}

TEST_CASE("runs end with their own reason, and the next run reports the gap") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 3});
  record(fixture, simulation, 3, "stopped");
  record(fixture, simulation, 3, "");
  simulation.pause(120'000);
  record(fixture, simulation, 3, "once");
  const auto reader = fixture.reader();
  const auto runs = must(reader->runs());
  REQUIRE(runs.size() == 3);
  REQUIRE(runs[0].stop_reason == "stopped");
  REQUIRE(runs[1].stop_reason == "unclean");
  REQUIRE(runs[1].stopped_ms == runs[1].last_tick_ms);
  REQUIRE(runs[2].stop_reason == "once");
  REQUIRE(runs[2].boot == simulation.boot());
  REQUIRE(kinds(*reader) == std::vector<std::string>{"unclean", "gap"});
}

TEST_CASE("a run has the source of its census") {
  const StoreFixture fixture;
  const Simulation simulation({.processes = 1});
  for (const char* census : {"", "bpf", "proc"}) {
    RunInfo run = run_info(simulation.boot(), simulation.now());
    run.census = census;
    const auto writer = fixture.writer();
    must(writer->begin_run(run));
  }
  const auto runs = must(fixture.reader()->runs());
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].census.empty());
  CHECK(runs[1].census == "bpf");
  CHECK(runs[2].census == "proc");
}

TEST_CASE("a run that crashed before its first tick is reported, and so is the gap before it") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 3});
  record(fixture, simulation, 0, "");
  record(fixture, simulation, 3, "stopped");
  REQUIRE(kinds(*fixture.reader()) == std::vector<std::string>{"unclean"});
  record(fixture, simulation, 0, "");
  simulation.pause(120'000);
  record(fixture, simulation, 3, "stopped");
  const auto reader = fixture.reader();
  REQUIRE(kinds(*reader) == std::vector<std::string>{"unclean", "unclean", "gap"});
  const auto events = must(load_events(*reader, {0, 4'000'000'000'000}));
  REQUIRE(events[1].text == "memoird (4711) stopped without closing its run, before its first tick");
  REQUIRE(events[2].text.ends_with(": not running"));
}

TEST_CASE("a process known only from dropped ticks has its row, with its exit") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 3, .births = 0});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  must(writer->write(simulation.next()));
  Tick tick = simulation.next();
  ProcessInfo shell = must(load_processes(*fixture.reader(), {0, 4'000'000'000'000})).front().info;
  shell.key = {4000, 77, 0};
  shell.comm = "sh";
  ProcessInfo tool = shell;
  tool.key.exec_count = 1;
  tool.comm = "tool";
  tick.born = {shell, tool};
  tick.exits = {{shell.key, ExitKind::execed}, {tool.key, ExitKind::exited}};
  must(writer->write(tick));
  must(writer->write(simulation.next()));

  const auto reader = fixture.reader();
  const auto processes = must(load_processes(*reader, {tick.begin.wall_ms, tick.begin.wall_ms}));
  REQUIRE(processes.size() == 5);
  REQUIRE(processes[3].info == shell);
  REQUIRE(processes[3].exit_kind == "execed");
  REQUIRE(processes[4].info == tool);
  REQUIRE(processes[4].exit_kind == "exited");
  REQUIRE(processes[4].first_ms == tick.begin.wall_ms);
  REQUIRE(processes[4].last_ms == tick.begin.wall_ms);
  REQUIRE(processes[4].exited_ms == tick.begin.wall_ms);
  REQUIRE(must(load_processes(*reader, {tick.begin.wall_ms + 10'000, tick.begin.wall_ms + 10'000})).size() == 3);
  for (std::int64_t id = 1; id <= 3; ++id) REQUIRE(must(reader->snapshot(id)).processes.size() == 3);
}

TEST_CASE("a command is stored once, and differs from another with the same digest") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 4});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  SQLite::Database database(fixture.path(), SQLite::OPEN_READWRITE);
  database.exec(fmt::format("INSERT INTO command (exe, line, line_digest) VALUES ('/bin/sh', 'sh other', {})",
                            line_digest("sh this")));
  Tick tick = simulation.next();
  for (ProcessInfo& info : tick.born) {
    info.exe = "/bin/sh";
    info.command = "sh this";
  }
  must(writer->write(tick));
  REQUIRE(database.execAndGet("SELECT COUNT(*) FROM command").getInt() == 2);
  REQUIRE(database
              .execAndGet("SELECT COUNT(*) FROM process AS p JOIN command AS c ON c.id = p.command_id "
                          "WHERE c.line = 'sh this'")
              .getInt() == 4);
}

TEST_CASE("a run without a tick does not affect other runs") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 3});
  record(fixture, simulation, 0, "");
  record(fixture, simulation, 2, "stopped");
  record(fixture, simulation, 0, "stopped");
  const auto runs = must(fixture.reader()->runs());
  REQUIRE(!runs[0].last_tick_ms);
  REQUIRE(runs[1].last_tick_ms);
  REQUIRE(!runs[2].first_tick_ms);
}

TEST_CASE("a restarted recorder continues with its known processes") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 4, .births = 0});
  record(fixture, simulation, 2, "stopped");
  const auto writer = fixture.writer();
  const auto known = must(writer->known_processes(simulation.boot().boot_id));
  REQUIRE(known.size() == 4);
  REQUIRE(must(writer->known_processes("another boot")).empty());
  std::vector<KnownName> names;
  const auto visit = [&names](const KnownName& name) { names.push_back(name); };
  must(writer->visit_names(0, visit));
  const std::size_t count = names.size();
  CHECK((count > 0 && count <= known.size()));
  for (const KnownName& name : names) {
    CHECK_FALSE(name.command.empty());
    CHECK(name.first_ms <= simulation.now().wall_ms);
  }
  must(writer->visit_names(simulation.now().wall_ms + 1, visit));
  CHECK(names.size() == count);
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  Tick tick = simulation.next();
  const ProcessKey gone = tick.processes.front().key;
  REQUIRE(known.front().key == gone);
  tick.processes.erase(tick.processes.begin());
  must(writer->write(tick));
  const auto processes = must(load_processes(*fixture.reader(), {0, 4'000'000'000'000}));
  REQUIRE(processes.size() == 4);
  for (const StoredProcess& process : processes) {
    REQUIRE(process.exit_kind == (process.info.key == gone ? "unknown" : ""));
    REQUIRE(process.exited_ms.has_value() == (process.info.key == gone));
  }
}

TEST_CASE("processes of another boot have exited") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 4, .births = 0});
  record(fixture, simulation, 2, "stopped");
  simulation.reboot();
  record(fixture, simulation, 1, "stopped");
  const auto reader = fixture.reader();
  const Range all{0, 4'000'000'000'000};
  const auto processes = must(load_processes(*reader, all));
  REQUIRE(processes.size() == 8);
  REQUIRE(std::count_if(processes.begin(), processes.end(), [](const auto& p) { return p.exit_kind == "unknown"; }) ==
          4);
  const std::int64_t last = must(reader->info()).last_tick_ms;
  REQUIRE(must(load_processes(*reader, {last, last})).size() == 4);
}

TEST_CASE("a stepped wall clock is reported, and ticks keep the order of recording") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 2});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  const Moment first = simulation.now();
  for (int i = 0; i < 5; ++i) must(writer->write(simulation.next()));
  simulation.step_wall(-25'000);
  for (int i = 0; i < 5; ++i) must(writer->write(simulation.next()));
  const auto reader = fixture.reader();
  REQUIRE(kinds(*reader) == std::vector<std::string>{"clock-step"});
  const auto ticks = must(reader->ticks({0, 4'000'000'000'000}));
  for (std::size_t i = 1; i < ticks.size(); ++i) REQUIRE(ticks[i].begin.boot_ms > ticks[i - 1].begin.boot_ms);
  // Ticks 3 to 5 and 6 to 8 have the same or nearly the same times, and the latest tick wins.
  REQUIRE(must(reader->tick_at(first.wall_ms + 26'000))->id == 6);
  REQUIRE(must(reader->tick_at(first.wall_ms + 30'000))->id == 4);
  REQUIRE(!must(reader->tick_at(first.wall_ms - 1)));
}

// Fills the disk by RLIMIT_FSIZE, which makes SQLite's write fail, in a child process.
int fill_the_disk(const StoreFixture& fixture) {
  signal(SIGXFSZ, SIG_IGN);
  Simulation simulation({.processes = 300, .changing = 0.5, .births = 2});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  must(writer->write(simulation.next()));
  rlimit limit{400'000, RLIM_INFINITY};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
  int failed = 0;
  for (int i = 0; i < 60; ++i) {
    const Tick tick = simulation.next();
    if (writer->write(tick).ok()) continue;
    ++failed;
    limit.rlim_cur = RLIM_INFINITY;
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 3;
    if (!writer->write(tick).ok()) return 4;
    const auto reader = fixture.reader();
    const Snapshot snapshot = must(reader->snapshot(must(reader->info()).ticks));
    if (snapshot.processes.size() != tick.processes.size() || snapshot.machine != tick.machine) return 5;
    for (std::size_t p = 0; p < tick.processes.size(); ++p) {
      if (snapshot.processes[p].sample != tick.processes[p]) return 6;
    }
    if (must(reader->info()).ticks != i + 2) return 7;
  }
  return failed > 0 ? 0 : 8;
}

TEST_CASE("a write on a full disk changes nothing and can be repeated") {
  const StoreFixture fixture;
  const pid_t child = fork();
  if (child == 0) _exit(fill_the_disk(fixture));
  int status = -1;
  waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 0);
}

TEST_CASE("the main file alone has all but the last two minutes, and is a database from the start") {
  const StoreFixture fixture;
  const StoreFixture copy;
  const auto copy_main_file = [&] {
    std::filesystem::copy_file(fixture.path(), copy.path(), std::filesystem::copy_options::overwrite_existing);
    return Reader::open(copy.path());
  };
  Simulation simulation({.processes = 30, .changing = 0.2});
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  REQUIRE(must(must(copy_main_file())->info()).ticks == 0);
  for (int i = 0; i < 100; ++i) {
    const std::int64_t now_ms = simulation.now().wall_ms;
    must(writer->write(simulation.next()));
    while (must(writer->maintain()).more) continue;
    REQUIRE(must(must(copy_main_file())->info()).last_tick_ms > now_ms - 120'000);
  }
}

// The -wal has space for the end of the run, but the main file has none for a checkpoint.
int end_on_a_full_disk(const StoreFixture& fixture) {
  signal(SIGXFSZ, SIG_IGN);
  Simulation simulation({.processes = 300, .changing = 0.5, .births = 2});
  record(fixture, simulation, 30, "stopped");
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  must(writer->write(simulation.next()));
  must(writer->write(simulation.next()));
  const rlimit limit{std::filesystem::file_size(fixture.path()), RLIM_INFINITY};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
  if (!writer->end_run(simulation.now(), "reload").ok()) return 3;
  if (!writer->begin_run(run_info(simulation.boot(), simulation.now())).ok()) return 4;
  const auto runs = must(fixture.reader()->runs());
  return runs.size() == 3 && runs[1].stop_reason == "reload" ? 0 : 5;
}

TEST_CASE("a run ends even if the disk is too full for a checkpoint") {
  const StoreFixture fixture;
  const pid_t child = fork();
  if (child == 0) _exit(end_on_a_full_disk(fixture));
  int status = -1;
  waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 0);
}

TEST_CASE("nothing is written without a run") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 2});
  const auto writer = fixture.writer();
  REQUIRE(!writer->write(simulation.next()).ok());
  REQUIRE(!writer->write_event({simulation.now(), "reload", ""}).ok());
  REQUIRE(!writer->end_run(simulation.now(), "stopped").ok());
}

TEST_CASE("a damaged database is named after an unclean stop") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 200});
  record(fixture, simulation, 30, "");
  {
    SQLite::Database database(fixture.path(), SQLite::OPEN_READWRITE);
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  const auto bytes = static_cast<long>(std::filesystem::file_size(fixture.path()));
  FILE* file = std::fopen(fixture.path().c_str(), "r+");
  REQUIRE(file != nullptr);
  std::fseek(file, bytes / 3, SEEK_SET);
  for (long i = 0; i < bytes / 3; ++i) std::fputc(0x5a, file);
  std::fclose(file);
  const auto writer = Writer::open(fixture.path(), Durability::normal);
  REQUIRE(!writer.ok());
  REQUIRE(writer.error().message.find("damaged") != std::string::npos);
}

// A start reads few pages, so a single damaged page is hardly ever found that way.
TEST_CASE("after an unclean stop the whole file is checked at the next start") {
  constexpr std::size_t page = 2048;
  const StoreFixture fixture;
  Simulation simulation({.processes = 100});
  record(fixture, simulation, 30, "");
  SQLite::Database(fixture.path(), SQLite::OPEN_READWRITE).exec("PRAGMA wal_checkpoint(TRUNCATE)");
  const std::string whole = slurp(fixture.path());
  const std::size_t pages = whole.size() / page;
  REQUIRE(pages > 100);
  const auto put = [&](const std::string& bytes) {
    for (const char* companion : {"-wal", "-shm"}) std::filesystem::remove(fixture.path() + companion);
    std::ofstream(fixture.path(), std::ios::binary) << bytes;
  };
  int found = 0;
  for (std::size_t lost = 5; lost < pages; lost += pages / 20) {
    CAPTURE(lost);
    std::string bytes = whole;
    bytes.replace(lost * page, page, page, '\0');
    put(bytes);
    const auto damage = check_file(fixture.path(), [](int) { return true; });
    const bool sound = damage.ok() && damage->empty();  // the damaged page may be a free one
    found += sound ? 0 : 1;
    put(bytes);
    const auto writer = Writer::open(fixture.path(), Durability::normal);
    REQUIRE(writer.ok() == sound);
    if (sound) continue;
    CAPTURE(writer.error().message);
    REQUIRE(writer.error().message.find(fixture.path() + ": the database is damaged") == 0);
  }
  REQUIRE(found > 10);
  put(whole);
  REQUIRE(Writer::open(fixture.path(), Durability::normal).ok());
}

}  // namespace
}  // namespace memoir::test
