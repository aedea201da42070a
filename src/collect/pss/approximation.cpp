#include "collect/pss/approximation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace memoir {
namespace {

using F = ProcessField;

std::int64_t shared_kib(const ProcessMemory& memory) {
  return memory.or_zero(F::pss_file) + memory.or_zero(F::pss_shmem);
}

// Returns `value` × part / whole, without overflow.
std::int64_t share(std::int64_t value, std::int64_t part, std::int64_t whole) {
  if (whole <= part || whole <= 0) return value;
  return static_cast<std::int64_t>(static_cast<double>(value) * static_cast<double>(part) / static_cast<double>(whole));
}

void scale(ProcessMemory& memory, F field, std::int64_t part, std::int64_t whole) {
  if (const auto value = memory.get(field)) memory.set(field, share(*value, part, whole));
}

void scale_shared(ProcessMemory& memory, std::int64_t part, std::int64_t whole) {
  const std::int64_t before = shared_kib(memory);
  scale(memory, F::pss_file, part, whole);
  scale(memory, F::pss_shmem, part, whole);
  memory.set(F::pss, memory.or_zero(F::pss) - before + shared_kib(memory));
}

void scale_anonymous(ProcessMemory& memory, std::int64_t part, std::int64_t whole) {
  const std::int64_t shared = shared_kib(memory);
  scale(memory, F::pss_anon, part, whole);
  memory.set(F::pss, share(memory.or_zero(F::pss) - shared, part, whole) + shared);
}

// PSS by kind, summed separately for the processes that were read and for the others.
struct Sums {
  std::int64_t anonymous = 0;
  std::int64_t shared = 0;

  void add(const ProcessMemory& memory) {
    shared += shared_kib(memory);
    anonymous += memory.or_zero(F::pss) - shared_kib(memory);
  }
  std::int64_t all() const { return anonymous + shared; }
};

}  // namespace

void approximate(ProcessSample& sample) {
  ProcessMemory& memory = sample.memory;
  for (std::size_t i = 0; i < kRollupFields; ++i) memory.clear(static_cast<F>(i));
  sample.source = memory.has(F::vm_rss) ? Source::approximate : Source::inaccessible;
  sample.read_boot_ms.reset();
  memory.set(F::rss, memory.get(F::vm_rss));
  memory.set(F::pss, memory.get(F::vm_rss));
  memory.set(F::pss_anon, memory.get(F::rss_anon));
  memory.set(F::pss_file, memory.get(F::rss_file));
  memory.set(F::pss_shmem, memory.get(F::rss_shmem));
  memory.set(F::swap, memory.get(F::vm_swap));
}

void bound_approximate(std::vector<ProcessSample>& samples, const MachineMemory& machine) {
  const auto total = machine.get(MachineField::mem_total);
  if (!total) return;
  const std::int64_t mapped = machine.get(MachineField::mapped).value_or(*total);
  Sums read;
  Sums guessed;
  for (ProcessSample& sample : samples) {
    const bool approximated = sample.source == Source::approximate;
    if (approximated) scale_shared(sample.memory, mapped, shared_kib(sample.memory));
    (approximated ? guessed : read).add(sample.memory);
  }
  if (guessed.all() == 0 || read.all() + guessed.all() <= *total) return;
  const std::int64_t anonymous = machine.get(MachineField::anon_pages).value_or(*total);
  for (ProcessSample& sample : samples) {
    if (sample.source != Source::approximate) continue;
    scale_shared(sample.memory, std::max<std::int64_t>(mapped - read.shared, 0), guessed.shared);
    scale_anonymous(sample.memory, std::max<std::int64_t>(anonymous - read.anonymous, 0), guessed.anonymous);
  }
}

}  // namespace memoir
