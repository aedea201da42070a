#include "proc/vmstat.h"

#include "proc/key_lines.h"

namespace memoir {
namespace {

constexpr std::size_t kVmstatFields = kFirstPressure - kFirstVmstat;
constexpr auto kVmstatKeys = key_table<kFirstVmstat, kVmstatFields>(kMachineFields);

}  // namespace

Status parse_vmstat(std::string_view text, MachineMemory& memory) {
  clear_fields<kFirstVmstat, kVmstatFields>(memory);
  KeyCursor cursor(kVmstatKeys);
  KeyLine line;
  bool any = false;
  while (next_line(text, ' ', line)) {
    const auto field = cursor.find(line.key);
    if (!field) continue;
    const auto value = line.count();
    if (!value) {
      clear_fields<kFirstVmstat, kVmstatFields>(memory);
      return bad_line("vmstat", line.text);
    }
    memory.set(static_cast<MachineField>(kFirstVmstat + *field), *value);
    any = true;
  }
  if (!any) return nothing_known("vmstat");
  return Done{};
}

}  // namespace memoir
