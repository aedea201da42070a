// Opening existing files as any user, in use, after a crash or as a copy; and opening files that are not Memoir's.

#include <SQLiteCpp/SQLiteCpp.h>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/copy/copy.h"
#include "store/schema/migrations.h"
#include "store/sqlite/database.h"
#include "store/sqlite/pages.h"
#include "store_fixture.h"
#include "support/simulation.h"
#include "support/slurp.h"

namespace memoir::test {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

// Returns true if an unprivileged user without write permission can read `ticks` ticks. Root changes its user for this.
bool reads_as_nobody(const StoreFixture& fixture, const std::string& path, std::int64_t ticks) {
  for (const auto& entry : fs::directory_iterator(fs::path(path).parent_path())) {
    fs::permissions(entry, fs::perms::others_read, fs::perm_options::add);
  }
  fs::permissions(fs::path(path).parent_path(), fs::perms(0555));
  const pid_t child = fork();
  if (child == 0) {
    if (getuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) _exit(2);
    const auto reader = Reader::open(path);
    if (!reader) {
      std::fprintf(stderr, "%s\n", reader.error().message.c_str());
      _exit(3);
    }
    const auto info = (*reader)->info();
    if (!info) std::fprintf(stderr, "%s\n", info.error().message.c_str());
    _exit(info.ok() && info->ticks == ticks && (*reader)->snapshot(ticks).ok() ? 0 : 4);
  }
  int status = -1;
  waitpid(child, &status, 0);
  fs::permissions(fs::path(path).parent_path(), fs::perms(0755));
  fs::permissions(fixture.folder(), fs::perms(0755));
  return status == 0;
}

TEST_CASE("a user without write permission for the folder reads a database in every state") {
  const StoreFixture fixture;
  fs::permissions(fixture.folder(), fs::perms(0755));
  Simulation simulation({.processes = 20});
  auto writer = fixture.writer();
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  for (int i = 0; i < 5; ++i) must(writer->write(simulation.next()));
  REQUIRE(reads_as_nobody(fixture, fixture.path(), 5));  // a recorder has it open

  must(writer->end_run(simulation.now(), "stopped"));
  writer.reset();
  REQUIRE(reads_as_nobody(fixture, fixture.path(), 5));  // the recorder has stopped

  fs::create_directory(fixture.folder() + "/elsewhere");
  const std::string copy = fixture.folder() + "/elsewhere/copy ?#%.db";
  fs::copy_file(fixture.path(), copy);
  REQUIRE(reads_as_nobody(fixture, copy, 5));  // a copy without -wal and -shm

  const pid_t child = fork();
  if (child == 0) {
    const auto doomed = fixture.writer();
    must(doomed->begin_run(run_info(simulation.boot(), simulation.now())));
    must(doomed->write(simulation.next()));
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  REQUIRE(reads_as_nobody(fixture, fixture.path(), 6));  // the recorder was killed
}

void check_refused(const std::string& path, const std::string& word) {
  const auto reader = Reader::open(path);
  REQUIRE(!reader.ok());
  INFO(reader.error().message);
  REQUIRE(reader.error().message.find(path) == 0);
  REQUIRE(reader.error().message.find(word) != std::string::npos);
}

TEST_CASE("files that are not Memoir databases are refused and left unchanged") {
  const StoreFixture fixture;
  const auto refused_both_ways = [&](const std::string& word) {
    const std::string before = slurp(fixture.path());
    check_refused(fixture.path(), word);
    const auto writer = Writer::open(fixture.path(), Durability::normal);
    REQUIRE(!writer.ok());
    REQUIRE(writer.error().message.find(word) != std::string::npos);
    REQUIRE(slurp(fixture.path()) == before);
    // No other file was created in the folder.
    for (const char* suffix : {"-wal", "-shm", "-journal", ".lock", ".pid"})
      REQUIRE(!fs::exists(fixture.path() + suffix));
  };
  SECTION("a text file") {
    std::ofstream(fixture.path()) << std::string(5000, 'x');
    refused_both_ways("not a Memoir database");
  }
  SECTION("another program's database") {
    SQLite::Database(fixture.path(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec("CREATE TABLE t (a)");
    refused_both_ways("not a Memoir database");
  }
  SECTION("another program's database with a write-ahead log") {
    SQLite::Database database(fixture.path(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (a); PRAGMA application_id = 7");
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    fs::copy_file(fixture.path(), fixture.path() + ".copy");
    const auto refused = Writer::open(fixture.path() + ".copy", Durability::normal);
    REQUIRE(!refused.ok());
    for (const char* suffix : {"-wal", "-shm", ".lock"}) REQUIRE(!fs::exists(fixture.path() + ".copy" + suffix));
  }
  SECTION("a text about Memoir's tables") {
    std::ofstream(fixture.path()) << "CREATE TABLE process_sample (\n" << std::string(5000, 'x') << "MEMR";
    refused_both_ways("not a Memoir database");
  }
  SECTION("another version of the schema") {
    const int version = GENERATE(2, 12, 99);
    fixture.writer();
    for (const char* suffix : {".lock", ".pid"}) fs::remove(fixture.path() + suffix);
    SQLite::Database(fixture.path(), SQLite::OPEN_READWRITE).exec(fmt::format("PRAGMA user_version = {}", version));
    refused_both_ways(fmt::format("schema {}, but this program reads only schema 1", version));
    refused_both_ways("commit f9198cb");
  }
  SECTION("a directory") {
    fs::create_directory(fixture.path());
    check_refused(fixture.path(), "is a directory");
    REQUIRE(!Writer::open(fixture.path(), Durability::normal).ok());
  }
}

TEST_CASE("a main file without its -wal is reported as incomplete") {
  const StoreFixture fixture;
  SQLite::Database database(fixture.path(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE tick (id INTEGER PRIMARY KEY)");
  const std::string copy = fixture.folder() + "/copy.db";
  fs::copy_file(fixture.path(), copy);
  const auto reader = Reader::open(copy);
  REQUIRE(!reader.ok());
  INFO(reader.error().message);
  REQUIRE(reader.error().message.find(copy + ": its -wal, which has the latest data, is missing") == 0);
  REQUIRE(reader.error().message.find("`memoir backup`") != std::string::npos);
  for (const char* suffix : {"-wal", "-shm"}) REQUIRE(!fs::exists(copy + suffix));
}

TEST_CASE("a missing or empty file is an error") {
  const StoreFixture fixture;
  check_refused(fixture.path(), "does not exist");
  check_refused(fixture.folder() + "/no/such/folder.db", "does not exist");
  std::ofstream(fixture.path()).close();
  check_refused(fixture.path(), "is empty");
  fixture.writer();
  REQUIRE(must(fixture.reader()->info()).ticks == 0);
}

TEST_CASE("the error for a missing folder names the folder") {
  const StoreFixture fixture;
  const auto writer = Writer::open(fixture.folder() + "/none/memoir.db", Durability::full);
  REQUIRE(!writer.ok());
  REQUIRE(writer.error().message.find("/none does not exist") != std::string::npos);
}

TEST_CASE("a file truncated while it is open is an error that names it") {
  const StoreFixture fixture;
  Simulation simulation({.processes = 100, .changing = 0.2, .births = 0.5});
  {
    const auto writer = fixture.writer();
    must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
    for (int i = 0; i < 50; ++i) must(writer->write(simulation.next()));
    must(writer->end_run(simulation.now(), "stopped"));
  }
  const auto reader = fixture.reader();
  must(reader->info());
  fs::resize_file(fixture.path(), 8192);
  const auto snapshot = reader->snapshot(40);
  REQUIRE(!snapshot.ok());
  REQUIRE(snapshot.error().kind == ErrorKind::damaged);
  REQUIRE(snapshot.error().message.find(fixture.path()) != std::string::npos);
}

TEST_CASE("a new database is not world-readable under any umask") {
  const mode_t before = umask(0);
  const StoreFixture fixture;
  const auto writer = fixture.writer();
  umask(before);
  for (const char* suffix : {"", "-wal", "-shm", ".pid"}) {
    INFO(suffix);
    REQUIRE(fs::status(fixture.path() + suffix).permissions() == fs::perms(0640));
  }
  REQUIRE(fs::status(fixture.path() + ".lock").permissions() == fs::perms(0600));
}

class WorkingFolder {
 public:
  explicit WorkingFolder(const fs::path& folder) { fs::current_path(folder); }
  ~WorkingFolder() { fs::current_path(before_); }

 private:
  const fs::path before_ = fs::current_path();
};

TEST_CASE("a path is never a URI or a special name of SQLite") {
  const StoreFixture fixture;
  const WorkingFolder folder(fixture.folder());
  const std::string name = GENERATE(as<std::string>{}, "memoir.db", "file:memoir.db?mode=rwc", ":memory:");
  const std::string path = name == "memoir.db" ? "/" + fixture.path() : name;
  Simulation simulation({.processes = 2});
  for (std::int64_t ticks = 1; ticks <= 2; ++ticks) {
    auto writer = must(Writer::open(path, Durability::full));
    must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
    must(writer->write(simulation.next()));
    REQUIRE(must(must(Reader::open(path))->info()).ticks == ticks);
    REQUIRE((fs::status(path).permissions() & fs::perms::others_all) == fs::perms::none);
    const std::string copy = path + ".copy";
    must(back_up({path, copy, Existing::replace, [](int) { return true; }}));
    REQUIRE(must(must(Reader::open(copy))->info()).ticks == ticks);
    must(extract({path, copy, Existing::replace, [](int) { return true; }}, {0, simulation.now().wall_ms}));
    REQUIRE(must(must(Reader::open(copy))->info()).ticks == ticks);
  }
  for (const auto& entry : fs::directory_iterator(".")) {
    INFO(entry.path());
    REQUIRE(entry.path().filename().string().starts_with(fs::path(path).filename().string()));
  }
}

TEST_CASE("a link of the same user to a database is followed, and a dangling one is refused") {
  const StoreFixture fixture;
  const std::string link = fixture.folder() + "/link.db";
  fs::create_symlink(fixture.path(), link);
  const auto nowhere = Writer::open(link, Durability::normal);
  REQUIRE(!nowhere.ok());
  REQUIRE(nowhere.error().message.find("dangling symbolic link") != std::string::npos);
  REQUIRE(!fs::exists(fixture.path()));

  fixture.writer().reset();
  Simulation simulation({.processes = 20});
  const auto writer = must(Writer::open(link, Durability::normal));
  must(writer->begin_run(run_info(simulation.boot(), simulation.now())));
  must(writer->write(simulation.next()));
  REQUIRE(fs::is_symlink(link));
  REQUIRE(must(fixture.reader()->info()).ticks == 1);
}

TEST_CASE("deleted data is overwritten in the file") {
  const StoreFixture fixture;
  const auto database = must(open_for_writing(fixture.path(), Durability::normal));
  const auto add = [&](const std::string& line) {
    database->exec("INSERT INTO command (exe, line, line_digest) VALUES ('/bin/sh', '" + line + "', 0)");
  };
  add("sh stays");
  add("sh --password=forgotten");
  add("sh stays too");
  checkpoint(*database);
  REQUIRE(slurp(fixture.path()).find("forgotten") != std::string::npos);
  database->exec("DELETE FROM command WHERE line LIKE '%forgotten%'");
  checkpoint(*database);
  const std::string bytes = slurp(fixture.path());
  REQUIRE(bytes.find("sh stays too") != std::string::npos);
  REQUIRE(bytes.find("forgotten") == std::string::npos);
}

TEST_CASE("a new database has the settings that the store needs") {
  const StoreFixture fixture;
  const auto writer = fixture.writer();
  SQLite::Database database(fixture.path(), SQLite::OPEN_READONLY);
  REQUIRE(database.execAndGet("PRAGMA journal_mode").getString() == "wal");
  REQUIRE(database.execAndGet("PRAGMA auto_vacuum").getInt() == 2);
  REQUIRE(database.execAndGet("PRAGMA application_id").getInt() == kApplicationId);
  REQUIRE(database.execAndGet("PRAGMA user_version").getInt() == kSchemaVersion);
}

}  // namespace
}  // namespace memoir::test
