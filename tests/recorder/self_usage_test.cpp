#include "recorder/self_usage.h"

#include <atomic>
#include <malloc.h>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "support/catch.h"
#include "support/manual_clock.h"

using namespace memoir;

namespace {

// A sanitizer has its own allocator, which mallinfo2 does not count.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kOwnAllocator = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kOwnAllocator = false;
#else
constexpr bool kOwnAllocator = true;
#endif
#else
constexpr bool kOwnAllocator = true;
#endif

// Compares the parts with the allocator's count at the same time; nothing is allocated in between.
void check_adds_up(const RecorderMemory& memory) {
  for (const std::int64_t part : {memory.data_kib, memory.fragmentation_kib, memory.idle_kib, memory.prepared_kib,
                                  memory.sqlite_kib, memory.data_kib - memory.sqlite_kib}) {
    CHECK(part >= 0);
  }
  CHECK(memory.total_kib() == memory.data_kib + memory.fragmentation_kib + memory.idle_kib + memory.prepared_kib);
  const struct mallinfo2 info = mallinfo2();
  const auto heap_kib = static_cast<std::int64_t>((info.arena + info.hblkhd) / 1024);
  if (kOwnAllocator) CHECK(std::abs(memory.total_kib() - heap_kib) <= 256);
  REQUIRE(memory.rss_kib);
  CHECK(*memory.rss_kib > 0);
}

std::vector<std::unique_ptr<char[]>> blocks(std::size_t count, std::size_t size) {
  std::vector<std::unique_ptr<char[]>> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(std::make_unique<char[]>(size));
  return all;
}

}  // namespace

TEST_CASE("the parts add up to the total while memory is allocated and freed") {
  check_adds_up(measure_self(0));
  check_adds_up(measure_self(100'000));
  const RecorderMemory before = measure_self(0);

  // 8 MiB in small blocks, of which every second one is freed. The freed ones cannot be returned to the kernel.
  auto small = blocks(8'192, 1'000);
  const RecorderMemory full = measure_self(0);
  check_adds_up(full);
  for (std::size_t i = 0; i < small.size(); i += 2) small[i].reset();
  const RecorderMemory holes = measure_self(0);
  check_adds_up(holes);

  // This block is so large that it has a mapping of its own.
  auto large = std::make_unique<char[]>(64 * 1024 * 1024);
  const RecorderMemory mapped = measure_self(0);
  check_adds_up(mapped);
  CHECK(*mapped.rss_kib > *holes.rss_kib + 60 * 1024);

  if (!kOwnAllocator) return;
  CHECK(full.data_kib - before.data_kib >= 8'000);
  CHECK(full.total_kib() >= before.data_kib + 8'000);
  CHECK(holes.fragmentation_kib - full.fragmentation_kib >= 3'900);
  CHECK(full.data_kib - holes.data_kib >= 3'900);
  CHECK(mapped.data_kib - holes.data_kib >= 64 * 1024);
}

TEST_CASE("memory that malloc_trim returned counts as prepared, not as ready") {
  if (!kOwnAllocator) return;
  auto small = blocks(16'384, 1'000);
  const auto pin = std::move(small.back());  // the last block, which keeps the heap from shrinking
  small.clear();
  const RecorderMemory before = measure_self(0);
  malloc_trim(0);
  const RecorderMemory after = measure_self(0);
  check_adds_up(before);
  check_adds_up(after);
  CHECK(after.prepared_kib - before.prepared_kib >= 10'000);
  CHECK(before.ready_kib() - after.ready_kib() >= 10'000);
}

TEST_CASE("SQLite's count never exceeds the memory in use") {
  const RecorderMemory usage = measure_self(std::int64_t{1} << 40);
  check_adds_up(usage);
  CHECK(usage.sqlite_kib == usage.data_kib);
}

TEST_CASE("the printed parts add up to the printed sums") {
  RecorderMemory memory{.data_kib = 3'379, .fragmentation_kib = 400, .idle_kib = 120, .prepared_kib = 307};
  memory.rss_kib = 10'035;
  CHECK(to_text(memory) ==
        " [rss 9.8M, heap 4.1M = ready 3.8M + prepared 0.3M; ready = data 3.3M + fragmentation 0.4M + idle 0.1M]");
  memory.rss_kib.reset();
  CHECK_THAT(to_text(memory), test::ContainsSubstring("[rss ?, heap"));
}

TEST_CASE("memory is measured at most once per interval") {
  test::ManualClock clock({.wall_ms = 0, .boot_ms = 0});
  int measured = 0;
  SelfUsageText usage(
      clock,
      [&measured] {
        RecorderMemory result;
        result.rss_kib = 1024 * ++measured;
        return result;
      },
      1000);
  CHECK_THAT(usage.text(), test::ContainsSubstring("rss 1.0M"));
  clock.advance(999);
  CHECK_THAT(usage.text(), test::ContainsSubstring("rss 1.0M"));
  clock.step_wall(3'600'000);
  CHECK(measured == 1);
  clock.advance(1);
  CHECK_THAT(usage.text(), test::ContainsSubstring("rss 2.0M"));
  CHECK(measured == 2);
}

TEST_CASE("several threads may query at once") {
  const SystemClock clock;
  std::atomic<int> measured{0};
  SelfUsageText usage(
      clock,
      [&measured] {
        ++measured;
        return measure_self(0);
      },
      0);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&usage] {
      for (int n = 0; n < 50; ++n) {
        if (usage.text().empty()) std::abort();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(measured == 200);
}
