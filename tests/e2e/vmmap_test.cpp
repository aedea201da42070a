// The source vmmap: the real recorder with fake vmmap(1) and ps(1), and memoir's answers from its database.

#include <filesystem>
#include <fstream>

#include "recording.h"
#include "support/catch.h"

using namespace memoir::test;
using nlohmann::json;

namespace {

constexpr const char* kFixtures = MEMOIR_SOURCE "/tests/fixtures/vmmap/";

// The two programs are in the folder of the database, with a configuration that names them.
class Mac : public Scene {
 public:
  Mac() {
    program("vmmap", "case $1 in 412) exec cat " + std::string(kFixtures) + "macos-14;; 217) exec cat " + kFixtures +
                         "macos-10.14;; esac\necho \"vmmap: no process found matching '$1'\" >&2\nexit 1\n");
    program("ps", "exec cat " + std::string(kFixtures) + "ps\n");
    std::ofstream(path("memoir.toml")) << "[vmmap]\nvmmap = '" << path("vmmap") << "'\nps = '" << path("ps") << "'\n";
  }

  std::string path(const std::string& name) const { return folder() + '/' + name; }

  Outcome record(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"--source", "vmmap", "--config", path("memoir.toml"), "--db", db(), "--once"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run({.path = MEMOIRD, .arguments = arguments});
  }

 private:
  void program(const std::string& name, const std::string& script) const {
    std::ofstream(path(name)) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(path(name), std::filesystem::perms::owner_all);
  }
};

}  // namespace

TEST_CASE("vmmap: a tick of a recorded Mac is shown as estimated by memoir top") {
  const Mac mac;
  const Outcome recorded = mac.record();
  INFO(recorded.err);
  REQUIRE(recorded.status == 0);
  CHECK(contains(recorded.err, "PSS and SwapPss are estimated"));

  const auto rows = mac.top();
  REQUIRE(rows.size() == 2);
  const json& shop = rows.at(412);
  CHECK(shop.at("source") == "estimated");
  CHECK(shop.at("pss_kib") == 45400);
  CHECK(shop.at("rss_kib") == 45400);
  CHECK(shop.at("uss_kib") == 1216);
  CHECK(shop.at("anon_kib") == 1248);
  CHECK(shop.at("swap_kib") == 1632);
  CHECK(shop.at("user") == "alice");
  CHECK(shop.at("start_ms") == 1'795'351'376'000);
  CHECK(shop.at("command") ==
        "/Applications/Shop Server.app/Contents/MacOS/shop server --listen 8080 --password=[redacted]");
  CHECK(rows.at(217).at("pss_kib") == 12743);

  const Outcome table = mac.ask({"top"});
  CHECK(contains(table.out, " estimated "));
  CHECK(contains(table.out, "(0.0% of it exact or held, estimates off by at most "));
  const json totals = mac.answer({"top"}).at("totals");
  CHECK(totals.at("inexact") == 2);
  CHECK(mac.number("SELECT shared_dirty_kib FROM process_at WHERE pid = 412") == 1088);
  CHECK(mac.number("SELECT parent_pid FROM process_at WHERE pid = 217") == 216);
  CHECK(contains(mac.ask({"events"}).out, "estimated"));
  CHECK(mac.ask({"tree"}).status == 0);
}

TEST_CASE("vmmap: without /proc the processes are the same, and the machine is unknown") {
  const Mac mac;
  const Outcome recorded = mac.record({"--proc", mac.path("none")});
  INFO(recorded.err);
  REQUIRE(recorded.status == 0);
  CHECK(mac.top().at(412).at("pss_kib") == 45400);
  CHECK(mac.answer({"top"}).at("totals").at("machine_total_kib").is_null());
  for (const char* command : {"status", "memory", "categories", "tree", "peaks", "processes", "events", "export"}) {
    INFO(command);
    CHECK(mac.ask({command}).status == 0);
  }
}

TEST_CASE("vmmap: without the program there is an error, and nothing is recorded") {
  const Mac mac;
  std::filesystem::remove(mac.path("vmmap"));
  const Outcome refused = mac.record();
  CHECK(refused.status == 1);
  CHECK(contains(refused.err, "the source vmmap is not available here: " + mac.path("vmmap") + " does not exist"));
  CHECK(contains(refused.err, "set vmmap in [vmmap]"));
  CHECK_FALSE(std::filesystem::exists(mac.db()));
}

TEST_CASE("vmmap: the configuration selects the source, which records tick after tick") {
  const Mac mac;
  std::ofstream(mac.path("memoir.toml"), std::ios::app) << "[recorder]\nsource = 'vmmap'\n";
  Recorder recorder(mac, "1h", {}, {"--config", mac.path("memoir.toml")});
  recorder.tick();
  recorder.tick();
  CHECK(recorder.stop() == 0);
  CHECK(mac.number("SELECT count(*) FROM process") == 2);
  CHECK(mac.number("SELECT count(*) FROM tick") == 4);
}
