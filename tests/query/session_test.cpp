#include "query/session/session.h"

#include <SQLiteCpp/Database.h>
#include <algorithm>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "query/command_line.h"
#include "query/history.h"
#include "support/catch.h"

namespace session_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::History;

namespace {

void record(History& history) {
  history.begin_run();
  history.birth(11, {"worker", "worker", "web"}, 1000);
  history.tick(3);
}

Result<Report> ask(Session& session, const std::vector<std::string>& words, const std::stop_token& stop = {}) {
  const Invocation asked = parse_command_line(words).value();
  return session.ask(*asked.command, asked.options, session.file().last_tick_ms, std::nullopt, stop);
}

void replace_by(const std::string& path, const std::string& other) {
  for (const char* suffix : {"-wal", "-shm", ""}) {
    if (std::filesystem::exists(other + suffix)) {
      std::filesystem::rename(other + suffix, path + suffix);
    } else {
      std::filesystem::remove(path + suffix);
    }
  }
}

}  // namespace

TEST_CASE("a refreshed session has the data that the recorder has written since") {
  History history;
  record(history);
  Session session = Session::open(history.path()).value();
  CHECK(session.file().ticks == 3);
  CHECK_FALSE(session.refresh().value());
  history.birth(12, {"late", "late", "web"}, 500);
  history.tick();
  CHECK(ask(session, {"top"})->rows.rows.size() == 1);  // the session has its last tick until it is refreshed
  CHECK(session.refresh().value());
  CHECK_FALSE(session.refresh().value());
  CHECK(session.file().ticks == 4);
  CHECK(ask(session, {"top"})->rows.rows.size() == 2);
  history.end_run();
  CHECK_FALSE(session.runs().back().stopped_ms);
  CHECK(session.refresh().value());
  CHECK(session.runs().back().stopped_ms);
}

TEST_CASE("a session continues with the file that replaces its own") {
  History history;
  record(history);
  Session session = Session::open(history.path()).value();
  History other;
  record(other);
  other.tick(2);
  other.end_run();
  history.end_run();
  replace_by(history.path(), other.path());
  CHECK(session.refresh().value());
  CHECK(session.file().ticks == 5);
  CHECK_FALSE(session.refresh().value());
}

TEST_CASE("a session keeps its file while the path has no file, or one of a later schema") {
  History history;
  record(history);
  history.end_run();
  Session session = Session::open(history.path()).value();
  const auto requires_answer = [&session] { CHECK(ask(session, {"top"})->rows.rows.size() == 1); };
  const std::string aside = history.path() + ".aside";
  replace_by(aside, history.path());
  CHECK(session.refresh().error().kind == ErrorKind::not_found);
  requires_answer();
  replace_by(history.path(), aside);
  CHECK_FALSE(session.refresh().value());
  SQLite::Database(history.path(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 99");
  const Result<bool> refreshed = session.refresh();
  REQUIRE_FALSE(refreshed);
  CHECK(refreshed.error().message.find("has schema 99") != std::string::npos);
  CHECK_FALSE(session.refresh());
}

TEST_CASE("a request to stop ends an answer, and not the next") {
  History history;
  record(history);
  Session session = Session::open(history.path()).value();
  std::stop_source stop;
  CHECK(ask(session, {"top"}, stop.get_token()));
  stop.request_stop();
  const Result<Report> stopped = ask(session, {"top"}, stop.get_token());
  REQUIRE_FALSE(stopped);
  CHECK(stopped.error().kind == ErrorKind::blocked);
  CHECK(ask(session, {"top"}));
}

TEST_CASE("steps reach each tick, once, and the buckets before them") {
  History history;
  history.begin_run();
  history.birth(11, {"worker", "worker", "web"}, 1000);
  history.tick(60);
  history.pause(2 * History::kHour);
  history.tick(60);
  history.maintain();
  Session session = Session::open(history.path()).value();
  const std::int64_t last_ms = session.file().last_tick_ms;
  // The start of a bucket differs from its end only by the previous tick.
  const auto times = [&session](const Options& options, std::int64_t from_ms, bool onwards) {
    std::vector<std::int64_t> found;
    for (std::optional at_ms = std::optional(from_ms); at_ms;) {
      found.push_back(*at_ms);
      at_ms = (onwards ? session.next_tick(options, *at_ms) : session.previous_tick(options, *at_ms)).value();
    }
    return found;
  };
  std::vector<std::int64_t> ticks;
  const std::vector<StoredTick> stored = session.reader().ticks({0, last_ms}).value();
  for (const StoredTick& tick : stored) ticks.push_back(tick.begin.wall_ms);
  REQUIRE(ticks.size() == 120);
  CHECK(times({}, ticks.front(), true) == ticks);
  auto back = times({}, ticks.back(), false);
  std::ranges::reverse(back);
  CHECK(back == ticks);
  CHECK(session.next_tick({}, 0).value() == ticks.front());
  CHECK(session.previous_tick({}, last_ms + History::kHour).value() == last_ms);

  // Two spans of ten minutes, each with two buckets.
  const Options rolled = parse_command_line({"top", "--tier", "5min"}).value().options;
  const auto buckets = times(rolled, ticks.front(), true);
  REQUIRE(buckets.size() == 4);
  back = times(rolled, buckets.back(), false);
  REQUIRE(back.size() == 4);
  std::ranges::reverse(back);
  for (std::size_t i = 0; i < back.size(); ++i) {
    CAPTURE(i, back[i], buckets[i]);
    CHECK(back[i] / (5 * History::kMinute) == buckets[i] / (5 * History::kMinute));
  }
}

}  // namespace session_test
