// Segments and tmpfs mounts are stored as changes and keyframes, and read back as last reported.

#include "store/shmem_state.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <map>
#include <random>

#include "store_fixture.h"

namespace memoir::test {
namespace {

const BootInfo kBoot{"boot-1", 1'700'000'000'000, "host", "6.1"};

// A recorder's reports, which are complete but not made at every tick.
class RandomShmem {
 public:
  explicit RandomShmem(std::uint32_t seed) : engine_(seed) {}

  Tick next() {
    now_.wall_ms += 10'000;
    now_.boot_ms += 10'000;
    Tick tick;
    tick.begin = now_;
    tick.end = now_;
    tick.keyframe = chance(0.1);
    if (chance(0.5)) tick.segments = segments_ = make_segments();
    if (chance(0.5)) tick.tmpfs = tmpfs_ = make_mounts();
    return tick;
  }
  const std::vector<SysvSegment>& segments() const { return segments_; }
  const std::vector<TmpfsSample>& tmpfs() const { return tmpfs_; }
  Moment now() const { return now_; }
  void forget() { segments_.clear(), tmpfs_.clear(); }

 private:
  bool chance(double probability) { return std::uniform_real_distribution<>(0, 1)(engine_) < probability; }
  std::int64_t number(std::int64_t most) { return std::uniform_int_distribution<std::int64_t>(0, most)(engine_); }
  std::optional<std::int64_t> maybe() { return chance(0.7) ? std::optional(number(3)) : std::nullopt; }

  std::vector<SysvSegment> make_segments() {
    std::vector<SysvSegment> segments;
    for (std::int64_t shmid = 0; shmid < 5; ++shmid) {
      if (!chance(0.7)) continue;
      SysvSegment segment;
      segment.shmid = shmid;
      segment.key = 77;
      segment.creator_pid = static_cast<std::int32_t>(number(1));
      segment.size_kib = 4096;
      segment.attachments = number(1);
      segment.uid = static_cast<std::uint32_t>(number(4'294'967'295));
      segment.removed = chance(0.5);
      segment.rss_kib = number(2);
      segment.detached_ms = maybe();
      segments.push_back(segment);
    }
    return segments;
  }

  std::vector<TmpfsSample> make_mounts() {
    constexpr TmpfsWalk kWalks[]{TmpfsWalk::whole, TmpfsWalk::cut, TmpfsWalk::not_read, TmpfsWalk::not_yet};
    std::vector<TmpfsSample> mounts;
    for (const char* name : {"/run", "/tmp \x1b\n", "/var"}) {
      if (!chance(0.8)) continue;
      TmpfsSample& mount = mounts.emplace_back();
      mount.mount_point = name;
      mount.walk = kWalks[number(3)];
      mount.used_kib = maybe();
      mount.limit_kib = maybe();
      mount.inodes = maybe();
      mount.walked_ms = maybe();
      if (!mount.walked_ms) continue;
      mount.content = {number(2), number(2), number(2), number(2), number(2), number(2), number(2)};
      for (const char* path : {"", "a", "a.b", "a/b", "ü\n"}) {
        if (chance(0.6)) mount.largest.push_back({path, chance(0.1), number(1), 1, 1, 33, number(1)});
      }
    }
    return mounts;
  }

  std::mt19937 engine_;
  Moment now_{1'790'000'000'000, 5'000'000};
  std::vector<SysvSegment> segments_;
  std::vector<TmpfsSample> tmpfs_;
};

// A sum over the view's rows of a tick.
std::int64_t sum(SQLite::Database& database, const std::string& what, std::int64_t tick_id) {
  SQLite::Statement row(database, "SELECT " + what + " WHERE tick_id = ?");
  row.bind(1, tick_id);
  REQUIRE(row.executeStep());
  return row.getColumn(0).getInt64();
}

void check_views(const StoreFixture& fixture, std::int64_t tick_id, const RandomShmem& reported) {
  std::int64_t segments_kib = 0;
  std::int64_t entries = 0;
  std::int64_t entries_kib = 0;
  for (const SysvSegment& segment : reported.segments()) segments_kib += 1000 + segment.rss_kib;
  for (const TmpfsSample& mount : reported.tmpfs()) {
    entries += static_cast<std::int64_t>(mount.largest.size());
    for (const TmpfsEntry& entry : mount.largest) entries_kib += entry.allocated_kib;
  }
  SQLite::Database database(fixture.path(), SQLite::OPEN_READONLY);
  REQUIRE(sum(database, "TOTAL(1000 + rss_kib) FROM segment_at", tick_id) == segments_kib);
  REQUIRE(sum(database, "COUNT(*) FROM tmpfs_at", tick_id) == static_cast<std::int64_t>(reported.tmpfs().size()));
  REQUIRE(sum(database, "COUNT(*) FROM tmpfs_entry_at", tick_id) == entries);
  REQUIRE(sum(database, "TOTAL(allocated_kib) FROM tmpfs_entry_at", tick_id) == entries_kib);
}

void check(const StoreFixture& fixture, std::int64_t tick_id, const RandomShmem& reported) {
  const auto reader = fixture.reader();
  std::vector<SysvSegment> segments;
  for (const SegmentAt& at : must(load_segments(*reader, tick_id))) segments.push_back(at.segment);
  REQUIRE(segments == reported.segments());
  std::vector<TmpfsSample> mounts;
  for (const TmpfsAt& at : must(load_tmpfs(*reader, tick_id, 0))) {
    mounts.push_back(at.sample);
    for (const TmpfsEntryAt& entry : at.entries) mounts.back().largest.push_back(entry.entry);
  }
  REQUIRE(mounts == reported.tmpfs());
  const ShmemState shmem = must(load_shmem_state(*reader, tick_id));
  REQUIRE(shmem.segments == reported.segments());
  REQUIRE(shmem.mounts.size() == reported.tmpfs().size());
  check_views(fixture, tick_id, reported);
}

TmpfsSample mount(std::int64_t kib) {
  TmpfsSample sample;
  sample.mount_point = "/tmp";
  sample.walk = TmpfsWalk::whole;
  sample.walked_ms = 1;
  sample.largest = {{"log", false, kib, kib, 1, 33, 0}};
  return sample;
}

}  // namespace

TEST_CASE("segments and tmpfs: the reader has the last report at any tick") {
  const StoreFixture fixture;
  RandomShmem shmem(7);
  for (int run = 0; run < 3; ++run) {
    const auto writer = fixture.writer();
    must(writer->begin_run(run_info(kBoot, shmem.now())));
    shmem.forget();
    for (int i = 0; i < 60; ++i) {
      must(writer->write(shmem.next()));
      check(fixture, run * 60 + i + 1, shmem);
    }
    must(writer->end_run(shmem.now(), "stopped"));
  }
}

TEST_CASE("segments and tmpfs: unchanged ones use rows only at keyframes") {
  const StoreFixture fixture;
  const auto writer = fixture.writer();
  Tick tick;
  tick.begin = {1'790'000'000'000, 1000};
  must(writer->begin_run(run_info(kBoot, tick.begin)));
  tick.segments = {SysvSegment{}};
  tick.tmpfs = {mount(64)};
  for (int i = 0; i < 9; ++i) {
    tick.keyframe = i == 4;
    must(writer->write(tick));
    tick.begin.wall_ms += 10'000;
    tick.begin.boot_ms += 10'000;
    if (i % 2 == 0) tick.tmpfs.reset();
  }
  SQLite::Database database(fixture.path(), SQLite::OPEN_READONLY);
  for (const char* table : {"sysv_sample", "tmpfs_sample", "tmpfs_entry_sample"}) {
    INFO(table);
    CHECK(database.execAndGet(std::string("SELECT COUNT(*) FROM ") + table).getInt() == 2);
  }
}

TEST_CASE("tmpfs: an entry has its first size, its size before the last change, and its size at a time") {
  const StoreFixture fixture;
  const auto writer = fixture.writer();
  Tick tick;
  tick.begin = {1'790'000'000'000, 1000};
  must(writer->begin_run(run_info(kBoot, tick.begin)));
  const std::int64_t first_ms = tick.begin.wall_ms;
  for (const std::int64_t kib : {100, 100, 300, 300, 700, 700}) {
    tick.tmpfs = {mount(kib)};
    must(writer->write(tick));
    tick.begin.wall_ms += 10'000;
    tick.begin.boot_ms += 10'000;
  }
  const auto mounts = must(load_tmpfs(*fixture.reader(), 6, 3));
  REQUIRE(mounts.size() == 1);
  REQUIRE(mounts[0].entries.size() == 1);
  const PastSize& past = mounts[0].entries[0].past;
  CHECK(past.first.kib == 100);
  CHECK(past.first.at_ms == first_ms);
  REQUIRE(past.before);
  CHECK(past.before->kib == 300);
  CHECK(past.before->at_ms == first_ms + 40'000);
  CHECK(past.since_kib == 300);
  CHECK_FALSE(must(load_tmpfs(*fixture.reader(), 2, 0))[0].entries[0].past.before);
}

}  // namespace memoir::test
