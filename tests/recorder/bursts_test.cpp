// Conditions that start a burst on a machine without PSI triggers, which a fake /proc lacks.

#include <csignal>

#include "daemon_process.h"
#include "store/events.h"
#include "store/reader.h"
#include "support/catch.h"
#include "support/fake_proc.h"
#include "support/temporary_directory.h"

using namespace memoir;
using namespace memoir::test;

namespace {

struct Machine {
  Machine() {
    write_text(config, "");
    proc.add({.pid = 10, .arguments = {"app"}, .memory = memory_of(1000)});
  }

  std::vector<std::string> arguments(const std::string& interval = "1h") const {
    return {"--interval", interval, "--proc", proc.root(), "--config", config, "--db", db};
  }
  std::vector<std::string> bursts() const {
    std::vector<std::string> texts;
    auto reader = Reader::open(db);
    if (!reader) return texts;
    const auto events = load_events(**reader, {.from_ms = 0, .to_ms = std::int64_t{1} << 50});
    for (const Event& event : events.ok() ? *events : std::vector<Event>()) {
      if (event.kind == "burst") texts.push_back(event.text);
    }
    return texts;
  }
  bool ticks(std::size_t count) const {
    auto reader = Reader::open(db);
    if (!reader) return false;
    const auto stored = (*reader)->ticks({.from_ms = 0, .to_ms = std::int64_t{1} << 50});
    return stored.ok() && stored->size() >= count;
  }

  TemporaryDirectory directory;
  const std::string db = directory.path() + "/memoir.db";
  const std::string config = directory.path() + "/memoir.toml";
  FakeProc proc;
};

}  // namespace

TEST_CASE("bursts: without pressure stall information, swap-ins between two ticks start one") {
  Machine machine;
  machine.proc.remove(SystemFile::pressure_memory);
  DaemonProcess memoird(machine.directory.path(), machine.arguments());
  wait_until("a tick", [&] { return machine.ticks(1); });
  machine.proc.write(SystemFile::vmstat, "pswpin 100000000\n");
  memoird.signal(SIGUSR1);
  wait_until("a burst", [&] { return !machine.bursts().empty(); });
  memoird.signal(SIGTERM);
  CHECK(memoird.wait() == 0);
  REQUIRE(machine.bursts().size() == 2);
  CHECK(machine.bursts()[0] == "Started: processes waited for memory since the previous tick");
  CHECK(machine.bursts()[1].ends_with(" s: processes waited for memory"));
}

TEST_CASE("bursts: a fall of available memory starts one") {
  Machine machine;
  machine.proc.write(SystemFile::meminfo, "MemTotal: 8388608 kB\nMemFree: 1000 kB\nMemAvailable: 6291456 kB\n");
  DaemonProcess memoird(machine.directory.path(), machine.arguments("200ms"));
  wait_until("ticks of more than a second", [&] { return machine.ticks(10); });
  machine.proc.write(SystemFile::meminfo, "MemTotal: 8388608 kB\nMemFree: 1000 kB\nMemAvailable: 1048576 kB\n");
  wait_until("a burst", [&] { return !machine.bursts().empty(); });
  memoird.signal(SIGTERM);
  CHECK(memoird.wait() == 0);
  CHECK(machine.bursts()[0].starts_with("Started: 1024 MiB of 8192 MiB are available, and will be used up in "));
}

TEST_CASE("bursts: none starts if they are switched off") {
  Machine machine;
  write_text(machine.config, "[recorder]\nburst = 'off'\n");
  DaemonProcess memoird(machine.directory.path(), machine.arguments());
  wait_until("a tick", [&] { return machine.ticks(1); });
  machine.proc.write(SystemFile::vmstat, "pswpin 100000000\noom_kill 3\n");
  memoird.signal(SIGUSR1);
  wait_until("another", [&] { return machine.ticks(2); });
  memoird.signal(SIGTERM);
  CHECK(memoird.wait() == 0);
  CHECK(machine.bursts().empty());
}
