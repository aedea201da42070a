#include "analysis/grouping.h"

#include "support/catch.h"

using namespace memoir;
using M = MachineField;
using P = ProcessField;

namespace {

ProcessSample sample(Source source, std::int64_t pss_kib, std::int64_t rss_kib) {
  ProcessSample of;
  of.source = source;
  of.memory.set(P::pss, pss_kib);
  of.memory.set(P::vm_rss, rss_kib);
  of.memory.set(P::vm_hwm, rss_kib);
  return of;
}

// Two processes: one uses 300 (measured), the other an estimated 200, at most 500.
Tally both() {
  Tally tally;
  tally.add(sample(Source::exact, 300, 400));
  tally.add(sample(Source::estimated, 200, 500));
  return tally;
}

MachineMemory mapped_memory(std::int64_t anonymous, std::int64_t mapped) {
  MachineMemory memory;
  memory.set(M::anon_pages, anonymous);
  memory.set(M::mapped, mapped);
  return memory;
}

}  // namespace

TEST_CASE("a tally sums known values and keeps the largest high-water mark") {
  const Tally tally = both();
  CHECK(tally.processes() == 2);
  CHECK(tally.inexact() == 1);
  CHECK(tally.kib(Metric::pss) == 500);
  CHECK(tally.kib(Metric::hwm) == 500);
  CHECK(tally.known_pss_kib() == 300);
  CHECK(tally.exact_percent() == 60.0);
  CHECK(tally.pss_bounds() == PssBounds{300, 800});
  Tally twice = both();
  twice.add(tally);
  CHECK(twice.processes() == 4);
  CHECK(twice.inexact() == 2);
  CHECK(twice.kib(Metric::pss) == 1000);
  CHECK(twice.kib(Metric::hwm) == 500);
  CHECK(twice.known_pss_kib() == 600);
  CHECK(twice.pss_bounds() == PssBounds{600, 1600});
  CHECK(twice.estimates().processes == 2);
  CHECK(twice.estimates().pss_kib == 400);
}

TEST_CASE("the error of estimates is within their bounds and the machine's memory") {
  const Tally tally = both();
  CHECK(estimates_off_most_kib(tally, tally, {}) == 300);
  CHECK(estimates_off_most_kib(tally, tally, mapped_memory(600, 500)) == 300);
  CHECK(estimates_off_most_kib(tally, tally, mapped_memory(500, 250)) == 250);  // 750 minus 300 and 200
  CHECK(estimates_off_most_kib(tally, tally, mapped_memory(100, 100)) == 200);  // no headroom for the estimated process
  MachineMemory half;
  half.set(M::anon_pages, 500);
  CHECK(estimates_off_most_kib(tally, tally, half) == 300);
  Tally known;
  known.add(sample(Source::exact, 300, 400));
  CHECK_FALSE(estimates_off_most_kib(known, tally, mapped_memory(500, 250)).has_value());
}

TEST_CASE("a share of zero is unknown") {
  CHECK(share_percent(1, 4) == 25.0);
  CHECK(share_percent(0, 1) == 0.0);
  CHECK_FALSE(share_percent(1, 0).has_value());
  CHECK_FALSE(share_percent(std::nullopt, 4).has_value());
  CHECK_FALSE(share_percent(1, std::nullopt).has_value());
}
