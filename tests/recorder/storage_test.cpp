#include "recorder/storage.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/log.h"
#include "support/catch.h"
#include "support/manual_clock.h"
#include "ticks.h"

using namespace memoir;
using namespace memoir::test;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t kDearMs = 1'000;
constexpr std::int64_t kDearUs = 20'000;
constexpr std::int64_t kRefusedMs = 2'000;  // the store refuses the tick of this time
constexpr std::int64_t kThrowingMs = 2'001;

// Records calls to the store; the test can make its disk fail.
class Disk {
 public:
  void work() { set(false, false); }
  void fail() { set(true, false); }
  void hang() { set(false, true); }

  // Makes the next write fail for lack of memory.
  void run_out_of_memory() {
    const std::scoped_lock lock(mutex_);
    out_of_memory_ = true;
  }

  // Makes `pieces` pieces of maintenance due after a tick. If `fails`, the first one fails.
  void need_maintenance(int pieces, bool fails = false) {
    const std::scoped_lock lock(mutex_);
    pieces_ = pieces;
    maintenance_fails_ = fails;
  }
  Result<Maintenance> maintain() {
    {
      const std::scoped_lock lock(mutex_);
      if (pieces_ == 0) return Maintenance{};
      if (std::exchange(maintenance_fails_, false)) {
        entries_.emplace_back("maintenance failed");
        changed_.notify_all();
        return Error{ErrorKind::io, "the disk is full"};
      }
    }
    if (const Status written = write("maintain"); !written) return written.error();
    const std::scoped_lock lock(mutex_);
    return Maintenance{--pieces_ > 0, 1};
  }

  Status write(std::string entry) {
    std::unique_lock lock(mutex_);
    ++attempts_;
    attempted_.push_back(std::chrono::steady_clock::now());
    changed_.notify_all();
    changed_.wait(lock, [this] { return !hangs_; });
    if (fails_) return Error{ErrorKind::io, "the disk is full"};
    if (std::exchange(out_of_memory_, false)) throw std::bad_alloc();
    entries_.push_back(std::move(entry));
    changed_.notify_all();
    return Done{};
  }

  // Uses kDearUs of CPU for each attempt to write a tick of this time.
  void take(const Tick& tick) {
    const std::scoped_lock lock(mutex_);
    storing_.push_back(tick.storing.value_or(Cost{-1, -1}).cpu_us);
    const std::int64_t begin_us = thread_cpu_us();
    while (tick.begin.wall_ms == kDearMs && thread_cpu_us() < begin_us + kDearUs) {
    }
  }
  std::vector<std::int64_t> storing() {
    const std::scoped_lock lock(mutex_);
    return storing_;
  }

  void keep(std::string lost) {
    const std::scoped_lock lock(mutex_);
    lost_.push_back(std::move(lost));
  }
  // Returns the texts of the events about lost ticks.
  std::vector<std::string> lost() {
    const std::scoped_lock lock(mutex_);
    return lost_;
  }

  // Waits for a number of attempts; fails the test after a long time.
  void wait_for_attempts(int count) {
    std::unique_lock lock(mutex_);
    REQUIRE(changed_.wait_for(lock, 60s, [&] { return attempts_ >= count; }));
  }
  void wait_for_entries(std::size_t count) {
    std::unique_lock lock(mutex_);
    REQUIRE(changed_.wait_for(lock, 60s, [&] { return entries_.size() >= count; }));
  }
  std::vector<std::string> entries() {
    const std::scoped_lock lock(mutex_);
    return entries_;
  }
  int attempts() {
    const std::scoped_lock lock(mutex_);
    return attempts_;
  }
  std::chrono::steady_clock::duration between(std::size_t first, std::size_t last) {
    const std::scoped_lock lock(mutex_);
    return attempted_.at(last) - attempted_.at(first);
  }

 private:
  void set(bool fails, bool hangs) {
    const std::scoped_lock lock(mutex_);
    fails_ = fails;
    hangs_ = hangs;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool fails_ = false;
  bool hangs_ = false;
  bool out_of_memory_ = false;
  bool maintenance_fails_ = false;
  int pieces_ = 0;
  int attempts_ = 0;
  std::vector<std::chrono::steady_clock::time_point> attempted_;
  std::vector<std::string> entries_;
  std::vector<std::string> lost_;
  std::vector<std::int64_t> storing_;  // CPU time in Tick::storing of each tick, in µs; -1: unknown
};

class DiskWriter final : public Writer {
 public:
  explicit DiskWriter(std::shared_ptr<Disk> disk) : disk_(std::move(disk)) {}
  Result<std::vector<KnownProcess>> known_processes(const std::string&) override { return std::vector<KnownProcess>{}; }
  Status visit_names(std::int64_t, const std::function<void(const KnownName&)>&) override { return Done{}; }
  Status begin_run(const RunInfo&) override { return disk_->write("begin"); }
  Status write(const Tick& tick) override {
    disk_->take(tick);
    if (tick.begin.wall_ms == kRefusedMs) return Error{ErrorKind::refused, "UNIQUE constraint failed"};
    if (tick.begin.wall_ms == kThrowingMs) throw std::out_of_range("vector::at");
    return disk_->write("tick " + std::to_string(tick.begin.wall_ms));
  }
  Status write_event(const Event& event) override {
    if (event.kind == "lost") disk_->keep(event.text);
    return disk_->write(event.kind);
  }
  Result<Maintenance> maintain() override { return disk_->maintain(); }
  Status end_run(const Moment&, const std::string& reason) override { return disk_->write("end " + reason); }

 private:
  const std::shared_ptr<Disk> disk_;
};

struct Fixture {
  Fixture() {
    log_start(LogLevel::error);
    options.queue.ticks = 2;
    options.first_retry = 1ms;
    options.last_retry = 4ms;
    options.finish_within = 10s;
  }
  Storage storage() {
    return {std::make_unique<DiskWriter>(disk), clock, options, [this] { ++stored; }};
  }

  std::shared_ptr<Disk> disk = std::make_shared<Disk>();
  ManualClock clock{{.wall_ms = 5'000, .boot_ms = 5'000}};
  StorageOptions options;
  std::atomic<int> stored{0};
};

using Entries = std::vector<std::string>;

}  // namespace

TEST_CASE_METHOD(Fixture, "work is stored in order, and all of it before the stop") {
  Storage stage = storage();
  stage.push(RunInfo{});
  stage.push(tick_at(1));
  stage.push(Event{.at = {}, .kind = "reload", .text = {}});
  stage.push(RunEnd{.at = {}, .reason = "stopped"});
  CHECK(stage.finish() == Finish::stored);
  CHECK(disk->entries() == Entries{"begin", "tick 1", "reload", "end stopped"});
  CHECK(stored == 1);
  CHECK(stage.counts().stored == 1);
  CHECK(stage.counts().dropped == 0);
  CHECK_FALSE(stage.run_end_waiting());
}

TEST_CASE_METHOD(Fixture, "failed writes are retried until they succeed, and nothing is stored twice") {
  disk->fail();
  Storage stage = storage();
  stage.push(RunInfo{});
  stage.push(tick_at(1));
  stage.push(tick_at(2));
  disk->wait_for_attempts(5);
  CHECK(disk->entries().empty());
  disk->work();
  disk->wait_for_entries(3);
  CHECK(stage.finish() == Finish::stored);
  CHECK(disk->entries() == Entries{"begin", "tick 1", "tick 2"});
}

TEST_CASE_METHOD(Fixture, "the pause before a retry doubles, and is short again after a success") {
  disk->fail();
  options.first_retry = 20ms;
  options.last_retry = 1h;
  Storage stage = storage();
  stage.push(RunInfo{});
  disk->wait_for_attempts(5);
  CHECK(disk->between(0, 4) >= 20ms + 40ms + 80ms + 160ms);
  disk->work();
  disk->wait_for_entries(1);
  disk->fail();
  const int before = disk->attempts();
  stage.push(tick_at(1));
  disk->wait_for_attempts(before + 2);
  // The next pause would be more than half a second. The shortest of several pauses counts, because the machine may be
  // loaded.
  auto shortest = disk->between(static_cast<std::size_t>(before), static_cast<std::size_t>(before) + 1);
  for (int i = 0; i < 20 && shortest >= 320ms; ++i) {
    disk->work();
    disk->wait_for_entries(static_cast<std::size_t>(i) + 2);
    disk->fail();
    const int again = disk->attempts();
    stage.push(tick_at(i + 2));
    disk->wait_for_attempts(again + 2);
    shortest = std::min(shortest, disk->between(static_cast<std::size_t>(again), static_cast<std::size_t>(again) + 1));
  }
  CHECK(shortest < 320ms);
  disk->work();
  CHECK(stage.finish() == Finish::stored);
}

TEST_CASE_METHOD(Fixture, "a tick has the CPU time spent on storing since the previous tick, including failures") {
  disk->fail();
  options.queue.ticks = 3;
  options.first_retry = options.last_retry = 60s;  // longer than the test; the stop retries at once
  Storage stage = storage();
  stage.push(tick_at(kDearMs));
  disk->wait_for_attempts(1);
  disk->work();
  for (const std::int64_t ms : {1, 2}) stage.push(tick_at(ms));
  CHECK(stage.finish() == Finish::stored);
  const std::vector<std::int64_t> storing = disk->storing();
  REQUIRE(storing.size() == 4);
  CHECK(storing[0] < kDearUs);
  CHECK(storing[1] >= kDearUs);
  CHECK(storing[2] >= kDearUs);
  CHECK(storing[2] < 2 * kDearUs);
  CHECK(storing[3] < kDearUs);
  CHECK(std::ranges::min(storing) >= 0);
}

TEST_CASE_METHOD(Fixture, "ticks lost to a long failure are recorded when the store works again") {
  disk->fail();
  Storage stage = storage();
  stage.push(RunInfo{});
  for (std::int64_t ms = 1; ms <= 5; ++ms) stage.push(tick_at(ms));
  disk->wait_for_attempts(3);
  CHECK(stage.counts().dropped == 3);
  disk->work();
  disk->wait_for_entries(4);
  stage.push(RunEnd{.at = {}, .reason = "stopped"});
  CHECK(stage.finish() == Finish::stored);
  CHECK(disk->entries() == Entries{"begin", "tick 4", "lost", "tick 5", "end stopped"});
  CHECK(stage.counts().dropped == 3);
}

TEST_CASE_METHOD(Fixture, "a tick that the store refuses is dropped and reported, and those after it are stored") {
  options.queue.ticks = 10;
  const auto [ms, why] = GENERATE(
      table<std::int64_t, std::string>({{kRefusedMs, "UNIQUE constraint failed"},
                                        {kThrowingMs, "the database: the database operation failed (vector::at)"}}));
  Storage stage = storage();
  stage.push(RunInfo{});
  for (const std::int64_t at : {std::int64_t{1}, ms, std::int64_t{3'000}}) stage.push(tick_at(at));
  stage.push(RunEnd{.at = {}, .reason = "stopped"});
  CHECK(stage.finish() == Finish::stored);
  CHECK(disk->entries() == Entries{"begin", "tick 1", "lost", "tick 3000", "end stopped"});
  REQUIRE(disk->lost().size() == 1);
  CHECK(disk->lost()[0] == "The store refused 1 tick from 1970-01-01 00:00:02 UTC to 1970-01-01 00:00:02 UTC: " + why);
  CHECK(stage.counts().stored == 2);
  CHECK(stage.counts().dropped == 1);
}

TEST_CASE_METHOD(Fixture, "many refused ticks are two events") {
  options.queue.ticks = 100;
  Storage stage = storage();
  stage.push(RunInfo{});
  for (int i = 0; i < 20; ++i) stage.push(tick_at(kRefusedMs));
  stage.push(tick_at(3'000));
  stage.push(RunEnd{.at = {}, .reason = "stopped"});
  CHECK(stage.finish() == Finish::stored);
  CHECK(disk->entries() == Entries{"begin", "lost", "tick 3000", "lost", "end stopped"});
  REQUIRE(disk->lost().size() == 2);
  CHECK(disk->lost()[1].starts_with("The store refused 19 ticks from "));
  CHECK(stage.counts().dropped == 20);
}

TEST_CASE_METHOD(Fixture, "work that fails for lack of memory is tried again") {
  disk->run_out_of_memory();
  Storage stage = storage();
  stage.push(RunInfo{});
  disk->wait_for_entries(1);
  disk->run_out_of_memory();
  stage.push(tick_at(1));
  CHECK(stage.finish() == Finish::stored);
  CHECK(disk->entries() == Entries{"begin", "tick 1"});
  CHECK(stage.counts().dropped == 0);
}

TEST_CASE_METHOD(Fixture, "maintenance that throws is tried again") {
  disk->need_maintenance(1);
  options.maintenance_retry = 1ms;
  disk->hang();
  Storage stage = storage();
  stage.push(tick_at(1));
  disk->wait_for_attempts(1);
  disk->work();
  disk->run_out_of_memory();
  disk->wait_for_entries(2);
  CHECK(stage.finish() == Finish::stored);
  CHECK(disk->entries() == Entries{"tick 1", "maintain"});
}

TEST_CASE_METHOD(Fixture, "a stop gives up on a store that keeps failing") {
  disk->fail();
  options.finish_within = 50ms;
  Storage stage = storage();
  stage.push(RunInfo{});
  stage.push(tick_at(1));
  disk->wait_for_attempts(2);
  CHECK(stage.finish() == Finish::lost);
  CHECK(disk->entries().empty());
}

TEST_CASE_METHOD(Fixture, "a stop retries at once, however long the last pause was") {
  disk->fail();
  options.first_retry = options.last_retry = 1h;
  Storage stage = storage();
  stage.push(RunInfo{});
  disk->wait_for_attempts(1);
  disk->work();
  CHECK(stage.finish() == Finish::stored);
  CHECK(disk->entries() == Entries{"begin"});
}

TEST_CASE_METHOD(Fixture, "a hanging write is visible, blocks nothing, and is abandoned at the stop") {
  disk->hang();
  options.finish_within = 20ms;
  Storage stage = storage();
  CHECK(stage.busy_ms() == 0);
  stage.push(RunInfo{});
  disk->wait_for_attempts(1);
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  while (stage.busy_ms() < 5 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  CHECK(stage.busy_ms() >= 5);
  for (std::int64_t ms = 1; ms <= 5; ++ms) stage.push(tick_at(ms));
  CHECK(stage.counts().waiting == 2);
  CHECK(stage.finish() == Finish::abandoned);
  // Lets the thread exit before the test does.
  disk->work();
}

TEST_CASE_METHOD(Fixture, "the end of a pending run is known") {
  disk->fail();
  options.first_retry = options.last_retry = 1h;
  Storage stage = storage();
  stage.push(RunInfo{});
  CHECK_FALSE(stage.run_end_waiting());
  stage.push(RunEnd{.at = {}, .reason = "reload"});
  CHECK(stage.run_end_waiting());
  disk->work();
  CHECK(stage.finish() == Finish::stored);
  CHECK_FALSE(stage.run_end_waiting());
}

TEST_CASE_METHOD(Fixture, "between ticks the store is maintained until there is no more to do") {
  disk->need_maintenance(3);
  Storage stage = storage();
  stage.push(RunInfo{});
  stage.push(tick_at(1));
  disk->wait_for_entries(5);
  stage.push(tick_at(2));
  disk->wait_for_entries(6);
  CHECK(stage.finish() == Finish::stored);
  CHECK(disk->entries() == Entries{"begin", "tick 1", "maintain", "maintain", "maintain", "tick 2"});
}

TEST_CASE_METHOD(Fixture, "the first maintenance waits for its time, but ticks do not") {
  disk->need_maintenance(1);
  options.first_maintenance = 1h;
  Storage stage = storage();
  stage.push(RunInfo{});
  stage.push(tick_at(1));
  stage.push(tick_at(2));
  disk->wait_for_entries(3);
  CHECK(stage.finish() == Finish::stored);
  CHECK(disk->entries() == Entries{"begin", "tick 1", "tick 2"});
}

TEST_CASE_METHOD(Fixture, "a waiting tick comes before further maintenance") {
  disk->need_maintenance(3);
  Storage stage = storage();
  stage.push(RunInfo{});
  disk->wait_for_entries(1);
  disk->hang();
  stage.push(tick_at(1));
  disk->wait_for_attempts(2);
  stage.push(tick_at(2));
  disk->work();
  disk->wait_for_entries(6);
  CHECK(stage.finish() == Finish::stored);
  CHECK(disk->entries() == Entries{"begin", "tick 1", "tick 2", "maintain", "maintain", "maintain"});
}

TEST_CASE_METHOD(Fixture, "some maintenance is done even if ticks are always pending") {
  options.queue.ticks = 100;
  options.ticks_without_maintenance = 2;
  disk->need_maintenance(100);
  disk->hang();
  Storage stage = storage();
  stage.push(RunInfo{});
  for (std::int64_t ms = 1; ms <= 5; ++ms) stage.push(tick_at(ms));
  disk->work();
  disk->wait_for_entries(8);
  CHECK(stage.finish() == Finish::stored);
  Entries first = disk->entries();
  first.resize(8);
  CHECK(first == Entries{"begin", "tick 1", "tick 2", "maintain", "tick 3", "tick 4", "maintain", "tick 5"});
}

TEST_CASE_METHOD(Fixture, "failed maintenance is retried and delays no tick") {
  disk->need_maintenance(1, true);
  options.maintenance_retry = 1h;
  Storage stage = storage();
  stage.push(RunInfo{});
  stage.push(tick_at(1));
  disk->wait_for_entries(3);
  stage.push(tick_at(2));
  disk->wait_for_entries(4);
  CHECK(stage.finish() == Finish::stored);
  CHECK(disk->entries() == Entries{"begin", "tick 1", "maintenance failed", "tick 2"});
}

TEST_CASE_METHOD(Fixture, "maintenance that failed is done when it is tried again") {
  disk->need_maintenance(1, true);
  options.maintenance_retry = 1ms;
  Storage stage = storage();
  stage.push(RunInfo{});
  stage.push(tick_at(1));
  disk->wait_for_entries(4);
  CHECK(stage.finish() == Finish::stored);
  CHECK(disk->entries() == Entries{"begin", "tick 1", "maintenance failed", "maintain"});
}
