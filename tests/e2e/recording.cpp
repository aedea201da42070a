#include "recording.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <signal.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "support/catch.h"

namespace memoir::test {

namespace {

Program memoird(const Scene& scene, const std::string& interval, std::optional<uid_t> as_user,
                const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"--db", scene.db(), "--interval", interval};
  arguments.insert(arguments.end(), more.begin(), more.end());
  // The recorder must not use the configuration of this machine.
  if (std::ranges::find(more, "--config") == more.end()) {
    const std::string config = scene.folder() + "/read-all.toml";
    std::ofstream file(config);
    // If the folder is not writable, there is no configuration.
    if (file << "[budget]\ncpu = \"unlimited\"\n") arguments.insert(arguments.end(), {"--config", config});
  }
  return {.path = MEMOIRD,
          .arguments = arguments,
          // An installed memoir is in the same folder as memoird.
          .environment = {"XDG_CONFIG_HOME=/nonexistent", "HOME=/nonexistent",
                          "PATH=" + std::filesystem::path(MEMOIR).parent_path().string() + ":/usr/bin:/bin"},
          .as_user = as_user};
}

}  // namespace

Scene::Scene() {
  chmod(folder().c_str(), 0777);
}

Outcome Scene::ask(std::vector<std::string> arguments, std::optional<uid_t> as_user) const {
  arguments.insert(arguments.end(), {"--db", db()});
  return run({.path = MEMOIR, .arguments = arguments, .as_user = as_user});
}

nlohmann::json Scene::answer(std::vector<std::string> arguments) const {
  arguments.insert(arguments.end(), {"--format", "json"});
  const Outcome outcome = ask(arguments);
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  return nlohmann::json::parse(outcome.out);
}

nlohmann::json Scene::answer_rows(std::vector<std::string> arguments) const {
  return answer(std::move(arguments)).at("rows");
}

std::map<std::int64_t, nlohmann::json> Scene::top() const {
  std::map<std::int64_t, nlohmann::json> rows;
  for (const auto& row : answer_rows({"top", "--limit", "0"})) rows[row.at("pid")] = row;
  return rows;
}

std::optional<std::int64_t> Scene::last_tick() const {
  return number("SELECT boot_ms FROM tick ORDER BY id DESC LIMIT 1");
}

std::optional<std::int64_t> Scene::number(const std::string& sql) const {
  try {
    const SQLite::Database database(db(), SQLite::OPEN_READONLY, 1000);
    SQLite::Statement statement(database, sql);
    if (!statement.executeStep() || statement.isColumnNull(0)) return std::nullopt;
    return statement.getColumn(0).getInt64();
  } catch (const SQLite::Exception&) {
    return std::nullopt;  // the file is missing or has no tables yet
  }
}

std::string Scene::text(const std::string& sql) const {
  const SQLite::Database database(db(), SQLite::OPEN_READONLY, 1000);
  SQLite::Statement statement(database, sql);
  return statement.executeStep() ? statement.getColumn(0).getString() : "";
}

std::string configured(const Scene& scene, const std::string& toml) {
  std::string path = scene.folder() + "/memoir.toml";
  std::ofstream(path) << toml;
  return path;
}

Recorder::Recorder(const Scene& scene, const std::string& interval, std::optional<uid_t> as_user,
                   const std::vector<std::string>& more)
    : scene_(scene), started_(SystemClock().now().boot_ms), child_(memoird(scene, interval, as_user, more)) {}

void Recorder::tick() {
  wait_for_tick(started_);  // a signal before the first tick could find no handler
  const std::int64_t now = SystemClock().now().boot_ms;
  child_.signal(SIGUSR1);
  wait_for_tick(now);
}

int Recorder::stop() {
  child_.signal(SIGTERM);
  return child_.wait();
}

void Recorder::kill() {
  child_.kill_and_wait();
}

void Recorder::wait_for_tick(std::int64_t since) {
  wait_until("a tick", [&] {
    if (!child_.running()) throw std::runtime_error("memoird ended: " + child_.errors());
    // Waits until memoird has created the -shm. A reader that came first would create it with root as the owner.
    if (!std::filesystem::exists(scene_.db() + "-shm")) return false;
    return scene_.last_tick().value_or(-1) >= since;
  });
}

}  // namespace memoir::test
