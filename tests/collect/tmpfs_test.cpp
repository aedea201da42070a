// Contents of tmpfs mounts: in a collector's ticks, and from a reader of fake mounts.

#include <map>

#include "collect/collector_fixture.h"
#include "collect/tmpfs/tmpfs_reader.h"
#include "door.h"

using namespace memoir;
using namespace memoir::test;
using M = MachineField;

namespace {

// A reader whose mounts have the usage in `used`; all other mounts are unreachable.
struct Mounts {
  explicit Mounts(const std::string& table) { proc.write(SystemFile::mountinfo, table); }

  // The sum that a tick reports, read with a short deadline.
  std::optional<std::int64_t> tick(bool again = false) {
    Tick tick;
    Buffer buffer;
    CollectContext context{.tick = tick, .buffer = buffer};
    tick.begin = {now_ms, now_ms};
    now_ms += 1000;
    worker.run(reader.ask(again, tick.begin.boot_ms), tick.cost);
    reader.take(names, context);
    blocked = context.blocked;
    if (tick.tmpfs) reported = tick.tmpfs;
    return tick.machine.memory.get(M::tmpfs);
  }

  TmpfsSample sample(const std::string& mount_point) const {
    for (const TmpfsSample& sample : reported.value_or(std::vector<TmpfsSample>())) {
      if (sample.mount_point == mount_point) return sample;
    }
    FAIL("not reported: " << mount_point);
    return {};
  }

  FakeProc proc;
  std::map<std::string, std::int64_t> used;
  std::shared_ptr<Door> closed;  // /slow blocks here
  std::shared_ptr<Door> closed_walk;
  std::string blocked;
  std::optional<std::vector<TmpfsSample>> reported;
  std::int64_t now_ms = 1'000'000;
  NameBudget names{0};
  std::vector<TmpfsEntry> largest = {};  // the largest entries of each mount
  BlockingReader worker{std::chrono::milliseconds(200)};
  TmpfsReader reader{std::make_shared<const ProcFs>(proc.root()),
                     {},
                     [this](const TmpfsMount& mount) -> std::optional<TmpfsUsage> {
                       const auto door = closed;
                       if (mount.mount_point == "/slow" && door) door->wait();
                       const auto found = used.find(mount.mount_point);
                       if (found == used.end()) return std::nullopt;
                       return TmpfsUsage{std::nullopt, found->second, 1};
                     },
                     [this](const TmpfsMount& mount, const WalkLimits& /*limits*/) -> TmpfsTree {
                       const auto door = closed_walk;
                       if (mount.mount_point == "/slow" && door) door->wait();
                       return {.walk = TmpfsWalk::whole, .content = {.entries = 7}, .largest = largest};
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

TEST_CASE("tmpfs: a hanging mount is omitted until it answers, the others are read") {
  Mounts mounts(kTwo);
  mounts.used = {{"/fast", 100}, {"/slow", 20}};
  CHECK(mounts.tick() == 120);
  const auto door = std::make_shared<Door>();
  mounts.closed = door;
  CHECK_FALSE(mounts.tick());
  CHECK(mounts.blocked == "the tmpfs at /slow: a read did not finish in time");
  mounts.used["/fast"] = 200;
  CHECK(mounts.tick() == 200);
  CHECK(mounts.worker.stuck() == 1);
  door->open();
  while (mounts.worker.stuck() > 0) std::this_thread::yield();
  CHECK(mounts.tick() == 220);
}

TEST_CASE("tmpfs: the table of mounts may be missing or truncated") {
  Machine machine;
  CHECK_FALSE(machine.tick().machine.memory.has(M::tmpfs));
  machine.proc.write(SystemFile::mountinfo, "27 1 254:0 / / rw - ext4 /dev/vda rw\n");
  CHECK(machine.tick().machine.memory.get(M::tmpfs) == 0);
  machine.proc.write(SystemFile::mountinfo, "torn");
  CHECK(machine.tick().machine.memory.get(M::tmpfs) == 0);  // no event reported a change of the table
  const Tick torn = machine.tick(true);
  CHECK_FALSE(torn.machine.memory.has(M::tmpfs));
  CHECK(torn.counts.malformed == 2);
}

TEST_CASE("tmpfs: each mount is walked when due, and reported with its contents") {
  Mounts mounts(kTwo);
  mounts.used = {{"/fast", 100}, {"/slow", 20}};
  mounts.largest = {{"core", false, 90, 90, 1, 33, 5}};
  mounts.tick();
  CHECK(mounts.sample("/fast").walk == TmpfsWalk::not_yet);
  CHECK(mounts.sample("/fast").used_kib == 100);
  mounts.tick();
  mounts.tick();
  CHECK(mounts.sample("/fast").walk == TmpfsWalk::whole);
  CHECK(mounts.sample("/slow").content.entries == 7);
  CHECK(mounts.sample("/slow").largest == mounts.largest);
}

TEST_CASE("tmpfs: a hanging walk delays only its mount") {
  Mounts mounts(kTwo);
  mounts.used = {{"/fast", 100}, {"/slow", 20}};
  const auto door = std::make_shared<Door>();
  mounts.closed_walk = door;
  for (int i = 0; i < 4; ++i) mounts.tick();
  CHECK(mounts.sample("/fast").walk == TmpfsWalk::whole);
  CHECK(mounts.sample("/slow").walk == TmpfsWalk::not_read);
  CHECK(mounts.worker.stuck() == 1);
  CHECK(mounts.tick() == 100);
  door->open();
  while (mounts.worker.stuck() > 0) std::this_thread::yield();
  CHECK(mounts.tick() == 120);
}

TEST_CASE("tmpfs: of two mounts at one place the visible one is reported, and for bind mounts the whole file system") {
  Mounts mounts(
      "1 0 0:1 / /place rw - tmpfs tmpfs rw,size=4k\n2 0 0:2 / /place rw - tmpfs tmpfs rw\n"
      "3 0 0:3 /sub /a rw - tmpfs tmpfs rw\n4 0 0:3 / /longer rw - tmpfs tmpfs rw\n"
      "5 0 0:4 / /nowhere rw shared:4 master:1 - tmpfs tmpfs rw,size=8m\n");
  mounts.used = {{"/a", 5}, {"/longer", 5}};
  CHECK(mounts.tick() == 5);
  REQUIRE(mounts.reported);
  REQUIRE(mounts.reported->size() == 3);
  CHECK(mounts.sample("/place").walk == TmpfsWalk::not_read);
  CHECK(mounts.sample("/longer").used_kib == 5);
  CHECK(mounts.sample("/nowhere").limit_kib == 8192);
  CHECK_FALSE(mounts.sample("/nowhere").used_kib);
}

TEST_CASE("tmpfs: constantly new names fill no more than a small part of the file") {
  Mounts mounts("1 0 0:1 / /tmp rw - tmpfs tmpfs rw\n");
  mounts.names = NameBudget(1);
  std::size_t reported = 0;
  for (int i = 0; i < 200; ++i) {
    mounts.used = {{"/tmp", i * 100'000}};
    mounts.largest.clear();
    for (int file = 0; file < 16; ++file) {
      mounts.largest.push_back({std::to_string(i * 100 + file) + std::string(200, 'x'), false, 64, 64, 1, 1000, 0});
    }
    mounts.reported.reset();
    mounts.tick();
    mounts.now_ms += 400'000;
    if (mounts.reported) reported += mounts.sample("/tmp").largest.size();
  }
  CHECK(reported > 100);
  CHECK(reported < 1600);
}
