// The sweep over many ticks that finds each process's share of swapped shared memory.

#include "collect/mappings/swap_sweep.h"

#include "support/catch.h"

using namespace memoir;

namespace {

constexpr std::int64_t kSweepMs = 900'000;

ProcessKey swapper(std::int32_t pid) {
  return {pid, 100, 0};
}

MappingSummary maps(std::string label, std::int64_t swap_kib) {
  MappingRow row{{MappingKind::tmpfs, std::move(label)}, {}};
  row.use.regions = row.use.shared_regions = 1;
  row.use.shared_swap_kib = swap_kib;
  return {{row}, {}};
}

}  // namespace

TEST_CASE("swap sweep: shares exist once all processes with swapped shared memory were read, until the next sweep") {
  SwapSweep sweep;
  const std::vector both{swapper(1), swapper(2)};
  sweep.meet(both, 0, kSweepMs);
  CHECK(sweep.left().size() == 2);
  sweep.take(swapper(1), maps("/a", 100));
  CHECK_FALSE(sweep.share_of(swapper(1)));
  sweep.take(swapper(2), maps("/a", 100));
  CHECK(sweep.share_of(swapper(1)) == 50);
  CHECK(sweep.share_of(swapper(2)) == 50);
  sweep.meet(both, kSweepMs - 1, kSweepMs);
  CHECK(sweep.left().empty());
  sweep.meet(both, kSweepMs, kSweepMs);
  sweep.take(swapper(1), maps("/a", 300));
  CHECK(sweep.share_of(swapper(1)) == 50);
  sweep.take(swapper(2), maps("/b", 40));
  CHECK(sweep.share_of(swapper(1)) == 300);
  CHECK(sweep.share_of(swapper(2)) == 40);
}

TEST_CASE("swap sweep: a process without swapped shared memory has no share, and an unreadable one is not awaited") {
  SwapSweep sweep;
  sweep.meet({swapper(1), swapper(2), swapper(3)}, 0, kSweepMs);
  sweep.take(swapper(1), maps("/a", 100));
  sweep.take(swapper(2), std::nullopt);
  CHECK_FALSE(sweep.share_of(swapper(1)));
  sweep.meet({swapper(1), swapper(2)}, 1, kSweepMs);  // the third process has exited
  CHECK(sweep.share_of(swapper(1)) == 100);
  CHECK_FALSE(sweep.share_of(swapper(2)));
  sweep.meet({}, 2, kSweepMs);  // the machine no longer swaps
  CHECK_FALSE(sweep.share_of(swapper(1)));
  CHECK(sweep.left().empty());
}

TEST_CASE("swap sweep: a new sharer is read soon, and all shares are recomputed") {
  SwapSweep sweep;
  sweep.meet({swapper(1), swapper(2)}, 0, kSweepMs);
  sweep.take(swapper(1), maps("/a", 90));
  sweep.take(swapper(2), maps("/a", 90));
  CHECK(sweep.share_of(swapper(1)) == 45);
  sweep.meet({swapper(1), swapper(2), swapper(3)}, 1, kSweepMs);
  CHECK(sweep.left() == std::set<ProcessKey>{swapper(3)});
  sweep.take(swapper(3), maps("/a", 90));
  for (const std::int32_t pid : {1, 2, 3}) CHECK(sweep.share_of(swapper(pid)) == 30);
  sweep.meet({swapper(1), swapper(3)}, 2, kSweepMs);
  CHECK(sweep.left().empty());
  CHECK(sweep.share_of(swapper(1)) == 45);
}

TEST_CASE("swap sweep: a process with too many names has no shares") {
  SwapSweep sweep;
  sweep.meet({swapper(1), swapper(2)}, 0, kSweepMs);
  MappingSummary many;
  for (int i = 0; i < 2'000; ++i) {
    const auto next = maps(std::string(4'000, 'x') + std::to_string(i), 1);
    many.rows.push_back(next.rows.front());
  }
  sweep.take(swapper(1), many);
  sweep.take(swapper(2), maps("/a", 7));
  CHECK(sweep.share_of(swapper(1)) == 0);
  CHECK(sweep.share_of(swapper(2)) == 7);
}
