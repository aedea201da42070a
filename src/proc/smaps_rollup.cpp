#include "proc/smaps_rollup.h"

#include "proc/key_lines.h"

namespace memoir {
namespace {

constexpr auto kRollupKeys = key_table<0, kRollupFields>(kProcessFields);

}  // namespace

Status parse_smaps_rollup(std::string_view text, ProcessMemory& memory) {
  clear_fields<0, kRollupFields>(memory);
  if (text.empty()) return Error{ErrorKind::gone, "smaps_rollup: empty, the process has no memory any more"};
  KeyCursor cursor(kRollupKeys);
  KeyLine line;
  bool any = false;
  while (next_line(text, ':', line)) {
    const auto field = cursor.find(line.key);
    if (!field) continue;
    const auto kib = line.kib();
    if (!kib) {
      clear_fields<0, kRollupFields>(memory);
      return bad_line("smaps_rollup", line.text);
    }
    memory.set(static_cast<ProcessField>(*field), *kib);
    any = true;
  }
  if (!any) return nothing_known("smaps_rollup");
  return Done{};
}

}  // namespace memoir
