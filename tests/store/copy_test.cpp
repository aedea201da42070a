// Copies of a file during recording: complete or absent, and with only the requested data.

#include "store/copy/copy.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <set>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "answers.h"
#include "random_history.h"
#include "support/simulation.h"
#include "support/slurp.h"

namespace memoir::test {
namespace {

namespace fs = std::filesystem;

std::string copy_path(const StoreFixture& fixture) {
  return fixture.folder() + "/copies/copy.db";
}

CopyPlan plan_for(const StoreFixture& fixture, Existing existing = Existing::keep) {
  fs::create_directories(fixture.folder() + "/copies");
  return {fixture.path(), copy_path(fixture), existing, [](int) { return true; }};
}

std::set<std::string> copies_in(const StoreFixture& fixture) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(fixture.folder() + "/copies"))
    names.insert(entry.path().filename().string());
  return names;
}

// Two runs with a reboot in between, and a gap.
void record_runs(const StoreFixture& fixture, Simulation& simulation, int ticks = 200) {
  const auto writer = fixture.writer();
  for (int run = 0; run < 3; ++run) {
    must(writer->begin_run(run_info(simulation.boot(), simulation.now(), 60'000)));
    for (int i = 0; i < ticks; ++i) must(writer->write(simulation.next()));
    must(writer->write_event({simulation.now(), "degraded", "pressure is not known"}));
    must(writer->end_run(simulation.now(), "stopped"));
    run == 0 ? simulation.pause(1'800'000) : simulation.reboot();
  }
}

SimulationOptions small_machine() {
  return {.processes = 12, .changing = 0.3, .births = 0.3, .interval_ms = 60'000};
}

TEST_CASE("a backup has the contents at its start, although recording continues") {
  const StoreFixture fixture;
  Simulation simulation(small_machine());
  const auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now(), 60'000)));
  for (int i = 0; i < 1000; ++i) must(writer->write(simulation.next()));
  CopyPlan plan = plan_for(fixture);
  int recorded_beside = 0;
  plan.progress = [&](int) {
    must(writer->write(simulation.next()));
    return ++recorded_beside > 0;
  };
  must(back_up(plan));
  REQUIRE(recorded_beside > 0);
  REQUIRE(copies_in(fixture) == std::set<std::string>{"copy.db"});

  const auto copy = must(Reader::open(plan.to));
  REQUIRE(must(copy->info()).ticks == 1000);
  REQUIRE(must(copy->runs()).back().stop_reason == "copied");
  REQUIRE(must(fixture.reader()->runs()).back().stop_reason.empty());
  const auto original = fixture.reader();
  const Range range{0, must(copy->info()).last_tick_ms};
  for (const StoredTick& tick : must(copy->ticks(range))) {
    if (tick.id % 100 != 0) continue;
    REQUIRE(sample_words(must(copy->snapshot(tick.id))) == sample_words(must(original->snapshot(tick.id))));
  }
  SQLite::Database file(plan.to, SQLite::OPEN_READONLY);
  REQUIRE(file.execAndGet("PRAGMA integrity_check").getString() == "ok");
  REQUIRE(file.execAndGet("PRAGMA journal_mode").getString() == "delete");
}

TEST_CASE("a backup gives the same answers as the file, and a recorder can continue it") {
  const StoreFixture fixture;
  Simulation simulation(small_machine());
  record_runs(fixture, simulation, 60);
  must(back_up(plan_for(fixture)));
  REQUIRE(difference(all_answers(*must(Reader::open(copy_path(fixture)))), all_answers(*fixture.reader())) == "");
  const auto writer = must(Writer::open(copy_path(fixture), Durability::normal));
  must(writer->begin_run(run_info(simulation.boot(), simulation.now(), 60'000)));
  must(writer->write(simulation.next()));
}

TEST_CASE("a copy replaces a file only on request, and never its source or a file that is being recorded") {
  const StoreFixture fixture;
  Simulation simulation(small_machine());
  record_runs(fixture, simulation);
  const auto refused = [](const Status& status, const std::string& word) {
    REQUIRE(!status.ok());
    INFO(status.error().message);
    REQUIRE(status.error().message.find(word) != std::string::npos);
  };
  must(back_up(plan_for(fixture)));
  const std::string first = slurp(copy_path(fixture));
  refused(back_up(plan_for(fixture)), "exists already");
  REQUIRE(slurp(copy_path(fixture)) == first);
  must(back_up(plan_for(fixture, Existing::replace)));
  REQUIRE(copies_in(fixture) == std::set<std::string>{"copy.db"});

  CopyPlan onto_itself = plan_for(fixture, Existing::replace);
  onto_itself.to = fixture.folder() + "/copies/../memoir.db";
  refused(back_up(onto_itself), "is the database itself");
  refused(extract(onto_itself, {0, 1}), "is the database itself");
  for (const char* suffix : {"-wal", "-shm", "-journal", ".lock", ".pid"}) {
    for (const std::string& of : {fixture.path(), copy_path(fixture)}) {
      CopyPlan onto_companion = plan_for(fixture, Existing::replace);
      onto_companion.to = of + suffix;
      std::error_code error;
      const auto before = fs::file_size(onto_companion.to, error);
      refused(back_up(onto_companion), "belongs to " + of);
      refused(extract(onto_companion, {0, 1}), "belongs to " + of);
      CHECK((error || fs::file_size(onto_companion.to, error) == before));
    }
  }
  const auto writer = must(Writer::open(copy_path(fixture), Durability::normal));
  refused(back_up(plan_for(fixture, Existing::replace)), " records into ");

  CopyPlan nowhere = plan_for(fixture);
  nowhere.to = fixture.folder() + "/none/copy.db";
  refused(back_up(nowhere), "No such file or directory");
}

// The ways to copy, all of which are tested in the same way.
using Copy = std::function<Status(const CopyPlan&)>;
const std::vector<Copy>& ways() {
  static const std::vector<Copy> all{back_up, [](const CopyPlan& plan) {
                                       return extract(plan, {0, 4'000'000'000'000});
                                     }};
  return all;
}

TEST_CASE("a stopped copy leaves no file, and the previous file stays") {
  const StoreFixture fixture;
  Simulation simulation(small_machine());
  record_runs(fixture, simulation);
  for (const Copy& copy : ways()) {
    CopyPlan plan = plan_for(fixture, Existing::replace);
    plan.progress = [](int) { return false; };
    const Status stopped = copy(plan);
    REQUIRE(!stopped.ok());
    REQUIRE(stopped.error().message.find("stopped") == 0);
    REQUIRE(copies_in(fixture).empty());
    std::ofstream(copy_path(fixture)) << "other";
    REQUIRE(!copy(plan).ok());
    REQUIRE(slurp(copy_path(fixture)) == "other");
    REQUIRE(copies_in(fixture).size() == 1);
    fs::remove(copy_path(fixture));
  }
}

TEST_CASE("a killed copy leaves no partial file under its name, and the next is complete") {
  const StoreFixture fixture;
  Simulation simulation(small_machine());
  record_runs(fixture, simulation);
  for (const Copy& copy : ways()) {
    const pid_t child = fork();
    if (child == 0) {
      CopyPlan plan = plan_for(fixture);
      plan.progress = [](int) { return raise(SIGKILL) == 0; };
      static_cast<void>(copy(plan));
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    REQUIRE(WIFSIGNALED(status));
    REQUIRE(!fs::exists(copy_path(fixture)));
    must(copy(plan_for(fixture)));
    REQUIRE(copies_in(fixture) == std::set<std::string>{"copy.db"});
    REQUIRE(must(must(Reader::open(copy_path(fixture)))->info()).ticks == 600);
    fs::remove(copy_path(fixture));
  }
}

TEST_CASE("a copy without enough space leaves no file, and the error names it") {
  const StoreFixture fixture;
  Simulation simulation(small_machine());
  record_runs(fixture, simulation);
  for (const Copy& copy : ways()) {
    const pid_t child = fork();
    if (child == 0) {
      const CopyPlan plan = plan_for(fixture);
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit room{100'000, 100'000};
      setrlimit(RLIMIT_FSIZE, &room);
      const Status failed = copy(plan);
      if (!failed.ok() && failed.error().message.find(plan.to) == 0) _exit(0);
      std::fprintf(stderr, "%s\n", failed.ok() ? "it was copied" : failed.error().message.c_str());
      _exit(1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    REQUIRE(status == 0);
    REQUIRE(copies_in(fixture).empty());
  }
}

TEST_CASE("files of another database that belong to the copy's name do not get into the copy") {
  const StoreFixture fixture;
  Simulation simulation(small_machine());
  record_runs(fixture, simulation);
  for (const Copy& copy : ways()) {
    const CopyPlan plan = plan_for(fixture, Existing::replace);
    {
      SQLite::Database other(plan.to, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
      other.exec("PRAGMA journal_mode = WAL; CREATE TABLE other (a); INSERT INTO other (a) VALUES (1)");
      fs::copy_file(plan.to + "-wal", plan.to + ".kept");
    }
    fs::rename(plan.to + ".kept", plan.to + "-wal");
    must(copy(plan));
    REQUIRE(must(must(Reader::open(plan.to))->info()).ticks == 600);
    SQLite::Database whole(plan.to, SQLite::OPEN_READONLY);
    REQUIRE(whole.execAndGet("PRAGMA integrity_check").getString() == "ok");
    fs::remove(plan.to);
  }
}

TEST_CASE("a copy is not world-readable") {
  const StoreFixture fixture;
  fixture.writer();
  must(back_up(plan_for(fixture)));
  struct stat file {};
  REQUIRE(stat(copy_path(fixture).c_str(), &file) == 0);
  REQUIRE((file.st_mode & 0137) == 0);
}

}  // namespace
}  // namespace memoir::test
