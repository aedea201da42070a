#include "proc/smaps_rollup.h"

#include "fuzz/require.h"
#include "fuzz/targets.h"

void memoir::fuzz::smaps_rollup(std::string_view text) {
  ProcessMemory memory;
  const Status done = parse_smaps_rollup(text, memory);
  require_good(memory, done.ok());
  if (!done) return require_good(done.error(), text);
  require(memory != ProcessMemory(), "a field is set");
  for (std::size_t i = kRollupFields; i < ProcessMemory::kCount; ++i) {
    require(!memory.has(static_cast<ProcessField>(i)), "fields of status are not set");
  }
}
