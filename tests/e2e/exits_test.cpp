// Processes that live between two ticks, recorded by the real memoird where BPF may be used.

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "recording.h"
#include "support/catch.h"

using namespace memoir::test;
using nlohmann::json;

namespace {

constexpr std::int64_t kKibInMib = 1024;

// Whether ends are told here; says so where they are not.
bool ends_told(const Scene& scene) {
  const bool told = scene.ends_told();
  if (!told) WARN("BPF may not be used here: nobody tells of ends");
  return told;
}

// A child that takes memory, and ends.
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

TEST_CASE("exits: what lived between two ticks is in exits and peaks, with its own peak, its end and its parent") {
  const Scene scene;
  Recorder recorder(scene, "1h");
  recorder.tick();
  if (!ends_told(scene)) return;
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
    CHECK(end.at("command").get<std::string>().find("test_") != std::string::npos);  // that of its parent
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

TEST_CASE("exits: how a process ended that a tick saw, and of many small ones the number") {
  const Scene scene;
  Recorder recorder(scene, "1h");
  Child victim(Program{"/bin/sleep", {"1000"}});
  recorder.tick();
  if (!ends_told(scene)) return;
  victim.kill_and_wait();
  constexpr int shells = 30;
  for (int i = 0; i < shells; ++i) REQUIRE(std::system("exit 3") != 0);  // NOLINT(cert-env33-c): a shell of its own
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

TEST_CASE("exits: after HUP another size is large") {
  const Scene scene;
  const std::vector<std::string> options{"--config", configured(scene, "[exits]\nlarge = \"1GiB\"\n")};
  Recorder recorder(scene, "1h", {}, options);
  recorder.tick();
  if (!ends_told(scene)) return;
  const pid_t before = spike(20, 1);
  recorder.tick();
  configured(scene, "[exits]\nlarge = \"1MiB\"\n[store]\nraw = \"8d\"\n");
  recorder.child().signal(SIGHUP);
  wait_until("what is in force now",
             [&] { return scene.number("SELECT count(*) FROM event WHERE kind = 'reload'").value_or(0) > 0; });
  const pid_t after = spike(20, 2);
  recorder.tick();
  const json exits = scene.answer({"exits", "--last", "1h", "--limit", "0"});
  const auto told = [&](pid_t pid) {
    return std::ranges::any_of(exits.at("rows"), [&](const json& row) { return row.at("pid") == pid; });
  };
  CHECK_FALSE(told(before));
  CHECK(told(after));
  CHECK(recorder.stop() == 0);
}

TEST_CASE("exits: a spike of a process that lives on is dated by the look that saw it") {
  const Scene scene;
  Recorder recorder(scene, "1h", {}, {"--config", configured(scene, "[recorder]\nlook = \"50ms\"\n")});
  recorder.tick();
  if (!ends_told(scene)) return;
  // A tick alone knows only that it was after the tick before.
  const std::string dated =
      "SELECT count(*) FROM extreme_named WHERE metric = 'hwm' AND high_after_ms < high_ms AND high_after_ms > "
      "(SELECT max(wall_ms) FROM tick WHERE wall_ms < high_ms)";
  wait_until("a mark that a look dated", [&] {
    Holder holder(scene.folder());
    recorder.tick();
    holder.tell("private 153600");
    holder.tell("free");
    recorder.tick();
    holder.end();
    return scene.number(dated).value_or(0) > 0;
  });
  CHECK(recorder.stop() == 0);
}
