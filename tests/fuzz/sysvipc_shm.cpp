#include "proc/sysvipc_shm.h"

#include "fuzz/require.h"
#include "fuzz/targets.h"

void memoir::fuzz::sysvipc_shm(std::string_view text) {
  const auto kib = parse_sysvipc_shm(text);
  if (!kib) return require_good(kib.error(), text);
  require(*kib >= 0, "the sum is not negative");
}
