// Reads on demand, with memoird's default configuration.

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "holder.h"
#include "recording.h"
#include "support/catch.h"

using namespace memoir::test;
using nlohmann::json;

namespace {

// Waits for regular ticks, because SIGUSR1 triggers a tick that reads every process.
void await_ticks(const Scene& scene, int count = 1) {
  const std::int64_t before = scene.number("SELECT max(id) FROM tick").value_or(0);
  wait_until("ticks", [&] { return scene.number("SELECT max(id) FROM tick").value_or(0) >= before + count; });
}

// Queries the file directly, because another program would be a short-lived sibling of the holder.
std::string last_of(const Scene& scene, const Holder& holder, const std::string& column) {
  return scene.text("SELECT " + column + " FROM process_at WHERE tick_id = (SELECT max(id) FROM tick) AND pid = " +
                    std::to_string(holder.pid()));
}

}  // namespace

TEST_CASE("on demand: an unchanged process is not read again, and its PSS is as accurate as after a read") {
  const Scene scene;
  Holder holder(scene.folder());
  holder.run("private 16384");
  Recorder recorder(scene, "1s", {}, {"--config", configured(scene, "")});
  const auto last = [&](const std::string& column) { return last_of(scene, holder, column); };
  await_ticks(scene);
  const std::string rss_kib = last("rss_kib");
  const std::int64_t pss_kib = std::stoll(last("pss_kib"));
  // Programs that start and exit on this machine may map the same libraries. Then the process is read again or
  // estimated.
  const auto is_unread = [&] { return last("read_ms < wall_ms") == "1"; };
  bool seen_unread = is_unread();
  for (int tries = 0; tries < 40 && !seen_unread; ++tries) {
    await_ticks(scene);
    seen_unread = is_unread();
  }
  CHECK(seen_unread);
  CHECK(std::abs(std::stoll(last("pss_kib")) - pss_kib) < 256);  // its part of the libraries may differ
  CHECK(last("rss_kib") == rss_kib);
  // Only private memory changes, so PSS is known without a read.
  holder.run("private 32768");
  await_ticks(scene, 2);
  CHECK(last("source") != "approximate");
  CHECK(std::abs(std::stoll(last("pss_kib")) - pss_kib - 32768) < 1024);
  CHECK(scene.number("SELECT MAX(held + estimated > 0 AND exact < seen) FROM tick").value_or(0) == 1);
  const std::string before_ms = last("wall_ms");
  recorder.tick();  // reads of other processes may follow
  CHECK(scene.number("SELECT count(*) FROM process_at WHERE source = 'exact' AND wall_ms > " + before_ms +
                     " AND pid = " + std::to_string(holder.pid())) > 0);
  CHECK(recorder.stop() == 0);
}

TEST_CASE("on demand: a process's PSS shows soon that another process maps the same file, and that it no longer does") {
  const Scene scene;
  const TemporaryDirectory other;
  constexpr std::int64_t kFileKib = 65'536;
  const std::string path = scene.folder() + "/file";
  std::ofstream(path) << std::string(kFileKib * 1024, 'x');
  Holder first(scene.folder());
  first.run("map " + path);
  Recorder recorder(scene, "1s", {}, {"--config", configured(scene, "")});
  const auto kib = [&](const Holder& of, const std::string& column) { return std::stoll(last_of(scene, of, column)); };
  const auto is_near = [](std::int64_t value, std::int64_t right) { return std::abs(value - right) < kFileKib / 50; };
  // On a quiet machine this is true after two ticks, but other tests use most of the budget.
  const auto comes_true = [&scene](const auto& condition) {
    for (int i = 0; i < 60 && !condition(); ++i) await_ticks(scene, 1);
    return condition();
  };
  await_ticks(scene, 2);
  CHECK(comes_true([&] { return is_near(kib(first, "pss_kib"), kFileKib); }));
  {
    Holder second(other.path());
    second.run("map " + path);
    await_ticks(scene, 2);
    CHECK(comes_true([&] {
      return is_near(kib(first, "pss_kib"), kFileKib / 2) && is_near(kib(second, "pss_kib"), kFileKib / 2) &&
             is_near(kib(first, "uss_kib"), 0);
    }));
  }
  CHECK(
      comes_true([&] { return is_near(kib(first, "pss_kib"), kFileKib) && is_near(kib(first, "uss_kib"), kFileKib); }));
  CHECK(recorder.stop() == 0);
}

TEST_CASE("scans: a process's spike between two ticks is its maximum, with its time") {
  const Scene scene;
  Holder holder(scene.folder());
  Recorder recorder(scene, "1h", {}, {"--config", configured(scene, "[recorder]\nscan_interval = \"50ms\"\n")});
  recorder.tick();
  const std::string pid = std::to_string(holder.pid());
  const std::string seen =
      "SELECT count(*) FROM extreme_named WHERE metric = 'rss' AND high_kib >= 131072 AND name LIKE '%[" + pid + "]'";
  // Repeats with longer spikes until a scan happens during one.
  for (int attempt = 1; attempt <= 30 && scene.number(seen).value_or(0) == 0; ++attempt) {
    holder.run("private 131072");
    std::this_thread::sleep_for(std::chrono::milliseconds(20 * attempt));
    holder.run("free");
    recorder.tick();
  }
  REQUIRE(scene.number(seen).value_or(0) > 0);
  const json trend = scene.answer({"trend", pid, "--by", "rss", "--last", "1h"});
  INFO(trend.dump());
  CHECK(trend.at("max_kib") >= 131072);
  CHECK(trend.at("mean_kib") < 65536);
  CHECK(scene.number("SELECT sum(scans) > 0 AND sum(scans_cpu_us) > 0 AND min(storing_cpu_us) > 0 FROM tick") == 1);
  CHECK(scene.answer({"status"}).at("storing_cpu_us_per_tick") > 0);
  CHECK(recorder.stop() == 0);
}

TEST_CASE("scans: a fast-growing process triggers an early tick") {
  const Scene scene;
  Holder holder(scene.folder());
  Recorder recorder(scene, "1h", {}, {"--config", configured(scene, "[recorder]\nscan_interval = \"50ms\"\n")});
  recorder.tick();
  holder.run("private 262144");
  // A quarter of this interval is longer than the test, so no early tick may come.
  const auto ticks = scene.number("SELECT count(*) FROM tick").value();
  recorder.tick();
  CHECK(scene.number("SELECT count(*) FROM tick").value() == ticks + 1);
  REQUIRE(recorder.stop() == 0);
  const Scene often;
  Recorder soon(
      often, "5s", {},
      {"--config",
       configured(often, "[recorder]\nscan_interval = \"50ms\"\n[mappings]\ninterval = \"1d\"\nprocesses = 1\n")});
  soon.tick();
  // The tick may come just before the regular one, which proves nothing; then the test tries again.
  const std::string early =
      "SELECT count(*) FROM tick WHERE wall_ms % 5000 BETWEEN 1000 AND 4000 AND keyframe_id <> id";
  wait_until("an early tick", [&] {
    holder.run("free");
    soon.tick();
    const std::int64_t asked = often.number(early).value_or(0);
    const std::int64_t before = often.number("SELECT count(*) FROM tick").value();
    holder.run("private 262144");
    wait_until("the next tick", [&] { return often.number("SELECT count(*) FROM tick") > before; });
    return often.number(early).value_or(0) > asked;
  });
  // Without activity, only one process would be due within a day. Activity has caused the other reads.
  wait_until("mappings of the largest processes", [&] {
    return often.number("SELECT count(DISTINCT process_id) FROM mapping_summary WHERE read_ms IS NOT NULL")
               .value_or(0) >= 3;
  });
  CHECK(soon.stop() == 0);
}
