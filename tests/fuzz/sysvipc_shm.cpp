#include "proc/sysvipc_shm.h"

#include "fuzz/require.h"
#include "fuzz/targets.h"

void memoir::fuzz::sysvipc_shm(std::string_view text) {
  const auto table = parse_sysvipc_shm(text);
  if (!table) return require_good(table.error(), text);
  require(table->held_kib.value_or(0) >= 0, "the sum is not negative");
  for (const SysvSegment& segment : table->segments)
    require(segment.rss_kib >= 0, "a segment's memory is not negative");
}
