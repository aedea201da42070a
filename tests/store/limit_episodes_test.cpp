// Events of cgroups at their limits and of full tmpfs mounts.

#include "simulated_run.h"
#include "store/limits.h"

namespace memoir::test {
namespace {

constexpr Range kAlways{0, 4'000'000'000'000};
constexpr std::int64_t kMib = 1024;

class LimitRecording : public SimulatedRun {
 public:
  LimitRecording() : SimulatedRun({.processes = 1}) {}

  // Advances by ticks; returns the time of the last one.
  std::int64_t tick(int count = 1) {
    std::int64_t at_ms = 0;
    for (int i = 0; i < count; ++i) {
      Tick tick = simulation_.next();
      tick.cgroups = cgroups;
      tick.cgroup_details = details;
      tick.tmpfs = mounts;
      must(writer_->write(tick));
      at_ms = tick.begin.wall_ms;
    }
    return at_ms;
  }
  // Sets a cgroup of 100 MiB to its limit, with this page cache and this increase of its counter.
  void reach(std::int64_t cache_kib, std::int64_t times, std::int64_t waited_us = 0) {
    cgroups.front().file_kib = cache_kib;
    *details.front().max_events += times;
    *details.front().psi_some_total_us += waited_us;
  }
  void fill(std::int64_t used_kib) { mounts.front().used_kib = used_kib; }

  std::vector<LimitEpisode> episodes() const { return must(load_limit_episodes(*fixture_.reader(), kAlways)); }

  std::vector<CgroupSample> cgroups{sample()};
  std::vector<CgroupDetail> details{detail()};
  std::vector<TmpfsSample> mounts{mount()};

 private:
  static CgroupSample sample() {
    CgroupSample sample;
    sample.path = "/app.service";
    sample.current_kib = 100 * kMib;
    sample.file_kib = 0;
    sample.max_kib = 100 * kMib;
    return sample;
  }
  static CgroupDetail detail() {
    CgroupDetail detail;
    detail.path = "/app.service";
    detail.max_events = 7;
    detail.high_events = 0;
    detail.psi_some_total_us = 0;
    return detail;
  }
  static TmpfsSample mount() {
    TmpfsSample mount;
    mount.mount_point = "/run";
    mount.limit_kib = 64 * kMib;
    mount.used_kib = kMib;
    return mount;
  }
};

TEST_CASE("a cgroup that keeps reaching its limit is one event, as long as the pauses are short") {
  LimitRecording recording;
  recording.tick(2);
  CHECK(recording.episodes().empty());
  recording.reach(kMib, 3);
  const std::int64_t first_ms = recording.tick();
  recording.tick(20);
  recording.reach(2 * kMib, 4, 1000);
  const std::int64_t last_ms = recording.tick();
  const std::vector<LimitEpisode> episodes = recording.episodes();
  REQUIRE(episodes.size() == 1);
  const LimitEpisode& episode = episodes.front();
  CHECK(episode.kind == LimitKind::limit);
  CHECK(episode.subject == "/app.service");
  CHECK(episode.at_ms == first_ms);
  CHECK(episode.from_ms < first_ms);
  CHECK(episode.to_ms == last_ms);
  CHECK(episode.times == 7);
  CHECK(episode.waited_us == 1000);
  CHECK(episode.used_kib == 100 * kMib);
  CHECK(episode.limit_kib == 100 * kMib);
  CHECK(episode.cache_kib == 2 * kMib);
  recording.tick(61);  // more than ten minutes
  recording.reach(kMib, 1);
  recording.tick();
  CHECK(recording.episodes().size() == 2);
}

TEST_CASE("reclaiming page cache at a limit is not an event, unless processes wait for it") {
  LimitRecording recording;
  recording.tick(2);
  recording.reach(80 * kMib, 500, 1'000'000);
  recording.tick();
  CHECK(recording.episodes().empty());
  recording.reach(80 * kMib, 500, 30'000'000);
  recording.tick();
  REQUIRE(recording.episodes().size() == 1);
  CHECK(recording.episodes().front().times == 1000);
}

TEST_CASE("a counter that is high at the first tick causes no event") {
  LimitRecording recording;
  recording.tick(3);
  recording.end();
  recording.reach(0, 100);
  recording.begin();
  recording.tick(3);
  CHECK(recording.episodes().empty());
}

TEST_CASE("a full tmpfs is one event from the first full tick until it has space again") {
  LimitRecording recording;
  recording.tick();
  recording.fill(62 * kMib);
  const std::int64_t full_ms = recording.tick();
  recording.fill(63 * kMib);
  recording.tick(100);
  REQUIRE(recording.episodes().size() == 1);
  CHECK_FALSE(recording.episodes().front().to_ms);
  recording.fill(kMib);
  const std::int64_t end_ms = recording.tick();
  recording.tick(3);
  const LimitEpisode episode = recording.episodes().front();
  CHECK(episode.kind == LimitKind::tmpfs_full);
  CHECK(episode.subject == "/run");
  CHECK(episode.at_ms == full_ms);
  CHECK(episode.to_ms == end_ms);
  CHECK(episode.used_kib == 63 * kMib);
  CHECK(episode.limit_kib == 64 * kMib);
  recording.fill(64 * kMib);
  recording.tick();
  recording.mounts.clear();
  const std::int64_t unmounted_ms = recording.tick();
  REQUIRE(recording.episodes().size() == 1);
  CHECK(recording.episodes().front().to_ms == unmounted_ms);
}

TEST_CASE("many cgroups at their limits cause a bounded number of events") {
  LimitRecording recording;
  recording.tick(2);
  std::vector<CgroupSample> cgroups;
  std::vector<CgroupDetail> details;
  for (int i = 100; i < 400; ++i) {
    cgroups.push_back(recording.cgroups.front());
    cgroups.back().path = "/user-" + std::to_string(i);
    details.push_back(recording.details.front());
    details.back().path = cgroups.back().path;
  }
  recording.cgroups = cgroups;
  recording.details = details;
  recording.tick();
  for (CgroupDetail& detail : recording.details) ++*detail.max_events;
  recording.tick();
  CHECK(recording.episodes().size() == 30);
}

}  // namespace
}  // namespace memoir::test
