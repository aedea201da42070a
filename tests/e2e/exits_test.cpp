// Processes that run between two ticks, recorded by the real memoird if BPF is permitted.

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "holder.h"
#include "recording.h"
#include "support/catch.h"

using namespace memoir::test;
using nlohmann::json;

namespace {

constexpr std::int64_t kKibInMib = 1024;

// Returns true if the kernel reports exits here, and warns otherwise.
bool exits_reported(const Scene& scene) {
  const bool reported = scene.exits_reported();
  if (!reported) WARN("BPF is not permitted here: exits are not reported");
  return reported;
}

// A child that allocates memory and exits.
pid_t spike(std::int64_t mib, int status) {
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    const auto bytes = static_cast<std::size_t>(mib) << 20U;
    void* const memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    ::_exit(memory == MAP_FAILED ? 99 : status);
  }
  int ended = 0;
  REQUIRE(::waitpid(pid, &ended, 0) == pid);
  REQUIRE(WEXITSTATUS(ended) == status);
  return pid;
}

}  // namespace

TEST_CASE("exits: a process between two ticks is in exits and peaks, with its peak, exit and parent") {
  const Scene scene;
  Recorder recorder(scene, "1h");
  recorder.tick();
  if (!exits_reported(scene)) return;
  std::vector<pid_t> pids;
  for (int i = 0; i < 10; ++i) pids.push_back(spike(50 + 20 * i, i));
  recorder.tick();
  const json exits = scene.answer({"exits", "--last", "1h", "--limit", "0"});
  const json peaks = scene.answer({"peaks", "--limit", "0"});
  for (int i = 0; i < 10; ++i) {
    INFO("child " << i);
    const auto of = [&](const json& answer) {
      for (const json& row : answer.at("rows")) {
        if (row.at("pid") == pids[static_cast<std::size_t>(i)]) return row;
      }
      return json();
    };
    const json end = of(exits);
    REQUIRE_FALSE(end.is_null());
    CHECK(end.at("status") == i);
    CHECK(end.at("signal").is_null());
    CHECK(end.at("parent_pid") == ::getpid());
    CHECK(end.at("command").get<std::string>().find("test_") != std::string::npos);  // its parent's command
    const std::int64_t took_kib = (50 + 20 * i) * kKibInMib;
    CHECK(end.at("peak_kib") >= took_kib);
    const json peak = of(peaks);
    REQUIRE_FALSE(peak.is_null());
    CHECK(peak.at("peak_kib") == end.at("peak_kib"));
    CHECK(peak.at("at_least") == false);
    CHECK(peak.at("at_ms").get<std::int64_t>() - peak.at("before_ms").get<std::int64_t>() < 5'000);
  }
  CHECK(recorder.stop() == 0);
}

TEST_CASE("exits: a sampled process has its exit status, and many small processes are counted") {
  const Scene scene;
  Recorder recorder(scene, "1h");
  Child victim(Program{"/bin/sleep", {"1000"}});
  recorder.tick();
  if (!exits_reported(scene)) return;
  victim.kill_and_wait();
  constexpr int shells = 30;
  for (int i = 0; i < shells; ++i) REQUIRE(std::system("exit 3") != 0);  // runs in a shell of its own
  recorder.tick();
  const json exits = scene.answer({"exits", "--last", "1h", "--limit", "0"});
  bool found = false;
  for (const json& row : exits.at("rows")) {
    if (row.at("pid") != victim.pid()) continue;
    found = true;
    CHECK(row.at("signal") == SIGKILL);
    CHECK(contains(row.at("command").get<std::string>(), "sleep 1000"));
  }
  CHECK(found);
  std::int64_t counted = 0;
  for (const json& row : scene.answer_rows({"exits", "--last", "1h", "--group", "command", "--limit", "0"})) {
    if (row.at("command") == "sh") counted = row.at("processes").get<std::int64_t>();
  }
  CHECK(counted >= shells);
  CHECK(exits.at("totals").at("lost_events") == 0);
  CHECK(recorder.stop() == 0);
}

TEST_CASE("exits: HUP changes the minimum peak of a row") {
  const Scene scene;
  const std::vector<std::string> options{"--config", configured(scene, "[exits]\nmin_peak = \"1GiB\"\n")};
  Recorder recorder(scene, "1h", {}, options);
  recorder.tick();
  if (!exits_reported(scene)) return;
  const pid_t before = spike(20, 1);
  recorder.tick();
  configured(scene, "[exits]\nmin_peak = \"1MiB\"\n[store]\nraw = \"8d\"\n");
  recorder.child().signal(SIGHUP);
  wait_until("the reload event",
             [&] { return scene.number("SELECT count(*) FROM event WHERE kind = 'reload'").value_or(0) > 0; });
  const pid_t after = spike(20, 2);
  recorder.tick();
  const json exits = scene.answer({"exits", "--last", "1h", "--limit", "0"});
  const auto is_listed = [&](pid_t pid) {
    return std::ranges::any_of(exits.at("rows"), [&](const json& row) { return row.at("pid") == pid; });
  };
  CHECK_FALSE(is_listed(before));
  CHECK(is_listed(after));
  CHECK(recorder.stop() == 0);
}

TEST_CASE("exits: a spike of a running process has the time of its scan") {
  const Scene scene;
  Recorder recorder(scene, "1h", {}, {"--config", configured(scene, "[recorder]\nscan_interval = \"50ms\"\n")});
  recorder.tick();
  if (!exits_reported(scene)) return;
  // A tick alone would date the mark only between itself and the previous tick.
  const std::string dated =
      "SELECT count(*) FROM extreme_named WHERE metric = 'hwm' AND high_after_ms < high_ms AND high_after_ms > "
      "(SELECT max(wall_ms) FROM tick WHERE wall_ms < high_ms)";
  wait_until("a mark with the time of a scan", [&] {
    Holder holder(scene.folder());
    recorder.tick();
    holder.run("private 153600");
    holder.run("free");
    recorder.tick();
    holder.end();
    return scene.number(dated).value_or(0) > 0;
  });
  CHECK(recorder.stop() == 0);
}
