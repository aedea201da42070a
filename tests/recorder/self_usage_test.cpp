#include "recorder/self_usage.h"

#include <atomic>
#include <malloc.h>
#include <memory>
#include <thread>
#include <vector>

#include "support/catch.h"
#include "support/manual_clock.h"

using namespace memoir;

namespace {

// A sanitizer brings its own allocator, of which mallinfo2 knows nothing.
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

void check_adds_up(const SelfUsage& usage) {
  CHECK(usage.sqlite_kib + usage.other_kib + usage.fragments_kib + usage.releasable_kib == usage.heap_kib);
  for (const std::int64_t part :
       {usage.sqlite_kib, usage.other_kib, usage.fragments_kib, usage.releasable_kib, usage.unbacked_kib}) {
    CHECK(part >= 0);
  }
  CHECK(usage.unbacked_kib <= usage.heap_kib);
  REQUIRE(usage.rss_kib);
  CHECK(*usage.rss_kib > 0);
}

std::vector<std::unique_ptr<char[]>> blocks(std::size_t count, std::size_t size) {
  std::vector<std::unique_ptr<char[]>> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(std::make_unique<char[]>(size));
  return all;
}

}  // namespace

TEST_CASE("the parts add up to the whole while memory comes and goes") {
  check_adds_up(measure_self(0));
  check_adds_up(measure_self(100'000));
  const SelfUsage before = measure_self(0);

  // 8 MiB in small blocks, then every second one given back: these cannot leave the heap.
  auto small = blocks(8'192, 1'000);
  const SelfUsage full = measure_self(0);
  check_adds_up(full);
  for (std::size_t i = 0; i < small.size(); i += 2) small[i].reset();
  const SelfUsage holes = measure_self(0);
  check_adds_up(holes);

  // A block with a mapping of its own.
  auto large = std::make_unique<char[]>(64 * 1024 * 1024);
  const SelfUsage mapped = measure_self(0);
  check_adds_up(mapped);
  CHECK(*mapped.rss_kib > *holes.rss_kib + 60 * 1024);

  if (!kOwnAllocator) return;
  CHECK(full.other_kib - before.other_kib >= 8'000);
  CHECK(full.heap_kib >= before.other_kib + 8'000);
  CHECK(holes.fragments_kib - full.fragments_kib >= 3'900);
  CHECK(full.other_kib - holes.other_kib >= 3'900);
  CHECK(mapped.other_kib - holes.other_kib >= 64 * 1024);
}

TEST_CASE("what malloc_trim hands back is mapped but not backed") {
  if (!kOwnAllocator) return;
  auto small = blocks(16'384, 1'000);
  auto pin = std::make_unique<char[]>(1'000);
  small.clear();
  malloc_trim(0);
  const SelfUsage usage = measure_self(0);
  check_adds_up(usage);
  CHECK(usage.unbacked_kib >= 10'000);
  CHECK(usage.fragments_kib >= usage.unbacked_kib - 1'024);
}

TEST_CASE("SQLite's count can never exceed what is in use") {
  const SelfUsage usage = measure_self(std::int64_t{1} << 40);
  check_adds_up(usage);
  CHECK(usage.other_kib < 4);  // what the divisions leave
}

TEST_CASE("the shown parts add up to the shown whole") {
  SelfUsage usage;
  usage.rss_kib = 10'035;
  usage.sqlite_kib = 1'229;
  usage.other_kib = 2'150;
  usage.fragments_kib = 700;
  usage.releasable_kib = 120;
  usage.heap_kib = 4'199;
  CHECK(to_text(usage) == " [rss 9.8M, heap 4.1M = sqlite 1.2M + other 2.1M + free 0.8M]");
  usage.unbacked_kib = 307;
  usage.rss_kib.reset();
  CHECK(to_text(usage) == " [rss ?, heap 4.1M = sqlite 1.2M + other 2.1M + free 0.8M; 0.3M not backed]");
}

TEST_CASE("it measures at most once per interval") {
  test::ManualClock clock({.wall_ms = 0, .boot_ms = 0});
  int measured = 0;
  SelfUsageText usage(
      clock,
      [&measured] {
        SelfUsage result;
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

TEST_CASE("several threads may ask at once") {
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
