// Reading by need, as memoird does it where nothing is configured.

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "holder.h"
#include "recording.h"
#include "support/catch.h"

using namespace memoir::test;
using nlohmann::json;

TEST_CASE("by need: who did not move is not read again, and its PSS is as if it had been") {
  const Scene scene;
  Holder holder(scene.folder());
  holder.tell("private 16384");
  Recorder recorder(scene, "1h", {}, {"--config", configured(scene, "")});
  // Asked of the file itself: a program that is run for it would be a sibling of the holder that comes and goes.
  const auto last = [&](const std::string& column) {
    return scene.text("SELECT " + column + " FROM process_at WHERE tick_id = (SELECT max(id) FROM tick) AND pid = " +
                      std::to_string(holder.pid()));
  };
  recorder.tick();
  const std::string all = "pss_kib || ' ' || uss_kib || ' ' || rss_kib";
  const std::string before = last(all);
  const std::int64_t pss_kib = std::stoll(last("pss_kib"));
  recorder.tick();
  // That it was not read again is no change.
  CHECK(last("source") == "exact");
  CHECK(last(all) == before);
  // Its own memory moves: PSS is known without a reading.
  holder.tell("private 32768");
  recorder.tick();
  CHECK(last("source") != "approximate");
  CHECK(std::abs(std::stoll(last("pss_kib")) - pss_kib - 32768) < 1024);
  CHECK(scene.number("SELECT held > 0 AND exact < seen FROM tick ORDER BY id DESC LIMIT 1") == 1);
  CHECK(recorder.stop() == 0);
}

TEST_CASE("looks: what a process held between two ticks only is its highest, and when") {
  const Scene scene;
  Holder holder(scene.folder());
  Recorder recorder(scene, "1h", {}, {"--config", configured(scene, "[recorder]\nlook = \"50ms\"\n")});
  recorder.tick();
  const std::string pid = std::to_string(holder.pid());
  const std::string seen =
      "SELECT count(*) FROM extreme_named WHERE metric = 'rss' AND high_kib >= 131072 AND name LIKE '%[" + pid + "]'";
  // As long as no look fell into the time that it held it, again and for longer.
  for (int attempt = 1; attempt <= 30 && scene.number(seen).value_or(0) == 0; ++attempt) {
    holder.tell("private 131072");
    std::this_thread::sleep_for(std::chrono::milliseconds(20 * attempt));
    holder.tell("free");
    recorder.tick();
  }
  REQUIRE(scene.number(seen).value_or(0) > 0);
  const json trend = scene.answer({"trend", pid, "--by", "rss", "--last", "1h"});
  INFO(trend.dump());
  CHECK(trend.at("max_kib") >= 131072);
  CHECK(trend.at("mean_kib") < 65536);
  CHECK(scene.number("SELECT sum(looks) > 0 AND sum(looks_cpu_us) > 0 AND min(storing_cpu_us) > 0 FROM tick") == 1);
  CHECK(scene.answer({"status"}).at("storing_cpu_us_per_tick") > 0);
  CHECK(recorder.stop() == 0);
}

TEST_CASE("looks: a process that grows fast gets a tick before its turn") {
  const Scene scene;
  Holder holder(scene.folder());
  Recorder recorder(scene, "1h", {}, {"--config", configured(scene, "[recorder]\nlook = \"50ms\"\n")});
  recorder.tick();
  holder.tell("private 262144");
  // A quarter of the interval is too long to wait for: nothing comes at once.
  const auto ticks = scene.number("SELECT count(*) FROM tick").value();
  recorder.tick();
  CHECK(scene.number("SELECT count(*) FROM tick").value() == ticks + 1);
  REQUIRE(recorder.stop() == 0);
  const Scene often;
  Recorder soon(
      often, "5s", {},
      {"--config", configured(often, "[recorder]\nlook = \"50ms\"\n[mappings]\ninterval = \"1d\"\nprocesses = 1\n")});
  soon.tick();
  // It may come just before its turn, which is no proof: then again.
  const std::string early =
      "SELECT count(*) FROM tick WHERE wall_ms % 5000 BETWEEN 1000 AND 4000 AND keyframe_id <> id";
  wait_until("a tick before its turn", [&] {
    holder.tell("free");
    soon.tick();
    const std::int64_t asked = often.number(early).value_or(0);
    const std::int64_t before = often.number("SELECT count(*) FROM tick").value();
    holder.tell("private 262144");
    wait_until("the next tick", [&] { return often.number("SELECT count(*) FROM tick") > before; });
    return often.number(early).value_or(0) > asked;
  });
  // One process has its turn in a day; what is beyond that was read because something was going on.
  wait_until("what the largest map", [&] {
    return often.number("SELECT count(DISTINCT process_id) FROM ledger WHERE read_ms IS NOT NULL").value_or(0) >= 3;
  });
  CHECK(soon.stop() == 0);
}
