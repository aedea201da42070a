#include "store/sqlite/wal_file.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <filesystem>
#include <random>

#include "support/catch.h"
#include "support/slurp.h"
#include "support/temporary_directory.h"

namespace memoir::test {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kPage = 2048;
constexpr std::size_t kFrame = 24 + 2048;

// A -wal of several commits, as SQLite writes it, followed by frames of an earlier use.
class Log {
 public:
  Log() {
    SQLite::Database database(path_, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec("PRAGMA page_size = 2048; PRAGMA journal_mode = WAL; CREATE TABLE t (a, b)");
    commit(database, 12);
    database.exec("PRAGMA wal_checkpoint");
    commit(database, kCommits);
    bytes = slurp(path_ + "-wal");
    for (std::size_t at = 32; at + kFrame <= bytes.size(); at += kFrame) {
      if (bytes.compare(at + 8, 8, bytes, 16, 8) != 0) break;
      const bool commits = bytes.compare(at + 4, 4, std::string(4, '\0')) != 0;
      end = at + kFrame;
      if (commits) ends.push_back(end);
    }
  }

  static constexpr int kCommits = 7;
  std::string bytes;
  std::vector<std::size_t> ends;  // ends of the commits of the current use
  std::size_t end = 0;

 private:
  static void commit(SQLite::Database& database, int times) {
    for (int i = 0; i < times; ++i) database.exec("INSERT INTO t VALUES (randomblob(100), randomblob(2000))");
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_.path() + "/t.db";
};

std::string flipped(std::string bytes, std::size_t at) {
  bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
  return bytes;
}

}  // namespace

TEST_CASE("a -wal of SQLite has no damage, wherever it ends") {
  const Log log;
  REQUIRE(log.ends.size() == Log::kCommits);
  REQUIRE(log.end < log.bytes.size());
  REQUIRE(wal_damage(log.bytes, kPage).empty());
  for (std::size_t length = 0; length < log.bytes.size(); length += 1100) {
    INFO("cut at " << length);
    REQUIRE(wal_damage(log.bytes.substr(0, length), kPage).empty());
  }
}

TEST_CASE("a byte of the -wal that changed before the last commits is damage") {
  const Log log;
  std::mt19937_64 random(7);
  const std::size_t before_last = log.ends[log.ends.size() - 4];
  for (int i = 0; i < 100; ++i) {
    // If the header is damaged, the first frame's salts replace the header's. Here any single byte is changed.
    const std::size_t at = std::uniform_int_distribution<std::size_t>(0, before_last - 1)(random);
    INFO("byte " << at);
    REQUIRE(!wal_damage(flipped(log.bytes, at), kPage).empty());
  }
  REQUIRE(wal_damage(flipped(log.bytes, 32 + 5 * kFrame + 100), kPage) == "frame 6 of the -wal has a wrong checksum");
  REQUIRE(wal_damage(flipped(log.bytes, 13), kPage) == "the header of the -wal has a wrong checksum");
}

TEST_CASE("an incomplete last commit after a power cut is no damage") {
  const Log log;
  const std::size_t from = log.ends[log.ends.size() - 2];
  for (std::size_t at = from; at < log.end; at += 397) {
    INFO("byte " << at);
    REQUIRE(wal_damage(flipped(log.bytes, at), kPage).empty());
    std::string torn = log.bytes;
    torn.replace(at, std::min<std::size_t>(512, log.end - at), std::min<std::size_t>(512, log.end - at), '\0');
    REQUIRE(wal_damage(torn, kPage).empty());
  }
}

TEST_CASE("any other file has no damage") {
  for (const std::size_t length : {0U, 5U, 32U, 56U, 2104U, 10000U}) {
    REQUIRE(wal_damage(std::string(length, '\0'), kPage).empty());
    REQUIRE(wal_damage(std::string(length, '\xff'), kPage).empty());
    REQUIRE(wal_damage(std::string(length, 'x'), 0).empty());
  }
  REQUIRE(wal_damage_of("/nowhere/memoir.db").empty());
}

}  // namespace memoir::test
