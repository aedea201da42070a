#include "collect/pss/estimate.h"

#include <initializer_list>
#include <utility>

#include "support/catch.h"

using namespace memoir;

using F = ProcessField;

namespace {

// The default process: 100 MiB of unshared memory, 20 MiB of files, and 8 MiB of shared memory. In the reading below, a
// quarter of the files and half of the shared memory count in PSS.
ProcessMemory counters(std::int64_t anon_kib = 102'400, std::int64_t file_kib = 20'480,
                       std::int64_t shmem_kib = 8'192) {
  ProcessMemory memory;
  memory.set(F::rss_anon, anon_kib);
  memory.set(F::rss_file, file_kib);
  memory.set(F::rss_shmem, shmem_kib);
  memory.set(F::vm_rss, anon_kib + file_kib + shmem_kib);
  memory.set(F::vm_swap, 0);
  return memory;
}

ExactReading reading(std::int64_t pss_anon_kib = 102'400) {
  ExactReading read{.memory = counters()};
  ProcessMemory& memory = read.memory;
  memory.set(F::rss, *memory.get(F::vm_rss));
  memory.set(F::anonymous, *memory.get(F::rss_anon));
  memory.set(F::referenced, *memory.get(F::vm_rss));
  memory.set(F::pss_anon, pss_anon_kib);
  memory.set(F::pss_file, 5'120);
  memory.set(F::pss_shmem, 4'096);
  memory.set(F::pss, pss_anon_kib + 5'120 + 4'096);
  memory.set(F::pss_dirty, pss_anon_kib + 4'096);
  memory.set(F::shared_clean, 20'480);
  memory.set(F::shared_dirty, 8'192 + 102'400 - pss_anon_kib);
  memory.set(F::private_clean, 0);
  memory.set(F::private_dirty, pss_anon_kib);
  memory.set(F::swap, 0);
  memory.set(F::swap_pss, 0);
  return read;
}

ProcessSample estimated(const ExactReading& read, const ProcessMemory& now, bool related = false) {
  ProcessSample sample;
  sample.memory = now;
  estimate(read, related, sample);
  return sample;
}

}  // namespace

TEST_CASE("an unchanged process has the values of its reading") {
  const ExactReading read = reading();
  const ProcessSample sample = estimated(read, counters());
  CHECK(sample.source == Source::held);
  CHECK(sample.memory == read.memory);
}

TEST_CASE("changes of unshared anonymous memory count fully") {
  for (const std::int64_t moved : {-100'000, -4, 4, 50'000}) {
    const ProcessSample sample = estimated(reading(), counters(102'400 + moved));
    CHECK(sample.source == Source::held);
    CHECK(sample.memory.get(F::pss) == 111'616 + moved);
    CHECK(sample.memory.get(F::pss_anon) == 102'400 + moved);
    CHECK(sample.memory.get(F::rss) == sample.memory.get(F::vm_rss));
    CHECK(sample.memory.get(F::anonymous) == 102'400 + moved);
    CHECK(sample.memory.get(F::pss_dirty) == 106'496 + moved);
    CHECK(uss_kib(sample.memory) == 102'400 + moved);
  }
}

TEST_CASE("the share of shared memory is kept from the last reading") {
  const ProcessSample file = estimated(reading(), counters(102'400, 40'960));
  CHECK(file.source == Source::estimated);
  CHECK(file.memory.get(F::pss_file) == 10'240);
  CHECK(file.memory.get(F::pss) == 111'616 + 5'120);
  const ProcessSample shmem = estimated(reading(), counters(102'400, 20'480, 4'096));
  CHECK(shmem.source == Source::estimated);
  CHECK(shmem.memory.get(F::pss_shmem) == 2'048);
  CHECK(shmem.memory.get(F::pss) == 111'616 - 2'048);
}

TEST_CASE("pages that a forked process adds are unshared; freed ones are shared in proportion") {
  const ExactReading forked = reading(51'200);
  const ProcessSample more = estimated(forked, counters(112'400));
  CHECK(more.source == Source::estimated);
  CHECK(more.memory.get(F::pss_anon) == 61'200);
  const ProcessSample less = estimated(forked, counters(51'200));
  CHECK(less.memory.get(F::pss_anon) == 25'600);
}

TEST_CASE("after a relative's fork the estimate is uncertain, even without a changed counter") {
  CHECK(estimated(reading(), counters(), true).source == Source::estimated);
  // PSS_anon is then one page below RssAnon, which shows readers that some of the memory may be shared.
  CHECK(estimated(reading(), counters(), true).memory.get(F::pss) == 111'612);
  CHECK(estimated(reading(), counters(), true).memory.get(F::pss_anon) == 102'396);
  CHECK(estimated(reading(51'200), counters(), true).memory.get(F::pss_anon) == 51'200);
  CHECK(estimated(reading(), counters(102'404), true).source == Source::estimated);
}

TEST_CASE("without the parts of PSS, which kernels before 5.3 lack, the ratio of PSS to RSS is kept") {
  ExactReading read = reading();
  for (const F part : {F::pss_anon, F::pss_file, F::pss_shmem}) read.memory.clear(part);
  const ProcessSample sample = estimated(read, counters(204'800, 40'960, 16'384));
  CHECK(sample.source == Source::estimated);
  CHECK(sample.memory.get(F::pss) == 2 * 111'616);
}

TEST_CASE("swap of shared memory, which VmSwap omits, stays when other memory changes") {
  ExactReading read = reading();
  read.memory.set(F::vm_swap, 30'000);
  read.memory.set(F::swap, 115'000);
  read.memory.set(F::swap_pss, 29'000);
  ProcessMemory now = counters(102'400, 24'000);
  now.set(F::vm_swap, 31'000);
  const ProcessSample sample = estimated(read, now);
  CHECK(sample.source == Source::estimated);
  CHECK(sample.memory.get(F::swap) == 116'000);
  CHECK(sample.memory.get(F::swap_pss) == 30'000);
}

TEST_CASE("a share that is too large or too small is corrected, and USS with it") {
  ExactReading read = reading();
  read.memory.set(F::pss_shmem, 8'192);  // no other process maps this memory
  read.memory.set(F::pss, 102'400 + 5'120 + 8'192);
  read.memory.set(F::private_dirty, 102'400 + 8'192);
  read.memory.set(F::shared_dirty, 0);
  ProcessSample sample = estimated(read, counters());
  correct_shared(-4'096 - 2'560, sample);
  CHECK(sample.source == Source::estimated);
  CHECK(sample.memory.get(F::pss) == 102'400 + 5'120 + 8'192 - 4'096 - 2'560);
  CHECK(*sample.memory.get(F::pss_file) + *sample.memory.get(F::pss_shmem) == 5'120 + 8'192 - 4'096 - 2'560);
  CHECK(uss_kib(sample.memory) == 102'400);
  CHECK(sample.memory.get(F::shared_dirty) == 8'192);

  ProcessSample other = estimated(reading(), counters());
  correct_shared(20'480 - 5'120 + 4'096, other);  // all of the memory is unshared
  CHECK(other.memory.get(F::pss) == other.memory.get(F::vm_rss));
  CHECK(uss_kib(other.memory) == other.memory.get(F::vm_rss));
}

TEST_CASE("USS is at most PSS and PSS at most RSS, however processes exit") {
  ExactReading read = reading();
  read.memory.set(F::private_clean, 5'000);
  for (const std::int64_t file_kib : {20'480, 10'000, 100, 0}) {
    const ProcessMemory memory = estimated(read, counters(102'400, file_kib)).memory;
    CHECK(uss_kib(memory) <= memory.get(F::pss));
    CHECK(memory.get(F::pss) <= rss_kib(memory));
  }
}

TEST_CASE("swap counts, and swap beyond the reading is unshared") {
  ProcessMemory now = counters(92'400);
  now.set(F::vm_swap, 10'000);
  const ProcessSample sample = estimated(reading(), now);
  CHECK(sample.memory.get(F::swap) == 10'000);
  CHECK(sample.memory.get(F::swap_pss) == 10'000);
}

// With any counters, PSS is within the bounds of the process's mapped memory.
TEST_CASE("an estimate is never outside its bounds") {
  for (const std::int64_t pss_anon : {102'400, 51'200, 0}) {
    for (const std::int64_t anon : {0, 4, 102'400, 1'000'000}) {
      for (const std::int64_t file : {0, 20'480, 900'000}) {
        for (const bool related : {false, true}) {
          const ProcessSample sample = estimated(reading(pss_anon), counters(anon, file), related);
          const PssBounds bounds = pss_bounds(sample);
          CHECK(bounds.min_kib <= *sample.memory.get(F::pss));
          CHECK(*sample.memory.get(F::pss) <= bounds.max_kib);
          CHECK(bounds.max_kib <= *sample.memory.get(F::vm_rss));
        }
      }
    }
  }
}

TEST_CASE("bounds are the unshared memory and everything mapped") {
  const ProcessSample own = estimated(reading(), counters(102'400, 40'960));
  CHECK(pss_bounds(own) == PssBounds{102'400, 151'552});
  // The lower bound is 0 unless the number of processes that may share the anonymous memory is known.
  const ProcessSample forked = estimated(reading(), counters(102'400, 40'960), true);
  CHECK(pss_bounds(forked) == PssBounds{0, 151'552});
  CHECK(pss_bounds(forked, 4) == PssBounds{25'599, 151'552});
  CHECK(pss_bounds(forked, 1) == PssBounds{102'400, 151'552});
  const ProcessSample known = estimated(reading(), counters());
  CHECK(pss_bounds(known) == PssBounds{111'616 - 558, 111'616 + 558});  // other processes may map the same memory
  ProcessSample denied;
  denied.source = Source::approximate;
  denied.memory = counters();
  denied.memory.set(F::pss, 131'072);
  CHECK(pss_bounds(denied, 2) == PssBounds{51'199, 131'072});
}

TEST_CASE("an estimate's error counts at once, trust grows slowly and is never complete") {
  CHECK(learn(1, 1'000, 0) == 0.25);
  CHECK(learn(0.5, 1'000, 300) == 0.3);
  CHECK(learn(0.25, 1'000, 900) == 0.9);
  CHECK(learn(0.25, 1'000, 5'000) == 5);
  CHECK(learn(0.25, 1'000, 50'000) == 8);
  CHECK(learn(0.25, 0, 100) == 0.25);  // there was nothing to learn from
  double part = 1;
  for (int reading = 0; reading < 20; ++reading) part = learn(part, 1'000, 0);
  CHECK(part == 1.0 / 64);
}

TEST_CASE("touched memory is changed memory, including possible changes without a counter") {
  const ExactReading read = reading();
  constexpr RelativesSince none{};
  constexpr RelativesSince wrote{.wrote_kib = kAnyKib};
  CHECK(touched_kib(read, counters(), wrote, read.at_ms + 1'000'000) == 0);
  CHECK(touched_kib(read, counters(150'000), none, read.at_ms) == 0);  // unshared memory
  CHECK(touched_kib(read, counters(102'400, 20'580), none, read.at_ms) == 100);
  const ProcessMemory now = counters(102'400, 20'580);
  CHECK(touched_kib(read, now, {.forked = true}, read.at_ms) == 100 + *now.get(F::vm_rss) / 8);

  ExactReading forked = reading();
  forked.at_ms = 100'000;
  forked.memory.set(F::pss_anon, 102'400 - 80'000);
  CHECK(touched_kib(forked, counters(), wrote, forked.at_ms) == 0);
  CHECK(touched_kib(forked, counters(), wrote, forked.at_ms + 12'000) == 2'000);
  CHECK(touched_kib(forked, counters(), wrote, forked.at_ms + 6'000'000) == 20'000);
  CHECK(touched_kib(forked, counters(), none, forked.at_ms + 6'000'000) == 0);
  CHECK(touched_kib(forked, counters(), {.wrote_kib = 40}, forked.at_ms + 6'000'000) == 40);
}
