#include "proc/smaps_rollup.h"

#include "proc/rollup_keys.h"

namespace memoir {

Status parse_smaps_rollup(std::string_view text, ProcessMemory& memory, OddLines* odd) {
  if (text.empty()) {
    clear_fields<0, kRollupFields>(memory);
    return Error{ErrorKind::not_found, "smaps_rollup: empty, the process has no memory any more"};
  }
  return read_fields<0, &KeyLine::kib>(text, ':', "smaps_rollup", kRollupKeys, memory, odd,
                                       {ProcessField::rss, ProcessField::pss});
}

}  // namespace memoir
