// Processes that start, fork, exec, exit, stay as zombies, lose their parents, or cannot be read.

#include <cstdlib>
#include <signal.h>
#include <string>

#include "base/clock.h"
#include "holder.h"
#include "recording.h"
#include "support/catch.h"

using memoir::SystemClock;
using namespace memoir::test;
using nlohmann::json;

namespace {

// Returns a column of the last process with this pid.
std::string process_text(const Scene& scene, pid_t pid, const std::string& column) {
  return scene.text("SELECT " + column + " FROM process WHERE pid = " + std::to_string(pid) +
                    " ORDER BY id DESC LIMIT 1");
}

}  // namespace

TEST_CASE("an exec ends one process and starts another with the same pid") {
  const Scene scene;
  Holder holder(scene.folder(), {"first-life"});
  holder.run("private 16384");
  Recorder recorder(scene);
  recorder.tick();
  const json before = scene.top().at(holder.pid());
  CHECK(contains(before.at("command"), "first-life"));

  holder.run("exec second-life");
  recorder.tick();
  const json after = scene.top().at(holder.pid());
  CHECK(contains(after.at("command"), "holder second-life"));
  CHECK(after.at("start_ms") == before.at("start_ms"));
  CHECK(after.at("hwm_kib") < before.at("hwm_kib"));
  CHECK(scene.number("SELECT count(*) FROM process WHERE pid = " + std::to_string(holder.pid())) == 2);
  CHECK(process_text(scene, holder.pid(), "exec_count") == "1");
  CHECK(scene.text("SELECT exit_kind FROM process WHERE exec_count = 0 AND pid = " + std::to_string(holder.pid())) ==
        "execed");
}

TEST_CASE("a fork is recorded with its parent, and its exit by the next tick") {
  const Scene scene;
  Holder holder(scene.folder());
  Recorder recorder(scene);
  recorder.tick();
  const pid_t child = holder.run("fork");
  recorder.tick();
  REQUIRE(scene.top().contains(child));
  CHECK(process_text(scene, child, "parent_pid") == std::to_string(holder.pid()));
  CHECK(process_text(scene, child, "exit_kind").empty());

  holder.run("reap " + std::to_string(child));
  recorder.tick();
  CHECK_FALSE(scene.top().contains(child));
  CHECK(process_text(scene, child, "exit_kind") == "exited");
  // The history of the exited child is still available.
  const std::int64_t alive = *scene.number(
      "SELECT wall_ms FROM tick WHERE id = (SELECT first_tick_id FROM process WHERE pid = " + std::to_string(child) +
      ")");
  bool found = false;
  for (const auto& row : scene.answer_rows({"top", "--limit", "0", "--at", "@" + std::to_string(alive)}))
    found = found || row.at("pid") == child;
  CHECK(found);
}

TEST_CASE("a start time is exact to 10 ms; an exit time is the kernel's, or not later than the next tick") {
  const Scene scene;
  const std::int64_t earliest_ms = SystemClock().now().wall_ms;
  Holder holder(scene.folder());
  const std::int64_t latest_ms = SystemClock().now().wall_ms;
  const std::string pid = std::to_string(holder.pid());
  for (const bool restarted : {false, true}) {
    CAPTURE(restarted);
    Recorder recorder(scene);
    recorder.tick();
    const auto start_ms = scene.number("SELECT start_ms FROM process WHERE pid = " + pid);
    REQUIRE(start_ms);
    CHECK(*start_ms >= earliest_ms - 15);  // the kernel counts hundredths of a second
    CHECK(*start_ms <= latest_ms + 5);
    if (restarted) holder.end();
    if (restarted) recorder.tick();
    REQUIRE(recorder.stop() == 0);
  }
  const std::int64_t began_ms = *scene.number("SELECT MAX(started_ms) FROM boot");
  CHECK(std::abs(SystemClock().now().wall_ms - SystemClock().now().boot_ms - began_ms) < 100);
  const Outcome listed = scene.ask({"processes", "--last", "1d", "--filter", "pid=" + pid});
  CAPTURE(listed.out);
  CHECK((contains(listed.out, " SIGKILL ") || contains(listed.out, " ended ")));
  const bool reported = scene
                            .number(
                                "SELECT count(*) FROM process_exit AS e JOIN process AS p ON p.id = e.process_id WHERE "
                                "p.pid = " +
                                pid)
                            .value_or(0) > 0;
  CHECK(contains(listed.out, " at most ") != reported);
}

TEST_CASE("a zombie has a state and no memory") {
  const Scene scene;
  Holder holder(scene.folder());
  const pid_t zombie = holder.run("zombie");
  Recorder recorder(scene);
  recorder.tick();
  const json row = scene.top().at(zombie);
  CHECK(row.at("source") == "inaccessible");
  CHECK(row.at("rss_kib").is_null());
  CHECK(row.at("pss_kib").is_null());
  CHECK(scene.text("SELECT state FROM process_detail AS d, process AS p WHERE d.process_id = p.id AND p.pid = " +
                   std::to_string(zombie)) == "Z");
  CHECK(*scene.number("SELECT zombies FROM tick ORDER BY id DESC LIMIT 1") >= 1);
}

TEST_CASE("an orphan keeps its identity under its new parent") {
  const Scene scene;
  Holder holder(scene.folder());
  Recorder recorder(scene);
  const pid_t orphan = holder.run("orphan");
  recorder.tick();
  REQUIRE(scene.top().contains(orphan));
  CHECK(process_text(scene, orphan, "parent_pid") != std::to_string(holder.pid()));
  holder.end();  // the orphan exits with the holder
  wait_until("the orphan's end", [&] { return ::kill(orphan, 0) != 0; });
  recorder.tick();
  CHECK(process_text(scene, orphan, "exit_kind") == "exited");
}

TEST_CASE("a recorder without permission to read rollups reports that and uses RSS") {
  const auto other = other_user();
  if (!other) return;  // an ordinary user cannot become another user
  const Scene scene;
  Holder holder(scene.folder());
  holder.run("private 16384");
  Recorder recorder(scene, "1h", other);
  recorder.tick();
  const json row = scene.top().at(holder.pid());
  CHECK(row.at("source") == "approximate");
  CHECK(row.at("rss_kib").get<std::int64_t>() >= 16384);
  CHECK(row.at("pss_kib") == row.at("rss_kib"));
  CHECK(row.at("uss_kib").is_null());
  CHECK(*scene.number("SELECT denied FROM tick ORDER BY id DESC LIMIT 1") > 0);
  CHECK(*scene.number("SELECT count(*) FROM event WHERE kind = 'degraded'") > 0);
  CHECK(contains(recorder.child().errors(), "smaps_rollup"));
}

TEST_CASE("top by growth: a running leak comes before exited processes, and new ones grew by all their memory") {
  const Scene scene;
  Holder leak(scene.folder());
  leak.run("private 8192");
  Holder compiler(scene.folder());
  compiler.run("private 65536");
  Recorder recorder(scene);
  recorder.tick();
  Holder brief(scene.folder());
  brief.run("private 32768");
  recorder.tick();
  leak.run("private 16384");
  Holder fresh(scene.folder());
  fresh.run("private 49152");
  const pid_t ended = compiler.pid();
  const pid_t brief_pid = brief.pid();
  compiler.end();
  brief.end();
  recorder.tick();

  std::map<std::int64_t, json> rows;
  std::map<std::int64_t, std::size_t> place;
  for (const auto& row : scene.answer_rows({"top", "--last", "1h", "--by", "growth", "--limit", "0"})) {
    place.emplace(row.at("pid"), place.size());
    rows.emplace(row.at("pid"), row);
  }
  CHECK(rows.at(leak.pid()).at("growth_kib").get<std::int64_t>() >= 16384);
  CHECK(rows.at(leak.pid()).at("what") == "grown");
  CHECK(rows.at(fresh.pid()).at("growth_kib").get<std::int64_t>() >= 49152);
  CHECK(rows.at(fresh.pid()).at("what") == "new");
  CHECK(rows.at(ended).at("growth_kib").get<std::int64_t>() <= -65536);
  CHECK(rows.at(ended).at("what") == "gone");
  CHECK(rows.at(brief_pid).at("growth_kib") == 0);
  CHECK(rows.at(brief_pid).at("what") == "came and went");
  CHECK(place.at(fresh.pid()) < place.at(leak.pid()));
  CHECK(place.at(leak.pid()) < place.at(brief_pid));
  CHECK(place.at(brief_pid) < place.at(ended));
}
