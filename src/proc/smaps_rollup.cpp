#include "proc/smaps_rollup.h"

#include "proc/rollup_lines.h"

namespace memoir {

Status parse_smaps_rollup(std::string_view text, ProcessMemory& memory) {
  clear_fields<0, kRollupFields>(memory);
  if (text.empty()) return Error{ErrorKind::gone, "smaps_rollup: empty, the process has no memory any more"};
  RollupLines lines;
  KeyLine line;
  bool any = false;
  while (next_line(text, ':', line)) {
    const RollupLines::Line read = lines.read(line, memory);
    if (read == RollupLines::Line::bad) {
      clear_fields<0, kRollupFields>(memory);
      return bad_line("smaps_rollup", line.text);
    }
    any = any || read == RollupLines::Line::known;
  }
  if (!any) return nothing_known("smaps_rollup");
  return Done{};
}

}  // namespace memoir
