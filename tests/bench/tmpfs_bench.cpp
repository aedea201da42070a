// Cost of recording three tmpfs mounts with 10,000 files each, for a day without changes and for one with constant
// changes. Without permission to mount, folders of /dev/shm replace the mounts.
//
//   tmpfs_bench [FILES]

#include <cstdlib>
#include <fmt/format.h>

#include "store.h"
#include "support/temporary_directory.h"
#include "tmpfs_mounts.h"

using namespace memoir;
using namespace memoir::bench;

namespace {

constexpr std::int64_t kIntervalMs = 10'000;
constexpr std::int64_t kTicks = 86'400'000 / kIntervalMs;

struct Day {
  double scan_us = 0;
  double walk_us = 0;
  double write_us = 0;
  int walks = 0;
  double bytes = 0;
};

// If `stored`, the mounts are written to the file.
Day record(const TmpfsMounts& mounts, TmpfsMoves moves, bool stored) {
  Day day;
  const test::TemporaryDirectory folder;
  Moment now{1'790'000'000'000, 1'000'000};
  Store store(folder.path() + "/memoir.db", {"boot", now.wall_ms, "host", "6.1"}, now, kIntervalMs);
  TmpfsTicks ticks(mounts, moves);
  for (std::int64_t i = 0; i < kTicks; ++i) {
    Tick tick;
    tick.begin = tick.end = now;
    tick.keyframe = i % 360 == 0;
    ticks.take(tick);
    if (!stored) tick.tmpfs.reset();
    day.write_us += store.write(tick);
    now.wall_ms += kIntervalMs;
    now.boot_ms += kIntervalMs;
  }
  day.scan_us = ticks.scan_us();
  day.walk_us = ticks.walk_us();
  day.walks = ticks.walks();
  day.bytes = store.close(now);
  return day;
}

void print(const char* title, const Day& day, const Day& without) {
  fmt::print("{:<28}{:>8.2f}{:>8.2f}{:>8.2f}{:>8}{:>12.3f}\n", title, day.scan_us / 1e6, day.walk_us / 1e6,
             (day.write_us - without.write_us) / 1e6, day.walks, (day.bytes - without.bytes) / 1048576.0);
}

}  // namespace

int main(int argc, char** argv) {
  const int files = argc > 1 ? std::atoi(argv[1]) : 10'000;
  const TmpfsMounts mounts(files);
  fmt::print("{} tmpfs {} with {} files each; seconds of CPU a day, MiB of file a day\n", TmpfsMounts::kMounts,
             mounts.real() ? "mounts" : "folders of one mount", files);
  fmt::print("{:<28}{:>8}{:>8}{:>8}{:>8}{:>12}\n", "", "statfs", "walk", "store", "walks", "file MiB");
  const Day without = record(mounts, {0, 1}, false);
  print("nothing moves", record(mounts, {0, 1}, true), without);
  print("64 KiB a tick, 4 entries", record(mounts, {64, 8}, true), without);
  print("64 KiB a tick, all entries", record(mounts, {64, 1}, true), without);
  print("1 MiB a tick, all entries", record(mounts, {1024, 1}, true), without);
  return 0;
}
