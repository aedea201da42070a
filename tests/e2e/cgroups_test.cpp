// A real cgroup with a limit, if the test may create one.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <sys/mount.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "base/clock.h"
#include "holder.h"
#include "limited_cgroup.h"
#include "recording.h"
#include "support/catch.h"

using memoir::SystemClock;
using namespace memoir::test;
using nlohmann::json;

namespace {

namespace fs = std::filesystem;

}  // namespace

TEST_CASE("a cgroup's limit, usage, page cache and deletion are recorded") {
  const Scene scene;
  Holder holder(scene.folder());
  const LimitedCgroup cgroup(64 * 1024);
  if (!cgroup.usable() || !cgroup.take(holder.pid())) {
    WARN("skipped: no cgroup can be made here, or there is no memory controller");
    return;
  }
  holder.run("private 16384");
  Recorder recorder(scene);
  recorder.tick();
  const auto column = [&](const std::string& name) {
    return scene.number("SELECT " + name + " FROM cgroup_at WHERE tick_id = (SELECT MAX(id) FROM tick) AND cgroup = '" +
                        cgroup.path() + "'");
  };
  CHECK(column("max_kib") == 64 * 1024);
  CHECK(column("current_kib").value_or(0) >= 16 * 1024);
  CHECK(column("current_kib").value_or(0) < 64 * 1024);
  CHECK(column("file_kib").value_or(-1) >= 0);
  // The stored value is also up to date at a tick that is no keyframe.
  holder.run("private 8192");
  recorder.tick();
  CHECK(column("current_kib").value_or(0) >= 24 * 1024);
  CHECK(scene.number("SELECT MAX(id) = MAX(keyframe_id) FROM tick") == 0);
  holder.end();
  REQUIRE(recorder.stop() == 0);  // the last tick is a keyframe
  CHECK_FALSE(column("max_kib").has_value());
}

TEST_CASE("a process that moves to another cgroup is recorded there a tick later, if the kernel reports moves") {
  const Scene scene;
  Holder holder(scene.folder());
  const LimitedCgroup cgroup(64 * 1024);
  Recorder recorder(scene);
  recorder.tick();
  if (!cgroup.usable() || !cgroup.take(holder.pid())) {
    WARN("skipped: no cgroup can be made here, or the memory controller is not there");
    return;
  }
  recorder.tick();
  recorder.tick();
  const auto in_it =
      scene.number("SELECT count(*) FROM process_at WHERE tick_id = (SELECT MAX(id) FROM tick) AND pid = " +
                   std::to_string(holder.pid()) + " AND cgroup = '" + cgroup.path() + "'");
  holder.end();
  if (!scene.exits_reported()) {
    WARN("skipped: BPF is not permitted here");
    return;
  }
  CHECK(in_it == 1);
  CHECK(recorder.stop() == 0);
}

TEST_CASE("a real cgroup's peak between two ticks is among its marks, with these ticks") {
  const Scene scene;
  Holder holder(scene.folder());
  const LimitedCgroup cgroup(256 * 1024);
  if (!cgroup.has_peak() || !cgroup.take(holder.pid())) {
    WARN("skipped: no cgroup can be made here, or this kernel has no memory.peak");
    return;
  }
  Recorder recorder(scene);
  recorder.tick();
  recorder.tick();
  {
    Holder spike(scene.folder(), {"spike"});
    REQUIRE(cgroup.take(spike.pid()));
    spike.run("private 131072");
    spike.end();
  }
  holder.run("private 1024");
  recorder.tick();
  REQUIRE(recorder.stop() == 0);
  const json peaks = scene.answer({"peaks", "--group", "cgroup", "--by", "usage", "--limit", "0"});
  const auto& rows = peaks.at("rows");
  const auto row = std::ranges::find_if(rows, [&](const json& of) { return of.at("cgroup") == cgroup.path(); });
  REQUIRE(row != rows.end());
  CAPTURE(row->dump(1));
  CHECK(row->at("peak_kib") >= 131'072);
  CHECK(row->at("seen_by") == "memory.peak");
  CHECK(row->at("before_ms") < row->at("at_ms"));
}

TEST_CASE("memoir cgroups shows the kernel's counts and the container's name from its manager's files") {
  const Scene scene;
  const std::string id = fmt::format("{:064x}", ::getpid());
  Holder holder(scene.folder());
  const LimitedCgroup cgroup(64 * 1024, "docker-" + id + ".scope");
  if (!cgroup.usable() || !cgroup.take(holder.pid())) {
    WARN("skipped: no cgroup can be made here, or the memory controller is not there");
    return;
  }
  const std::string folder = scene.folder() + "/var/lib/docker/containers/" + id;
  fs::create_directories(folder);
  std::ofstream(folder + "/config.v2.json") << R"({"Name":"/web-1","Config":{"Image":"nginx:1"}})";
  Recorder recorder(scene, "1h", {}, {"--containers", scene.folder()});
  recorder.tick();
  holder.run("private 16384");
  recorder.tick();
  const json rows = scene.answer_rows({"cgroups", "cgroup:" + cgroup.path()});
  CAPTURE(rows.dump(1));
  REQUIRE(rows.size() == 1);
  const json& row = rows[0];
  CHECK(row.at("usage_kib") >= 16 * 1024);
  CHECK(row.at("anon_kib") >= 16 * 1024);
  CHECK(row.at("anon_kib") <= row.at("usage_kib"));
  CHECK(row.at("anon_mark_kib") == row.at("anon_kib"));
  CHECK(row.at("max_kib") == 64 * 1024);
  CHECK(row.at("processes") == 1);
  CHECK(row.at("container_name") == "web-1");
  CHECK(row.at("container_image") == "nginx:1");
  REQUIRE(recorder.stop() == 0);
}

TEST_CASE("a cgroup that is created again with the same name is still read") {
  const Scene scene;
  std::optional<LimitedCgroup> cgroup(std::in_place, 64 * 1024);
  std::optional<Holder> holder(std::in_place, scene.folder());
  if (!cgroup->usable() || !cgroup->take(holder->pid())) {
    WARN("skipped: no cgroup can be made here, or the memory controller is not there");
    return;
  }
  Recorder recorder(scene);
  recorder.tick();
  holder.reset();
  cgroup.reset();
  cgroup.emplace(48 * 1024);
  holder.emplace(scene.folder());
  REQUIRE(cgroup->take(holder->pid()));
  holder->run("private 8192");
  // The recorder reads a process's cgroup when the process starts.
  recorder.tick();
  CHECK(scene.number("SELECT max_kib FROM cgroup_at WHERE tick_id = (SELECT MAX(id) FROM tick) AND cgroup = '" +
                     cgroup->path() + "'") == 48 * 1024);
  REQUIRE(recorder.stop() == 0);
}

TEST_CASE("the usage of a tmpfs is read at the tick, including a new mount") {
  const Scene scene;
  Recorder recorder(scene);
  recorder.tick();
  const auto held = [&] {
    recorder.tick();
    return scene.number("SELECT tmpfs_kib FROM machine_at WHERE tick_id = (SELECT MAX(id) FROM tick)").value_or(-1);
  };
  const std::string mount_point = scene.folder() + "/mounted here";
  fs::create_directory(mount_point);
  if (::mount("memoir-test", mount_point.c_str(), "tmpfs", 0, "size=256m") != 0) {
    WARN("skipped: nothing can be mounted here");
    return;
  }
  const std::int64_t empty = held();
  std::ofstream(mount_point + "/file") << std::string(64 << 20U, 'x');
  const std::int64_t full = held();
  REQUIRE(::umount(mount_point.c_str()) == 0);  // the recorder has no file open there
  const std::int64_t gone = held();
  // Other processes may use another tmpfs at the same time, but hardly that much.
  CHECK(std::abs(full - empty - 64 * 1024) < 16 * 1024);
  CHECK(std::abs(gone - empty) < 16 * 1024);
  CHECK(scene.number("SELECT MAX(id) > MAX(keyframe_id) FROM tick") == 1);
  REQUIRE(recorder.stop() == 0);
}

TEST_CASE("a worker that the kernel killed is no longer a leak, and its limit is that of its cgroup") {
  const Scene scene;
  Holder worker(scene.folder(), {"worker"});
  const LimitedCgroup cgroup(40 * 1024);
  if (!cgroup.usable() || !cgroup.take(worker.pid())) {
    WARN("skipped: no cgroup can be made here, or the memory controller is not there");
    return;
  }
  Recorder recorder(scene, "500ms");
  const auto wait_for_tick = [&] {
    const auto last = scene.last_tick();
    wait_until("the next tick", [&] { return scene.last_tick() != last; });
  };
  wait_for_tick();
  const std::int64_t began_ms = memoir::SystemClock().now().wall_ms;
  bool killed = false;
  for (int round = 0; round < 80 && !killed; ++round) {
    try {
      worker.run("private 1024");
    } catch (const std::runtime_error&) {
      killed = true;
    }
    wait_for_tick();
  }
  const std::int64_t took_ms = memoir::SystemClock().now().wall_ms - began_ms;
  wait_for_tick();
  REQUIRE(recorder.stop() == 0);
  if (!killed) {
    WARN("skipped: memory above the limit is swapped out here");
    return;
  }
  const std::string hour = std::to_string(took_ms / 22) + "ms";
  for (const auto& row : scene.answer_rows({"leaks", "--all", "--limit", "0", "--hour", hour})) {
    if (row.at("metric") != "anon+swap" || !row.at("subject").get<std::string>().ends_with(" worker")) continue;
    CAPTURE(row.dump(1));
    CHECK(row.at("leak") == true);
    CHECK(row.at("pid") == worker.pid());
    CHECK(row.at("ended_ms").is_number());
    CHECK(row.at("runs_out_in_ms").is_null());
    CHECK(row.at("limit") == "memory.max of " + cgroup.path());
    return;
  }
  FAIL("the worker has no row");
}

TEST_CASE("OOM kills are events with their cgroup, also after a restart") {
  const Scene scene;
  constexpr std::int64_t limit_kib = 16 * 1024;
  const LimitedCgroup cgroup(limit_kib);
  cgroup.forbid_swap(limit_kib);
  const auto killed = [&] {
    Holder holder(scene.folder());
    if (!cgroup.usable() || !cgroup.take(holder.pid())) return false;
    try {
      holder.run("private 65536");
    } catch (const std::runtime_error&) {
      return true;
    }
    return false;
  };
  Recorder recorder(scene);
  Holder watched(scene.folder());  // makes the cgroup known to the recorder
  if (!cgroup.usable() || !cgroup.take(watched.pid())) {
    WARN("skipped: no cgroup can be made here, or the memory controller is not there");
    return;
  }
  recorder.tick();
  if (!killed()) {
    WARN("skipped: the limit of a cgroup kills no process here");
    return;
  }
  recorder.tick();
  const auto rows = [&] { return scene.answer_rows({"events", "--kind", "oom-kill", "--last", "1d"}); };
  const json first = rows();
  CAPTURE(first.dump(1));
  // Other processes may be killed at the same time.
  const auto of_cgroup = std::count_if(first.begin(), first.end(), [&](const json& event) {
    const std::string text = event.at("text");
    return text.starts_with("The OOM killer killed 1 process between ") &&
           text.ends_with(", in or below the cgroup " + cgroup.path());
  });
  CHECK(of_cgroup == 1);
  const bool by_events = scene.exits_reported();
  const bool by_log = !contains(scene.ask({"events", "--last", "1d"}).out, "The kernel's log is not read");
  if (by_events || by_log) {
    // The kernel reports the victim, and an event has the victim's peak.
    recorder.tick();
    const json victims = scene.answer_rows({"events", "--kind", "oom-victim", "--last", "1d"});
    CAPTURE(victims.dump(1));
    CHECK(std::any_of(victims.begin(), victims.end(), [&](const json& event) {
      const std::string text = event.at("text");
      return contains(text, "The OOM killer killed holder (") &&
             contains(text, " in the cgroup " + cgroup.path() + (by_events ? "; its RSS peaked at 1" : ""));
    }));
  }
  if (by_events) {
    CHECK(scene
              .number("SELECT count(*) FROM process_exit_named WHERE comm = 'holder' AND signal = 9 AND cgroup = '" +
                      cgroup.path() + "' AND peak_kib BETWEEN 8192 AND 24576")
              .value_or(0) >= 1);
  }
  CHECK(scene.answer({"status"}).at("oom_kills") >= 1);
  CHECK(contains(scene.ask({"status"}).out, "OOM kills"));
  REQUIRE(recorder.stop() == 0);

  REQUIRE(killed());
  Recorder again(scene);
  again.tick();
  const json second = rows();
  CAPTURE(second.dump(1));
  const auto not_known = [](const json& events) {
    return std::count_if(events.begin(), events.end(), [](const json& event) {
      return contains(event.at("text").get<std::string>(), ", cgroup unknown");
    });
  };
  CHECK(not_known(second) > not_known(first));
  REQUIRE(again.stop() == 0);
}

// Run only by name: it needs an idle machine for a minute, because the leak must be steady. The tests of the analysis
// check the same with synthetic series.
TEST_CASE("the time to a cgroup's limit is forecast, counts down, and its interval contains the true time", "[.slow]") {
  constexpr std::int64_t limit_kib = 64 * 1024;
  constexpr std::int64_t kib_per_s = 1200;
  const Scene scene;
  Holder holder(scene.folder(), {"leaking"});
  const LimitedCgroup cgroup(limit_kib);
  cgroup.forbid_swap(limit_kib);
  if (!cgroup.usable() || !cgroup.take(holder.pid())) {
    WARN("skipped: no cgroup can be made here, or the memory controller is not there");
    return;
  }
  const auto now_ms = [] { return SystemClock().now().wall_ms; };
  Recorder recorder(scene, "500ms");
  recorder.tick();
  const std::int64_t began_ms = now_ms();
  std::int64_t held_kib = 0;
  std::int64_t longest_ms = 0;  // longest time without growth, on a busy machine
  std::int64_t grown_ms = began_ms;
  const auto grow_for = [&](std::int64_t ms) {
    for (const std::int64_t until_ms = now_ms() + ms; now_ms() < until_ms;) {
      const std::int64_t due_kib = (now_ms() - began_ms) * kib_per_s / 1000 - held_kib;
      if (due_kib < kib_per_s / 3) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        continue;
      }
      holder.run("private " + std::to_string(due_kib));
      held_kib += due_kib;
      longest_ms = std::max(longest_ms, now_ms() - std::exchange(grown_ms, now_ms()));
    }
  };
  struct Forecast {
    std::int64_t asked_ms = 0;
    std::int64_t earliest_ms = 0;
    std::int64_t at_ms = 0;
    std::int64_t latest_ms = 0;
  };
  const auto foretell = [&] {
    const std::string hour = std::to_string((now_ms() - began_ms) / 22) + "ms";
    Forecast forecast{*scene.number("SELECT MAX(wall_ms) FROM tick")};
    for (const json& row : scene.answer_rows({"leaks", "--all", "--limit", "0", "--hour", hour, "--last", "1d"})) {
      if (!row.at("subject").get<std::string>().ends_with(" leaking") || row.at("metric") != "anon+swap") continue;
      CAPTURE(row.dump(1));
      REQUIRE(row.at("leak") == true);
      CHECK(row.at("limit") == "memory.max of " + cgroup.path());
      forecast.earliest_ms = forecast.asked_ms + row.at("runs_out_earliest_in_ms").get<std::int64_t>();
      forecast.at_ms = forecast.asked_ms + row.at("runs_out_in_ms").get<std::int64_t>();
      forecast.latest_ms = forecast.asked_ms + row.at("runs_out_latest_in_ms").get<std::int64_t>();
    }
    REQUIRE(forecast.at_ms > 0);
    return forecast;
  };
  grow_for(24'000);
  const Forecast first = foretell();
  grow_for(8'000);
  const Forecast second = foretell();
  CHECK_THROWS_AS(grow_for(600'000), std::runtime_error);  // killed
  const std::int64_t killed_ms = now_ms();
  REQUIRE(recorder.stop() == 0);
  for (const Forecast& forecast : {first, second}) {
    CAPTURE(killed_ms - forecast.asked_ms, forecast.earliest_ms - forecast.asked_ms, forecast.at_ms - forecast.asked_ms,
            forecast.latest_ms - forecast.asked_ms, longest_ms);
    CHECK(killed_ms >= forecast.earliest_ms);
    CHECK(killed_ms <= forecast.latest_ms + longest_ms);
  }
  // The forecast counts down: queries at different times give the same time.
  CHECK(std::abs(first.at_ms - second.at_ms) < second.asked_ms - first.asked_ms);
}
