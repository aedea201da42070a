// A real process that leaks 200 KiB a second is found, and similar processes without a leak are not. Ticks are a second
// apart. An hour of the analysis is a small part of the recording, which therefore counts as about a day.

#include <cmath>
#include <fstream>
#include <set>

#include "base/clock.h"
#include "holder.h"
#include "recording.h"
#include "support/catch.h"

using namespace memoir::test;
using nlohmann::json;

namespace {

constexpr int kRounds = 75;
constexpr int kKilledAt = 65;
constexpr std::int64_t kHours = 22;

void hold(Holder& holder, int kib) {
  if (kib > 0) holder.run("private " + std::to_string(kib));
}

void wait_for_next_tick(const Scene& scene) {
  const auto last = scene.last_tick();
  wait_until("the next tick", [&] { return scene.last_tick() != last; });
}

// Finds a process by the last argument of its command line.
json row_of(const json& answer, const std::string& argument) {
  for (const json& row : answer.at("rows")) {
    const std::string subject = row.at("subject");
    if (subject.ends_with(" " + argument) && row.at("metric") == "anon+swap") return row;
  }
  FAIL("no row of " << argument << " in " << answer.dump(1));
  return {};
}

}  // namespace

TEST_CASE("a process that leaks is found among those that collect, warm up and balloon") {
  const Scene scene;
  Holder leak(scene.folder(), {"leaking"});
  Holder killed(scene.folder(), {"killed"});
  Holder sawtooth(scene.folder(), {"collecting"});
  Holder warming(scene.folder(), {"warming"});
  Holder balloon(scene.folder(), {"ballooning"});
  Recorder recorder(scene, "1s");
  wait_for_next_tick(scene);
  const std::int64_t began_ms = memoir::SystemClock().now().wall_ms;
  for (int round = 0; round < kRounds; ++round) {
    hold(leak, 200);
    if (round < kKilledAt) hold(killed, 200);
    if (round == kKilledAt) killed.end();
    if (round % 4 == 0) sawtooth.run("free");
    hold(sawtooth, 1500);
    hold(warming, static_cast<int>(8000 * std::exp(-round / 5.0)));
    if (round % 15 == 5) hold(balloon, 20'000);
    if (round % 15 == 7) balloon.run("free");
    wait_for_next_tick(scene);
  }
  const std::int64_t took_ms = memoir::SystemClock().now().wall_ms - began_ms;
  REQUIRE(recorder.stop() == 0);

  const std::string config = scene.folder() + "/memoir.toml";
  std::ofstream(config) << "[leaks]\nhour = '" << took_ms / kHours << "ms'\n";
  const json all = scene.answer({"leaks", "--all", "--limit", "0", "--config", config});
  const json found = row_of(all, "leaking");
  CAPTURE(found.dump(1));
  CHECK(found.at("leak") == true);
  const double per_day = 200.0 * kRounds / static_cast<double>(took_ms) * 86'400'000;
  CHECK(found.at("slope_kib_per_day").get<double>() == Approx(per_day).epsilon(0.2));
  CHECK(found.at("confidence") <= 50);  // less than a day was recorded
  for (const char* calm : {"collecting", "warming", "ballooning"}) {
    const json row = row_of(all, calm);
    CAPTURE(row.dump(1));
    CHECK(row.at("leak") == false);
    CHECK_FALSE(row.at("reason").get<std::string>().empty());
  }
  const json leaks = scene.answer({"leaks", "--config", config, "--limit", "0"});
  CHECK(row_of(leaks, "leaking").at("leak") == true);
  CHECK(row_of(leaks, "leaking").at("ended_ms").is_null());
  const json dead = row_of(leaks, "killed");
  CAPTURE(dead.dump(1));
  CHECK(dead.at("ended_ms").is_number());
  CHECK(dead.at("runs_out_in_ms").is_null());
  CHECK(dead.at("limit") != "the machine's memory");
}

TEST_CASE("memory in tmpfs and SysV segments is judged if the kernel reports it") {
  const Scene scene;
  Recorder recorder(scene, "100ms");
  for (int tick = 0; tick < 3; ++tick) wait_for_next_tick(scene);
  REQUIRE(recorder.stop() == 0);
  std::set<std::string> judged;
  for (const json& row : scene.answer_rows({"leaks", "--all", "--limit", "0"})) {
    if (row.at("subject") == "machine") judged.insert(row.at("metric"));
  }
  for (const std::string metric : {"shmem", "tmpfs", "sysv"}) {
    CAPTURE(metric);
    const bool recorded =
        scene.number("SELECT count(*) FROM machine_at WHERE " + metric + "_kib IS NOT NULL").value_or(0) > 0;
    CHECK(judged.contains(metric) == recorded);
  }
  CHECK(judged.contains("shmem"));
}
