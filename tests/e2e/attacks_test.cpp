// Attacks on a running recorder by an unprivileged user or by a member of its group.

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recording.h"
#include "support/catch.h"
#include "support/read_lock.h"

using namespace memoir::test;
using nlohmann::json;

namespace {

namespace fs = std::filesystem;

std::string first_line(const Outcome& outcome) {
  return outcome.out.substr(0, outcome.out.find('\n'));
}

std::string config(const Scene& scene, const std::string& text) {
  const std::string path = scene.folder() + "/memoir.toml";
  std::ofstream(path) << text;
  return path;
}

std::int64_t file_bytes(const Scene& scene) {
  std::int64_t bytes = 0;
  for (const char* suffix : {"", "-wal"}) {
    std::error_code error;
    const auto size = fs::file_size(scene.db() + suffix, error);
    if (!error) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

Outcome record_once(const Scene& scene) {
  return run({.path = MEMOIRD,
              .arguments = {"--db", scene.db(), "--once"},
              .environment = {"XDG_CONFIG_HOME=/nonexistent", "HOME=/nonexistent"}});
}

}  // namespace

TEST_CASE("a reader that blocks the recorder's writes is named, and samples taken during this are stored") {
  const Scene scene;
  Recorder recorder(scene, "100ms");
  recorder.tick();
  ReadLock lock(scene.db() + "-shm", 120);
  const std::int64_t before = scene.last_tick().value_or(0);
  const std::string name = "process " + std::to_string(lock.pid());

  json status;
  wait_until("the status to name it", [&] {
    status = scene.answer({"status"});
    return status.at("blocked_by_pid").is_number();
  });
  CHECK(status.at("blocked_by_pid") == lock.pid());
  const std::string line = first_line(scene.ask({"status"}));
  CAPTURE(line);
  CHECK(contains(line, name));
  const Outcome doctor = scene.ask({"doctor"});
  CHECK(doctor.status == 1);
  CHECK(contains(first_line(doctor), name));

  wait_until("the recorder to log it with its program", [&] {
    return contains(recorder.child().errors(), name + " (") && contains(recorder.child().errors(), ") holds a lock");
  });
  lock.release();
  wait_until("the event", [&] { return contains(scene.text("SELECT text FROM event WHERE kind = 'blocked'"), name); });
  CHECK(scene.number("SELECT COUNT(*) FROM event WHERE kind = 'lost'") == 0);
  // SQLite's busy timeout is 5 s. Ticks of that time are stored afterwards.
  wait_until("ticks of that time", [&] {
    return scene.number("SELECT COUNT(*) FROM tick WHERE boot_ms > " + std::to_string(before)).value_or(0) > 30;
  });
  CHECK(scene.answer({"status"}).at("blocked_by_pid").is_null());
  CHECK(recorder.stop() == 0);
}

TEST_CASE("a lock held at the recorder's start prevents only storing") {
  const Scene scene;
  {
    Recorder recorder(scene, "100ms");
    recorder.tick();
    recorder.kill();
  }
  ReadLock lock(scene.db() + "-shm", 120);
  const ReadLock on_pid(scene.db() + ".pid", 0);
  Recorder recorder(scene, "100ms");
  wait_until("the recorder's message", [&] { return contains(recorder.child().errors(), "records into memory"); });
  lock.release();
  recorder.tick();
  const json status = scene.answer({"status"});
  CHECK(status.at("state") == "recording");
  CHECK(status.at("recorder_pid") == recorder.child().pid());
  CHECK(recorder.stop() == 0);
}

TEST_CASE("only the recorder can open its lock, and every reader knows whether it runs") {
  const Scene scene;
  Recorder recorder(scene, "1h");
  recorder.tick();
  CHECK(fs::status(scene.db() + ".lock").permissions() == fs::perms(0600));
  CHECK(fs::status(scene.db() + ".pid").permissions() == fs::perms(0640));
  CHECK(scene.answer({"status"}).at("recorder_pid") == recorder.child().pid());

  recorder.kill();
  const json status = scene.answer({"status"});
  CHECK(status.at("state") == "died");
  CHECK(status.at("recorder_pid").is_null());
  CHECK(contains(first_line(scene.ask({"status"})), "NOT RECORDING"));
  const Outcome doctor = scene.ask({"doctor"});
  CHECK(doctor.status == 1);
  CHECK(contains(first_line(doctor), "is not running: it crashed"));
}

TEST_CASE("other users' files in place of the recorder's are refused at once and left unchanged") {
  const Scene scene;
  const std::string target = scene.folder() + "/target";
  const auto refused = [&](const std::string& path) {
    CAPTURE(path);
    const Outcome outcome = record_once(scene);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.err, path));
    CHECK(scene.ask({"status"}).status == 1);
    CHECK(!fs::exists(target));
    fs::remove(path);
  };
  for (const char* suffix : {"", ".lock", ".pid", "-wal", "-shm", "-journal"}) {
    const std::string path = scene.db() + suffix;
    REQUIRE(mkfifo(path.c_str(), 0666) == 0);
    refused(path);
    fs::create_symlink(target, path);
    if (const auto other = other_user()) REQUIRE(lchown(path.c_str(), *other, *other) == 0);
    refused(path);
    const auto other = other_user();
    if (!other) continue;
    std::ofstream(path).close();
    REQUIRE(chown(path.c_str(), *other, *other) == 0);
    REQUIRE(chmod(path.c_str(), 0666) == 0);
    refused(path);
  }
  fs::create_directory(scene.db());
  refused(scene.db());
  CHECK(record_once(scene).status == 0);
  CHECK(scene.ask({"status"}).status == 0);
}

TEST_CASE("a fifo next to a database does not block readers") {
  const Scene scene;
  REQUIRE(record_once(scene).status == 0);
  for (const char* suffix : {".lock", ".pid"}) {
    fs::remove(scene.db() + suffix);
    REQUIRE(mkfifo((scene.db() + suffix).c_str(), 0666) == 0);
  }
  CHECK(scene.ask({"status"}).status == 0);
  CHECK(scene.ask({"doctor"}).status < 2);
}

TEST_CASE("no command takes long or uses much memory on a crafted file") {
  const Scene scene;
  REQUIRE(record_once(scene).status == 0);
  SQLite::Database(scene.db(), SQLite::OPEN_READWRITE)
      .exec(
          "DROP VIEW run_named; CREATE VIEW run_named AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM "
          "n) SELECT i AS id, 1 AS boot_id FROM n");
  const auto begin = std::chrono::steady_clock::now();
  for (const char* command : {"status", "top", "doctor"}) {
    const Outcome outcome = scene.ask({command});
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.out + outcome.err, "'run_named'"));
  }
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));
}

TEST_CASE("unique command lines of one user use a small part of the file, and the ticks of others stay") {
  const Scene scene;
  const Recorder recorder(scene, "200ms", {},
                          {"--config", config(scene, "[store]\nmax_size = \"16MiB\"\ndurability = \"normal\"\n")});
  wait_until("ticks from before", [&] { return scene.number("SELECT COUNT(*) FROM tick").value_or(0) >= 5; });
  const Child flood({.path = MEMOIR_ATTACKER, .arguments = {"names", "120"}});
  std::int64_t most = 0;
  const std::string of_flood = "SELECT SUM(LENGTH(exe) + LENGTH(line)) FROM command WHERE line LIKE '%attacker%'";
  wait_until("names of the flood that are left out", [&] {
    most = std::max(most, file_bytes(scene));
    return scene.number("SELECT COUNT(*) FROM tick").value_or(0) >= 25 && scene.number(of_flood) &&
           scene.number("SELECT COUNT(*) FROM process_named WHERE command LIKE '%left out%'").value_or(0) > 10;
  });
  // The user's share is 128 KiB of 16 MiB. Further commands cost only the short texts that replace theirs.
  CHECK(scene.number(of_flood).value() < 200 * 1024);
  CHECK(scene.number("SELECT MIN(id) FROM tick") == 1);
  CHECK(most < 16 * 1024 * 1024 / 20 * 21);
}
