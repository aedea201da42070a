#include "proc/meminfo.h"

#include "fuzz/require.h"
#include "fuzz/targets.h"

void memoir::fuzz::meminfo(std::string_view text) {
  MachineSample sample;
  const Status done = parse_meminfo(text, sample);
  require_good(sample.memory, done.ok());
  for (const OtherMeminfo& other : sample.other) require(other.value >= 0, "no other value is negative");
  if (!done) {
    require(sample.other.empty(), "nothing is kept after an error");
    return require_good(done.error(), text);
  }
  require(sample.memory != MachineMemory(), "a field is set");
}
