#include "proc/meminfo.h"

#include <fmt/format.h>
#include <limits>
#include <string>

#include "proc/key_lines.h"

namespace memoir {
namespace {

constexpr auto kMeminfoKeys = key_table<0, kFirstVmstat>(kMachineFields);

bool is_huge_page_count(MachineField field) {
  return field >= MachineField::huge_pages_total && field <= MachineField::huge_pages_surp;
}

// Converts counts of huge pages to KiB by Hugepagesize, a later line. Without that line, or on overflow, the fields
// become absent.
void huge_pages_to_kib(MachineMemory& memory) {
  const std::int64_t page_kib = memory.or_zero(MachineField::hugepage_size);
  for (const MachineField field : {MachineField::huge_pages_total, MachineField::huge_pages_free,
                                   MachineField::huge_pages_rsvd, MachineField::huge_pages_surp}) {
    const auto pages = memory.get(field);
    if (!pages) continue;
    const bool fits = page_kib > 0 && *pages <= std::numeric_limits<std::int64_t>::max() / page_kib;
    memory.set(field, fits ? std::optional(*pages * page_kib) : std::nullopt);
  }
}

// Notes fields that are larger than their total. A container's meminfo may mix its own limit with counts of the
// machine.
void note_contradictions(const MachineMemory& memory, OddLines& odd) {
  using M = MachineField;
  struct Pair {
    M part;
    M whole;
  };
  const auto key = [](M field) { return std::string_view(kMachineFields[static_cast<std::size_t>(field)].key); };
  for (const auto& [part, whole] :
       {Pair{M::mem_free, M::mem_total}, Pair{M::mem_available, M::mem_total}, Pair{M::cached, M::mem_total},
        Pair{M::anon_pages, M::mem_total}, Pair{M::slab, M::mem_total}, Pair{M::swap_free, M::swap_total}}) {
    if (memory.has(whole) && memory.get(part) > memory.get(whole))
      odd.note_problem("meminfo", key(part), fmt::format("{} is larger than {}", key(part), key(whole)));
  }
}

bool has_any(const MachineMemory& memory) {
  for (std::size_t i = 0; i < kFirstVmstat; ++i) {
    if (memory.has(static_cast<MachineField>(i))) return true;
  }
  return false;
}

}  // namespace

Status parse_meminfo(std::string_view text, MachineSample& sample, OddLines* odd) {
  clear_fields<0, kFirstVmstat>(sample.memory);
  sample.other.clear();
  KeyCursor cursor(kMeminfoKeys);
  LineValues<kFirstVmstat> values("meminfo", odd);
  KeyLine line;
  while (next_line(text, ':', line)) {
    const auto index = cursor.find(line.key);
    if (!index) {
      const auto value = line.value.ends_with('B') ? line.kib() : line.count();
      if (value) sample.other.push_back({std::string(line.key), *value});
      continue;
    }
    const auto field = static_cast<MachineField>(*index);
    sample.memory.set(field, values.take(*index, line, is_huge_page_count(field) ? line.count() : line.kib()));
  }
  huge_pages_to_kib(sample.memory);
  if (!has_any(sample.memory)) {
    sample.other.clear();
    return nothing_known("meminfo");
  }
  values.need(static_cast<std::size_t>(MachineField::mem_total), "MemTotal");
  if (odd != nullptr) note_contradictions(sample.memory, *odd);
  return Done{};
}

}  // namespace memoir
