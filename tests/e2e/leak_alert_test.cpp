// A leak is found while it happens. Runs alone: the search has the lowest priority, and ends without a result while
// other tests use all processors.

#include <string>

#include "holder.h"
#include "limited_cgroup.h"
#include "recording.h"
#include "support/catch.h"

using namespace memoir::test;

TEST_CASE("alerts: a process that leaks runs the program before it reaches its limit") {
  constexpr std::int64_t limit = 256 * 1024;
  constexpr int max_rounds = 230;  // 230 MiB, which is below the limit
  const Scene scene;
  const LimitedCgroup cgroup(limit, "memoir-leak-" + std::to_string(::getpid()));
  cgroup.forbid_swap(limit);
  Holder holder(scene.folder(), {"leaking"});
  if (!cgroup.usable() || !cgroup.take(holder.pid())) {
    WARN("skipped: no cgroup can be made here");
    return;
  }
  // Other leaks on the machine delay this alert by a second at most.
  const std::string config = configured(scene, "[alert]\nexec = ['/bin/true']\npressure = 'off'\nevery = '1s'\n" +
                                                   kNoLevels + "[leaks]\nhour = '1500ms'\n");
  Recorder recorder(scene, "500ms", {}, {"--config", config});
  const std::string warned =
      "SELECT count(*) FROM event WHERE kind = 'alert' AND text LIKE '% of " + cgroup.path() + " %'";
  for (int round = 0; round < max_rounds && scene.number(warned).value_or(0) == 0; ++round) {
    holder.run("private 1024");
    const auto last = scene.last_tick();
    wait_until("the next tick", [&] { return scene.last_tick() != last; });
  }
  CHECK(recorder.stop() == 0);
  const std::string text = scene.text("SELECT text FROM event WHERE kind = 'alert' AND text LIKE '% leaking %'");
  CAPTURE(text);
  CHECK(contains(text, " leaks and will exhaust memory.max of " + cgroup.path() + " within "));
  CHECK(contains(text, "/bin/true: exit status 0 after "));
}
