// A file is damaged with random bytes. Each command answers, or exits with status 1 and a message that names the file.

#include <SQLiteCpp/Database.h>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <random>

#include "query/ask.h"
#include "query/history.h"
#include "support/catch.h"
#include "support/slurp.h"
#include "support/trials.h"

namespace damage_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::History;
using memoir::test::slurp;
using memoir::test::TemporaryDirectory;

namespace {

constexpr std::size_t kPage = 2048;
const int kCopies = test::trials(40);

std::string recorded_bytes() {
  History history;
  history.begin_run();
  for (std::int32_t pid = 1; pid <= 60; ++pid) {
    history.birth(pid, {"worker", "worker --number " + std::to_string(pid), "web"}, 1000 * pid);
  }
  for (int i = 0; i < 60; ++i) {
    for (std::int32_t pid = 1; pid <= 20; ++pid) history.hold(pid, 1000 * pid + i);
    history.tick();
  }
  history.end_run();
  history.kill();
  return slurp(history.path());
}

// Damages all but the header of the file, which is checked when the file is opened.
void damage(std::string& bytes, std::mt19937& random) {
  const auto below = [&random](std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
  };
  const std::size_t pages = bytes.size() / kPage;
  switch (below(4)) {
    case 0:
      bytes.resize(100 + below(bytes.size() - 100));
      break;
    case 1:
      bytes.replace((1 + below(pages - 1)) * kPage, kPage, kPage, '\0');
      break;
    case 2:
      for (std::size_t at = (1 + below(pages - 1)) * kPage, end = at + kPage; at < end; ++at) {
        bytes[at] = static_cast<char>(below(256));
      }
      break;
    default:
      for (int i = 0; i < 40; ++i) {
        char& byte = bytes[100 + below(bytes.size() - 100)];
        byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1U << below(8)));
      }
  }
}

}  // namespace

TEST_CASE("A damaged file gives an answer, or an error with its name and the fix") {
  const std::string whole = recorded_bytes();
  REQUIRE(whole.size() > 10 * kPage);
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/damaged.db";
  std::mt19937 random(20'261'120);
  int refused = 0;
  for (int copy = 0; copy < kCopies; ++copy) {
    std::string bytes = whole;
    damage(bytes, random);
    std::filesystem::remove(path + "-wal");
    std::filesystem::remove(path + "-shm");
    std::ofstream(path, std::ios::binary) << bytes;
    for (const char* command : {"status", "top", "trend", "peaks", "processes", "categories"}) {
      CAPTURE(copy, command);
      const Outcome outcome = test::ask(path, History::kStart + 600'000, {command});
      CAPTURE(outcome.error);
      CHECK(outcome.exit != Exit::usage);
      if (outcome.exit != Exit::failed) continue;
      ++refused;
      CHECK(outcome.error.find(path) != std::string::npos);
      CHECK(outcome.out.empty());
    }
  }
  CHECK(refused > kCopies);
}

// A damaged time may be far in the future. Time is processed in steps of five minutes, and reaching it would take
// hours.
TEST_CASE("Extremes of scans long after their tick are omitted") {
  History history(60'000);
  history.begin_run();
  history.birth(7, {"worker", "worker", "web"}, 5000);
  history.tick(30);
  history.seen(7, 9000, history.now_ms() - 30'000);
  history.tick(30);
  history.end_run();
  SQLite::Database database(history.path(), SQLite::OPEN_READWRITE);
  REQUIRE(database.exec("UPDATE extreme SET high_before_ms = -9000000000000000") > 0);
  CHECK(ask(history, {"trend", "category:web", "--tier", "5min", "--last", "1h"}).exit == Exit::answered);
}

TEST_CASE("A number that Memoir never writes is an error with the file's name, and is not added up") {
  History history(60'000);
  history.begin_run();
  history.birth(7, {"worker", "worker", "web"}, 5000);
  for (int hour = 0; hour < 3; ++hour) {
    history.tick(60);
    history.maintain();
  }
  history.end_run();
  const std::vector<std::string> question{"trend", "machine", "--tier", "5min", "--last", "2h"};
  REQUIRE(ask(history, question).exit == Exit::answered);
  const std::string whole = slurp(history.path());
  for (const char* change : {"machine_5min SET hour = 9223372036854775807", "machine_5min SET hour = 9000000000000000",
                             "machine_5min SET slot = slot + 12", "machine_5min SET slot = -1 WHERE slot = 0",
                             "machine_5min SET buckets = 9223372036854775807", "machine_5min SET buckets = 0",
                             "machine_5min SET low = -9223372036854775807",
                             "machine_5min SET value = 4611686018427387904", "run SET interval_ms = 9000000000000"}) {
    CAPTURE(change);
    {
      SQLite::Database database(history.path(), SQLite::OPEN_READWRITE);
      database.exec(fmt::format("UPDATE OR REPLACE {}", change));
    }
    const Outcome outcome = ask(history, question);
    CAPTURE(outcome.error);
    CHECK(outcome.exit == Exit::failed);
    CHECK(outcome.error.find(history.path() + ": the file contains a number that Memoir never writes") !=
          std::string::npos);
    std::filesystem::remove(history.path() + "-wal");
    std::ofstream(history.path(), std::ios::binary) << whole;
  }
}

TEST_CASE("Names longer than Memoir ever writes use little time and memory") {
  History history(60'000);
  history.begin_run();
  for (std::int32_t pid = 1; pid <= 300; ++pid)
    history.birth(pid, {"worker", "worker --number " + std::to_string(pid), "web"}, 5000);
  history.tick(10);
  history.end_run();
  history.kill();
  {
    SQLite::Database database(history.path(), SQLite::OPEN_READWRITE);
    database.exec("UPDATE cgroup SET path = replace(hex(zeroblob(500000)), '00', '/a1')");
    database.exec("UPDATE category SET name = hex(zeroblob(500000))");
  }
  const auto begin = std::clock();
  for (const auto& words : std::vector<std::vector<std::string>>{{"peaks"},
                                                                 {"cgroups"},
                                                                 {"leaks"},
                                                                 {"summary"},
                                                                 {"top", "--group", "identity"},
                                                                 {"processes"},
                                                                 {"export", "processes", "--last", "1m"}}) {
    CAPTURE(words);
    const Outcome outcome = ask(history, words);
    CHECK(outcome.exit != Exit::failed);
    CHECK(outcome.out.size() < 8U << 20U);
  }
  CHECK(std::clock() - begin < 10 * CLOCKS_PER_SEC);
}

}  // namespace damage_test
