// A power cut at any write or sync of a history. Each unsynced sector may be on the disk or not. Data that was reported
// as stored is there, and the file is intact.

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/log.h"
#include "recorded.h"
#include "store/recovering_writer.h"
#include "store_fixture.h"
#include "support/fault_vfs.h"
#include "support/manual_clock.h"
#include "support/trials.h"

namespace memoir::test {
namespace {

namespace fs = std::filesystem;

class Machine {
 public:
  Machine(const StoreFixture& fixture, std::uint32_t seed, Durability durability)
      : fixture_(fixture), history_(seed), durability_(durability) {}

  // Records until the power cut.
  void run(const FaultVfs& disk) {
    auto opened = open_recovering(fixture_.path(), clock_, {.durability = durability_});
    if (!opened) return;
    const auto writer = *std::move(opened);
    for (int run = 0; run < 2; ++run) {
      if (!writer->begin_run(run_info(history_.boot(), history_.now()))) return;
      for (int i = 0; i < 8; ++i) {
        const Tick tick = history_.next();
        recorded_.push_back({tick, history_.boot().boot_id, i == 0});
        if (!writer->write(tick)) return;
        ++acknowledged_;
        static_cast<void>(writer->maintain());
      }
      if (!writer->end_run(history_.now(), "stopped")) return;
      // A closed run is in the main file, unless the power cut was during its checkpoint.
      if (!disk.is_dead()) at_least_ = acknowledged_;
      history_.restart(false);
    }
  }

  // Checks the contents of a store after the power cut.
  void check_found(const StoreFixture& found) const {
    const auto reader = found.reader();
    const std::int64_t ticks = must(reader->info()).ticks;
    REQUIRE(ticks >= (durability_ == Durability::full ? acknowledged_ : at_least_));
    REQUIRE(ticks <= acknowledged_ + 1);
    for (std::int64_t i = 0; i < ticks; ++i) {
      INFO("tick " << i + 1);
      check_state(must(reader->snapshot(i + 1)), recorded_[static_cast<std::size_t>(i)]);
    }
  }

  std::int64_t acknowledged() const { return acknowledged_; }
  BootInfo boot() const { return history_.boot(); }
  Moment now() const { return history_.now(); }

 private:
  const StoreFixture& fixture_;
  RandomHistory history_;
  const Durability durability_;
  ManualClock clock_{history_.now()};
  std::vector<Recorded> recorded_;
  std::int64_t acknowledged_ = 0;
  std::int64_t at_least_ = 0;
};

void lay_out(const std::map<std::string, std::string>& files, const StoreFixture& place) {
  for (const auto& [path, bytes] : files)
    std::ofstream(place.folder() + "/" + fs::path(path).filename().string(), std::ios::binary) << bytes;
}

// Returns true if the history reached the power cut.
bool survives_cut(std::uint32_t seed, std::int64_t nth, Durability durability) {
  INFO("seed " << seed << ", cut at operation " << nth);
  const StoreFixture before;
  const StoreFixture after;
  Machine machine(before, seed, durability);
  {
    FaultVfs disk;
    disk.cut_power(nth);
    machine.run(disk);
    if (!disk.is_dead()) return false;
    constexpr std::array kSurvival{0.0, 0.5, 0.9, 1.0};
    lay_out(disk.survivors(seed, kSurvival[seed % kSurvival.size()]), after);
  }
  // The next recorder, with the same configuration, continues the same file without help.
  const ManualClock clock(machine.now());
  const auto next = must(open_recovering(after.path(), clock, {.durability = durability}));
  must(next->begin_run(run_info(machine.boot(), machine.now())));
  for (const auto& entry : fs::directory_iterator(after.folder()))
    REQUIRE(entry.path().string().find(".damaged-") == std::string::npos);
  machine.check_found(after);
  SQLite::Database database(after.path(), SQLite::OPEN_READONLY);
  REQUIRE(database.execAndGet("PRAGMA integrity_check").getString() == "ok");
  return true;
}

const std::uint32_t kCuts = trials(150U);

void survives_cuts(Durability durability, std::uint32_t seeds) {
  log_start(LogLevel::error);
  std::mt19937 random(20);
  std::int64_t longest = 2000;
  int cuts = 0;
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    const auto nth = std::uniform_int_distribution<std::int64_t>(1, longest)(random);
    if (survives_cut(seed, nth, durability)) {
      ++cuts;
    } else {
      longest = std::min(longest, nth);
    }
  }
  REQUIRE(cuts > static_cast<int>(seeds / 2));
}

TEST_CASE("a power cut loses no tick that was reported as stored") {
  survives_cuts(Durability::full, kCuts);
}

TEST_CASE("a power cut with durability normal may lose the last ticks, and leaves the file intact") {
  survives_cuts(Durability::normal, kCuts);
}

}  // namespace
}  // namespace memoir::test
