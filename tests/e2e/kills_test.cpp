// Many real kills in a row. Runs alone, because a concurrent test of incidents could report one of these kills.

#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <unistd.h>

#include "holder.h"
#include "limited_cgroup.h"
#include "recording.h"
#include "support/catch.h"

using namespace memoir::test;
using nlohmann::json;

namespace {

std::int64_t victims_of(const Scene& scene, const std::string& cgroup) {
  return scene.number("SELECT count(*) FROM event WHERE kind = 'oom-victim' AND detail->>'cgroup' = '" + cgroup + "'")
      .value_or(0);
}

}  // namespace

TEST_CASE("incident: in a row of kills with a crash of the recorder, no kill is reported twice or lost") {
  constexpr int kills = 20;
  const Scene scene;
  const LimitedCgroup cgroup(16 * 1024, "memoir-kills-" + std::to_string(::getpid()));
  cgroup.forbid_swap(16 * 1024);
  std::set<pid_t> killed;
  const auto kill_one = [&] {
    Holder holder(scene.folder());
    if (!cgroup.usable() || !cgroup.take(holder.pid())) return false;
    try {
      holder.run("private 65536");
    } catch (const std::runtime_error&) {
      killed.insert(holder.pid());
      return true;
    }
    return false;
  };
  std::optional<Recorder> recorder(std::in_place, scene);
  recorder->tick();
  for (int i = 0; i < kills; ++i) {
    if (!kill_one()) {
      WARN("skipped: no cgroup can be made here, or its limit does not kill");
      return;
    }
    if (i != kills / 2) continue;
    recorder->tick();
    recorder->tick();
    recorder->kill();
    recorder.emplace(scene);
    recorder->tick();
  }
  recorder->tick();
  recorder->tick();
  REQUIRE(recorder->stop() == 0);
  const bool by_events = scene.exits_reported();
  for (const pid_t pid : killed) {
    CAPTURE(pid);
    const auto events = scene.number("SELECT count(*) FROM event WHERE kind = 'oom-victim' AND detail->>'pid' = " +
                                     std::to_string(pid));
    CHECK(events <= 1);
    CHECK((events == 1 || !by_events));
  }
  CHECK(scene.answer({"status"}).at("oom_kills") >= kills - 1);
  if (!by_events) return;
  CHECK(victims_of(scene, cgroup.path()) == kills);
  const json answer = scene.answer({"incident", "--last-oom", "--window", "1h"});
  CHECK(answer.at("victims").size() >= killed.size());
}
