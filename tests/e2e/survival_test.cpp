// A recorder's commits survive any kind of stop, and the next recorder continues by itself.

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <thread>

#include "base/clock.h"
#include "recording.h"
#include "support/catch.h"

using namespace memoir::test;
using nlohmann::json;

namespace {

struct Committed {
  std::int64_t last = 0;
  std::int64_t count = 0;
};

// Returns the ticks up to `up_to`. The last tick is queried first, so that commits in between are not counted.
Committed committed(const Scene& scene, std::int64_t up_to) {
  const auto ask = [&](const std::string& what, std::int64_t limit) {
    return scene.number("SELECT " + what + " FROM tick WHERE id <= " + std::to_string(limit)).value_or(0);
  };
  const std::int64_t last = ask("max(id)", up_to);
  return {last, ask("count(*)", last)};
}

constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

// Watches a recorder's commits until an unpredictable time, and kills it: at its start, or during a tick.
Committed record_and_kill(const Scene& scene, bool ticking, std::chrono::milliseconds life) {
  Recorder recorder(scene, "100ms");
  if (ticking) recorder.tick();
  const auto end = std::chrono::steady_clock::now() + life;
  Committed seen;
  while (std::chrono::steady_clock::now() < end) {
    seen = committed(scene, kAll);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  recorder.kill();
  return seen;
}

}  // namespace

TEST_CASE("twenty kills at random moments lose no committed tick") {
  const Scene scene;
  const unsigned seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> life_ms(0, 400);
  for (int i = 0; i < 20; ++i) {
    const Committed seen = record_and_kill(scene, i % 2 == 0, std::chrono::milliseconds(life_ms(random)));
    if (!std::filesystem::exists(scene.db())) continue;  // killed before it created the file
    CHECK(scene.text("PRAGMA integrity_check") == "ok");
    const Committed kept = committed(scene, seen.last);
    CHECK(kept.last == seen.last);
    CHECK(kept.count == seen.count);
    if (committed(scene, kAll).count == 0) continue;
    CHECK(scene.answer_rows({"top", "--limit", "0"}).size() ==
          static_cast<std::size_t>(*scene.number("SELECT seen FROM tick ORDER BY id DESC LIMIT 1")));
  }

  const std::int64_t killed = *scene.number("SELECT count(*) FROM run");
  REQUIRE(killed >= 10);
  // Waits until the pause counts as a gap at all intervals used here.
  const std::int64_t last_ms = *scene.number("SELECT max(wall_ms) FROM tick");
  wait_until("a gap", [&] { return memoir::SystemClock().now().wall_ms - last_ms > 1000; });
  Recorder recorder(scene);
  recorder.tick();
  CHECK(*scene.number("SELECT count(*) FROM run WHERE stop_reason = 'unclean'") == killed);
  CHECK(*scene.number("SELECT count(*) FROM event WHERE kind = 'unclean'") == killed);
  const json status = scene.answer({"status"});
  const auto& gaps = status.at("coverage").at("gaps");
  CHECK(std::any_of(gaps.begin(), gaps.end(), [](const json& gap) { return gap.at("reason") == "killed"; }));
  CHECK(recorder.stop() == 0);
  CHECK(scene.text("SELECT stop_reason FROM run ORDER BY id DESC LIMIT 1") == "stopped");
  CHECK(scene.text("PRAGMA integrity_check") == "ok");
}

TEST_CASE("a plain copy of the main file answers while the recorder runs") {
  const Scene scene;
  const Scene elsewhere;
  Outcome outcome;
  Recorder recorder(scene);
  wait_until("the ticks in the main file", [&] {
    // A reader may block a checkpoint, and then the next tick retries it.
    recorder.tick();
    // Removes the -wal and -shm of a previous attempt's copy.
    for (const char* companion : {"-wal", "-shm"}) std::filesystem::remove(elsewhere.db() + companion);
    std::filesystem::copy_file(scene.db(), elsewhere.db(), std::filesystem::copy_options::overwrite_existing);
    outcome = elsewhere.ask({"top", "--limit", "0"});
    return outcome.status == 0;
  });
  CHECK(contains(outcome.out, "memoird"));
}

TEST_CASE("a second recorder on the same file is refused with the pid of the first") {
  const Scene scene;
  Recorder first(scene);
  first.tick();
  Recorder second(scene);
  CHECK(second.child().wait() == 1);
  CHECK(contains(second.child().errors(), std::to_string(first.child().pid())));
  first.tick();
  CHECK(scene.number("SELECT count(*) FROM run") == 1);
  CHECK(first.stop() == 0);
}

TEST_CASE("a clean stop takes a last tick, a keyframe, and closes the run") {
  const Scene scene;
  Recorder recorder(scene);
  recorder.tick();
  const std::int64_t before = *scene.number("SELECT max(id) FROM tick");
  CHECK(recorder.stop() == 0);
  CHECK(scene.number("SELECT max(id) FROM tick") == before + 1);
  CHECK(scene.number("SELECT keyframe_id = id FROM tick ORDER BY id DESC LIMIT 1") == 1);
  CHECK(scene.number("SELECT count(*) FROM run WHERE stopped_ms IS NULL") == 0);
}
