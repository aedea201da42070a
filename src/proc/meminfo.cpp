#include "proc/meminfo.h"

#include <limits>
#include <string>

#include "proc/key_lines.h"

namespace memoir {
namespace {

constexpr auto kMeminfoKeys = key_table<0, kFirstVmstat>(kMachineFields);

bool is_huge_page_count(MachineField field) {
  return field >= MachineField::huge_pages_total && field <= MachineField::huge_pages_surp;
}

void clear(MachineSample& sample) {
  clear_fields<0, kFirstVmstat>(sample.memory);
  sample.other.clear();
}

// Hugepagesize stands behind the counts. Without it, or beyond all numbers, their size is not known.
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

}  // namespace

Status parse_meminfo(std::string_view text, MachineSample& sample) {
  clear(sample);
  KeyCursor cursor(kMeminfoKeys);
  KeyLine line;
  while (next_line(text, ':', line)) {
    const auto index = cursor.find(line.key);
    if (!index) {
      const auto value = line.value.ends_with('B') ? line.kib() : line.count();
      if (value) sample.other.push_back({std::string(line.key), *value});
      continue;
    }
    const auto field = static_cast<MachineField>(*index);
    const auto value = is_huge_page_count(field) ? line.count() : line.kib();
    if (!value) {
      clear(sample);
      return bad_line("meminfo", line.text);
    }
    sample.memory.set(field, *value);
  }
  if (!sample.memory.has(MachineField::mem_total)) {
    clear(sample);
    return malformed("meminfo: has no MemTotal");
  }
  huge_pages_to_kib(sample.memory);
  return Done{};
}

}  // namespace memoir
