// Bursts (recorder/daemon_burst.cpp): more scans and ticks while memory changes fast, and their events.

#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <thread>

#include "holder.h"
#include "recording.h"
#include "support/catch.h"

using namespace memoir::test;
using nlohmann::json;

namespace {

const std::string kFirstEvent = "SELECT text FROM event WHERE kind = 'burst' ORDER BY id LIMIT 1";

// A recorder in a burst that the test's holder started. If another process starts one first, the test tries again.
struct Bursting {
  explicit Bursting(const std::string& interval) {
    for (int attempt = 0; attempt < 10; ++attempt) {
      recorder.reset();
      scene = std::make_unique<Scene>();
      holder = std::make_unique<Holder>(scene->folder());
      recorder = std::make_unique<Recorder>(*scene, interval, std::nullopt,
                                            std::vector<std::string>{"--config", configured(*scene, "")});
      recorder->tick();
      holder->run("private 196608");  // half of it triggers a burst, whenever the scan happens
      wait_until("a burst", [&] { return scene->number("SELECT count(*) FROM event WHERE kind = 'burst'") > 0; });
      first_event = scene->text(kFirstEvent);
      if (contains(first_event, "holder (" + std::to_string(holder->pid()) + ") grew from ")) return;
    }
    FAIL("other processes started all bursts, the last one: " << first_event);
  }

  std::unique_ptr<Scene> scene;
  std::unique_ptr<Holder> holder;
  std::unique_ptr<Recorder> recorder;
  std::string first_event;
};

// Ticks with several scans within a few seconds; without bursts there is one tick per ten seconds.
const std::string kClose =
    "SELECT count(*) FROM (SELECT scans, wall_ms - lag(wall_ms) OVER (ORDER BY id) AS after_ms FROM tick) "
    "WHERE after_ms BETWEEN 500 AND 5000 AND scans >= 2";

}  // namespace

TEST_CASE("bursts: fast growth of a process causes scans and ticks each second for a while") {
  const Bursting bursting("10s");
  const Scene& scene = *bursting.scene;
  CHECK(bursting.first_event.starts_with("Started: holder ("));
  wait_until("ticks each second", [&] { return scene.number(kClose).value_or(0) >= 4; });
  wait_until("the end of the burst",
             [&] { return scene.number("SELECT count(*) FROM event WHERE kind = 'burst'").value_or(0) >= 2; });
  // After the burst, recording continues as before. For a while, growth does not start another burst.
  bursting.holder->run("private 131072");
  wait_until("a regular tick", [&] {
    return scene
               .number(
                   "SELECT count(*) FROM tick WHERE wall_ms > 3000 + (SELECT max(wall_ms) FROM event WHERE kind = "
                   "'burst') AND wall_ms % 10000 < 1000")
               .value_or(0) > 0;
  });
  const json rows = scene.answer_rows({"events", "--kind", "burst", "--last", "1h"});
  INFO(rows.dump());
  REQUIRE(rows.size() >= 2);
  CHECK(rows.at(0).at("text") == bursting.first_event);
  const auto ended = rows.at(1).at("text").get<std::string>();
  CHECK(ended.starts_with("Ended after "));
  CHECK(contains(ended, "a process grew fast"));
  CHECK(scene.number("SELECT count(*) FROM event WHERE text LIKE 'Started: holder%'") == 1);
  CHECK(bursting.recorder->stop() == 0);
}

TEST_CASE("bursts: a burst interrupted by a stop has an end; one interrupted by a crash has only a start") {
  const Bursting bursting("1h");
  const bool crash = GENERATE(false, true);
  if (crash) {
    bursting.recorder->kill();
  } else {
    CHECK(bursting.recorder->stop() == 0);
  }
  CHECK(contains(bursting.scene->text(kFirstEvent), "Started"));
  const auto ended =
      bursting.scene->number("SELECT count(*) FROM event WHERE kind = 'burst' AND text LIKE 'Ended after %'");
  CHECK(ended == (crash ? 0 : 1));
}

TEST_CASE("bursts: switching them off ends the current one") {
  const Bursting bursting("1h");
  configured(*bursting.scene, "[recorder]\nburst = \"off\"\n");
  bursting.recorder->child().signal(SIGHUP);
  const std::string took =
      "SELECT max(wall_ms) - min(wall_ms) FROM event WHERE kind = 'burst' HAVING min(text) LIKE 'Ended after %'";
  wait_until("its end", [&] { return bursting.scene->number(took).has_value(); });
  CHECK(bursting.scene->number(took) < 9'000);
  CHECK(bursting.recorder->stop() == 0);
}

TEST_CASE("bursts: with an interval of an hour there are more scans, but no more ticks at once") {
  const Bursting bursting("1h");
  const auto ticks = bursting.scene->number("SELECT count(*) FROM tick").value();
  bursting.recorder->tick();
  CHECK(bursting.scene->number("SELECT count(*) FROM tick") == ticks + 1);
  CHECK(bursting.recorder->stop() == 0);
}

TEST_CASE("bursts: if they are off, a fast-growing process triggers an early tick") {
  const Scene scene;
  Holder holder(scene.folder());
  Recorder recorder(scene, "5s", {},
                    {"--config", configured(scene, "[recorder]\nscan_interval = \"50ms\"\nburst = \"off\"\n")});
  recorder.tick();
  const std::string early =
      "SELECT count(*) FROM tick WHERE wall_ms % 5000 BETWEEN 1000 AND 4000 AND keyframe_id <> id";
  // The tick may come just before the regular one, which proves nothing; then the test tries again.
  wait_until("an early tick", [&] {
    holder.run("free");
    recorder.tick();
    const std::int64_t asked = scene.number(early).value_or(0);
    const std::int64_t ticks = scene.number("SELECT count(*) FROM tick").value();
    holder.run("private 262144");
    wait_until("the next tick", [&] { return scene.number("SELECT count(*) FROM tick") > ticks; });
    return scene.number(early).value_or(0) > asked;
  });
  CHECK(recorder.stop() == 0);
  CHECK(scene.number("SELECT count(*) FROM event WHERE kind = 'burst'") == 0);
}
