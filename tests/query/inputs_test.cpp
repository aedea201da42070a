// Every command on every kind of file. An unreadable file gives exit status 1 and a message with its name, and is not
// changed. A file without data for the query gives 3. Any input gives one of the four exit statuses and a message.

#include <SQLiteCpp/Database.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/text.h"
#include "query/application.h"
#include "query/ask.h"
#include "query/commands.h"
#include "query/history.h"
#include "query/zone_guard.h"
#include "support/catch.h"
#include "support/manual_clock.h"
#include "support/slurp.h"
#include "support/trials.h"

namespace inputs_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::has;
using memoir::test::History;
using memoir::test::recorded;
using memoir::test::slurp;
using memoir::test::TemporaryDirectory;

namespace {

constexpr std::size_t kPage = 2048;

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

void record(History& history) {
  history.begin_run();
  history.birth(7, {"nginx", "nginx: worker", "web"}, 5000);
  history.birth(8, {"postgres", "postgres: main", "database", "postgres"}, 9000);
  history.birth(9, {"psql", "psql app", "other", "postgres"}, 1000);
  history.shmem();
  history.tick(30);
  history.end_run();
}

// Silences SQLite's errors, which each of a thousand invalid files would log.
struct QuietLog {
  QuietLog() { log_level(LogLevel::error); }
  ~QuietLog() { log_level(LogLevel::info); }
};

// Returns the arguments that each command needs besides its name.
std::vector<std::string> words_of(const Command& command, const std::string& folder) {
  if (command.name == "diff") return {"diff", "2026-11-19 00:00:30", "2026-11-19 00:03"};
  if (command.name == "extract") return {"extract", "--last", "2m", "--force", "-o", folder + "/copy.db"};
  if (command.name == "backup") return {"backup", "--force", "-o", folder + "/copy.db"};
  if (command.name == "summary") return {"summary", "--day", "2026-11-19"};
  return {command.name};
}

std::vector<const Command*> readers() {
  std::vector<const Command*> all;
  for (const Command& command : commands()) {
    if (!command.print && !command.interact) all.push_back(&command);
  }
  return all;
}

bool takes(const Command& command, Option option) {
  return std::ranges::find(command.options, option) != command.options.end();
}

// Runs memoir and keeps the path in the output.
Outcome ask_as_it_is(const std::string& path, std::vector<std::string> words) {
  const test::ZoneGuard zone("UTC");
  words.insert(words.end(), {"--db", path});
  return run_query(words, test::ManualClock({recorded<record>().now_ms(), 0}));
}

}  // namespace

TEST_CASE("Every command: an unreadable file gives exit status 1 and is named") {
  struct Input {
    const char* name;
    std::function<void(const std::string& path)> make;
    const char* says;
  };
  const Input input = GENERATE(
      Input{"absent", [](const std::string&) {}, "memoird"},
      Input{"empty", [](const std::string& path) { write(path, ""); }, "is empty"},
      Input{"text", [](const std::string& path) { write(path, std::string(5000, 'x')); }, "is not a Memoir database"},
      Input{"short text", [](const std::string& path) { write(path, "x\n"); }, "is not a Memoir database"},
      Input{"another program's",
            [](const std::string& path) {
              SQLite::Database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec("CREATE TABLE tick (id)");
            },
            "is not a Memoir database"},
      Input{"a folder", [](const std::string& path) { std::filesystem::create_directory(path); }, "is a directory"},
      Input{"a newer schema",
            [](const std::string& path) {
              write(path, slurp(recorded<record>().path()));
              SQLite::Database(path, SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 9999");
            },
            "schema 9999"});
  const QuietLog quiet;
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/in put.db";
  input.make(path);
  const std::string before = std::filesystem::is_regular_file(path) ? slurp(path) : "";
  for (const Command* command : readers()) {
    for (const std::string& format : command->formats) {
      std::vector<std::string> words = words_of(*command, folder.path());
      words.insert(words.end(), {"--format", format});
      CAPTURE(input.name, words);
      const Outcome outcome = ask_as_it_is(path, words);
      CHECK(outcome.exit == Exit::failed);
      const std::string said = outcome.out + outcome.error;  // doctor reports the fault in its answer
      CAPTURE(said);
      if (format == "table") CHECK(has(said, path));
      if (format == "table") CHECK(has(said, input.says));
      if (command->name != "doctor") CHECK(outcome.out.empty());
    }
  }
  if (!before.empty()) CHECK(slurp(path) == before);
  CHECK_FALSE(std::filesystem::exists(folder.path() + "/copy.db"));
}

TEST_CASE("Every command: a damaged page gives an answer or a message that names the file") {
  const QuietLog quiet;
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/damaged.db";
  const std::string whole = slurp(recorded<record>().path());
  for (std::size_t page = 1; page < whole.size() / kPage; page += memoir::test::all_trials() ? 3U : 13U) {
    std::string bytes = whole;
    bytes.replace(page * kPage, kPage, kPage, page % 2 == 0 ? '\0' : '\x7f');
    write(path, bytes);
    for (const Command* command : readers()) {
      CAPTURE(page, command->name);
      const Outcome outcome = ask_as_it_is(path, words_of(*command, folder.path()));
      CAPTURE(outcome.error);
      REQUIRE_OF_MANY(outcome.exit != Exit::usage);
      if (outcome.exit == Exit::failed) REQUIRE_OF_MANY(has(outcome.error + outcome.out, path));
    }
  }
}

TEST_CASE("status: current degraded modes, and no past ones") {
  History history;
  history.begin_run();
  history.event("degraded", "smaps_rollup of other users may not be read");
  for (const char* user : {"eve (uid 1000)", "bob (uid 1001)"}) {
    history.event("degraded", std::string("Processes of user ") + user + " are slow to read: 3 of them");
  }
  history.tick(3);
  const auto degraded = [&history] {
    const Outcome outcome = ask(history, {"status", "--format", "json"});
    return nlohmann::json::parse(outcome.out).at("degraded").size();
  };
  CHECK(degraded() == 3);
  history.event("restored", "Processes of user eve (uid 1000) have been read in time for 10 minutes");
  history.tick();
  CHECK(degraded() == 2);
}

TEST_CASE("Every command: a file can be read during recording") {
  History history;
  const TemporaryDirectory folder;
  history.begin_run();
  history.event("degraded", "smaps_rollup of other users may not be read");
  history.birth(7, {"nginx", "nginx: worker", "web"}, 5000);
  history.shmem();
  history.summary(7, {.regions = 1});
  history.cgroup({"/system.slice", 6000, {}, {}, {}, {}, {}});
  for (int tick = 0; tick < 20; ++tick) {
    history.hold(7, 5000 + tick);
    history.tick();
  }
  for (const Command* command : readers()) {
    CAPTURE(command->name);
    const Outcome outcome = ask(history, words_of(*command, folder.path()));
    CAPTURE(outcome.error, outcome.out);
    CHECK(outcome.exit == Exit::answered);
    history.tick();  // no reader blocks the recorder
  }
}

TEST_CASE("Every command: a run without a tick is reported as such") {
  History history;
  const TemporaryDirectory folder;
  history.begin_run();
  for (const Command* command : readers()) {
    for (const std::string& format : command->formats) {
      std::vector<std::string> words = words_of(*command, folder.path());
      words.insert(words.end(), {"--format", format});
      CAPTURE(words);
      const Outcome outcome = ask(history, words);
      CAPTURE(outcome.error, outcome.out);
      const bool whole = command->name == "backup" || command->name == "doctor";
      CHECK(outcome.exit == (whole ? Exit::answered : Exit::empty));
      const std::string said = outcome.out + outcome.error;
      if (!whole && format == "table" && command->name != "status") CHECK(has(said, "no tick yet"));
      for (const char* epoch : {"1970", "1969", "\"from_ms\":0", "\"from_ms\": 0"}) CHECK_FALSE(has(said, epoch));
      if (!takes(*command, Option::last) || command->name == "extract") continue;
      words.insert(words.end(), {"--last", "2h"});
      CHECK_FALSE(has(ask(history, words).out, "1970"));
    }
  }
}

TEST_CASE("Every command: one tick is enough to answer") {
  History history;
  const TemporaryDirectory folder;
  history.begin_run();
  history.event("degraded", "smaps_rollup of other users may not be read");
  history.birth(7, {"nginx", "nginx: worker", "web"}, 5000);
  history.shmem();
  history.summary(7, {.regions = 1});
  history.cgroup({"/system.slice", 6000, {}, {}, {}, {}, {}});
  history.tick();
  for (const Command* command : readers()) {
    std::vector<std::string> words = words_of(*command, folder.path());
    if (command->name == "diff") words = {"diff", "2026-11-19 00:00:00", "2026-11-19 00:00:05"};
    CAPTURE(words);
    const Outcome outcome = ask(history, words);
    CAPTURE(outcome.error, outcome.out);
    CHECK(outcome.exit == Exit::answered);
  }
}

TEST_CASE("Every command: if nothing was recorded at that time, the exit status is 3 and the recorded range is shown") {
  const TemporaryDirectory folder;
  const auto check = [&](const Command& command, const std::vector<std::string>& when) {
    for (const std::string& format : command.formats) {
      const bool of_one_time = format == "smaps-rollup" || format == "category-metrics";
      if (of_one_time && when.front() != "--at") continue;
      std::vector<std::string> words{command.name};
      words.insert(words.end(), when.begin(), when.end());
      words.insert(words.end(), {"--format", format});
      if (takes(command, Option::output)) words.insert(words.end(), {"-o", folder.path() + "/copy.db"});
      CAPTURE(words);
      const Outcome outcome = ask(recorded<record>(), words);
      CAPTURE(outcome.error, outcome.out);
      CHECK(outcome.exit == Exit::empty);
      if (format == "table") CHECK(has(outcome.out + outcome.error, "2026-11-19 00:00:00 to 2026-11-19 00:04:50"));
    }
  };
  for (const Command* command : readers()) {
    if (takes(*command, Option::at)) check(*command, {"--at", "2020-01-01 12:00"});
    if (takes(*command, Option::day)) check(*command, {"--day", "2020-01-01"});
    if (takes(*command, Option::from)) check(*command, {"--from", "2020-01-01", "--to", "2020-01-02"});
    if (command->name == "diff") check(*command, {"2020-01-01 12:00", "2020-01-01 13:00"});
  }
  CHECK_FALSE(std::filesystem::exists(folder.path() + "/copy.db"));
}

TEST_CASE("The message for an unsampled process or an empty category has alternatives") {
  const auto said = [](const std::vector<std::string>& words, Exit exit) {
    const Outcome outcome = ask(recorded<record>(), words);
    CAPTURE(words, outcome.error, outcome.out);
    CHECK(outcome.exit == exit);
    return outcome.out + outcome.error;
  };
  CHECK(has(said({"trend", "4711"}, Exit::empty), "interval"));
  CHECK(has(said({"trend", "wbe"}, Exit::empty), "did you mean 'web'?"));
  CHECK(has(said({"trend", "category:wbe"}, Exit::empty), "did you mean 'web'?"));
  CHECK(has(said({"leaks", "nginx: wroker"}, Exit::empty), "did you mean 'nginx: worker'?"));
  for (const char* command : {"top", "processes", "peaks"}) {
    CHECK(has(said({command, "--filter", "category=wbe"}, Exit::empty), "did you mean 'web'?"));
  }
  CHECK(has(said({"top", "--filter", "user=postgers"}, Exit::empty), "did you mean 'postgres'?"));
  CHECK(has(said({"export", "processes", "--filter", "comm=ngin"}, Exit::empty), "did you mean 'nginx'?"));
  CHECK(has(said({"diff", "2026-11-19 00:00:30", "2026-11-19 00:03", "--filter", "comm=ngin"}, Exit::empty),
            "did you mean 'nginx'?"));
  // A process has the name, but used less memory; that is an answer.
  said({"top", "--filter", "category=web", "--filter", "rss>1T"}, Exit::answered);
  said({"diff", "2026-11-19 00:00:30", "2026-11-19 00:03", "--filter", "comm=nginx"}, Exit::answered);
}

TEST_CASE("A pid of a process that ran at another time gives that time") {
  History history;
  history.begin_run();
  history.birth(42, {"worker", "worker.py 60 6 3", "batch"}, 1024);
  history.birth(43, {"other", "other", "batch"}, 1024);
  history.tick(8);
  history.death(42);
  history.tick(20);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"tree", "42"},
        {"top", "--at", "2026-11-19 00:04", "--filter", "pid=42", "--format", "csv"},
        {"trend", "42", "--last", "30s"}}) {
    CAPTURE(words);
    const Outcome outcome = ask(history, words);
    CHECK(outcome.exit == Exit::empty);
    CHECK(outcome.error.find("process 42 did not run at that time, but from 20") != std::string::npos);
    CHECK(outcome.error.find("(worker)") != std::string::npos);
  }
}

TEST_CASE("A process that was never recorded gives the same sentence in all commands") {
  const std::string sentence =
      "no process 999999 was sampled at that time; a process that runs for less than the recorder's interval may be "
      "missed\n";
  for (const std::vector<std::string>& words : {std::vector<std::string>{"trend", "999999"},
                                                {"top", "--filter", "pid=999999", "--format", "csv"},
                                                {"top", "--last", "1h", "--filter", "pid=999999", "--format", "csv"},
                                                {"processes", "--filter", "pid=999999", "--format", "csv"},
                                                {"peaks", "--filter", "pid=999999", "--format", "csv"},
                                                {"export", "processes", "--filter", "pid=999999"}}) {
    CAPTURE(words);
    const Outcome outcome = ask(recorded<record>(), words);
    CHECK(outcome.exit == Exit::empty);
    CHECK(outcome.error.ends_with("memoir: " + sentence));
  }
}

TEST_CASE("Arguments are shown as text, with any bytes") {
  const TemporaryDirectory folder;
  const std::string hostile = "\x1b[2J\xff\xe2\x80\xae";
  const std::vector<std::vector<std::string>> asked{
      {"top", "--last", hostile},
      {"trend", "machine", "--step", hostile},
      {"leaks", "--hour", hostile},
      {"leaks", "--config", hostile},
      {"leaks", "--csv", hostile},
      {"incident", "--window", hostile},
      {"trend", hostile},
      {"top", "--db", hostile},
      {"top", "--db", folder.path() + "/" + hostile},
      {"backup", "-o", folder.path() + "/none/" + hostile},
      {"export", hostile},
      {"export", "-o", folder.path() + "/none/" + hostile},
      {"export", "--format", "openmetrics", "--textfile", folder.path() + "/none/" + hostile},
  };
  write(folder.path() + "/" + hostile, "this is no database");
  for (std::vector<std::string> words : asked) {
    CAPTURE(words);
    const bool named = std::ranges::find(words, "--db") != words.end();
    const test::ManualClock clock({recorded<record>().now_ms(), 0});
    if (!named) words.insert(words.end(), {"--db", recorded<record>().path()});
    std::string error = run_query(words, clock).error;
    CHECK_FALSE(error.empty());
    std::erase(error, '\n');
    CHECK(to_printable(error) == error);
  }
}

TEST_CASE("No event during a recording is an answer, no recording is none") {
  const auto exit_of = [](std::vector<std::string> words) {
    words.insert(words.begin(), "events");
    return ask(recorded<record>(), words).exit;
  };
  CHECK(exit_of({}) == Exit::answered);
  CHECK(exit_of({"--last", "1m"}) == Exit::answered);
  CHECK(exit_of({"--kind", "gap"}) == Exit::answered);
  CHECK(exit_of({"--day", "2020-01-01"}) == Exit::empty);
}

TEST_CASE("An ambiguous name lists its matches as they can be typed, with their memory") {
  const auto lines_of_usage = [](const std::vector<std::string>& words) {
    const Outcome outcome = ask(recorded<record>(), words);
    CAPTURE(words, outcome.error);
    CHECK(outcome.exit == Exit::usage);
    CHECK(outcome.out.empty());
    return outcome.error;
  };
  const std::string trend = lines_of_usage({"trend", "postgres", "--units", "kib"});
  CHECK(trend ==
        "memoir: 'postgres' may be any of these; use a name from the last column:\n"
        "PSS AT END KiB PROCS PIDS SUBJECT\n"
        "         10000     2 8,9  user:postgres\n"
        "          9000     1 8    comm:postgres\n");
  for (const char* subject : {"user:postgres", "comm:postgres", "psql", "web"}) {
    CAPTURE(subject);
    CHECK(ask(recorded<record>(), {"trend", subject}).exit == Exit::answered);
  }
  const std::string leaks = lines_of_usage({"leaks", "--explain", "p"});
  CHECK(has(leaks, "'postgres: main'"));
  CHECK(has(leaks, "'psql app'"));
  CHECK(ask(recorded<record>(), {"leaks", "--explain", "psql app"}).exit == Exit::answered);
}

}  // namespace inputs_test
