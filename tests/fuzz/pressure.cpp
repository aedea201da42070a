#include "proc/pressure.h"

#include "fuzz/require.h"
#include "fuzz/targets.h"

void memoir::fuzz::pressure(std::string_view text) {
  MachineMemory memory;
  const Status done = parse_pressure(text, memory);
  require_good(memory, done.ok());
  if (!done) return require_good(done.error(), text);
}
