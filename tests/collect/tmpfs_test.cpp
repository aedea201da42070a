// What tmpfs mounts hold, in the ticks of a collector, and by a reader whose mounts do what the test wants.

#include <map>

#include "collect/collector_fixture.h"
#include "collect/tmpfs_reader.h"
#include "door.h"

using namespace memoir;
using namespace memoir::test;
using M = MachineField;

namespace {

// A reader of mounts that hold what `used` says; at those that are not in it one cannot arrive.
struct Mounts {
  explicit Mounts(const std::string& table) { proc.write(SystemFile::mountinfo, table); }

  // In the tick of a reader that does not wait for long.
  std::optional<std::int64_t> tick(bool again = false) {
    Tick tick;
    Buffer buffer;
    Pass pass{.tick = tick, .buffer = buffer};
    std::vector<std::shared_ptr<BlockingJob>> jobs;
    if (auto job = reader.ask(again)) jobs.push_back(std::move(job));
    worker.run(std::move(jobs), tick.cost);
    reader.take(pass);
    blocked = pass.blocked;
    return tick.machine.memory.get(M::tmpfs);
  }

  FakeProc proc;
  std::map<std::string, std::int64_t> used;
  std::shared_ptr<Door> closed;  // who comes to /slow waits at it
  std::string blocked;
  BlockingReader worker{std::chrono::milliseconds(200)};
  TmpfsReader reader{std::make_shared<const ProcFs>(proc.root()),
                     [this](const TmpfsMount& mount) -> std::optional<std::int64_t> {
                       const auto door = closed;
                       if (mount.mount_point == "/slow" && door) door->wait();
                       const auto found = used.find(mount.mount_point);
                       return found == used.end() ? std::nullopt : std::optional(found->second);
                     }};
};

constexpr const char* kTwo = "1 0 0:1 / /fast rw - tmpfs tmpfs rw\n2 0 0:2 / /slow rw - tmpfs tmpfs rw\n";

}  // namespace

TEST_CASE("tmpfs: each device is counted once, by the first of its mounts that answers, at every tick") {
  Mounts mounts(
      "1 0 0:1 / /a rw - tmpfs tmpfs rw\n2 0 0:1 / /b rw - tmpfs tmpfs rw\n"
      "3 0 0:2 / /hidden rw - tmpfs tmpfs rw\n4 0 0:2 / /seen rw - tmpfs tmpfs rw\n"
      "5 0 0:3 / /nowhere rw - tmpfs tmpfs rw\n6 0 8:1 / / rw - ext4 /dev/sda1 rw\n");
  mounts.used = {{"/a", 100}, {"/b", 100}, {"/seen", 20}, {"/", 4000}};
  CHECK(mounts.tick() == 120);
  mounts.used["/a"] = 300;
  CHECK(mounts.tick() == 320);
  mounts.proc.write(SystemFile::mountinfo, "1 0 0:1 / /a rw - tmpfs tmpfs rw\n");
  CHECK(mounts.tick(true) == 300);
}

TEST_CASE("tmpfs: a mount that does not answer is left out, the others are read on, and it comes back") {
  Mounts mounts(kTwo);
  mounts.used = {{"/fast", 100}, {"/slow", 20}};
  CHECK(mounts.tick() == 120);
  const auto door = std::make_shared<Door>();
  mounts.closed = door;
  CHECK_FALSE(mounts.tick());
  CHECK(mounts.blocked == "the tmpfs at /slow: a read did not come back in time");
  mounts.used["/fast"] = 200;
  CHECK(mounts.tick() == 200);
  CHECK(mounts.worker.stuck() == 1);
  mounts.closed = nullptr;
  door->open();
  while (mounts.worker.stuck() > 0) std::this_thread::yield();
  CHECK(mounts.tick() == 220);
}

TEST_CASE("tmpfs: the table of mounts may be missing or torn") {
  Machine machine;
  CHECK_FALSE(machine.tick().machine.memory.has(M::tmpfs));
  machine.proc.write(SystemFile::mountinfo, "27 1 254:0 / / rw - ext4 /dev/vda rw\n");
  CHECK(machine.tick().machine.memory.get(M::tmpfs) == 0);
  machine.proc.write(SystemFile::mountinfo, "torn");
  CHECK(machine.tick().machine.memory.get(M::tmpfs) == 0);  // nobody said that it changed
  const Tick torn = machine.tick(true);
  CHECK_FALSE(torn.machine.memory.has(M::tmpfs));
  CHECK(torn.counts.malformed == 1);
}
