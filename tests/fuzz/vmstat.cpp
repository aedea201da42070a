#include "proc/vmstat.h"

#include "fuzz/require.h"
#include "fuzz/targets.h"

void memoir::fuzz::vmstat(std::string_view text) {
  MachineMemory memory;
  const Status done = parse_vmstat(text, memory);
  require_good(memory, done.ok());
  if (!done) return require_good(done.error(), text);
  require(memory != MachineMemory(), "a field is set");
}
