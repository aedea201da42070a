// A real process is killed at the limit of a real cgroup, and the alert program runs.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <sys/stat.h>

#include "holder.h"
#include "limited_cgroup.h"
#include "recording.h"
#include "support/catch.h"
#include "support/sanitized.h"
#include "support/slurp.h"

using namespace memoir::test;
using nlohmann::json;

namespace {

constexpr std::int64_t kLimit = 16 * 1024;

// Returns false if the limit kills no process.
bool overstep(const Scene& scene, const LimitedCgroup& cgroup, pid_t& pid) {
  Holder holder(scene.folder());
  pid = holder.pid();
  if (!cgroup.usable() || !cgroup.take(pid)) return false;
  try {
    holder.run("private 65536");
  } catch (const std::runtime_error&) {
    return true;
  }
  return false;
}

}  // namespace

TEST_CASE("alerts: an OOM kill runs the program once, with the incident on its standard input") {
  const Scene scene;
  const std::string program = scene.folder() + "/alert.sh";
  std::ofstream(program) << "#!/bin/sh\ncd \"${0%/*}\"\ncat > in.json\necho \"$MEMOIR_ALERT\" >> runs\n";
  ::chmod(program.c_str(), 0755);
  const LimitedCgroup cgroup(kLimit, "memoir-alert-" + std::to_string(::getpid()));
  cgroup.forbid_swap(kLimit);
  Recorder recorder(scene, "1h", {},
                    {"--config", configured(scene, "[alert]\nexec = ['" + program +
                                                       "']\npressure = 'off'\nleak = 'off'\n" + kNoLevels)});
  recorder.tick();
  pid_t killed = 0;
  if (!overstep(scene, cgroup, killed)) {
    WARN("skipped: no cgroup can be made here, or its limit does not kill");
    return;
  }
  recorder.tick();
  wait_until("the alert", [&] { return scene.number("SELECT count(*) FROM event WHERE kind = 'alert'") > 0; });
  pid_t another = 0;
  CHECK(overstep(scene, cgroup, another));
  recorder.tick();
  recorder.tick();
  CHECK(recorder.stop() == 0);
  const json events = scene.answer_rows({"events", "--kind", "alert", "--last", "1h"});
  INFO(events.dump(1));
  REQUIRE(events.size() == 1);
  const auto text = events[0].at("text").get<std::string>();
  CHECK(contains(text, program + ": exit status 0 after "));
  CHECK(slurp(scene.folder() + "/runs") == "oom-kill\n");
  const json answer = json::parse(slurp(scene.folder() + "/in.json"));
  if (!contains(text, "(" + std::to_string(killed) + ")")) {
    WARN("skipped: another process was killed at the same time, or the kernel does not report its victim");
    return;
  }
  CHECK(answer.at("moment") == "oom-kill");
  const json& victims = answer.at("victims");
  CHECK(std::any_of(victims.begin(), victims.end(), [&](const json& victim) { return victim.at("pid") == killed; }));
}

TEST_CASE("alerts: memoir stays within its memory limit, and uses no more than before") {
  if (kSanitized) return;  // memory is not limited under a sanitizer
  const Scene scene;
  Recorder recorder(scene);
  recorder.tick();
  CHECK(recorder.stop() == 0);
  const auto ask = [&scene](const std::string& mib) {
    return run({.path = MEMOIR,
                .arguments = {"top", "--db", scene.db()},
                .environment = {"MEMOIR_DATA_MIB=" + mib, "PATH=/usr/bin:/bin"}});
  };
  for (const char* mib : {"0", "1"}) {
    const Outcome lacking = ask(mib);
    CAPTURE(lacking.err);
    CHECK(lacking.status != 0);
    CHECK(contains(lacking.err, "memory"));
  }
  for (const char* mib : {"120", "99999999999999", "99999999999999999999", "x", ""}) {
    CAPTURE(mib);
    CHECK(ask(mib).status == 0);
  }
}
