// Processes whose mmap_lock is locked. Runs alone, because any other reader of these processes hangs.

#include <string>

#include "holder.h"
#include "recording.h"
#include "support/catch.h"
#include "support/sanitized.h"

using namespace memoir::test;

TEST_CASE("processes with a locked mmap_lock delay no other reads, and are named with their user") {
  const auto user = other_user();
  if (!user) {
    WARN("skipped: only root can mount the file system that holds the lock");
    return;
  }
  const Scene scene;
  const Holder early(scene.folder(), {"early"});
  Child attacker({.path = MEMOIR_ATTACKER, .arguments = {"locked", "30", std::to_string(*user)}});
  wait_until("the attack", [&] { return attacker.output().ends_with('\n'); });
  if (attacker.output() == "denied\n") {
    WARN("skipped: a FUSE file system cannot be mounted here");
    return;
  }
  Recorder recorder(scene);
  recorder.tick();
  const Holder late(scene.folder(), {"late"});
  recorder.tick();
  recorder.tick();

  const std::string last = " FROM process_at WHERE tick_id = (SELECT max(id) FROM tick) AND ";
  CHECK(scene.number("SELECT count(*)" + last + "comm = 'attacker' AND source <> 'exact'").value_or(0) >= 30);
  for (const Holder* bystander : {&early, &late}) {
    const std::string of_it = last + "pid = " + std::to_string(bystander->pid());
    CHECK(scene.text("SELECT source" + of_it) == "exact");
    CHECK(contains(scene.text("SELECT command" + of_it), bystander == &early ? "early" : "late"));
  }
  CHECK(contains(scene.text("SELECT text FROM event WHERE kind = 'degraded'"), "(uid " + std::to_string(*user) + ")"));
  // Thirty timeouts one after another would take longer.
  if (!kSanitized) CHECK(scene.number("SELECT max(duration_ms) FROM tick").value() <= 6'000);
  attacker.kill_and_wait();
  CHECK(recorder.stop() == 0);
}
