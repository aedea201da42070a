// Recording while the file is damaged, deleted, moved, or locked by a reader that does not stop.

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "store/events.h"
#include "store/recovering_writer.h"
#include "store/sqlite/database.h"
#include "store/sqlite/file_system.h"
#include "store_fixture.h"
#include "support/in_child.h"
#include "support/manual_clock.h"
#include "support/read_lock.h"
#include "support/refused_call.h"
#include "support/simulation.h"
#include "support/slurp.h"

namespace memoir::test {
namespace {

namespace fs = std::filesystem;

constexpr Range kAlways{0, 4'000'000'000'000};

#ifdef SYS_rename  // not on all architectures
constexpr std::initializer_list<std::uint32_t> kRenames{SYS_renameat2, SYS_renameat, SYS_rename};
#else
constexpr std::initializer_list<std::uint32_t> kRenames{SYS_renameat2, SYS_renameat};
#endif

void overwrite(const std::string& path, std::size_t at, const std::string& bytes) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(at));
  file << bytes;
  REQUIRE(file.good());
}

struct Fixture : StoreFixture {
  Fixture() { log_start(LogLevel::error); }

  std::unique_ptr<Writer> steady(RecoveringOptions options = {.durability = Durability::normal}) {
    options.on_new_file = [this] { ++new_files; };
    return must(open_recovering(path(), clock, options));
  }
  void begin(Writer& writer) { must(writer.begin_run(run_info(simulation.boot(), simulation.now()))); }
  void record(Writer& writer, int ticks) {
    for (int i = 0; i < ticks; ++i) {
      must(writer.write(simulation.next()));
      clock.advance(10'000);
    }
  }
  // Records a run that is never closed, with all data in the main file.
  void record_unclean(int ticks) {
    const auto writer = steady();
    begin(*writer);
    record(*writer, ticks);
    bring_home();
  }
  void bring_home() const { SQLite::Database(path(), SQLite::OPEN_READWRITE).exec("PRAGMA wal_checkpoint(TRUNCATE)"); }
  std::vector<std::string> quarantined() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder())) {
      const std::string name = entry.path().filename();
      if (name.find(".damaged-") != std::string::npos && !name.ends_with("-shm") && !name.ends_with("-wal"))
        names.push_back(entry.path());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  std::vector<Event> events(const std::string& kind) const {
    std::vector<Event> all = must(load_events(*reader(), kAlways));
    std::erase_if(all, [&kind](const Event& event) { return event.kind != kind; });
    return all;
  }

  Simulation simulation{{.processes = 60, .changing = 0.2, .births = 1}};
  ManualClock clock{simulation.now()};
  int new_files = 0;
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a file damaged between two runs is quarantined completely, and a new one is created") {
  record_unclean(30);
  const auto damage = GENERATE(0, 1, 2, 3, 4);
  const std::size_t bytes = fs::file_size(path());
  REQUIRE(bytes > 100 * 2048);
  if (damage == 0) overwrite(path(), 16, "\x01");                                 // the page size
  if (damage == 1) overwrite(path(), 0, std::string(4096, '\0'));                 // all of the header
  if (damage == 2) overwrite(path(), bytes / 3, std::string(bytes / 3, '\x5a'));  // pages
  if (damage == 3) fs::resize_file(path(), bytes / 2);
  if (damage == 4) {  // SQLite does not check this bit
    SQLite::Database(path(), SQLite::OPEN_READWRITE).exec("UPDATE process SET start_ms = start_ms | (1 << 62)");
    bring_home();
  }
  std::ofstream(path() + "-wal", std::ios::binary) << "what was in the log";
  const std::string whole = slurp(path());

  const auto writer = steady();
  begin(*writer);
  record(*writer, 3);
  INFO("damage " << damage);
  const auto aside = quarantined();
  REQUIRE(aside.size() == 1);
  REQUIRE(aside[0].starts_with(path() + ".damaged-20"));
  REQUIRE(slurp(aside[0]) == whole);
  REQUIRE(fs::exists(aside[0] + "-wal"));
  REQUIRE(must(reader()->info()).ticks == 3);
  REQUIRE(events("quarantined").size() == 1);
  REQUIRE(events("quarantined")[0].text.find(aside[0]) != std::string::npos);
  must(writer->end_run(simulation.now(), "stopped"));
}

TEST_CASE_METHOD(Fixture, "a -wal damaged between two runs is quarantined with its file, and a new file is created") {
  {
    const auto writer = steady({});
    begin(*writer);
    record(*writer, 30);
  }
  const std::string wal = path() + "-wal";
  overwrite(wal, fs::file_size(wal) / 2, "flipped");
  const std::string file = slurp(path());
  const std::string log = slurp(wal);

  const auto writer = steady({});
  begin(*writer);
  record(*writer, 3);
  REQUIRE(quarantined().size() == 1);
  const std::string aside = quarantined()[0];
  REQUIRE(slurp(aside) == file);
  REQUIRE(slurp(aside + "-wal") == log);
  REQUIRE(must(reader()->info()).ticks == 3);
  REQUIRE(events("quarantined").size() == 1);
  // Data from before the damage is still readable.
  const std::int64_t kept = must(must(Reader::open(aside))->info()).ticks;
  REQUIRE(kept > 0);
  REQUIRE(kept < 30);
  must(writer->end_run(simulation.now(), "stopped"));
}

TEST_CASE_METHOD(Fixture, "a tick that breaks a rule of the schema is refused, and the next one is stored completely") {
  const auto writer = steady();
  begin(*writer);
  record(*writer, 3);
  Tick twice = simulation.next();
  twice.keyframe = true;
  twice.processes.insert(twice.processes.begin(), twice.processes.front());
  const Status refused = writer->write(twice);
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::refused);
  CHECK(new_files == 1);

  const Tick next = simulation.next();
  must(writer->write(next));
  const Snapshot snapshot = must(reader()->snapshot(4));
  REQUIRE(snapshot.processes.size() == next.processes.size());
  for (std::size_t i = 0; i < next.processes.size(); ++i) CHECK(snapshot.processes[i].sample == next.processes[i]);
  must(writer->end_run(simulation.now(), "stopped"));
  CHECK(must(reader()->runs()).size() == 1);
}

TEST_CASE_METHOD(Fixture, "a quarantined file does not overwrite an earlier one") {
  for (int round = 1; round <= 3; ++round) {
    record_unclean(5);
    overwrite(path(), 0, std::string(4096, static_cast<char>(round)));
    clock = ManualClock({.wall_ms = 1'790'000'000'000, .boot_ms = clock.now().boot_ms});
    steady()->begin_run(run_info(simulation.boot(), simulation.now())).ok();
    REQUIRE(quarantined().size() == static_cast<std::size_t>(round));
  }
  const std::string name = path() + ".damaged-20260921-141320";
  REQUIRE(quarantined() == std::vector<std::string>{name, name + "-2", name + "-3"});
  for (std::size_t i = 0; i < 3; ++i) REQUIRE(slurp(quarantined()[i])[0] == static_cast<char>(i + 1));
}

TEST_CASE_METHOD(Fixture, "a file damaged during recording is quarantined, and recording continues in a new one") {
  const auto writer = steady();
  begin(*writer);
  record(*writer, 30);
  bring_home();
  const std::size_t bytes = fs::file_size(path());
  overwrite(path(), 2048, std::string(bytes - 2048, '\x5a'));
  record(*writer, 5);
  REQUIRE(quarantined().size() == 1);
  REQUIRE(new_files == 1);
  REQUIRE(must(reader()->info()).ticks == 5);
  const auto runs = must(reader()->runs());
  REQUIRE(runs.size() == 1);
  REQUIRE(events("quarantined").size() == 1);
  // The first tick in the new file is complete.
  REQUIRE(must(reader()->ticks(kAlways)).front().keyframe);
  REQUIRE(must(reader()->snapshot(1)).processes.size() > 50);
  must(writer->end_run(simulation.now(), "stopped"));
  REQUIRE(must(reader()->runs())[0].stop_reason == "stopped");
}

TEST_CASE_METHOD(Fixture, "a disk that damages all writes does not fill up with quarantined files") {
  const auto writer = steady();
  begin(*writer);
  const auto wreck = [&] {
    record(*writer, 5);
    bring_home();
    overwrite(path(), 2048, std::string(fs::file_size(path()) - 2048, '\x5a'));
  };
  wreck();
  wreck();
  for (int i = 0; i < 5; ++i) {
    const Status refused = writer->write(simulation.next());
    REQUIRE(!refused.ok());
    REQUIRE(refused.error().message.find("quarantined a short time ago") != std::string::npos);
  }
  REQUIRE(quarantined().size() == 1);
  clock.advance(600'000);
  record(*writer, 1);
  REQUIRE(quarantined().size() == 2);
}

TEST_CASE_METHOD(Fixture, "a damaged file that cannot be quarantined stays in place, with an error that names it") {
  record_unclean(5);
  overwrite(path(), 4096, std::string(fs::file_size(path()) - 4096, 'x'));
  const std::string before = slurp(path());
  const std::string outcome = in_child([&]() -> std::string {
    for (const std::uint32_t call : kRenames) {
      if (!refuse_call(call, 0, 0, 0, EACCES)) return "no filter";
    }
    const Status begun = steady()->begin_run(run_info(simulation.boot(), simulation.now()));
    return begun ? "begun" : begun.error().message;
  });
  if (outcome == "no filter") {
    WARN("not run: no seccomp filter could be set");
    return;
  }
  INFO(outcome);
  REQUIRE(outcome.find("cannot rename the damaged " + path()) != std::string::npos);
  REQUIRE(quarantined().empty());
  REQUIRE(slurp(path()) == before);
}

TEST_CASE_METHOD(Fixture, "a damaged file that may not be Memoir's is refused and left in place") {
  record_unclean(5);
  // All bytes are zero, so that nothing identifies the file.
  overwrite(path(), 0, std::string(fs::file_size(path()), '\0'));
  const auto refused = open_recovering(path(), clock, {});
  REQUIRE(!refused.ok());
  REQUIRE(refused.error().message.find("is not a Memoir database") != std::string::npos);
  REQUIRE(quarantined().empty());
}

TEST_CASE_METHOD(Fixture, "a file deleted during recording is created again at the next tick") {
  const auto writer = steady();
  begin(*writer);
  record(*writer, 5);
  const bool all = GENERATE(false, true);
  fs::remove(path());
  if (all) {
    for (const char* suffix : {"-wal", "-shm", ".lock"}) fs::remove(path() + suffix);
  }
  record(*writer, 3);
  REQUIRE(must(reader()->info()).ticks == 3);
  REQUIRE(events("moved").size() == 1);
  REQUIRE(new_files == 1);
  REQUIRE(must(reader()->info()).recorder_pid == getpid());
  REQUIRE(quarantined().empty());
}

TEST_CASE_METHOD(Fixture, "a file moved during recording is complete, and recording continues at the old path") {
  const auto writer = steady();
  begin(*writer);
  record(*writer, 5);
  const std::string moved = folder() + "/moved.db";
  SECTION("to another name") {
    fs::rename(path(), moved);
  }
  SECTION("and another is in its place") {
    fs::rename(path(), moved);
    std::ofstream(path()).close();
  }
  record(*writer, 3);
  REQUIRE(must(reader()->info()).ticks == 3);
  REQUIRE(events("moved").size() == 1);
  const auto old = must(Reader::open(moved));
  REQUIRE(must(old->info()).ticks == 5);
  REQUIRE(must(old->runs())[0].stop_reason == "moved");
}

TEST_CASE_METHOD(Fixture, "another program's file in its place is not touched") {
  const auto writer = steady();
  begin(*writer);
  record(*writer, 2);
  fs::rename(path(), folder() + "/moved.db");
  std::ofstream(path()) << std::string(5000, 'x');
  REQUIRE(!writer->write(simulation.next()).ok());
  REQUIRE(slurp(path()) == std::string(5000, 'x'));
  fs::remove(path());
  record(*writer, 2);
  REQUIRE(must(reader()->info()).ticks == 2);
}

// The file is emptied by `> F` and not deleted, so its inode stays the same.
TEST_CASE_METHOD(Fixture, "a file emptied during recording is started again at the next tick, and again") {
  const auto writer = steady({});
  begin(*writer);
  record(*writer, 5);
  const bool home = GENERATE(false, true);
  if (home) bring_home();
  for (const std::string& lost : {std::string(), std::string("-wal"), std::string("-shm"), std::string("-wal")}) {
    INFO("emptied, without " << (lost.empty() ? "any other file" : lost));
    fs::resize_file(path(), 0);
    if (!lost.empty()) fs::remove(path() + lost);
    record(*writer, 3);
    REQUIRE(must(reader()->info()).ticks == 3);
    REQUIRE(events("moved").size() == 1);
    CHECK(events("moved")[0].text.starts_with(path() + " was emptied while it was written"));
    REQUIRE(must(reader()->runs()).size() == 1);
  }
  CHECK(new_files == 4);
  CHECK(quarantined().empty());
  must(writer->end_run(simulation.now(), "stopped"));
  SQLite::Database database(path(), SQLite::OPEN_READONLY);
  CHECK(database.execAndGet("PRAGMA integrity_check").getString() == "ok");
}

TEST_CASE_METHOD(Fixture, "a missing folder is an error until it exists again") {
  const auto writer = steady();
  begin(*writer);
  record(*writer, 2);
  fs::rename(folder(), folder() + ".gone");
  const Status refused = writer->write(simulation.next());
  REQUIRE(!refused.ok());
  REQUIRE(refused.error().message.find("does not exist") != std::string::npos);
  fs::rename(folder() + ".gone", folder());
  record(*writer, 2);
  const auto runs = must(reader()->runs());
  REQUIRE(must(reader()->info()).ticks == 4);
  REQUIRE(runs.size() == 2);
  REQUIRE(runs[0].stop_reason == "moved");
}

TEST_CASE_METHOD(Fixture, "a reader with an open transaction does not make the file larger than its cap") {
  constexpr std::int64_t kCap = 16 << 20;
  const auto writer = steady();
  RunInfo run = run_info(simulation.boot(), simulation.now());
  run.retention.max_bytes = kCap;
  must(writer->begin_run(run));
  record(*writer, 1);
  simulation = Simulation({.processes = 300, .changing = 1, .births = 1, .start = simulation.now()});
  const auto bytes = [&] { return file_bytes(path()) + file_bytes(path() + "-wal"); };
  Tick waiting;
  {
    SQLite::Database holder(path(), SQLite::OPEN_READONLY);
    holder.exec("BEGIN");
    const std::int64_t seen = holder.execAndGet("SELECT COUNT(*) FROM tick").getInt64();
    Status stored = Done{};
    while (stored) {
      waiting = simulation.next();
      stored = writer->write(waiting);
      static_cast<void>(writer->maintain());
      REQUIRE(bytes() < kCap);
    }
    CHECK(stored.error().kind == ErrorKind::blocked);
    CHECK(file_bytes(path() + "-wal") < kCap / 8 + (512 << 10));
    CHECK(holder.execAndGet("SELECT COUNT(*) FROM tick").getInt64() == seen);
    CHECK(events("blocked").empty());
    clock.advance(7'000);
  }
  must(writer->write(waiting));
  record(*writer, 3);
  while (must(writer->maintain()).more) continue;
  REQUIRE(events("blocked").size() == 1);
  CHECK(events("blocked")[0].text.find("samples waited in memory") != std::string::npos);
}

TEST_CASE_METHOD(Fixture,
                 "a -wal or -shm that is deleted or truncated while it is written is noticed at the next tick") {
  const auto writer = steady({});
  begin(*writer);
  record(*writer, 5);
  const auto home = must(reader()->info()).ticks;
  REQUIRE(home == 5);
  const std::string suffix = GENERATE("-wal", "-shm");
  const std::string file = path() + suffix;
  const bool truncated = GENERATE(false, true);
  INFO(suffix << (truncated ? " truncated" : " deleted"));
  truncated ? fs::resize_file(file, suffix == "-wal" ? 5'000 : 0) : static_cast<void>(fs::remove(file));
  record(*writer, 3);
  REQUIRE(events("moved").size() == 1);
  CHECK(events("moved")[0].text.starts_with(fmt::format("{} was {}", file, truncated ? "truncated" : "deleted")));
  // Truncated frames are lost. Data in the main file and later data is kept.
  const bool lost = truncated && suffix == "-wal";
  CHECK(must(reader()->info()).ticks == (lost ? 3 : 8));
  must(writer->end_run(simulation.now(), "stopped"));
  SQLite::Database database(path(), SQLite::OPEN_READONLY);
  CHECK(database.execAndGet("PRAGMA integrity_check").getString() == "ok");
  CHECK(database.execAndGet("SELECT COUNT(*) FROM run").getInt() == (lost ? 1 : 2));
}

TEST_CASE_METHOD(Fixture, "another program's file in place of the -wal or -shm is kept and renamed") {
  const auto writer = steady({});
  begin(*writer);
  record(*writer, 5);
  REQUIRE(must(reader()->info()).ticks == 5);
  const std::string file = path() + GENERATE("-wal", "-shm");
  const std::string names[] = {file + ".foreign", file + ".foreign-2"};
  for (const std::string& name : names) {
    fs::remove(file);
    std::ofstream(file) << "notes: " << name;
    record(*writer, 2);
    CHECK(slurp(name) == "notes: " + name);
    CHECK(events("moved").back().text.find("renamed to " + name) != std::string::npos);
  }
  CHECK(must(reader()->info()).ticks == 9);
  CHECK(events("moved").size() == 2);
}

TEST_CASE_METHOD(Fixture, "another program's -wal or -shm is kept when the file is emptied too") {
  const auto writer = steady({});
  begin(*writer);
  record(*writer, 5);
  const std::string file = path() + GENERATE("-wal", "-shm");
  fs::remove(file);
  std::ofstream(file) << "notes";
  fs::resize_file(path(), 0);
  record(*writer, 3);
  CHECK(slurp(file + ".foreign") == "notes");
  CHECK(events("moved").back().text.find("was renamed to " + file + ".foreign") != std::string::npos);
  CHECK(must(reader()->info()).ticks == 3);
}

TEST_CASE_METHOD(Fixture, "a -wal that another program checkpointed is not reported as lost") {
  const auto writer = steady();
  begin(*writer);
  record(*writer, 5);
  bring_home();
  record(*writer, 3);
  CHECK(events("moved").empty());
  CHECK(must(reader()->info()).ticks == 8);
}

TEST_CASE_METHOD(Fixture, "a process that blocked writes is named when the file is written again, and not earlier") {
  const auto writer = steady();
  begin(*writer);
  record(*writer, 1);
  std::string name;
  {
    const ReadLock lock(path() + "-shm", 120);  // a writer must lock this byte
    name = "process " + std::to_string(lock.pid());
    const Status blocked = writer->write(simulation.next());
    REQUIRE(!blocked);
    CHECK(blocked.error().kind == ErrorKind::blocked);
    clock.advance(10'000);
    CHECK(events("blocked").empty());
  }
  record(*writer, 2);
  REQUIRE(events("blocked").size() == 1);
  CHECK(events("blocked")[0].text.starts_with(name + " ("));
  CHECK(events("blocked")[0].text.find(") held a lock on " + path() + "-shm for 10.0 s") != std::string::npos);
}

}  // namespace memoir::test
