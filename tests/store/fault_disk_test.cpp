// A disk that fails at any single read, write or sync of a history. Data that was reported as stored is stored once,
// and the writer continues.

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <filesystem>
#include <sqlite3.h>

#include "base/log.h"
#include "recorded.h"
#include "store/events.h"
#include "store/recovering_writer.h"
#include "store_fixture.h"
#include "support/fault_vfs.h"
#include "support/manual_clock.h"
#include "support/sanitized.h"
#include "support/simulation.h"
#include "support/trials.h"

namespace memoir::test {
namespace {

constexpr int kMaxAttempts = 40;

// Retries failures, as the storing stage does.
template <typename Action>
void insist(Action&& action) {
  Status done = action();
  for (int attempt = 1; !done && attempt < kMaxAttempts; ++attempt) done = action();
  must(done);
}

// Records two runs, of which the first ends without being closed.
class Script {
 public:
  explicit Script(const StoreFixture& fixture) : fixture_(fixture) {}

  void run() {
    record();
    writer_.reset();
    history_.restart(history_.chance(0.5));
    record();
    insist([&] { return writer_->end_run(history_.now(), "stopped"); });
    writer_.reset();
  }

  void check_all() const {
    const auto reader = fixture_.reader();
    REQUIRE(must(reader->info()).ticks == static_cast<std::int64_t>(recorded_.size()));
    for (std::size_t i = 0; i < recorded_.size(); ++i) {
      INFO("tick " << i + 1);
      check(must(reader->snapshot(static_cast<std::int64_t>(i) + 1)), recorded_[i], history_.infos());
    }
    const auto runs = must(reader->runs());
    REQUIRE(runs.size() == 2);
    REQUIRE(runs[0].stop_reason == "unclean");
    REQUIRE(runs[1].stop_reason == "stopped");
    const auto events = must(load_events(*reader, {0, 4'000'000'000'000}));
    REQUIRE(std::count_if(events.begin(), events.end(), [](const Event& e) { return e.kind == "reload"; }) == 2);
    SQLite::Database database(fixture_.path(), SQLite::OPEN_READONLY);
    REQUIRE(database.execAndGet("PRAGMA integrity_check").getString() == "ok");
  }

 private:
  void record() {
    writer_ = must(open_recovering(fixture_.path(), clock_, {}));
    insist([&] { return writer_->begin_run(run_info(history_.boot(), history_.now())); });
    for (int i = 0; i < 3; ++i) {
      const Tick tick = history_.next();
      insist([&] { return writer_->write(tick); });
      recorded_.push_back({tick, history_.boot().boot_id, i == 0});
      // A failure here is retried later.
      static_cast<void>(writer_->maintain());
    }
    insist([&] { return writer_->write_event({history_.now(), "reload", "as a test"}); });
  }

  const StoreFixture& fixture_;
  RandomHistory history_{5};
  ManualClock clock_{history_.now()};
  std::unique_ptr<Writer> writer_;
  std::vector<Recorded> recorded_;
};

// The file at the start of the history: it does not exist, or has no tick.
enum class Begin { nothing, empty };

struct Plan {
  DiskFault fault;
  std::int64_t times = 1;
  Begin begin = Begin::empty;
  std::int64_t step = 1;
};

// Returns true if the history reached the fault.
bool survives(const Plan& plan, std::int64_t nth) {
  INFO("the fault occurs at operation " << nth << ", and lasts for " << plan.times);
  const StoreFixture fixture;
  if (plan.begin == Begin::empty) {
    static const StoreFixture empty;
    if (!std::filesystem::exists(empty.path())) empty.writer();
    for (const char* suffix : {"", "-wal"}) std::filesystem::copy_file(empty.path() + suffix, fixture.path() + suffix);
  }
  FaultVfs disk;
  disk.fail(plan.fault, nth, plan.times);
  Script script(fixture);
  script.run();
  const bool has_failed = disk.has_failed();
  disk.stop_failing();
  script.check_all();
  for (const auto& entry : std::filesystem::directory_iterator(fixture.folder()))
    REQUIRE(entry.path().string().find(".damaged-") == std::string::npos);
  return has_failed;
}

void survives_everywhere(const Plan& plan) {
  log_start(LogLevel::error);
  std::int64_t nth = 1;
  const std::int64_t apart = all_trials() ? plan.step : plan.step * (kSanitized ? 7 : 4);
  while (survives(plan, nth)) nth += apart;
  REQUIRE(nth > 10);
}

TEST_CASE("a write that fails anywhere in a history loses nothing and stores nothing twice") {
  survives_everywhere({.fault = DiskFault::write_error});
}

TEST_CASE("a sync that fails anywhere in a history loses nothing and stores nothing twice") {
  survives_everywhere({.fault = DiskFault::sync_error});
}

TEST_CASE("a write interrupted anywhere in a history loses nothing and stores nothing twice") {
  survives_everywhere({.fault = DiskFault::short_write});
}

TEST_CASE("a disk that is full for a while anywhere in a history loses nothing and stores nothing twice") {
  survives_everywhere({.fault = DiskFault::full, .times = 9, .step = 3});
}

TEST_CASE("a file system that is read-only for a while anywhere in a history loses nothing and stores nothing twice") {
  // To SQLite this is a failed write (EROFS).
  survives_everywhere({.fault = DiskFault::write_error, .times = 9, .step = 3});
}

TEST_CASE("one or several failing reads anywhere in a history lose nothing and quarantine no healthy file") {
  survives_everywhere({.fault = DiskFault::read_error, .step = 3});
  survives_everywhere({.fault = DiskFault::read_error, .times = 3, .step = 7});
  survives_everywhere({.fault = DiskFault::read_error, .times = 9, .begin = Begin::nothing, .step = 7});
}

TEST_CASE("a recorder starts even if the disk fails while the file is created") {
  survives_everywhere({.fault = DiskFault::sync_error, .begin = Begin::nothing});
  survives_everywhere({.fault = DiskFault::write_error, .begin = Begin::nothing, .step = 13});
  survives_everywhere({.fault = DiskFault::full, .times = 9, .begin = Begin::nothing, .step = 13});
}

sqlite3* limited = nullptr;  // the last connection that was limited

// Limits the size of the database; SQLite calls it for each new connection.
int limit_pages(sqlite3* database, char**, const sqlite3_api_routines*) {
  limited = database;
  return sqlite3_exec(database, "PRAGMA max_page_count = 200", nullptr, nullptr, nullptr);
}

TEST_CASE("a file that cannot grow keeps its data, and stores new data once it can grow") {
  log_start(LogLevel::error);
  const StoreFixture fixture;
  sqlite3_auto_extension(reinterpret_cast<void (*)()>(limit_pages));
  Simulation simulation({.processes = 100, .changing = 0.5, .births = 1});
  const ManualClock clock(simulation.now());
  const auto writer = must(open_recovering(fixture.path(), clock, {}));
  sqlite3* const database = limited;
  sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(limit_pages));
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  std::int64_t stored = 0;
  Tick tick = simulation.next();
  Status written = writer->write(tick);
  for (; written; written = writer->write(tick)) {
    ++stored;
    tick = simulation.next();
  }
  REQUIRE(written.error().message.find("the disk is full") != std::string::npos);
  REQUIRE(stored > 2);
  for (int i = 0; i < 5; ++i) REQUIRE(!writer->write(tick).ok());
  REQUIRE(must(fixture.reader()->info()).ticks == stored);
  REQUIRE(sqlite3_exec(database, "PRAGMA max_page_count = 100000", nullptr, nullptr, nullptr) == SQLITE_OK);
  must(writer->write(tick));
  must(writer->write(simulation.next()));
  must(writer->end_run(simulation.now(), "stopped"));
  const auto reader = fixture.reader();
  REQUIRE(must(reader->info()).ticks == stored + 2);
  REQUIRE(must(reader->snapshot(stored + 1)).tick.begin == tick.begin);
  REQUIRE(SQLite::Database(fixture.path()).execAndGet("PRAGMA integrity_check").getString() == "ok");
}

}  // namespace
}  // namespace memoir::test
