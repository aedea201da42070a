#include "collect/pss/approximation.h"

#include "support/catch.h"

using namespace memoir;

using F = ProcessField;

namespace {

constexpr std::int64_t kGib = 1024 * 1024;

ProcessSample approximated(std::int64_t anon_kib, std::int64_t file_kib, std::int64_t shmem_kib) {
  ProcessSample sample;
  sample.memory.set(F::vm_rss, anon_kib + file_kib + shmem_kib);
  sample.memory.set(F::rss_anon, anon_kib);
  sample.memory.set(F::rss_file, file_kib);
  sample.memory.set(F::rss_shmem, shmem_kib);
  approximate(sample);
  return sample;
}

ProcessSample exact(std::int64_t anon_kib, std::int64_t shared_kib) {
  ProcessSample sample;
  sample.source = Source::exact;
  sample.memory.set(F::pss, anon_kib + shared_kib);
  sample.memory.set(F::pss_anon, anon_kib);
  sample.memory.set(F::pss_file, shared_kib);
  return sample;
}

MachineMemory machine(std::int64_t total_kib, std::int64_t anon_kib, std::int64_t mapped_kib) {
  MachineMemory memory;
  memory.set(MachineField::mem_total, total_kib);
  memory.set(MachineField::anon_pages, anon_kib);
  memory.set(MachineField::mapped, mapped_kib);
  return memory;
}

std::int64_t pss(const std::vector<ProcessSample>& samples) {
  std::int64_t sum = 0;
  for (const ProcessSample& sample : samples) sum += sample.memory.or_zero(F::pss);
  return sum;
}

}  // namespace

TEST_CASE("RSS replaces PSS while the sum fits into the machine's memory") {
  std::vector<ProcessSample> samples{approximated(4 * kGib, kGib, kGib), exact(kGib, 100)};
  const std::vector<ProcessSample> before = samples;
  bound_approximate(samples, machine(24 * kGib, 5 * kGib, 2 * kGib));
  CHECK(samples == before);
  CHECK(samples[0].memory.get(F::pss) == 6 * kGib);
  bound_approximate(samples, MachineMemory());
  CHECK(samples == before);
}

TEST_CASE("memory that one process maps many times counts once") {
  // 35 mappings of 1 GiB.
  std::vector<ProcessSample> samples{approximated(1000, 2000, 35 * kGib)};
  bound_approximate(samples, machine(64 * kGib, 2000, kGib + 4000));
  const ProcessMemory& memory = samples[0].memory;
  CHECK(memory.or_zero(F::pss) <= kGib + 5000);
  CHECK(memory.or_zero(F::pss) >= kGib);
  CHECK(memory.get(F::pss_anon) == 1000);
  CHECK(memory.or_zero(F::pss_anon) + memory.or_zero(F::pss_file) + memory.or_zero(F::pss_shmem) == memory.get(F::pss));
  CHECK(memory.get(F::rss) == 35 * kGib + 3000);
}

TEST_CASE("approximate processes together use no more than the machine has") {
  SECTION("shared memory") {
    std::vector<ProcessSample> samples(42, approximated(1000, 0, 8 * kGib));
    samples.push_back(exact(kGib, kGib));
    bound_approximate(samples, machine(24 * kGib, 2 * kGib, 9 * kGib));
    CHECK(samples.back() == exact(kGib, kGib));
    CHECK(pss(samples) <= 11 * kGib);
    CHECK(pss(samples) >= 9 * kGib);
    CHECK(samples[0].memory.get(F::pss_anon) == 1000);
  }
  SECTION("pages that forked children share with their parent") {
    std::vector<ProcessSample> samples(42, approximated(8 * kGib, 1000, 0));
    bound_approximate(samples, machine(24 * kGib, 9 * kGib, kGib));
    CHECK(pss(samples) <= 9 * kGib + 42 * 1000);
    CHECK(pss(samples) >= 9 * kGib - 42);
  }
  SECTION("an old kernel does not report the parts") {
    ProcessSample whole;
    whole.memory.set(F::vm_rss, 8 * kGib);
    approximate(whole);
    std::vector<ProcessSample> samples(42, whole);
    bound_approximate(samples, machine(24 * kGib, 9 * kGib, kGib));
    CHECK(pss(samples) <= 9 * kGib);
    CHECK_FALSE(samples[0].memory.has(F::pss_anon));
  }
}
